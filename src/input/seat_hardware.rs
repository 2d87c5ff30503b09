//! The hardware of the seat that decides whether the user holds the device in the hand.

/// Touchscreens and the tablet-mode switch of the seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatHardware {
    touchscreens: u32,
    /// Devices with a tablet-mode switch.
    switches: u32,
    tablet_mode: Option<bool>,
}

impl SeatHardware {
    /// Whether the seat has a touchscreen.
    pub const fn has_touchscreen(self) -> bool {
        self.touchscreens > 0
    }

    /// Whether the device is in tablet mode; `None`: it has no switch for that.
    pub const fn tablet_mode(self) -> Option<bool> {
        self.tablet_mode
    }

    /// A device was plugged in.
    pub(super) fn add(&mut self, is_touchscreen: bool, has_tablet_switch: bool) {
        self.touchscreens += u32::from(is_touchscreen);
        self.switches += u32::from(has_tablet_switch);
        if has_tablet_switch {
            // libinput reports a switch only if it is on.
            self.tablet_mode.get_or_insert(false);
        }
    }

    /// A device was unplugged.
    pub(super) fn remove(&mut self, is_touchscreen: bool, has_tablet_switch: bool) {
        self.touchscreens = self.touchscreens.saturating_sub(u32::from(is_touchscreen));
        self.switches = self.switches.saturating_sub(u32::from(has_tablet_switch));
        self.tablet_mode = self.tablet_mode.filter(|_| self.switches > 0);
    }

    /// The tablet-mode switch has changed.
    pub(super) const fn set_tablet_mode(&mut self, on: bool) {
        self.tablet_mode = Some(on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tablet_mode_is_known_while_there_is_a_switch() {
        let mut hardware = SeatHardware::default();
        assert_eq!((hardware.has_touchscreen(), hardware.tablet_mode()), (false, None));
        hardware.add(true, false);
        hardware.add(false, true);
        assert_eq!((hardware.has_touchscreen(), hardware.tablet_mode()), (true, Some(false)));
        hardware.set_tablet_mode(true);
        hardware.remove(true, false);
        assert_eq!((hardware.has_touchscreen(), hardware.tablet_mode()), (false, Some(true)));
        hardware.remove(false, true);
        assert_eq!(hardware, SeatHardware::default());
    }
}
