//! Graphics tablets and their tools, from libinput.

use input::Device;
use input::event::EventTrait;
use input::event::pointer::ButtonState;
use input::event::tablet_tool::{
    ProximityState, TabletTool, TabletToolEvent, TabletToolEventTrait, TabletToolType as Kind, TipState,
};
use smithay::backend::input::{TabletToolCapabilities, TabletToolDescriptor, TabletToolType};
use smithay::output::Output;
use smithay::wayland::tablet_manager::TabletDescriptor;

use crate::input::tablet::{ToolAction, ToolAxes, ToolEvent};
use crate::output::place_on_panel;

/// The description that clients get of the tablet.
pub(super) fn describe(device: &Device) -> TabletDescriptor {
    TabletDescriptor {
        name: device.name().to_string(),
        usb_id: Some((device.id_product(), device.id_vendor())),
        syspath: None,
    }
}

/// Translates an event on a tablet that covers the panel of `screen`. `None` for events that later versions of libinput
/// may add.
pub(super) fn translate(event: &TabletToolEvent, screen: &Output) -> Option<ToolEvent> {
    let action = match event {
        TabletToolEvent::Axis(_) => ToolAction::Move,
        TabletToolEvent::Proximity(event) => match event.proximity_state() {
            ProximityState::In => ToolAction::Enter,
            ProximityState::Out => ToolAction::Leave,
        },
        TabletToolEvent::Tip(event) => ToolAction::Tip(event.tip_state() == TipState::Down),
        TabletToolEvent::Button(event) => {
            ToolAction::Button(event.button(), event.button_state() == ButtonState::Pressed)
        }
        _ => return None,
    };
    let position = place_on_panel(screen, (event.x_transformed(1), event.y_transformed(1)));
    let tablet = describe(&event.device());
    Some(ToolEvent { tablet, tool: describe_tool(&event.tool()), position, axes: axes(event), action })
}

fn describe_tool(tool: &TabletTool) -> TabletToolDescriptor {
    let tool_type = match tool.tool_type() {
        Some(Kind::Pen) => TabletToolType::Pen,
        Some(Kind::Eraser) => TabletToolType::Eraser,
        Some(Kind::Brush) => TabletToolType::Brush,
        Some(Kind::Pencil) => TabletToolType::Pencil,
        Some(Kind::Airbrush) => TabletToolType::Airbrush,
        Some(Kind::Mouse) => TabletToolType::Mouse,
        Some(Kind::Lens) => TabletToolType::Lens,
        Some(Kind::Totem) => TabletToolType::Totem,
        _ => TabletToolType::Unknown,
    };
    let mut capabilities = TabletToolCapabilities::empty();
    capabilities.set(TabletToolCapabilities::TILT, tool.has_tilt());
    capabilities.set(TabletToolCapabilities::PRESSURE, tool.has_pressure());
    capabilities.set(TabletToolCapabilities::DISTANCE, tool.has_distance());
    capabilities.set(TabletToolCapabilities::ROTATION, tool.has_rotation());
    capabilities.set(TabletToolCapabilities::SLIDER, tool.has_slider());
    capabilities.set(TabletToolCapabilities::WHEEL, tool.has_wheel());
    TabletToolDescriptor { tool_type, hardware_serial: tool.serial(), hardware_id_wacom: tool.tool_id(), capabilities }
}

fn axes(event: &TabletToolEvent) -> ToolAxes {
    let tilted = event.tilt_x_has_changed() || event.tilt_y_has_changed();
    let wheel = || (event.wheel_delta(), event.wheel_delta_discrete() as i32);
    ToolAxes {
        pressure: event.pressure_has_changed().then(|| event.pressure()),
        distance: event.distance_has_changed().then(|| event.distance()),
        tilt: tilted.then(|| (event.tilt_x(), event.tilt_y())),
        rotation: event.rotation_has_changed().then(|| event.rotation()),
        slider: event.slider_has_changed().then(|| event.slider_position()),
        wheel: event.wheel_has_changed().then(wheel),
    }
}
