//! Scrolling with an extended buffer: how many frames must be rendered per second (SCAR).

use upbeat_timing::scroll::{
    DocumentExtent, DocumentRegion, RenderLead, RenderSupply, RenderedRegions, ScarDecider, ScarStep, ScrollDistance,
    SteadyCourse, SupplySettings,
};

/// Lines of SCAR's device (2960 × 1440).
pub const SCREEN_HEIGHT: i64 = 2_960;
const SCREEN_WIDTH: i64 = 1_440;
/// Refresh rate in hertz.
const REFRESH: f64 = 60.0;
/// Length of a run: ten minutes, as in the paper.
const SECONDS: f64 = 600.0;

/// The extension factors of SCAR's table 2, as fractions.
pub const FACTORS: [(i64, i64); 3] = [(3, 2), (2, 1), (5, 2)];
/// The speeds of SCAR's table 2 in pixels per second.
pub const SPEEDS: [f64; 2] = [100.0, 1_000.0];

/// Frames rendered per second by Algorithm 1 at a constant speed towards the end of the document.
pub fn scar(factor: (i64, i64), speed: f64) -> f64 {
    let mut decider = ScarDecider::new(SCREEN_HEIGHT, factor.0, factor.1);
    let mut rendered = 0_u64;
    let mut shown = 0;
    let refreshes = (SECONDS * REFRESH) as i64;
    for refresh in 1..=refreshes {
        let position = (refresh as f64 * speed / REFRESH) as i64;
        rendered += u64::from(!matches!(decider.step(position - shown, true), ScarStep::Reuse { .. }));
        shown = position;
    }
    rendered as f64 / SECONDS
}

/// The same from the formula `v / ((N − 1) H)`.
pub fn scar_formula(factor: (i64, i64), speed: f64) -> f64 {
    let extension = SCREEN_HEIGHT as f64 * (factor.0 as f64 / factor.1 as f64 - 1.0);
    speed / extension
}

/// Frames rendered per second by a view that extends up and down: ten seconds towards the end, ten back.
pub fn both_directions(views: f64, speed: f64) -> f64 {
    let document = DocumentRegion {
        x: DocumentExtent { start: 0, length: SCREEN_WIDTH },
        y: DocumentExtent { start: 0, length: 1_000_000 },
    };
    let budget = (SCREEN_WIDTH * SCREEN_HEIGHT) as f64 * views;
    let mut supply = RenderSupply::new(document, SupplySettings::with_budget(budget as i64));
    let mut rendered = 0_u64;
    for refresh in 0..(SECONDS * REFRESH) as i64 {
        let (position, velocity) = there_and_back(refresh as f64 / REFRESH, speed);
        let view = DocumentRegion {
            x: DocumentExtent { start: 0, length: SCREEN_WIDTH },
            y: DocumentExtent { start: 500_000 + position as i64, length: SCREEN_HEIGHT },
        };
        // A render takes no time here, so it is requested when the last line comes into view.
        let look = supply.update(view, &SteadyCourse(ScrollDistance { x: 0.0, y: velocity }), RenderLead::default());
        if let Some(wanted) = look.wanted {
            supply.set_rendered(RenderedRegions::of([wanted.region]));
            rendered += 1;
        }
    }
    rendered as f64 / SECONDS
}

/// The same motion under Algorithm 1, which renders every frame towards the top.
pub fn scar_both_directions(factor: (i64, i64), speed: f64) -> f64 {
    let mut decider = ScarDecider::new(SCREEN_HEIGHT, factor.0, factor.1);
    let (mut rendered, mut shown) = (0_u64, 0);
    for refresh in 0..(SECONDS * REFRESH) as i64 {
        let position = there_and_back(refresh as f64 / REFRESH, speed).0 as i64;
        rendered += u64::from(!matches!(decider.step(position - shown, true), ScarStep::Reuse { .. }));
        shown = position;
    }
    rendered as f64 / SECONDS
}

/// Position and velocity of a view that moves ten seconds one way and ten back.
fn there_and_back(seconds: f64, speed: f64) -> (f64, f64) {
    let way = seconds.rem_euclid(20.0);
    if way < 10.0 { (way * speed, speed) } else { ((20.0 - way) * speed, -speed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithm_renders_as_often_as_its_formula_says() {
        for factor in FACTORS {
            for speed in SPEEDS {
                let (measured, formula) = (scar(factor, speed), scar_formula(factor, speed));
                assert!((measured / formula - 1.0).abs() < 0.1, "{factor:?} {speed}: {measured} {formula}");
            }
        }
    }

    #[test]
    fn the_extended_view_renders_little_in_both_directions() {
        assert!(scar_both_directions((3, 2), 1_000.0) > 29.0);
        assert!(both_directions(1.5, 1_000.0) < 1.2, "{}", both_directions(1.5, 1_000.0));
    }

    #[test]
    fn more_memory_and_lower_speed_need_fewer_renders() {
        let slowly = both_directions(1.5, 100.0);
        assert!(slowly < 0.01, "ten seconds of it fit into what lies ahead: {slowly}");
        for speed in [1_000.0, 5_000.0] {
            let [little, some, much] = [1.5, 2.0, 2.5].map(|views| both_directions(views, speed));
            assert!(little > some && some > much, "{speed} px/s: {little} {some} {much}");
        }
    }
}
