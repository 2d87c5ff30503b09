//! Interface to the protocols that announce outputs to clients.

use smithay::output::{Mode, Output, Scale};
use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::utils::{Logical, Point, Transform};

/// The `wl_output` objects of clients. A trait, because `protocol` may import `output` but `output` may not import
/// `protocol`.
pub trait OutputGlobals {
    /// Changes the announced properties of `output` for every client that bound it.
    fn change_output(
        &mut self,
        output: &Output,
        mode: Option<Mode>,
        transform: Option<Transform>,
        scale: Option<Scale>,
        position: Option<Point<i32, Logical>>,
    );

    /// Announces to clients that the output of `global` is gone.
    fn retire_global(&mut self, global: GlobalId);
}
