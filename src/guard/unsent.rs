//! Who was told something since clients were last written to: only their connections are looked at.
//! And whether anybody has said something since clients were last read.
//!
//! libwayland writes to everybody by asking each connection whether there is anything, several times a refresh. It says
//! of each message that there is one; what is kept of that is whose it is.

#![expect(unsafe_code, reason = "libwayland calls back for each message")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smithay::reexports::wayland_server::{Client, DisplayHandle};
use wayland_sys::server::wl_display;
use wayland_sys::{ffi_dispatch, server::*};

use super::objects;
use super::requests::{Log, Message, wl_display_add_protocol_logger, wl_protocol_logger_destroy};

/// So many may be told something in one turn without memory being taken for their names.
const KEPT_ROOM: usize = 64;

/// `WL_PROTOCOL_LOGGER_EVENT`.
const EVENT: c_int = 1;

/// What libwayland was heard to say.
#[derive(Debug, Default)]
struct Heard {
    /// Clients that were told something, each once.
    told: Mutex<Vec<Client>>,
    /// Some client has asked for something.
    asked: AtomicBool,
}

impl Heard {
    fn told(&self) -> MutexGuard<'_, Vec<Client>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Knows to whom something is still to be written.
#[derive(Debug)]
pub struct Unsent {
    heard: Arc<Heard>,
    logger: *mut c_void,
    /// Room for those who were told, for the next time.
    room: Vec<Client>,
    /// Keeps the display that calls back.
    display: DisplayHandle,
}

impl Unsent {
    /// From now on. What was said before is written with the first [`flush`](Self::flush).
    pub fn on(display: &DisplayHandle) -> Self {
        let heard = Arc::new(Heard::default());
        let pointer: *mut wl_display = display.backend_handle().display_ptr();
        let log: Log = log;
        // SAFETY: the display lives as long as its handle, and what is pointed to as long as the logger, both of which `self`
        // keeps.
        let logger = unsafe { wl_display_add_protocol_logger(pointer, log, Arc::as_ptr(&heard).cast_mut().cast()) };
        let mut display = display.clone();
        let _ = display.flush_clients();
        Unsent { heard, logger, room: Vec::new(), display }
    }

    /// Whether some client has asked for something since the last call, or something has ended.
    pub fn take_asked(&self) -> bool {
        let (asked, ended) = (self.heard.asked.swap(false, Ordering::Relaxed), objects::take_ended());
        // Where libwayland had no memory for it nothing is ever heard.
        asked || ended || self.logger.is_null()
    }

    /// Writes to everybody who was told something since the last time, and says how many these were. Where somebody does not
    /// take it, libwayland is left to look after all, as it then does by itself until it is taken.
    pub fn flush(&mut self) -> usize {
        let mut told = std::mem::take(&mut self.room);
        std::mem::swap(&mut told, &mut *self.heard.told());
        let mut handle = self.display.backend_handle();
        let mut is_stuck = self.logger.is_null();
        for client in &told {
            if let Some(account) = super::account(client) {
                account.unsent.store(false, Ordering::Relaxed);
            }
            // SAFETY: this thread's own number; libwayland does not say otherwise that a connection takes nothing now.
            unsafe { *libc::__errno_location() = 0 };
            let _ = handle.flush(Some(client.id()));
            // SAFETY: as above.
            is_stuck |= unsafe { *libc::__errno_location() } != 0;
            // One who was told of an error of his is as good as gone to the library, which passes over him when he is named.
            is_stuck |= handle.get_client_data(client.id()).is_err();
        }
        if is_stuck && let Err(error) = self.display.flush_clients() {
            tracing::debug!(%error, "a client could not be written to");
        }
        let count = told.len();
        // A crowd that was told something once is not kept room for.
        if count <= KEPT_ROOM {
            told.clear();
            self.room = told;
        }
        count
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        if !self.logger.is_null() {
            // SAFETY: it was made by `on` and is used by nobody else; the display is still there.
            unsafe { wl_protocol_logger_destroy(self.logger) };
        }
    }
}

unsafe extern "C" fn log(heard: *mut c_void, direction: c_int, message: *const Message) {
    // SAFETY: it is what `on` gave, and lives longer than the logger.
    let heard = unsafe { &*heard.cast::<Heard>() };
    if direction != EVENT {
        heard.asked.store(true, Ordering::Relaxed);
        return;
    }
    // SAFETY: libwayland says something of an object that lives, whose client is connected.
    unsafe {
        let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, (*message).object);
        let Some((client, account)) = objects::known(client) else { return };
        if !account.unsent.swap(true, Ordering::Relaxed) {
            heard.told().push(client.clone());
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

    /// `wl_display.sync`.
    const SYNC: [u32; 3] = [1, 12 << 16, 2];
    /// What is answered: the callback's event, and that it ended.
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

    fn heard(client: &mut UnixStream) -> usize {
        let mut bytes = [0; 65_536];
        client.read(&mut bytes).unwrap_or(0)
    }

    /// How many bytes wait to be read.
    fn readable(client: &UnixStream) -> usize {
        let mut bytes: c_int = 0;
        // SAFETY: the kernel writes one number where `bytes` is.
        unsafe { libc::ioctl(client.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
        bytes as usize
    }

    #[test]
    fn only_those_who_were_told_something_are_written_to() {
        let mut display = Display::<()>::new().unwrap();
        let mut clients: Vec<_> = (0..1_000).map(|_| connect(&display)).collect();
        let mut unsent = Unsent::on(&display.handle());
        unsent.flush();
        assert_eq!(unsent.flush(), 0);
        sync(&mut clients[500]);
        display.dispatch_clients(&mut ()).unwrap();
        assert_eq!(unsent.flush(), 1, "beside 999 who were told nothing");
        assert_eq!(heard(&mut clients[500]), ANSWER);
        assert_eq!(unsent.flush(), 0);
    }

    #[test]
    fn what_is_asked_is_heard_of_and_the_end_of_a_client_too_and_nothing_else() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = Unsent::on(&display.handle());
        unsent.take_asked();
        let mut asked = |display: &mut Display<()>| {
            display.dispatch_clients(&mut ()).unwrap();
            unsent.flush();
            unsent.take_asked()
        };
        assert!(!asked(&mut display));
        sync(&mut client);
        assert!(asked(&mut display), "a request");
        assert!(!asked(&mut display), "once");
        drop(client);
        assert!(asked(&mut display), "he is gone");
        assert!(!asked(&mut display));
    }

    #[test]
    fn one_who_is_ended_when_nobody_is_read_is_heard_of_with_the_next_reading() {
        let mut display = Display::<()>::new().unwrap();
        let _client = connect(&display);
        let unsent = Unsent::on(&display.handle());
        display.dispatch_clients(&mut ()).unwrap();
        unsent.take_asked();
        let known = crate::guard::all(&display.handle())[0].0.id();
        let reason = smithay::reexports::wayland_server::backend::DisconnectReason::ConnectionClosed;
        display.handle().backend_handle().kill_client(known, reason);
        display.dispatch_clients(&mut ()).unwrap();
        assert!(unsent.take_asked());
    }

    #[test]
    fn one_who_does_not_read_is_written_to_when_he_does() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = Unsent::on(&display.handle());
        let mut asked = 0;
        // Until the socket takes no more, and some is left over.
        while readable(&client) == asked * ANSWER && asked < 100_000 {
            sync(&mut client);
            asked += 1;
            display.dispatch_clients(&mut ()).unwrap();
            unsent.flush();
        }
        assert!(asked < 100_000);
        let mut all = 0;
        for _ in 0..1_000 {
            all += heard(&mut client);
            // Nobody is told anything new: libwayland goes on by itself.
            display.dispatch_clients(&mut ()).unwrap();
        }
        assert_eq!(all, asked * ANSWER);
    }

    #[test]
    fn one_who_is_told_of_an_error_when_nobody_asked_hears_it() {
        let display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = Unsent::on(&display.handle());
        let known = crate::guard::all(&display.handle())[0].0.clone();
        let object = crate::guard::offence::display_of(&display.handle(), &known.id()).unwrap();
        display.handle().backend_handle().post_error(object, 2, std::ffi::CString::new("his own doing").unwrap());
        unsent.flush();
        assert!(heard(&mut client) > 0, "he was never told");
    }

    #[test]
    fn one_who_is_gone_is_no_matter() {
        let mut display = Display::<()>::new().unwrap();
        let mut client = connect(&display);
        let mut unsent = Unsent::on(&display.handle());
        sync(&mut client);
        display.dispatch_clients(&mut ()).unwrap();
        drop(client);
        assert_eq!(unsent.flush(), 1);
        display.dispatch_clients(&mut ()).unwrap();
        assert_eq!(unsent.flush(), 0);
    }
}
