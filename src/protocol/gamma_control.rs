//! `zwlr_gamma_control_manager_v1` 1: a client sets the gamma ramps of outputs (redshift, wlsunset).
//!
//! One client at a time holds an output's ramps, until its object or the output is destroyed; then the former ramps
//! return. A client that requests ramps which are not available is sent `failed`, and its object does nothing from then
//! on.
//!
//! Ramps come in a file of the client's, which is read at once. So the file must be one that never blocks (shared
//! memory, or a file on a local disk). Any other file, or one of another length, is a protocol error.

use std::os::fd::{AsFd, OwnedFd};

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::gamma_control::v1::server::zwlr_gamma_control_manager_v1::{
    self, ZwlrGammaControlManagerV1,
};
use smithay::reexports::wayland_protocols_wlr::gamma_control::v1::server::zwlr_gamma_control_v1::{
    self, Error, ZwlrGammaControlV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use crate::backend::GammaRamp;
use crate::client_files;
use crate::guard::Handlers;
use crate::output::{gamma, hotplug};
use crate::state::State;
use upbeat_timing::id::OutputId;

const VERSION: u32 = 1;

/// The global, and the control object that holds each output's ramps.
#[derive(Debug)]
pub struct GammaControls {
    _global: GlobalId,
    held: Vec<(OutputId, ZwlrGammaControlV1)>,
}

impl GammaControls {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwlrGammaControlManagerV1, ()>(VERSION, ());
        GammaControls { _global: global, held: Vec::new() }
    }

    /// The output whose ramps `control` holds.
    fn output(&self, control: &ZwlrGammaControlV1) -> Option<OutputId> {
        self.held.iter().find(|(_, holder)| holder == control).map(|(output, _)| *output)
    }

    fn is_held(&self, output: OutputId) -> bool {
        self.held.iter().any(|(held, _)| *held == output)
    }

    fn release(&mut self, control: &ZwlrGammaControlV1) {
        self.held.retain(|(_, holder)| holder != control);
    }
}

/// Sends `failed` to controls whose output is gone.
pub(super) fn refresh(state: &mut State) {
    let State { protocols, outputs, .. } = state;
    protocols.gamma_control.held.retain(|(output, control)| {
        let there = outputs.by_id(*output).is_some();
        if !there {
            control.failed();
        }
        there
    });
}

impl GlobalDispatch<ZwlrGammaControlManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwlrGammaControlManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ZwlrGammaControlManagerV1>(&client)
    }
}

impl Dispatch<ZwlrGammaControlManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &ZwlrGammaControlManagerV1,
        request: zwlr_gamma_control_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use zwlr_gamma_control_manager_v1::Request;
        let Request::GetGammaControl { id, output } = request else { return };
        let control = init.init(id, ());
        let controls = &state.protocols.gamma_control;
        let free = output_of(state, &output).filter(|output| !controls.is_held(*output));
        match free.and_then(|output| Some((output, gamma::size(state, output)?))) {
            Some((output, size)) => {
                control.gamma_size(size);
                state.protocols.gamma_control.held.push((output, control));
            }
            None => control.failed(),
        }
    }
}

fn output_of(state: &State, output: &WlOutput) -> Option<OutputId> {
    let output = Output::from_resource(output).filter(|output| state.outputs.iter().any(|known| known == output))?;
    hotplug::by_name(state, &output.name())
}

impl Dispatch<ZwlrGammaControlV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        control: &ZwlrGammaControlV1,
        request: zwlr_gamma_control_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let zwlr_gamma_control_v1::Request::SetGamma { fd } = request else { return };
        let held = state.protocols.gamma_control.output(control);
        let Some((output, size)) = held.and_then(|output| Some((output, gamma::size(state, output)?))) else { return };
        let bytes = client_files::never_blocks(fd.as_fd()).then(|| read(&fd, GammaRamp::bytes(size))).flatten();
        let Some(ramp) = bytes.and_then(|bytes| GammaRamp::from_bytes(&bytes, size)) else {
            let message = format!("the file does not hold three ramps of {size} entries");
            return control.post_error(Error::InvalidGamma, message);
        };
        if !gamma::set(state, output, Some(ramp)) {
            state.protocols.gamma_control.release(control);
            control.failed();
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, control: &ZwlrGammaControlV1, _data: &()) {
        if let Some(output) = state.protocols.gamma_control.output(control) {
            state.protocols.gamma_control.release(control);
            gamma::set(state, output, None);
        }
    }
}

/// The content of the file, and a byte more than `length` if it is longer. `None` if it cannot be read without
/// blocking; the kernel refuses to read from pipes and sockets here, because they have no positions.
fn read(file: &OwnedFd, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length + 1];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::pread(file, &mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    Some(bytes)
}
