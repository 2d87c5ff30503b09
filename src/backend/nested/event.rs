//! Events of the parent that concern more than one output's frames.

use std::os::fd::OwnedFd;

use crate::backend::scroll::{ScrollAxis, ScrollSource};
use upbeat_timing::time::Instant;

/// The number of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowId(pub u32);

/// An event of the parent. Times are `CLOCK_MONOTONIC`; positions are physical pixels of the window's output, from its
/// top left corner.
#[derive(Debug)]
pub enum ParentEvent {
    /// The window is not visible any more.
    Hidden { window: WindowId },
    /// The window is visible again.
    Visible { window: WindowId },
    /// The parent shows the window at another scale (physical pixels per logical pixel).
    Scale { window: WindowId, scale: f64 },
    /// The user closed the window; its output is gone.
    Closed { window: WindowId },
    /// The parent's keymap: `XKB_V1` text of `size` bytes in a file.
    Keymap { file: OwnedFd, size: u32 },
    /// A key (Linux event code) went down or up.
    Key { time: Instant, key: u32, pressed: bool },
    /// The keyboard's modifiers, as xkb masks and layout.
    Modifiers { time: Instant, depressed: u32, latched: u32, locked: u32, layout: u32 },
    /// The keyboard focus left our windows, or the keyboard is gone.
    KeyboardLeft,
    /// The pointer moved, or entered the window.
    PointerMoved { time: Instant, window: WindowId, x: f64, y: f64 },
    /// A button (Linux event code) went down or up.
    Button { time: Instant, button: u32, pressed: bool },
    /// A wheel turned or a finger scrolled.
    Axis { time: Instant, source: ScrollSource, horizontal: ScrollAxis, vertical: ScrollAxis },
    /// A finger touched the window.
    TouchDown { time: Instant, window: WindowId, finger: i32, x: f64, y: f64 },
    /// A finger moved on the window.
    TouchMoved { time: Instant, window: WindowId, finger: i32, x: f64, y: f64 },
    /// A finger was lifted.
    TouchUp { time: Instant, finger: i32 },
    /// The touch events since the last frame belong together (`wl_touch.frame`).
    TouchFrame { time: Instant },
    /// The parent took the touches over (`wl_touch.cancel`).
    TouchCancelled { time: Instant },
}
