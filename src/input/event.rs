//! Input events as every source delivers them: real devices, virtual devices of clients, injection by IPC, tests.
//! An event does not depend on its source.

use smithay::utils::{Logical, Point};
use smithay::wayland::tablet_manager::TabletDescriptor;

use super::tool::ToolEvent;
pub use crate::backend::scroll::{ScrollAxis, ScrollSource};
use upbeat_timing::time::Instant;

/// Names a keyboard. Each has a keymap of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyboardId {
    /// The keyboards of the session, which share the configured keymap.
    Session,
    /// The keyboard of the compositor that the session is nested in, with that compositor's keymap.
    Parent,
    /// A virtual keyboard, by number.
    Virtual(u64),
}

/// A gesture of several fingers on a touchpad (not pointer motion or scrolling). It begins, is updated, and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TouchpadGesture {
    /// The fingers begin to move in one direction.
    SwipeBegin { fingers: u32 },
    /// Their centre moved (coordinates of pointer motion).
    SwipeUpdate { delta: Point<f64, Logical> },
    /// They were lifted. `cancelled`: the gesture has no effect.
    SwipeEnd { cancelled: bool },
    /// The fingers begin to move towards or around each other.
    PinchBegin { fingers: u32 },
    /// Their centre moved. `scale`: relative to the distance at the beginning; `rotation`: degrees clockwise since the
    /// last event.
    PinchUpdate { delta: Point<f64, Logical>, scale: f64, rotation: f64 },
    /// As for a swipe.
    PinchEnd { cancelled: bool },
    /// The fingers rest on the touchpad.
    HoldBegin { fingers: u32 },
    /// As for a swipe; also cancelled when the fingers begin to move.
    HoldEnd { cancelled: bool },
}

/// A switch of a laptop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaptopSwitch {
    /// On: the lid is closed.
    Lid,
    /// On: the keyboard is folded away.
    TabletMode,
}

/// Which scroll views an event stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopScope {
    /// All that are in motion.
    All,
    /// Only flings, not programmed motion.
    Flings,
}

/// One event. Positions are global logical coordinates; times are `CLOCK_MONOTONIC`, when the event happened.
#[derive(Clone, Debug, PartialEq)]
pub enum InputEvent {
    /// The pointer moved by `delta`, which is accelerated; `raw` is the motion as the device reports it.
    PointerMotion { time: Instant, delta: Point<f64, Logical>, raw: Point<f64, Logical> },
    /// The pointer is at `position` (absolute device).
    PointerPosition { time: Instant, position: Point<f64, Logical> },
    /// A button (Linux event code) went down or up.
    Button { time: Instant, button: u32, pressed: bool },
    /// A wheel turned or a finger scrolled.
    Axis { time: Instant, source: ScrollSource, horizontal: ScrollAxis, vertical: ScrollAxis },
    /// A finger touched. `slot` names it until it is lifted.
    TouchDown { time: Instant, slot: u32, position: Point<f64, Logical> },
    /// A finger that is down moved.
    TouchMotion { time: Instant, slot: u32, position: Point<f64, Logical> },
    /// A finger was lifted.
    TouchUp { time: Instant, slot: u32 },
    /// The touch events since the last frame belong together.
    TouchFrame { time: Instant },
    /// The touches were taken over elsewhere and have no effect.
    TouchCancel { time: Instant },
    /// A key (Linux event code) went down or up.
    Key { time: Instant, keyboard: KeyboardId, key: u32, pressed: bool },
    /// Fingers on a touchpad.
    Gesture { time: Instant, gesture: TouchpadGesture },
    /// A pen or another tool at a graphics tablet.
    Tool { time: Instant, event: Box<ToolEvent> },
    /// A graphics tablet was plugged in, or unplugged.
    Tablet { time: Instant, tablet: TabletDescriptor, there: bool },
    /// The lid or the tablet-mode switch changed.
    Switch { time: Instant, switch: LaptopSwitch, on: bool },
    /// A keyboard's modifiers were set from outside (xkb masks and layout).
    Modifiers { time: Instant, keyboard: KeyboardId, depressed: u32, latched: u32, locked: u32, layout: u32 },
}

impl InputEvent {
    /// Whether it is user activity, and not a report of a device about itself (plugged in, a lid, modifiers of a
    /// keyboard).
    pub(super) const fn is_use(&self) -> bool {
        !matches!(self, InputEvent::Tablet { .. } | InputEvent::Switch { .. } | InputEvent::Modifiers { .. })
    }

    /// Whether it switches outputs on that are off until the next input. A release does not: it may belong to the
    /// shortcut that switched them off.
    pub(super) const fn wakes(&self) -> bool {
        !matches!(
            self,
            InputEvent::Key { pressed: false, .. }
                | InputEvent::Button { pressed: false, .. }
                | InputEvent::TouchUp { .. }
        )
    }

    /// Which scroll views it stops, and when it happened.
    pub(super) fn stops_views(&self) -> Option<(Instant, StopScope)> {
        match self {
            InputEvent::Button { time, pressed: true, .. }
            | InputEvent::TouchDown { time, .. }
            | InputEvent::Gesture { time, gesture: TouchpadGesture::HoldBegin { .. } } => Some((*time, StopScope::All)),
            // Not programmed motion: a key that is pressed three times scrolls three times as far.
            InputEvent::Key { time, pressed: true, .. } => Some((*time, StopScope::Flings)),
            _ => None,
        }
    }
}
