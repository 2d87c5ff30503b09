//! `wl_output` 4 and `zxdg_output_manager_v1` 3: what clients know of the outputs.
//!
//! An output becomes visible to clients with [`smithay::output::Output::create_global`].

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::wayland::output::OutputHandler;

use crate::state::State;

impl OutputHandler for State {
    fn output_bound(&mut self, output: Output, object: WlOutput) {
        super::ext_workspace::output_bound(self, &output, &object);
    }
}

smithay::delegate_output!(State);
