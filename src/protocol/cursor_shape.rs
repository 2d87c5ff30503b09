//! `wp_cursor_shape_manager_v1` 1: cursors by name. They reach the seat like any other cursor
//! ([`SeatHandler::cursor_image`](smithay::input::SeatHandler::cursor_image)).

use super::floor::delegate;
use crate::state::State;
use smithay::reexports::wayland_protocols::wp::cursor_shape::v1::server::wp_cursor_shape_device_v1::WpCursorShapeDeviceV1;
use smithay::reexports::wayland_protocols::wp::cursor_shape::v1::server::wp_cursor_shape_manager_v1::WpCursorShapeManagerV1;
use smithay::wayland::cursor_shape::{CursorShapeDeviceUserData, CursorShapeManagerState};

// Cursor shapes may also be set for tablet tools; there are none yet.

delegate!(global WpCursorShapeManagerV1: () => CursorShapeManagerState);
delegate!(WpCursorShapeManagerV1: () => CursorShapeManagerState);
delegate!(WpCursorShapeDeviceV1: CursorShapeDeviceUserData<State> => CursorShapeManagerState);
