//! `wl_output` 4: outputs as clients see them.
//!
//! An output becomes visible to clients with [`smithay::output::Output::create_global`], changes with
//! [`XdgOutputs::change`](super::xdg_output::XdgOutputs::change) and is removed with [`RetiredGlobals::retire`].

use std::collections::VecDeque;

use smithay::output::{Mode, Output, Scale};
use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::utils::{Logical, Point, Transform};
use smithay::wayland::output::{OutputHandler, OutputManagerState, OutputUserData, WlOutputData};

use super::dispatch_guard::delegate;
use crate::output::OutputGlobals;
use crate::state::State;

/// Unplugged outputs that can still be bound. A client that has not read of the removal may bind one, and would be
/// disconnected if the global did not exist any more; each takes some KiB.
const MOST_RETIRED: usize = 16;

/// The globals of unplugged outputs, oldest first.
#[derive(Debug, Default)]
pub struct RetiredGlobals(VecDeque<GlobalId>);

impl RetiredGlobals {
    /// Announces the removal to clients. The global is destroyed after `MOST_RETIRED` further removals.
    pub fn retire(&mut self, display: &DisplayHandle, global: GlobalId) {
        display.disable_global::<State>(global.clone());
        self.0.push_back(global);
        if self.0.len() > MOST_RETIRED
            && let Some(oldest) = self.0.pop_front()
        {
            display.remove_global::<State>(oldest);
        }
    }
}

impl OutputGlobals for State {
    fn change_output(
        &mut self,
        output: &Output,
        mode: Option<Mode>,
        transform: Option<Transform>,
        scale: Option<Scale>,
        position: Option<Point<i32, Logical>>,
    ) {
        self.protocols.xdg_output.change(output, mode, transform, scale, position);
    }

    fn retire_global(&mut self, global: GlobalId) {
        self.protocols.output.retire(&self.display_handle, global);
    }
}

impl OutputHandler for State {
    fn output_bound(&mut self, output: Output, object: WlOutput) {
        super::ext_workspace::output_bound(self, &output, &object);
        super::toplevels::output_bound(self, &output, &object);
    }
}

delegate!(global WlOutput: WlOutputData => OutputManagerState);
delegate!(WlOutput: OutputUserData => OutputManagerState);
