//! The worker: one ordinary thread per device, for calls that may block and that no flip waits for. It probes monitors,
//! allocates and frees memory, and imports clients' buffers.
//!
//! ```text
//!   main thread, presenters ─► jobs ─► │ one after the other │ ─► answers ─► main thread
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{PollFd, PollFlags, poll};

use super::DrmError;
use super::command_queue::{QueueReceiver, QueueSender, queue};

/// Its nice value. The main thread has 0, because frames wait for it. With a third of the main thread's share, jobs
/// finish within some refreshes even where the only CPU is busy.
const NICENESS: i32 = 5;

type WorkerJob = Box<dyn FnOnce() + Send>;

/// A handle that queues jobs for a device's worker. The thread ends when the last handle is dropped.
#[derive(Clone)]
pub(super) struct WorkerHandle(QueueSender<WorkerJob>);

impl WorkerHandle {
    /// Starts a worker thread; an error if there is no thread or queue.
    pub fn start() -> Result<Self, DrmError> {
        let failed = |error| DrmError::Device { what: "the worker cannot be started", error };
        let (jobs, queued) = queue().map_err(failed)?;
        let thread = std::thread::Builder::new().name("drm worker".to_owned());
        thread.spawn(move || run(queued)).map_err(failed)?;
        Ok(WorkerHandle(jobs))
    }

    /// Queues `job` behind earlier jobs. Never blocks.
    pub fn queue_job(&self, job: impl FnOnce() + Send + 'static) {
        self.0.send(Box::new(job));
    }

    /// Drops a value on the worker.
    pub fn drop_on_worker(&self, what: impl Send + 'static) {
        self.queue_job(move || drop(what));
    }
}

fn run(mut queued: QueueReceiver<WorkerJob>) {
    // On Linux this changes the calling thread only. If it fails, the worker delays the main thread more often.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    loop {
        // Clear the wake-up before reading the queue, so that a job sent meanwhile wakes the thread again.
        queued.clear_wakeup();
        let closed = queued.is_closed();
        while let Some(job) = queued.take() {
            // Later jobs must still run after a panic: other sessions want the device, monitors are plugged in.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a job on the worker of a display device has panicked; the next job runs");
            }
        }
        if closed {
            return;
        }
        if let Err(error) = poll(&mut [PollFd::new(&queued, PollFlags::IN)], None)
            && error != rustix::io::Errno::INTR
        {
            return tracing::error!(%error, "the worker of a display device has ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_panics_takes_no_other_with_it() {
        let jobs = WorkerHandle::start().unwrap();
        let (done, received) = std::sync::mpsc::channel();
        jobs.queue_job(|| panic!("as an unexpected answer of a driver would"));
        jobs.queue_job(move || done.send("the next one").unwrap());
        assert_eq!(received.recv(), Ok("the next one"));
    }
}
