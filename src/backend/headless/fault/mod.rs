//! Fault scripts: the failures of a bad driver, cable or monitor, at chosen times.
//!
//! One fault a line, `WHEN WHAT [for COUNT]`; `#` starts a comment:
//! ```text
//! refresh 120  stamp early 2ms          # the next frame shown at refresh 120 or later is stamped 2 ms too early
//! refresh 130  stamp late 300us for 3
//! refresh 140  stamp zero               # as drivers without timestamps do
//! refresh 150  stamp backwards 40ms     # 40 ms before the stamp before it
//! refresh 160  stamp duplicate          # the stamp before it, again
//! frame 17     no-sequence for 2        # no refresh number
//! refresh 180  hold-flip for 2          # a vblank passes by a frame that was ready; it is shown by a later one
//! frame 20     lose-frame               # accepted, and never shown
//! frame 21     refuse-submit            # not accepted
//! frame 22     delay-events 5ms for 3   # events are reported late
//! at 2.5s      power off
//! at 3s        power on
//! at 4s        mode 1280x720@60
//! frame 300    unplug                   # right after the frame was submitted
//! ```
//! `refresh N` is the output's refresh number `N` or later, `frame N` the frame with that number or a later one, `at
//! TIME` that long after the output's first refresh. A fault with a count affects that many frames.

mod parse;

pub use parse::FaultScriptError;

use crate::backend::{FrameId, VideoMode};
use upbeat_timing::time::{Instant, Span};

/// When a fault starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTime {
    /// From this refresh on.
    Refresh(u64),
    /// From this frame on.
    Frame(FrameId),
    /// From this long after refresh number 0 on.
    At(Span),
}

/// An error in the timestamp of a presented frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampFault {
    /// Too early by this much.
    Early(Span),
    /// Too late by this much.
    Late(Span),
    Zero,
    /// This much before the previous stamp.
    Backwards(Span),
    /// The previous stamp again.
    Duplicate,
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A presented frame has a wrong timestamp.
    Stamp(StampFault),
    /// A presented frame has no refresh number.
    NoSequence,
    /// A vblank passes without the flip that was ready for it.
    HoldFlip,
    /// An accepted frame is lost at its vblank.
    LoseFrame,
    /// A frame is refused.
    RefuseSubmit,
    /// Presented and lost frames are reported this much later.
    DelayEvents(Span),
    /// The panel is switched off (false) or on.
    Power(bool),
    Mode(VideoMode),
    /// The output is unplugged.
    Unplug,
}

impl FaultKind {
    /// Whether it affects the output and not a frame.
    fn is_incident(self) -> bool {
        matches!(self, FaultKind::Power(_) | FaultKind::Mode(_) | FaultKind::Unplug)
    }
}

/// One line of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptedFault {
    pub when: FaultTime,
    pub kind: FaultKind,
    /// How many times it happens.
    pub count: u32,
}

/// All faults of one output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultScript {
    /// In the order of the text. If several could happen at once, the first does.
    pub faults: Vec<ScriptedFault>,
}

/// A point at which a fault may affect a frame.
#[derive(Clone, Copy, Debug)]
pub struct FaultPoint {
    pub time: Instant,
    /// The current refresh, or the refresh that the frame is for.
    pub refresh: u64,
    pub frame: FrameId,
}

/// The remaining faults of an output.
#[derive(Debug)]
pub struct FaultPlayer {
    epoch: Instant,
    left: Vec<ScriptedFault>,
}

impl FaultPlayer {
    /// Plays `script` on an output whose refresh number 0 starts at `epoch`.
    pub fn new(script: &FaultScript, epoch: Instant) -> Self {
        let mut player = FaultPlayer { epoch, left: Vec::new() };
        player.replace(script);
        player
    }

    /// Replaces the remaining faults by `script`.
    pub fn replace(&mut self, script: &FaultScript) {
        self.left = script.faults.iter().copied().filter(|fault| fault.count > 0).collect();
    }

    /// Uses up the first due fault for which `select` returns a value.
    pub fn take<T>(&mut self, point: FaultPoint, select: impl Fn(FaultKind) -> Option<T>) -> Option<T> {
        let epoch = self.epoch;
        let (index, taken) = self.left.iter().enumerate().find_map(|(index, fault)| {
            let started = match fault.when {
                FaultTime::Refresh(refresh) => point.refresh >= refresh,
                FaultTime::Frame(frame) => point.frame >= frame,
                FaultTime::At(after) => point.time >= epoch + after,
            };
            started.then(|| select(fault.kind)).flatten().map(|taken| (index, taken))
        })?;
        self.use_up(index);
        Some(taken)
    }

    /// The time of the earliest incident whose time is known; `time_of` returns the start of a refresh.
    pub fn next_incident(&self, time_of: impl Fn(u64) -> Instant) -> Option<Instant> {
        self.incidents(time_of).map(|(_, at)| at).min()
    }

    /// Uses up the earliest incident, if it is due at `now`.
    pub fn take_incident(&mut self, now: Instant, time_of: impl Fn(u64) -> Instant) -> Option<FaultKind> {
        let (index, at) = self.incidents(time_of).min_by_key(|&(_, at)| at)?;
        (at <= now).then(|| self.use_up(index))
    }

    /// Uses up an incident that is scripted for the time right after `frame` was submitted.
    pub fn take_incident_after(&mut self, frame: FrameId) -> Option<FaultKind> {
        let due = |fault: &ScriptedFault| {
            matches!(fault.when, FaultTime::Frame(from) if frame >= from) && fault.kind.is_incident()
        };
        self.left.iter().position(due).map(|index| self.use_up(index))
    }

    fn incidents(&self, time_of: impl Fn(u64) -> Instant) -> impl Iterator<Item = (usize, Instant)> {
        let incidents = self.left.iter().enumerate().filter(|(_, fault)| fault.kind.is_incident());
        incidents.filter_map(move |(index, fault)| match fault.when {
            FaultTime::Refresh(refresh) => Some((index, time_of(refresh))),
            FaultTime::At(after) => Some((index, self.epoch + after)),
            FaultTime::Frame(_) => None,
        })
    }

    fn use_up(&mut self, index: usize) -> FaultKind {
        let fault = &mut self.left[index];
        let kind = fault.kind;
        fault.count -= 1;
        if fault.count == 0 {
            self.left.remove(index);
        }
        kind
    }
}
