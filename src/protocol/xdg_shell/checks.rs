//! Checks that Smithay 0.7 lacks in `xdg_wm_base`: sizes that are negative or zero where the protocol forbids it,
//! numbers that overflow, buffers before the first configure, popups destroyed out of order. Each gets the protocol's
//! own error, which ends the connection of that client and of no other.

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_popup::{self, XdgPopup};
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_positioner::{self, XdgPositioner};
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_surface::{self, XdgSurface};
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel::{self, XdgToplevel};
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_wm_base::{self, XdgWmBase};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::compositor::{self, BufferAssignment, SurfaceAttributes};
use smithay::wayland::shell::xdg::{
    PositionerState, SurfaceCachedState, XDG_POPUP_ROLE, XDG_TOPLEVEL_ROLE, XdgPositionerUserData, XdgShellState,
    XdgShellSurfaceUserData, XdgSurfaceUserData, XdgWmBaseUserData,
};

use crate::bounds::{coordinate, extent};
use crate::guard;
use crate::guard::Handlers;
use crate::protocol::dispatch_guard::delegate;
use crate::shell::xdg_errors::{post_base_error, with_objects};
use crate::state::State;
use crate::{shell, surface};

delegate!(global XdgWmBase: () => XdgShellState);

/// Whether a popup can be placed with `positioner`; if not, sends the protocol's error to the client of `surface`.
pub fn positioner_is_complete(surface: &WlSurface, positioner: &PositionerState) -> bool {
    let complete = positioner.rect_size.w > 0
        && positioner.rect_size.h > 0
        && positioner.anchor_rect.size.w > 0
        && positioner.anchor_rect.size.h > 0;
    if !complete {
        post_base_error(
            surface,
            xdg_wm_base::Error::InvalidPositioner,
            "the positioner has no size or no anchor rectangle",
        );
    }
    complete
}

/// Whether `surface`, which is about to become a window or popup, is neither yet; if it is, sends the protocol's error.
pub fn is_first_role(state: &State, surface: &WlSurface) -> bool {
    let is_first = state.shell.window_of_root(surface).is_none() && state.shell.popup(surface).is_none();
    if !is_first && let Some(xdg_surface) = state.shell.constructing() {
        xdg_surface.post_error(xdg_surface::Error::AlreadyConstructed, "the surface is a window or a popup already");
    }
    is_first
}

/// Pre-commit check of a surface with an xdg role. The hook is registered when the role is given.
pub fn check_commit(state: &mut State, _display: &DisplayHandle, surface: &WlSurface) {
    let (has_new_buffer, limits) = guard::with_states(surface, |states| {
        let buffer = matches!(
            states.cached_state.get::<SurfaceAttributes>().pending().buffer,
            Some(BufferAssignment::NewBuffer(_))
        );
        (buffer, *states.cached_state.get::<SurfaceCachedState>().pending())
    });
    if has_new_buffer
        && !shell::configure::allows_content(state, surface)
        && let Some(xdg_surface) = with_objects(surface, |objects| objects.surface.clone()?.upgrade().ok())
    {
        xdg_surface.post_error(
            xdg_surface::Error::UnconfiguredBuffer,
            "a buffer was committed before the first configure was acknowledged",
        );
    }
    let crossed = |min: i32, max: i32| max > 0 && min > max;
    if (crossed(limits.min_size.w, limits.max_size.w) || crossed(limits.min_size.h, limits.max_size.h))
        && let Some(toplevel) = state.shell.toplevel_of(surface)
    {
        toplevel
            .xdg_toplevel()
            .post_error(xdg_toplevel::Error::InvalidSize, "the minimum size is larger than the maximum size");
    }
}

/// Whether a surface may get an xdg_surface: it has no other role, and no current or pending content.
fn can_become_xdg(surface: &WlSurface) -> Result<(), (xdg_wm_base::Error, &'static str)> {
    if compositor::get_role(surface).is_some_and(|role| role != XDG_TOPLEVEL_ROLE && role != XDG_POPUP_ROLE) {
        return Err((xdg_wm_base::Error::Role, "the surface has another role"));
    }
    let is_attached = guard::with_states(surface, |states| {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        matches!(attributes.pending().buffer, Some(BufferAssignment::NewBuffer(_)))
    });
    if is_attached || surface::has_content(surface) {
        return Err((xdg_wm_base::Error::InvalidSurfaceState, "the surface has a buffer already"));
    }
    Ok(())
}

impl Dispatch<XdgWmBase, XdgWmBaseUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        base: &XdgWmBase,
        request: xdg_wm_base::Request,
        data: &XdgWmBaseUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let xdg_wm_base::Request::GetXdgSurface { surface, .. } = &request {
            if let Err((error, message)) = can_become_xdg(surface) {
                base.post_error(error, message);
                return;
            }
            with_objects(surface, |objects| objects.base = Some(base.clone()));
        }
        <XdgShellState as Dispatch<XdgWmBase, XdgWmBaseUserData, State>>::request(
            state, client, base, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, base: &XdgWmBase, data: &XdgWmBaseUserData) {
        <XdgShellState as Dispatch<XdgWmBase, XdgWmBaseUserData, State>>::destroyed(state, client, base, data);
    }
}

impl Dispatch<XdgSurface, XdgSurfaceUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        xdg_surface: &XdgSurface,
        request: xdg_surface::Request,
        data: &XdgSurfaceUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let request = match request {
            xdg_surface::Request::SetWindowGeometry { width, height, .. } if width <= 0 || height <= 0 => {
                xdg_surface.post_error(
                    xdg_surface::Error::InvalidSize,
                    format!("a window geometry of {width}x{height} was set"),
                );
                return;
            }
            xdg_surface::Request::SetWindowGeometry { x, y, width, height } => {
                xdg_surface::Request::SetWindowGeometry {
                    x: coordinate(x),
                    y: coordinate(y),
                    width: extent(width),
                    height: extent(height),
                }
            }
            other => other,
        };
        // The handler for the new role runs inside the call below, and takes its xdg_surface from here.
        state.shell.set_constructing(Some(xdg_surface.clone()));
        <XdgShellState as Dispatch<XdgSurface, XdgSurfaceUserData, State>>::request(
            state,
            client,
            xdg_surface,
            request,
            data,
            display,
            init,
        );
        state.shell.set_constructing(None);
    }

    fn destroyed(state: &mut State, client: ClientId, xdg_surface: &XdgSurface, data: &XdgSurfaceUserData) {
        <XdgShellState as Dispatch<XdgSurface, XdgSurfaceUserData, State>>::destroyed(state, client, xdg_surface, data);
    }
}

/// Checks all commits of a surface that was just given an xdg role.
pub fn watch_role(surface: &WlSurface, xdg_surface: Option<XdgSurface>) {
    let first_time = with_objects(surface, |objects| {
        let first_time = objects.surface.is_none();
        objects.surface = xdg_surface.as_ref().map(Resource::downgrade);
        first_time
    });
    if first_time {
        compositor::add_pre_commit_hook::<State, _>(surface, check_commit);
    }
}

impl Dispatch<XdgToplevel, XdgShellSurfaceUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        toplevel: &XdgToplevel,
        request: xdg_toplevel::Request,
        data: &XdgShellSurfaceUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let request = match request {
            xdg_toplevel::Request::SetMinSize { width, height }
            | xdg_toplevel::Request::SetMaxSize { width, height }
                if width < 0 || height < 0 =>
            {
                toplevel.post_error(
                    xdg_toplevel::Error::InvalidSize,
                    format!("a negative size limit of {width}x{height} was set"),
                );
                return;
            }
            xdg_toplevel::Request::SetMinSize { width, height } => {
                xdg_toplevel::Request::SetMinSize { width: extent(width), height: extent(height) }
            }
            xdg_toplevel::Request::SetMaxSize { width, height } => {
                xdg_toplevel::Request::SetMaxSize { width: extent(width), height: extent(height) }
            }
            other => other,
        };
        <XdgShellState as Dispatch<XdgToplevel, XdgShellSurfaceUserData, State>>::request(
            state, client, toplevel, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, toplevel: &XdgToplevel, data: &XdgShellSurfaceUserData) {
        <XdgShellState as Dispatch<XdgToplevel, XdgShellSurfaceUserData, State>>::destroyed(
            state, client, toplevel, data,
        );
    }
}

impl Dispatch<XdgPopup, XdgShellSurfaceUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        popup: &XdgPopup,
        request: xdg_popup::Request,
        data: &XdgShellSurfaceUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let xdg_popup::Request::Destroy = request {
            shell::popup::check_destroy_order(state, popup);
        }
        <XdgShellState as Dispatch<XdgPopup, XdgShellSurfaceUserData, State>>::request(
            state, client, popup, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, popup: &XdgPopup, data: &XdgShellSurfaceUserData) {
        <XdgShellState as Dispatch<XdgPopup, XdgShellSurfaceUserData, State>>::destroyed(state, client, popup, data);
    }
}

impl Dispatch<XdgPositioner, XdgPositionerUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        positioner: &XdgPositioner,
        request: xdg_positioner::Request,
        data: &XdgPositionerUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use xdg_positioner::Request;
        // Only upper limits, because Smithay checks the lower ones (and sends the error for a size below one).
        let size = |value: i32| value.min(crate::bounds::MAX_EXTENT);
        let request = match request {
            Request::SetSize { width, height } => Request::SetSize { width: size(width), height: size(height) },
            Request::SetAnchorRect { x, y, width, height } if width >= 0 && height >= 0 => {
                // An empty anchor rectangle is allowed. Smithay 0.7 refuses it, so it becomes a point of one pixel.
                let (width, height) = (size(width).max(1), size(height).max(1));
                Request::SetAnchorRect { x: coordinate(x), y: coordinate(y), width, height }
            }
            Request::SetOffset { x, y } => Request::SetOffset { x: coordinate(x), y: coordinate(y) },
            Request::SetParentSize { parent_width, parent_height } => {
                Request::SetParentSize { parent_width: extent(parent_width), parent_height: extent(parent_height) }
            }
            other => other,
        };
        <XdgShellState as Dispatch<XdgPositioner, XdgPositionerUserData, State>>::request(
            state, client, positioner, request, data, display, init,
        );
    }
}
