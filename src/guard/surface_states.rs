//! Access to the data that Smithay keeps for a surface. No other code may call Smithay's `with_states`.

use std::panic::{self, AssertUnwindSafe};

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::{self, SurfaceData};

use upbeat_record::faults::{self, Fault};

/// As Smithay's function of this name, but a panic in `does` leaves the surface usable. Smithay holds a mutex
/// meanwhile. A panic that unwinds past it would poison it, and the next access to the surface would panic, too,
/// outside of the panic guard.
pub fn with_states<T>(surface: &WlSurface, does: impl FnOnce(&SurfaceData) -> T) -> T {
    #[expect(clippy::disallowed_methods, reason = "it is forbidden everywhere else")]
    let done = compositor::with_states(surface, |states| {
        panic::catch_unwind(AssertUnwindSafe(|| {
            faults::panic_if_due(Fault::States);
            does(states)
        }))
    });
    done.unwrap_or_else(|thrown| panic::resume_unwind(thrown))
}
