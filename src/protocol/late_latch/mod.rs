//! `upbeat_late_latch_manager_v1` 1: content that is placed as late as the display allows.
//!
//! The contract is `protocols/upbeat-late-latch-v1.xml`. Requests are checked here; the output that shows a follower
//! places it at its latch (`output::scene::followers`).
//!
//! Offered only if the configuration says so (`[late-latch] followers`): no client uses it yet, and a version offered
//! to all could not be changed any more.

mod front_buffer;
#[rustfmt::skip]
mod generated;

use std::sync::Arc;

use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_seat::WlSeat;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, WEnum, Weak,
};
use smithay::utils::Point;
use smithay::wayland::compositor;

use crate::bounds::coordinate;
use crate::guard::Handlers;
use crate::input;
use crate::output::clients::front_buffer as fronts;
use crate::output::scene::followers;
use crate::state::State;
use crate::surface::follower::{FollowMode, Follower, FollowerListener, LeadingDevices};
use crate::surface::front_buffer::FrontBuffer;
use front_buffer::FrontObject;
use generated::upbeat_follower_v1::{self as wire, UpbeatFollowerV1};
use generated::upbeat_front_buffer_v1::UpbeatFrontBufferV1;
use generated::upbeat_late_latch_manager_v1::{self as manager, UpbeatLateLatchManagerV1};
use upbeat_timing::time::Span;

const VERSION: u32 = 1;

/// The global, while it is offered.
#[derive(Debug, Default)]
pub struct LateLatchManager(Option<GlobalId>);

/// Offers the global, or removes it. Existing followers stay.
pub fn offer(state: &mut State, offered: bool) {
    let (display, global) = (&state.display_handle, &mut state.protocols.late_latch.0);
    if !offered && let Some(global) = global.take() {
        state.protocols.output.retire(display, global);
    } else if offered && global.is_none() {
        *global = Some(display.create_global::<State, UpbeatLateLatchManagerV1, ()>(VERSION, ()));
    }
}

/// User data of a follower object: its surface, or `None` if the object is inert.
#[derive(Debug)]
struct FollowerObject(Option<Weak<WlSurface>>);

impl FollowerObject {
    fn surface(&self) -> Option<WlSurface> {
        self.0.as_ref()?.upgrade().ok()
    }
}

/// Sends events to the client of a follower, and knows the seat that leads it.
#[derive(Debug)]
struct FollowerEvents {
    object: UpbeatFollowerV1,
    seat: Weak<WlSeat>,
}

impl FollowerListener for FollowerEvents {
    fn send_mode(&self, means: FollowMode) {
        self.object.means(match means {
            FollowMode::None => wire::Means::None,
            FollowMode::Composed => wire::Means::Composed,
            FollowMode::Overlay => wire::Means::Overlay,
            FollowMode::Cursor => wire::Means::Cursor,
            FollowMode::InPlace => wire::Means::InPlace,
        });
    }

    fn has_seat(&self) -> bool {
        self.seat.is_alive()
    }
}

impl GlobalDispatch<UpbeatLateLatchManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<UpbeatLateLatchManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<UpbeatLateLatchManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &UpbeatLateLatchManagerV1,
        request: manager::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let (id, surface, seat, devices) = match request {
            manager::Request::Destroy => return,
            manager::Request::GetFrontBuffer { id, surface } => {
                return get_front_buffer(state, manager, id, &surface, init);
            }
            manager::Request::GetFollower { id, surface, seat, devices } => (id, surface, seat, devices),
        };
        let number = surface.id().protocol_id();
        let leading = leading_devices(devices);
        let fault = match state.surfaces.get(&surface) {
            _ if compositor::get_parent(&surface).is_none() => {
                Some((manager::Error::NotASubsurface, format!("wl_surface#{number} is no subsurface")))
            }
            Some(entry) if entry.follower().is_some() => {
                Some((manager::Error::AlreadyExists, format!("wl_surface#{number} has a follower already")))
            }
            _ if leading.is_none() => {
                let bits = u32::from(devices);
                Some((manager::Error::InvalidDevices, format!("{bits:#x} is no combination of devices")))
            }
            _ => None,
        };
        let leading = match (fault, leading) {
            (None, Some(leading)) => leading,
            (fault, _) => {
                init.init(id, FollowerObject(None));
                fault.into_iter().for_each(|(error, what)| manager.post_error(error, what));
                return;
            }
        };
        let object = init.init(id, FollowerObject(Some(surface.downgrade())));
        if let Some(entry) = state.surfaces.get_mut(&surface) {
            let listener = FollowerEvents { object, seat: seat.downgrade() };
            entry.set_follower(Some(Box::new(Follower::new(leading, Arc::new(listener)))));
            // Makes this turn look up whether the user's rules allow predictions for this client.
            let client = entry.client();
            state.outputs.rules_mut().mark_client_stale(client);
            followers::begin(state, &surface);
            input::report_standing_devices(state);
        }
    }
}

/// The requested kinds of devices; `None` if there is none, or a bit of no meaning.
fn leading_devices(devices: WEnum<manager::Devices>) -> Option<LeadingDevices> {
    let WEnum::Value(devices) = devices else { return None };
    let has = |device| devices.contains(device);
    (!devices.is_empty()).then(|| LeadingDevices {
        pointer: has(manager::Devices::Pointer),
        touch: has(manager::Devices::Touch),
        tool: has(manager::Devices::Tool),
    })
}

fn get_front_buffer(
    state: &mut State,
    manager: &UpbeatLateLatchManagerV1,
    id: New<UpbeatFrontBufferV1>,
    surface: &WlSurface,
    init: &mut DataInit<'_, State>,
) {
    let is_taken = state.surfaces.get(surface).is_some_and(|entry| entry.front_buffer().is_some());
    if is_taken {
        init.init(id, FrontObject(None));
        let number = surface.id().protocol_id();
        let what = format!("wl_surface#{number} has a front buffer already");
        return manager.post_error(manager::Error::AlreadyExists, what);
    }
    let object = init.init(id, FrontObject(Some(surface.downgrade())));
    if let Some(entry) = state.surfaces.get_mut(surface) {
        let listener = front_buffer::FrontBufferEvents(object);
        entry.set_front_buffer(Some(Box::new(FrontBuffer::new(Arc::new(listener)))));
        fronts::begin(state, surface);
    }
}

impl Dispatch<UpbeatFollowerV1, FollowerObject, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _object: &UpbeatFollowerV1,
        request: wire::Request,
        data: &FollowerObject,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let Some(surface) = data.surface() else { return };
        let Some(follower) = state.surfaces.get_mut(&surface).and_then(|entry| entry.follower_mut()) else { return };
        match request {
            wire::Request::SetAnchor { x, y } => follower.set_anchor(Point::from((coordinate(x), coordinate(y)))),
            wire::Request::SetHorizon { nanoseconds } => follower.set_horizon(Span::from_nanos(nanoseconds.into())),
            wire::Request::Destroy => return,
        }
        followers::begin(state, &surface);
    }

    fn destroyed(state: &mut State, _client: ClientId, _object: &UpbeatFollowerV1, data: &FollowerObject) {
        let Some(surface) = data.surface() else { return };
        if let Some(entry) = state.surfaces.get_mut(&surface) {
            entry.set_follower(None);
        }
        followers::end(state, &surface);
    }
}
