//! Whose windows a nested session's outputs are: those of a Wayland compositor, or of an X server where there is none.

use std::os::fd::{AsFd, BorrowedFd};

use crate::backend::Display;
use crate::backend::nested::{NestedBackend, ParentEvent, WindowId};
use crate::backend::x11::X11Backend;

/// What says that there is a Wayland compositor to be nested in: the name of its socket, or a connection to it.
const WAYLAND: [&str; 2] = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
/// The same of an X server.
const X11: &str = "DISPLAY";

/// A connection to the parent.
pub(super) enum Parent {
    Wayland(Box<NestedBackend>),
    X11(Box<X11Backend>),
}

/// A window that was opened.
pub(super) struct Opened {
    pub(super) display: Box<dyn Display>,
    pub(super) window: WindowId,
    /// Physical pixels per logical one.
    pub(super) scale: f64,
}

/// Whether `variable` (of the environment) names a Wayland compositor.
fn has_wayland(variable: &impl Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    WAYLAND.iter().any(|name| variable(name).is_some_and(|value| !value.is_empty()))
}

/// Whether it names anybody whose windows could be outputs.
pub(super) fn is_there(variable: &impl Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    has_wayland(variable) || variable(X11).is_some_and(|value| !value.is_empty())
}

/// Whose windows they would be, and what says so, for people.
pub(super) fn about(variable: &impl Fn(&str) -> Option<std::ffi::OsString>) -> String {
    let value = |name: &str| variable(name).filter(|value| !value.is_empty());
    let found = WAYLAND.iter().find_map(|name| Some((name, value(name)?)));
    match (found, value(X11)) {
        (Some((&"WAYLAND_SOCKET", _)), _) => {
            "the Wayland compositor that lent a connection (WAYLAND_SOCKET)".to_owned()
        }
        (Some((name, socket)), _) => format!("the Wayland compositor {} ({name})", socket.display()),
        (None, Some(display)) => format!("the X server {} ({X11})", display.display()),
        (None, None) => "another compositor".to_owned(),
    }
}

impl Parent {
    /// Connects: to a Wayland compositor rather than to an X server, since it says when frames are shown.
    pub(super) fn connect() -> anyhow::Result<Self> {
        let variable = |name: &str| std::env::var_os(name);
        if is_there(&variable) && !has_wayland(&variable) {
            return Ok(Parent::X11(Box::new(X11Backend::connect()?)));
        }
        Ok(Parent::Wayland(Box::new(NestedBackend::connect()?)))
    }

    pub(super) fn open(&mut self, name: &str, size: (i32, i32)) -> anyhow::Result<Opened> {
        Ok(match self {
            Parent::Wayland(parent) => {
                let output = parent.open(name, size)?;
                let (window, scale) = (output.window(), output.scale());
                Opened { display: Box::new(output), window, scale }
            }
            Parent::X11(parent) => {
                let output = parent.open(name, size)?;
                let window = output.window();
                Opened { display: Box::new(output), window, scale: 1.0 }
            }
        })
    }

    /// Takes in what the parent says. An error: it is gone.
    pub(super) fn dispatch(&mut self) -> anyhow::Result<()> {
        match self {
            Parent::Wayland(parent) => parent.dispatch()?,
            Parent::X11(parent) => parent.dispatch()?,
        }
        Ok(())
    }

    pub(super) fn poll_event(&mut self) -> Option<ParentEvent> {
        match self {
            Parent::Wayland(parent) => parent.poll_event(),
            Parent::X11(parent) => parent.poll_event(),
        }
    }

    /// Sends what was requested.
    pub(super) fn flush(&self) {
        match self {
            Parent::Wayland(parent) => parent.flush(),
            // Whatever is requested is sent at once.
            Parent::X11(_) => {}
        }
    }
}

impl AsFd for Parent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Parent::Wayland(parent) => parent.as_fd(),
            Parent::X11(parent) => parent.as_fd(),
        }
    }
}
