//! A display and clients in a steady state: measures the cost of a decision, and tests that it allocates nothing.

use upbeat_timing::conductor::{Conductor, ConductorAction, PacerId};
use upbeat_timing::output::{ComposeCostKind, OutputMachine};
use upbeat_timing::pacer::PacerMissBudgets;
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::vsync::VsyncModel;

const INTERVAL: Span = Span::from_nanos(16_666_667);
const LEAD: Span = Span::from_micros(600);
const COMPOSE: Span = Span::from_micros(300);
const COST: Span = Span::from_micros(700);

/// An output and its clients, refresh after refresh.
pub struct SteadySession {
    pub conductor: Conductor,
    pub now: Instant,
    pub pacers: Vec<PacerId>,
    called: Vec<PacerId>,
    refreshes: i64,
}

impl SteadySession {
    pub fn new(clients: usize) -> Self {
        let start = Instant::from_nanos(1_000_000_000);
        let mut output = OutputMachine::new(VsyncModel::new(INTERVAL, start), LEAD, start);
        output.vsync_mut().synchronise(start);
        let mut conductor = Conductor::new(output, 2);
        let pacers: Vec<PacerId> =
            (0..clients).map(|_| conductor.add_pacer(PacingWish::Auto, PacerMissBudgets::default())).collect();
        for pacer in &pacers {
            conductor.committed(*pacer, start, Some(Span::ZERO), false);
        }
        conductor.output_mut().schedule_repaint(RepaintReason::Content);
        SteadySession { conductor, now: start, pacers, called: Vec::with_capacity(clients), refreshes: 0 }
    }

    /// All decisions of one refresh: callbacks, commits, the latch, light.
    pub fn refresh(&mut self) {
        loop {
            while let Some(action) = self.conductor.poll_action(self.now) {
                match action {
                    ConductorAction::Callback { pacer, .. } => {
                        self.conductor.called_back(pacer, self.now, Some(self.now - Instant::ZERO));
                        self.called.push(pacer);
                    }
                    ConductorAction::Latch { target, scheduled } => {
                        self.conductor.latched(target.id);
                        self.now += COMPOSE;
                        let frame = self.conductor.output_mut().choose(target.id, ());
                        self.conductor.output_mut().submitted(frame, scheduled, self.now, ComposeCostKind::Usual);
                        for pacer in &self.pacers {
                            if let Some(pacer) = self.conductor.pacer_mut(*pacer) {
                                pacer.callback_due(self.now);
                            }
                        }
                        self.now = target.present;
                        self.conductor.output_mut().presented(frame, self.now, Some(1), self.now);
                        self.refreshes += 1;
                        return;
                    }
                }
            }
            if self.called.is_empty() {
                self.now = self.conductor.next_wake(self.now).unwrap_or(self.now + INTERVAL);
                continue;
            }
            for pacer in self.called.drain(..) {
                self.now += COST / 10;
                self.conductor.committed(pacer, self.now, Some(self.now - Instant::ZERO), false);
                self.conductor.output_mut().schedule_repaint(RepaintReason::Content);
            }
        }
    }
}
