//! Runs a session: its start, its event loop with the turn after each wake-up, and its end.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Context;
use calloop::generic::Generic;
use calloop::{EventLoop, Interest, LoopHandle, Mode, PostAction};
use smithay::reexports::wayland_server::Display;

use super::child::ChildProcess;
use super::client_throttle::{self, ClientThrottle};
use super::event_sources::{self, LoopSource, LoopSources};
use super::loop_timer::LoopTimer;
use super::recording::Recordings;
use super::reload::{self, ConfigReload};
use super::satellite::X11Support;
use super::signals::SignalWish;
use super::{BackendKind, ExitStatus, SessionOptions, renderer, start_messages, wayland_socket};
use crate::backend::headless::HeadlessBackend;
use crate::config::{Config, ConfigFile, write_starter};
use crate::descriptors::Acceptor;
use crate::guard::panic_guard;
use crate::ipc;
use crate::real_time::{RealTime, ThreadRole};
use crate::state::State;
use upbeat_record::faults::{self, Fault};
use upbeat_timing::time::{Clock, Instant};

/// The value of `XDG_CURRENT_DESKTOP`, the same as in `config/session/upbeat-session`.
const DESKTOP: &str = "Upbeat:wlroots";

/// State of a session, besides the compositor itself.
#[derive(Default)]
pub struct SessionState {
    pub(super) headless: Option<Rc<RefCell<HeadlessBackend>>>,
    pub(super) nested: super::nested::Nested,
    pub(super) drm: Option<super::drm::DrmSession>,
    pub(super) identity: SessionIdentity,
    pub(super) satellite: X11Support,
    pub(super) config: ConfigFile,
    /// Server of the private socket; `None` while it answers, because it is taken out then.
    pub(super) private_socket: Option<ipc::IpcServer>,
    /// The state last sent to subscribers of the event stream.
    pub(super) sent_state: super::respond::SentState,
    pub(super) reload: ConfigReload,
    pub(super) recordings: Recordings,
    pub(super) rotation: super::rotation::SensorRotation,
    /// The number of overlay planes of each virtual output.
    pub(super) overlay_planes: u32,
    /// Number of the last virtual output. Numbers are not reused.
    pub(super) last_output: u32,
    timer: Option<Rc<RefCell<LoopTimer>>>,
    /// The event sources of the main loop.
    pub(super) event_sources: LoopSources,
    pub(super) client_throttle: ClientThrottle,
    /// Real-time scheduling of the main thread, once the loop runs and unless the configuration forbids it.
    real_time: Option<RealTime>,
    exit: Option<ExitStatus>,
    /// The error that ends the session.
    failure: Option<anyhow::Error>,
}

/// How programs find the session.
#[derive(Debug, Default)]
pub(super) struct SessionIdentity {
    /// Name of the Wayland socket.
    pub(super) socket: String,
    /// Path of the private socket.
    pub(super) ipc_path: PathBuf,
    /// The value of `DISPLAY` (`:N`), if X programs are supported.
    pub(super) display: Option<String>,
    pub(super) backend: BackendKind,
}

impl SessionIdentity {
    /// The environment of programs that the session starts: the variables of the configuration, and those that lead
    /// to the session. The configuration may override `XDG_CURRENT_DESKTOP`.
    pub fn environment<'a>(&self, config: &'a Config) -> Vec<(&'a str, OsString)> {
        let inherited = std::env::var("XDG_CURRENT_DESKTOP").ok();
        let mut environment: Vec<(&str, OsString)> =
            vec![("XDG_SESSION_TYPE", "wayland".into()), ("XDG_CURRENT_DESKTOP", desktop(inherited).into())];
        environment.extend(config.environment.variables().map(|(name, value)| (name, value.into())));
        environment.push(("WAYLAND_DISPLAY", OsString::from(&self.socket)));
        environment.push((upbeat_record::ipc::PATH_VARIABLE, self.ipc_path.clone().into_os_string()));
        environment.extend(self.display.iter().map(|display| ("DISPLAY", OsString::from(display))));
        environment
    }
}

/// The value of `XDG_CURRENT_DESKTOP` for programs: the inherited value if it names Upbeat. In a window of another
/// desktop the inherited value names that desktop, so it is replaced.
fn desktop(inherited: Option<String>) -> String {
    let is_ours = |names: &String| names.split(':').any(|name| name == "Upbeat");
    inherited.filter(is_ours).unwrap_or_else(|| DESKTOP.to_owned())
}

impl std::fmt::Debug for SessionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionState").field("exit", &self.exit).finish_non_exhaustive()
    }
}

impl SessionState {
    /// The configuration in force.
    pub fn config(&self) -> &Config {
        self.config.config()
    }

    /// The environment of programs that the session starts.
    pub(super) fn environment(&self) -> Vec<(&str, OsString)> {
        self.identity.environment(self.config())
    }

    /// Whether the session ends after this turn.
    pub const fn is_ending(&self) -> bool {
        self.exit.is_some()
    }

    /// Ends the session after this turn. If it is called again, the first status counts.
    pub fn end(&mut self, status: ExitStatus) {
        self.exit.get_or_insert(status);
    }

    /// Gives the main thread real-time scheduling where the system permits it, so that it stays on time beside busy
    /// programs; or takes it away.
    pub(super) fn set_real_time(&mut self, wished: bool) {
        // Display drivers work in ordinary kernel threads. With a single processor they would wait for our
        // real-time thread.
        let has_two = || std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
        let wished = wished && (self.identity.backend != BackendKind::Drm || has_two());
        match (wished, self.real_time.take()) {
            (true, had) => self.real_time = Some(had.unwrap_or_else(|| RealTime::ask_for(ThreadRole::Main))),
            (false, had) => had.into_iter().for_each(RealTime::give_up),
        }
    }

    /// Ends the session after this turn because of an error, which [`run`] returns.
    pub fn fail(&mut self, error: impl Into<anyhow::Error>) {
        self.failure.get_or_insert(error.into());
        self.end(ExitStatus::default());
    }
}

/// Runs a session until its command ends or the session is told to end. Returns the exit status of the command.
pub fn run(options: SessionOptions) -> anyhow::Result<ExitStatus> {
    run_with(options, |_, _| Ok(()))
}

/// Like [`run`], but calls `prepare` before the first turn. It can add event sources of its own: the conformance suite
/// uses this to control a session from outside.
pub fn run_with(
    options: SessionOptions,
    prepare: impl FnOnce(&LoopHandle<'static, State>, &mut State) -> anyhow::Result<()>,
) -> anyhow::Result<ExitStatus> {
    super::open_file_limit::raise_open_files();
    crate::nonblocking_close::never_block_this_thread();
    let backend = super::backend::choose(&options, |name| std::env::var_os(name))?;
    let mut event_loop: EventLoop<'static, State> = EventLoop::try_new().context("cannot create an event loop")?;
    let display: Display<State> = Display::new().context("cannot create a Wayland display")?;
    let mut state = State::new(display.handle(), event_loop.handle());
    // Before any thread is started, because threads inherit the signal mask.
    super::signals::insert(&event_loop.handle(), |wish, state: &mut State| match wish {
        SignalWish::End => state.session.end(ExitStatus::default()),
        SignalWish::Reload => reload::request_reload(state, None),
    })?;
    state.outputs.set_renderer(Some(renderer::start(options.renderer, backend)?));
    if let Some(path) = &options.frame_log {
        state.outputs.set_frame_log(upbeat_record::trace::FrameLog::create(path)?);
    }
    state.session.recordings = Recordings::new(options.record, options.record_stream, options.record_only);
    state.session.overlay_planes = options.overlay_planes;
    state.session.identity.backend = backend;
    let handle = event_loop.handle();
    let LoadedConfig { written, mistakes } = configure(&handle, &mut state, options.config)?;
    client_throttle::listen(&mut state, display)?;
    watch_timer(&mut state)?;
    let open = {
        let (outputs, device) = (&options.outputs, options.lend_device.as_deref());
        super::backend::start(backend, &handle, &mut state, outputs)
            .and_then(|()| renderer::offer_memory(&mut state, device))
            .and_then(|()| open_sockets(&handle, &mut state, options.socket.as_deref()))
    };
    // The first log line says where the session is shown. A configuration mistake is logged even if the session
    // cannot start.
    if let Ok((name, _)) = &open {
        start_messages::log_ready(&state, options.backend, backend, name);
    }
    mistakes.iter().for_each(|mistake| start_messages::log_config_mistake(mistake));
    written.iter().for_each(|path| start_messages::log_starter_config(path));
    let (name, ipc_path) = open?;
    let x11 = state.session.config().x11.satellite.clone();
    super::satellite::start(&handle, &mut state, &x11);
    let display = state.session.satellite.display();
    state.session.identity = SessionIdentity { socket: name.clone(), ipc_path, display, backend };
    if let Some(ready) = options.ready {
        wayland_socket::report_ready(ready, &name)?;
    }
    let environment = state.session.environment();
    super::announce::announce(backend, &environment);
    // No hint in a virtual session, where no user sees it, or when a command is about to open a window, which the
    // hint would obscure.
    let hints = state.session.config().hint && backend != BackendKind::Headless && options.command.is_empty();
    state.shell.overlays_mut().set_hint(hints);
    let command = start_command(&handle, &options.command, &environment)?;
    super::autostart::start(&mut state);
    prepare(&handle, &mut state)?;
    // Not before: the start takes long, and there is no deadline to meet yet.
    let in_time = state.session.config().timing.real_time;
    state.session.set_real_time(in_time);
    // The first frame needs no external event.
    turn(&mut state);
    let ran = panic_guard::catch(|| event_sources::run(&mut event_loop, &mut state, turn));
    let ran = ran.map_err(|panic| report_panic(&panic)).and_then(|ran| ran);
    if ran.is_err() {
        command.iter().for_each(|child| _ = child.borrow_mut().terminate());
    }
    ran?;
    let ended = state.session.exit.unwrap_or_default();
    let status = command.map_or(ended, |child| end_command(&child, ended));
    super::satellite::end(&mut state);
    state.session.recordings.finish();
    if let Some(log) = state.outputs.take_frame_log() {
        // The log's own thread has reported any error already.
        let _ = log.finish();
    }
    state.session.failure.take().map_or(Ok(status), Err)
}

/// Opens both sockets. Returns the name of the Wayland socket and the path of the private socket.
fn open_sockets(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    wish: Option<&str>,
) -> anyhow::Result<(String, PathBuf)> {
    let runtime = wayland_socket::runtime_directory(std::env::var_os("XDG_RUNTIME_DIR"))?;
    let name = open_socket(handle, &runtime, wish)?;
    let ipc_path = upbeat_record::ipc::socket_path(&runtime, &name);
    super::private_socket::listen(state, &ipc_path)?;
    Ok((name, ipc_path))
}

/// Result of reading the configuration.
struct LoadedConfig {
    /// Path of the starter configuration, if one was written.
    written: Option<PathBuf>,
    /// Mistakes in the configuration, as sentences.
    mistakes: Vec<String>,
}

/// Loads the configuration and applies it. If none is named and none exists, a starter configuration is written first.
fn configure(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    named: Option<PathBuf>,
) -> anyhow::Result<LoadedConfig> {
    let default = crate::config::default_path(|name| std::env::var_os(name));
    let written = default.clone().filter(|path| {
        named.is_none()
            && write_starter(path).unwrap_or_else(|error| {
                tracing::warn!("cannot write a starter configuration: {error}");
                false
            })
    });
    let mistakes = reload::start(handle, state, named, default)?;
    Ok(LoadedConfig { written, mistakes })
}

/// Reports a panic of the main loop. After it the state is only dropped, which restores consoles and displays.
fn report_panic(panic: &panic_guard::Panic) -> anyhow::Error {
    tracing::error!("{}", panic.backtrace);
    anyhow::anyhow!("a bug ended the session, please report it: {panic}")
}

/// Does everything that follows a wake-up, in its fixed order.
fn turn(state: &mut State) {
    faults::panic_if_due(Fault::Turn);
    faults::abort_if_due(Fault::Abort);
    client_throttle::flush_gathered(state);
    let mut wake = super::turn::run(state);
    if client_throttle::destroy_ended_objects(state) {
        wake = super::turn::run(state);
    }
    let resume = client_throttle::read_throttled(state, wake);
    let wake = wake.into_iter().chain(resume).chain(client_throttle::next_gathered_check(state)).min();
    arm_timer(state, wake);
    // After the timer is set, because a client that is woken by the events may run first.
    if let Some(look) = client_throttle::flush_clients(state) {
        arm_timer(state, wake.into_iter().chain([look]).min());
    }
    if let Some(real_time) = &mut state.session.real_time {
        real_time.check();
    }
}

fn arm_timer(state: &State, wake: Option<Instant>) {
    if let Some(timer) = &state.session.timer
        && let Err(error) = timer.borrow_mut().arm(wake, || state.clock.now())
    {
        tracing::error!(%error, "cannot set the timer of the session");
    }
}

fn watch_timer(state: &mut State) -> anyhow::Result<()> {
    let timer = Rc::new(RefCell::new(LoopTimer::new().context("cannot create a timer")?));
    let expiring = timer.clone();
    let expired = move |state: &mut State| {
        let late = expiring.borrow_mut().note_expired(state.clock.now());
        state.outputs.note_woke(late);
        PostAction::Continue
    };
    state
        .session
        .event_sources
        .add_source(LoopSource::Timer, &*timer.borrow(), expired)
        .context("cannot watch the timer")?;
    state.session.timer = Some(timer);
    Ok(())
}

fn open_socket(
    handle: &LoopHandle<'static, State>,
    runtime: &std::path::Path,
    wanted: Option<&str>,
) -> anyhow::Result<String> {
    let socket = wayland_socket::listen(runtime, wanted)?;
    let name = socket.socket_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut acceptor = Acceptor::new();
    handle
        .insert_source(Generic::new(socket, Interest::READ, Mode::Level), move |_, socket, state| {
            acceptor.accept_all(
                || socket.accept(),
                |stream| {
                    let (display, rules) = (&mut state.display_handle, &state.rules);
                    if let Err(error) = crate::protocol::client::connect(display, stream, rules) {
                        tracing::warn!(%error, "cannot accept a client");
                    }
                },
            );
            Ok(PostAction::Continue)
        })
        .map_err(|error| anyhow::anyhow!("cannot watch the Wayland socket: {error}"))?;
    Ok(name)
}

fn start_command(
    handle: &LoopHandle<'static, State>,
    command: &[OsString],
    environment: &[(&str, OsString)],
) -> anyhow::Result<Option<Rc<RefCell<ChildProcess>>>> {
    if command.is_empty() {
        return Ok(None);
    }
    let child = ChildProcess::spawn(command, environment)?;
    let descriptor = std::os::fd::AsFd::as_fd(&child).try_clone_to_owned()?;
    let child = Rc::new(RefCell::new(child));
    let watched = child.clone();
    handle
        .insert_source(Generic::new(descriptor, Interest::READ, Mode::Level), move |_, _, state| {
            Ok(match watched.borrow_mut().try_wait_ending_group() {
                Some(status) => {
                    state.session.end(status);
                    PostAction::Remove
                }
                None => PostAction::Continue,
            })
        })
        .map_err(|error| anyhow::anyhow!("cannot watch the command: {error}"))?;
    Ok(Some(child))
}

/// The exit status of the session: the command's own if it has ended. Otherwise the command is ended, and the status is
/// `ended`.
fn end_command(child: &Rc<RefCell<ChildProcess>>, ended: ExitStatus) -> ExitStatus {
    let mut child = child.borrow_mut();
    match child.try_wait_ending_group() {
        Some(status) => status,
        None => {
            child.terminate();
            ended
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn desktop_variable_names_upbeat_inside_another_desktop() {
        assert_eq!(desktop(None), DESKTOP);
        assert_eq!(desktop(Some("GNOME".to_owned())), DESKTOP);
        assert_eq!(desktop(Some("Upbeat".to_owned())), "Upbeat", "as the user has it in upbeat-session");
        let script = include_str!("../../config/session/upbeat-session");
        assert!(script.contains(&format!("XDG_CURRENT_DESKTOP:-{DESKTOP}}}")));
    }
}
