//! Input events as every source delivers them: real devices, virtual devices of clients, injection by IPC, tests.
//! Nothing in them depends on where they come from.

use smithay::utils::{Logical, Point};
use smithay::wayland::tablet_manager::TabletDescriptor;

use super::tool::ToolEvent;
pub use crate::backend::scroll::{Scroll, ScrollSource};
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

/// What fingers do together on a touchpad, beyond moving the pointer and scrolling. Each gesture begins, changes, and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gesture {
    /// So many fingers begin to move in one direction.
    SwipeBegin { fingers: u32 },
    /// Their middle moved (coordinates of pointer motion).
    SwipeUpdate { delta: Point<f64, Logical> },
    /// They were lifted, or what they did counts for nothing.
    SwipeEnd { cancelled: bool },
    /// So many fingers begin to move towards or around each other.
    PinchBegin { fingers: u32 },
    /// Their middle moved; `scale` is against the distance at the beginning, `rotation` in degrees clockwise since the
    /// last event.
    PinchUpdate { delta: Point<f64, Logical>, scale: f64, rotation: f64 },
    /// As for a swipe.
    PinchEnd { cancelled: bool },
    /// So many fingers rest.
    HoldBegin { fingers: u32 },
    /// As for a swipe; cancelled when they begin to move.
    HoldEnd { cancelled: bool },
}

/// A switch of a computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// On: the lid is closed.
    Lid,
    /// On: the keyboard is folded away.
    TabletMode,
}

/// What of what scrolls by itself stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stops {
    /// All of it.
    All,
    /// What was thrown, not what was sent somewhere.
    Flings,
}

/// One event. Positions are global logical coordinates; times are `CLOCK_MONOTONIC`, when the event happened.
#[derive(Clone, Debug, PartialEq)]
pub enum InputEvent {
    /// The pointer moved by `delta` (accelerated; `raw` is not).
    PointerMotion { time: Instant, delta: Point<f64, Logical>, raw: Point<f64, Logical> },
    /// The pointer is at `position`.
    PointerPosition { time: Instant, position: Point<f64, Logical> },
    /// A button (Linux event code) went down or up.
    Button { time: Instant, button: u32, pressed: bool },
    /// A wheel turned or a finger scrolled.
    Axis { time: Instant, source: ScrollSource, horizontal: Scroll, vertical: Scroll },
    /// A finger touched. `slot` names it until it is lifted.
    TouchDown { time: Instant, slot: u32, position: Point<f64, Logical> },
    /// A finger moved.
    TouchMotion { time: Instant, slot: u32, position: Point<f64, Logical> },
    /// A finger was lifted.
    TouchUp { time: Instant, slot: u32 },
    /// The touch events since the last frame belong together.
    TouchFrame { time: Instant },
    /// The touches were taken over by somebody else and count for nothing.
    TouchCancel { time: Instant },
    /// A key (Linux event code) went down or up.
    Key { time: Instant, keyboard: KeyboardId, key: u32, pressed: bool },
    /// Fingers on a touchpad.
    Gesture { time: Instant, gesture: Gesture },
    /// A pen or another tool at a graphics tablet.
    Tool { time: Instant, event: Box<ToolEvent> },
    /// A graphics tablet was plugged in, or unplugged.
    Tablet { time: Instant, tablet: TabletDescriptor, there: bool },
    /// A switch was switched.
    Switch { time: Instant, switch: Switch, on: bool },
    /// A keyboard's modifiers were set from outside (xkb masks and layout).
    Modifiers { time: Instant, keyboard: KeyboardId, depressed: u32, latched: u32, locked: u32, layout: u32 },
}

impl InputEvent {
    /// Whether somebody uses the seat: not what devices say of themselves (plugged in, a lid, the state of a keyboard).
    pub(super) const fn is_use(&self) -> bool {
        !matches!(self, InputEvent::Tablet { .. } | InputEvent::Switch { .. } | InputEvent::Modifiers { .. })
    }

    /// Whether it lights outputs that are off until somebody does something: letting go of what switched them off does not.
    pub(super) const fn wakes(&self) -> bool {
        !matches!(
            self,
            InputEvent::Key { pressed: false, .. }
                | InputEvent::Button { pressed: false, .. }
                | InputEvent::TouchUp { .. }
        )
    }

    /// What it stops of what scrolls by itself, and when it happened.
    pub(super) fn stops_views(&self) -> Option<(Instant, Stops)> {
        match self {
            InputEvent::Button { time, pressed: true, .. }
            | InputEvent::TouchDown { time, .. }
            | InputEvent::Gesture { time, gesture: Gesture::HoldBegin { .. } } => Some((*time, Stops::All)),
            // A key that is pressed three times scrolls three times as far.
            InputEvent::Key { time, pressed: true, .. } => Some((*time, Stops::Flings)),
            _ => None,
        }
    }
}
