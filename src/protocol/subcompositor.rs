//! `wl_subcompositor` 1: surfaces inside surfaces.
//!
//! Requests on a subsurface go through `surface::dispatch`. Trees are limited here in depth, since Smithay walks them
//! by recursion, and in their number of subsurfaces.

use smithay::reexports::wayland_server::protocol::wl_subcompositor::{self, WlSubcompositor};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::compositor::{self, CompositorState};

use super::dispatch_guard::delegate;
use crate::bounds::{MAX_DEEP_PARTS, MAX_NESTING, MAX_PARTS};
use crate::guard::{self, Handlers, Kind};
use crate::state::State;
use crate::surface::{self, SurfaceRegistry};

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
        let made = match &request {
            wl_subcompositor::Request::GetSubsurface { surface, parent, .. } => {
                if let Some(too_much) = too_much(&state.surfaces, surface, parent) {
                    subcompositor.post_error(wl_subcompositor::Error::BadParent, too_much);
                    return;
                }
                Some(surface.clone())
            }
            _ => None,
        };
        <CompositorState as Dispatch<WlSubcompositor, (), State>>::request(
            state,
            client,
            subcompositor,
            request,
            data,
            display,
            init,
        );
        if let Some(surface) = made {
            state.surfaces.note_role(&surface, guard::newest_object_id(Kind::Subsurfaces));
        }
    }
}

/// The limit that would be exceeded if `surface` became a child of `parent`.
fn too_much(surfaces: &SurfaceRegistry, surface: &WlSurface, parent: &WlSurface) -> Option<String> {
    if levels_above(parent) + levels_below(surfaces, surface) > MAX_NESTING {
        return Some(format!("subsurfaces are nested more than {MAX_NESTING} levels deep"));
    }
    let root = surface::root(parent);
    let parts = surfaces.below(&root) + 1 + surfaces.below(surface);
    if parts > MAX_PARTS {
        return Some(format!("more than {MAX_PARTS} subsurfaces in one tree"));
    }
    let deep = surfaces.deep_below(&root) + surfaces.below(surface) + usize::from(root != *parent);
    (deep > MAX_DEEP_PARTS).then(|| format!("more than {MAX_DEEP_PARTS} subsurfaces that hang on others in one tree"))
}

fn levels_above(surface: &WlSurface) -> usize {
    std::iter::successors(Some(surface.clone()), compositor::get_parent).take(MAX_NESTING + 1).count()
}

fn levels_below(surfaces: &SurfaceRegistry, surface: &WlSurface) -> usize {
    if surfaces.below(surface) == 0 {
        return 1;
    }
    let mut level = vec![surface.clone()];
    let mut depth = 0;
    while !level.is_empty() && depth <= MAX_NESTING {
        depth += 1;
        level = level.iter().flat_map(compositor::get_children).collect();
    }
    depth
}
