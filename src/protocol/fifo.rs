//! `wp_fifo_manager_v1` 1, unmanaged: Smithay only notes the requests
//! ([`FifoCachedState`](smithay::wayland::fifo::FifoCachedState)); the content-update queue gives them their meaning.

use crate::state::State;

smithay::delegate_fifo!(State);
