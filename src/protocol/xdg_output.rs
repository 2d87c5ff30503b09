//! `zxdg_output_manager_v1` 3: position and size of an output in logical coordinates.
//!
//! Our own implementation, since Smithay 0.7 never takes an object off its list when its client is gone (only the first
//! is found there), and panics when a client asks about an output that was unplugged before.

use smithay::output::{Mode, Output, Scale, WeakOutput};
use smithay::reexports::wayland_protocols::xdg::xdg_output::zv1::server::zxdg_output_manager_v1::{
    self, ZxdgOutputManagerV1,
};
use smithay::reexports::wayland_protocols::xdg::xdg_output::zv1::server::zxdg_output_v1::{self, ZxdgOutputV1};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_output::{self, WlOutput};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};
use smithay::utils::{Logical, Point, Rectangle, Transform};

use crate::guard::Handlers;
use crate::state::State;

const VERSION: u32 = 3;
/// From this version on, changes end with `wl_output.done` instead of the object's own `done`.
const DONE_WITH_OUTPUT: u32 = 3;

/// The global and the clients' objects.
#[derive(Debug)]
pub struct XdgOutputs {
    _global: GlobalId,
    objects: Vec<ZxdgOutputV1>,
}

/// User data of an `xdg_output`: its output; `None` if that was gone when the object was created.
#[derive(Debug)]
pub struct XdgOutputData(Option<WeakOutput>);

impl XdgOutputs {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZxdgOutputManagerV1, ()>(VERSION, ());
        XdgOutputs { _global: global, objects: Vec::new() }
    }

    /// Changes the state of `output` for all clients. `xdg_output` events are sent first, because `wl_output.done` ends
    /// the change for a client.
    pub fn change(
        &self,
        output: &Output,
        mode: Option<Mode>,
        transform: Option<Transform>,
        scale: Option<Scale>,
        position: Option<Point<i32, Logical>>,
    ) {
        let area = area(
            mode.or_else(|| output.current_mode()),
            transform.unwrap_or_else(|| output.current_transform()),
            scale.unwrap_or_else(|| output.current_scale()),
            position.unwrap_or_else(|| output.current_location()),
        );
        for object in &self.objects {
            if object.data::<XdgOutputData>().and_then(|about| about.0.as_ref()).is_some_and(|known| known == output) {
                send_area(object, area);
                done(object);
            }
        }
        output.change_current_state(mode, transform, scale, position);
    }
}

/// The area of an output with this mode, transform and scale, and its top left corner at `position` (global logical
/// coordinates).
fn area(
    mode: Option<Mode>,
    transform: Transform,
    scale: Scale,
    position: Point<i32, Logical>,
) -> Rectangle<i32, Logical> {
    let size = mode.map(|mode| mode.size.to_f64().to_logical(scale.fractional_scale()).to_i32_round());
    Rectangle::new(position, transform.transform_size(size.unwrap_or_default()))
}

fn send_area(object: &ZxdgOutputV1, area: Rectangle<i32, Logical>) {
    object.logical_position(area.loc.x, area.loc.y);
    object.logical_size(area.size.w, area.size.h);
}

/// Ends the events, unless the object's version uses `wl_output.done` for that.
fn done(object: &ZxdgOutputV1) {
    if object.version() < DONE_WITH_OUTPUT {
        object.done();
    }
}

/// Sends the state of `output` to a new object.
fn send_initial_state(object: &ZxdgOutputV1, wl_output: &WlOutput, output: &Output) {
    let (mode, transform) = (output.current_mode(), output.current_transform());
    send_area(object, area(mode, transform, output.current_scale(), output.current_location()));
    if object.version() >= zxdg_output_v1::EVT_NAME_SINCE {
        object.name(output.name());
        object.description(output.description());
    }
    done(object);
    if object.version() >= DONE_WITH_OUTPUT && wl_output.version() >= wl_output::EVT_DONE_SINCE {
        wl_output.done();
    }
}

impl GlobalDispatch<ZxdgOutputManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZxdgOutputManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<ZxdgOutputManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &ZxdgOutputManagerV1,
        request: zxdg_output_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let zxdg_output_manager_v1::Request::GetXdgOutput { id, output: wl_output } = request else { return };
        let output = Output::from_resource(&wl_output);
        let object = init.init(id, XdgOutputData(output.as_ref().map(Output::downgrade)));
        if let Some(output) = output {
            send_initial_state(&object, &wl_output, &output);
        }
        state.protocols.xdg_output.objects.push(object);
    }
}

impl Dispatch<ZxdgOutputV1, XdgOutputData, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _object: &ZxdgOutputV1,
        _request: zxdg_output_v1::Request,
        _about: &XdgOutputData,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ZxdgOutputV1, _about: &XdgOutputData) {
        state.protocols.xdg_output.objects.retain(|known| known != object);
    }
}
