//! Marz: three event loads under a polling loop, a blocking loop, and ours.

use super::{FigureKind, PaperFigure, SuiteEffort, figure};
use crate::events::{EventLoad, EventLoop, SPIRAL, run};

/// A refresh at 60 Hz in milliseconds.
const INTERVAL: f64 = 16.667;
/// Time that a light application needs before the refresh, in milliseconds.
const BUDGET: f64 = 4.0;
/// Test 2: about three messages of 40 characters in 20 s, in bursts.
const TYPING: EventLoad = EventLoad { events: 240, seconds: 20.0, bursts: true };
/// Test 3: a film and no input.
const NOTHING: EventLoad = EventLoad { events: 0, seconds: 30.0, bursts: false };

pub fn figures(_effort: SuiteEffort) -> Vec<PaperFigure> {
    let mut figures = Vec::new();
    let loads = [
        ("spiral in 10 s", SPIRAL[0], Some(0.3)),
        ("spiral in 20 s", SPIRAL[1], Some(1.9)),
        ("spiral in 60 s", SPIRAL[2], Some(6.7)),
        ("typing", TYPING, Some(17.1)),
        ("no input", NOTHING, None),
    ];
    for (name, load, published) in loads {
        let cost = |kind| run(&load, kind, INTERVAL, BUDGET, 1);
        let (poll, block, ours) = (cost(EventLoop::Poll), cost(EventLoop::Block), cost(EventLoop::PerFrame));
        for (kind, cost) in [("16 ms poll", poll), ("blocking wait", block), ("ours", ours)] {
            let id = format!("{name}: {kind}, wake-ups");
            figures.push(figure(id, "/s", FigureKind::Derived, cost.wake_ups_per_second));
        }
        let Some(published) = published else { continue };
        figures.push(
            figure(format!("{name}: delivery sooner than polling, blocking"), "ms", FigureKind::Derived, {
                poll.delivery.mean - block.delivery.mean
            })
            .published(published)
            .note("published: savings over a loop that input also wakes, so that they fall with the event rate"),
        );
        figures.push(
            figure(format!("{name}: delivery p50, ours"), "ms", FigureKind::Derived, ours.delivery.p50)
                .note("waits on purpose for the moment from which the frame is just in time; the poll adds to that"),
        );
    }
    figures
}
