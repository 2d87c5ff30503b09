//! The parent of a nested session, whose windows are our outputs: a Wayland compositor, or else an X server.

use std::os::fd::{AsFd, BorrowedFd};

use crate::backend::Display;
use crate::backend::nested::{NestedBackend, ParentEvent, WindowId};
use crate::backend::x11::X11Backend;

/// Environment variables that announce a Wayland compositor: the name of its socket, or an open connection to it.
const WAYLAND: [&str; 2] = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
/// The environment variable that announces an X server.
const X11: &str = "DISPLAY";

pub(super) enum ParentBackend {
    Wayland(Box<NestedBackend>),
    X11(Box<X11Backend>),
}

pub(super) struct OpenedParentWindow {
    pub(super) display: Box<dyn Display>,
    pub(super) window: WindowId,
    /// Physical pixels per logical one.
    pub(super) scale: f64,
}

/// Whether the environment (`variable`) names a Wayland compositor.
fn has_wayland(variable: &impl Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    WAYLAND.iter().any(|name| variable(name).is_some_and(|value| !value.is_empty()))
}

/// Whether the environment names a Wayland compositor or an X server.
pub(super) fn is_available(variable: &impl Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    has_wayland(variable) || variable(X11).is_some_and(|value| !value.is_empty())
}

/// The parent and the environment variable that names it, as text for the user.
pub(super) fn describe(variable: &impl Fn(&str) -> Option<std::ffi::OsString>) -> String {
    let value = |name: &str| variable(name).filter(|value| !value.is_empty());
    let found = WAYLAND.iter().find_map(|name| Some((name, value(name)?)));
    match (found, value(X11)) {
        (Some((&"WAYLAND_SOCKET", _)), _) => {
            "the Wayland compositor that passed a connection (WAYLAND_SOCKET)".to_owned()
        }
        (Some((name, socket)), _) => format!("the Wayland compositor {} ({name})", socket.display()),
        (None, Some(display)) => format!("the X server {} ({X11})", display.display()),
        (None, None) => "another compositor".to_owned(),
    }
}

impl ParentBackend {
    /// Connects to the parent. A Wayland compositor is preferred to an X server because it reports when frames are
    /// shown.
    pub(super) fn connect() -> anyhow::Result<Self> {
        let variable = |name: &str| std::env::var_os(name);
        if is_available(&variable) && !has_wayland(&variable) {
            return Ok(ParentBackend::X11(Box::new(X11Backend::connect()?)));
        }
        Ok(ParentBackend::Wayland(Box::new(NestedBackend::connect()?)))
    }

    /// The parent as a Wayland compositor.
    pub(super) fn as_wayland(&mut self) -> Option<&mut NestedBackend> {
        match self {
            ParentBackend::Wayland(parent) => Some(parent),
            ParentBackend::X11(_) => None,
        }
    }

    pub(super) fn open(&mut self, name: &str, size: (i32, i32)) -> anyhow::Result<OpenedParentWindow> {
        Ok(match self {
            ParentBackend::Wayland(parent) => {
                let output = parent.open(name, size)?;
                let (window, scale) = (output.window(), output.scale());
                OpenedParentWindow { display: Box::new(output), window, scale }
            }
            ParentBackend::X11(parent) => {
                let output = parent.open(name, size)?;
                let window = output.window();
                OpenedParentWindow { display: Box::new(output), window, scale: 1.0 }
            }
        })
    }

    /// Reads and handles the events of the parent.
    ///
    /// # Errors
    /// The connection to the parent is lost.
    pub(super) fn dispatch(&mut self) -> anyhow::Result<()> {
        match self {
            ParentBackend::Wayland(parent) => parent.dispatch()?,
            ParentBackend::X11(parent) => parent.dispatch()?,
        }
        Ok(())
    }

    pub(super) fn poll_event(&mut self) -> Option<ParentEvent> {
        match self {
            ParentBackend::Wayland(parent) => parent.poll_event(),
            ParentBackend::X11(parent) => parent.poll_event(),
        }
    }

    /// Sends the buffered requests.
    pub(super) fn flush(&self) {
        match self {
            ParentBackend::Wayland(parent) => parent.flush(),
            // The X11 backend sends each request at once.
            ParentBackend::X11(_) => {}
        }
    }
}

impl AsFd for ParentBackend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            ParentBackend::Wayland(parent) => parent.as_fd(),
            ParentBackend::X11(parent) => parent.as_fd(),
        }
    }
}
