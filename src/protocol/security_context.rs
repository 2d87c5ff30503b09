//! `wp_security_context_manager_v1` 1: a sandbox engine identifies the connections that come from inside a sandbox.
//!
//! The engine (flatpak, say) hands over a listening socket. Clients that connect to it are marked with the sandbox's
//! name, and [`privileges`] restricts their globals. The socket is used until the other descriptor, `close_fd`, is
//! closed.
//!
//! Smithay's own listener ends the event loop with the first error of such a socket; here only that socket is no longer
//! used. A sandbox stays when its engine disconnects. So the sandboxes of one process are limited, or it could fill the
//! session with them.

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
use crate::client_files::UncheckedFile;
use crate::descriptors::{self, Acceptor};
use crate::guard::{self, CountedResource, Handlers, Kind, Sandbox};
use crate::state::State;

const VERSION: u32 = 1;
/// Connections that are accepted from one sandbox in a turn.
const AT_ONCE: usize = 16;
/// Descriptors of a sandbox: the listening socket and `close_fd`.
const DESCRIPTORS: usize = 2;
/// Sandboxes at the same time, each with two descriptors: a running sandboxed program has one.
const MOST: usize = 1_024;
/// Sandboxes of one process, which may have ended: an engine creates one for each program that it starts.
const MOST_OF_A_PROCESS: usize = 32;

#[derive(Debug)]
pub struct SecurityContexts {
    _global: GlobalId,
    /// Accepts the connections of all sandboxes.
    acceptor: Acceptor,
    /// The process that created each sandbox in force; `None` if unknown.
    makers: Vec<Option<u32>>,
}

impl SecurityContexts {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let _global = display.create_global::<State, WpSecurityContextManagerV1, ()>(VERSION, ());
        SecurityContexts { _global, acceptor: Acceptor::new(), makers: Vec::new() }
    }
}

impl SecurityContexts {
    /// Why `maker` can have no further sandbox, if there is a reason.
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

/// User data of a security context; empty once it was committed.
#[derive(Debug)]
pub struct SecurityContext(Mutex<Option<PendingSandbox>>);

#[derive(Debug)]
struct PendingSandbox {
    listener: UncheckedFile,
    /// `close_fd`: the engine closes its other end when the sandbox is gone.
    close: UncheckedFile,
    engine: Option<String>,
    app: Option<String>,
    instance: Option<String>,
    /// Count both descriptors for the client as long as the context is in force.
    held: Vec<CountedResource>,
}

impl PendingSandbox {
    /// Name of the sandbox, for logs and lists of clients.
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
            let (listener, close) = (UncheckedFile::new(listen_fd), UncheckedFile::new(close_fd));
            let described = PendingSandbox { listener, close, engine: None, app: None, instance: None, held };
            init.init(id, SecurityContext(Mutex::new(Some(described))));
        }
    }
}

/// Whether it is a socket that clients can connect to.
fn listens(listener: &OwnedFd) -> bool {
    is_of_connections(listener.as_fd()) && sockopt::socket_acceptconn(listener) == Ok(true)
}

impl Dispatch<WpSecurityContextV1, SecurityContext, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        object: &WpSecurityContextV1,
        request: context::Request,
        data: &SecurityContext,
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
            object.post_error(context::Error::AlreadySet, "this property was set before");
        }
    }
}

/// Whether the kernel reports when the last copy of the other end is closed. It never does for a file, an eventfd, a
/// listening socket, a socket without connections, or a pipe opened for both reading and writing.
fn has_another_end(close: &UncheckedFile) -> bool {
    let Some(descriptor) = close.borrow() else { return false };
    match close.file_type() {
        Some(FileType::Fifo) => fcntl_getfl(descriptor).is_ok_and(|flags| flags & OFlags::RWMODE != OFlags::RDWR),
        Some(FileType::Socket) => is_of_connections(descriptor) && sockopt::socket_acceptconn(descriptor) == Ok(false),
        _ => false,
    }
}

/// Whether it is a Unix socket with connections. Closing such a socket never blocks.
fn is_of_connections(socket: BorrowedFd<'_>) -> bool {
    sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX)
        && matches!(sockopt::socket_type(socket), Ok(SocketType::STREAM | SocketType::SEQPACKET))
}

/// Whether clients can connect to it.
fn is_listener(listener: &UncheckedFile) -> bool {
    listener.file_type() == Some(FileType::Socket) && listener.borrow().is_some_and(is_of_connections)
}

/// Logs why a sandbox's socket is not used. The socket is shut down: its engine may have kept it open, and clients that
/// connect would otherwise wait for ever.
fn refuse(listener: Option<BorrowedFd<'_>>, sandbox: &str, reason: impl fmt::Display) {
    listener.into_iter().for_each(|listener| _ = rustix::net::shutdown(listener, Shutdown::Both));
    tracing::warn!(sandbox, "the socket of the sandbox is not used: {reason}");
}

/// Why the sandbox of `maker` must be refused, if there is a reason.
fn refusal(state: &State, maker: Option<u32>, described: &PendingSandbox) -> Option<String> {
    // Checked in addition to the limits of the client, since it may disconnect and create more sandboxes as a new
    // client.
    if descriptors::are_scarce() {
        return Some("too few descriptors are left".to_owned());
    }
    // Checked before any other use of the descriptors, because a file may block its user.
    if !is_listener(&described.listener) {
        return Some("clients cannot connect to it".to_owned());
    }
    if !has_another_end(&described.close) {
        return Some("the end of the sandbox could not be noticed".to_owned());
    }
    state.protocols.security_context.is_full(maker)
}

/// Accepts clients from the sandbox that `maker` has created, until the sandbox is gone.
fn listen(state: &mut State, maker: Option<u32>, described: PendingSandbox) {
    let sandbox = described.name();
    if let Some(reason) = refusal(state, maker, &described) {
        return refuse(described.listener.borrow(), &sandbox, reason);
    }
    let PendingSandbox { listener, close, mut held, .. } = described;
    let Some(listener) = listener.take().map(|listener| Rc::new(UnixListener::from(listener))) else { return };
    let refuse = |reason: &dyn fmt::Display| refuse(Some(listener.as_fd()), &sandbox, reason);
    let Some(close) = close.take() else { return refuse(&"the end of the sandbox could not be noticed") };
    if let Err(error) = listener.set_nonblocking(true) {
        return refuse(&error);
    }
    let handle = state.loop_handle.clone();
    let inside = Sandbox::new(sandbox.clone());
    let source = Generic::new(listener.clone(), Interest::READ, Mode::Level);
    let listening = handle.insert_source(source, move |_, socket, state| {
        for _ in 0..AT_ONCE {
            match state.protocols.security_context.acceptor.accept_next_from(socket) {
                Ok(Some(stream)) => {
                    let (display, rules) = (&mut state.display_handle, &state.rules);
                    if let Err(error) = guard::connection::connect_from(display, stream, rules, &inside) {
                        tracing::warn!(%error, sandbox = inside.name(), "cannot insert a client of the sandbox");
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, sandbox = inside.name(), "the socket of the sandbox is no longer used");
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
    // Any event means the end, because the engine never writes to this descriptor.
    let closing = handle.insert_source(Generic::new(close, Interest::READ, Mode::Level), move |_, _, state| {
        // Releases the counts, because both descriptors are closed with this source.
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
