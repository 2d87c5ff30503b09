//! What a reader of events is told: first everything, then each change, in order.
//!
//! ```text
//! → {"version":1,"request":{"kind":"events"}}
//! ← {"version":1,"ok":{"kind":"done"}}
//! ← {"version":1,"event":{"kind":"state","windows":[…],…}}
//! ← {"version":1,"event":{"kind":"window","window":{"window":3,"title":"…",…}}}
//! ```
//!
//! A change names the whole of what changed, so that a reader replaces what it knows of it: [`Picture`] does. What changes
//! with every frame (costs, statistics) is not told: it is there to be asked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layer::Layer;
use super::layouts::Layouts;
use super::mode::OutputMode;
use super::window::Window;
use super::workspace::{Number, Workspace};
use super::{Rect, VERSION};
use upbeat_timing::id::{ClientId, WindowId};

/// A line with something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct News {
    /// [`VERSION`].
    pub version: u32,
    /// What happened.
    pub event: Event,
}

/// Something that happened. Readers pass over kinds that they do not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// How all is; the first event.
    State(Box<Picture>),
    /// A window came, the topmost one, or is not as it was.
    Window {
        /// How it is now.
        window: WindowState,
    },
    /// A window is gone.
    WindowClosed {
        /// Its number.
        window: WindowId,
    },
    /// Windows lie above each other in another order.
    Order {
        /// All of them, the topmost first.
        windows: Vec<WindowId>,
    },
    /// An output came, or is not as it was.
    Output {
        /// How it is now.
        output: OutputState,
    },
    /// An output is gone.
    OutputRemoved {
        /// Its name.
        output: String,
    },
    /// Other workspaces are seen or have windows.
    Workspaces {
        /// All of them.
        workspaces: Vec<Workspace>,
    },
    /// What is pinned to outputs is something else.
    Layers {
        /// All of it.
        layers: Vec<Layer>,
    },
    /// The keyboard has other layouts, or another one of them.
    Keyboard {
        /// How they are now.
        keyboard: Layouts,
    },
    /// The configuration was read again.
    Configuration {
        /// What is wrong with it; none where it is in force.
        mistake: Option<String>,
    },
}

/// How everything is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Picture {
    /// Outputs, in no order.
    pub outputs: Vec<OutputState>,
    /// Workspaces that are seen or have windows.
    pub workspaces: Vec<Workspace>,
    /// Windows, the topmost first.
    pub windows: Vec<WindowState>,
    /// What is pinned to outputs.
    pub layers: Vec<Layer>,
    /// The layouts of the keyboard.
    pub keyboard: Layouts,
    /// What is wrong with the configuration.
    pub mistake: Option<String>,
}

/// A window, without what changes with its frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowState {
    /// Its number.
    pub window: WindowId,
    /// Whose it is.
    pub client: ClientId,
    /// The process, if known.
    pub pid: Option<u32>,
    /// What the application calls itself.
    pub app_id: String,
    /// What the window is called.
    pub title: String,
    /// Which of its program's windows it is, as the program says.
    pub tag: Option<String>,
    /// What its program says that it shows: a photo, a video, a game.
    pub content: Option<String>,
    /// Its place in the logical space.
    pub geometry: Rect,
    /// Whether it has the keyboard.
    pub focused: bool,
    /// Whether its client wants it to be looked at, since it had the keyboard last.
    #[serde(default)]
    pub urgent: bool,
    /// Whether anything of it can be seen.
    pub visible: bool,
    /// The output that paces it.
    pub output: Option<String>,
    /// The workspace that it is on.
    pub workspace: Option<Number>,
}

/// An output, without what changes with its frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputState {
    /// Such as `HEADLESS-1`.
    pub name: String,
    /// Its mode.
    pub mode: OutputMode,
    /// Its place in the logical space.
    pub geometry: Rect,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// How it is turned onto the panel, as `wl_output.transform` has it.
    pub transform: String,
    /// Whether it is on.
    pub on: bool,
}

impl News {
    /// A line in this version of the language.
    pub const fn new(event: Event) -> Self {
        News { version: VERSION, event }
    }
}

impl From<Window> for WindowState {
    fn from(window: Window) -> Self {
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
            visible: window.visible,
            output: window.output,
            workspace: window.workspace,
        }
    }
}

impl Picture {
    /// Takes in what happened.
    pub fn follow(&mut self, event: Event) {
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

    /// What somebody who knows this has to be told to know `now`: with [`follow`](Self::follow) it becomes the same, but for
    /// the order of outputs.
    pub fn changes(&self, now: &Picture) -> Vec<Event> {
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

    fn changed_windows(&self, now: &Picture, events: &mut Vec<Event>) {
        let by_number = |windows: &'_ [WindowState]| -> BTreeMap<WindowId, usize> {
            windows.iter().enumerate().map(|(place, window)| (window.window, place)).collect()
        };
        let (before, after) = (by_number(&self.windows), by_number(&now.windows));
        let gone = before.keys().filter(|window| !after.contains_key(window));
        events.extend(gone.map(|window| Event::WindowClosed { window: *window }));
        let mut came = Vec::new();
        // From below, so that those that came lie above each other as they came.
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
            geometry: Rect::default(),
            focused: false,
            urgent: false,
            visible: true,
            output: None,
            workspace: None,
        }
    }

    fn output(number: u8, on: bool) -> OutputState {
        let (name, mode) = (format!("HEADLESS-{number}"), OutputMode::default());
        OutputState { name, mode, geometry: Rect::default(), scale: 1.0, transform: String::new(), on }
    }

    fn pictures() -> impl Strategy<Value = Picture> {
        let windows = prop::collection::btree_map(0_u32..6, 0_u8..3, 0..5);
        let windows = windows.prop_map(|known| known.into_iter().map(|(number, title)| window(number, title)));
        let windows = windows.prop_map(Vec::from_iter).prop_shuffle();
        let outputs = prop::collection::btree_map(0_u8..3, any::<bool>(), 0..3);
        (windows, outputs, prop::option::of("[ab]")).prop_map(|(windows, outputs, mistake)| Picture {
            windows,
            outputs: outputs.into_iter().map(|(number, on)| output(number, on)).collect(),
            mistake,
            ..Picture::default()
        })
    }

    proptest! {
        #[test]
        fn who_follows_the_changes_knows_what_is(before in pictures(), after in pictures()) {
            let events = before.changes(&after);
            let mut follower = before.clone();
            for event in events {
                let line = serde_json::to_string(&News::new(event)).unwrap();
                follower.follow(serde_json::from_str::<News>(&line).unwrap().event);
            }
            follower.outputs.sort_by(|a, b| a.name.cmp(&b.name));
            prop_assert_eq!(&follower, &after);
            prop_assert_eq!(after.changes(&after), vec![]);
        }
    }
}
