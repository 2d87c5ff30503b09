//! Runs the state machine alone, in virtual time, and logs actions and events as text.

use std::fmt::Write;

use crate::backend::headless::display::VirtualDisplay;
use crate::backend::headless::options::OutputOptions;
use crate::backend::{BufferStorage, DisplayEvent, FrameId, FramePlan, PlanChange, SubmitError, VideoMode};
use upbeat_timing::time::{Instant, Span};

/// 10 ms a refresh and a picture of two rows, so that the numbers are easy to read.
pub const MODE: VideoMode = VideoMode { width: 4, height: 2, refresh: 100_000 };

/// A fixed grid with its epoch at zero and a submit lead of 1 ms.
pub fn options() -> OutputOptions {
    OutputOptions {
        epoch: Some(Instant::ZERO),
        submit_lead: Some(Span::from_millis(1)),
        can_withdraw: true,
        ..OutputOptions::default()
    }
}

pub fn ms(millis: f64) -> Instant {
    Instant::ZERO + Span::from_millis_f64(millis)
}

/// A plan that composes into the next free buffer.
pub fn compose(display: &mut VirtualDisplay, frame: u64) -> FramePlan {
    let mut buffer = display.acquire().expect("a free buffer");
    let BufferStorage::Memory(pixels) = &mut buffer.storage else { panic!("not in memory") };
    pixels.pixels.fill(frame as u32);
    plan(frame, PlanChange::Compose { buffer, damage: Vec::new() })
}

pub fn plan(frame: u64, change: PlanChange) -> FramePlan {
    FramePlan::plain(FrameId(frame), change)
}

/// A display, with a log of its actions and events.
pub struct TimelineStage {
    pub display: VirtualDisplay,
    pub log: String,
    wake: Option<Instant>,
}

impl TimelineStage {
    pub fn new(options: OutputOptions) -> Self {
        let display = VirtualDisplay::new(MODE, options, Instant::ZERO).expect("valid options");
        TimelineStage { display, log: String::new(), wake: None }
    }

    /// Advances to `millis` like an event loop that is never late, and logs the events.
    pub fn until(&mut self, millis: f64) -> &mut Self {
        while let Some(next) = self.display.next_event().filter(|&next| next <= ms(millis)) {
            self.display.advance(next);
            self.collect(next.as_nanos() as f64 / 1e6);
        }
        self.display.advance(ms(millis));
        self.collect(millis);
        self
    }

    /// The event loop sleeps until `millis`: nothing is dispatched before.
    pub fn sleep_until(&mut self, millis: f64) -> &mut Self {
        self.display.advance(ms(millis));
        self.collect(millis);
        self
    }

    /// Submits a composed frame at `millis`; with `fence`, its fence is pending.
    pub fn submit(&mut self, millis: f64, frame: u64, fence: bool) -> &mut Self {
        self.until(millis);
        let plan = compose(&mut self.display, frame);
        let result = self.display.submit(plan, (!fence).then(|| ms(millis)), ms(millis));
        let mut what = format!("submit {frame}{}", if fence { " with a pending fence" } else { "" });
        if let Err((error, plan)) = result {
            self.give_back(plan);
            write!(what, ": {error}").expect("writing to a string");
        }
        self.note(millis, &what);
        self.collect(millis);
        self
    }

    /// Submits a composed frame at `millis` for the refresh at `present` (milliseconds).
    pub fn submit_for(&mut self, millis: f64, frame: u64, present: f64) -> &mut Self {
        let plan = FramePlan { present: ms(present), ..compose(&mut self.display, frame) };
        let mut what = format!("submit {frame} for {present}");
        if let Err((error, plan)) = self.display.submit(plan, Some(ms(millis)), ms(millis)) {
            self.give_back(plan);
            write!(what, ": {error}").expect("writing to a string");
        }
        self.note(millis, &what);
        self.collect(millis);
        self
    }

    fn give_back(&mut self, plan: FramePlan) {
        if let PlanChange::Compose { buffer, .. } = plan.change {
            self.display.release(buffer);
        }
    }

    pub fn signal(&mut self, millis: f64) -> &mut Self {
        self.display.fence_signalled(ms(millis));
        self.note(millis, "fence signals");
        self.collect(millis);
        self
    }

    /// Performs any other action, with its name for the log.
    pub fn act(&mut self, millis: f64, what: &str, act: impl FnOnce(&mut VirtualDisplay, Instant)) -> &mut Self {
        self.until(millis);
        self.note(millis, what);
        act(&mut self.display, ms(millis));
        self.collect(millis);
        self
    }

    pub fn note(&mut self, millis: f64, what: &str) {
        writeln!(self.log, "{millis:<7.3} {what}").expect("writing to a string");
    }

    fn collect(&mut self, millis: f64) {
        while let Some(event) = self.display.poll_event() {
            let text = match event {
                DisplayEvent::Presented { frame, time, sequence } => {
                    let sequence = sequence.map_or("without a number".to_owned(), |n| format!("refresh {n}"));
                    format!("presented {} at {time}, {sequence}", frame.0)
                }
                DisplayEvent::FrontLit { frame, light, torn, .. } => {
                    format!("written {} at {light}{}", frame.0, if torn { ", torn" } else { "" })
                }
                DisplayEvent::FrontScanned(scanned) => {
                    format!("scanned in {}{}", scanned.refresh, if scanned.is_proven { "" } else { ", unproven" })
                }
                DisplayEvent::Lost { frame, reason } => format!("lost {}: {reason:?}", frame.0),
                DisplayEvent::Refused { frame, error } => format!("refused {}: {error}", frame.0),
                DisplayEvent::PlanesKnown => "planes known".to_owned(),
                DisplayEvent::QueueGrown => "more room".to_owned(),
                DisplayEvent::Changed => "changed".to_owned(),
                DisplayEvent::ModeSettled { request, result } => format!("mode {}: {result:?}", request.0),
                DisplayEvent::Gone => "gone".to_owned(),
            };
            self.note(millis, &format!("  -> {text}"));
        }
        let wake = self.display.next_event();
        if wake != self.wake {
            self.wake = wake;
            let wake = wake.map_or("nothing to wake for".to_owned(), |at| format!("wake at {at}"));
            writeln!(self.log, "          {wake}").expect("writing to a string");
        }
    }
}

/// Submits a composed frame that is rendered already and complete at `at`.
pub fn submit_at(display: &mut VirtualDisplay, frame: u64, at: Instant) -> Result<(), SubmitError> {
    let plan = compose(display, frame);
    display.submit(plan, Some(at), at).map_err(|(error, plan)| {
        if let PlanChange::Compose { buffer, .. } = plan.change {
            display.release(buffer);
        }
        error
    })
}
