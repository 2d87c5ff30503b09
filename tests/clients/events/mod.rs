//! The event stream of the private socket: a follower's picture of the session agrees with the answers to requests.

mod actions;
mod disabled_outputs;
mod random_walk;
mod slow_followers;

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use upbeat::session::private_socket;
use upbeat_record::ipc::message::event::{EventLine, OutputState, SessionSnapshot, WindowState};
use upbeat_record::ipc::message::{OutputInfo, Request, RequestLine, RequestResult, Response, ResponseLine};
use upbeat_timing::id::WindowId;
use upbeat_timing::time::Span;

use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

/// A connection to the private socket.
struct SocketConnection {
    stream: UnixStream,
    bytes: Vec<u8>,
    lines: VecDeque<String>,
}

impl SocketConnection {
    fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_nonblocking(true).unwrap();
        SocketConnection { stream, bytes: Vec::new(), lines: VecDeque::new() }
    }

    fn send(&mut self, request: Request) {
        let line = serde_json::to_string(&RequestLine::new(request)).unwrap();
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Reads all available bytes and splits them into lines.
    fn read(&mut self) {
        let mut chunk = [0; 65_536];
        while let Ok(count @ 1..) = self.stream.read(&mut chunk) {
            self.bytes.extend_from_slice(&chunk[..count]);
        }
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            self.lines.push_back(String::from_utf8(line).unwrap());
        }
    }

    /// Sends a request and runs the session until the answer arrives.
    #[track_caller]
    fn request(&mut self, world: &mut TestWorld, request: Request) -> Result<Response, String> {
        self.send(request);
        for _ in 0..1_000 {
            self.read();
            if let Some(line) = self.lines.pop_front() {
                return match serde_json::from_str::<ResponseLine>(&line).unwrap().result {
                    RequestResult::Ok(response) => Ok(response),
                    RequestResult::Error(sentence) => Err(sentence),
                };
            }
            world.turn();
        }
        panic!("no answer");
    }
}

/// The state of an output as events have it.
fn output_state(output: OutputInfo) -> OutputState {
    let OutputInfo { name, mode, geometry, scale, transform, on, .. } = output;
    OutputState { name, mode, geometry, scale, transform, on }
}

/// A session with a connection that sends requests and a connection that only follows events.
struct EventStreamSession {
    world: TestWorld,
    asker: SocketConnection,
    listener: SocketConnection,
    known: SessionSnapshot,
    windows: Vec<(ClientIndex, TestToplevel)>,
    bars: Vec<ClientIndex>,
    random: StdRng,
    folder: tempfile::TempDir,
}

impl EventStreamSession {
    fn new(seed: u64) -> Self {
        println!("seed {seed}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut world = TestWorld::simulated(&[60_000]);
        private_socket::listen(&mut world.state, &path).unwrap();
        let (asker, mut listener) = (SocketConnection::connect(&path), SocketConnection::connect(&path));
        listener.send(Request::Events);
        world.turn();
        let known = SessionSnapshot::default();
        let random = StdRng::seed_from_u64(seed);
        EventStreamSession { world, asker, listener, known, windows: Vec::new(), bars: Vec::new(), random, folder }
    }

    fn ask(&mut self, request: Request) -> Result<Response, String> {
        self.asker.request(&mut self.world, request)
    }

    /// Applies the events that arrived since the last call.
    fn apply_events(&mut self) {
        self.listener.read();
        for line in self.listener.lines.drain(..) {
            if let Ok(news) = serde_json::from_str::<EventLine>(&line) {
                self.known.apply(news.event);
            } else {
                assert!(line.contains("\"done\""), "{line}");
            }
        }
    }

    /// Requests the whole state on the connection of the events, where each answer comes after all events that lead to
    /// the answered state, and compares it with the state known from these events.
    #[track_caller]
    fn assert_agrees(&mut self, after: &str) {
        let requests = [Request::Windows, Request::Workspaces, Request::Layers, Request::Keyboard, Request::Outputs];
        let mut missing = requests.len();
        requests.into_iter().for_each(|request| self.listener.send(request));
        for _ in 0..1_000 {
            self.listener.read();
            while let Some(line) = self.listener.lines.pop_front() {
                if let Ok(news) = serde_json::from_str::<EventLine>(&line) {
                    self.known.apply(news.event);
                } else if !line.contains("\"done\"") {
                    missing -= 1;
                    self.assert_is_known(&line, after);
                }
            }
            if missing == 0 {
                return;
            }
            self.world.turn();
        }
        panic!("no answer");
    }

    /// Compares an answer with the state known from events.
    #[track_caller]
    fn assert_is_known(&self, answer: &str, after: &str) {
        let known = &self.known;
        match serde_json::from_str::<ResponseLine>(answer).unwrap().result {
            RequestResult::Ok(Response::Windows { windows }) => {
                let windows: Vec<WindowState> = windows.into_iter().map(Into::into).collect();
                assert_eq!(known.windows, windows, "after {after}");
            }
            RequestResult::Ok(Response::Workspaces { workspaces }) => {
                assert_eq!(known.workspaces, workspaces, "after {after}");
            }
            RequestResult::Ok(Response::Layers { layers }) => assert_eq!(known.layers, layers, "after {after}"),
            RequestResult::Ok(Response::Keyboard { keyboard }) => {
                assert_eq!(known.keyboard, keyboard, "after {after}");
            }
            RequestResult::Ok(Response::Outputs { outputs, .. }) => {
                let by_name = |outputs: Vec<OutputState>| -> BTreeMap<String, OutputState> {
                    outputs.into_iter().map(|output| (output.name.clone(), output)).collect()
                };
                let outputs = outputs.into_iter().map(output_state).collect();
                assert_eq!(by_name(known.outputs.clone()), by_name(outputs), "after {after}");
            }
            other => panic!("{other:?}"),
        }
    }

    fn any_window(&mut self) -> Option<WindowId> {
        self.known.windows.choose(&mut self.random).map(|window| window.window)
    }
}

#[test]
fn picked_window_is_returned_and_the_press_reaches_no_client() {
    let mut scene = EventStreamSession::new(2);
    let (client, _window) = scene.world.open("it", 100, 100);
    scene.world.run_for(Span::from_millis(100), &mut nothing);
    let (rect, id) = {
        let window = scene.world.window("it");
        (window.rect(), window.id)
    };
    scene.asker.send(Request::PickWindow);
    scene.world.turn();
    scene.world.client(client).take_events();
    scene.world.click(f64::from(rect.loc.x + 10), f64::from(rect.loc.y + 10));
    let heard = scene.world.client(client).take_events();
    assert!(!heard.iter().any(|event| format!("{event:?}").contains("Button")), "{heard:?}");
    let picked = scene.asker.request(&mut scene.world, Request::PickWindow);
    assert_eq!(picked, Ok(Response::Picked { window: Some(id) }));
    // The second request is still pending: Escape cancels it.
    let soon = Span::from_millis(50);
    scene.world.run_for(soon, &mut nothing);
    scene.world.key(1, true);
    scene.world.key(1, false);
    scene.world.run_for(soon, &mut nothing);
    scene.asker.read();
    assert!(scene.asker.lines.pop_front().unwrap().contains("\"window\":null"));
    // A pick ends with the connection that requested it.
    scene.asker.send(Request::PickWindow);
    scene.world.run_for(soon, &mut nothing);
    scene.asker.stream.shutdown(std::net::Shutdown::Both).unwrap();
    scene.world.run_for(soon, &mut nothing);
    scene.world.click(f64::from(rect.loc.x + 10), f64::from(rect.loc.y + 10));
    let heard = scene.world.client(client).take_events();
    assert!(heard.iter().any(|event| format!("{event:?}").contains("Button")), "{heard:?}");
}
