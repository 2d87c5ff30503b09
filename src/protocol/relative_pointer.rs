//! `zwp_relative_pointer_manager_v1` 1: pointer motion as deltas, also while the pointer is locked in place.

use crate::state::State;

smithay::delegate_relative_pointer!(State);
