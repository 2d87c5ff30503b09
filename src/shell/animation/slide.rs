//! Animation of workspace switches: an output's workspaces lie in a row, and a viewport glides along it.
//!
//! ```text
//!   position   1.0                 1.4                        2.0
//!            [ 1 ] 2   3       1 [  │ ] 2   3            1  [ 2 ]  3
//! ```
//!
//! Where windows are tiled in columns, which form a row themselves, the workspaces lie below each other instead. The
//! unit is one workspace: the width (or height) of its output plus a gap. If the goal changes during the animation, the
//! motion continues with its velocity.

use smithay::utils::{Logical, Point, Size};

use crate::shell::workspaces::{ScreenId, WorkspaceId, WorkspaceNumber, Workspaces};
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::dragged::DraggedValue;
use upbeat_timing::time::Instant;

use super::FrameTimes;
use super::animated_value::AnimatedValue;

/// Distance to the goal, in workspaces, at which the viewport counts as settled: a quarter of a pixel of a large
/// screen.
const TOLERANCE: f64 = 0.25 / 4096.0;
/// Gap between two workspaces during the animation, as a share of the output's width or height.
pub const GAP: f64 = 1.0 / 16.0;

/// Position of the viewport, per output.
#[derive(Debug, Default)]
pub struct WorkspaceSlides(Vec<WorkspaceSlide>);

#[derive(Debug)]
struct WorkspaceSlide {
    screen: ScreenId,
    /// Active workspace at the last latch.
    last_active: WorkspaceNumber,
    value: AnimatedValue,
    /// The workspaces lie below each other. Does not change during an animation.
    vertical: bool,
}

impl WorkspaceSlides {
    /// Starts animations for switches since the last latch and drops those that have settled.
    pub(super) fn update(
        &mut self,
        style: Option<MotionStyle>,
        shown: FrameTimes,
        workspaces: &Workspaces,
        vertical: bool,
    ) {
        self.0.retain(|slide| workspaces.screens().any(|(screen, _)| screen == slide.screen));
        for (screen, _) in workspaces.screens() {
            let active = workspaces.active(screen);
            let Some(slide) = self.0.iter_mut().find(|slide| slide.screen == screen) else {
                self.0.push(WorkspaceSlide { screen, last_active: active, value: AnimatedValue::AtGoal, vertical });
                continue;
            };
            if slide.value.is_at_rest() {
                slide.vertical = vertical;
            }
            let before = std::mem::replace(&mut slide.last_active, active);
            slide.value.update(style, shown, before.get().into(), active.get().into(), TOLERANCE);
        }
    }

    /// Ends the animations, except where a gesture holds the viewport.
    pub(super) fn finish(&mut self) {
        self.0.iter_mut().for_each(|slide| slide.value.finish());
    }

    /// Called when workspaces have new numbers: no viewport moves.
    pub(in crate::shell) fn forget(&mut self) {
        self.0.clear();
    }

    /// Whether all viewports are at rest.
    pub(super) fn is_still(&self) -> bool {
        self.0.iter().all(|slide| slide.value.is_at_rest())
    }

    fn find(&self, screen: ScreenId) -> Option<&WorkspaceSlide> {
        self.0.iter().find(|slide| slide.screen == screen)
    }

    /// Whether the viewport of `screen` moves after the frame presented at `present`.
    pub fn moves_after(&self, screen: ScreenId, present: Instant) -> bool {
        self.find(screen).is_some_and(|slide| slide.value.moves_after(present))
    }

    /// Whether the viewport rests on a workspace.
    pub fn is_at_rest(&self, screen: ScreenId) -> bool {
        self.find(screen).is_none_or(|slide| slide.value.is_at_rest())
    }

    /// Position of the viewport in the frame presented at `present`; `None` before the first latch.
    pub fn position(&self, screen: ScreenId, present: Instant) -> Option<f64> {
        self.find(screen).map(|slide| slide.value.at(slide.last_active.get().into(), present))
    }

    /// A gesture starts to hold the viewport of `screen`.
    pub fn hold(&mut self, screen: ScreenId, gesture: DraggedValue) {
        let slide = self.0.iter_mut().find(|slide| slide.screen == screen);
        if let Some(slide) = slide {
            slide.value = AnimatedValue::HeldByGesture(Box::new(gesture));
        }
    }

    /// The gesture that holds the viewport.
    pub fn gesture(&mut self, screen: ScreenId) -> Option<&mut DraggedValue> {
        self.0.iter_mut().find(|slide| slide.screen == screen)?.value.gesture()
    }

    /// The gesture releases the viewport at time `at`.
    pub fn release(&mut self, screen: ScreenId, at: Instant) {
        self.0.iter_mut().filter(|slide| slide.screen == screen).for_each(|slide| slide.value.release(at));
    }

    pub fn is_vertical(&self, screen: ScreenId) -> bool {
        self.find(screen).is_some_and(|slide| slide.vertical)
    }

    /// Offset of content on a workspace that lies `distance` workspaces behind the viewport, on an output of this size.
    pub fn shift(&self, screen: ScreenId, distance: f64, size: Size<i32, Logical>) -> Point<f64, Logical> {
        let vertical = self.is_vertical(screen);
        let length = f64::from(if vertical { size.h } else { size.w }) * (1.0 + GAP);
        if vertical { (0.0, distance * length).into() } else { (distance * length, 0.0).into() }
    }

    /// Distance of `place` behind the viewport, in workspaces, in the frame presented at `present`. `None` if no part
    /// of the workspace is visible.
    pub fn distance(&self, place: WorkspaceId, workspaces: &Workspaces, present: Instant) -> Option<f64> {
        let active = f64::from(workspaces.active(place.screen).get());
        let slide = self.find(place.screen).filter(|slide| !slide.value.is_at_rest());
        let viewport = slide.map_or(active, |slide| slide.value.at(active, present));
        let distance = f64::from(place.number.get()) - viewport;
        (distance.abs() < 1.0).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::motion::spring::SpringShape;
    use upbeat_timing::time::Span;

    const PERIOD: Span = Span::from_millis(16);

    fn number(number: u8) -> WorkspaceNumber {
        number.try_into().unwrap()
    }

    /// Distance of workspace 2 from the viewport in each frame. `asked` has the frames in which the workspace is
    /// switched.
    fn course(style: Option<MotionStyle>, asked: &[(u64, u8)], frames: u64) -> Vec<Option<f64>> {
        let mut workspaces = Workspaces::default();
        workspaces.connect_monitors([("DP-1", None)].into_iter());
        let screen = workspaces.screen("DP-1").unwrap();
        let mut slides = WorkspaceSlides::default();
        let shown = |frame: u64| {
            let at = Instant::from_nanos(1_000_000_000 + frame * PERIOD.as_nanos().cast_unsigned());
            FrameTimes::new(at, PERIOD, Span::ZERO)
        };
        slides.update(style, shown(0), &workspaces, false);
        (1..=frames)
            .map(|frame| {
                for (_, to) in asked.iter().filter(|(at, _)| *at == frame) {
                    workspaces.switch(screen, number(*to));
                }
                slides.update(style, shown(frame), &workspaces, false);
                slides.distance(WorkspaceId { screen, number: number(2) }, &workspaces, shown(frame).present)
            })
            .collect()
    }

    fn spring() -> Option<MotionStyle> {
        Some(MotionStyle::Spring(SpringShape::new(4.0, 1.0).unwrap()))
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
        // It still comes nearer in the first frame after it was sent back, and each step is close to the step before.
        assert!(steps[5 - 2] < 0.0 && steps.iter().any(|step| *step > 0.0), "{steps:?}");
        assert!(steps.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.12), "{steps:?}");
        assert_eq!(course.last(), Some(&None), "it is gone in the end");
    }

    #[test]
    fn without_motion_it_is_there_at_once() {
        assert_eq!(course(None, &[(2, 2)], 3), [None, Some(0.0), Some(0.0)]);
    }
}
