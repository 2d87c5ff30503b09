//! The server of the private socket. One descriptor for the event loop (an epoll that contains all others), no thread,
//! and it never blocks.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use super::RequestOutcome;
use super::connection::{ConnectionError, IpcConnection};
use crate::descriptors::Acceptor;
use upbeat_record::ipc::message::event::{Event, EventLine};
use upbeat_record::ipc::message::{Request, RequestLine, Response, ResponseLine, VERSION};

/// How many clients may be connected at once. A further client replaces the idle client whose last request is oldest.
/// It must wait while no client is idle.
const MOST_CLIENTS: usize = 32;

/// How many clients may follow events at once.
const MOST_FOLLOWERS: usize = 16;

/// How many requests of one client are handled in a turn: the rest waits for the next.
const REQUESTS_A_TURN: usize = 8;

/// The last message to a client that follows events and does not read them.
const FAREWELL: &str = "more than 1 MiB of events were not read: follow them again to get the current state";

/// Backlog of the listening socket; the standard library's value.
const BACKLOG: i32 = 128;

/// How many ready descriptors are handled in a turn.
const EVENTS_A_TURN: usize = 16;

const LISTENER: u64 = 0;
const COMPLETIONS: u64 = 1;
const FIRST_CLIENT: u64 = 2;

/// The private socket could not be created.
#[derive(Debug, thiserror::Error)]
#[error("the private socket {}: {source}", path.display())]
pub struct IpcServerError {
    path: PathBuf,
    source: io::Error,
}

/// Handles the requests; the session implements it.
pub trait Respond {
    /// Handles a request. Must not block: a long task goes to another thread together with
    /// [`ticket.completion()`](Ticket::completion), which sends the answer, and [`RequestOutcome::Pending`] is
    /// returned.
    fn respond(&mut self, request: Request, ticket: &Ticket<'_>) -> RequestOutcome;

    /// Events since the last call, or since a request returned [`RequestOutcome::Follow`]. Only called while a client
    /// follows events.
    fn take_events(&mut self) -> Vec<Event>;
}

/// A request that is being handled.
#[derive(Debug)]
pub struct Ticket<'a> {
    client: u64,
    life: &'a Weak<()>,
    shared: &'a Arc<CompletionQueue>,
}

impl Ticket<'_> {
    /// Sends the answer later. Only to be taken when [`RequestOutcome::Pending`] is returned.
    pub fn completion(&self) -> Completion {
        Completion { client: self.client, life: self.life.clone(), shared: Some(Arc::clone(self.shared)) }
    }
}

/// Sends the answer to one request, from any thread. Dropped without an answer, it sends an error.
#[derive(Debug)]
pub struct Completion {
    client: u64,
    /// Can be upgraded while the client is connected.
    life: Weak<()>,
    shared: Option<Arc<CompletionQueue>>,
}

#[derive(Debug)]
struct CompletionQueue {
    answers: Mutex<Vec<(u64, Result<Response, String>)>>,
    wake: OwnedFd,
}

impl Completion {
    /// Whether the client is still connected.
    pub fn is_awaited(&self) -> bool {
        self.life.strong_count() > 0
    }

    pub fn finish(mut self, result: Result<Response, String>) {
        self.send(result);
    }

    fn send(&mut self, result: Result<Response, String>) {
        if let Some(shared) = self.shared.take() {
            shared.answers.lock().unwrap_or_else(PoisonError::into_inner).push((self.client, result));
            // This fails only when the counter is full, and then the server was woken already.
            let _ = rustix::io::write(&shared.wake, &1_u64.to_ne_bytes());
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.send(Err("the request was dropped without an answer".to_owned()));
    }
}

/// The private socket and its connections. Dropping it removes the socket.
#[derive(Debug)]
pub struct IpcServer {
    path: PathBuf,
    epoll: OwnedFd,
    listener: UnixListener,
    completions: Arc<CompletionQueue>,
    clients: BTreeMap<u64, IpcConnection>,
    next_client: u64,
    /// Number of requests so far: it serves as a clock that tells which client has been silent for longest.
    requests: u64,
    acceptor: Acceptor,
}

/// A socket at `path` that only its owner can ever open, because it gets its mode before its name.
fn private_listener(path: &Path) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(UnixListener::from(socket))
}

/// Whether the client runs as our user or as root.
fn is_of_our_user(stream: &UnixStream) -> bool {
    sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid.is_root() || peer.uid == rustix::process::geteuid())
}

impl IpcServer {
    /// Makes the socket at `path`, for its owner only. The socket of a dead session is replaced. It cannot be that of a
    /// living session, because the caller holds the lock of the Wayland socket beside it.
    pub fn listen(path: &Path) -> Result<Self, IpcServerError> {
        Self::try_listen(path).map_err(|source| IpcServerError { path: path.to_owned(), source })
    }

    fn try_listen(path: &Path) -> io::Result<Self> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = private_listener(path)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let completions = Arc::new(CompletionQueue { answers: Mutex::new(Vec::new()), wake });
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &completions.wake, EventData::new_u64(COMPLETIONS), EventFlags::IN)?;
        let clients = BTreeMap::new();
        Ok(IpcServer {
            path: path.to_owned(),
            epoll,
            listener,
            completions,
            clients,
            next_client: FIRST_CLIENT,
            requests: 0,
            acceptor: Acceptor::new(),
        })
    }

    /// Handles what has arrived, within the limits of one turn. To be called when the descriptor is readable; it stays
    /// readable while something is left to do.
    pub fn dispatch(&mut self, answers: &mut impl Respond) {
        let mut events = Vec::with_capacity(EVENTS_A_TURN);
        if epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&Timespec::default())).is_err() {
            return;
        }
        for event in events {
            match event.data.u64() {
                LISTENER => self.accept(),
                COMPLETIONS => self.complete(answers),
                client => self.serve(client, answers, event.flags),
            }
        }
    }

    fn accept(&mut self) {
        for _ in 0..EVENTS_A_TURN {
            if !self.has_room() {
                break;
            }
            let listener = &self.listener;
            let accept = || listener.accept().map(|(stream, _)| Some(stream));
            let Some(stream) = self.acceptor.accept_next(accept) else { break };
            if !is_of_our_user(&stream) {
                tracing::warn!("private socket: the connection of another user was refused");
                continue;
            }
            if let Err(error) = self.insert(stream) {
                tracing::warn!("private socket: {error}");
                break;
            }
        }
        self.watch_listener();
    }

    fn insert(&mut self, stream: UnixStream) -> io::Result<()> {
        let connection = IpcConnection::new(stream)?;
        if let Some(idle) = self.idle().filter(|_| self.clients.len() >= MOST_CLIENTS)
            && let Some(idle) = self.clients.remove(&idle)
        {
            let _ = epoll::delete(&self.epoll, idle.stream());
        }
        epoll::add(&self.epoll, connection.stream(), EventData::new_u64(self.next_client), EventFlags::IN)?;
        self.clients.insert(self.next_client, connection);
        self.next_client += 1;
        Ok(())
    }

    /// Whether one more client may connect.
    fn has_room(&self) -> bool {
        self.clients.len() < MOST_CLIENTS || self.idle().is_some()
    }

    /// The idle client whose last request is oldest.
    fn idle(&self) -> Option<u64> {
        let idle = self.clients.iter().filter(|(_, connection)| connection.is_idle());
        idle.min_by_key(|(number, connection)| (connection.last_request, **number)).map(|(number, _)| *number)
    }

    /// Watches the listening socket only while there is room: a client that is not accepted would keep it readable for
    /// ever.
    fn watch_listener(&self) {
        let flags = if self.has_room() { EventFlags::IN } else { EventFlags::empty() };
        let _ = epoll::modify(&self.epoll, &self.listener, EventData::new_u64(LISTENER), flags);
    }

    fn complete(&mut self, answers: &mut impl Respond) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.completions.wake, &mut count);
        let completed = std::mem::take(&mut *self.completions.answers.lock().unwrap_or_else(PoisonError::into_inner));
        for (client, result) in completed {
            let Some(connection) = self.clients.get_mut(&client).filter(|connection| connection.waiting) else {
                continue;
            };
            connection.waiting = false;
            let answered = connection.answer(line(result));
            if self.finish_or_wait(client, answered) {
                self.serve(client, answers, EventFlags::empty());
            }
        }
    }

    /// Whether any client follows events.
    pub fn is_followed(&self) -> bool {
        self.clients.values().any(|connection| connection.follows)
    }

    /// Sends new events to the clients that follow them. To be called at the end of a turn.
    pub fn send_events(&mut self, answers: &mut impl Respond) {
        if !self.is_followed() {
            return;
        }
        for event in answers.take_events() {
            let line = serde_json::to_vec(&EventLine::new(event)).unwrap_or_default();
            let followers = self.clients.iter().filter(|(_, connection)| connection.follows);
            let followers: Vec<u64> = followers.map(|(number, _)| *number).collect();
            followers.into_iter().for_each(|follower| self.send_event_to(follower, &line));
        }
    }

    fn send_event_to(&mut self, client: u64, event: &[u8]) {
        let Some(connection) = self.clients.get_mut(&client) else { return };
        let sent = connection.send_event(event, &line(Err(FAREWELL.to_owned())));
        self.finish_or_wait(client, sent);
    }

    /// Reads, handles and answers requests of one client. `ready`: its epoll events.
    fn serve(&mut self, client: u64, answers: &mut impl Respond, ready: EventFlags) {
        let Some(connection) = self.clients.get_mut(&client) else { return };
        if connection.has_request() {
            self.requests += 1;
            connection.last_request = self.requests;
        }
        let mut result = exchange(connection, ready);
        for _ in 0..REQUESTS_A_TURN {
            if result.is_err() {
                break;
            }
            let Some(request) = self.clients.get_mut(&client).and_then(IpcConnection::next_line) else { break };
            result = self.handle_request(client, &request, answers);
        }
        self.finish_or_wait(client, result);
    }

    /// Handles one request. Clients that follow events first get all events that its answer may show.
    fn handle_request(
        &mut self,
        client: u64,
        request: &[u8],
        answers: &mut impl Respond,
    ) -> Result<(), ConnectionError> {
        self.send_events(answers);
        let followers = self.clients.values().filter(|connection| connection.follows).count();
        let Some(life) = self.clients.get(&client).map(IpcConnection::life) else { return Ok(()) };
        let outcome = match parse(request) {
            Ok(Request::Events) if followers >= MOST_FOLLOWERS => {
                RequestOutcome::refused(format!("{MOST_FOLLOWERS} programs follow events already"))
            }
            Ok(request) => answers.respond(request, &Ticket { client, life: &life, shared: &self.completions }),
            Err(sentence) => RequestOutcome::refused(sentence),
        };
        // The client may have been disconnected meanwhile.
        let Some(connection) = self.clients.get_mut(&client) else { return Ok(()) };
        match outcome {
            RequestOutcome::Answer(result) => connection.answer(line(result))?,
            RequestOutcome::Pending => connection.waiting = true,
            RequestOutcome::Follow(first) => {
                connection.follows = true;
                connection.answer(line(Ok(Response::Done)))?;
                connection.answer(serde_json::to_vec(&EventLine::new(first)).unwrap_or_default())?;
            }
        }
        Ok(())
    }

    /// Disconnects a client that is gone or has failed; otherwise sets the epoll events to wait for. Returns whether
    /// the client is still connected.
    fn finish_or_wait(&mut self, client: u64, result: Result<(), ConnectionError>) -> bool {
        let Some(connection) = self.clients.get_mut(&client) else { return false };
        if let Err(ConnectionError::TooLong) = result {
            // Best effort, because the client is disconnected whether or not it reads this.
            let _ = connection.answer(line(Err(ConnectionError::TooLong.to_string())));
        }
        if result.is_err() || connection.is_finished() {
            let _ = epoll::delete(&self.epoll, connection.stream());
            self.clients.remove(&client);
            self.watch_listener();
            return false;
        }
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, connection.may_read());
        flags.set(EventFlags::OUT, connection.has_output() || connection.has_request());
        let is_there = epoll::modify(&self.epoll, connection.stream(), EventData::new_u64(client), flags).is_ok();
        if self.clients.len() >= MOST_CLIENTS {
            // The client may be idle now and so make room for a new client.
            self.watch_listener();
        }
        is_there
    }
}

impl AsFd for IpcServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Drop for IpcServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Sends the unsent bytes, then reads if the client may send more.
fn exchange(connection: &mut IpcConnection, ready: EventFlags) -> Result<(), ConnectionError> {
    let hung_up = ready.intersects(EventFlags::HUP | EventFlags::ERR);
    if hung_up && !connection.may_read() && !connection.has_request() {
        // The client has hung up and cannot read the answer.
        return Err(ConnectionError::Io(io::ErrorKind::BrokenPipe.into()));
    }
    connection.write()?;
    if connection.may_read() && (hung_up || ready.contains(EventFlags::IN)) {
        connection.read()?;
    }
    Ok(())
}

fn parse(request: &[u8]) -> Result<Request, String> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        version: u32,
    }
    let bad = |error: serde_json::Error| format!("not a request: {error}");
    let Versioned { version } = serde_json::from_slice(request).map_err(bad)?;
    if version != VERSION {
        return Err(format!("this session speaks version {VERSION} of the protocol, not version {version}"));
    }
    let question: RequestLine = serde_json::from_slice(request).map_err(bad)?;
    Ok(question.request)
}

fn line(result: Result<Response, String>) -> Vec<u8> {
    serde_json::to_vec(&ResponseLine::new(result)).unwrap_or_else(|error| {
        format!(r#"{{"version":{VERSION},"error":"the answer cannot be written: {error}"}}"#).into_bytes()
    })
}
