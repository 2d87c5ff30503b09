//! The objects of `zwp_tablet_manager_v2`. Implemented here because Smithay 0.7 serves only the first tablet seat of a
//! client.
//!
//! ```text
//!   zwp_tablet_seat_v2 ──┬── zwp_tablet_v2        one for each tablet
//!   (an instance)        └── zwp_tablet_tool_v2   one for each tool ([`ToolObject`])
//! ```
//!
//! A client may have several instances. Each has objects of its own and gets events only for these, but all of them get
//! the events of a tool on a surface of the client. An instance that is made later gets the present tools and presses;
//! the other instances get nothing then. Objects outlive their instance, as the protocol says.

use smithay::backend::input::TabletToolDescriptor;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_seat_v2::ZwpTabletSeatV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_tool_v2::ZwpTabletToolV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_v2::ZwpTabletV2;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DisplayHandle, Resource};
use smithay::utils::{Logical, Point, Serial};
use smithay::wayland::tablet_manager::TabletDescriptor;

use super::tool_object::ToolObject;
use crate::input::tool::{ToolAction, ToolAxes};
use crate::state::State;

/// A tablet that is plugged in.
#[derive(Debug)]
struct TabletObjects {
    descriptor: TabletDescriptor,
    /// Each with the instance that it was made for.
    objects: Vec<(ZwpTabletSeatV2, ZwpTabletV2)>,
}

/// A tool that has been near a tablet; kept while any tablet is plugged in.
#[derive(Debug)]
struct ToolObjects {
    descriptor: TabletToolDescriptor,
    /// The surface that it is on, unless it acts as the pointer.
    focus: Option<WlSurface>,
    objects: Vec<ToolObject>,
}

/// A motion of a tool on a surface.
#[derive(Debug)]
pub(super) struct ToolMotion<'a> {
    pub(super) tablet: &'a TabletDescriptor,
    pub(super) surface: &'a WlSurface,
    /// Surface coordinates.
    pub(super) at: Point<f64, Logical>,
    pub(super) axes: &'a ToolAxes,
    /// For `proximity_in`, where it is still to be sent.
    pub(super) serial: Serial,
    pub(super) millis: u32,
}

/// Every instance of `zwp_tablet_seat_v2`, with its objects.
#[derive(Debug, Default)]
pub(super) struct TabletSeats {
    instances: Vec<ZwpTabletSeatV2>,
    tablets: Vec<TabletObjects>,
    tools: Vec<ToolObjects>,
}

impl TabletSeats {
    pub(super) fn has_tablet(&self, tablet: &TabletDescriptor) -> bool {
        self.tablets.iter().any(|known| known.descriptor == *tablet)
    }

    /// A tablet was plugged in: announces it to every instance. Has no effect if it is known.
    pub(super) fn add_tablet(&mut self, display: &DisplayHandle, descriptor: &TabletDescriptor) {
        if self.has_tablet(descriptor) {
            return;
        }
        let mut tablet = TabletObjects { descriptor: descriptor.clone(), objects: Vec::new() };
        for (seat, client) in instances_of(&self.instances) {
            tablet.announce(display, &client, seat);
        }
        self.tablets.push(tablet);
    }

    /// A tablet was unplugged. With the last tablet all tools are removed, too.
    pub(super) fn remove_tablet(&mut self, descriptor: &TabletDescriptor, millis: u32) {
        for tablet in self.tablets.extract_if(.., |known| known.descriptor == *descriptor) {
            tablet.objects.iter().for_each(|(_, object)| object.removed());
        }
        if self.tablets.is_empty() {
            for object in self.tools.drain(..).flat_map(|tool| tool.objects) {
                let mut object = object;
                object.leave(millis);
                object.object.removed();
            }
        }
    }

    /// A tool is near a tablet: announces it to every instance, unless it is known.
    pub(super) fn add_tool(&mut self, display: &DisplayHandle, descriptor: &TabletToolDescriptor) {
        if self.tools.iter().any(|tool| tool.descriptor == *descriptor) {
            return;
        }
        let mut tool = ToolObjects { descriptor: descriptor.clone(), focus: None, objects: Vec::new() };
        for (seat, client) in instances_of(&self.instances) {
            tool.objects.extend(ToolObject::new(display, &client, seat, descriptor));
        }
        self.tools.push(tool);
    }

    /// `client` made an instance: announces the present tablets and tools.
    pub(super) fn add_instance(&mut self, display: &DisplayHandle, client: &Client, seat: &ZwpTabletSeatV2) {
        for tablet in &mut self.tablets {
            tablet.announce(display, client, seat);
        }
        for tool in &mut self.tools {
            tool.objects.extend(ToolObject::new(display, client, seat, &tool.descriptor));
        }
        self.instances.push(seat.clone());
    }

    pub(super) fn remove_instance(&mut self, seat: &ZwpTabletSeatV2) {
        self.instances.retain(|known| known != seat);
    }

    pub(super) fn remove_tablet_object(&mut self, object: &ZwpTabletV2) {
        self.tablets.iter_mut().for_each(|tablet| tablet.objects.retain(|(_, known)| known != object));
    }

    pub(super) fn remove_tool_object(&mut self, object: &ZwpTabletToolV2) {
        self.tools.iter_mut().for_each(|tool| tool.objects.retain(|known| known.object != *object));
    }

    /// Whether `object` got `proximity_in` and not yet `proximity_out`.
    pub(super) fn is_near(&self, object: &ZwpTabletToolV2) -> bool {
        let mut objects = self.tools.iter().flat_map(|tool| &tool.objects);
        objects.any(|known| known.object == *object && known.is_near)
    }

    /// A tool is on a surface whose client gets its events. It leaves the surface that it was on before.
    pub(super) fn move_to(&mut self, descriptor: &TabletToolDescriptor, motion: &ToolMotion<'_>) {
        let Some((tool, tablets)) = self.find(descriptor) else { return };
        if tool.focus.as_ref() != Some(motion.surface) {
            tool.leave(motion.millis);
            tool.focus = Some(motion.surface.clone());
        }
        for object in tool.objects.iter_mut().filter(|object| object.is_of(motion.surface)) {
            if send_motion(object, tablets, motion) {
                object.object.frame(motion.millis);
            }
        }
    }

    /// Sends the action of the tip or a button to the client under the tool.
    pub(super) fn act(&mut self, descriptor: &TabletToolDescriptor, action: ToolAction, serial: Serial, millis: u32) {
        let Some((tool, _)) = self.find(descriptor) else { return };
        for object in &mut tool.objects {
            if object.act(action, serial) {
                object.object.frame(millis);
            }
        }
    }

    /// Sends `proximity_in` and the pressed buttons to a new instance, for a tool on a surface of its client.
    pub(super) fn catch_up(
        &mut self,
        seat: &ZwpTabletSeatV2,
        descriptor: &TabletToolDescriptor,
        motion: &ToolMotion<'_>,
        pressed: &[(ToolAction, Serial)],
    ) {
        let Some((tool, tablets)) = self.find(descriptor) else { return };
        for object in tool.objects.iter_mut().filter(|object| object.seat == *seat) {
            if !send_motion(object, tablets, motion) {
                continue;
            }
            for (action, serial) in pressed {
                object.act(*action, *serial);
            }
            object.object.frame(motion.millis);
        }
    }

    /// The tool is on no surface whose client gets its events.
    pub(super) fn leave(&mut self, descriptor: &TabletToolDescriptor, millis: u32) {
        if let Some((tool, _)) = self.find(descriptor) {
            tool.leave(millis);
        }
    }

    fn find(&mut self, descriptor: &TabletToolDescriptor) -> Option<(&mut ToolObjects, &[TabletObjects])> {
        let tool = self.tools.iter_mut().find(|tool| tool.descriptor == *descriptor)?;
        Some((tool, &self.tablets))
    }
}

impl TabletObjects {
    /// Makes an object for `seat`, and describes the tablet.
    fn announce(&mut self, display: &DisplayHandle, client: &Client, seat: &ZwpTabletSeatV2) {
        let Ok(object) = client.create_resource::<ZwpTabletV2, (), State>(display, seat.version(), ()) else { return };
        seat.tablet_added(&object);
        let TabletDescriptor { name, usb_id, syspath } = &self.descriptor;
        object.name(name.clone());
        if let Some((product, vendor)) = *usb_id {
            object.id(vendor, product);
        }
        if let Some(path) = syspath.as_ref().and_then(|path| path.to_str()) {
            object.path(path.to_owned());
        }
        object.done();
        self.objects.push((seat.clone(), object));
    }
}

impl ToolObjects {
    fn leave(&mut self, millis: u32) {
        self.focus = None;
        self.objects.iter_mut().for_each(|object| object.leave(millis));
    }
}

/// Sends the tool's position to `object`, after `proximity_in` where needed. Returns whether it was sent: not if the
/// client has destroyed the surface or its object of the tablet.
fn send_motion(object: &mut ToolObject, tablets: &[TabletObjects], motion: &ToolMotion<'_>) -> bool {
    if !object.is_near {
        if !motion.surface.is_alive() {
            return false;
        }
        let Some(tablet) = tablet_object(tablets, motion.tablet, &object.seat) else { return false };
        object.come_near(tablet, motion.surface, motion.serial);
    }
    object.move_to(motion.at, motion.axes);
    true
}

/// The object of a tablet that belongs to `seat`.
fn tablet_object<'a>(
    tablets: &'a [TabletObjects],
    descriptor: &TabletDescriptor,
    seat: &ZwpTabletSeatV2,
) -> Option<&'a ZwpTabletV2> {
    let tablet = tablets.iter().find(|tablet| tablet.descriptor == *descriptor)?;
    tablet.objects.iter().find(|(of, _)| of == seat).map(|(_, object)| object)
}

fn instances_of(seats: &[ZwpTabletSeatV2]) -> impl Iterator<Item = (&ZwpTabletSeatV2, Client)> {
    seats.iter().filter_map(|seat| Some((seat, seat.client()?)))
}
