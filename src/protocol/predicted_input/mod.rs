//! `upbeat_predicted_input_manager_v1` 1: before a client draws, it is sent where pointers, fingers and pens will be
//! when the frame is shown.
//!
//! The contract is `protocols/upbeat-predicted-input-v1.xml`. Requests are checked here.
//! [`surface::input_prediction`](crate::surface::input_prediction) follows the devices. Positions are sent where a
//! frame is started (`output::clients::frame_callbacks`, `output::clients::frame_targets`).

#[rustfmt::skip]
mod generated;
mod listener;

use std::sync::Arc;

use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, WEnum, Weak,
};

use crate::guard::Handlers;
use crate::state::State;
use crate::surface::input_prediction::{InputPrediction, PredictionSettings};
use generated::upbeat_predicted_input_manager_v1::{self as manager, UpbeatPredictedInputManagerV1};
use generated::upbeat_predicted_input_v1::{self as wire, Axes, UpbeatPredictedInputV1};
use upbeat_timing::time::Span;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct PredictedInputManager {
    _global: GlobalId,
}

impl PredictedInputManager {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, UpbeatPredictedInputManagerV1, ()>(VERSION, ());
        PredictedInputManager { _global: global }
    }
}

/// User data of a predicted input object: its surface.
#[derive(Debug)]
struct PredictedInput(Weak<WlSurface>);

impl GlobalDispatch<UpbeatPredictedInputManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<UpbeatPredictedInputManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<UpbeatPredictedInputManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &UpbeatPredictedInputManagerV1,
        request: manager::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let manager::Request::GetPredictedInput { id, surface } = request {
            let object = init.init(id, PredictedInput(surface.downgrade()));
            let Some(entry) = state.surfaces.get_mut(&surface) else { return };
            if entry.input_prediction().is_some() {
                let number = surface.id().protocol_id();
                let what = format!("wl_surface#{number} has a predicted input object already");
                manager.post_error(manager::Error::AlreadyExists, what);
                return;
            }
            entry.set_input_prediction(Some(Box::new(InputPrediction::new(Arc::new(object)))));
            // Makes this turn look up whether the user's rules allow it for this client.
            state.outputs.rules_mut().mark_client_stale(entry.client());
        }
    }
}

impl Dispatch<UpbeatPredictedInputV1, PredictedInput, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &UpbeatPredictedInputV1,
        request: wire::Request,
        data: &PredictedInput,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use wire::Request;
        let Some(entry) = data.0.upgrade().ok().and_then(|surface| state.surfaces.get_mut(&surface)) else { return };
        let change: Box<dyn FnOnce(&mut PredictionSettings)> = match request {
            Request::Destroy => {
                entry.set_input_prediction(None);
                return;
            }
            Request::SetAxes { axes: WEnum::Value(axes) } => Box::new(move |settings| {
                (settings.horizontal, settings.vertical) =
                    (axes.contains(Axes::Horizontal), axes.contains(Axes::Vertical));
            }),
            Request::SetAxes { axes: WEnum::Unknown(bits) } => {
                object.post_error(wire::Error::InvalidAxes, format!("{bits:#x} has bits that are no axis"));
                return;
            }
            Request::SetHorizon { nanoseconds } => {
                Box::new(move |settings| settings.horizon = Some(Span::from_nanos(i64::from(nanoseconds))))
            }
        };
        if let Some(foresight) = entry.input_prediction_mut() {
            foresight.change_settings(change);
        }
    }
}
