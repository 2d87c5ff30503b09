//! Client buffers that other threads hold too, so that any thread may drop the last reference.
//!
//! Dropping it sends `wl_buffer.release`, and only the thread that serves clients should do that: libwayland serves one
//! thread at a time, so other threads would wait for it. A value that is dropped elsewhere is first sent back to that
//! thread.

use std::thread::{self, ThreadId};

use calloop::channel::{Channel, Sender, channel};

/// The thread that serves clients, with a channel to it.
#[derive(Debug)]
pub struct Home<T> {
    thread: ThreadId,
    back: Sender<T>,
}

impl<T> Clone for Home<T> {
    fn clone(&self) -> Self {
        Home { thread: self.thread, back: self.back.clone() }
    }
}

impl<T> Home<T> {
    /// Names the calling thread. The caller must receive returned values from the channel and drop them.
    pub fn here() -> (Self, Channel<T>) {
        let (back, returned) = channel();
        (Home { thread: thread::current().id(), back }, returned)
    }

    /// Wraps a value so that it is dropped on this thread, whichever thread drops the wrapper.
    pub fn lend(&self, what: T) -> Lent<T> {
        Lent { what: Some(what), home: self.clone() }
    }
}

/// A value that is always dropped on the thread that it came from.
#[derive(Debug)]
pub struct Lent<T> {
    /// `None` only during the drop.
    what: Option<T>,
    home: Home<T>,
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        let Some(what) = self.what.take() else { return };
        if thread::current().id() == self.home.thread {
            return drop(what);
        }
        if let Err(unheard) = self.home.back.send(what) {
            // The main thread has stopped serving clients. The value must not be dropped on this thread all the same.
            std::mem::forget(unheard);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_another_thread_lets_go_is_dropped_at_home() {
        let (home, returned) = Home::here();
        let what = Arc::new(());
        let lent = home.lend(what.clone());
        thread::spawn(move || drop(lent)).join().unwrap();
        assert_eq!(Arc::strong_count(&what), 2, "it is on its way");
        drop(returned.try_recv().unwrap());
        assert_eq!(Arc::strong_count(&what), 1);
    }

    #[test]
    fn what_is_let_go_at_home_is_dropped_at_once() {
        let (home, _returned) = Home::here();
        let what = Arc::new(());
        drop(home.lend(what.clone()));
        assert_eq!(Arc::strong_count(&what), 1);
    }

    #[test]
    fn what_comes_home_when_nobody_is_there_is_not_dropped_elsewhere() {
        let (home, returned) = Home::here();
        let what = Arc::new(());
        let lent = home.lend(what.clone());
        drop(returned);
        thread::spawn(move || drop(lent)).join().unwrap();
        assert_eq!(Arc::strong_count(&what), 2);
    }
}
