//! An output's workspaces lie in a row, and the eye glides along it to the one that is to be seen.
//!
//! ```text
//!   position   1.0                 1.4                        2.0
//!            [ 1 ] 2   3       1 [  │ ] 2   3            1  [ 2 ]  3
//! ```
//!
//! The unit is one workspace: the width of its output and a gap. What changes its mind on the way goes on with its
//! velocity, wherever that leads.

use crate::shell::workspaces::{Number, Place, Screen, Workspaces};
use crate::time::Instant;
use crate::timing::motion::{Motion, Style};

use super::Shown;

/// When it counts as settled, in workspaces: a quarter of a pixel of a large screen.
const TOLERANCE: f64 = 0.25 / 4096.0;
/// Between two workspaces that glide by, as a share of the output's width.
pub const GAP: f64 = 1.0 / 16.0;

/// Where the eye is, per output.
#[derive(Debug, Default)]
pub struct Slides(Vec<Slide>);

#[derive(Debug)]
struct Slide {
    screen: Screen,
    /// The workspace that was to be seen at the last latch.
    known: Number,
    motion: Option<Motion>,
}

impl Slides {
    /// Starts what changed since the last latch, and drops what is at its end.
    pub(super) fn follow(&mut self, style: Option<Style>, shown: Shown, workspaces: &Workspaces) {
        self.0.retain(|slide| workspaces.screens().any(|(screen, _)| screen == slide.screen));
        for (screen, _) in workspaces.screens() {
            let active = workspaces.active(screen);
            let Some(slide) = self.0.iter_mut().find(|slide| slide.screen == screen) else {
                self.0.push(Slide { screen, known: active, motion: None });
                continue;
            };
            let before = std::mem::replace(&mut slide.known, active);
            if before != active {
                let goal = f64::from(active.get());
                slide.motion = match (slide.motion, style) {
                    (Some(motion), _) => Some(motion.retarget(shown.before, goal)),
                    (None, Some(style)) => {
                        Some(Motion::new(style, shown.before, f64::from(before.get()), goal, TOLERANCE))
                    }
                    (None, None) => None,
                };
            }
            slide.motion = slide.motion.filter(|motion| motion.settled_by() > shown.at);
        }
    }

    /// Everything is where it is going.
    pub(super) fn end(&mut self) {
        self.0.iter_mut().for_each(|slide| slide.motion = None);
    }

    /// Whether the eye rests everywhere.
    pub(super) fn is_still(&self) -> bool {
        self.0.iter().all(|slide| slide.motion.is_none())
    }

    fn motion(&self, screen: Screen) -> Option<&Motion> {
        self.0.iter().find(|slide| slide.screen == screen)?.motion.as_ref()
    }

    /// Whether the eye moves on `screen` after the frame presented at `present`.
    pub fn moves_after(&self, screen: Screen, present: Instant) -> bool {
        self.motion(screen).is_some_and(|motion| motion.settled_by() > present)
    }

    /// How many workspaces `place` lies right of the eye in the frame presented at `present`. `None` where nothing of it
    /// is seen.
    pub fn distance(&self, place: Place, workspaces: &Workspaces, present: Instant) -> Option<f64> {
        let eye = match self.motion(place.screen) {
            Some(motion) => motion.at(present).value,
            None => f64::from(workspaces.active(place.screen).get()),
        };
        let distance = f64::from(place.number.get()) - eye;
        (distance.abs() < 1.0).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use crate::timing::motion::spring::SpringShape;

    const PERIOD: Span = Span::from_millis(16);

    fn number(number: u8) -> Number {
        number.try_into().unwrap()
    }

    /// How far workspace 2 lies from the eye in frame after frame, `at` some of which another workspace is asked for.
    fn course(style: Option<Style>, asked: &[(u64, u8)], frames: u64) -> Vec<Option<f64>> {
        let mut workspaces = Workspaces::default();
        workspaces.connect(["DP-1"].into_iter());
        let screen = workspaces.screen("DP-1").unwrap();
        let mut slides = Slides::default();
        let shown = |frame: u64| {
            let at = Instant::from_nanos(1_000_000_000 + frame * PERIOD.as_nanos().cast_unsigned());
            Shown::new(at, PERIOD, Span::ZERO)
        };
        slides.follow(style, shown(0), &workspaces);
        (1..=frames)
            .map(|frame| {
                for (_, to) in asked.iter().filter(|(at, _)| *at == frame) {
                    workspaces.switch(screen, number(*to));
                }
                slides.follow(style, shown(frame), &workspaces);
                slides.distance(Place { screen, number: number(2) }, &workspaces, shown(frame).at)
            })
            .collect()
    }

    fn spring() -> Option<Style> {
        Some(Style::Spring(SpringShape::new(4.0, 1.0).unwrap()))
    }

    #[test]
    fn a_workspace_glides_in_from_its_side_and_ends_exactly() {
        let course = course(spring(), &[(2, 2)], 60);
        assert_eq!(course[0], None);
        let seen: Vec<f64> = course.iter().copied().flatten().collect();
        assert!(seen[0] < 1.0 && seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
        assert_eq!(seen.last(), Some(&0.0));
    }

    #[test]
    fn turning_back_on_the_way_keeps_the_velocity() {
        let course = course(spring(), &[(2, 2), (6, 1)], 80);
        let seen: Vec<f64> = course.iter().copied().flatten().collect();
        let steps: Vec<f64> = seen.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // It still comes nearer in the first frame after it was sent back, and no step differs much from the one before.
        assert!(steps[5 - 2] < 0.0 && steps.iter().any(|step| *step > 0.0), "{steps:?}");
        assert!(steps.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.12), "{steps:?}");
        assert_eq!(course.last(), Some(&None), "it is gone in the end");
    }

    #[test]
    fn without_motion_it_is_there_at_once() {
        assert_eq!(course(None, &[(2, 2)], 3), [None, Some(0.0), Some(0.0)]);
    }
}
