//! `wp_cursor_shape_manager_v1` 1: cursors by name. They reach the seat like any other cursor
//! ([`SeatHandler::cursor_image`](smithay::input::SeatHandler::cursor_image)).

use crate::state::State;

// Cursor shapes may also be set for tablet tools; there are none yet.

smithay::delegate_cursor_shape!(State);
