//! Animation of windows and workspace cards in the overview: when one opens, closes or changes its size, all others
//! make room.
//!
//! ```text
//!   known   [a] [b]        [a] [b] [c]              [a] [b] [c]
//!   shown   [a] [b]   ──►  [a]→[b]→[c]  motion ──►  [a] [b] [c]
//!                          from      known
//! ```
//!
//! If the layout changes again during an animation, a new animation starts at the current places, without velocity.

use smithay::utils::{Logical, Rectangle};

use super::layout::OverviewLayout;
use crate::shell::WindowId;
use crate::shell::animation::FrameTimes;
use crate::shell::render_order::between;
use crate::shell::workspaces::ScreenId;
use upbeat_timing::motion::{Motion, MotionStyle};
use upbeat_timing::time::Instant;

/// Distance that counts as settled, as a share of the way: a quarter of a pixel of a large screen.
const TOLERANCE: f64 = 0.25 / 4096.0;

/// Animation of the overview on each output.
#[derive(Debug, Default)]
pub struct OverviewAnimations(Vec<OverviewAnimation>);

#[derive(Debug)]
struct OverviewAnimation {
    screen: ScreenId,
    area: Rectangle<f64, Logical>,
    /// The layout at the last latch.
    known: OverviewLayout,
    from: OverviewLayout,
    motion: Option<Motion>,
}

impl OverviewAnimations {
    /// Called when the overview opens on these outputs, with these rectangles.
    pub fn begin(
        &mut self,
        areas: impl Iterator<Item = (ScreenId, Rectangle<f64, Logical>)>,
        places: impl Fn(ScreenId, Rectangle<f64, Logical>) -> OverviewLayout,
    ) {
        self.0 = areas
            .map(|(screen, area)| {
                let known = places(screen, area);
                OverviewAnimation { screen, area, from: known.clone(), known, motion: None }
            })
            .collect();
    }

    /// Called when the overview is no longer visible.
    pub fn end(&mut self) {
        self.0.clear();
    }

    /// Ends the animations at once.
    pub fn finish(&mut self) {
        self.0.iter_mut().for_each(|animation| animation.motion = None);
    }

    /// The outputs of the overview, with their rectangles.
    pub fn areas(&self) -> Vec<(ScreenId, Rectangle<f64, Logical>)> {
        self.0.iter().map(|animation| (animation.screen, animation.area)).collect()
    }

    /// Starts animations for changes since the last latch and drops those that have settled.
    pub fn update(&mut self, style: Option<MotionStyle>, shown: FrameTimes, places: Vec<OverviewLayout>) {
        for (animation, goal) in self.0.iter_mut().zip(places) {
            if goal != animation.known {
                animation.from = animation.at(&animation.known, shown.previous);
                animation.known = goal;
                animation.motion = style.map(|style| Motion::new(style, shown.previous, 0.0, 1.0, TOLERANCE));
            }
            animation.motion = animation.motion.filter(|motion| motion.settled_by() > shown.present);
        }
    }

    /// A window that was dragged lies at `rect` now, from where it goes to its place.
    pub fn start_from(&mut self, id: WindowId, rect: Rectangle<f64, Logical>) {
        for animation in &mut self.0 {
            for layout in [&mut animation.known, &mut animation.from] {
                match layout.windows.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, place)) => *place = rect,
                    None => layout.windows.push((id, rect)),
                }
            }
        }
    }

    /// The layout in the frame presented at `present`, on the way to `goal`.
    pub fn at(&self, screen: ScreenId, goal: OverviewLayout, present: Instant) -> OverviewLayout {
        match self.0.iter().find(|animation| animation.screen == screen && animation.motion.is_some()) {
            Some(animation) => animation.at(&goal, present),
            None => goal,
        }
    }

    /// Whether anything moves after the frame presented at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        self.0.iter().any(|animation| animation.motion.is_some_and(|motion| motion.settled_by() > present))
    }
}

impl OverviewAnimation {
    fn at(&self, goal: &OverviewLayout, present: Instant) -> OverviewLayout {
        let Some(motion) = self.motion else { return goal.clone() };
        let share = motion.at(present).value;
        let mut shown = goal.clone();
        for (id, rect) in &mut shown.windows {
            *rect = self.from.window(*id).map_or(*rect, |from| between(from, *rect, share));
        }
        for card in shown.cards.iter_mut().chain(&mut shown.empty) {
            let from = self.from.all_cards().find(|from| from.number == card.number);
            card.rect = from.map_or(card.rect, |from| between(from.rect, card.rect, share));
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::workspaces::{WorkspaceNumber, Workspaces};
    use upbeat_timing::motion::easing::CubicBezier;
    use upbeat_timing::time::Span;

    fn layout(windows: u32) -> OverviewLayout {
        let area = Rectangle::from_size((1280.0, 720.0).into());
        let windows = (1..=windows).map(|id| (WindowId(id), (400.0, 300.0).into())).collect();
        OverviewLayout::new(area, &[(WorkspaceNumber::FIRST, windows)])
    }

    #[test]
    fn those_that_are_there_make_room_and_the_new_one_appears_in_its_place() {
        let mut workspaces = Workspaces::default();
        workspaces.connect_monitors([("DP-1", None)].into_iter());
        let screen = workspaces.screen("DP-1").unwrap();
        let (start, step) = (Instant::from_nanos(1_000_000_000), Span::from_millis(10));
        let style = Some(MotionStyle::Easing { duration: step * 2, curve: CubicBezier::LINEAR });
        let mut animations = OverviewAnimations::default();
        animations.begin([(screen, Rectangle::default())].into_iter(), |_, _| layout(1));
        let shown = |steps: i64| FrameTimes::new(start + step * (steps + 1), step, Span::ZERO);
        animations.update(style, shown(0), vec![layout(1)]);
        assert!(!animations.moves_after(start));
        animations.update(style, shown(1), vec![layout(2)]);
        let (one, two) = (WindowId(1), WindowId(2));
        let seen = |animations: &OverviewAnimations, steps: i64| animations.at(screen, layout(2), start + step * steps);
        assert_eq!(seen(&animations, 1).window(one), layout(1).window(one), "it does not jump");
        assert_eq!(seen(&animations, 1).window(two), layout(2).window(two));
        let half = between(layout(1).window(one).unwrap(), layout(2).window(one).unwrap(), 0.5);
        assert_eq!(seen(&animations, 2).window(one), Some(half));
        assert!(animations.moves_after(start + step * 2) && !animations.moves_after(start + step * 3));
        animations.update(style, shown(3), vec![layout(2)]);
        assert_eq!(seen(&animations, 3), layout(2));
        // Without an animation the new layout applies at once.
        animations.update(None, shown(4), vec![layout(1)]);
        assert_eq!(animations.at(screen, layout(1), start), layout(1));
    }
}
