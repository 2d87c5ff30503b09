//! A session on a thread of its own, and the calls of WLCS into it.

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
use upbeat::config::{OutputMode, RefreshRate};
use upbeat::input::{self, InputEvent};
use upbeat::session::{self, ExitStatus, SessionOptions};
use upbeat::state::State;
use upbeat::{protocol, shell};

/// Work for the session's thread.
type WlcsJob = Box<dyn FnOnce(&mut State, &mut Clients) + Send>;

/// The clients of WLCS by the file descriptor of their end of the connection.
type Clients = HashMap<RawFd, Client>;

/// The refresh rate is the highest possible, because input hits the content on screen, and a WLCS test expects to hit
/// committed content after one round trip.
const MODE: OutputMode = OutputMode { width: 1280, height: 720, refresh: RefreshRate::Fixed(1_000_000) };

/// Time until committed content is on screen: some refreshes, on a machine with other work too.
const SETTLING: Duration = Duration::from_millis(20);

/// A running session. Dropping it ends the session and joins its thread.
pub struct WlcsServer {
    handle: WlcsServerHandle,
    thread: Option<JoinHandle<()>>,
}

/// Sends work to the session's thread.
#[derive(Clone)]
pub struct WlcsServerHandle(Sender<WlcsJob>);

impl WlcsServer {
    pub fn start() -> Self {
        let (sender, jobs) = channel::channel();
        let thread = thread::spawn(move || {
            let options = SessionOptions { outputs: vec![MODE], ..SessionOptions::default() };
            if let Err(error) = session::run_with(options, |handle, state| prepare(handle, state, jobs)) {
                // WLCS cannot be notified; the running test will fail for lack of a server.
                eprintln!("upbeat: {error:#}");
            }
        });
        WlcsServer { handle: WlcsServerHandle(sender), thread: Some(thread) }
    }

    pub fn handle(&self) -> &WlcsServerHandle {
        &self.handle
    }
}

impl Drop for WlcsServer {
    fn drop(&mut self) {
        self.handle.run(|state, _| state.session.end(ExitStatus::SUCCESS));
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            eprintln!("upbeat: the session panicked");
        }
    }
}

fn prepare(handle: &LoopHandle<'static, State>, state: &mut State, jobs: Channel<WlcsJob>) -> anyhow::Result<()> {
    state.shell.set_allow_unconfigured_content(true);
    state.input.set_focus_follows_updates(true);
    let mut clients = Clients::new();
    let run = move |event, (): &mut (), state: &mut State| {
        if let Event::Msg(job) = event {
            let job: WlcsJob = job;
            job(state, &mut clients);
        }
    };
    handle.insert_source(jobs, run).map_err(|error| anyhow!("no channel to WLCS: {error}"))?;
    Ok(())
}

impl WlcsServerHandle {
    /// Runs `job` on the session's thread and waits for it, so that the next step of a test comes after it. `None` if
    /// the session is gone.
    fn run<T: Send + 'static>(&self, job: impl FnOnce(&mut State, &mut Clients) -> T + Send + 'static) -> Option<T> {
        let (done, result) = mpsc::sync_channel(1);
        let job: WlcsJob = Box::new(move |state, clients| {
            let _ = done.send(job(state, clients));
        });
        self.0.send(job).ok()?;
        result.recv().ok()
    }

    /// Connects a client; returns the client's end of the socket.
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

    /// Moves the window with object id `surface` of the client with this descriptor.
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

    /// Sends input events, after everything that was committed before is on screen.
    pub fn input(&self, events: Vec<InputEvent>) {
        thread::sleep(SETTLING);
        self.run(move |state, _| events.into_iter().for_each(|event| input::handle(state, event)));
    }
}
