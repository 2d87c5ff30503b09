//! Threads that were given up. Each ends when what it draws is drawn, however long that takes: nobody waits for it while
//! the session runs, and what it had in hand comes back when it arrives.

use std::collections::VecDeque;

use super::Finished;
use super::source::SourceTest;
use super::thread::RenderThread;

/// What is left of them.
#[derive(Default)]
pub(super) struct Left {
    /// What they had not begun.
    finished: VecDeque<Finished>,
    tests: Vec<SourceTest>,
    /// Those that have not ended yet.
    threads: Vec<RenderThread>,
}

impl Left {
    /// Lets a thread end.
    pub fn give_up(&mut self, thread: RenderThread) {
        let (finished, tests) = thread.close();
        self.finished.extend(finished);
        self.tests.extend(tests);
        self.threads.push(thread);
    }

    /// A frame that one of them drew or could not draw.
    pub fn next(&mut self) -> Option<Finished> {
        if self.threads.is_empty() {
            return self.finished.pop_front();
        }
        // Asked first: whatever it finished before that is taken in.
        let ended: Vec<bool> = self.threads.iter().map(RenderThread::has_ended).collect();
        for thread in &self.threads {
            self.finished.extend(std::iter::from_fn(|| thread.finished()));
            self.tests.extend(thread.take_lost_tests());
        }
        let mut ended = ended.into_iter();
        self.threads.retain(|_| !ended.next().unwrap_or_default());
        self.finished.pop_front()
    }

    /// Clients' buffers that somebody else has to look at.
    pub fn take_tests(&mut self) -> Vec<SourceTest> {
        std::mem::take(&mut self.tests)
    }
}
