//! A session on a thread of its own, and what WLCS wants of it while it runs.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::anyhow;
use calloop::LoopHandle;
use calloop::channel::{self, Channel, Event, Sender};
use smithay::reexports::wayland_server::Client;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use upbeat::config::{OutputMode, Refresh};
use upbeat::input::{self, InputEvent};
use upbeat::session::{self, ExitStatus, SessionOptions};
use upbeat::state::State;
use upbeat::{protocol, shell};

/// Something to be done on the session's thread.
type Job = Box<dyn FnOnce(&mut State, &mut Clients) + Send>;

/// The clients of WLCS by the descriptor of their end of the connection.
type Clients = HashMap<RawFd, Client>;

/// The output refreshes as often as one can. What input hits is what is on screen, and a test that commits something
/// expects to hit it after a round trip.
const MODE: OutputMode = OutputMode { width: 1280, height: 720, refresh: Refresh::Fixed(1_000_000) };

/// How long what was committed may take to be on screen: some refreshes, on a machine that does other things too.
const SETTLING: Duration = Duration::from_millis(20);

/// A running session. Dropping it ends it and waits until it is gone.
pub struct Server {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// Where to send what is wanted.
#[derive(Clone)]
pub struct Handle(Sender<Job>);

impl Server {
    pub fn start() -> Self {
        let (sender, jobs) = channel::channel();
        let thread = thread::spawn(move || {
            let options = SessionOptions { outputs: vec![MODE], ..SessionOptions::default() };
            if let Err(error) = session::run_with(options, |handle, state| prepare(handle, state, jobs)) {
                // WLCS has no way to hear of it; the test that runs will fail for want of a server.
                eprintln!("upbeat: {error:#}");
            }
        });
        Server { handle: Handle(sender), thread: Some(thread) }
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.handle.run(|state, _| state.session.end(ExitStatus::SUCCESS));
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            eprintln!("upbeat: the session panicked");
        }
    }
}

fn prepare(handle: &LoopHandle<'static, State>, state: &mut State, jobs: Channel<Job>) -> anyhow::Result<()> {
    state.shell.set_allow_unconfigured_content(true);
    state.input.set_focus_follows_updates(true);
    let mut clients = Clients::new();
    let run = move |event, (): &mut (), state: &mut State| {
        if let Event::Msg(job) = event {
            let job: Job = job;
            job(state, &mut clients);
        }
    };
    handle.insert_source(jobs, run).map_err(|error| anyhow!("no channel to WLCS: {error}"))?;
    Ok(())
}

impl Handle {
    /// Has something done, and waits until it is: what a test does next comes after it. `None` if the session is gone.
    fn run<T: Send + 'static>(&self, job: impl FnOnce(&mut State, &mut Clients) -> T + Send + 'static) -> Option<T> {
        let (done, result) = mpsc::sync_channel(1);
        let job: Job = Box::new(move |state, clients| {
            let _ = done.send(job(state, clients));
        });
        self.0.send(job).ok()?;
        result.recv().ok()
    }

    /// Connects a client; returns its end.
    pub fn connect(&self) -> io::Result<OwnedFd> {
        let (ours, theirs) = UnixStream::pair()?;
        let descriptor = theirs.as_raw_fd();
        let connected = self.run(move |state, clients| {
            let client = protocol::client::connect(&mut state.display_handle, ours, &state.rules)?;
            clients.insert(descriptor, client);
            Ok(())
        });
        connected.unwrap_or_else(|| Err(io::Error::other("the session is gone")))?;
        Ok(theirs.into())
    }

    /// Moves the window of the surface that the client with the given descriptor knows by `surface`.
    pub fn position(&self, client: RawFd, surface: u32, place: (i32, i32)) {
        self.run(move |state, clients| {
            let client = clients.get(&client);
            let surface = client
                .and_then(|client| client.object_from_protocol_id::<WlSurface>(&state.display_handle, surface).ok());
            if let Some(surface) = surface {
                shell::set_location(state, &surface, place.into());
            }
        });
        thread::sleep(SETTLING);
    }

    /// Acts as an input device, on what is on screen when all that was committed before is.
    pub fn input(&self, events: Vec<InputEvent>) {
        thread::sleep(SETTLING);
        self.run(move |state, _| events.into_iter().for_each(|event| input::handle(state, event)));
    }
}
