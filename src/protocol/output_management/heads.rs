//! Output heads: the state of each output as clients see it, and the events for its changes.

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_head_v1::{
    self, AdaptiveSyncState, ZwlrOutputHeadV1,
};
use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_manager_v1::ZwlrOutputManagerV1;
use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_mode_v1::{
    self, ZwlrOutputModeV1,
};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::utils::Transform;

use crate::backend::{Display, EdidIdentity, VideoMode};
use crate::guard::Handlers;
use crate::output::hotplug::{self, Placement};
use crate::output::parking::Parked;
use crate::output_transform::OutputTransform;
use crate::state::State;

/// Versions of a head from which on it has a make and a model, and adaptive sync.
const SAYS_MAKE: u32 = 2;
const SAYS_ADAPTIVE_SYNC: u32 = 4;

/// State of an output as it is sent to clients.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputHeadState {
    /// Connector name, which identifies the output in a session.
    pub(in crate::protocol) name: String,
    description: String,
    make: String,
    model: String,
    serial: Option<String>,
    millimetres: (i32, i32),
    /// The preferred mode first; the current mode is among them.
    modes: Vec<VideoMode>,
    pub(in crate::protocol) mode: VideoMode,
    /// Whether it is part of the layout.
    pub(in crate::protocol) enabled: bool,
    position: (i32, i32),
    scale: f64,
    turn: OutputTransform,
    /// Whether its refresh rate varies.
    pub(in crate::protocol) adaptive_sync: bool,
}

/// The states of all outputs, including outputs that are not part of the layout.
pub fn output_states(state: &State) -> Vec<OutputHeadState> {
    let shown = state.outputs.states().map(|output| {
        let display = output.display();
        let (position, scale) = (output.output().current_location(), output.output().current_scale());
        let turn = crate::output::turn_of(output.output());
        let look = OutputHeadState::of(display, (position.x, position.y), scale.fractional_scale(), turn);
        OutputHeadState { enabled: true, ..look.described_by(output.output()) }
    });
    let parked = state.outputs.parked().iter().map(|parked: &Parked| {
        let Placement { position, turn, .. } = *parked.placement();
        let scale = hotplug::scale_of(parked.display(), parked.placement());
        OutputHeadState::of(parked.display(), position.unwrap_or_default(), scale, turn.unwrap_or_default())
    });
    let mut looks: Vec<OutputHeadState> = shown.chain(parked).collect();
    // Sorted by name, because the order in which outputs were plugged in means nothing.
    looks.sort_by(|a, b| a.name.cmp(&b.name));
    looks
}

impl OutputHeadState {
    fn of(display: &dyn Display, position: (i32, i32), scale: f64, turn: OutputTransform) -> Self {
        let (mode, mut modes) = (display.mode(), display.modes());
        if !modes.contains(&mode) {
            modes.push(mode);
        }
        let side = |length: u32| i32::try_from(length).unwrap_or_default();
        let EdidIdentity { make, model, serial } = hotplug::identity(display);
        OutputHeadState {
            name: display.name().to_owned(),
            description: display.name().to_owned(),
            make,
            model,
            serial,
            millimetres: display.millimetres().map(|(width, height)| (side(width), side(height))).unwrap_or_default(),
            modes,
            mode,
            enabled: false,
            position,
            scale,
            turn,
            adaptive_sync: display.capabilities().variable_refresh.is_some(),
        }
    }

    fn described_by(self, output: &Output) -> Self {
        let physical = output.physical_properties();
        let millimetres = (physical.size.w, physical.size.h);
        OutputHeadState { description: output.description(), millimetres, ..self }
    }
}

#[derive(Debug)]
pub struct OutputHeadsManager {
    object: ZwlrOutputManagerV1,
    heads: Vec<OutputHead>,
    /// The serial that it was sent last.
    serial: Option<u32>,
}

#[derive(Debug)]
struct OutputHead {
    object: ZwlrOutputHeadV1,
    /// The state that was sent last; `None` before the first.
    sent: Option<OutputHeadState>,
    name: String,
    modes: Vec<(ZwlrOutputModeV1, VideoMode)>,
}

/// User data of a head: the name of its output.
#[derive(Debug)]
pub struct HeadName(pub String);

/// User data of a mode object.
#[derive(Debug)]
pub struct OutputHeadMode {
    /// Name of its output.
    pub(in crate::protocol) output: String,
    pub(in crate::protocol) mode: VideoMode,
}

impl OutputHeadsManager {
    pub(super) fn new(object: ZwlrOutputManagerV1) -> Self {
        OutputHeadsManager { object, heads: Vec::new(), serial: None }
    }

    pub(super) fn is(&self, object: &ZwlrOutputManagerV1) -> bool {
        self.object == *object
    }

    /// Sends all changes since the last call.
    pub(super) fn send_changes(&mut self, looks: &[OutputHeadState], serial: u32, display: &DisplayHandle) {
        if self.serial.replace(serial) == Some(serial) {
            return;
        }
        self.heads.retain(|head| {
            let there = looks.iter().any(|look| look.name == head.name);
            if !there {
                head.finish();
            }
            there
        });
        for look in looks {
            if !self.heads.iter().any(|head| head.name == look.name) {
                let Some(head) = self.announce(look, display) else { return };
                self.heads.push(head);
            }
            let head = self.heads.iter_mut().find(|head| head.name == look.name);
            // `None` if the client has just disconnected.
            if head.and_then(|head| head.send_changes(look, display)).is_none() {
                return;
            }
        }
        self.object.done(serial);
    }

    fn announce(&self, look: &OutputHeadState, display: &DisplayHandle) -> Option<OutputHead> {
        let (client, version) = (self.object.client()?, self.object.version());
        let name = HeadName(look.name.clone());
        let object = client.create_resource::<ZwlrOutputHeadV1, HeadName, State>(display, version, name).ok()?;
        self.object.head(&object);
        object.name(look.name.clone());
        object.description(look.description.clone());
        if version >= SAYS_MAKE {
            object.make(look.make.clone());
            object.model(look.model.clone());
            if let Some(serial) = &look.serial {
                object.serial_number(serial.clone());
            }
        }
        if look.millimetres != (0, 0) {
            object.physical_size(look.millimetres.0, look.millimetres.1);
        }
        Some(OutputHead { object, sent: None, name: look.name.clone(), modes: Vec::new() })
    }
}

impl OutputHead {
    fn finish(&self) {
        self.modes.iter().filter(|(mode, _)| mode.is_alive()).for_each(|(mode, _)| mode.finished());
        if self.object.is_alive() {
            self.object.finished();
        }
    }

    /// Sends the changes of one output. `None` if the client has just disconnected.
    fn send_changes(&mut self, look: &OutputHeadState, display: &DisplayHandle) -> Option<()> {
        if !self.object.is_alive() {
            // The client has released the head.
            return Some(());
        }
        let sent = self.sent.replace(look.clone());
        let is_other =
            |same: fn(&OutputHeadState, &OutputHeadState) -> bool| sent.as_ref().is_none_or(|sent| !same(sent, look));
        if is_other(|sent, look| sent.modes == look.modes) {
            self.send_modes(look, display)?;
        }
        if is_other(|sent, look| sent.enabled == look.enabled) {
            self.object.enabled(look.enabled.into());
        }
        if !look.enabled {
            return Some(());
        }
        // A disabled head was sent no further state, so everything is sent when it is enabled.
        let was_enabled = sent.as_ref().is_some_and(|sent| sent.enabled);
        let is_other = |same: fn(&OutputHeadState, &OutputHeadState) -> bool| !was_enabled || is_other(same);
        if is_other(|sent, look| sent.mode == look.mode)
            && let Some((mode, _)) = self.modes.iter().find(|(_, mode)| *mode == look.mode)
        {
            self.object.current_mode(mode);
        }
        if is_other(|sent, look| sent.position == look.position) {
            self.object.position(look.position.0, look.position.1);
        }
        if is_other(|sent, look| sent.turn == look.turn) {
            self.object.transform(Transform::from(look.turn).into());
        }
        if is_other(|sent, look| sent.scale == look.scale) {
            self.object.scale(look.scale);
        }
        if self.object.version() >= SAYS_ADAPTIVE_SYNC
            && is_other(|sent, look| sent.adaptive_sync == look.adaptive_sync)
        {
            let sync = if look.adaptive_sync { AdaptiveSyncState::Enabled } else { AdaptiveSyncState::Disabled };
            self.object.adaptive_sync(sync);
        }
        Some(())
    }

    fn send_modes(&mut self, look: &OutputHeadState, display: &DisplayHandle) -> Option<()> {
        let (client, version) = (self.object.client()?, self.object.version());
        self.modes.retain(|(object, mode)| {
            let stays = look.modes.contains(mode);
            if !stays && object.is_alive() {
                object.finished();
            }
            stays
        });
        for (place, mode) in look.modes.iter().enumerate() {
            if self.modes.iter().any(|(_, known)| known == mode) {
                continue;
            }
            let data = OutputHeadMode { output: look.name.clone(), mode: *mode };
            let object =
                client.create_resource::<ZwlrOutputModeV1, OutputHeadMode, State>(display, version, data).ok()?;
            self.object.mode(&object);
            object.size(mode.width, mode.height);
            object.refresh(i32::try_from(mode.refresh).unwrap_or(i32::MAX));
            if place == 0 {
                object.preferred();
            }
            self.modes.push((object, *mode));
        }
        Some(())
    }
}

impl Dispatch<ZwlrOutputHeadV1, HeadName, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _head: &ZwlrOutputHeadV1,
        _request: zwlr_output_head_v1::Request,
        _name: &HeadName,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `release`.
    }
}

impl Dispatch<ZwlrOutputModeV1, OutputHeadMode, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _mode: &ZwlrOutputModeV1,
        _request: zwlr_output_mode_v1::Request,
        _of: &OutputHeadMode,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `release`.
    }
}
