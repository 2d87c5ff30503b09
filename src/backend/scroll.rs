//! Scroll events, as input devices and the parents of nested sessions report them.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScrollSource {
    /// A wheel with steps.
    #[default]
    Wheel,
    /// A finger on a touchpad: ends with a stop event.
    Finger,
    /// A continuous source, such as a pointing stick with a button held: may end with a stop event.
    Continuous,
    /// A wheel that is tilted.
    WheelTilt,
}

/// One axis of a scroll event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScrollAxis {
    /// Distance in the coordinates of pointer motion.
    pub distance: f64,
    /// Wheel steps in 120ths; `None` if the source is no wheel.
    pub v120: Option<i32>,
    /// The finger was lifted.
    pub stop: bool,
    /// Natural scrolling: the content moves with the finger.
    pub inverted: bool,
}
