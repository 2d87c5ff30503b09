//! `wp_single_pixel_buffer_manager_v1` 1: buffers of one colour.

use super::dispatch_guard::delegate;
use smithay::reexports::wayland_protocols::wp::single_pixel_buffer::v1::server::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::single_pixel_buffer::{SinglePixelBufferState, SinglePixelBufferUserData};

delegate!(global WpSinglePixelBufferManagerV1: () => SinglePixelBufferState);
delegate!(WpSinglePixelBufferManagerV1: () => SinglePixelBufferState);
delegate!(WlBuffer: SinglePixelBufferUserData => SinglePixelBufferState);
