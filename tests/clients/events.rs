//! The event stream of the private socket: a follower's picture of the session agrees with the answers to requests.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use upbeat::session::private_socket;
use upbeat_record::ipc::message::event::{EventLine, SessionSnapshot, WindowState};
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::layouts::LayoutWish;
use upbeat_record::ipc::message::workspace::{WorkspaceNumber, WorkspaceOrder};
use upbeat_record::ipc::message::{Request, RequestLine, RequestResult, Response, ResponseLine};
use upbeat_timing::id::WindowId;
use upbeat_timing::time::Span;

use crate::fixture::simulated::{name, nothing};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

/// Number of random changes.
const STEPS: usize = 1_000;
/// At most this many windows are open at a time.
const MOST_WINDOWS: usize = 12;

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

/// A session with a connection that sends requests and a connection that only follows events.
struct EventStreamSession {
    world: TestWorld,
    asker: SocketConnection,
    listener: SocketConnection,
    known: SessionSnapshot,
    windows: Vec<(ClientIndex, TestToplevel)>,
    random: StdRng,
    _folder: tempfile::TempDir,
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
        EventStreamSession { world, asker, listener, known, windows: Vec::new(), random, _folder: folder }
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

    /// Requests the whole state and compares it with the state known from events.
    #[track_caller]
    fn assert_agrees(&mut self, after: &str) {
        let Ok(Response::Windows { windows }) = self.ask(Request::Windows) else { panic!() };
        self.apply_events();
        let windows: Vec<WindowState> = windows.into_iter().map(Into::into).collect();
        assert_eq!(self.known.windows, windows, "after {after}");
        let Ok(Response::Workspaces { workspaces }) = self.ask(Request::Workspaces) else { panic!() };
        let Ok(Response::Layers { layers }) = self.ask(Request::Layers) else { panic!() };
        let Ok(Response::Keyboard { keyboard }) = self.ask(Request::Keyboard) else { panic!() };
        let Ok(Response::Outputs { outputs }) = self.ask(Request::Outputs) else { panic!() };
        self.apply_events();
        assert_eq!(self.known.workspaces, workspaces, "after {after}");
        assert_eq!((&self.known.layers, &self.known.keyboard), (&layers, &keyboard), "after {after}");
        let mut told: Vec<_> =
            outputs.iter().map(|output| (output.name.as_str(), output.geometry, output.on)).collect();
        let mut known: Vec<_> =
            self.known.outputs.iter().map(|output| (output.name.as_str(), output.geometry, output.on)).collect();
        told.sort_by_key(|output| output.0);
        known.sort_by_key(|output| output.0);
        assert_eq!(known, told, "after {after}");
    }

    fn any_window(&mut self) -> Option<WindowId> {
        self.known.windows.choose(&mut self.random).map(|window| window.window)
    }

    /// Makes a random change and returns its description. A request that is not possible is refused.
    fn step(&mut self) -> String {
        let what = self.random.random_range(0..16);
        let window = self.any_window();
        let number = WorkspaceNumber::try_from(self.random.random_range(1..=9_u8)).unwrap();
        let output = name(self.random.random_range(0..2));
        let request = match (what, window) {
            (0 | 1, _) if self.windows.len() < MOST_WINDOWS => {
                let size = (self.random.random_range(20..300), self.random.random_range(20..200));
                let title = format!("window {}", self.random.random_range(0..100));
                self.windows.push(self.world.open(&title, size.0, size.1));
                return format!("opening {title}");
            }
            (2, _) if !self.windows.is_empty() => {
                let place = self.random.random_range(0..self.windows.len());
                let (client, _) = self.windows.swap_remove(place);
                self.world.kill(client);
                return "a client's end".to_owned();
            }
            (3, _) if !self.windows.is_empty() => {
                let place = self.random.random_range(0..self.windows.len());
                self.windows[place].1.toplevel.set_title(format!("title {}", self.random.random_range(0..5)));
                return "another title".to_owned();
            }
            (4 | 5, _) => {
                for (client, window) in &self.windows {
                    let client = self.world.client(*client);
                    if let Some((width, height)) = client.ack_newest_configure() {
                        client.commit_buffer(&window.surface, width.clamp(10, 400), height.clamp(10, 300));
                    }
                }
                return "answers".to_owned();
            }
            (6, _) if self.known.outputs.len() < 2 => {
                self.world.plug_in_at(&name(1), 60_000, (320, 0));
                return "a second output".to_owned();
            }
            (6, _) => {
                self.world.unplug(&name(1));
                return "the second output's end".to_owned();
            }
            (7, Some(window)) => Request::Focus { window },
            (8, window) => {
                Request::Workspace(WorkspaceOrder { output: None, number: Some(number), name: None, window })
            }
            (9, _) => Request::Workspace(WorkspaceOrder {
                output: Some(output),
                number: Some(number),
                name: None,
                window: None,
            }),
            (10, _) => Request::SetScale { output, scale: self.random.random_range(1..5_u8).into() },
            (11, _) => Request::SetPosition { output, x: self.random.random_range(0..500), y: 0 },
            (12, _) => Request::SetPower { output, on: self.random.random() },
            (13, _) => Request::SetLayout { layout: LayoutWish::Next },
            (14, _) => {
                let (x, y) = (self.random.random_range(0.0..640.0), self.random.random_range(0.0..180.0));
                let button = |pressed| InputEvent::Button { button: 272, pressed };
                Request::Input { events: vec![InputEvent::PointerMove { x, y }, button(true), button(false)] }
            }
            _ => {
                let actions = ["maximise", "fullscreen", "overview", "next-window", "next-workspace", "help"];
                let action = actions.choose(&mut self.random).copied().unwrap_or_default();
                Request::Act { action: action.to_owned() }
            }
        };
        let told = format!("{request:?}");
        let _ = self.ask(request);
        told
    }
}

#[test]
fn event_stream_always_agrees_with_requests() {
    let mut scene = EventStreamSession::new(1);
    scene.assert_agrees("nothing");
    for step in 0..STEPS {
        let what = scene.step();
        let time = Span::from_millis(scene.random.random_range(0..60));
        scene.world.run_for(time, &mut nothing);
        scene.assert_agrees(&format!("step {step}: {what}"));
    }
    assert!(!scene.known.windows.is_empty());
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
