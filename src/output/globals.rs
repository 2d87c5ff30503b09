//! What outputs ask of the protocols that tell clients of them.

use smithay::output::{Mode, Output, Scale};
use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::utils::{Logical, Point, Transform};

/// Clients' objects for outputs. It is a trait since `protocol` may know `output`, and `output` may not know `protocol`.
pub trait OutputGlobals {
    /// Changes what is given of `output`, for all clients that have objects for it.
    fn change_output(
        &mut self,
        output: &Output,
        mode: Option<Mode>,
        transform: Option<Transform>,
        scale: Option<Scale>,
        position: Option<Point<i32, Logical>>,
    );

    /// Clients are told that the output of `global` is gone.
    fn retire_global(&mut self, global: GlobalId);
}
