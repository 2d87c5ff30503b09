//! The serials of recent user actions: with one of them a client proves that the user asked for a move, a resize, a
//! popup grab or the focus of another window. Releases count too, since many menus open when the button is released.

use smithay::utils::Serial;

/// How many are remembered. A client answers within a few events, and the user does not act more often meanwhile.
const REMEMBERED: usize = 16;

/// A ring of the latest serials of keys, buttons and fingers.
#[derive(Debug, Default)]
pub struct ActionSerials {
    ring: [Option<Serial>; REMEMBERED],
    next: usize,
}

impl ActionSerials {
    pub fn push(&mut self, serial: Serial) {
        self.ring[self.next] = Some(serial);
        self.next = (self.next + 1) % REMEMBERED;
    }

    pub fn contains(&self, serial: Serial) -> bool {
        self.ring.contains(&Some(serial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recent_actions_count() {
        let mut serials = ActionSerials::default();
        for serial in 1..=20 {
            serials.push(Serial::from(serial));
        }
        assert!(serials.contains(Serial::from(20)));
        assert!(serials.contains(Serial::from(5)) && !serials.contains(Serial::from(4)));
    }
}
