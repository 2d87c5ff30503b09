//! Floating, maximised, tiled or fullscreen: how a window fills the screen.

use smithay::output::Output;
use smithay::utils::{Logical, Rectangle};

#[derive(Clone, Debug, Default, PartialEq)]
pub enum WindowArrangement {
    /// Place and size are chosen by the user and the client.
    #[default]
    Floating,
    /// Over the usable area of an output (global logical coordinates).
    Maximized { area: Rectangle<i32, Logical> },
    /// In a column of a strip.
    Tiled {
        /// Place of the window in its column (global logical coordinates).
        area: Rectangle<i32, Logical>,
        /// Whether the window fills the whole usable area.
        is_maximised: bool,
    },
    /// Over all of an output.
    Fullscreen {
        output: Output,
        /// Its rectangle (global logical coordinates).
        area: Rectangle<i32, Logical>,
    },
}
