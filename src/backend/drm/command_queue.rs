//! A lock-free queue between the main thread and the real-time threads: the receiver never waits for a sender.
//!
//! With a lock, a real-time thread would wait for a holder that is not scheduled. The queues of the standard library
//! spin while a message is half sent. On a machine with one CPU that lasts until the sender, of a lower scheduling
//! class, runs again. Here a send is one atomic exchange, and so is a receive.
//!
//! ```text
//!   send: newest ─► c ─► b ─► a         take: newest ─► nothing; a, b, c in the order in which they were sent
//! ```
#![expect(unsafe_code, reason = "messages are owned through a pointer that threads exchange")]

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use rustix::event::{EventfdFlags, eventfd};

struct MessageNode<T> {
    content: T,
    older: *mut MessageNode<T>,
}

/// A linked list of unread messages, the newest first.
struct MessageStack<T>(AtomicPtr<MessageNode<T>>);

impl<T: Send> MessageStack<T> {
    fn put(&self, content: T) {
        let node = Box::into_raw(Box::new(MessageNode { content, older: null_mut() }));
        let mut newest = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: no other thread has the node before the exchange below succeeds.
            unsafe { (*node).older = newest };
            match self.0.compare_exchange_weak(newest, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => newest = now,
            }
        }
    }

    /// Moves all messages to the back of `taken`, in the order in which they were sent.
    fn take(&self, taken: &mut VecDeque<T>) {
        let mut newest = self.0.swap(null_mut(), Ordering::Acquire);
        let known = taken.len();
        while !newest.is_null() {
            // SAFETY: each node was leaked by `put`, and the exchange above made them all ours.
            let node = unsafe { Box::from_raw(newest) };
            newest = node.older;
            taken.push_back(node.content);
        }
        taken.make_contiguous()[known..].reverse();
    }
}

impl<T> Drop for MessageStack<T> {
    fn drop(&mut self) {
        let mut newest = *self.0.get_mut();
        while !newest.is_null() {
            // SAFETY: as in `take`; no other reference to the stack exists any more.
            let node = unsafe { Box::from_raw(newest) };
            newest = node.older;
        }
    }
}

struct QueueState<T> {
    stack: MessageStack<T>,
    wakeup: OwnedFd,
    /// All senders are gone.
    closed: AtomicBool,
}

impl<T> QueueState<T> {
    fn wake_receiver(&self) {
        if let Err(error) = rustix::io::write(&self.wakeup, &1_u64.to_ne_bytes()) {
            tracing::error!(%error, "a display's thread cannot be woken");
        }
    }
}

/// Closes the queue when the last sender is gone.
struct SenderGuard<T>(Arc<QueueState<T>>);

impl<T> Drop for SenderGuard<T> {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.wake_receiver();
    }
}

/// The sending end, for any thread.
pub(super) struct QueueSender<T>(Arc<SenderGuard<T>>);

impl<T> Clone for QueueSender<T> {
    fn clone(&self) -> Self {
        QueueSender(self.0.clone())
    }
}

impl<T: Send> QueueSender<T> {
    /// Sends a message and wakes the receiver. It never blocks.
    pub fn send(&self, message: T) {
        self.0.0.stack.put(message);
        // Wake even if a message is queued already: its sender may be of a lower scheduling class and not have
        // run to its own wake-up yet, and a real-time receiver must not wait for it. The eventfd merges
        // wake-ups.
        self.0.0.wake_receiver();
    }

    /// Sends a message without waking the receiver, which reads it at its next wake-up.
    pub fn send_quietly(&self, message: T) {
        self.0.0.stack.put(message);
    }
}

/// The receiving end, for one thread.
pub(super) struct QueueReceiver<T> {
    shared: Arc<QueueState<T>>,
    taken: VecDeque<T>,
}

impl<T: Send> QueueReceiver<T> {
    /// The oldest unread message.
    pub fn take(&mut self) -> Option<T> {
        if self.taken.is_empty() {
            self.shared.stack.take(&mut self.taken);
        }
        self.taken.pop_front()
    }

    /// Whether all senders are gone; earlier messages can still be taken.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    /// Clears the wake-up: the descriptor is unreadable until the next message. Call it before messages are taken.
    pub fn clear_wakeup(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.shared.wakeup, &mut count);
    }
}

impl<T> AsFd for QueueReceiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.wakeup.as_fd()
    }
}

/// Both ends of a queue.
pub(super) fn queue<T: Send>() -> std::io::Result<(QueueSender<T>, QueueReceiver<T>)> {
    let wakeup = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let stack = MessageStack(AtomicPtr::new(null_mut()));
    let shared = Arc::new(QueueState { stack, wakeup, closed: AtomicBool::new(false) });
    Ok((QueueSender(Arc::new(SenderGuard(shared.clone()))), QueueReceiver { shared, taken: VecDeque::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_readable<T>(inbox: &QueueReceiver<T>) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(inbox, PollFlags::IN)], Some(&at_once)).unwrap() > 0
    }

    #[test]
    fn messages_come_out_in_the_order_in_which_they_were_sent() {
        let (mailbox, mut inbox) = queue().unwrap();
        (0..3).for_each(|number| mailbox.send(number));
        assert_eq!(inbox.take(), Some(0));
        mailbox.send(3);
        assert_eq!(std::iter::from_fn(|| inbox.take()).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(inbox.take(), None);
    }

    #[test]
    fn each_sender_keeps_its_order_while_all_send_at_once_and_nothing_is_lost() {
        const EACH: u32 = 20_000;
        let (mailbox, mut inbox) = queue().unwrap();
        let senders: Vec<_> = (0..3_usize)
            .map(|sender| {
                let mailbox = mailbox.clone();
                std::thread::spawn(move || (0..EACH).for_each(|number| mailbox.send((sender, number))))
            })
            .collect();
        drop(mailbox);
        let mut next = [0; 3];
        while next != [EACH; 3] {
            poll(&mut [PollFd::new(&inbox, PollFlags::IN)], None).unwrap();
            inbox.clear_wakeup();
            while let Some((sender, number)) = inbox.take() {
                assert_eq!(number, next[sender]);
                next[sender] += 1;
            }
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        assert!(inbox.is_closed());
    }

    #[test]
    fn message_wakes_the_receiver_and_a_quiet_message_does_not() {
        let (mailbox, mut inbox) = queue().unwrap();
        mailbox.send_quietly("quiet");
        assert!(!is_readable(&inbox));
        assert_eq!(inbox.take(), Some("quiet"));
        mailbox.send("loud");
        assert!(is_readable(&inbox));
        inbox.clear_wakeup();
        assert!(!is_readable(&inbox));
        assert_eq!(inbox.take(), Some("loud"));
    }

    #[test]
    fn message_wakes_the_receiver_of_a_nonempty_queue() {
        let (mailbox, mut inbox) = queue().unwrap();
        // Simulates a sender that was preempted before its wake-up.
        mailbox.send_quietly("first");
        mailbox.send("second");
        assert!(is_readable(&inbox));
        inbox.clear_wakeup();
        assert_eq!([inbox.take(), inbox.take(), inbox.take()], [Some("first"), Some("second"), None]);
    }

    #[test]
    fn unread_messages_are_dropped_with_the_queue() {
        let (mailbox, inbox) = queue().unwrap();
        let message = Arc::new(());
        mailbox.send(message.clone());
        drop((mailbox, inbox));
        assert_eq!(Arc::strong_count(&message), 1);
    }

    #[test]
    fn receiver_is_closed_when_the_last_sender_is_dropped() {
        let (mailbox, mut inbox) = queue().unwrap();
        let other = mailbox.clone();
        other.send(1);
        drop(mailbox);
        assert!(!inbox.is_closed());
        drop(other);
        assert!(is_readable(&inbox) && inbox.is_closed());
        assert_eq!(inbox.take(), Some(1), "earlier messages still arrive");
    }
}
