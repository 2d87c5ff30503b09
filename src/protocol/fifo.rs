//! `wp_fifo_manager_v1` 1, unmanaged: Smithay only stores the requests
//! ([`FifoCachedState`](smithay::wayland::fifo::FifoCachedState)), and the content-update queue holds updates back at
//! barriers.

use super::dispatch_guard::delegate;
use smithay::reexports::wayland_protocols::wp::fifo::v1::server::wp_fifo_manager_v1::WpFifoManagerV1;
use smithay::reexports::wayland_protocols::wp::fifo::v1::server::wp_fifo_v1::WpFifoV1;
use smithay::reexports::wayland_server::Weak;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::fifo::FifoManagerState;

delegate!(global WpFifoManagerV1: bool => FifoManagerState);
delegate!(WpFifoManagerV1: bool => FifoManagerState);
delegate!(WpFifoV1: Weak<WlSurface> => FifoManagerState);
