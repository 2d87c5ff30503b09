//! The thread that reads shared memory ahead of the beam. It exists only while memory is shared.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Bands, FrontSampler, SampledRows};
use crate::backend::front::FrontMemory;
use crate::backend::headless::grid::RecordedRefresh;
use crate::real_time::{self, RealTime, ThreadRole};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// How many refreshes are kept until the display takes them; the oldest is dropped first.
const MOST_KEPT: usize = 2;

#[derive(Debug, Default)]
struct SamplerQueue {
    done: Vec<SampledRows>,
    spare: Vec<SampledRows>,
    is_over: bool,
}

#[derive(Debug, Default)]
struct SamplerShared {
    queue: Mutex<SamplerQueue>,
    over: Condvar,
}

impl SamplerShared {
    fn queue(&self) -> MutexGuard<'_, SamplerQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until `at`. Returns false if the thread has to end.
    fn sleep_until(&self, at: Instant) -> bool {
        let mut queue = self.queue();
        loop {
            let left = at - MonotonicClock.now();
            if queue.is_over {
                return false;
            }
            if left <= Span::ZERO {
                return true;
            }
            let left = Duration::from_nanos(left.as_nanos() as u64);
            queue = self.over.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A handle to the thread. Dropping it ends the thread without waiting for its end.
#[derive(Debug)]
pub(in crate::backend::headless) struct SamplerThread(Arc<SamplerShared>);

impl SamplerThread {
    /// Reads each refresh from `refresh` on, with this interval between refreshes, on the monotonic clock.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start(
        bands: Bands,
        memory: Arc<dyn FrontMemory>,
        refresh: RecordedRefresh,
        interval: Span,
    ) -> std::io::Result<Self> {
        // Before the thread asks for its class, so that programs which are started meanwhile get the limit back.
        real_time::remember_limit();
        let shared = Arc::new(SamplerShared::default());
        let of_thread = Arc::clone(&shared);
        let run = move || run(bands, &*memory, refresh, interval, &of_thread);
        std::thread::Builder::new().name("front sampler".to_owned()).spawn(run)?;
        Ok(SamplerThread(shared))
    }
}

impl FrontSampler for SamplerThread {
    fn take(&mut self, sequence: u64) -> Option<SampledRows> {
        let mut queue = self.0.queue();
        let place = queue.done.iter().position(|rows| rows.sequence == sequence)?;
        Some(queue.done.swap_remove(place))
    }

    fn give_back(&mut self, rows: SampledRows) {
        let mut queue = self.0.queue();
        if queue.spare.len() < MOST_KEPT {
            queue.spare.push(rows);
        }
    }
}

impl Drop for SamplerThread {
    fn drop(&mut self) {
        self.0.queue().is_over = true;
        self.0.over.notify_one();
    }
}

fn run(bands: Bands, memory: &dyn FrontMemory, mut refresh: RecordedRefresh, interval: Span, shared: &SamplerShared) {
    let mut real_time = RealTime::ask_for(ThreadRole::Sampler);
    loop {
        let mut rows = shared.queue().spare.pop().unwrap_or_default();
        rows.begin(refresh.sequence, bands.pixels());
        for band in 0..bands.count() {
            real_time.check();
            if !shared.sleep_until(bands.due(refresh.time, band)) {
                return;
            }
            rows.read(bands, (band, refresh.time), memory, || MonotonicClock.now());
        }
        {
            let mut queue = shared.queue();
            if queue.done.len() == MOST_KEPT {
                let oldest = queue.done.remove(0);
                queue.spare.push(oldest);
            }
            queue.done.push(rows);
        }
        // After a long preemption, continue with the next refresh that can still be read from its top.
        loop {
            refresh = RecordedRefresh { time: refresh.time + interval, sequence: refresh.sequence + 1 };
            if bands.lit(refresh.time, 0) > MonotonicClock.now() {
                break;
            }
        }
    }
}
