//! `wl_subcompositor` 1: surfaces inside surfaces.
//!
//! Requests on a subsurface go through `surface::dispatch`. Here only the depth of the tree is bounded, since Smithay
//! walks it by recursion.

use smithay::reexports::wayland_server::protocol::wl_subcompositor::{self, WlSubcompositor};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::compositor::{self, CompositorState};

use super::floor::delegate;
use crate::bounds::MAX_NESTING;
use crate::guard::Handlers;
use crate::state::State;

delegate!(global WlSubcompositor: () => CompositorState);

impl Dispatch<WlSubcompositor, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        subcompositor: &WlSubcompositor,
        request: wl_subcompositor::Request,
        data: &(),
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let too_deep = match &request {
            wl_subcompositor::Request::GetSubsurface { surface, parent, .. } => {
                levels_above(parent) + levels_below(surface) > MAX_NESTING
            }
            _ => false,
        };
        if too_deep {
            subcompositor.post_error(
                wl_subcompositor::Error::BadParent,
                format!("subsurfaces are nested more than {MAX_NESTING} levels deep"),
            );
            return;
        }
        <CompositorState as Dispatch<WlSubcompositor, (), State>>::request(
            state,
            client,
            subcompositor,
            request,
            data,
            display,
            init,
        );
    }
}

fn levels_above(surface: &WlSurface) -> usize {
    std::iter::successors(Some(surface.clone()), compositor::get_parent).take(MAX_NESTING + 1).count()
}

fn levels_below(surface: &WlSurface) -> usize {
    let mut level = vec![surface.clone()];
    let mut depth = 0;
    while !level.is_empty() && depth <= MAX_NESTING {
        depth += 1;
        level = level.iter().flat_map(compositor::get_children).collect();
    }
    depth
}
