//! The OpenGL ES render thread. Its context is created on it, used only on it and destroyed with it.
//!
//! ```text
//!   main thread       start(job) ─► │ queue │       take back        ┌── ping ─► collected in the next turn
//!                                      │              ▲             │
//!   render thread                      └─► draw ──────┼──► finished ┘
//!                                  a job that has begun is finished; other jobs can be taken back
//! ```
//!
//! Tests of client buffers ([`BufferTest`]) have a queue of their own, and one of them runs after each frame: so
//! neither delays the other. Content that will be visible soon ([`UpcomingContent`]) is uploaded between frames.
//!
//! A job owns everything that it needs and is returned as a whole, even if drawing failed or panicked, because only the
//! main thread may send events to clients and displays.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use calloop::ping::Ping;
use smithay::backend::allocator::dmabuf::Dmabuf;

use super::buffer_test::BufferTest;
use super::fault::{GpuFault, InjectedFaults, PendingGpuFaults};
use super::gles::{ContextInfo, GlesPainter};
use super::off_screen_targets::PictureReader;
use super::upload_ahead::{UpcomingContent, UploadQueue, UploadedBytes};
use super::{FinishedJob, RenderError, RenderJob, RenderJobId};
use upbeat_record::faults;
use upbeat_timing::time::{Clock, Instant, MonotonicClock, Span};

/// How long the end of the session waits for the current draw. A driver usually resets a hung GPU within ten seconds,
/// but that is too long for the end of a session.
const LAST_DRAW: Duration = Duration::from_secs(2);

/// How long a reader waits for a picture: a frame, unless the GPU hangs.
const LONGEST_READ: Duration = Duration::from_secs(2);

/// Creates a context, on the thread that will use it.
pub(super) type MakeContext = Arc<dyn Fn() -> Result<GlesPainter, RenderError> + Send + Sync>;

/// Handle of a thread with its own context.
pub(super) struct RenderThread {
    shared: Arc<RenderShared>,
    injected: InjectedFaults,
    /// Disconnected when the thread has ended.
    alive: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct RenderShared {
    queue: Mutex<RenderQueue>,
    arrived: Condvar,
}

#[derive(Default)]
struct RenderQueue {
    requests: VecDeque<RenderRequest>,
    /// Client buffers to be tested.
    tests: VecDeque<BufferTest>,
    /// A test is next, not a request.
    tests_next: bool,
    /// Tests during which the context was lost.
    lost_tests: Vec<BufferTest>,
    finished: VecDeque<FinishedJob>,
    /// Content that will be visible soon, not yet in the upload queue.
    announced: Vec<UpcomingContent>,
    /// Uploaded or outdated content, to be released on the main thread.
    returned: Vec<UpcomingContent>,
    /// Wakes the main thread to release it.
    wake: Option<Ping>,
    copied: UploadedBytes,
    /// Pixels copied from off-screen frames.
    read_back: u64,
    closed: bool,
}

/// The thread's next work.
enum RenderWork {
    Request(RenderRequest),
    /// Upload a piece of the queued content.
    Piece,
}

enum RenderRequest {
    Draw { id: RenderJobId, job: Box<RenderJob>, wake: Option<Ping> },
    Ask(Box<dyn FnOnce(&mut ThreadPainter) + Send>),
    Test(BufferTest),
}

impl RenderQueue {
    fn pop(&mut self) -> Option<RenderRequest> {
        if (self.tests_next || self.requests.is_empty())
            && let Some(test) = self.tests.pop_front()
        {
            self.tests_next = false;
            return Some(RenderRequest::Test(test));
        }
        self.tests_next = true;
        self.requests.pop_front()
    }

    fn give_back(&mut self, ahead: Vec<UpcomingContent>) {
        if !ahead.is_empty() {
            self.returned.extend(ahead);
            self.wake.iter().for_each(Ping::ping);
        }
    }
}

impl RenderShared {
    fn lock(&self) -> MutexGuard<'_, RenderQueue> {
        // No operation under the lock can leave an inconsistent queue, so a poisoned lock is safe to use.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `wait` or until the thread is closed. Returns whether it is still open.
    fn stays_open(&self, wait: Span) -> bool {
        let queue = self.lock();
        let waited = self.arrived.wait_timeout_while(queue, wait.to_duration(), |queue| !queue.closed);
        !waited.unwrap_or_else(PoisonError::into_inner).0.closed
    }

    fn put_first(&self, request: RenderRequest) {
        let mut queue = self.lock();
        // A caller of a closed thread must not wait: its channel is disconnected when the request is dropped.
        if !queue.closed {
            queue.requests.push_front(request);
            self.arrived.notify_one();
        }
    }

    /// Waits for the next request, or for a piece to upload if there is none; `None` when the thread is closed.
    fn next(&self, uploads: &mut UploadQueue) -> Option<RenderWork> {
        let mut queue = self.lock();
        loop {
            if queue.closed {
                return None;
            }
            let old = uploads.announce(&mut queue.announced);
            queue.give_back(old);
            if let Some(request) = queue.pop() {
                return Some(RenderWork::Request(request));
            }
            queue = match uploads.due(MonotonicClock.now()) {
                Some(Span::ZERO) => return Some(RenderWork::Piece),
                Some(wait) => {
                    let waited = self.arrived.wait_timeout(queue, wait.to_duration());
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// Calls functions on the render thread, from any thread.
#[derive(Clone)]
pub(super) struct RenderCaller(Arc<RenderShared>);

impl RenderCaller {
    /// Calls `question` on the render thread before all work that has not begun. Waits for the answer, at most for
    /// `patience` if given.
    pub fn ask<A: Send + 'static>(
        &self,
        patience: Option<Duration>,
        question: impl FnOnce(&mut GlesPainter) -> Result<A, RenderError> + Send + 'static,
    ) -> Result<A, RenderError> {
        let (answer, answered) = mpsc::channel();
        self.0.put_first(RenderRequest::Ask(Box::new(move |painter| {
            // The caller may have stopped waiting.
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
    /// Starts a thread that creates its context after `wait`; requests wait for the context.
    pub fn start(make: MakeContext, injected: InjectedFaults, wait: Span) -> Result<Self, RenderError> {
        let shared = Arc::<RenderShared>::default();
        let (living, alive) = mpsc::channel();
        let (its, its_injected) = (shared.clone(), injected.clone());
        let thread = std::thread::Builder::new().name("render".to_owned());
        let draw = move || {
            let _living = living;
            if its.stays_open(wait) {
                run(&make, its_injected, &its);
            }
        };
        let thread = faults::check(faults::Fault::Thread)
            .and_then(|()| thread.spawn(draw))
            .map_err(|error| RenderError::Lost(format!("its thread cannot be started: {error}")))?;
        Ok(RenderThread { shared, injected, alive, thread: Some(thread) })
    }

    /// The properties of its context. Waits until the context exists.
    pub fn abilities(&self) -> Result<ContextInfo, RenderError> {
        self.ask(|painter| Ok(painter.context_info()))
    }

    /// Calls `question` on the thread before all work that has not begun, and waits for the answer.
    fn ask<A: Send + 'static>(
        &self,
        question: impl FnOnce(&mut GlesPainter) -> Result<A, RenderError> + Send + 'static,
    ) -> Result<A, RenderError> {
        self.asker().ask(None, question)
    }

    /// A handle to call functions on the thread from another thread.
    pub fn asker(&self) -> RenderCaller {
        RenderCaller(self.shared.clone())
    }

    /// Queues a job; `urgent`: before all work that has not begun. `wake` is pinged when it is done.
    pub fn draw(&self, id: RenderJobId, job: RenderJob, urgent: bool, wake: Option<Ping>) {
        let request = RenderRequest::Draw { id, job: Box::new(job), wake };
        if urgent {
            return self.put_first(request);
        }
        self.shared.lock().requests.push_back(request);
        self.shared.arrived.notify_one();
    }

    /// Draws a frame and waits for it.
    pub fn draw_now(&self, job: RenderJob) -> Result<FinishedJob, RenderError> {
        let (done, finished) = mpsc::channel();
        self.put_first(RenderRequest::Ask(Box::new(move |painter| {
            let _ = done.send(painter.draw(RenderJobId::default(), job, &[]));
        })));
        finished.recv().map_err(|_| RenderError::Lost("its thread has ended".to_owned()))
    }

    fn put_first(&self, request: RenderRequest) {
        self.shared.put_first(request);
    }

    /// The next finished job, in the order of drawing.
    pub fn finished(&self) -> Option<FinishedJob> {
        self.shared.lock().finished.pop_front()
    }

    /// Queues content that will be visible soon, to be uploaded between frames. `wake` is pinged when items must be
    /// released.
    pub fn announce(&self, ahead: Vec<UpcomingContent>, wake: Option<Ping>) {
        let mut queue = self.shared.lock();
        queue.announced.retain(|old| ahead.iter().all(|new| new.surface != old.surface));
        queue.announced.extend(ahead);
        queue.wake = wake;
        drop(queue);
        self.shared.arrived.notify_one();
    }

    /// Releases content that is uploaded or outdated.
    pub fn release_uploaded(&self) {
        let returned = std::mem::take(&mut self.shared.lock().returned);
        drop(returned);
    }

    /// Pixels copied from off-screen frames so far.
    pub fn pixels_read_back(&self) -> u64 {
        self.shared.lock().read_back
    }

    /// Bytes of announced content uploaded so far.
    pub fn copied(&self) -> UploadedBytes {
        self.shared.lock().copied
    }

    /// Takes back a job whose drawing has not begun.
    pub fn take_back(&self, wanted: RenderJobId) -> Option<RenderJob> {
        let requests = &mut self.shared.lock().requests;
        let is_it = |request: &RenderRequest| matches!(request, RenderRequest::Draw { id, .. } if *id == wanted);
        let index = requests.iter().position(is_it)?;
        match requests.remove(index)? {
            RenderRequest::Draw { job, .. } => Some(*job),
            RenderRequest::Ask(_) | RenderRequest::Test(_) => None,
        }
    }

    /// Queues a test of a client's buffer.
    pub fn try_source(&self, test: BufferTest) {
        self.shared.lock().tests.push_back(test);
        self.shared.arrived.notify_one();
    }

    /// Whether the context was lost during a test of a client's buffer.
    pub fn has_lost_tests(&self) -> bool {
        !self.shared.lock().lost_tests.is_empty()
    }

    /// Tests, before all other work, whether the context was created and draws. The answer has its properties. Does
    /// not wait: `wake` is pinged when the answer is in the channel.
    pub fn test_context(&self, wake: Option<Ping>) -> mpsc::Receiver<Result<ContextInfo, RenderError>> {
        let (answer, answered) = mpsc::channel();
        self.put_first(RenderRequest::Ask(Box::new(move |painter| {
            // The receiver is dropped if another context took its place.
            let _ = answer.send(painter.with(|gles| gles.test_draw().map(|()| gles.context_info())));
            wake.iter().for_each(Ping::ping);
        })));
        answered
    }

    /// Lets the thread end after its current draw. Returns the jobs that it had not begun, as failed, and the tests
    /// for another context.
    pub fn close(&self) -> (Vec<FinishedJob>, Vec<BufferTest>) {
        let mut queue = self.shared.lock();
        queue.closed = true;
        self.shared.arrived.notify_one();
        let tests = std::mem::take(&mut queue.tests).into();
        // Release client buffers here, on the main thread: a thread that never ends would keep them.
        let (announced, returned) = (std::mem::take(&mut queue.announced), std::mem::take(&mut queue.returned));
        let unbegun = std::mem::take(&mut queue.requests).into_iter().filter_map(|request| match request {
            RenderRequest::Draw { id, job, .. } => {
                let result = Err(RenderError::Gles("its context was lost before".to_owned()));
                Some(FinishedJob { id, job: *job, result, took: None })
            }
            RenderRequest::Ask(_) | RenderRequest::Test(_) => None,
        });
        let unbegun = unbegun.collect();
        drop(queue);
        drop((announced, returned));
        (unbegun, tests)
    }

    /// Whether the thread has ended, so that no more results come.
    pub fn has_ended(&self) -> bool {
        self.alive.try_recv() == Err(mpsc::TryRecvError::Disconnected)
    }

    /// Tests during which the context was lost.
    pub fn take_lost_tests(&self) -> Vec<BufferTest> {
        std::mem::take(&mut self.shared.lock().lost_tests)
    }

    /// The injected faults of its context and of later contexts.
    pub fn injected_faults(&self) -> InjectedFaults {
        self.injected.clone()
    }

    /// Injects a fault that affects all work queued from now on.
    pub fn inject_fault(&self, fault: GpuFault) {
        let (done, added) = mpsc::channel();
        self.put_first(RenderRequest::Ask(Box::new(move |painter| {
            painter.faults.add(fault);
            // The caller may be gone; the fault applies all the same.
            let _ = done.send(());
        })));
        // Wait until the fault is set, because an urgent job would overtake it.
        let _ = added.recv();
    }
}

impl Drop for RenderThread {
    /// Waits for the thread's end, because its context must not be in use while the process exits. A hung draw is
    /// not waited for.
    fn drop(&mut self) {
        // Questions that wait for an answer are dropped, so that their callers go on. Finished jobs may hold pictures,
        // which hold the queue.
        drop(self.close());
        let finished = std::mem::take(&mut self.shared.lock().finished);
        drop(finished);
        if self.alive.recv_timeout(LAST_DRAW) == Err(mpsc::RecvTimeoutError::Timeout) {
            return tracing::error!("the OpenGL ES thread is still drawing; the session ends without it");
        }
        if let Some(thread) = self.thread.take() {
            // Its panics were already logged when they happened.
            let _ = thread.join();
        }
    }
}

/// The context of a thread; an error after it was lost.
pub(super) struct ThreadPainter {
    gles: Result<GlesPainter, String>,
    faults: PendingGpuFaults,
}

impl ThreadPainter {
    /// Calls `act` with the context. A panic counts as a lost context, because its state is then unknown.
    fn with<A>(&mut self, act: impl FnOnce(&mut GlesPainter) -> Result<A, RenderError>) -> Result<A, RenderError> {
        let gles = self.gles.as_mut().map_err(|reason| RenderError::Lost(reason.clone()))?;
        let done = catch_unwind(AssertUnwindSafe(|| {
            let done = act(gles);
            gles.lost().map_or(done, |reason| Err(RenderError::Lost(reason)))
        }));
        let done = done.unwrap_or_else(|panic| Err(RenderError::Lost(format!("it panicked: {}", message(&*panic)))));
        if let Err(RenderError::Lost(reason)) = &done {
            let lost = std::mem::replace(&mut self.gles, Err(reason.clone()));
            // Dropping the rest of it may panic again.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(lost)));
        }
        done
    }

    fn try_source(&mut self, dmabuf: &Dmabuf) -> Result<(), RenderError> {
        let fault = self.faults.reading();
        self.with(|gles| fault.unwrap_or_else(|| gles.try_source(dmabuf)))
    }

    fn draw(&mut self, id: RenderJobId, mut job: RenderJob, uploads: &[UpcomingContent]) -> FinishedJob {
        let begun = MonotonicClock.now();
        let fault = self.faults.next();
        let injected_time = fault.took;
        let result = self.with(|gles| {
            fault.apply()?;
            gles.draw(&mut job, uploads)
        });
        FinishedJob { id, job, result, took: injected_time.or_else(|| Some(MonotonicClock.now() - begun)) }
    }

    /// Uploads a piece of the queued content. Returns the items to release: all of them if there is no context.
    fn copy_piece(&mut self, uploads: &mut UploadQueue, now: Instant) -> Vec<UpcomingContent> {
        let copied = self.with(|gles| Ok(gles.copy_ahead(uploads, now)));
        copied.unwrap_or_else(|_| std::mem::take(&mut uploads.items))
    }

    fn pixels_read_back(&self) -> u64 {
        self.gles.as_ref().map(GlesPainter::pixels_read_back).unwrap_or_default()
    }

    fn copied(&self) -> UploadedBytes {
        self.gles.as_ref().map(GlesPainter::copied).unwrap_or_default()
    }
}

/// Reads pictures that the painter keeps, from any thread but the render thread. The GPU copies between frames; meanwhile
/// the caller waits, not the render thread.
fn picture_reader(shared: &Arc<RenderShared>) -> PictureReader {
    let caller = RenderCaller(shared.clone());
    Arc::new(move |picture, rect| {
        let picture = picture.clone();
        let copy = caller.ask(Some(LONGEST_READ), move |painter| painter.copy_picture(&picture, rect))?;
        copy.wait(LONGEST_READ);
        caller.ask(Some(LONGEST_READ), move |painter| painter.map_copy(copy))
    })
}

fn run(make: &MakeContext, injected: InjectedFaults, shared: &Arc<RenderShared>) {
    let made = catch_unwind(AssertUnwindSafe(|| injected.check_context().and_then(|()| make())));
    let made = made.unwrap_or_else(|panic| Err(RenderError::Lost(format!("it panicked: {}", message(&*panic)))));
    let mut painter =
        ThreadPainter { gles: made.map_err(|error| error.to_string()), faults: PendingGpuFaults::with(injected) };
    if let Ok(gles) = &mut painter.gles {
        gles.set_picture_reader(picture_reader(shared));
    }
    let mut uploads = UploadQueue::new(MonotonicClock.now());
    while let Some(next) = shared.next(&mut uploads) {
        match next {
            RenderWork::Request(RenderRequest::Ask(question)) => {
                question(&mut painter);
                shared.lock().read_back = painter.pixels_read_back();
            }
            RenderWork::Request(RenderRequest::Draw { id, job, wake }) => {
                let finished = painter.draw(id, *job, &uploads.items);
                uploads.frame_drawn(MonotonicClock.now());
                let mut queue = shared.lock();
                queue.finished.push_back(finished);
                (queue.copied, queue.read_back) = (painter.copied(), painter.pixels_read_back());
                drop(queue);
                wake.iter().for_each(Ping::ping);
            }
            RenderWork::Request(RenderRequest::Test(test)) => {
                let result = painter.try_source(&test.dmabuf);
                if let Some(test) = test.finish(result) {
                    let mut queue = shared.lock();
                    test.wake();
                    queue.lost_tests.push(test);
                }
            }
            RenderWork::Piece => {
                let done = painter.copy_piece(&mut uploads, MonotonicClock.now());
                let mut queue = shared.lock();
                queue.copied = painter.copied();
                queue.give_back(done);
            }
        }
    }
    // The main thread releases the remaining items.
    shared.lock().give_back(uploads.items);
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("for no stated reason").to_owned()
}
