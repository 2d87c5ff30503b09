//! Tablet tools: pens on a graphics tablet or a screen.

use std::collections::HashMap;

use wayland_client::backend::ObjectId;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, delegate_noop, event_created_child};
use wayland_protocols::wp::tablet::zv2::client::{
    zwp_tablet_manager_v2::ZwpTabletManagerV2,
    zwp_tablet_pad_dial_v2::ZwpTabletPadDialV2,
    zwp_tablet_pad_group_v2::{self, ZwpTabletPadGroupV2},
    zwp_tablet_pad_ring_v2::ZwpTabletPadRingV2,
    zwp_tablet_pad_strip_v2::ZwpTabletPadStripV2,
    zwp_tablet_pad_v2::{self, ZwpTabletPadV2},
    zwp_tablet_seat_v2::{self, ZwpTabletSeatV2},
    zwp_tablet_tool_v2::{self, ZwpTabletToolV2},
    zwp_tablet_v2::ZwpTabletV2,
};

use super::window::{WindowEvents, WindowInput};

/// A tablet tool, and its events since the last frame event.
#[derive(Debug, Default)]
struct Pen {
    tool: u32,
    position: (f64, f64),
    touches: bool,
    leaves: bool,
}

/// The tablet tools of the seat.
#[derive(Debug, Default)]
pub struct PenState(HashMap<ObjectId, Pen>);

/// Listens to the tools of `seat`, if the compositor offers tablets.
pub(super) fn listen(globals: &GlobalList, seat: &WlSeat, handle: &QueueHandle<WindowEvents>) {
    if let Ok(manager) = globals.bind::<ZwpTabletManagerV2, _, _>(handle, 1..=1, ()) {
        manager.get_tablet_seat(seat, handle, ());
    }
}

impl Dispatch<ZwpTabletToolV2, ()> for WindowEvents {
    fn event(
        events: &mut Self,
        object: &ZwpTabletToolV2,
        event: zwp_tablet_tool_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let pen = events.pens.0.entry(object.id()).or_default();
        match event {
            zwp_tablet_tool_v2::Event::HardwareSerial { hardware_serial_lo, .. } => pen.tool = hardware_serial_lo,
            zwp_tablet_tool_v2::Event::Motion { x, y } => pen.position = (x, y),
            zwp_tablet_tool_v2::Event::Down { .. } => pen.touches = true,
            zwp_tablet_tool_v2::Event::Up => pen.touches = false,
            zwp_tablet_tool_v2::Event::ProximityOut => (pen.touches, pen.leaves) = (false, true),
            zwp_tablet_tool_v2::Event::Frame { .. } => {
                let (tool, (x, y), touches) = (pen.tool, pen.position, pen.touches);
                let input = match std::mem::take(&mut pen.leaves) {
                    true => WindowInput::PenAway { tool },
                    false => WindowInput::Pen { tool, x, y, touches },
                };
                events.inputs.push(input);
            }
            zwp_tablet_tool_v2::Event::Removed => {
                events.pens.0.remove(&object.id());
                object.destroy();
            }
            _ => {}
        }
    }
}

impl Dispatch<ZwpTabletSeatV2, ()> for WindowEvents {
    fn event(
        _: &mut Self,
        _: &ZwpTabletSeatV2,
        _: zwp_tablet_seat_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }

    event_created_child!(WindowEvents, ZwpTabletSeatV2, [
        zwp_tablet_seat_v2::EVT_TABLET_ADDED_OPCODE => (ZwpTabletV2, ()),
        zwp_tablet_seat_v2::EVT_TOOL_ADDED_OPCODE => (ZwpTabletToolV2, ()),
        zwp_tablet_seat_v2::EVT_PAD_ADDED_OPCODE => (ZwpTabletPadV2, ()),
    ]);
}

impl Dispatch<ZwpTabletPadV2, ()> for WindowEvents {
    fn event(
        _: &mut Self,
        _: &ZwpTabletPadV2,
        _: zwp_tablet_pad_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }

    event_created_child!(WindowEvents, ZwpTabletPadV2, [
        zwp_tablet_pad_v2::EVT_GROUP_OPCODE => (ZwpTabletPadGroupV2, ()),
    ]);
}

impl Dispatch<ZwpTabletPadGroupV2, ()> for WindowEvents {
    fn event(
        _: &mut Self,
        _: &ZwpTabletPadGroupV2,
        _: zwp_tablet_pad_group_v2::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }

    event_created_child!(WindowEvents, ZwpTabletPadGroupV2, [
        zwp_tablet_pad_group_v2::EVT_RING_OPCODE => (ZwpTabletPadRingV2, ()),
        zwp_tablet_pad_group_v2::EVT_STRIP_OPCODE => (ZwpTabletPadStripV2, ()),
        zwp_tablet_pad_group_v2::EVT_DIAL_OPCODE => (ZwpTabletPadDialV2, ()),
    ]);
}

delegate_noop!(WindowEvents: ignore ZwpTabletManagerV2);
delegate_noop!(WindowEvents: ignore ZwpTabletV2);
delegate_noop!(WindowEvents: ignore ZwpTabletPadRingV2);
delegate_noop!(WindowEvents: ignore ZwpTabletPadStripV2);
delegate_noop!(WindowEvents: ignore ZwpTabletPadDialV2);
