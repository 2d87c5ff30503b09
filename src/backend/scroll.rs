//! Scrolling, as devices and parents of nested sessions report it.

/// Where a scroll event comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScrollSource {
    /// A wheel with steps.
    #[default]
    Wheel,
    /// A finger on a touchpad: ends with a stop.
    Finger,
    /// Something continuous, such as a pointing stick with a button held: may end with a stop.
    Continuous,
    /// A wheel that is tilted.
    WheelTilt,
}

/// One axis of a scroll event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scroll {
    /// Distance in the coordinates of pointer motion.
    pub distance: f64,
    /// Wheel steps in 120ths, if it is a wheel.
    pub v120: Option<i32>,
    /// The finger was lifted.
    pub stop: bool,
    /// The content is meant to move with the finger ("natural" scrolling).
    pub inverted: bool,
}
