//! The serials of recent presses: what a client shows to prove that a person asked for a move, a resize, a popup grab
//! or the focus of another window.

use smithay::utils::Serial;

/// How many presses are remembered. A client answers within a few events; a person does not press more meanwhile.
const REMEMBERED: usize = 16;

/// A ring of the latest press serials.
#[derive(Debug, Default)]
pub struct PressSerials {
    ring: [Option<Serial>; REMEMBERED],
    next: usize,
}

impl PressSerials {
    /// Remembers one more, forgets the oldest.
    pub fn push(&mut self, serial: Serial) {
        self.ring[self.next] = Some(serial);
        self.next = (self.next + 1) % REMEMBERED;
    }

    /// Whether it is among the remembered ones.
    pub fn contains(&self, serial: Serial) -> bool {
        self.ring.contains(&Some(serial))
    }

    /// The newest one.
    pub fn latest(&self) -> Option<Serial> {
        self.ring[(self.next + REMEMBERED - 1) % REMEMBERED]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recent_presses_count() {
        let mut serials = PressSerials::default();
        assert_eq!(serials.latest(), None);
        for serial in 1..=20 {
            serials.push(Serial::from(serial));
        }
        assert_eq!(serials.latest(), Some(Serial::from(20)));
        assert!(serials.contains(Serial::from(5)) && !serials.contains(Serial::from(4)));
    }
}
