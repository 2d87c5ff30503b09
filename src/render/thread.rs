//! The thread that draws with OpenGL ES. Its context is made on it, used on it and ends with it.
//!
//! ```text
//!   main thread       start(job) ─► │ queue │       take back        ┌── ping ─► collected in the next turn
//!                                      │              ▲             │
//!   render thread                      └─► draw ──────┼──► finished ┘
//!                                  what was begun ends; what was not can be taken back
//! ```
//!
//! Clients' buffers that are to be looked at ([`SourceTest`]) have a queue of their own, and one turn after each frame:
//! neither holds up the other. What will be seen soon ([`Ahead`]) is copied between frames.
//!
//! A job owns all that it needs and comes back as a whole, also from a draw that failed or panicked: what a client or a
//! display is told of it is told on the main thread.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use calloop::ping::Ping;
use smithay::backend::allocator::dmabuf::Dmabuf;

use super::ahead::{Ahead, Copied, Lent};
use super::fault::{Fault, Faults, Omen};
use super::gles::{Abilities, GlesPainter};
use super::source::SourceTest;
use super::{Finished, Job, JobId, RenderError};
use upbeat_record::faults;
use upbeat_timing::time::{Clock, Instant, MonotonicClock, Span};

/// How long the end of the session waits for a draw that is under way. A GPU that hangs is reset by its driver within
/// ten seconds as a rule, and nobody waits so long for a session to end.
const LAST_DRAW: Duration = Duration::from_secs(2);

/// Makes a context, on the thread that is to have it.
pub(super) type Make = Arc<dyn Fn() -> Result<GlesPainter, RenderError> + Send + Sync>;

/// A thread with a context of its own.
pub(super) struct RenderThread {
    shared: Arc<Shared>,
    omen: Omen,
    /// Closed when the thread has ended.
    alive: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

#[derive(Default)]
struct Queue {
    requests: VecDeque<Request>,
    /// Clients' buffers to be looked at.
    tests: VecDeque<SourceTest>,
    /// It is their turn.
    tests_next: bool,
    /// Those that the context was lost with.
    lost_tests: Vec<SourceTest>,
    finished: VecDeque<Finished>,
    /// What will be seen soon, and was not lent yet.
    announced: Vec<Ahead>,
    /// What was, to be let go by whoever has the clients.
    returned: Vec<Ahead>,
    /// Wakes that one.
    wake: Option<Ping>,
    copied: Copied,
    closed: bool,
}

/// What is to be done next.
enum Next {
    Request(Request),
    /// A piece of what is lent is to be copied.
    Piece,
}

enum Request {
    Draw { id: JobId, job: Box<Job>, wake: Option<Ping> },
    Ask(Box<dyn FnOnce(&mut Painter) + Send>),
    Test(SourceTest),
}

impl Queue {
    fn pop(&mut self) -> Option<Request> {
        if (self.tests_next || self.requests.is_empty())
            && let Some(test) = self.tests.pop_front()
        {
            self.tests_next = false;
            return Some(Request::Test(test));
        }
        self.tests_next = true;
        self.requests.pop_front()
    }

    fn give_back(&mut self, ahead: Vec<Ahead>) {
        if !ahead.is_empty() {
            self.returned.extend(ahead);
            self.wake.iter().for_each(Ping::ping);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing that is done under the lock leaves the queue in pieces.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits. Whether it is still of use then.
    fn stays_open(&self, wait: Span) -> bool {
        let queue = self.lock();
        let waited = self.arrived.wait_timeout_while(queue, wait.to_duration(), |queue| !queue.closed);
        !waited.unwrap_or_else(PoisonError::into_inner).0.closed
    }

    fn put_first(&self, request: Request) {
        self.lock().requests.push_front(request);
        self.arrived.notify_one();
    }

    /// The next request, or a piece where there is none; `None` when there will be none.
    fn next(&self, lent: &mut Lent) -> Option<Next> {
        let mut queue = self.lock();
        loop {
            if queue.closed {
                return None;
            }
            let old = lent.announce(&mut queue.announced);
            queue.give_back(old);
            if let Some(request) = queue.pop() {
                return Some(Next::Request(request));
            }
            queue = match lent.due(MonotonicClock.now()) {
                Some(Span::ZERO) => return Some(Next::Piece),
                Some(wait) => {
                    let waited = self.arrived.wait_timeout(queue, wait.to_duration());
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// Asks the thread something, from any other.
#[derive(Clone)]
pub(super) struct Asker(Arc<Shared>);

impl Asker {
    /// Asks something, before whatever was not begun yet. Waits for the answer, no longer than `patience` if that is given.
    pub fn ask<A: Send + 'static>(
        &self,
        patience: Option<Duration>,
        question: impl FnOnce(&mut GlesPainter) -> Result<A, RenderError> + Send + 'static,
    ) -> Result<A, RenderError> {
        let (answer, answered) = mpsc::channel();
        self.0.put_first(Request::Ask(Box::new(move |painter| {
            // Nobody waits any more: nobody wants to know.
            let _ = answer.send(painter.with(question));
        })));
        let answer = match patience {
            None => answered.recv().map_err(mpsc::RecvTimeoutError::from),
            Some(patience) => answered.recv_timeout(patience),
        };
        answer.unwrap_or_else(|error| match error {
            mpsc::RecvTimeoutError::Timeout => Err(RenderError::Gles("it takes too long to answer".to_owned())),
            mpsc::RecvTimeoutError::Disconnected => Err(RenderError::Lost("its thread has ended".to_owned())),
        })
    }
}

impl RenderThread {
    /// Starts it. It makes its context by itself, after `wait`: whatever is asked of it waits for that.
    pub fn start(make: Make, omen: Omen, wait: Span) -> Result<Self, RenderError> {
        let shared = Arc::<Shared>::default();
        let (living, alive) = mpsc::channel();
        let (its, its_omen) = (shared.clone(), omen.clone());
        let thread = std::thread::Builder::new().name("render".to_owned());
        let draw = move || {
            let _living = living;
            if its.stays_open(wait) {
                run(&make, its_omen, &its);
            }
        };
        let thread = faults::check(faults::Fault::Thread)
            .and_then(|()| thread.spawn(draw))
            .map_err(|error| RenderError::Lost(format!("there is no thread for it: {error}")))?;
        Ok(RenderThread { shared, omen, alive, thread: Some(thread) })
    }

    /// What its context can do, as soon as there is one. Waits for it.
    pub fn abilities(&self) -> Result<Abilities, RenderError> {
        self.ask(|painter| Ok(painter.abilities()))
    }

    /// Asks something, before whatever was not begun yet. Waits for the answer.
    fn ask<A: Send + 'static>(
        &self,
        question: impl FnOnce(&mut GlesPainter) -> Result<A, RenderError> + Send + 'static,
    ) -> Result<A, RenderError> {
        self.asker().ask(None, question)
    }

    /// Asks from another thread.
    pub fn asker(&self) -> Asker {
        Asker(self.shared.clone())
    }

    /// Hands a job over; `urgent`: before whatever was not begun yet. `wake` is pinged when it is done.
    pub fn draw(&self, id: JobId, job: Job, urgent: bool, wake: Option<Ping>) {
        let request = Request::Draw { id, job: Box::new(job), wake };
        if urgent {
            return self.put_first(request);
        }
        self.shared.lock().requests.push_back(request);
        self.shared.arrived.notify_one();
    }

    /// Draws a frame and waits for it.
    pub fn draw_now(&self, job: Job) -> Result<Finished, RenderError> {
        let (done, finished) = mpsc::channel();
        self.put_first(Request::Ask(Box::new(move |painter| {
            let _ = done.send(painter.draw(JobId::default(), job, &[]));
        })));
        finished.recv().map_err(|_| RenderError::Lost("its thread has ended".to_owned()))
    }

    fn put_first(&self, request: Request) {
        self.shared.put_first(request);
    }

    /// A job that is done, in the order in which they were drawn.
    pub fn finished(&self) -> Option<Finished> {
        self.shared.lock().finished.pop_front()
    }

    /// This will be seen soon: it is copied between frames. `wake` is pinged when there is something to be let go of.
    pub fn announce(&self, ahead: Vec<Ahead>, wake: Option<Ping>) {
        let mut queue = self.shared.lock();
        queue.announced.retain(|old| ahead.iter().all(|new| new.surface != old.surface));
        queue.announced.extend(ahead);
        queue.wake = wake;
        drop(queue);
        self.shared.arrived.notify_one();
    }

    /// Lets go of what was copied, or need not be any more.
    pub fn let_go(&self) {
        let returned = std::mem::take(&mut self.shared.lock().returned);
        drop(returned);
    }

    /// What was copied of what was announced.
    pub fn copied(&self) -> Copied {
        self.shared.lock().copied
    }

    /// Takes back a job that was not begun.
    pub fn take_back(&self, wanted: JobId) -> Option<Job> {
        let requests = &mut self.shared.lock().requests;
        let is_it = |request: &Request| matches!(request, Request::Draw { id, .. } if *id == wanted);
        let index = requests.iter().position(is_it)?;
        match requests.remove(index)? {
            Request::Draw { job, .. } => Some(*job),
            Request::Ask(_) | Request::Test(_) => None,
        }
    }

    /// Has a client's buffer looked at.
    pub fn try_source(&self, test: SourceTest) {
        self.shared.lock().tests.push_back(test);
        self.shared.arrived.notify_one();
    }

    /// Whether the context was lost with a client's buffer.
    pub fn has_lost_tests(&self) -> bool {
        !self.shared.lock().lost_tests.is_empty()
    }

    /// Says whether a context was made that draws, and what it can do. Asked before whatever else is; nobody waits for the
    /// answer, and `wake` is pinged when it is there.
    pub fn prove(&self, wake: Option<Ping>) -> mpsc::Receiver<Result<Abilities, RenderError>> {
        let (answer, answered) = mpsc::channel();
        self.put_first(Request::Ask(Box::new(move |painter| {
            // Nobody wants to know any more: another took its place.
            let _ = answer.send(painter.with(|gles| gles.prove().map(|()| gles.abilities())));
            wake.iter().for_each(Ping::ping);
        })));
        answered
    }

    /// Lets it end with what it draws now: what it had not begun could not be drawn, or is to be asked of another.
    pub fn close(&self) -> (Vec<Finished>, Vec<SourceTest>) {
        let mut queue = self.shared.lock();
        queue.closed = true;
        self.shared.arrived.notify_one();
        let tests = std::mem::take(&mut queue.tests).into();
        // Their clients have them back here, on the main thread: one that never ends would keep them.
        let (announced, returned) = (std::mem::take(&mut queue.announced), std::mem::take(&mut queue.returned));
        let unbegun = std::mem::take(&mut queue.requests).into_iter().filter_map(|request| match request {
            Request::Draw { id, job, .. } => {
                let result = Err(RenderError::Gles("its context was lost before".to_owned()));
                Some(Finished { id, job: *job, result, took: None })
            }
            Request::Ask(_) | Request::Test(_) => None,
        });
        let unbegun = unbegun.collect();
        drop(queue);
        drop((announced, returned));
        (unbegun, tests)
    }

    /// Whether nothing more is to be expected of it.
    pub fn has_ended(&self) -> bool {
        self.alive.try_recv() == Err(mpsc::TryRecvError::Disconnected)
    }

    /// Clients' buffers that the context was lost with.
    pub fn take_lost_tests(&self) -> Vec<SourceTest> {
        std::mem::take(&mut self.shared.lock().lost_tests)
    }

    /// What is in store for its context and those after it.
    pub fn omen(&self) -> Omen {
        self.omen.clone()
    }

    /// Lets something go wrong, with whatever is handed over from now on.
    pub fn disturb(&self, fault: Fault) {
        let (done, added) = mpsc::channel();
        self.put_first(Request::Ask(Box::new(move |painter| {
            painter.faults.add(fault);
            // Nobody waits any more: it is in force all the same.
            let _ = done.send(());
        })));
        // An urgent job would come before it.
        let _ = added.recv();
    }
}

impl Drop for RenderThread {
    /// Waits for the thread's end: its context must not go on while the process ends. A draw that hangs is not waited for.
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.arrived.notify_one();
        if self.alive.recv_timeout(LAST_DRAW) == Err(mpsc::RecvTimeoutError::Timeout) {
            return tracing::error!("OpenGL ES still draws; it is not waited for");
        }
        if let Some(thread) = self.thread.take() {
            // What is thrown in it was said when it happened.
            let _ = thread.join();
        }
    }
}

/// The context of a thread; none once it was lost.
pub(super) struct Painter {
    gles: Result<GlesPainter, String>,
    faults: Faults,
}

impl Painter {
    /// Does something with the context. A panic loses it: nobody knows what state it is in.
    fn with<A>(&mut self, act: impl FnOnce(&mut GlesPainter) -> Result<A, RenderError>) -> Result<A, RenderError> {
        let gles = self.gles.as_mut().map_err(|reason| RenderError::Lost(reason.clone()))?;
        let done = catch_unwind(AssertUnwindSafe(|| {
            let done = act(gles);
            gles.lost().map_or(done, |reason| Err(RenderError::Lost(reason)))
        }));
        let done = done.unwrap_or_else(|panic| Err(RenderError::Lost(format!("it panicked: {}", message(&*panic)))));
        if let Err(RenderError::Lost(reason)) = &done {
            let lost = std::mem::replace(&mut self.gles, Err(reason.clone()));
            // What is left of it may panic again.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(lost)));
        }
        done
    }

    fn try_source(&mut self, dmabuf: &Dmabuf) -> Result<(), RenderError> {
        let fault = self.faults.reading();
        self.with(|gles| fault.unwrap_or_else(|| gles.try_source(dmabuf)))
    }

    fn draw(&mut self, id: JobId, mut job: Job, lent: &[Ahead]) -> Finished {
        let begun = MonotonicClock.now();
        let fault = self.faults.next();
        let said = fault.took;
        let result = self.with(|gles| {
            fault.happen()?;
            gles.draw(&mut job, lent)
        });
        Finished { id, job, result, took: said.or_else(|| Some(MonotonicClock.now() - begun)) }
    }

    /// Copies a piece of what is lent. Returns what is to be let go of; all of it where there is no context to copy it into.
    fn copy_piece(&mut self, lent: &mut Lent, now: Instant) -> Vec<Ahead> {
        let copied = self.with(|gles| Ok(gles.copy_ahead(lent, now)));
        copied.unwrap_or_else(|_| std::mem::take(&mut lent.items))
    }

    fn copied(&self) -> Copied {
        self.gles.as_ref().map(GlesPainter::copied).unwrap_or_default()
    }
}

fn run(make: &Make, omen: Omen, shared: &Shared) {
    let made = catch_unwind(AssertUnwindSafe(|| omen.of_context().and_then(|()| make())));
    let made = made.unwrap_or_else(|panic| Err(RenderError::Lost(format!("it panicked: {}", message(&*panic)))));
    let mut painter = Painter { gles: made.map_err(|error| error.to_string()), faults: Faults::with(omen) };
    let mut lent = Lent::new(MonotonicClock.now());
    while let Some(next) = shared.next(&mut lent) {
        match next {
            Next::Request(Request::Ask(question)) => question(&mut painter),
            Next::Request(Request::Draw { id, job, wake }) => {
                let finished = painter.draw(id, *job, &lent.items);
                lent.drew(MonotonicClock.now());
                let mut queue = shared.lock();
                queue.finished.push_back(finished);
                queue.copied = painter.copied();
                drop(queue);
                wake.iter().for_each(Ping::ping);
            }
            Next::Request(Request::Test(test)) => {
                let result = painter.try_source(&test.dmabuf);
                if let Some(test) = test.finish(result) {
                    let mut queue = shared.lock();
                    test.wake();
                    queue.lost_tests.push(test);
                }
            }
            Next::Piece => {
                let done = painter.copy_piece(&mut lent, MonotonicClock.now());
                let mut queue = shared.lock();
                queue.copied = painter.copied();
                queue.give_back(done);
            }
        }
    }
    // Whoever ended it lets go of the rest.
    shared.lock().give_back(lent.items);
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("for no stated reason").to_owned()
}
