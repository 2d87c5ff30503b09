//! One `zwp_tablet_tool_v2`, and the state that was sent to it.

use smithay::backend::input::{TabletToolCapabilities as Capabilities, TabletToolDescriptor, TabletToolType};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_seat_v2::ZwpTabletSeatV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_tool_v2::{
    ButtonState, Capability, Type, ZwpTabletToolV2,
};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_v2::ZwpTabletV2;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DisplayHandle, Resource};
use smithay::utils::{Logical, Point, SERIAL_COUNTER, Serial};

use crate::input::tool::{ToolAction, ToolAxes};
use crate::state::State;

/// The protocol's 1.0 of pressure, distance and sliders.
const WHOLE: f64 = 65_535.0;

/// A `zwp_tablet_tool_v2`, and its state as its client knows it.
#[derive(Debug)]
pub(super) struct ToolObject {
    pub(super) object: ZwpTabletToolV2,
    /// The instance that it was made for.
    pub(super) seat: ZwpTabletSeatV2,
    pub(super) is_near: bool,
    is_down: bool,
    /// The buttons that are down (Linux event codes).
    buttons: Vec<u32>,
}

impl ToolObject {
    /// Makes the object of `tool` for `seat`, and describes the tool. `None` if the client is gone.
    pub(super) fn new(
        display: &DisplayHandle,
        client: &Client,
        seat: &ZwpTabletSeatV2,
        tool: &TabletToolDescriptor,
    ) -> Option<Self> {
        let object = client.create_resource::<ZwpTabletToolV2, (), State>(display, seat.version(), ()).ok()?;
        seat.tool_added(&object);
        object._type(type_of(tool.tool_type));
        let (high, low) = halves(tool.hardware_serial);
        object.hardware_serial(high, low);
        let (high, low) = halves(tool.hardware_id_wacom);
        object.hardware_id_wacom(high, low);
        for capability in capabilities_of(tool.capabilities) {
            object.capability(capability);
        }
        object.done();
        Some(ToolObject { object, seat: seat.clone(), is_near: false, is_down: false, buttons: Vec::new() })
    }

    /// Whether it belongs to the client of `surface`.
    pub(super) fn is_of(&self, surface: &WlSurface) -> bool {
        self.object.id().same_client_as(&surface.id())
    }

    pub(super) fn come_near(&mut self, tablet: &ZwpTabletV2, surface: &WlSurface, serial: Serial) {
        self.object.proximity_in(serial.into(), tablet, surface);
        self.is_near = true;
    }

    /// `at`: surface coordinates.
    pub(super) fn move_to(&self, at: Point<f64, Logical>, axes: &ToolAxes) {
        let object = &self.object;
        object.motion(at.x, at.y);
        if let Some(pressure) = axes.pressure {
            object.pressure((pressure.clamp(0.0, 1.0) * WHOLE).round() as u32);
        }
        if let Some(distance) = axes.distance {
            object.distance((distance.clamp(0.0, 1.0) * WHOLE).round() as u32);
        }
        if let Some((x, y)) = axes.tilt {
            object.tilt(x, y);
        }
        if let Some(rotation) = axes.rotation {
            object.rotation(rotation);
        }
        if let Some(slider) = axes.slider {
            object.slider((slider.clamp(-1.0, 1.0) * WHOLE).round() as i32);
        }
        if let Some((degrees, clicks)) = axes.wheel {
            object.wheel(degrees, clicks);
        }
    }

    /// Sends an action of the tip or a button, unless its state is the same already. Returns whether it was sent.
    pub(super) fn act(&mut self, action: ToolAction, serial: Serial) -> bool {
        if !self.is_near {
            return false;
        }
        match action {
            ToolAction::Tip(down) if down != self.is_down => {
                self.is_down = down;
                if down {
                    self.object.down(serial.into())
                } else {
                    self.object.up()
                }
                true
            }
            ToolAction::Button(button, pressed) if pressed != self.buttons.contains(&button) => {
                let state = if pressed { ButtonState::Pressed } else { ButtonState::Released };
                self.object.button(serial.into(), button, state);
                if pressed {
                    self.buttons.push(button)
                } else {
                    self.buttons.retain(|held| *held != button)
                }
                true
            }
            _ => false,
        }
    }

    /// The tool left: releases the tip and all buttons, in one frame.
    pub(super) fn leave(&mut self, millis: u32) {
        if !std::mem::take(&mut self.is_near) {
            return;
        }
        if std::mem::take(&mut self.is_down) {
            self.object.up();
        }
        for button in self.buttons.drain(..) {
            self.object.button(SERIAL_COUNTER.next_serial().into(), button, ButtonState::Released);
        }
        self.object.proximity_out();
        self.object.frame(millis);
    }
}

/// The high and the low 32 bits.
const fn halves(number: u64) -> (u32, u32) {
    ((number >> u32::BITS) as u32, number as u32)
}

const fn type_of(tool: TabletToolType) -> Type {
    match tool {
        TabletToolType::Eraser => Type::Eraser,
        TabletToolType::Brush => Type::Brush,
        TabletToolType::Pencil => Type::Pencil,
        TabletToolType::Airbrush => Type::Airbrush,
        TabletToolType::Mouse => Type::Mouse,
        TabletToolType::Lens => Type::Lens,
        // The protocol has no totem.
        _ => Type::Pen,
    }
}

fn capabilities_of(capabilities: Capabilities) -> impl Iterator<Item = Capability> {
    let all = [
        (Capabilities::PRESSURE, Capability::Pressure),
        (Capabilities::DISTANCE, Capability::Distance),
        (Capabilities::TILT, Capability::Tilt),
        (Capabilities::SLIDER, Capability::Slider),
        (Capabilities::ROTATION, Capability::Rotation),
        (Capabilities::WHEEL, Capability::Wheel),
    ];
    all.into_iter().filter(move |(own, _)| capabilities.contains(*own)).map(|(_, sent)| sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_serials_are_sent_in_two_halves() {
        assert_eq!(halves(0x0123_4567_89ab_cdef), (0x0123_4567, 0x89ab_cdef));
    }

    #[test]
    fn capabilities_are_sent_separately() {
        let sent: Vec<Capability> = capabilities_of(Capabilities::TILT | Capabilities::WHEEL).collect();
        assert_eq!(sent, [Capability::Tilt, Capability::Wheel]);
    }
}
