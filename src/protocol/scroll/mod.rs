//! `upbeat_scroll_manager_v1` 2: content that scrolls at the rate of the display while its client sleeps.
//!
//! The contract is `protocols/upbeat-scroll-v1.xml`. Requests are checked here. A view's state is applied with its
//! commits ([`surface::scroll`](crate::surface::scroll)), and the output that shows it moves it at its latch
//! (`output::scene::scrolling`).
//!
//! Offered unless the configuration forbids it (`[scroll] views`); then `client::ScrollView` scrolls by drawing each
//! frame.

mod content;
#[rustfmt::skip]
mod generated;
mod listener;
mod view;

use std::sync::{Arc, Mutex};

use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, WEnum, Weak,
};
use smithay::wayland::compositor;

use crate::guard;
use crate::guard::Handlers;
use crate::state::State;
use crate::surface::scroll::{MOST_NESTED, ScrolledView, ViewAxis, ViewProperties, ViewState};
use generated::upbeat_scroll_manager_v1::{self as manager, UpbeatScrollManagerV1};
use generated::upbeat_scroll_view_v1::Axes;

const VERSION: u32 = 3;

/// The global, while it is offered.
#[derive(Debug, Default)]
pub struct ScrollManager(Option<GlobalId>);

/// Offers the global, or removes it. Existing views stay.
pub fn offer(state: &mut State, offered: bool) {
    let (display, global) = (&state.display_handle, &mut state.protocols.scroll.0);
    if !offered && let Some(global) = global.take() {
        state.protocols.output.retire(display, global);
    } else if offered && global.is_none() {
        *global = Some(display.create_global::<State, UpbeatScrollManagerV1, ()>(VERSION, ()));
    }
}

/// User data of a view object.
#[derive(Debug)]
struct ViewObject {
    surface: Weak<WlSurface>,
    /// The object was destroyed, or its surface has another view object by now.
    inert: Mutex<bool>,
}

impl ViewObject {
    /// Its surface, unless it is inert.
    fn surface(&self) -> Option<WlSurface> {
        let inert = *self.inert.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.surface.upgrade().ok().filter(|_| !inert)
    }

    fn make_inert(&self) {
        *self.inert.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
    }
}

impl GlobalDispatch<UpbeatScrollManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<UpbeatScrollManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<UpbeatScrollManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        manager: &UpbeatScrollManagerV1,
        request: manager::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let manager::Request::GetView { id, surface } = request {
            let object = init.init(id, ViewObject { surface: surface.downgrade(), inert: Mutex::new(false) });
            let nested = depth(state, &surface);
            let (share, whole) = (state.surfaces.add_view(client.id()), state.surfaces.supply());
            let Some(entry) = state.surfaces.get_mut(&surface) else { return };
            let number = surface.id().protocol_id();
            if entry.scroll().is_some() {
                let what = format!("wl_surface#{number} has a scroll view already");
                manager.post_error(manager::Error::AlreadyExists, what);
                return;
            }
            if nested >= MOST_NESTED {
                let what = format!(
                    "wl_surface#{number} lies inside of {nested} views; views may be nested {MOST_NESTED} deep"
                );
                manager.post_error(manager::Error::TooDeep, what);
                return;
            }
            entry.set_scroll(Box::new(ScrolledView::new(Arc::new(object), share, whole)));
            edit(&surface, |_| {});
        }
    }
}

/// How many views `surface` is nested in.
fn depth(state: &State, surface: &WlSurface) -> usize {
    let above = std::iter::successors(compositor::get_parent(surface), compositor::get_parent);
    above.filter(|surface| state.surfaces.get(surface).is_some_and(|entry| entry.scroll().is_some())).count()
}

/// Changes the pending view state of `surface`.
fn edit(surface: &WlSurface, change: impl FnOnce(&mut ViewProperties)) {
    guard::with_states(surface, |states| change(states.cached_state.get::<ViewState>().pending().edit()));
}

/// The axis, if exactly one is set.
fn one_axis(axis: WEnum<Axes>) -> Option<ViewAxis> {
    match axis {
        WEnum::Value(axis) if axis == Axes::Horizontal => Some(ViewAxis::Horizontal),
        WEnum::Value(axis) if axis == Axes::Vertical => Some(ViewAxis::Vertical),
        _ => None,
    }
}
