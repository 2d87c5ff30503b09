//! Drops and latency of an example, from the results of its frames.

use std::collections::VecDeque;

use upbeat_client::{FrameTarget, PacerEvent, TargetId, TargetOutcome};
use upbeat_timing::time::{Instant, Span};

/// Number of frames in the shown median latency: about a second.
const RECENT: usize = 60;

#[derive(Debug, Default)]
pub struct ExampleFigures {
    /// When drawing of each unfinished frame began.
    begun: VecDeque<(TargetId, Instant)>,
    shown_at: Option<Instant>,
    latencies: VecDeque<Span>,
    pub committed: u32,
    pub shown: u32,
    /// Number of `shown` frames that were light at their target.
    pub on_time: u32,
    pub discarded: u32,
    /// Refreshes without a new frame between two shown frames.
    pub drops: u64,
    /// How often targets were revoked.
    pub revoked: u32,
}

impl ExampleFigures {
    /// Records the start of a frame: its input is as old as `now`.
    pub fn begun(&mut self, target: FrameTarget, now: Instant) {
        self.begun.push_back((target.id, now));
    }

    /// Handles an event of the pacer.
    pub fn event(&mut self, event: &PacerEvent) {
        match event {
            PacerEvent::Ended { target, outcome } => self.ended(target, outcome),
            // A cancelled frame may never be committed.
            PacerEvent::Cancelled { first } => self.begun.retain(|(id, _)| id < first),
            PacerEvent::Revoked { .. } => self.revoked += 1,
            PacerEvent::Effective(_) => {}
        }
    }

    /// Resets the drop counter's reference, because refreshes without motion are no drops.
    pub fn paused(&mut self) {
        self.shown_at = None;
    }

    pub fn is_over(&self) -> bool {
        self.shown + self.discarded == self.committed
    }

    fn ended(&mut self, target: &FrameTarget, outcome: &TargetOutcome) {
        let begun = self.begun.iter().find(|(id, _)| *id == target.id).map(|(_, at)| *at);
        self.begun.retain(|(id, _)| *id > target.id);
        let TargetOutcome::Presented { at, .. } = *outcome else {
            self.discarded += 1;
            return;
        };
        self.shown += 1;
        self.on_time += u32::from(outcome.refreshes_late(target) == Some(0));
        if let Some(before) = self.shown_at.replace(at) {
            let interval = target.interval.as_nanos().max(1);
            let refreshes = ((at - before).as_nanos() + interval / 2) / interval;
            self.drops += (refreshes - 1).max(0) as u64;
        }
        if self.latencies.len() == RECENT {
            self.latencies.pop_front();
        }
        self.latencies.extend(begun.map(|begun| at - begun));
    }

    /// From the start of drawing to light: the median of the last second.
    pub fn latency(&self) -> Option<Span> {
        let mut sorted: Vec<Span> = self.latencies.iter().copied().collect();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied()
    }

    /// The figures as text on screen.
    pub fn text(&self) -> String {
        let latency = self.latency().map_or("-".to_owned(), |latency| format!("{:.1} ms", latency.as_millis_f64()));
        format!("drops {}   latency {latency}", self.drops)
    }

    /// Prints the figures at the end.
    pub fn report(&self, name: &str) {
        println!(
            "{name}: {} frames, {} shown, {} of them on time, {} discarded, {} drops, {} times revoked, latency {}",
            self.committed,
            self.shown,
            self.on_time,
            self.discarded,
            self.drops,
            self.revoked,
            self.latency().unwrap_or_default(),
        );
    }
}
