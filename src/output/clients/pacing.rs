//! Between surfaces and pacers: who is called back when, and what the answer cost.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::clients::spare_buffer;
use crate::state::State;
use crate::surface::queue::STAMP_TOLERANCE;
use crate::surface::{ClientEntry, Commit, Committed, Entry, Finished, Surfaces};
use upbeat_timing::conductor::PacerId;
use upbeat_timing::id::{ClientId, OutputId, SurfaceId, UpdateId, WindowId};
use upbeat_timing::pacer::{Answer, MissBudgets, Pacer};
use upbeat_timing::pacing::{Pacing, PacingWish};
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Clock, Instant, Span};

/// How often surfaces that nobody sees are called back: often enough that nobody hangs, too seldom to cost anything.
pub const HIDDEN_INTERVAL: Span = Span::from_seconds(1);

/// How a client is paced on one output.
#[derive(Debug)]
pub struct ClientPacing {
    /// Its pacer.
    pub(in crate::output) pacer: PacerId,
    pub(in crate::output) clock: Option<upbeat_record::process_clock::ProcessClock>,
    /// When it committed last since it was called back, while some of its surfaces have not; and the next refresh by then.
    pub(in crate::output) partial: Option<(Instant, RefreshIndex)>,
}

impl Outputs {
    /// The output that paces `entry`, and its client's pacing there; made when it is missing.
    pub(in crate::output) fn pacing_of(
        &mut self,
        entry: &Entry,
        client: ClientEntry,
    ) -> Option<(&mut OutputState, PacerId)> {
        let id = entry.output().or(self.first())?;
        let output = self.list.iter_mut().find(|output| output.id == id)?;
        if let Some(pacing) = output.clients.get(&client.id) {
            let pacer = pacing.pacer;
            return Some((output, pacer));
        }
        self.rules.changed_for(client.id);
        let pacer = output.conductor.add_pacer(PacingWish::default(), MissBudgets::default());
        output.clients.insert(client.id, ClientPacing { pacer, clock: client.clock, partial: None });
        output.attended.is_stale = true;
        Some((output, pacer))
    }
}

/// A callback was asked for that needs no latch: nothing changed, or the client runs ahead.
pub(in crate::output) fn callback_wanted(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    let Some((entry, client)) = state.surfaces.get(surface).zip(state.surfaces.client_of(surface)) else { return };
    if !entry.wants_callback() {
        return;
    }
    if entry.output().is_none() || !state.outputs.sees(entry) {
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
    /// Whether something of the surface was visible in the last scene of its output.
    pub fn sees(&self, entry: &Entry) -> bool {
        let output = entry.output().and_then(|id| self.by_id(id));
        output.is_some_and(|output| output.on && entry.seen() == output.stage.arrangement())
    }
}

/// A commit with new content came in.
pub(in crate::output) fn committed(state: &mut State, surface: &WlSurface, commit: Commit) -> Committed {
    note_commit(state, surface, commit).unwrap_or_default()
}

fn note_commit(state: &mut State, surface: &WlSurface, commit: Commit) -> Option<Committed> {
    let Commit { at: now, queued, buffers, stamp, bound, unfinished, is_own } = commit;
    let client = state.surfaces.client_of(surface)?;
    let State { surfaces, outputs, .. } = state;
    let was_called = surfaces.get(surface)?.called().is_some();
    if !is_own && !was_called {
        // Its subsurfaces have said all.
        return None;
    }
    // What it draws ahead says nothing of what its callbacks are for.
    let queued = queued || (bound.is_some() && !was_called);
    surfaces.get_mut(surface)?.answered();
    let (output, pacer_id) = outputs.pacing_of(surfaces.get(surface)?, client)?;
    let drawing = output.conductor.pacer(pacer_id).and_then(Pacer::drawing);
    // While the client is busy with its other surfaces this is not its whole answer, and none at all if nobody asked for it.
    let busy = drawing.is_some_and(|drawing| is_busy(surfaces, client.id, drawing.sent));
    let pacing = output.clients.get_mut(&client.id)?;
    if was_called || !busy {
        pacing.partial = busy.then(|| (now, output.conductor.output().next_index(now)));
    }
    let cpu = client.clock.and_then(|clock| clock.read());
    let newest = surfaces.get(surface).map(|entry| UpdateId { surface: entry.id(), number: entry.newest() });
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
    pacer.buffers(buffers);
    let runs_ahead = pacer.runs_ahead() && !queued;
    let entry = surfaces.get_mut(surface)?;
    if is_own {
        record_commit(entry, output, pacer_id, now, answer, bound);
        if let Some(stamp) = stamp.filter(|_| bound.is_none()) {
            note_stamp(entry, output, stamp);
        }
        entry.keep_record();
    }
    let hold = answer.and_then(|answer| answer.hold).filter(|_| was_called && entry.may_be_held());
    Some(Committed { hold, runs_ahead })
}

/// A device has drawn what was committed as number `number` of `surface`.
pub(in crate::output) fn finished(state: &mut State, surface: &WlSurface, number: u64, finished: Finished) {
    let State { surfaces, outputs, .. } = state;
    let Some((entry, client)) = surfaces.get(surface).zip(surfaces.client_of(surface)) else { return };
    let update = UpdateId { surface: entry.id(), number };
    let paced = outputs.pacing_of(entry, client);
    let cost = paced.and_then(|(output, pacer)| output.conductor.finished(pacer, update, finished.at));
    if let Some(entry) = surfaces.get_mut(surface) {
        entry.note_finished(number, finished, cost);
    }
}

/// Whether a client has surfaces that were called back at `sent` and have not committed since. One that was called back
/// before, and let that pass, is not waited for: a browser's window commits once a second, what moves in it sixty times.
fn is_busy(surfaces: &Surfaces, client: ClientId, sent: Instant) -> bool {
    surfaces.awake().any(|entry| entry.client() == client && entry.called() == Some(sent))
}

/// Whether somebody was called back within the last refresh and has not committed yet: what he commits may be late.
pub fn is_anybody_drawing(state: &State, now: Instant) -> bool {
    state.outputs.list.iter().any(|output| output.conductor.is_expected_soon(now))
}

fn record_commit(
    entry: &mut Entry,
    output: &OutputState,
    pacer: PacerId,
    now: Instant,
    answer: Option<Answer>,
    bound: Option<Target>,
) {
    let machine = output.conductor.output();
    let pacer = output.conductor.pacer(pacer);
    // A second frame that is late misses nothing: its refresh had one.
    let is_second = answer.is_some_and(|answer| answer.drawing.is_second) && machine.latched() >= entry.record().target;
    let waits = is_second || answer.is_some_and(|answer| answer.pause) || pacer.is_some_and(Pacer::has_own_time);
    if entry.record().callback_sent.is_none() || entry.record().committed.is_some() || waits {
        // Nobody had asked for it, or it had nothing to draw then, or it waited for its own time: its target is the next
        // refresh.
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
    let depth = (entry.waiting() + 1).min(usize::from(u8::MAX)) as u8;
    let record = entry.record_mut();
    // Who draws ahead may have been called back, too (libraries ask for that by themselves): it is late for what it drew for.
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

/// The frame just recorded is for the refresh of its time stamp, if that is a later one.
fn note_stamp(entry: &mut Entry, output: &OutputState, stamp: Instant) {
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

/// The latch took the content of these clients: those that asked are due for a callback. Returns whether one is that
/// was not before.
pub(in crate::output) fn latched(state: &mut State, id: OutputId, clients: &[ClientId]) -> bool {
    let now = state.clock.now();
    let State { surfaces, outputs, .. } = state;
    let mut called = false;
    for client in clients {
        // A client that came over from another output has no pacer here yet, and none is made before it is called back.
        let entry = surfaces.awake().find(|entry| entry.client() == *client && entry.output() == Some(id));
        if let Some((entry, client)) = entry.and_then(|entry| Some((entry, surfaces.client_of(entry.surface())?))) {
            outputs.pacing_of(entry, client);
        }
        let Some(output) = outputs.by_id_mut(id) else { return called };
        let Some(pacing) = output.clients.get_mut(client) else { continue };
        let pacer = pacing.pacer;
        if let Some((then, reaches)) = pacing.partial.take() {
            // Some of its surfaces were called back and had nothing to draw.
            output.conductor.had_committed(pacer, then, reaches);
        }
        // Of those that rest nobody wants or waits for anything.
        let entries = surfaces.awake().filter(|entry| entry.client() == *client && entry.output() == Some(id));
        let runs_ahead = output.conductor.pacer(pacer).is_some_and(Pacer::runs_ahead);
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

/// An input event was delivered.
pub fn input(state: &mut State, surface: &WlSurface, interrupts: bool, at: Instant, now: Instant) {
    let Some(client) = state.surfaces.client_of(surface) else { return };
    let State { surfaces, outputs, .. } = state;
    surfaces.note_input(client.id, at);
    let Some(entry) = surfaces.get(surface) else { return };
    if let Some((output, pacer)) = outputs.pacing_of(entry, client) {
        output.conductor.input(pacer, now, interrupts);
    }
}

/// Tells the pacers of an output which client has the focus, and which one a button or finger is down on.
pub(in crate::output) fn attend(
    output: &mut OutputState,
    focused: Option<ClientId>,
    held: Option<ClientId>,
    now: Instant,
) {
    output.attended.is_stale = false;
    let clients = [focused, held];
    let before = std::mem::replace(&mut output.attended.clients, clients);
    for client in before.into_iter().chain(clients).flatten() {
        output.tell_attention(client, now);
    }
}

/// Who is attended to on an output, as it was found out with its last scene.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct Attended {
    /// The windows with the focus and under a pressed button.
    windows: [Option<WindowId>; 2],
    /// The layer surfaces that have the keyboard and are pressed, instead of those.
    layers: [Option<WlSurface>; 2],
    /// Their clients, where they are on this output.
    clients: [Option<ClientId>; 2],
    /// There is a pacer that was not told.
    pub(in crate::output) is_stale: bool,
}

impl Attended {
    /// These are attended to. Returns whether those are others than before.
    pub fn replace(&mut self, windows: [Option<WindowId>; 2], layers: [Option<WlSurface>; 2]) -> bool {
        let are_others = self.windows != windows || self.layers != layers;
        (self.windows, self.layers) = (windows, layers);
        are_others
    }
}

impl OutputState {
    /// Tells the pacer of `client`, if it has one here, whether it has the focus and whether it is held.
    fn tell_attention(&mut self, client: ClientId, now: Instant) {
        let [focused, held] = self.attended.clients.map(|attended| attended == Some(client));
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

/// A gesture ends when the last button or finger goes up, whether or not anything is drawn then.
pub(in crate::output) fn let_go(state: &mut State) {
    if state.shell.pressed().is_some() {
        return;
    }
    let now = state.clock.now();
    state.outputs.list.iter_mut().for_each(|output| output.conductor.let_go(now));
}

/// A surface is gone, and perhaps its client with it.
pub(in crate::output) fn surface_gone(state: &mut State, surface: SurfaceId, client: ClientId, client_left: bool) {
    state.outputs.statistics.end(surface);
    state.outputs.surfaces_went = true;
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

/// Outputs remember who has entered them: they forget all who are gone at once.
pub(in crate::output) fn forget_gone(outputs: &mut Outputs) {
    if std::mem::take(&mut outputs.surfaces_went) {
        outputs.list.iter().for_each(|output| output.output.cleanup());
    }
}

/// A surface that nobody sees waits for something: it gets it with the next tick.
pub(in crate::output) fn hidden_waits(outputs: &mut Outputs, now: Instant) {
    outputs.hidden_tick.get_or_insert(now + HIDDEN_INTERVAL);
}
