//! Events of the private socket: first the complete state, then each change, in order.
//!
//! ```text
//! → {"version":1,"request":{"kind":"events"}}
//! ← {"version":1,"ok":{"kind":"done"}}
//! ← {"version":1,"event":{"kind":"state","windows":[…],…}}
//! ← {"version":1,"event":{"kind":"window","window":{"window":3,"title":"…",…}}}
//! ```
//!
//! A change carries the whole object that changed, so that a subscriber replaces its copy: [`SessionSnapshot`] does
//! this. Values that change with every frame (costs, statistics) cause no events; they can be requested.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layer::LayerInfo;
use super::layouts::KeyboardLayouts;
use super::mode::OutputMode;
use super::window::WindowInfo;
use super::workspace::{WorkspaceInfo, WorkspaceNumber};
use super::{LogicalRect, VERSION, WindowLayout};
use upbeat_timing::id::{ClientId, WindowId};

/// A line with an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventLine {
    /// Version of the protocol ([`VERSION`]).
    pub version: u32,
    /// The event, such as a change of a window.
    pub event: Event,
}

/// A change of the session's state. Readers skip kinds that they do not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// The complete state: always the first event.
    State(Box<SessionSnapshot>),
    /// A window changed, or a new window opened, above all others.
    Window {
        /// The window's new state.
        window: WindowState,
    },
    /// A window was closed.
    WindowClosed {
        /// Number of the window.
        window: WindowId,
    },
    /// The stacking order of windows changed.
    Order {
        /// All windows, the topmost first.
        windows: Vec<WindowId>,
    },
    /// An output changed, or was added.
    Output {
        /// The output's new state.
        output: OutputState,
    },
    /// An output was removed.
    OutputRemoved {
        /// Name of the output, such as `HEADLESS-1`.
        output: String,
    },
    /// Workspaces changed: their windows, or which of them is visible.
    Workspaces {
        /// All workspaces that are visible or have windows.
        workspaces: Vec<WorkspaceInfo>,
    },
    /// Layer surfaces were added, removed or changed.
    Layers {
        /// All layer surfaces of the session.
        layers: Vec<LayerInfo>,
    },
    /// The keyboard's layouts or its active layout changed.
    Keyboard {
        /// The layouts and the active layout.
        keyboard: KeyboardLayouts,
    },
    /// The configuration was reloaded.
    Configuration {
        /// The mistake in it, as a sentence; `None` if it was applied.
        mistake: Option<String>,
    },
}

/// The complete state of a session, as subscribers know it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSnapshot {
    /// All outputs, in no order.
    pub outputs: Vec<OutputState>,
    /// Workspaces that are visible or have windows.
    pub workspaces: Vec<WorkspaceInfo>,
    /// All windows, the topmost first.
    pub windows: Vec<WindowState>,
    /// All layer surfaces of the session.
    pub layers: Vec<LayerInfo>,
    /// The layouts of the keyboard that was used last.
    pub keyboard: KeyboardLayouts,
    /// The mistake in the configuration, as a sentence; `None` if it was applied.
    pub mistake: Option<String>,
}

/// A window, without the values that change with each frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowState {
    /// Number of the window; not reused in a session.
    pub window: WindowId,
    /// Number of the client that owns it.
    pub client: ClientId,
    /// Process id of the client, if known.
    pub pid: Option<u32>,
    /// The application id that the client has set (`xdg_toplevel.set_app_id`); may be empty.
    pub app_id: String,
    /// The window's title; may be empty.
    pub title: String,
    /// The tag by which the client tells its windows apart (`xdg_toplevel_tag_v1`).
    pub tag: Option<String>,
    /// The content type that the client has set: `photo`, `video` or `game`.
    pub content: Option<String>,
    /// Position and size in global logical coordinates.
    pub geometry: LogicalRect,
    /// Whether it has the keyboard focus.
    pub focused: bool,
    /// Whether its client has asked for attention since the window last had the focus.
    #[serde(default)]
    pub urgent: bool,
    /// Whether it is minimised: hidden until the user or a client asks for it.
    #[serde(default)]
    pub minimised: bool,
    /// Whether any part of it is visible.
    pub visible: bool,
    /// Name of the output that paces it; while none does, of the output of its workspace.
    pub output: Option<String>,
    /// Number of the workspace that it is on.
    pub workspace: Option<WorkspaceNumber>,
    /// How it lies on its workspace: floating or in a column, for example.
    #[serde(default)]
    pub layout: WindowLayout,
    /// Name of that workspace; `None` for 1 to 9.
    #[serde(default)]
    pub workspace_name: Option<String>,
}

/// An output, without the values that change with each frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputState {
    /// Name of the output, such as `HEADLESS-1`.
    pub name: String,
    /// Current mode: size in physical pixels, and rate.
    pub mode: OutputMode,
    /// Position and size in global logical coordinates.
    pub geometry: LogicalRect,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// Rotation and reflection, as in `wl_output.transform`: such as `normal` or `flipped-90`.
    pub transform: String,
    /// Whether the output is on.
    pub on: bool,
}

impl EventLine {
    /// A line with `event`, of this version of the protocol.
    pub const fn new(event: Event) -> Self {
        EventLine { version: VERSION, event }
    }
}

impl From<WindowInfo> for WindowState {
    fn from(window: WindowInfo) -> Self {
        WindowState {
            window: window.window,
            client: window.client,
            pid: window.pid,
            app_id: window.app_id,
            title: window.title,
            tag: window.tag,
            content: window.content,
            geometry: window.geometry,
            focused: window.focused,
            urgent: window.urgent,
            minimised: window.minimised,
            visible: window.visible,
            output: window.output,
            workspace: window.workspace,
            layout: window.layout,
            workspace_name: window.workspace_name,
        }
    }
}

impl SessionSnapshot {
    /// Applies an event to the state.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::State(state) => *self = *state,
            Event::Window { window } => match self.windows.iter_mut().find(|known| known.window == window.window) {
                Some(known) => *known = window,
                None => self.windows.insert(0, window),
            },
            Event::WindowClosed { window } => self.windows.retain(|known| known.window != window),
            Event::Order { windows } => {
                let place = |known: &WindowState| windows.iter().position(|window| *window == known.window);
                self.windows.sort_by_key(place);
            }
            Event::Output { output } => match self.outputs.iter_mut().find(|known| known.name == output.name) {
                Some(known) => *known = output,
                None => self.outputs.push(output),
            },
            Event::OutputRemoved { output } => self.outputs.retain(|known| known.name != output),
            Event::Workspaces { workspaces } => self.workspaces = workspaces,
            Event::Layers { layers } => self.layers = layers,
            Event::Keyboard { keyboard } => self.keyboard = keyboard,
            Event::Configuration { mistake } => self.mistake = mistake,
        }
    }

    /// The events that lead from this state to `now`: applied with [`apply`](Self::apply), they make it equal to
    /// `now` except for the order of outputs.
    pub fn changes(&self, now: &SessionSnapshot) -> Vec<Event> {
        let mut events = Vec::new();
        let gone = self.outputs.iter().filter(|output| !now.outputs.iter().any(|other| other.name == output.name));
        events.extend(gone.map(|output| Event::OutputRemoved { output: output.name.clone() }));
        let other = now.outputs.iter().filter(|output| !self.outputs.contains(output));
        events.extend(other.map(|output| Event::Output { output: output.clone() }));
        self.changed_windows(now, &mut events);
        if self.workspaces != now.workspaces {
            events.push(Event::Workspaces { workspaces: now.workspaces.clone() });
        }
        if self.layers != now.layers {
            events.push(Event::Layers { layers: now.layers.clone() });
        }
        if self.keyboard != now.keyboard {
            events.push(Event::Keyboard { keyboard: now.keyboard.clone() });
        }
        if self.mistake != now.mistake {
            events.push(Event::Configuration { mistake: now.mistake.clone() });
        }
        events
    }

    fn changed_windows(&self, now: &SessionSnapshot, events: &mut Vec<Event>) {
        let by_number = |windows: &'_ [WindowState]| -> BTreeMap<WindowId, usize> {
            windows.iter().enumerate().map(|(place, window)| (window.window, place)).collect()
        };
        let (before, after) = (by_number(&self.windows), by_number(&now.windows));
        let gone = before.keys().filter(|window| !after.contains_key(window));
        events.extend(gone.map(|window| Event::WindowClosed { window: *window }));
        let mut came = Vec::new();
        // From the bottom up, because each new window is inserted at the top.
        for window in now.windows.iter().rev() {
            match before.get(&window.window) {
                Some(place) if self.windows[*place] == *window => continue,
                Some(_) => {}
                None => came.push(window.window),
            }
            events.push(Event::Window { window: window.clone() });
        }
        let stayed = self.windows.iter().map(|window| window.window).filter(|window| after.contains_key(window));
        let order: Vec<WindowId> = came.into_iter().rev().chain(stayed).collect();
        let wanted: Vec<WindowId> = now.windows.iter().map(|window| window.window).collect();
        if order != wanted {
            events.push(Event::Order { windows: wanted });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn window(number: u32, title: u8) -> WindowState {
        WindowState {
            window: WindowId(number),
            client: ClientId(1),
            pid: None,
            app_id: String::new(),
            title: title.to_string(),
            tag: None,
            content: None,
            geometry: LogicalRect::default(),
            focused: false,
            urgent: false,
            minimised: false,
            visible: true,
            output: None,
            workspace: None,
            layout: WindowLayout::default(),
            workspace_name: None,
        }
    }

    fn output(number: u8, on: bool) -> OutputState {
        let (name, mode) = (format!("HEADLESS-{number}"), OutputMode::default());
        OutputState { name, mode, geometry: LogicalRect::default(), scale: 1.0, transform: String::new(), on }
    }

    fn pictures() -> impl Strategy<Value = SessionSnapshot> {
        let windows = prop::collection::btree_map(0_u32..6, 0_u8..3, 0..5);
        let windows = windows.prop_map(|known| known.into_iter().map(|(number, title)| window(number, title)));
        let windows = windows.prop_map(Vec::from_iter).prop_shuffle();
        let outputs = prop::collection::btree_map(0_u8..3, any::<bool>(), 0..3);
        (windows, outputs, prop::option::of("[ab]")).prop_map(|(windows, outputs, mistake)| SessionSnapshot {
            windows,
            outputs: outputs.into_iter().map(|(number, on)| output(number, on)).collect(),
            mistake,
            ..SessionSnapshot::default()
        })
    }

    proptest! {
        #[test]
        fn applying_the_changes_yields_the_new_state(before in pictures(), after in pictures()) {
            let events = before.changes(&after);
            let mut follower = before.clone();
            for event in events {
                let line = serde_json::to_string(&EventLine::new(event)).unwrap();
                follower.apply(serde_json::from_str::<EventLine>(&line).unwrap().event);
            }
            follower.outputs.sort_by(|a, b| a.name.cmp(&b.name));
            prop_assert_eq!(&follower, &after);
            prop_assert_eq!(after.changes(&after), vec![]);
        }
    }
}
