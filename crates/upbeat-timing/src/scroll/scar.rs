//! SCAR's Algorithm 1 as printed (4.3).

/// The operation for one step of scrolling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScarStep {
    /// Show the exFrame at this distance from its top: nothing is rendered.
    Reuse {
        /// Pixels from the top of the exFrame.
        offset: i64,
    },
    /// Render the extended region and show it from its top.
    RenderExtended,
    /// Render only the screen: a scroll towards the top, or a window that cannot scroll.
    RenderScreen,
}

/// SCAR's Algorithm 1, exactly: vertical, one direction, an extension factor `N`.
///
/// Two flaws of the paper are kept on purpose: a distance of zero is a reuse even if the content changed, and a scroll
/// towards the top renders every frame.
#[derive(Clone, Debug)]
pub struct ScarDecider {
    screen_height: i64,
    /// `N × screen height`, rounded down.
    extended_height: i64,
    total: i64,
}

impl ScarDecider {
    /// For a screen of `screen_height` pixels and the factor `numerator / denominator` (the paper: 1 < N ≤ 2.5, best
    /// 1.5).
    pub const fn new(screen_height: i64, numerator: i64, denominator: i64) -> Self {
        ScarDecider { screen_height, extended_height: screen_height * numerator / denominator, total: 0 }
    }

    /// The decision for one frame; `distance` in pixels, positive when the content moves up.
    pub const fn step(&mut self, distance: i64, scrollable: bool) -> ScarStep {
        if !scrollable {
            return ScarStep::RenderScreen;
        }
        if distance < 0 {
            self.total = 0;
            return ScarStep::RenderScreen;
        }
        self.total += distance;
        if self.total + self.screen_height <= self.extended_height {
            ScarStep::Reuse { offset: self.total }
        } else {
            self.total = 0;
            ScarStep::RenderExtended
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithm_1_reuses_up_to_and_with_the_last_line_of_the_buffer() {
        let mut scar = ScarDecider::new(1_000, 3, 2);
        assert_eq!(scar.step(200, true), ScarStep::Reuse { offset: 200 });
        assert_eq!(scar.step(300, true), ScarStep::Reuse { offset: 500 });
        assert_eq!(scar.step(0, true), ScarStep::Reuse { offset: 500 });
        assert_eq!(scar.step(1, true), ScarStep::RenderExtended);
        assert_eq!(scar.step(500, true), ScarStep::Reuse { offset: 500 });
        assert_eq!(scar.step(-1, true), ScarStep::RenderScreen);
        assert_eq!(scar.step(500, true), ScarStep::Reuse { offset: 500 }, "the total starts anew");
        assert_eq!(scar.step(10, false), ScarStep::RenderScreen);
    }
}
