//! The worker: one thread per device, of the ordinary class, for whatever may block and no flip waits for. It asks monitors
//! what they are, makes memory and gives it back, and imports clients' buffers.
//!
//! ```text
//!   main thread, presenters ─► jobs ─► │ one after the other │ ─► answers ─► main thread
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{PollFd, PollFlags, poll};

use super::DrmError;
use super::post::{Inbox, Mailbox, queue};

/// How nice it is, as nice(1) counts: the main thread is at 0, and frames wait for that one. A third of its share is enough
/// for what is asked here to be done within some refreshes also where the only CPU is busy.
const NICENESS: i32 = 5;

type Job = Box<dyn FnOnce() + Send>;

/// Has things done on the worker of a device. It ends when the last of these is gone.
#[derive(Clone)]
pub(super) struct Jobs(Mailbox<Job>);

impl Jobs {
    /// Starts a worker.
    pub fn start() -> Result<Self, DrmError> {
        let failed = |error| DrmError::Device { what: "a worker", error };
        let (jobs, asked) = queue().map_err(failed)?;
        let thread = std::thread::Builder::new().name("drm worker".to_owned());
        thread.spawn(move || run(asked)).map_err(failed)?;
        Ok(Jobs(jobs))
    }

    /// Has `job` done there, after what was asked before. Never waits.
    pub fn ask(&self, job: impl FnOnce() + Send + 'static) {
        self.0.send(Box::new(job));
    }

    /// Lets go of something there.
    pub fn give_back(&self, what: impl Send + 'static) {
        self.ask(move || drop(what));
    }
}

fn run(mut asked: Inbox<Job>) {
    // Of the calling thread, on Linux. Where it is not niced it is in the way more often.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    loop {
        // Before it is looked whether there is anything: what is sent meanwhile wakes again.
        asked.quiet();
        let closed = asked.is_closed();
        while let Some(job) = asked.take() {
            // What comes after is none of its business: other sessions want the device, monitors are plugged in.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("the worker of a display device has panicked over something; it goes on with the next");
            }
        }
        if closed {
            return;
        }
        if let Err(error) = poll(&mut [PollFd::new(&asked, PollFlags::IN)], None)
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
        let jobs = Jobs::start().unwrap();
        let (done, told) = std::sync::mpsc::channel();
        jobs.ask(|| panic!("as a driver's answer that nobody thought of"));
        jobs.ask(move || done.send("the next one").unwrap());
        assert_eq!(told.recv(), Ok("the next one"));
    }
}
