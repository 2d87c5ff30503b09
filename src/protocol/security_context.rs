//! `wp_security_context_manager_v1` 1: a sandbox says which connections come from inside it.
//!
//! The sandbox (flatpak, say) hands over a socket; whoever connects to it is marked with the sandbox's name, and is offered
//! what [`privileges`] says. It listens until the other descriptor that it handed over is closed.
//!
//! Smithay's own listener ends the event loop with the first error of a socket that a client chose: here a socket that
//! fails is no longer listened to, and that is all. Nobody asks who made a sandbox once it is there: who makes one after the
//! other and leaves must not fill the session with them.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use calloop::generic::Generic;
use calloop::{Interest, Mode, PostAction};
use rustix::fs::{FileType, OFlags, fcntl_getfl};
use rustix::net::{AddressFamily, Shutdown, SocketType, sockopt};
use smithay::reexports::wayland_protocols::wp::security_context::v1::server::wp_security_context_manager_v1::{
    self as manager, WpSecurityContextManagerV1,
};
use smithay::reexports::wayland_protocols::wp::security_context::v1::server::wp_security_context_v1::{
    self as context, WpSecurityContextV1,
};
use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use super::privileges;
use crate::descriptors::{self, Door};
use crate::guard::{self, Handlers, Held, Kind, Sandbox};
use crate::lent_files::Lent;
use crate::state::State;

const VERSION: u32 = 1;
/// Connections that are taken in at once.
const AT_ONCE: usize = 16;
/// Descriptors of one: the socket, and what says that it is over.
const DESCRIPTORS: usize = 2;
/// Sandboxes at once, each of which takes two descriptors: one a program that runs in one.
const MOST: usize = 1_024;
/// Those of one process, which may be gone: whatever starts a program in a sandbox makes one for it.
const MOST_OF_A_PROCESS: usize = 32;

/// The global.
#[derive(Debug)]
pub struct SecurityContexts {
    _global: GlobalId,
    /// Where people from all sandboxes are let in.
    door: Door,
    /// Whose the sandboxes are that are in force, by process.
    makers: Vec<Option<u32>>,
}

impl SecurityContexts {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let _global = display.create_global::<State, WpSecurityContextManagerV1, ()>(VERSION, ());
        SecurityContexts { _global, door: Door::new(), makers: Vec::new() }
    }
}

impl SecurityContexts {
    /// Why `maker` can have no more, if it cannot.
    fn is_full(&self, maker: Option<u32>) -> Option<String> {
        if self.makers.len() >= MOST {
            return Some(format!("there are {MOST} sandboxes"));
        }
        let its = self.makers.iter().filter(|known| **known == maker).count();
        (its >= MOST_OF_A_PROCESS).then(|| format!("there are {MOST_OF_A_PROCESS} sandboxes of one process"))
    }

    fn remove(&mut self, maker: Option<u32>) {
        if let Some(index) = self.makers.iter().position(|known| *known == maker) {
            self.makers.swap_remove(index);
        }
    }
}

/// A context that is being described; empty once it is in force.
#[derive(Debug)]
pub struct Context(Mutex<Option<Described>>);

#[derive(Debug)]
struct Described {
    listener: Lent,
    /// Closed when the sandbox is gone.
    close: Lent,
    engine: Option<String>,
    app: Option<String>,
    instance: Option<String>,
    /// Both descriptors, which are its client's as long as it is in force.
    held: Vec<Held>,
}

impl Described {
    /// What its clients are called.
    fn name(&self) -> String {
        let parts = [&self.engine, &self.app].into_iter().flatten().map(String::as_str);
        let name = parts.collect::<Vec<_>>().join(" ");
        if name.is_empty() { "a sandbox".to_owned() } else { name }
    }
}

impl GlobalDispatch<WpSecurityContextManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<WpSecurityContextManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        privileges::may_bind::<WpSecurityContextManagerV1>(&client)
    }
}

impl Dispatch<WpSecurityContextManagerV1, (), State> for Handlers {
    fn request(
        _state: &mut State,
        client: &Client,
        object: &WpSecurityContextManagerV1,
        request: manager::Request,
        _data: &(),
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let manager::Request::CreateListener { id, listen_fd, close_fd } = request {
            if !listens(&listen_fd) {
                let what = "listen_fd is no Unix socket that is bound and listens";
                object.post_error(manager::Error::InvalidListenFd, what);
                return;
            }
            let held = (0..DESCRIPTORS).filter_map(|_| guard::hold(display, client, Kind::Descriptors)).collect();
            let (listener, close) = (Lent::new(listen_fd), Lent::new(close_fd));
            let described = Described { listener, close, engine: None, app: None, instance: None, held };
            init.init(id, Context(Mutex::new(Some(described))));
        }
    }
}

/// Whether it is a socket that clients can connect to.
fn listens(listener: &OwnedFd) -> bool {
    is_of_connections(listener.as_fd()) && sockopt::socket_acceptconn(listener) == Ok(true)
}

impl Dispatch<WpSecurityContextV1, Context, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        object: &WpSecurityContextV1,
        request: context::Request,
        data: &Context,
        display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use context::Request;
        if matches!(request, Request::Destroy) {
            return;
        }
        let mut described = data.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(parts) = described.as_mut() else {
            return object.post_error(context::Error::AlreadyUsed, "the context is in force");
        };
        let (part, value) = match request {
            Request::SetSandboxEngine { name } => (&mut parts.engine, name),
            Request::SetAppId { app_id } => (&mut parts.app, app_id),
            Request::SetInstanceId { instance_id } => (&mut parts.instance, instance_id),
            Request::Commit => {
                if let Some(described) = described.take() {
                    listen(state, guard::process_of(display, client), described);
                }
                return;
            }
            _ => return,
        };
        if part.replace(value).is_some() {
            object.post_error(context::Error::AlreadySet, "this was said before");
        }
    }
}

/// Whether it is heard when nobody has the other end any more: that of a file, an event, a listener, a socket without
/// connections or a pipe that is both of its own ends never is.
fn has_another_end(close: &Lent) -> bool {
    let Some(descriptor) = close.borrow() else { return false };
    match close.file_type() {
        Some(FileType::Fifo) => fcntl_getfl(descriptor).is_ok_and(|flags| flags & OFlags::RWMODE != OFlags::RDWR),
        Some(FileType::Socket) => is_of_connections(descriptor) && sockopt::socket_acceptconn(descriptor) == Ok(false),
        _ => false,
    }
}

/// Whether a socket is one of this machine's that has connections: its closing waits for nobody, either.
fn is_of_connections(socket: BorrowedFd<'_>) -> bool {
    sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX)
        && matches!(sockopt::socket_type(socket), Ok(SocketType::STREAM | SocketType::SEQPACKET))
}

/// Whether somebody may connect there.
fn is_listener(listener: &Lent) -> bool {
    listener.file_type() == Some(FileType::Socket) && listener.borrow().is_some_and(is_of_connections)
}

/// Says why a sandbox is not listened to. Its maker may have kept the socket: programs that connect there are refused, and do not
/// wait for ever.
fn refuse(listener: Option<BorrowedFd<'_>>, sandbox: &str, reason: impl fmt::Display) {
    listener.into_iter().for_each(|listener| _ = rustix::net::shutdown(listener, Shutdown::Both));
    tracing::warn!(sandbox, "it is not listened to: {reason}");
}

/// Why a sandbox that `maker` has made cannot be listened to, if it cannot.
fn refusal(state: &State, maker: Option<u32>, described: &Described) -> Option<String> {
    // Its maker may be gone, and make others as a new client.
    if descriptors::are_scarce() {
        return Some("descriptors are few".to_owned());
    }
    // Before anything else is done with them: a file may lie where nobody answers.
    if !is_listener(&described.listener) {
        return Some("nobody can connect there".to_owned());
    }
    if !has_another_end(&described.close) {
        return Some("nobody would hear that it is gone".to_owned());
    }
    state.protocols.security_context.is_full(maker)
}

/// Takes in whoever connects, until the sandbox is gone, which `maker` has made.
fn listen(state: &mut State, maker: Option<u32>, described: Described) {
    let sandbox = described.name();
    if let Some(reason) = refusal(state, maker, &described) {
        return refuse(described.listener.borrow(), &sandbox, reason);
    }
    let Described { listener, close, mut held, .. } = described;
    let Some(listener) = listener.take().map(|listener| Rc::new(UnixListener::from(listener))) else { return };
    let refuse = |reason: &dyn fmt::Display| refuse(Some(listener.as_fd()), &sandbox, reason);
    let Some(close) = close.take() else { return refuse(&"nobody would hear that it is gone") };
    if let Err(error) = listener.set_nonblocking(true) {
        return refuse(&error);
    }
    let handle = state.loop_handle.clone();
    let inside = Sandbox::new(sandbox.clone());
    let source = Generic::new(listener.clone(), Interest::READ, Mode::Level);
    let listening = handle.insert_source(source, move |_, socket, state| {
        for _ in 0..AT_ONCE {
            match state.protocols.security_context.door.next_of(socket) {
                Ok(Some(stream)) => {
                    let (display, rules) = (&mut state.display_handle, &state.rules);
                    if let Err(error) = guard::connection::connect_from(display, stream, rules, &inside) {
                        tracing::warn!(%error, sandbox = inside.name(), "a client could not be let in");
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, sandbox = inside.name(), "it is not listened to any more");
                    return Ok(PostAction::Remove);
                }
            }
        }
        Ok(PostAction::Continue)
    });
    let listening = match listening {
        Ok(listening) => listening,
        Err(error) => return refuse(&error),
    };
    // Whatever happens there: nothing is ever written to it.
    let closing = handle.insert_source(Generic::new(close, Interest::READ, Mode::Level), move |_, _, state| {
        // With this both descriptors are closed.
        held.clear();
        state.loop_handle.remove(listening);
        state.protocols.security_context.remove(maker);
        Ok(PostAction::Remove)
    });
    match closing {
        Ok(_) => state.protocols.security_context.makers.push(maker),
        Err(error) => {
            refuse(&error);
            handle.remove(listening);
        }
    }
}
