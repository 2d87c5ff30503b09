//! Tracks the clients with unsent events, so that a flush visits only these. Also tracks whether any client has sent a
//! request since clients were last read.
//!
//! libwayland's own flush visits each connection, several times in a refresh. But its protocol logger reports each
//! event: the client of the event is remembered here.
//!
//! The kernel adds some hundred bytes to each write, however small, and libwayland disconnects a client whose socket is
//! full. So the events for a client that does not read are gathered: libwayland buffers 4 096 bytes and writes them in
//! one piece. The socket then has room for 20 times as many events. Their order does not change.
//!
//! ```text
//!   reads        ▆▆▆▆▆▆▆                                 ▆▆ reads on
//!   messages     ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌
//!   writes       ▌▌▌▌▌▌▌▌▌▌▌▌ behind ████████ ████████ ████ ▌▌▌
//! ```

#![expect(unsafe_code, reason = "libwayland calls back for each message")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smithay::reexports::wayland_server::{Client, DisplayHandle};
use wayland_sys::server::wl_display;
use wayland_sys::{ffi_dispatch, server::*};

use super::objects;
use super::requests::{Log, ProtocolLoggerMessage, wl_display_add_protocol_logger, wl_protocol_logger_destroy};

/// Capacity of the client list that is kept for the next turn, so that so many clients cost no allocation.
const KEPT_ROOM: usize = 64;

const EVENT: c_int = 1;

/// Reports of the protocol logger since they were last taken.
#[derive(Debug, Default)]
struct LoggerReports {
    /// Clients with unsent events, each once.
    unsent_clients: Mutex<Vec<Client>>,
    /// A client has sent a request.
    has_requests: AtomicBool,
}

impl LoggerReports {
    fn lock_unsent_clients(&self) -> MutexGuard<'_, Vec<Client>> {
        self.unsent_clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clients with unsent events.
#[derive(Debug)]
pub struct PendingFlush {
    reports: Arc<LoggerReports>,
    logger: *mut c_void,
    /// Clients that are behind: their events are gathered.
    behind: Vec<Client>,
    /// An empty list, kept for its capacity.
    spare_list: Vec<Client>,
    /// Keeps the display alive, which calls the logger.
    display: DisplayHandle,
}

impl PendingFlush {
    /// Starts tracking, and flushes all events that were sent before.
    pub fn on(display: &DisplayHandle) -> Self {
        let reports = Arc::new(LoggerReports::default());
        let pointer: *mut wl_display = display.backend_handle().display_ptr();
        let log: Log = log;
        // SAFETY: the display lives as long as its handle, and the data pointer as long as the logger; `self` keeps
        // both.
        let logger = unsafe { wl_display_add_protocol_logger(pointer, log, Arc::as_ptr(&reports).cast_mut().cast()) };
        let mut display = display.clone();
        let _ = display.flush_clients();
        PendingFlush { reports, logger, behind: Vec::new(), spare_list: Vec::new(), display }
    }

    /// Whether a client has sent a request, or a client or an object has ended, since the last call.
    pub fn take_has_requests(&self) -> bool {
        let (asked, ended) = (self.reports.has_requests.swap(false, Ordering::Relaxed), objects::take_ended());
        // Without a logger (libwayland had no memory for it) nothing is ever reported, so the answer must be yes.
        asked || ended || self.logger.is_null()
    }

    /// Flushes the clients with unsent events, and returns their number. Events for clients that are behind are
    /// gathered.
    pub fn flush(&mut self) -> usize {
        let mut clients = std::mem::take(&mut self.spare_list);
        std::mem::swap(&mut clients, &mut *self.reports.lock_unsent_clients());
        for client in &clients {
            let account = super::account(client);
            if let Some(account) = account {
                account.unsent.store(false, Ordering::Relaxed);
            }
            if account.is_none_or(|account| !account.must_gather_events()) {
                self.write(client);
            } else if !self.behind.contains(client) {
                self.behind.push(client.clone());
            }
        }
        if self.logger.is_null() {
            self.write_to_all();
        }
        let count = clients.len();
        // The capacity for an unusual number of clients is not kept.
        if count <= KEPT_ROOM {
            clients.clear();
            self.spare_list = clients;
        }
        count
    }

    /// Whether events are gathered for a client, so that [`flush_gathered`](Self::flush_gathered) must be called
    /// before long.
    pub fn has_gathered(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Writes the gathered events of clients that have read on.
    pub fn flush_gathered(&mut self) {
        for client in std::mem::take(&mut self.behind) {
            if super::account(&client).is_some_and(|account| account.must_gather_events()) {
                self.behind.push(client);
            } else {
                self.write(&client);
            }
        }
    }

    /// Flushes `client`. Returns whether its socket is full: the client is then behind.
    fn write(&mut self, client: &Client) -> bool {
        let mut handle = self.display.backend_handle();
        // SAFETY: `errno` belongs to this thread. It is the only sign by which libwayland reports a full socket.
        unsafe { *libc::__errno_location() = 0 };
        let _ = handle.flush(Some(client.id()));
        // SAFETY: as above.
        let error = unsafe { *libc::__errno_location() };
        // wayland-backend skips a client with a protocol error when a flush names it, so all clients are flushed.
        if handle.get_client_data(client.id()).is_err() {
            self.write_to_all();
        }
        let is_full = error == libc::EAGAIN;
        if is_full && !self.behind.contains(client) {
            super::account(client).into_iter().for_each(|account| account.note_socket_full());
            self.behind.push(client.clone());
        }
        is_full
    }

    fn write_to_all(&mut self) {
        if let Err(error) = self.display.flush_clients() {
            tracing::debug!(%error, "cannot write to a client");
        }
    }
}

impl Drop for PendingFlush {
    fn drop(&mut self) {
        if !self.logger.is_null() {
            // SAFETY: it was made by `on`, and no other code uses it; the display is still alive.
            unsafe { wl_protocol_logger_destroy(self.logger) };
        }
    }
}

unsafe extern "C" fn log(reports: *mut c_void, direction: c_int, message: *const ProtocolLoggerMessage) {
    // SAFETY: `on` passed this pointer, and the data outlives the logger.
    let reports = unsafe { &*reports.cast::<LoggerReports>() };
    if direction != EVENT {
        reports.has_requests.store(true, Ordering::Relaxed);
        return;
    }
    // SAFETY: libwayland's message is about an object that is alive, and whose client is connected.
    unsafe {
        let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, (*message).object);
        let Some((client, account)) = objects::client_and_account(client) else { return };
        if !account.unsent.swap(true, Ordering::Relaxed) {
            reports.lock_unsent_clients().push(client.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;

    use smithay::reexports::wayland_server::Display;

    use super::*;
    use crate::guard::connection;

    const SYNC: [u32; 3] = [1, 12 << 16, 2];
    /// Bytes of the answer to a sync: `wl_callback.done` and `wl_display.delete_id`.
    const ANSWER: usize = 24;

    fn connect(display: &Display<()>) -> UnixStream {
        let (client, ours) = UnixStream::pair().unwrap();
        client.set_nonblocking(true).unwrap();
        connection::connect(&mut display.handle(), ours, &std::sync::Arc::default()).unwrap();
        client
    }

    fn sync(client: &mut UnixStream) {
        client.write_all(&SYNC.map(u32::to_ne_bytes).concat()).unwrap();
    }

    fn received(client: &mut UnixStream) -> usize {
        let mut bytes = [0; 65_536];
        client.read(&mut bytes).unwrap_or(0)
    }

    /// How many bytes wait to be read.
    fn readable(client: &UnixStream) -> usize {
        let mut bytes: c_int = 0;
        // SAFETY: the kernel writes one number, into `bytes`.
        unsafe { libc::ioctl(client.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
        bytes as usize
    }

    #[test]
    fn only_clients_with_unsent_events_are_flushed() {
        let mut display = Display::<()>::new().unwrap();
        let mut clients: Vec<_> = (0..1_000).map(|_| connect(&display)).collect();
        let mut unsent = PendingFlush::on(&display.handle());
        unsent.flush();
        assert_eq!(unsent.flush(), 0);
        sync(&mut clients[500]);
        display.dispatch_clients(&mut ()).unwrap();
        assert_eq!(unsent.flush(), 1, "beside 999 clients without events");
        assert_eq!(received(&mut clients[500]), ANSWER);
        assert_eq!(unsent.flush(), 0);
    }

    #[test]
    fn requests_and_ended_clients_are_reported_and_nothing_else() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = PendingFlush::on(&display.handle());
        unsent.take_has_requests();
        let mut asked = |display: &mut Display<()>| {
            display.dispatch_clients(&mut ()).unwrap();
            unsent.flush();
            unsent.take_has_requests()
        };
        assert!(!asked(&mut display));
        sync(&mut client);
        assert!(asked(&mut display), "a request");
        assert!(!asked(&mut display), "once");
        drop(client);
        assert!(asked(&mut display), "a client is gone");
        assert!(!asked(&mut display));
    }

    #[test]
    fn client_ended_between_reads_is_reported_with_the_next_read() {
        let mut display = Display::<()>::new().unwrap();
        let _client = connect(&display);
        let unsent = PendingFlush::on(&display.handle());
        display.dispatch_clients(&mut ()).unwrap();
        unsent.take_has_requests();
        let known = crate::guard::all(&display.handle())[0].0.id();
        let reason = smithay::reexports::wayland_server::backend::DisconnectReason::ConnectionClosed;
        display.handle().backend_handle().kill_client(known, reason);
        display.dispatch_clients(&mut ()).unwrap();
        assert!(unsent.take_has_requests());
    }

    /// Sends `count` syncs, each in a turn of its own, and reads no answer.
    fn ask(display: &mut Display<()>, unsent: &mut PendingFlush, client: &mut UnixStream, count: usize) {
        for _ in 0..count {
            sync(client);
            display.dispatch_clients(&mut ()).unwrap();
            unsent.flush();
        }
    }

    /// Answers that wait for a client that does not read: several times as many as a socket holds when each is written
    /// by itself.
    const WAITING: usize = 5_000;

    #[test]
    fn events_for_a_client_that_does_not_read_are_gathered_and_none_is_lost() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = PendingFlush::on(&display.handle());
        ask(&mut display, &mut unsent, &mut client, 20);
        assert_eq!((readable(&client), unsent.has_gathered()), (20 * ANSWER, false), "it is not behind yet");
        ask(&mut display, &mut unsent, &mut client, WAITING);
        assert!(unsent.has_gathered());
        unsent.flush_gathered();
        assert!(unsent.has_gathered(), "it has read nothing");
        let mut all = 0;
        while let count @ 1.. = received(&mut client) {
            all += count;
        }
        assert!(all < (20 + WAITING) * ANSWER, "the last ones wait to be gathered");
        unsent.flush_gathered();
        assert!(!unsent.has_gathered());
        assert_eq!(all + received(&mut client), (20 + WAITING) * ANSWER);
    }

    #[test]
    fn client_that_has_read_on_gets_events_at_once_again() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = PendingFlush::on(&display.handle());
        ask(&mut display, &mut unsent, &mut client, 1_000);
        while received(&mut client) > 0 {}
        ask(&mut display, &mut unsent, &mut client, 1);
        while received(&mut client) > 0 {}
        ask(&mut display, &mut unsent, &mut client, 1);
        assert_eq!(received(&mut client), ANSWER);
    }

    #[test]
    fn client_whose_socket_is_full_goes_on_when_it_reads() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = PendingFlush::on(&display.handle());
        let known = crate::guard::all(&display.handle())[0].0.clone();
        ask(&mut display, &mut unsent, &mut client, 1_000);
        // The socket is full now.
        let mut asked = 1_000;
        while !unsent.write(&known) && asked < 100_000 {
            ask(&mut display, &mut unsent, &mut client, 1);
            asked += 1;
        }
        assert!(asked < 100_000);
        let mut all = 0;
        for _ in 0..1_000 {
            all += received(&mut client);
            unsent.flush_gathered();
        }
        assert_eq!((all, unsent.has_gathered()), (asked * ANSWER, false));
    }

    #[test]
    fn client_gets_a_protocol_error_that_follows_no_request() {
        let display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = PendingFlush::on(&display.handle());
        let known = crate::guard::all(&display.handle())[0].0.clone();
        let object = crate::guard::client_errors::display_of(&display.handle(), &known.id()).unwrap();
        display.handle().backend_handle().post_error(object, 2, std::ffi::CString::new("its own fault").unwrap());
        unsent.flush();
        assert!(received(&mut client) > 0, "the client got no event");
    }

    #[test]
    fn flush_ignores_clients_that_are_gone() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = PendingFlush::on(&display.handle());
        sync(&mut client);
        display.dispatch_clients(&mut ()).unwrap();
        drop(client);
        assert_eq!(unsent.flush(), 1);
        display.dispatch_clients(&mut ()).unwrap();
        assert_eq!(unsent.flush(), 0);
    }
}
