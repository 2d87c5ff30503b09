//! A display and its clients in virtual time, driven by the real conductor.

pub mod outputs;
pub mod panel;

use std::collections::VecDeque;
use std::fmt::Write;

use proptest::test_runner::TestCaseError;
use upbeat_timing::conductor::{Conductor, ConductorAction, PacerId};
use upbeat_timing::id::FrameId;
use upbeat_timing::output::{ComposeCostKind, LatchPolicy, OutputMachine};
use upbeat_timing::pacer::PacerMissBudgets;
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::vsync::VsyncModel;

const START: Instant = Instant::from_nanos(5_000_000_000);
const LEAD: Span = Span::from_micros(600);
const COMPOSE: Span = Span::from_micros(300);

/// Generates the costs of a client's frames.
pub struct FrameCostSource(Box<dyn FnMut() -> Span>);

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

impl FrameCostSource {
    pub fn of(costs: impl FnMut() -> Span + 'static) -> Self {
        FrameCostSource(Box::new(costs))
    }

    pub fn constant(cost: Span) -> Self {
        FrameCostSource(Box::new(move || cost))
    }

    pub fn uniform(from: Span, to: Span, mut seed: u64) -> Self {
        FrameCostSource(Box::new(move || {
            from + Span::from_nanos(((to - from).as_nanos() as f64 * random(&mut seed)) as i64)
        }))
    }

    /// Lognormal, median 6 ms, 95th percentile 20 ms.
    pub fn heavy(seed: u64) -> Self {
        Self::lognormal(6.0, 20.0, seed)
    }

    /// Lognormal with this median and 95th percentile (milliseconds).
    pub fn lognormal(median: f64, often: f64, mut seed: u64) -> Self {
        let sigma = (often / median).ln() / 1.645;
        FrameCostSource(Box::new(move || {
            let (u, v) = (random(&mut seed), random(&mut seed));
            let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
            Span::from_millis_f64(median * (sigma * normal).exp())
        }))
    }
}

pub struct TimelineClient {
    name: &'static str,
    costs: FrameCostSource,
    pacing: PacingWish,
    focused: bool,
    held: bool,
    /// CPU time of each frame, if known, and of all frames so far.
    cpu: Option<Span>,
    cpu_so_far: Span,
    id: Option<PacerId>,
    stopped: bool,
    /// Time of the next commit, and time of the callback that it answers.
    commit_at: Option<(Instant, Instant)>,
    /// Frames that are committed and held for a refresh.
    waiting: VecDeque<(RefreshIndex, SimulatedFrame)>,
    applied: Vec<SimulatedFrame>,
    callbacks: Vec<(RefreshIndex, Instant)>,
    shown: Vec<(u64, SimulatedFrame)>,
    frames: u64,
}

#[derive(Clone, Copy, Debug)]
struct SimulatedFrame {
    number: u64,
    called_back: Instant,
    wants_callback: bool,
}

impl TimelineClient {
    pub fn new(name: &'static str, costs: FrameCostSource) -> Self {
        TimelineClient {
            name,
            costs,
            pacing: PacingWish::Auto,
            focused: false,
            held: false,
            cpu: None,
            cpu_so_far: Span::ZERO,
            id: None,
            stopped: false,
            commit_at: None,
            waiting: VecDeque::new(),
            applied: Vec::new(),
            callbacks: Vec::new(),
            shown: Vec::new(),
            frames: 0,
        }
    }

    pub fn focused(mut self) -> Self {
        self.focused = true;
        self
    }

    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// Each frame uses this CPU time at most. For the rest of its cost the client waits for another process.
    pub fn using_cpu(mut self, cpu: Span) -> Self {
        self.cpu = Some(cpu);
        self
    }

    pub fn paced(mut self, pacing: PacingWish) -> Self {
        self.pacing = pacing;
        self
    }
}

#[derive(Debug)]
pub struct Percentiles {
    pub p50: Span,
    pub p99: Span,
}

#[derive(Debug)]
#[allow(dead_code)]
pub struct ClientReport {
    pub drops: u64,
    pub drops_per_second: f64,
    pub callback_to_light: Percentiles,
}

/// The frame in flight: the refresh that will show it, its id, and its clients' frames.
type InFlight = (u64, FrameId, Vec<(usize, SimulatedFrame)>);

pub struct Rig {
    conductor: Conductor,
    interval: Span,
    now: Instant,
    clients: Vec<TimelineClient>,
    flight: Option<InFlight>,
    latches: Vec<RefreshIndex>,
    wakes: u64,
    /// Duration of a turn of the loop: no event is handled before it is over.
    turn: Span,
    story: String,
}

impl Rig {
    pub fn new(millihertz: u32) -> Self {
        let interval = Span::from_millihertz(millihertz);
        let mut output = OutputMachine::new(VsyncModel::new(interval, START), LEAD, START);
        output.vsync_mut().synchronise(START);
        Rig {
            conductor: Conductor::new(output, 2),
            interval,
            now: START + Span::from_micros(1_234),
            clients: Vec::new(),
            flight: None,
            latches: Vec::new(),
            wakes: 0,
            turn: Span::ZERO,
            story: String::new(),
        }
    }

    pub fn add(&mut self, mut client: TimelineClient) -> usize {
        let id = self.conductor.add_pacer(client.pacing, PacerMissBudgets::default());
        if client.pacing == PacingWish::Vsync {
            self.conductor.output_mut().set_policy(LatchPolicy::AtRefresh);
        }
        let pacer = self.conductor.pacer_mut(id).unwrap();
        pacer.note_buffers(4);
        pacer.set_focused(client.focused);
        if client.held {
            pacer.set_held(true, self.now);
        }
        client.id = Some(id);
        client.commit_at = Some((self.now, self.now));
        self.clients.push(client);
        self.clients.len() - 1
    }

    pub fn set_turn_length(&mut self, turn: Span) {
        self.turn = turn;
    }

    pub fn slack_periods(&self, client: usize) -> u32 {
        let id = self.clients[client].id.unwrap();
        self.conductor.pacer(id).unwrap().slack_periods()
    }

    pub fn frames(&self, client: usize) -> usize {
        self.clients[client].shown.len()
    }

    pub fn stop(&mut self, client: usize) {
        self.clients[client].stopped = true;
    }

    pub fn wakes(&self) -> u64 {
        self.wakes
    }

    pub fn story(&self) -> String {
        self.story.clone()
    }

    fn tell(&mut self, what: &str) {
        let since = self.now - START;
        let refresh = since.as_nanos() / self.interval.as_nanos();
        let phase = since - self.interval * refresh;
        writeln!(self.story, "{refresh:<4} +{:>6.3}  {what}", phase.as_millis_f64()).unwrap();
    }

    pub fn run_refreshes(&mut self, count: u64) {
        let end = self.now + self.interval * count as i64;
        while self.now < end {
            while let Some(action) = self.conductor.poll_action(self.now) {
                self.act(action);
            }
            let wake = self.conductor.next_wake(self.now);
            let commit = self.clients.iter().filter_map(|client| client.commit_at.map(|(at, _)| at)).min();
            let vblank = self.flight.as_ref().map(|(refresh, ..)| START + self.interval * *refresh as i64);
            let next = [wake, commit, vblank, Some(end)].into_iter().flatten().min().unwrap();
            // Composing took time; events that became due meanwhile are handled now.
            self.now = next.max(self.now) + self.turn;
            if self.turn > Span::ZERO {
                // A busy loop touches the output machine in each turn.
                self.conductor.output_mut();
            }
            if wake == Some(next) {
                self.wakes += 1;
            }
            if vblank.is_some_and(|at| at <= self.now) {
                self.vblank();
            }
            for client in 0..self.clients.len() {
                if self.clients[client].commit_at.is_some_and(|(at, _)| at <= self.now) {
                    self.commit(client);
                }
            }
        }
    }

    fn act(&mut self, action: ConductorAction) {
        match action {
            ConductorAction::Latch { target, scheduled } => self.latch(target.id, scheduled),
            ConductorAction::Callback { pacer, target, .. } => {
                let index = self.clients.iter().position(|client| client.id == Some(pacer)).unwrap();
                let client = &mut self.clients[index];
                self.conductor.called_back(pacer, self.now, client.cpu.map(|_| client.cpu_so_far));
                client.callbacks.push((target.id, self.now));
                let cost = (client.costs.0)();
                client.cpu_so_far += client.cpu.unwrap_or_default().min(cost);
                client.commit_at = Some((self.now + cost, self.now));
                let name = client.name;
                self.tell(&format!("{name}: callback for {}", target.id.0));
            }
        }
    }

    fn commit(&mut self, index: usize) {
        let client = &mut self.clients[index];
        let (_, called_back) = client.commit_at.take().unwrap();
        let id = client.id.unwrap();
        client.frames += 1;
        let frame = SimulatedFrame { number: client.frames, called_back, wants_callback: !client.stopped };
        let cpu = client.cpu.map(|_| client.cpu_so_far);
        let answer = self.conductor.committed(id, self.now, cpu, false);
        let client = &mut self.clients[index];
        let name = client.name;
        let held = answer.and_then(|answer| answer.hold);
        match held {
            Some(refresh) => {
                client.waiting.push_back((refresh, frame));
                self.tell(&format!("{name}: commit, held for {}", refresh.0));
            }
            None => {
                client.applied.push(frame);
                self.conductor.output_mut().schedule_repaint(RepaintReason::Content);
                self.tell(&format!("{name}: commit"));
            }
        }
        let pacer = self.conductor.pacer_mut(id).unwrap();
        if pacer.has_second_period() && frame.wants_callback {
            pacer.callback_due(self.now);
        }
    }

    fn latch(&mut self, index: RefreshIndex, scheduled: Instant) {
        self.latches.push(index);
        self.conductor.latched(index);
        let mut shown = Vec::new();
        for (slot, client) in self.clients.iter_mut().enumerate() {
            while client.waiting.front().is_some_and(|(refresh, _)| *refresh <= index) {
                client.applied.push(client.waiting.pop_front().unwrap().1);
            }
            if let Some((_, held)) = client.waiting.front().copied() {
                let _ = held;
                self.conductor.output_mut().schedule_repaint_at(client.waiting.front().unwrap().0);
            }
            let applied: Vec<SimulatedFrame> = client.applied.drain(..).collect();
            if let Some(last) = applied.last() {
                shown.push((slot, *last));
            }
            if applied.iter().any(|frame| frame.wants_callback) {
                let pacer = self.conductor.pacer_mut(client.id.unwrap()).unwrap();
                if client.commit_at.is_none() && client.waiting.is_empty() {
                    pacer.callback_due(self.now);
                }
            }
        }
        self.tell(&format!("latch for {}, {} windows", index.0, shown.len()));
        self.now += COMPOSE;
        let machine = self.conductor.output_mut();
        if shown.is_empty() {
            machine.latched_nothing(index, scheduled, true);
        } else {
            let frame = machine.choose(index, ());
            machine.submitted(frame, scheduled, self.now, ComposeCostKind::Usual);
            let reached = (self.now + LEAD - START).as_nanos();
            let refresh =
                reached.div_euclid(self.interval.as_nanos()) + i64::from(reached % self.interval.as_nanos() != 0);
            self.flight = Some((refresh as u64, frame, shown));
        }
    }

    fn vblank(&mut self) {
        let (refresh, frame, shown) = self.flight.take().unwrap();
        self.conductor.output_mut().presented(frame, self.now, None, self.now);
        for (client, frame) in shown {
            self.clients[client].shown.push((refresh, frame));
        }
        self.tell(&format!("light {refresh}"));
    }

    pub fn report(&self, client: usize) -> ClientReport {
        let shown = &self.clients[client].shown[30..];
        let drops = shown.windows(2).map(|pair| pair[1].0 - pair[0].0 - 1).sum();
        let seconds = (self.interval * (shown.last().unwrap().0 - shown[0].0) as i64).as_seconds_f64();
        let mut latency: Vec<Span> =
            shown.iter().map(|(refresh, frame)| START + self.interval * *refresh as i64 - frame.called_back).collect();
        latency.sort();
        let at = |share: f64| latency[((latency.len() - 1) as f64 * share) as usize];
        ClientReport {
            drops,
            drops_per_second: drops as f64 / seconds,
            callback_to_light: Percentiles { p50: at(0.5), p99: at(0.99) },
        }
    }

    pub fn check_invariants(&self) -> Result<(), TestCaseError> {
        let fail = |what: String| Err(TestCaseError::fail(format!("{what}\n{}", self.story)));
        if self.latches.windows(2).any(|pair| pair[1] <= pair[0]) {
            return fail("a refresh was latched twice".into());
        }
        for client in &self.clients {
            if client.callbacks.windows(2).any(|pair| pair[1].0 <= pair[0].0) {
                return fail(format!("{}: two callbacks for one refresh", client.name));
            }
            if client.shown.windows(2).any(|pair| pair[1].1.number <= pair[0].1.number || pair[1].0 <= pair[0].0) {
                return fail(format!("{}: shown twice or out of order", client.name));
            }
            if client.shown.len() < 2 {
                return fail(format!("{}: starved", client.name));
            }
        }
        Ok(())
    }
}
