//! Tests whether a client's dmabuf can be sampled. The test starts when the client passes the buffer, and is answered
//! asynchronously: no thread waits for it.

use calloop::ping::Ping;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::dmabuf::get_dmabuf;

use super::RenderError;

/// Called with the result, on any thread. Dropped without a call when the session ends.
pub type BufferTestAnswer = Box<dyn FnOnce(Result<(), String>) + Send>;

/// If this many contexts were lost while testing a buffer, the buffer is the cause.
const MOST_LOST: u32 = 2;

/// A test that is not answered yet.
pub(super) struct BufferTest {
    pub dmabuf: Dmabuf,
    /// Number of contexts lost while testing it.
    lost: u32,
    wake: Option<Ping>,
    answer: BufferTestAnswer,
}

impl BufferTest {
    pub fn new(dmabuf: Dmabuf, wake: Option<Ping>, answer: BufferTestAnswer) -> Self {
        BufferTest { dmabuf, lost: 0, wake, answer }
    }

    /// Answers the test. If the context was lost, returns the test, so that the next context repeats it.
    pub fn finish(mut self, result: Result<(), RenderError>) -> Option<Self> {
        if matches!(result, Err(RenderError::Lost(_))) {
            self.lost += 1;
            if self.lost < MOST_LOST {
                return Some(self);
            }
        }
        (self.answer)(result.map_err(|error| error.to_string()));
        None
    }

    /// Wakes the main loop, which hands the test to the next context.
    pub fn wake(&self) {
        self.wake.iter().for_each(Ping::ping);
    }
}

/// Whether a client's buffer can be read without waiting for a device that draws into it. Commits wait for their
/// buffers, so it usually can, unless the client draws into a buffer that is already on screen.
pub(super) fn is_finished(buffer: &WlBuffer) -> bool {
    let Ok(dmabuf) = get_dmabuf(buffer) else { return true };
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    dmabuf.handles().all(|descriptor| {
        // If the state is unknown, still draw the window.
        poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&at_once)).map_or(true, |ready| ready > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use smithay::backend::allocator::dmabuf::DmabufFlags;
    use smithay::backend::allocator::{Fourcc, Modifier};
    use std::sync::mpsc;

    fn test() -> (BufferTest, mpsc::Receiver<bool>) {
        let (sender, receiver) = mpsc::channel();
        let memory = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        let mut builder = Dmabuf::builder((1, 1), Fourcc::Xrgb8888, Modifier::Linear, DmabufFlags::empty());
        builder.add_plane(memory, 0, 0, 4);
        let dmabuf = builder.build().expect("one plane");
        let answer = move |result: Result<(), String>| sender.send(result.is_ok()).expect("the receiver is alive");
        (BufferTest::new(dmabuf, None, Box::new(answer)), receiver)
    }

    fn lost() -> Result<(), RenderError> {
        Err(RenderError::Lost("reset".to_owned()))
    }

    #[test]
    fn a_buffer_is_not_refused_because_a_gpu_is_reset() {
        let (test, receiver) = test();
        let test = test.finish(lost()).expect("it is asked again");
        assert!(receiver.try_recv().is_err(), "nothing is known yet");
        assert!(test.finish(Ok(())).is_none());
        assert_eq!(receiver.try_recv(), Ok(true));
    }

    #[test]
    fn a_buffer_that_every_context_is_lost_with_is_refused() {
        let (test, receiver) = test();
        let test = test.finish(lost()).expect("it is asked again");
        assert!(test.finish(lost()).is_none());
        assert_eq!(receiver.try_recv(), Ok(false));
    }

    #[test]
    fn unreadable_buffer_is_refused_at_once() {
        let unreadable = || Err(RenderError::Gles("no such format".to_owned()));
        for lost_before in [false, true] {
            let (mut test, receiver) = test();
            if lost_before {
                test = test.finish(lost()).expect("it is asked again");
            }
            assert!(test.finish(unreadable()).is_none());
            assert_eq!(receiver.try_recv(), Ok(false));
        }
    }
}
