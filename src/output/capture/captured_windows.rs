//! Captured windows: they count as visible and get callbacks as often as visible windows.

use std::sync::{Arc, Weak};

use crate::output::Outputs;
use crate::output::clients::blockers::clear_blockers;
use crate::output::clients::frame_targets;
use crate::shell::WindowId;
use crate::state::State;
use crate::surface::{FrameDiscardReason, SurfaceEntry};
use upbeat_timing::time::{Clock, Instant, Span};

/// Callback interval if there is no output.
pub(super) const INTERVAL: Span = Span::from_nanos(16_666_667);

/// While this guard lives, a window counts as visible.
#[derive(Clone, Debug)]
pub struct CaptureGuard(#[expect(dead_code, reason = "only its lifetime matters")] Arc<()>);

#[derive(Debug, Default)]
pub struct CapturedWindows {
    list: Vec<(WindowId, Weak<()>)>,
    called: Instant,
    /// When hidden captured windows get callbacks next; `None` while none waits.
    pub(in crate::output) tick: Option<Instant>,
}

impl Outputs {
    /// The window counts as visible while the returned guard lives.
    pub fn watch(&mut self, window: WindowId) -> CaptureGuard {
        let name = Arc::new(());
        self.captures.watched.list.push((window, Arc::downgrade(&name)));
        CaptureGuard(name)
    }
}

/// Sends callbacks to captured surfaces that no output shows.
pub(in crate::output) fn call_back(state: &mut State) {
    let watched = &mut state.outputs.captures.watched;
    watched.tick = None;
    watched.list.retain(|(_, name)| name.strong_count() > 0);
    if watched.list.is_empty() {
        return;
    }
    let now = state.clock.now();
    let next = watched.called + interval(&state.outputs);
    let State { surfaces, outputs, shell, .. } = state;
    let (first, mut opened, mut waits) = (outputs.first(), Vec::new(), false);
    surfaces.for_each_awake(|entry| {
        if !is_called(entry, outputs) {
            return;
        }
        let window = shell.window_of(entry.surface()).map(|window| window.id);
        if !outputs.captures.watched.list.iter().any(|(watched, _)| Some(*watched) == window) {
            return;
        }
        waits = true;
        if now < next {
            return;
        }
        entry.clear_barrier();
        if entry.open_finished() {
            opened.push(entry.surface().clone());
        }
        entry.latch().discard(FrameDiscardReason::Unseen);
        entry.call_back(now, None);
        let output = entry.output().or(first).and_then(|id| outputs.by_id_mut(id));
        frame_targets::send_hidden_target(entry, output, now);
    });
    let watched = &mut outputs.captures.watched;
    if waits && now >= next {
        watched.called = now;
    }
    watched.tick = waits.then_some(next.max(now + Span::from_nanos(1))).filter(|_| now < next);
    clear_blockers(state, &opened);
}

fn is_called(entry: &SurfaceEntry, outputs: &Outputs) -> bool {
    entry.is_waiting() && !outputs.is_visible(entry)
}

fn interval(outputs: &Outputs) -> Span {
    let output = outputs.list.iter().find(|output| output.on);
    output.map_or(INTERVAL, |output| output.conductor.output().vsync().interval())
}
