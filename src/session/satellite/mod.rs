//! X programs: starts xwayland-satellite, which is a client of this compositor and the X server of X programs.
//!
//! We hold the sockets that X programs connect to ([`x11_sockets`]). The first connection starts the satellite, which
//! inherits them (`-listenfd`); while it runs we do not watch them. After its end we watch them again, but later if it
//! has ended at once ([`restart_policy`]). `DISPLAY` names them to every program that the session starts. If the
//! satellite cannot work ([`xwayland_check`]), there are no sockets and no `DISPLAY`, and the log and `upbeat msg
//! version` say why.

mod restart_policy;
mod x11_sockets;
mod xwayland_check;

use std::cell::RefCell;
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::rc::Rc;

use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, Mode, PostAction, RegistrationToken};

use self::restart_policy::RestartPolicy;
use self::x11_sockets::X11Sockets;
use super::child::ChildProcess;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

/// Support for X programs.
#[derive(Debug)]
pub(super) enum X11Support {
    /// There is none, for this reason.
    Unavailable(String),
    /// X programs can connect to the satellite's sockets.
    Ready(Box<SatelliteState>),
}

impl Default for X11Support {
    fn default() -> Self {
        X11Support::Unavailable("this session has none".to_owned())
    }
}

#[derive(Debug)]
pub(super) struct SatelliteState {
    program: String,
    sockets: X11Sockets,
    listening: [RegistrationToken; 2],
    restart_policy: RestartPolicy,
    /// The satellite process, while it runs.
    child: Option<Rc<RefCell<ChildProcess>>>,
}

impl X11Support {
    /// The value of `DISPLAY`: `:N`.
    pub fn display(&self) -> Option<String> {
        match self {
            X11Support::Ready(ready) => Some(ready.sockets.display()),
            X11Support::Unavailable(_) => None,
        }
    }

    /// The display number, or the reason why there is none, as text for the user.
    pub fn about(&self) -> String {
        match self {
            X11Support::Ready(ready) => ready.sockets.display(),
            X11Support::Unavailable(reason) => format!("none: {reason}"),
        }
    }
}

/// Creates the sockets and watches them, if `program` and its Xwayland can work. An empty `program` means no X support.
pub(super) fn start(handle: &LoopHandle<'static, State>, state: &mut State, program: &str) {
    state.session.satellite = match ready(handle, program) {
        Ok(ready) => {
            tracing::info!(display = ready.sockets.display(), "X programs can connect");
            X11Support::Ready(Box::new(ready))
        }
        Err(reason) => {
            tracing::info!("no X programs: {reason}");
            X11Support::Unavailable(reason)
        }
    };
}

fn ready(handle: &LoopHandle<'static, State>, program: &str) -> Result<SatelliteState, String> {
    if program.is_empty() {
        return Err("the configuration says so (satellite in [x11])".to_owned());
    }
    xwayland_check::check(program)?;
    let sockets = X11Sockets::claim(Path::new(x11_sockets::ROOT)).map_err(|error| error.to_string())?;
    let [with_file, named] = sockets.listeners().map(|listener| listen(handle, listener));
    Ok(SatelliteState {
        program: program.to_owned(),
        sockets,
        listening: [with_file?, named?],
        restart_policy: RestartPolicy::default(),
        child: None,
    })
}

fn listen(handle: &LoopHandle<'static, State>, listener: BorrowedFd<'_>) -> Result<RegistrationToken, String> {
    let ours = listener.try_clone_to_owned().map_err(|error| error.to_string())?;
    let source = Generic::new(ours, Interest::READ, Mode::Level);
    let inserted = handle.insert_source(source, |_, _, state| {
        connected(state);
        Ok(PostAction::Continue)
    });
    inserted.map_err(|error| format!("cannot watch the sockets for X programs: {error}"))
}

/// Starts the satellite because an X program has connected. The satellite accepts the connection.
fn connected(state: &mut State) {
    let now = state.clock.now();
    let State { session, loop_handle, .. } = state;
    let environment = session.identity.environment(session.config.config());
    let X11Support::Ready(ready) = &mut session.satellite else { return };
    if !ready.restart_policy.note_connection(now) {
        return;
    }
    for token in &ready.listening {
        if let Err(error) = loop_handle.disable(token) {
            tracing::error!(%error, "cannot stop watching a socket for X programs");
        }
    }
    match ready.spawn(&environment).and_then(|child| watch(loop_handle, child)) {
        Ok(child) => ready.child = Some(child),
        Err(error) => {
            tracing::error!("X programs: {error:#}");
            ended(state, now);
        }
    }
}

impl SatelliteState {
    fn spawn(&self, environment: &[(&str, OsString)]) -> anyhow::Result<ChildProcess> {
        let listeners = self.sockets.listeners();
        let mut command = vec![OsString::from(&self.program), self.sockets.display().into()];
        for listener in &listeners {
            command.extend(["-listenfd".into(), listener.as_raw_fd().to_string().into()]);
        }
        Ok(ChildProcess::spawn_with_fds(&command, environment, &listeners)?)
    }
}

fn watch(handle: &LoopHandle<'static, State>, child: ChildProcess) -> anyhow::Result<Rc<RefCell<ChildProcess>>> {
    let source = Generic::new(child.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    let child = Rc::new(RefCell::new(child));
    let watched = child.clone();
    let inserted = handle.insert_source(source, move |_, _, state| {
        let status = watched.borrow_mut().try_wait_ending_group();
        Ok(match status {
            Some(status) => {
                tracing::info!(code = status.code(), "xwayland-satellite has ended");
                ended(state, state.clock.now());
                PostAction::Remove
            }
            None => PostAction::Continue,
        })
    });
    inserted.map(|_| child).map_err(|error| anyhow::anyhow!("cannot watch the end of xwayland-satellite: {error}"))
}

fn ended(state: &mut State, now: Instant) {
    let X11Support::Ready(ready) = &mut state.session.satellite else { return };
    ready.child = None;
    match ready.restart_policy.note_end(now) {
        Some(rest) => {
            tracing::warn!("xwayland-satellite ended too soon: X programs wait {rest} until the next attempt")
        }
        None => watch_sockets_again(state),
    }
}

/// Ends the satellite at the end of the session, before its Wayland connection closes: otherwise it would report a bug.
pub(super) fn end(state: &mut State) {
    if let X11Support::Ready(ready) = &mut state.session.satellite
        && let Some(child) = ready.child.take()
    {
        child.borrow_mut().terminate();
    }
}

/// Watches the sockets again after a rest. Returns the end of a rest that is not over.
pub(super) fn update(state: &mut State) -> Option<Instant> {
    let X11Support::Ready(ready) = &mut state.session.satellite else { return None };
    // Without a rest, the clock is not read.
    let until = ready.restart_policy.wake()?;
    if ready.restart_policy.resume_if_rested(state.clock.now()) {
        watch_sockets_again(state);
        return None;
    }
    Some(until)
}

fn watch_sockets_again(state: &mut State) {
    let X11Support::Ready(ready) = &state.session.satellite else { return };
    for token in &ready.listening {
        if let Err(error) = state.loop_handle.enable(token) {
            tracing::error!(%error, "cannot watch a socket for X programs again");
        }
    }
}
