//! Connects surfaces to pacers: when a client gets a callback, and how long its answer took.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::clients::spare_buffer;
use crate::state::State;
use crate::surface::queue::STAMP_TOLERANCE;
use crate::surface::{BufferFinished, ClientEntry, CommitHandling, CommitInfo, SurfaceEntry, SurfaceRegistry};
use upbeat_timing::conductor::PacerId;
use upbeat_timing::id::{ClientId, OutputId, SurfaceId, UpdateId, WindowId};
use upbeat_timing::pacer::{CallbackAnswer, Pacer, PacerMissBudgets};
use upbeat_timing::pacing::{Pacing, PacingWish};
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Clock, Instant, Span};

/// Interval of callbacks for hidden surfaces: often enough that no client hangs, too seldom to cost much.
pub const HIDDEN_INTERVAL: Span = Span::from_seconds(1);

/// Pacing of a client on one output.
#[derive(Debug)]
pub struct ClientPacing {
    pub(in crate::output) pacer: PacerId,
    pub(in crate::output) clock: Option<upbeat_record::process_clock::ProcessClock>,
    /// Set while only some of the client's surfaces have answered their callback: when the last of them committed,
    /// and the next refresh at that time.
    pub(in crate::output) partial: Option<(Instant, RefreshIndex)>,
    /// The log says already why its callbacks come sooner than is best for its latency.
    pub(in crate::output) has_logged_reason: bool,
}

impl Outputs {
    /// The output that paces `entry` and the client's pacer there; created if missing.
    pub(in crate::output) fn pacing_of(
        &mut self,
        entry: &SurfaceEntry,
        client: ClientEntry,
    ) -> Option<(&mut OutputState, PacerId)> {
        let id = entry.output().or(self.first())?;
        let output = self.list.iter_mut().find(|output| output.id == id)?;
        if let Some(pacing) = output.clients.get(&client.id) {
            let pacer = pacing.pacer;
            return Some((output, pacer));
        }
        self.rules.mark_client_stale(client.id);
        let pacer = output.conductor.add_pacer(PacingWish::default(), PacerMissBudgets::default());
        output
            .clients
            .insert(client.id, ClientPacing { pacer, clock: client.clock, partial: None, has_logged_reason: false });
        output.focused_clients.is_stale = true;
        Some((output, pacer))
    }
}

/// A client requested a callback that needs no latch: either nothing changed, or the client runs ahead.
pub(in crate::output) fn callback_wanted(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    let Some((entry, client)) = state.surfaces.get(surface).zip(state.surfaces.client_of(surface)) else { return };
    if !entry.wants_callback() {
        return;
    }
    if entry.output().is_none() || !state.outputs.is_visible(entry) {
        state.outputs.hidden_tick.get_or_insert(now + HIDDEN_INTERVAL);
        return;
    }
    if let Some((output, pacer)) = state.outputs.pacing_of(entry, client)
        && let Some(pacer) = output.conductor.pacer_mut(pacer)
    {
        pacer.callback_due(now);
    }
}

impl Outputs {
    /// Whether a part of the surface was visible in the last scene of its output.
    pub fn is_visible(&self, entry: &SurfaceEntry) -> bool {
        let output = entry.output().and_then(|id| self.by_id(id));
        output.is_some_and(|output| output.on && entry.visible_in() == output.scene_cache.arrangement())
    }
}

/// A client committed new content.
pub(in crate::output) fn committed(state: &mut State, surface: &WlSurface, commit: CommitInfo) -> CommitHandling {
    note_commit(state, surface, commit).unwrap_or_default()
}

fn note_commit(state: &mut State, surface: &WlSurface, commit: CommitInfo) -> Option<CommitHandling> {
    let CommitInfo { at: now, queued, buffers, stamp, bound, unfinished, is_own } = commit;
    let client = state.surfaces.client_of(surface)?;
    let State { surfaces, outputs, .. } = state;
    let was_called = surfaces.get(surface)?.called_back_at().is_some();
    if !is_own && !was_called {
        // The commits of its subsurfaces were recorded already.
        return None;
    }
    // A commit that was drawn ahead does not measure the cost of answering a callback.
    let queued = queued || (bound.is_some() && !was_called);
    surfaces.get_mut(surface)?.note_new_content();
    let (output, pacer_id) = outputs.pacing_of(surfaces.get(surface)?, client)?;
    let drawing = output.conductor.pacer(pacer_id).and_then(Pacer::drawing);
    // While other surfaces of the client still owe a commit, the answer is incomplete. Without a callback it is no
    // answer at all.
    let busy = drawing.is_some_and(|drawing| has_unanswered_callbacks(surfaces, client.id, drawing.sent));
    let pacing = output.clients.get_mut(&client.id)?;
    if was_called || !busy {
        pacing.partial = busy.then(|| (now, output.conductor.output().next_index(now)));
    }
    let cpu = client.clock.and_then(|clock| clock.read());
    let newest = surfaces.get(surface).map(|entry| UpdateId { surface: entry.id(), number: entry.newest_commit() });
    let update = newest.filter(|_| unfinished);
    let answer = match update {
        Some(update) if busy => {
            output.conductor.committed_part(pacer_id, update);
            None
        }
        None if busy => None,
        Some(update) => output.conductor.committed_unfinished(pacer_id, now, update, (cpu, queued)),
        None => output.conductor.committed(pacer_id, now, cpu, queued),
    };
    let pacer = output.conductor.pacer_mut(pacer_id)?;
    pacer.note_buffers(buffers);
    let runs_ahead = pacer.has_second_period() && !queued;
    let entry = surfaces.get_mut(surface)?;
    if is_own {
        record_commit(entry, output, pacer_id, now, answer, bound);
        if let Some(stamp) = stamp.filter(|_| bound.is_none()) {
            note_stamp(entry, output, stamp);
        }
        entry.keep_record();
    }
    let hold = answer.and_then(|answer| answer.hold).filter(|_| was_called && entry.may_be_held());
    Some(CommitHandling { hold, runs_ahead })
}

/// New content of `surface` was applied. If it is visible, the output learns when it comes.
pub(in crate::output) fn note_content(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    let State { surfaces, outputs, .. } = state;
    let Some((entry, client)) = surfaces.get(surface).zip(surfaces.client_of(surface)) else { return };
    if outputs.is_visible(entry)
        && let Some((output, pacer)) = outputs.pacing_of(entry, client)
    {
        output.conductor.note_content(pacer, entry.id(), now);
    }
}

/// A device has finished drawing commit `number` of `surface`.
pub(in crate::output) fn finished(state: &mut State, surface: &WlSurface, number: u64, finished: BufferFinished) {
    let State { surfaces, outputs, .. } = state;
    let Some((entry, client)) = surfaces.get(surface).zip(surfaces.client_of(surface)) else { return };
    let update = UpdateId { surface: entry.id(), number };
    let paced = outputs.pacing_of(entry, client);
    let cost = paced.and_then(|(output, pacer)| output.conductor.finished(pacer, update, finished.at));
    if let Some(entry) = surfaces.get_mut(surface) {
        entry.note_finished(number, finished, cost);
    }
}

/// Whether a client has surfaces that got the callback sent at `sent` and have not committed since. Surfaces that
/// ignored an earlier callback are not waited for: a browser's window commits once a second, its moving content sixty
/// times.
fn has_unanswered_callbacks(surfaces: &SurfaceRegistry, client: ClientId, sent: Instant) -> bool {
    surfaces.awake().any(|entry| entry.client() == client && entry.called_back_at() == Some(sent))
}

/// Whether a client got a callback within the last refresh and has not committed yet: its commit may be late.
pub fn is_any_client_drawing(state: &State, now: Instant) -> bool {
    state.outputs.list.iter().any(|output| output.conductor.is_commit_expected_soon(now))
}

fn record_commit(
    entry: &mut SurfaceEntry,
    output: &OutputState,
    pacer: PacerId,
    now: Instant,
    answer: Option<CallbackAnswer>,
    bound: Option<Target>,
) {
    let machine = output.conductor.output();
    let pacer = output.conductor.pacer(pacer);
    // A late second frame misses nothing, because its refresh already had a frame.
    let is_second = answer.is_some_and(|answer| answer.drawing.is_second) && machine.latched() >= entry.record().target;
    let waits =
        is_second || answer.is_some_and(|answer| answer.pause) || pacer.is_some_and(Pacer::commits_on_own_clock);
    if entry.record().callback_sent.is_none() || entry.record().committed.is_some() || waits {
        // The commit answers no callback: none was sent, or the client had nothing to draw for it, or waited
        // for its own time. Its target is the next refresh.
        let target = bound.unwrap_or_else(|| machine.target(machine.next_index(now)));
        *entry.record_mut() = ClientFrameRecord {
            client: entry.client(),
            surface: entry.id(),
            window: entry.record().window,
            output: output.id,
            target: target.id,
            present: target.present,
            ready_by: target.ready_by,
            interval: target.interval,
            input: entry.take_input(),
            due_sequence: output.due_sequence(target.id),
            ..ClientFrameRecord::default()
        };
    }
    let depth = (entry.queued_updates() + 1).min(usize::from(u8::MAX)) as u8;
    let record = entry.record_mut();
    // A client that draws ahead may also get callbacks, because libraries request them by themselves. Its frame is
    // late relative to the bound target.
    let ahead_of_call = bound.filter(|target| target.id > record.target);
    if let Some(target) = ahead_of_call {
        (record.target, record.present) = (target.id, target.present);
        (record.ready_by, record.interval) = (target.ready_by, target.interval);
        record.due_sequence = output.due_sequence(target.id);
    }
    record.committed = Some(now);
    (record.ready, record.ready_at_most) = (Some(now), false);
    record.depth = depth;
    if let Some(pacer) = pacer {
        record.class = pacer.class();
        record.pacing = pacer.effective().0;
        record.slack_periods = (pacer.slack_periods() - 1) as u8;
    }
    if ahead_of_call.is_some() || (bound.is_some() && record.callback_sent.is_none()) {
        record.pacing = Pacing::Ahead;
    }
    if let Some(answer) = answer.filter(|_| !waits) {
        record.budget = answer.budget;
        record.cost_wall = Some(answer.wall);
        record.cost_cpu = answer.cpu;
    }
}

/// Moves the target of the newest record to the refresh of its commit-timing stamp, if that refresh is later.
fn note_stamp(entry: &mut SurfaceEntry, output: &OutputState, stamp: Instant) {
    let (machine, record) = (output.conductor.output(), entry.record_mut());
    if machine.vsync().is_variable() {
        let early = stamp.max(record.present) - record.present;
        (record.present, record.ready_by) = (record.present + early, record.ready_by + early);
        return;
    }
    let target = machine.target(machine.vsync().at_or_after(stamp - STAMP_TOLERANCE));
    if target.id > record.target {
        (record.target, record.present, record.ready_by) = (target.id, target.present, target.ready_by);
        record.due_sequence = output.due_sequence(target.id);
    }
}

/// A latch took the content of these clients, so their requested callbacks are due. Returns whether a callback became
/// due that was not due before.
pub(in crate::output) fn latched(state: &mut State, id: OutputId, clients: &[ClientId]) -> bool {
    let now = state.clock.now();
    let State { surfaces, outputs, .. } = state;
    let mut called = false;
    for client in clients {
        // A client that moved here from another output has no pacer yet; create it now, because otherwise it
        // would get no callback.
        let entry = surfaces.awake().find(|entry| entry.client() == *client && entry.output() == Some(id));
        if let Some((entry, client)) = entry.and_then(|entry| Some((entry, surfaces.client_of(entry.surface())?))) {
            outputs.pacing_of(entry, client);
        }
        let Some(output) = outputs.by_id_mut(id) else { return called };
        let Some(pacing) = output.clients.get_mut(client) else { continue };
        let pacer = pacing.pacer;
        if let Some((then, reaches)) = pacing.partial.take() {
            // Some of its surfaces got a callback and had nothing to draw.
            output.conductor.committed_earlier(pacer, then, reaches);
        }
        // Surfaces at rest have no waiting callbacks or updates.
        let entries = surfaces.awake().filter(|entry| entry.client() == *client && entry.output() == Some(id));
        let runs_ahead = output.conductor.pacer(pacer).is_some_and(Pacer::has_second_period);
        let (wants, may) = entries.fold((false, true), |(wants, may), entry| {
            let may_be_called = spare_buffer::may_be_called(entry, output, runs_ahead);
            (wants || entry.wants_callback(), may && (may_be_called || !entry.wants_callback()))
        });
        if wants
            && may
            && let Some(pacer) = output.conductor.pacer_mut(pacer)
        {
            called |= !pacer.is_waiting();
            pacer.callback_due(now);
        }
    }
    called
}

/// An input event was delivered to the client of `surface`.
pub fn input(state: &mut State, surface: &WlSurface, interrupts: bool, at: Instant, now: Instant) {
    let Some(client) = state.surfaces.client_of(surface) else { return };
    let State { surfaces, outputs, .. } = state;
    surfaces.note_input(client.id, at);
    let Some(entry) = surfaces.get(surface) else { return };
    if let Some((output, pacer)) = outputs.pacing_of(entry, client) {
        output.conductor.input(pacer, now, interrupts);
    }
}

/// Updates the pacers of an output: which client has the focus, and which client holds a pressed button or finger.
pub(in crate::output) fn update_focus(
    output: &mut OutputState,
    focused: Option<ClientId>,
    held: Option<ClientId>,
    now: Instant,
) {
    output.focused_clients.is_stale = false;
    let clients = [focused, held];
    let before = std::mem::replace(&mut output.focused_clients.clients, clients);
    for client in before.into_iter().chain(clients).flatten() {
        output.update_pacer_focus(client, now);
    }
}

/// The focused and the pressed client of an output, as of its last scene.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct FocusedClients {
    /// The windows with the focus and under a pressed button.
    windows: [Option<WindowId>; 2],
    /// Layer surfaces that have the keyboard and are pressed; they take precedence over the windows.
    layers: [Option<WlSurface>; 2],
    /// Their clients, if they are on this output.
    clients: [Option<ClientId>; 2],
    /// A new pacer has not got the focus state yet.
    pub(in crate::output) is_stale: bool,
}

impl FocusedClients {
    /// Sets the windows and layer surfaces. Returns whether any of them changed.
    pub fn replace(&mut self, windows: [Option<WindowId>; 2], layers: [Option<WlSurface>; 2]) -> bool {
        let are_others = self.windows != windows || self.layers != layers;
        (self.windows, self.layers) = (windows, layers);
        are_others
    }
}

impl OutputState {
    /// Updates the pacer of `client` on this output: whether the client has the focus and whether it is pressed.
    fn update_pacer_focus(&mut self, client: ClientId, now: Instant) {
        let [focused, held] = self.focused_clients.clients.map(|attended| attended == Some(client));
        let Some(pacer) = self.clients.get(&client).map(|pacing| pacing.pacer) else { return };
        let known = self.conductor.pacer(pacer);
        if known.is_none_or(|pacer| pacer.is_focused() == focused && pacer.is_held() == held) {
            return;
        }
        if let Some(pacer) = self.conductor.pacer_mut(pacer) {
            pacer.set_focused(focused);
            if pacer.is_held() != held {
                pacer.set_held(held, now);
            }
        }
    }
}

/// Ends the gesture when the last button or finger goes up, even if no frame is drawn then.
pub(in crate::output) fn end_gesture(state: &mut State) {
    if state.shell.pressed().is_some() {
        return;
    }
    if state.outputs.list.iter().any(|output| output.conductor.has_held_input()) {
        let now = state.clock.now();
        state.outputs.list.iter_mut().for_each(|output| output.conductor.release_held_input(now));
    }
}

/// A surface was destroyed; `client_left`: its client disconnected, too.
pub(in crate::output) fn surface_gone(state: &mut State, surface: SurfaceId, client: ClientId, client_left: bool) {
    state.outputs.statistics.end(surface);
    state.outputs.surfaces_destroyed = true;
    if !client_left {
        return;
    }
    for output in &mut state.outputs.list {
        if let Some(pacing) = output.clients.remove(&client) {
            output.conductor.remove_pacer(pacing.pacer);
        }
    }
    state.outputs.rules.forget(client);
}

/// Removes destroyed surfaces from each output's list of entered surfaces, all at once.
pub(in crate::output) fn cleanup_outputs(outputs: &mut Outputs) {
    if std::mem::take(&mut outputs.surfaces_destroyed) {
        outputs.list.iter().for_each(|output| output.output.cleanup());
    }
}

/// Schedules the tick that releases waiting updates and callbacks of hidden surfaces.
pub(in crate::output) fn schedule_hidden_tick(outputs: &mut Outputs, now: Instant) {
    outputs.hidden_tick.get_or_insert(now + HIDDEN_INTERVAL);
}
