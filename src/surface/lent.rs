//! Clients' buffers that other threads have a hold on, any of which may be the last to let go.
//!
//! Letting go of a buffer tells its client that it may draw into it again, and that is for the thread that serves clients:
//! others would wait for it, and libwayland serves one thread at a time. What is let go elsewhere is sent home first.

use std::thread::{self, ThreadId};

use calloop::channel::{Channel, Sender, channel};

/// The thread that serves clients.
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
    /// The calling thread. What comes home is to be taken out of the channel, and dropped.
    pub fn here() -> (Self, Channel<T>) {
        let (back, returned) = channel();
        (Home { thread: thread::current().id(), back }, returned)
    }

    /// Something that is dropped here, whoever has it.
    pub fn lend(&self, what: T) -> Lent<T> {
        Lent { what: Some(what), home: self.clone() }
    }
}

/// Something that is dropped on the thread that it is from.
#[derive(Debug)]
pub struct Lent<T> {
    /// Gone only while it is dropped.
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
            // Nobody is served any more. It must not be dropped here all the same.
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
