//! What a view is asked to do, and what its client is told.

use smithay::utils::{Logical, Point};

use crate::time::Instant;
use crate::timing::scroll::{Region, Side, Way};

/// How a view is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not at all.
    Still,
    /// Drawn anew at each refresh.
    Composited,
}

/// Why it is moved in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The compositor chose so.
    Policy,
    /// It has no content.
    NoContent,
    /// It lies inside of too many views.
    Nesting,
}

/// Where a view is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShownAt {
    /// Its offset.
    pub offset: Point<f64, Logical>,
    /// In pixels per second.
    pub velocity: Way,
    /// Of the last request that was heeded.
    pub serial: u32,
}

/// The client's end of a view.
pub trait ScrollListener: std::fmt::Debug {
    /// So many pixels may be rendered.
    fn tell_budget(&self, pixels: i64);
    /// How it is moved, and why so.
    fn tell_effective(&self, mode: Mode, reason: Reason);
    /// This is to be rendered by then.
    fn tell_wanted(&self, region: Region, by: Instant);
    /// So much is left on a side, until then.
    fn tell_low_water(&self, side: Side, left: i64, until: Instant);
    /// It has come to rest.
    fn tell_rest(&self, at: ShownAt);
    /// A refresh showed it there.
    fn tell_offset(&self, at: ShownAt, present: Instant);
}

/// What somebody asks of a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Movement {
    /// Go there.
    To {
        /// Where.
        offset: (i64, i64),
        /// Not at once.
        smoothly: bool,
        /// The client's number for it.
        serial: u32,
    },
    /// Go on.
    By {
        /// How far.
        way: (i64, i64),
        /// Not at once.
        smoothly: bool,
        /// The client's number for it.
        serial: u32,
    },
    /// Fingers pull.
    Pull(Way),
    /// They are lifted.
    LetGo,
    /// A wheel was turned.
    Turn(Way),
    /// It stays where it is.
    Stop,
}
