//! `wp_cursor_shape_manager_v1` 1: cursors by name. They reach the seat like any other cursor
//! ([`SeatHandler::cursor_image`](smithay::input::SeatHandler::cursor_image)).

use smithay::wayland::tablet_manager::TabletSeatHandler;

use crate::state::State;

// Cursor shapes may also be set for tablet tools; there are none yet.
impl TabletSeatHandler for State {}

smithay::delegate_cursor_shape!(State);
