//! `zwp_relative_pointer_manager_v1` 1: pointer motion as deltas, also while the pointer is locked in place.

use super::dispatch_guard::delegate;
use crate::state::State;
use smithay::reexports::wayland_protocols::wp::relative_pointer::zv1::server::zwp_relative_pointer_manager_v1::ZwpRelativePointerManagerV1;
use smithay::reexports::wayland_protocols::wp::relative_pointer::zv1::server::zwp_relative_pointer_v1::ZwpRelativePointerV1;
use smithay::wayland::relative_pointer::{RelativePointerManagerState, RelativePointerUserData};

delegate!(global ZwpRelativePointerManagerV1: () => RelativePointerManagerState);
delegate!(ZwpRelativePointerManagerV1: () => RelativePointerManagerState);
delegate!(ZwpRelativePointerV1: RelativePointerUserData<State> => RelativePointerManagerState);
