//! The server and the client over a real socket, and clients that misbehave.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Completion, IpcServer, LONGEST_REQUEST, RequestOutcome, Respond, Ticket};
use upbeat_record::ipc::message::event::Event;
use upbeat_record::ipc::message::{Request, Response};
use upbeat_record::ipc::{IpcClient, IpcClientError};

/// Answers `outputs` with a long text, keeps the completions of screenshots, refuses other requests.
#[derive(Default)]
struct Answers {
    handled: usize,
    pictures: Option<mpsc::Sender<Completion>>,
    /// How many events happen with the next request.
    news: usize,
}

/// Length of an event in bytes.
const EVENT: usize = 10_000;

const WINDOWS: usize = 400_000;

impl Respond for Answers {
    fn respond(&mut self, request: Request, ticket: &Ticket<'_>) -> RequestOutcome {
        self.handled += 1;
        match request {
            Request::Reload => RequestOutcome::Answer(Ok(Response::Done)),
            Request::WhyLate { limit, .. } => {
                self.news = limit;
                RequestOutcome::Answer(Ok(Response::Done))
            }
            Request::Version => RequestOutcome::Answer(Ok(Response::Version {
                version: "v".repeat(WINDOWS),
                wayland_display: String::new(),
                backend: String::new(),
                renderer: String::new(),
                x11: String::new(),
            })),
            Request::Screenshot { .. } => {
                self.pictures.as_ref().unwrap().send(ticket.completion()).unwrap();
                RequestOutcome::Pending
            }
            Request::Events => RequestOutcome::Follow(Event::Configuration { mistake: None }),
            other => RequestOutcome::refused(format!("not here: {other:?}")),
        }
    }

    fn take_events(&mut self) -> Vec<Event> {
        let event = Event::Configuration { mistake: Some("x".repeat(EVENT)) };
        vec![event; std::mem::take(&mut self.news)]
    }
}

/// A server on a thread of its own, until it is dropped.
struct Running {
    path: PathBuf,
    _directory: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<(usize, usize)>>,
}

impl Running {
    fn start(answers: Answers) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("msg.sock");
        let mut server = IpcServer::listen(&path).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut answers, mut turns) = (answers, 0);
            while !stopped.load(Ordering::Relaxed) {
                let patience = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
                if poll(&mut [PollFd::new(&server, PollFlags::IN)], Some(&patience)).unwrap() > 0 {
                    server.dispatch(&mut answers);
                    turns += 1;
                }
            }
            (answers.handled, turns)
        });
        Running { path, _directory: directory, stop, thread: Some(thread) }
    }

    fn client(&self) -> IpcClient {
        IpcClient::connect(&self.path).unwrap()
    }

    /// Stops the server. Returns how many requests it handled, and in how many turns.
    fn stop(mut self) -> (usize, usize) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_request_is_met_and_a_refusal_says_why() {
    let running = Running::start(Answers::default());
    let mut client = running.client();
    assert_eq!(client.request(Request::Reload).unwrap(), Response::Done);
    let refusal = client.request(Request::Windows).unwrap_err();
    assert!(matches!(&refusal, IpcClientError::Refused(why) if why.contains("Windows")), "{refusal}");
    assert_eq!(client.request(Request::Reload).unwrap(), Response::Done);
}

#[test]
fn the_socket_is_for_its_owner_alone_and_goes_with_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("msg.sock");
    std::fs::write(&path, "left by a dead session").unwrap();
    let server = IpcServer::listen(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    drop(server);
    assert!(!path.exists());
}

#[test]
fn a_client_that_does_not_read_its_answers_holds_up_nobody() {
    let running = Running::start(Answers::default());
    let mut deaf = UnixStream::connect(&running.path).unwrap();
    deaf.set_nonblocking(true).unwrap();
    let ask = b"{\"version\":1,\"request\":{\"kind\":\"version\"}}\n".repeat(1_000);
    let mut asked = 0;
    while let Ok(count) = deaf.write(&ask) {
        asked += count / 44;
    }
    let mut other = running.client();
    for _ in 0..10 {
        assert_eq!(other.request(Request::Reload).unwrap(), Response::Done);
    }
    let (handled, _) = running.stop();
    assert!(asked > 100, "the flood was one: {asked}");
    assert!(handled < 10 + 5, "requests waited while answers were unread: {handled} requests handled");
}

#[test]
fn a_line_without_end_is_refused() {
    let running = Running::start(Answers::default());
    let mut stream = UnixStream::connect(&running.path).unwrap();
    // The server may hang up before all is written.
    let _ = stream.write_all(&vec![b'x'; 3 * LONGEST_REQUEST]);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.contains("a request of more than 65536 bytes"), "{answer}");
    assert_eq!(running.client().request(Request::Reload).unwrap(), Response::Done);
}

/// A request to reload that has `length` bytes with its newline.
fn request_of(length: usize) -> Vec<u8> {
    let (start, end) = (r#"{"version":1,"request":{"kind":"#, "\"reload\"}}\n");
    format!("{start}{}{end}", " ".repeat(length - start.len() - end.len())).into_bytes()
}

#[test]
fn longest_request_is_answered_and_a_longer_one_refused() {
    let running = Running::start(Answers::default());
    for (length, expected) in [(LONGEST_REQUEST, "done"), (LONGEST_REQUEST + 1, "a request of more than 65536 bytes")] {
        let mut stream = UnixStream::connect(&running.path).unwrap();
        stream.write_all(&request_of(length)).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(expected), "{length} bytes: {answer}");
    }
}

#[test]
fn half_line_that_grows_for_ever_ends_with_its_connection_and_delays_no_other_client() {
    let running = Running::start(Answers::default());
    let mut stream = UnixStream::connect(&running.path).unwrap();
    let mut other = running.client();
    let mut written = 0;
    // The write fails once the server has hung up.
    while stream.write_all(&[b'x'; 1_000]).is_ok() && written < 4 * LONGEST_REQUEST {
        written += 1_000;
        assert_eq!(other.request(Request::Reload).unwrap(), Response::Done);
    }
    assert!(written < 2 * LONGEST_REQUEST, "{written} bytes were taken");
}

#[test]
fn nonsense_is_answered_with_what_is_wrong_and_the_connection_lives() {
    let running = Running::start(Answers::default());
    let mut stream = UnixStream::connect(&running.path).unwrap();
    let mut say = |text: &str| {
        stream.write_all(text.as_bytes()).unwrap();
        let (mut answer, mut byte) = (String::new(), [0]);
        while stream.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            answer.push(char::from(byte[0]));
        }
        answer
    };
    assert!(say("hello\n").contains("not a request: expected value at line 1 column 1"));
    assert!(say("\n").contains("not a request"));
    assert!(say("{\"version\":1,\"request\":{\"kind\":\"dance\"}}\n").contains("unknown variant `dance`"));
    assert!(say("{\"version\":9,\"request\":{\"kind\":\"reload\"}}\n").contains("not version 9"));
    assert!(say("\u{0}\u{1}\u{fffd}\n").contains("not a request"));
    assert_eq!(say("{\"version\":1,\"request\":{\"kind\":\"reload\"}}\n"), r#"{"version":1,"ok":{"kind":"done"}}"#);
}

#[test]
fn a_late_answer_comes_from_another_thread_and_in_order() {
    let (pictures, completions) = mpsc::channel();
    let running = Running::start(Answers { pictures: Some(pictures), ..Default::default() });
    let photographer = thread::spawn(move || {
        completions.recv().unwrap().finish(Ok(Response::Done));
        drop(completions.recv().unwrap());
    });
    let mut client = running.client();
    let picture = Request::Screenshot { output: None, path: "/tmp/a.png".into() };
    assert_eq!(client.request(picture.clone()).unwrap(), Response::Done);
    assert!(client.request(picture).unwrap_err().to_string().contains("without an answer"));
    assert_eq!(client.request(Request::Reload).unwrap(), Response::Done);
    photographer.join().unwrap();
}

#[test]
fn whoever_hangs_up_is_forgotten_and_costs_nothing() {
    let (pictures, completions) = mpsc::channel();
    let running = Running::start(Answers { pictures: Some(pictures), ..Default::default() });
    for request in ["reload\"}}\n", "screenshot\",\"path\":\"/p\",\"output\":null}}\n", "rel"] {
        let mut stream = UnixStream::connect(&running.path).unwrap();
        stream.write_all(format!("{{\"version\":1,\"request\":{{\"kind\":\"{request}").as_bytes()).unwrap();
    }
    let abandoned = completions.recv().unwrap();
    thread::sleep(std::time::Duration::from_millis(30));
    abandoned.finish(Ok(Response::Done));
    assert_eq!(running.client().request(Request::Reload).unwrap(), Response::Done);
    let (handled, turns) = running.stop();
    assert_eq!(handled, 3);
    assert!(turns < 30, "a client that is gone does not keep the loop awake: {turns} turns");
}

#[test]
fn more_clients_than_there_is_room_for_wait_their_turn() {
    let running = Running::start(Answers::default());
    let mut clients: Vec<_> = (0..32).map(|_| running.client()).collect();
    for client in &mut clients {
        assert_eq!(client.request(Request::Reload).unwrap(), Response::Done);
    }
    let mut late = running.client();
    drop(clients);
    assert_eq!(late.request(Request::Reload).unwrap(), Response::Done);
}

#[test]
fn half_lines_lock_nobody_out() {
    let running = Running::start(Answers::default());
    let half: Vec<_> = (0..40)
        .map(|_| {
            let mut half = UnixStream::connect(&running.path).unwrap();
            half.write_all(b"{\"version\":").unwrap();
            half
        })
        .collect();
    assert_eq!(running.client().request(Request::Reload).unwrap(), Response::Done);
    drop(half);
}

#[test]
fn events_come_before_any_answer_that_shows_them() {
    let running = Running::start(Answers::default());
    let mut follower = running.client().subscribe().unwrap();
    assert_eq!(follower.next().unwrap().unwrap(), Event::Configuration { mistake: None });
    let mut other = running.client();
    let happen = |count| Request::WhyLate { target: None, limit: count };
    other.request(happen(2)).unwrap();
    other.request(Request::Reload).unwrap();
    for _ in 0..2 {
        assert!(matches!(follower.next().unwrap().unwrap(), Event::Configuration { mistake: Some(_) }));
    }
    // A client that has shut down its side still gets events, until it hangs up.
    let mut last = UnixStream::connect(&running.path).unwrap();
    last.write_all(b"{\"version\":1,\"request\":{\"kind\":\"events\"}}\n").unwrap();
    last.shutdown(std::net::Shutdown::Write).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(last));
    assert!(lines.next().unwrap().unwrap().contains("done") && lines.next().unwrap().unwrap().contains("event"));
    other.request(happen(1)).unwrap();
    other.request(Request::Reload).unwrap();
    assert!(lines.next().unwrap().unwrap().contains("xxx"));
}

#[test]
fn follower_that_does_not_read_is_disconnected_with_a_reason() {
    let running = Running::start(Answers::default());
    let mut deaf = running.client().subscribe().unwrap();
    let mut other = running.client();
    // More than the sockets and the server's buffer hold.
    for _ in 0..20 {
        other.request(Request::WhyLate { target: None, limit: 20 }).unwrap();
        other.request(Request::Reload).unwrap();
    }
    let received: Vec<_> = deaf.by_ref().collect();
    let (last, events) = received.split_last().unwrap();
    assert!(events.len() > 1 && events.len() < 390 && events.iter().all(Result::is_ok), "{} events", events.len());
    let refused = last.as_ref().unwrap_err().to_string();
    assert!(refused.contains("1 MiB of events were not read"), "{refused}");
    let mut late = running.client().subscribe().unwrap();
    assert_eq!(late.next().unwrap().unwrap(), Event::Configuration { mistake: None });
}

#[test]
fn number_of_followers_is_limited() {
    let running = Running::start(Answers::default());
    let followers: Vec<_> = (0..16).map(|_| running.client().subscribe().unwrap()).collect();
    let refused = running.client().subscribe().unwrap_err();
    assert!(refused.to_string().contains("16 programs follow"), "{refused}");
    // Clients that follow events do not count as idle, however many new clients connect.
    let mut others: Vec<_> = (0..40).map(|_| running.client()).collect();
    assert_eq!(others.last_mut().unwrap().request(Request::Reload).unwrap(), Response::Done);
    drop(followers);
}
