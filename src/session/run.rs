//! A session's event loop: what it listens to, and the turn that follows.

use std::cell::RefCell;
use std::ffi::OsString;
use std::rc::Rc;

use anyhow::Context;
use calloop::channel::Sender;
use calloop::generic::Generic;
use calloop::{EventLoop, Interest, LoopHandle, LoopSignal, Mode, PostAction};
use smithay::reexports::wayland_server::Display;

use super::alarm::Alarm;
use super::child::Child;
use super::reading::{self, Reading};
use super::recording::Recordings;
use super::reload::{self, Reread};
use super::satellite::Satellite;
use super::signals::SignalWish;
use super::{BackendKind, ExitStatus, SessionOptions, renderer, socket};
use crate::backend::headless::HeadlessBackend;
use crate::config::ConfigFile;
use crate::descriptors::Door;
use crate::faults::{self, Fault};
use crate::guard::floor;
use crate::ipc;
use crate::state::State;
use crate::time::Clock;

/// What runs, besides the compositor itself.
#[derive(Default)]
pub struct Session {
    /// The virtual displays.
    pub headless: Option<Rc<RefCell<HeadlessBackend>>>,
    /// The windows in a parent compositor.
    pub(super) nested: super::nested::Nested,
    /// The displays and input devices of this machine.
    pub(super) drm: Option<super::drm::DrmSession>,
    pub(super) identity: Identity,
    /// Where X programs go.
    pub(super) satellite: Satellite,
    pub(super) config: ConfigFile,
    /// Where a configuration goes that was read again.
    pub(super) reread: Option<Sender<Reread>>,
    pub(super) recordings: Recordings,
    /// The number of the last virtual output: none is used twice.
    pub(super) last_output: u32,
    alarm: Option<Rc<RefCell<Alarm>>>,
    /// How clients are read.
    pub reading: Reading,
    signal: Option<LoopSignal>,
    exit: Option<ExitStatus>,
    /// What made it impossible to go on.
    failure: Option<anyhow::Error>,
}

/// What the session answers when it is asked who it is.
#[derive(Debug, Default)]
pub(super) struct Identity {
    /// The name of the Wayland socket.
    pub socket: String,
    /// Where `upbeat msg` asks.
    pub ipc_path: std::path::PathBuf,
    /// What X programs find us by, where they can.
    pub display: Option<String>,
    pub backend: BackendKind,
}

impl Identity {
    /// What whoever is started here finds the session by.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut environment = vec![
            ("WAYLAND_DISPLAY", OsString::from(&self.socket)),
            ("UPBEAT_SOCKET", self.ipc_path.clone().into_os_string()),
        ];
        environment.extend(self.display.iter().map(|display| ("DISPLAY", OsString::from(display))));
        environment
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("exit", &self.exit).finish_non_exhaustive()
    }
}

impl Session {
    /// The configuration in force.
    pub fn config(&self) -> &crate::config::Config {
        self.config.config()
    }

    /// Ends the session after this turn; the first status given counts.
    pub fn end(&mut self, status: ExitStatus) {
        self.exit.get_or_insert(status);
        if let Some(signal) = &self.signal {
            signal.stop();
        }
    }

    /// Ends the session after this turn because it cannot go on; [`run`] returns the error.
    pub fn fail(&mut self, error: impl Into<anyhow::Error>) {
        self.failure.get_or_insert(error.into());
        self.end(ExitStatus::default());
    }
}

/// Runs a session until its command ends, or until it is told to end, and says how the command ended.
pub fn run(options: SessionOptions) -> anyhow::Result<ExitStatus> {
    run_with(options, |_, _| Ok(()))
}

/// Like [`run`], with `prepare` called before the first turn: it can add event sources of its own, as the conformance
/// suite does to get hold of a session from outside.
pub fn run_with(
    options: SessionOptions,
    prepare: impl FnOnce(&LoopHandle<'static, State>, &mut State) -> anyhow::Result<()>,
) -> anyhow::Result<ExitStatus> {
    super::limits::raise();
    let backend = super::backend::choose(&options, |name| std::env::var_os(name))?;
    let mut event_loop: EventLoop<'static, State> = EventLoop::try_new().context("no event loop")?;
    let display: Display<State> = Display::new().context("no Wayland display")?;
    let mut state = State::new(display.handle(), event_loop.handle());
    // Before any thread is started.
    super::signals::insert(&event_loop.handle(), |wish, state: &mut State| match wish {
        SignalWish::End => state.session.end(ExitStatus::default()),
        SignalWish::Reload => reload::begin(state, None),
    })?;
    state.session.signal = Some(event_loop.get_signal());
    state.outputs.renderer = Some(renderer::start(options.renderer, backend)?);
    if let Some(path) = &options.frame_log {
        state.outputs.frame_log = Some(crate::trace::FrameLog::create(path)?);
    }
    state.session.recordings = Recordings::new(options.record, options.record_stream);
    configure(&mut state, options.config)?;

    let handle = event_loop.handle();
    reload::listen(&handle, &mut state)?;
    reading::listen(&handle, &mut state, display)?;
    listen_to_alarm(&handle, &mut state)?;
    super::backend::start(backend, &handle, &mut state, &options.outputs)?;
    renderer::offer_memory(&mut state, options.lend_device.as_deref())?;
    let runtime = socket::runtime_directory(std::env::var_os("XDG_RUNTIME_DIR"))?;
    let name = open_socket(&handle, &runtime, options.socket.as_deref())?;
    let ipc_path = socket::ipc_path(&runtime, &name);
    listen_to_messages(&handle, &ipc_path)?;
    tracing::info!(socket = name, "ready");
    let x11 = state.session.config().x11.satellite.clone();
    super::satellite::start(&handle, &mut state, &x11);
    let display = state.session.satellite.display();
    state.session.identity = Identity { socket: name.clone(), ipc_path, display, backend };
    if let Some(ready) = options.ready {
        socket::announce(ready, &name)?;
    }
    let environment = state.session.identity.environment();
    super::service::announce(&environment);
    let command = start_command(&handle, &options.command, &environment)?;
    prepare(&handle, &mut state)?;
    // The first frame needs no reason from outside.
    turn(&mut state);
    let ran = floor::catch(|| event_loop.run(None, &mut state, turn));
    let ran = ran.map_err(|panic| bug(&panic)).and_then(|ran| ran.context("the event loop failed"));
    if ran.is_err() {
        command.iter().for_each(|child| _ = child.borrow_mut().end());
    }
    ran?;
    let ended = state.session.exit.unwrap_or_default();
    let status = command.map_or(ended, |child| end_command(&child, ended));
    super::satellite::end(&mut state);
    state.session.recordings.finish();
    if let Some(log) = state.outputs.frame_log.take() {
        // An error was reported when it happened, by the log's own thread.
        let _ = log.finish();
    }
    state.session.failure.take().map_or(Ok(status), Err)
}

/// Reads the configuration and puts it in force. A file that is wrong keeps the session from starting.
fn configure(state: &mut State, named: Option<std::path::PathBuf>) -> anyhow::Result<()> {
    let default = crate::config::default_path(|name| std::env::var_os(name));
    state.session.config = ConfigFile::load(named, default)?;
    let config = state.session.config.config().clone();
    super::settings::apply(state, None, &config).map_err(anyhow::Error::msg)
}

/// A panic on the way. Nothing is done with the state after it but to give it back: consoles and displays with it.
fn bug(panic: &floor::Panic) -> anyhow::Error {
    tracing::error!("{}", panic.backtrace);
    anyhow::anyhow!("a bug ended the session, please report it: {panic}")
}

/// What follows every wake-up, in its one order.
fn turn(state: &mut State) {
    faults::stumble(Fault::Turn);
    faults::fall(Fault::Abort);
    let mut wake = super::turn::run(state);
    if reading::bury_objects(state) {
        wake = super::turn::run(state);
    }
    let resume = reading::read_on(state, wake);
    let wake = wake.into_iter().chain(resume).min();
    if let Some(alarm) = &state.session.alarm
        && let Err(error) = alarm.borrow_mut().arm(wake, || state.clock.now())
    {
        tracing::error!(%error, "the alarm cannot be set");
    }
    reading::write(state);
}

fn listen_to_alarm(handle: &LoopHandle<'static, State>, state: &mut State) -> anyhow::Result<()> {
    let alarm = Alarm::new().context("no timer")?;
    let descriptor = std::os::fd::AsFd::as_fd(&alarm).try_clone_to_owned()?;
    let alarm = Rc::new(RefCell::new(alarm));
    state.session.alarm = Some(alarm.clone());
    handle
        .insert_source(Generic::new(descriptor, Interest::READ, Mode::Level), move |_, _, state| {
            let late = alarm.borrow_mut().rang(state.clock.now());
            state.outputs.kernel.woke(late);
            Ok(PostAction::Continue)
        })
        .map_err(|error| anyhow::anyhow!("no timer: {error}"))?;
    Ok(())
}

fn open_socket(
    handle: &LoopHandle<'static, State>,
    runtime: &std::path::Path,
    wanted: Option<&str>,
) -> anyhow::Result<String> {
    let socket = socket::listen(runtime, wanted)?;
    let name = socket.socket_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut door = Door::new();
    handle
        .insert_source(Generic::new(socket, Interest::READ, Mode::Level), move |_, socket, state| {
            while let Some(stream) = door.next(|| socket.accept()) {
                if let Err(error) = crate::protocol::client::connect(&mut state.display_handle, stream, &state.rules) {
                    tracing::warn!(%error, "a client could not be let in");
                }
            }
            Ok(PostAction::Continue)
        })
        .map_err(|error| anyhow::anyhow!("the Wayland socket cannot be listened to: {error}"))?;
    Ok(name)
}

fn listen_to_messages(handle: &LoopHandle<'static, State>, path: &std::path::Path) -> anyhow::Result<()> {
    let server = ipc::Server::listen(path)?;
    let descriptor = std::os::fd::AsFd::as_fd(&server).try_clone_to_owned()?;
    let mut server = server;
    handle
        .insert_source(Generic::new(descriptor, Interest::READ, Mode::Level), move |_, _, state| {
            server.dispatch(state);
            Ok(PostAction::Continue)
        })
        .map_err(|error| anyhow::anyhow!("the private socket cannot be listened to: {error}"))?;
    Ok(())
}

fn start_command(
    handle: &LoopHandle<'static, State>,
    command: &[OsString],
    environment: &[(&str, OsString)],
) -> anyhow::Result<Option<Rc<RefCell<Child>>>> {
    if command.is_empty() {
        return Ok(None);
    }
    let child = Child::spawn(command, environment)?;
    let descriptor = std::os::fd::AsFd::as_fd(&child).try_clone_to_owned()?;
    let child = Rc::new(RefCell::new(child));
    let watched = child.clone();
    handle
        .insert_source(Generic::new(descriptor, Interest::READ, Mode::Level), move |_, _, state| {
            Ok(match watched.borrow_mut().ended() {
                Some(status) => {
                    state.session.end(status);
                    PostAction::Remove
                }
                None => PostAction::Continue,
            })
        })
        .map_err(|error| anyhow::anyhow!("the command cannot be watched: {error}"))?;
    Ok(Some(child))
}

/// The session ends: with its command, if that ended it, else before it.
fn end_command(child: &Rc<RefCell<Child>>, ended: ExitStatus) -> ExitStatus {
    let mut child = child.borrow_mut();
    match child.ended() {
        Some(status) => status,
        None => {
            child.end();
            ended
        }
    }
}
