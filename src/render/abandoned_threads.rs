//! Render threads that were given up. Each ends after its current draw, however long that takes. No caller waits for it
//! while the session runs: its last job is returned whenever the thread has finished it.

use std::collections::VecDeque;

use super::FinishedJob;
use super::buffer_test::BufferTest;
use super::thread::RenderThread;

/// Given-up threads and the jobs that they return.
#[derive(Default)]
pub(super) struct AbandonedThreads {
    /// Jobs that they returned, drawn or not begun.
    finished: VecDeque<FinishedJob>,
    tests: Vec<BufferTest>,
    /// Threads that have not ended yet.
    threads: Vec<RenderThread>,
}

impl AbandonedThreads {
    /// Closes a thread without waiting for its end.
    pub fn close_thread(&mut self, thread: RenderThread) {
        let (finished, tests) = thread.close();
        self.finished.extend(finished);
        self.tests.extend(tests);
        self.threads.push(thread);
    }

    /// The next job that a given-up thread has returned.
    pub fn next(&mut self) -> Option<FinishedJob> {
        if self.threads.is_empty() {
            return self.finished.pop_front();
        }
        // Checked before the jobs are collected, so that no job finished in between is lost.
        let ended: Vec<bool> = self.threads.iter().map(RenderThread::has_ended).collect();
        for thread in &self.threads {
            self.finished.extend(std::iter::from_fn(|| thread.finished()));
            self.tests.extend(thread.take_lost_tests());
        }
        let mut ended = ended.into_iter();
        self.threads.retain(|_| !ended.next().unwrap_or_default());
        self.finished.pop_front()
    }

    /// Tests of client buffers that another context has to repeat.
    pub fn take_tests(&mut self) -> Vec<BufferTest> {
        std::mem::take(&mut self.tests)
    }
}
