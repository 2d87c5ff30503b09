//! Wayland events of the ink client.

use wayland_client::protocol::{
    wl_buffer::{self, WlBuffer},
    wl_callback::WlCallback,
    wl_compositor::WlCompositor,
    wl_pointer::{self, WlPointer},
    wl_region::WlRegion,
    wl_seat::{self, WlSeat},
    wl_shm::WlShm,
    wl_shm_pool::WlShmPool,
    wl_subcompositor::WlSubcompositor,
    wl_subsurface::WlSubsurface,
    wl_surface::WlSurface,
    wl_touch::{self, WlTouch},
};
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum, delegate_noop, event_created_child};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_pad_v2::ZwpTabletPadV2;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_seat_v2::{self, ZwpTabletSeatV2};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_tool_v2::{self, ZwpTabletToolV2};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_v2::ZwpTabletV2;

use super::sheet::InkClient;
use crate::dispatch_macros::{answer_pings, impl_dispatch, track_window};
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::UpbeatFramePacingManagerV1;
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_v1::{self, UpbeatFramePacingV1};
use upbeat_client::protocol::late_latch::upbeat_follower_v1::UpbeatFollowerV1;
use upbeat_client::protocol::late_latch::upbeat_front_buffer_v1::{self, UpbeatFrontBufferV1};
use upbeat_client::protocol::late_latch::upbeat_late_latch_manager_v1::UpbeatLateLatchManagerV1;
use upbeat_client::protocol::predicted_input::upbeat_predicted_input_manager_v1::UpbeatPredictedInputManagerV1;
use upbeat_client::protocol::predicted_input::upbeat_predicted_input_v1::{self, UpbeatPredictedInputV1};

answer_pings!(InkClient);
track_window!(InkClient);

impl_dispatch!(InkClient: WlBuffer, usize, |sheet, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        sheet.buffers.handle_release(*index);
    }
});

impl_dispatch!(InkClient: WlCallback, (), |sheet, _, _, _, _| {
    sheet.callback_done = true;
});

impl_dispatch!(InkClient: UpbeatFramePacingV1, (), |sheet, _, event, _, _| {
    if let (upbeat_frame_pacing_v1::Event::Target { id_hi, id_lo, .. }, Some(targets)) = (event, &mut sheet.targets) {
        targets.newest = (id_hi, id_lo);
        sheet.callback_done = true;
    }
});

impl_dispatch!(InkClient: UpbeatPredictedInputV1, (), |sheet, _, event, _, _| {
    if let upbeat_predicted_input_v1::Event::Predicted { x, y, .. } = event {
        sheet.predicted = Some((x, y));
    }
});

impl_dispatch!(InkClient: UpbeatFrontBufferV1, (), |sheet, object, event, _, _| {
    use upbeat_front_buffer_v1::Event;
    let Some(front) = &mut sheet.front else { return };
    match event {
        Event::Scan { anchor_sec_hi, anchor_sec_lo, anchor_nsec, interval, line_time, .. } => {
            front.set_timing((anchor_sec_hi, anchor_sec_lo, anchor_nsec), interval, line_time);
        }
        Event::Active { .. } => front.is_active = true,
        Event::Inactive { serial, .. } => {
            front.is_active = false;
            object.ack_inactive(serial);
        }
        _ => {}
    }
});

impl_dispatch!(InkClient: WlSeat, (), |sheet, seat, event, _, handle| {
    if let wl_seat::Event::Capabilities { capabilities: WEnum::Value(can) } = event {
        if can.contains(wl_seat::Capability::Pointer) {
            sheet.pointer = Some(seat.get_pointer(handle, ()));
        }
        if can.contains(wl_seat::Capability::Touch) {
            seat.get_touch(handle, ());
        }
        if let Some(tablets) = sheet.tablets.take() {
            tablets.get_tablet_seat(seat, handle, ());
        }
    }
});

impl_dispatch!(InkClient: WlPointer, (), |sheet, pointer, event, _, _| {
    match event {
        wl_pointer::Event::Enter { serial, surface_x, surface_y, .. } => {
            // Hide the cursor over the ink, because its pixels are read.
            pointer.set_cursor(serial, None, 0, 0);
            sheet.handle_position(surface_x, surface_y);
        }
        wl_pointer::Event::Motion { surface_x, surface_y, .. } => sheet.handle_position(surface_x, surface_y),
        _ => {}
    }
});

impl_dispatch!(InkClient: WlTouch, (), |sheet, _, event, _, _| {
    match event {
        wl_touch::Event::Down { x, y, .. } | wl_touch::Event::Motion { x, y, .. } => sheet.handle_position(x, y),
        _ => {}
    }
});

impl_dispatch!(InkClient: ZwpTabletToolV2, (), |sheet, tool, event, _, _| {
    match event {
        zwp_tablet_tool_v2::Event::ProximityIn { serial, .. } => tool.set_cursor(serial, None, 0, 0),
        zwp_tablet_tool_v2::Event::Motion { x, y } => sheet.handle_position(x, y),
        _ => {}
    }
});

impl Dispatch<ZwpTabletSeatV2, ()> for InkClient {
    fn event(
        _: &mut Self,
        _: &ZwpTabletSeatV2,
        _: zwp_tablet_seat_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }

    event_created_child!(InkClient, ZwpTabletSeatV2, [
        zwp_tablet_seat_v2::EVT_TABLET_ADDED_OPCODE => (ZwpTabletV2, ()),
        zwp_tablet_seat_v2::EVT_TOOL_ADDED_OPCODE => (ZwpTabletToolV2, ()),
        zwp_tablet_seat_v2::EVT_PAD_ADDED_OPCODE => (ZwpTabletPadV2, ())
    ]);
}

delegate_noop!(InkClient: ignore WlCompositor);
delegate_noop!(InkClient: ignore WlShm);
delegate_noop!(InkClient: ignore WlShmPool);
delegate_noop!(InkClient: ignore WlSurface);
delegate_noop!(InkClient: ignore WlRegion);
delegate_noop!(InkClient: ignore WlSubcompositor);
delegate_noop!(InkClient: ignore WlSubsurface);
delegate_noop!(InkClient: ignore UpbeatLateLatchManagerV1);
delegate_noop!(InkClient: ignore UpbeatFramePacingManagerV1);
delegate_noop!(InkClient: ignore UpbeatFollowerV1);
delegate_noop!(InkClient: ignore ZwpTabletManagerV2);
delegate_noop!(InkClient: ignore ZwpTabletV2);
delegate_noop!(InkClient: ignore ZwpTabletPadV2);
delegate_noop!(InkClient: ignore UpbeatPredictedInputManagerV1);
