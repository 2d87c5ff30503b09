//! The phases of a probe run: map, find the pointer, warm up, measure, wait for the last light.

use std::io::IsTerminal as _;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wayland_client::backend::WaylandError;
use wayland_client::{Connection, EventQueue};

use super::ClientOptions;
use super::burn::burn_rest;
use super::connection::ProbeClient;
use super::error::{ClientError, MAPPED_FRAMES, MAPPING_LIMIT};
use super::injector::{InjectedGesture, PointerInjector};
use super::journal::SentInput;
use super::personality::{ProbeReadiness, ProbeStep};
use crate::load::ClientCosts;
use crate::process::{peer_pid, process_name, scheduling_class};
use crate::report::{Interaction, RunReport};
use crate::side_meter::{SideMeasurements, SideMeter};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, NANOS_PER_SECOND, Span};

/// Longest search for the window: enough for every point of a large output.
const SEARCH_LIMIT: Span = Span::from_seconds(60);
/// Longest wait for the last frames to become light.
const LAST_LIGHT_LIMIT: Span = Span::from_seconds(1);
/// The warm-up has costs of its own, so that the first measured frame is the seed's first cost.
const WARM_UP_SEED: u64 = 0x5761_726d_2075_7021;
/// Denominator for the share of work that is done elsewhere.
const SHARES: f64 = 1_000.0;
/// Time limit of a run that ends by its number of frames, or when stdin closes.
const FOREVER: Span = Span::from_seconds(86_400);

/// Runs and measures one window.
pub fn run(options: &ClientOptions) -> Result<RunReport, ClientError> {
    let mut session = ProbeSession::open(options)?;
    session.map()?;
    session.find_pointer()?;
    let bystander = session.bystander();
    session.draw_until(MonotonicClock.now() + options.warm_up(), |_| false)?;
    session.measure(bystander)
}

/// Runs one of the windows behind the measured one: prints `ready` on stdout when it is mapped, draws until stdin
/// closes, and reports on the frames of that time.
pub(super) fn draw_behind(options: &ClientOptions) -> Result<RunReport, ClientError> {
    let mut session = ProbeSession::open(options)?;
    session.map()?;
    let bystander = session.bystander();
    println!("ready");
    session.measure(bystander)
}

pub(super) struct ProbeSession<'a> {
    options: &'a ClientOptions,
    pub(super) connection: Connection,
    queue: EventQueue<ProbeClient>,
    pub(super) client: ProbeClient,
    costs: ClientCosts,
    /// Next drawing time of a client with its own clock.
    next_tick: Instant,
    /// Set when stdin closes; only companions use it.
    pub(super) stdin_closed: bool,
}

impl<'a> ProbeSession<'a> {
    pub(super) fn open(options: &'a ClientOptions) -> Result<Self, ClientError> {
        let (connection, queue, client) = ProbeClient::connect(options)?;
        lock_memory();
        let costs = options.load.costs(options.seed ^ WARM_UP_SEED);
        let next_tick = MonotonicClock.now();
        Ok(ProbeSession { options, connection, queue, client, costs, next_tick, stdin_closed: false })
    }

    pub(super) fn map(&mut self) -> Result<(), ClientError> {
        let limit = MonotonicClock.now() + MAPPING_LIMIT;
        self.draw_until(limit, |session| session.client.journal.presented() >= MAPPED_FRAMES)?;
        match self.client.journal.presented() {
            presented if presented < MAPPED_FRAMES => Err(ClientError::NotShown { presented }),
            _ => Ok(()),
        }
    }

    /// Starts the injector and draws until it has found the window.
    fn find_pointer(&mut self) -> Result<(), ClientError> {
        let options = self.options;
        if options.no_input || !self.client.stamps_monotonic() {
            return Ok(());
        }
        let gesture = InjectedGesture { seed: options.seed, rate: options.input_rate, hold: options.hold };
        self.client.hand = PointerInjector::start(gesture);
        let limit = MonotonicClock.now() + SEARCH_LIMIT;
        self.draw_until(limit, |session| {
            session.client.hand.as_ref().is_none_or(|hand| hand.newest_sent().is_some() || hand.has_given_up())
        })?;
        match &self.client.hand {
            Some(hand) if hand.newest_sent().is_none() => Err(ClientError::NotFound),
            _ => Ok(()),
        }
    }

    /// Process id of the compositor.
    fn compositor(&self) -> Option<u32> {
        self.options.compositor_pid.or_else(|| peer_pid(self.connection.as_fd()).ok())
    }

    fn bystander(&self) -> SideMeter {
        SideMeter::start(self.compositor())
    }

    fn measure(&mut self, bystander: SideMeter) -> Result<RunReport, ClientError> {
        let options = self.options;
        self.costs = options.load.costs(options.seed);

        let first = self.client.journal.len();
        bystander.begin();
        let started = MonotonicClock.now();
        let wanted = options.frames.map_or(usize::MAX, |frames| first.saturating_add(frames as usize));
        let duration = if options.companion.is_some() { FOREVER } else { options.duration().min(FOREVER) };
        self.draw_until(started + duration, |session| session.client.journal.len() >= wanted || session.stdin_closed)?;
        bystander.end();
        let measured = MonotonicClock.now() - started;
        let end = self.client.journal.len();
        let injected = self.last_light()?;
        let (SideMeasurements { noise, used }, pid) = (bystander.stop(), self.compositor());

        let client = &self.client;
        if let Some(path) = &options.journal {
            let text = serde_json::to_vec(&client.journal.export(first, end, &injected)).unwrap_or_default();
            let failed = |source| ClientError::Journal { path: path.clone(), source };
            std::fs::write(path, text).map_err(failed)?;
        }
        let owes = options.kind != super::ProbeKind::OwnClock;
        let figures = client.journal.figures(first, end, &injected, client.mode_refresh, owes);
        let refreshes = |elapsed: Span| figures.refresh_hz.map_or(0.0, |hz| hz * elapsed.as_seconds_f64());
        let per = |amount: f64, count: f64| (count > 0.0).then_some(amount / count);
        // The readings lie a little apart from begin and end, so the figures are scaled to the measured time.
        let share = |elapsed: Span| measured.as_seconds_f64() / elapsed.as_seconds_f64();
        let cpu = used.map(|(used, elapsed)| used.cpu.as_millis_f64() * share(elapsed));
        let per_refresh = used.and_then(|(used, elapsed)| per(used.wake_ups as f64, refreshes(elapsed)));
        Ok(RunReport {
            load: options.load.name(),
            pacing: options.label.clone(),
            compositor: pid.and_then(process_name),
            kind: options.kind.to_string(),
            seed: options.seed,
            windows: options.windows,
            idle_windows: options.idle_windows,
            interaction: interaction(options, &injected),
            compositor_cpu_ms_per_frame: cpu.and_then(|cpu| per(cpu, figures.frames as f64)),
            compositor_wakeups_per_refresh: per_refresh,
            compositor_scheduling: pid.and_then(scheduling_class),
            scheduling: scheduling_class(std::process::id()),
            starved: client.starved,
            sentinel_wake_p99_ms: noise.map(|noise| noise.p99),
            sentinel_wake_max_ms: noise.map(|noise| noise.max),
            ..figures
        })
    }

    /// Stops drawing and input, and waits for the feedback of all committed frames.
    fn last_light(&mut self) -> Result<Vec<SentInput>, ClientError> {
        let injected = self.client.hand.take().map_or(Vec::new(), PointerInjector::stop);
        let limit = MonotonicClock.now() + LAST_LIGHT_LIMIT;
        while !self.client.journal.is_settled() && MonotonicClock.now() < limit {
            self.read_events(Some(limit))?;
        }
        Ok(injected)
    }

    /// Draws and commits in the way of its kind, until `done` or the deadline.
    fn draw_until(&mut self, deadline: Instant, done: impl Fn(&Self) -> bool) -> Result<(), ClientError> {
        loop {
            // Read all pending events before each decision, as an event loop would.
            self.read_events(None)?;
            let now = MonotonicClock.now();
            if self.client.closed {
                return Err(ClientError::Closed);
            }
            if now >= deadline || done(self) {
                return Ok(());
            }
            let step = self.options.kind.next_step(self.readiness(now));
            match if self.has_stopped_drawing() { ProbeStep::Wait } else { step } {
                ProbeStep::Draw => self.draw(now),
                ProbeStep::Commit => self.client.commit(self.options.kind, &self.queue.handle()),
                ProbeStep::Wait => self.read_events(Some(self.wake_at(now).min(deadline)))?,
            }
        }
    }

    /// Whether it has drawn its last frame; one more callback is requested then.
    fn has_stopped_drawing(&self) -> bool {
        self.options.fall_silent.is_some_and(|frames| self.client.journal.len() >= frames as usize)
    }

    fn readiness(&self, now: Instant) -> ProbeReadiness {
        ProbeReadiness {
            awaits_callback: self.client.awaited_callback.is_some(),
            has_buffer: self.client.free_buffer().is_some(),
            has_drawn: self.client.drawn.is_some(),
            tick_due: now >= self.next_tick,
        }
    }

    fn wake_at(&self, now: Instant) -> Instant {
        match self.options.kind {
            super::ProbeKind::OwnClock if self.next_tick > now => self.next_tick,
            _ => Instant::MAX,
        }
    }

    /// Does a frame's work. The picture answers to the newest event known when the work begins.
    fn draw(&mut self, now: Instant) {
        let period = Span::from_millis_f64(1e3 / self.options.own_hz);
        while self.next_tick <= now {
            self.next_tick += period; // ticks missed while drawing are not made up for
        }
        let (start, event, cost) = (self.client.clock.now(), self.client.newest_event, self.costs.next_cost());
        // Drawing the pixels is part of the cost.
        let share = |part: f64| cost.scale((part * SHARES) as i64, SHARES as i64);
        let (elsewhere, on_gpu) = (share(self.options.elsewhere), share(self.options.gpu));
        burn_rest(cost - elsewhere - on_gpu, || self.client.draw(start, (cost, on_gpu), event));
        if elsewhere > Span::ZERO {
            std::thread::sleep(elsewhere.to_duration());
        }
    }

    /// Flushes requests, then reads and dispatches pending events. With `until` it waits for events up to that time.
    pub(super) fn read_events(&mut self, until: Option<Instant>) -> Result<(), ClientError> {
        if self.queue.dispatch_pending(&mut self.client)? > 0 {
            return Ok(());
        }
        self.connection.flush()?;
        let Some(guard) = self.queue.prepare_read() else { return Ok(()) };
        let stdin = std::io::stdin();
        let mut sources = vec![PollFd::from_borrowed_fd(guard.connection_fd(), PollFlags::IN)];
        if self.options.companion.is_some() && !stdin.is_terminal() {
            sources.push(PollFd::new(&stdin, PollFlags::IN));
        }
        let timeout = until.map_or(Span::ZERO, |until| (until - MonotonicClock.now()).max(Span::ZERO));
        match poll(&mut sources, Some(&timespec(timeout))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [events, closing] = [0, 1].map(|index| sources.get(index).is_some_and(|fd| !fd.revents().is_empty()));
        self.stdin_closed |= closing;
        if events {
            match guard.read() {
                Ok(_) => {}
                Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
            self.queue.dispatch_pending(&mut self.client)?;
        }
        Ok(())
    }
}

fn interaction(options: &ClientOptions, injected: &[SentInput]) -> Interaction {
    match (injected.is_empty(), options.hold) {
        (true, _) => Interaction::None,
        (false, true) => Interaction::Held,
        (false, false) => Interaction::Free,
    }
}

fn timespec(span: Span) -> Timespec {
    Timespec { tv_sec: span.as_nanos() / NANOS_PER_SECOND, tv_nsec: span.as_nanos() % NANOS_PER_SECOND }
}

/// Keeps every page of the probe in memory, because a page fault that reads a file is not a frame's cost.
fn lock_memory() {
    // SAFETY: no memory is passed. Without the permission the run is merely noisier.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) };
}
