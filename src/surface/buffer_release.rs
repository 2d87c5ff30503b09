//! Client buffers that other threads hold too, so that any thread may drop the last reference.
//!
//! Dropping it sends `wl_buffer.release`, and only the thread that serves clients should do that: libwayland serves one
//! thread at a time, so other threads would wait for it. A value that is dropped elsewhere is first sent back to that
//! thread.

use std::thread::{self, ThreadId};

use calloop::channel::{Channel, Sender, channel};

/// The thread that serves clients, with a channel to it.
#[derive(Debug)]
pub struct OwnerThread<T> {
    thread: ThreadId,
    back: Sender<T>,
}

impl<T> Clone for OwnerThread<T> {
    fn clone(&self) -> Self {
        OwnerThread { thread: self.thread, back: self.back.clone() }
    }
}

impl<T> OwnerThread<T> {
    /// Names the calling thread. The caller must receive returned values from the channel and drop them.
    pub fn this_thread() -> (Self, Channel<T>) {
        let (back, returned) = channel();
        (OwnerThread { thread: thread::current().id(), back }, returned)
    }

    /// Wraps a value so that it is dropped on this thread, whichever thread drops the wrapper.
    pub fn bind(&self, value: T) -> ThreadBound<T> {
        ThreadBound { value: Some(value), home: self.clone() }
    }
}

/// A value that is always dropped on the thread that it came from.
#[derive(Debug)]
pub struct ThreadBound<T> {
    /// `None` only during the drop.
    value: Option<T>,
    home: OwnerThread<T>,
}

impl<T> Drop for ThreadBound<T> {
    fn drop(&mut self) {
        let Some(value) = self.value.take() else { return };
        if thread::current().id() == self.home.thread {
            return drop(value);
        }
        if let Err(undelivered) = self.home.back.send(value) {
            // The main thread has stopped serving clients. The value must not be dropped on this thread all the same.
            std::mem::forget(undelivered);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn value_released_on_another_thread_is_dropped_on_its_own() {
        let (home, returned) = OwnerThread::this_thread();
        let what = Arc::new(());
        let lent = home.bind(what.clone());
        thread::spawn(move || drop(lent)).join().unwrap();
        assert_eq!(Arc::strong_count(&what), 2, "it is on its way");
        drop(returned.try_recv().unwrap());
        assert_eq!(Arc::strong_count(&what), 1);
    }

    #[test]
    fn value_released_on_its_own_thread_is_dropped_at_once() {
        let (home, _returned) = OwnerThread::this_thread();
        let what = Arc::new(());
        drop(home.bind(what.clone()));
        assert_eq!(Arc::strong_count(&what), 1);
    }

    #[test]
    fn value_is_leaked_when_its_thread_no_longer_receives() {
        let (home, returned) = OwnerThread::this_thread();
        let what = Arc::new(());
        let lent = home.bind(what.clone());
        drop(returned);
        thread::spawn(move || drop(lent)).join().unwrap();
        assert_eq!(Arc::strong_count(&what), 2);
    }
}
