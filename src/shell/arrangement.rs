//! How a window fills the screen.

use smithay::output::Output;
use smithay::utils::{Logical, Rectangle};

/// How a window fills the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Arrangement {
    /// Where and as large as person and client want it.
    #[default]
    Floating,
    /// Over the usable area of an output (global logical coordinates).
    Maximized {
        /// That area.
        area: Rectangle<i32, Logical>,
    },
    /// In a column of a strip.
    Tiled {
        /// Its place there (global logical coordinates).
        area: Rectangle<i32, Logical>,
        /// Whether it fills all that is left for windows.
        is_maximised: bool,
    },
    /// Over all of an output.
    Fullscreen {
        /// Which.
        output: Output,
        /// Its rectangle (global logical coordinates).
        area: Rectangle<i32, Logical>,
    },
}
