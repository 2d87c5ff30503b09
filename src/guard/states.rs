//! The one way to what Smithay keeps for a surface.

use std::panic::{self, AssertUnwindSafe};

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::{self, SurfaceData};

use upbeat_record::faults::{self, Fault};

/// Like Smithay's function of this name; but a panic of `does` leaves the surface usable. Smithay holds a mutex meanwhile:
/// what unwinds past that poisons it, and whoever asks for the surface next would panic, too, outside of what is caught.
pub fn with_states<T>(surface: &WlSurface, does: impl FnOnce(&SurfaceData) -> T) -> T {
    #[expect(clippy::disallowed_methods, reason = "it is forbidden everywhere else")]
    let done = compositor::with_states(surface, |states| {
        panic::catch_unwind(AssertUnwindSafe(|| {
            faults::stumble(Fault::States);
            does(states)
        }))
    });
    done.unwrap_or_else(|thrown| panic::resume_unwind(thrown))
}
