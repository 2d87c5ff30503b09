//! `wl_output` 4 and `zxdg_output_manager_v1` 3: what clients know of the outputs.
//!
//! An output becomes visible to clients with [`smithay::output::Output::create_global`].

use smithay::wayland::output::OutputHandler;

use crate::state::State;

impl OutputHandler for State {}

smithay::delegate_output!(State);
