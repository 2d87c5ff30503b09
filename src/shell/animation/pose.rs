//! Position, size and opacity of one window in a frame, and the animations that change them.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{AnimationStyles, EDGE_TOLERANCE, FadeStyle, FrameTimes};
use crate::shell::WindowArrangement;
use upbeat_timing::motion::{Motion, MotionSample, MotionStyle};
use upbeat_timing::time::Instant;

/// When opacity and scale count as settled: a quarter of one of 256 levels, half a pixel of a large window.
const SHARE_TOLERANCE: f64 = 1e-3 / 4.0;
/// Shortest side, in logical pixels, that is drawn, however far a spring overshoots.
const SHORTEST_SIDE: f64 = 1.0;
/// Smallest scale that is drawn.
const SMALLEST_SCALE: f64 = 0.01;

/// Position, size and opacity of a window in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowPose {
    /// Rectangle of the window geometry (global logical coordinates).
    pub rect: Rectangle<f64, Logical>,
    /// From 0 (invisible) to 1.
    pub opacity: f64,
}

/// Opacity and scale at one time, each as value and velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FadeSample {
    pub opacity: MotionSample,
    pub scale: MotionSample,
}

impl FadeSample {
    /// At rest and fully visible.
    pub const FULL: FadeSample = FadeSample { opacity: MotionSample::at_rest(1.0), scale: MotionSample::at_rest(1.0) };

    /// Invisible, before the window opens and after it has closed.
    pub const fn invisible(scale: f64) -> Self {
        FadeSample { opacity: MotionSample::at_rest(0.0), scale: MotionSample::at_rest(scale) }
    }
}

/// Animation of opacity and scale while a window opens or closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FadeMotion {
    opacity: Motion,
    scale: Motion,
}

impl FadeMotion {
    /// Animates to opacity `goal` and scale `scale`, starting with `from` in the frame shown at `start`.
    pub fn new(style: MotionStyle, start: Instant, from: FadeSample, goal: f64, scale: f64) -> Self {
        let motion = |from, goal| Motion::carry_on(style, start, from, goal, SHARE_TOLERANCE);
        FadeMotion { opacity: motion(from.opacity, goal), scale: motion(from.scale, scale) }
    }

    pub fn at(&self, present: Instant) -> FadeSample {
        FadeSample { opacity: self.opacity.at(present), scale: self.scale.at(present) }
    }

    pub fn settled_by(&self) -> Instant {
        self.opacity.settled_by().max(self.scale.settled_by())
    }
}

/// Animation of left, top, width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RectMotion([Motion; 4]);

impl RectMotion {
    fn new(style: MotionStyle, start: Instant, from: Rectangle<i32, Logical>, to: Rectangle<i32, Logical>) -> Self {
        let (from, to) = (sides(from), sides(to));
        RectMotion(std::array::from_fn(|side| Motion::new(style, start, from[side], to[side], EDGE_TOLERANCE)))
    }

    fn retarget(&self, present: Instant, to: Rectangle<i32, Logical>) -> Self {
        let to = sides(to);
        RectMotion(std::array::from_fn(|side| self.0[side].retarget(present, to[side])))
    }

    fn at(&self, present: Instant) -> Rectangle<f64, Logical> {
        let [left, top, width, height] = self.0.map(|side| side.at(present).value);
        let size = Size::from((width.max(SHORTEST_SIDE), height.max(SHORTEST_SIDE)));
        Rectangle::new(Point::from((left, top)), size)
    }

    fn settled_by(&self) -> Instant {
        self.0.iter().map(Motion::settled_by).max().unwrap_or(Instant::ZERO)
    }
}

fn sides(rect: Rectangle<i32, Logical>) -> [f64; 4] {
    [rect.loc.x, rect.loc.y, rect.size.w, rect.size.h].map(f64::from)
}

/// Animations of one window.
#[derive(Clone, Debug, Default)]
pub struct WindowMotion {
    look: Option<FadeMotion>,
    place: Option<RectMotion>,
    /// Place and arrangement at the last latch; `None` before the first latch.
    last_latch: Option<(Rectangle<i32, Logical>, WindowArrangement)>,
    /// The next change of place is animated.
    animates_next_move: bool,
    /// A gesture moved the whole strip: the next change of place is not animated.
    skips_next_move: bool,
}

impl WindowMotion {
    /// Whether no latch has seen the window yet.
    pub fn is_new(&self) -> bool {
        self.last_latch.is_none()
    }

    /// Animates the next change of place: it does not come from a drag.
    pub fn animate_next_move(&mut self) {
        self.animates_next_move = true;
    }

    /// Skips the animation of the next change of place: a gesture moved all columns, and the pan already shows it.
    pub(in crate::shell) fn skip_next_move(&mut self) {
        self.skips_next_move = true;
    }

    /// Updates the animations for the frame `shown`, in which the window's place is `rect`. `held`: a drag or resize
    /// puts the window there. `from`: the window was fading out and is mapped again.
    pub(super) fn update(
        &mut self,
        animations: &AnimationStyles,
        shown: FrameTimes,
        rect: Rectangle<i32, Logical>,
        arrangement: WindowArrangement,
        held: bool,
        from: Option<FadeSample>,
    ) {
        let (animates, skips) =
            (std::mem::take(&mut self.animates_next_move), std::mem::take(&mut self.skips_next_move));
        match &self.last_latch {
            None => self.look = animations.open.map(|fade| appear(fade, shown, from)),
            Some(_) if held || skips => self.place = None,
            Some((before, known)) if *before != rect => {
                let moves = animates || *known != arrangement;
                self.place = match (self.place, animations.place) {
                    // Any change during an animation retargets it.
                    (Some(place), _) => Some(place.retarget(shown.previous, rect)),
                    (None, Some(style)) if moves => Some(RectMotion::new(style, shown.previous, *before, rect)),
                    _ => None,
                };
            }
            Some(_) => {}
        }
        self.last_latch = Some((rect, arrangement));
        self.look = self.look.filter(|look| look.settled_by() > shown.present);
        self.place = self.place.filter(|place| place.settled_by() > shown.present);
    }

    /// Whether the window rests at `rect` in this arrangement, as in the previous frame. Then there is nothing to
    /// [update](Self::update).
    pub(super) fn rests_at(&self, rect: Rectangle<i32, Logical>, arrangement: &WindowArrangement) -> bool {
        let is_known = self.last_latch.as_ref().is_some_and(|(at, known)| *at == rect && known == arrangement);
        is_known && !self.is_moving() && !self.animates_next_move && !self.skips_next_move
    }

    /// Ends animations that are switched off in the settings.
    pub(super) fn end_disabled(&mut self, animations: &AnimationStyles) {
        self.look = self.look.filter(|_| animations.open.is_some());
        self.place = self.place.filter(|_| animations.place.is_some());
    }

    pub(super) fn is_moving(&self) -> bool {
        self.look.is_some() || self.place.is_some()
    }

    /// Whether it looks different after the frame presented at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        let look = self.look.map(|look| look.settled_by());
        look.max(self.place.map(|place| place.settled_by())).is_some_and(|end| end > present)
    }

    /// Pose in the frame presented at `present` of a window whose place is `rect`.
    pub fn at(&self, rect: Rectangle<i32, Logical>, present: Instant) -> WindowPose {
        let rect = self.place.map_or(rect.to_f64(), |place| place.at(present));
        let look = self.fade_sample(present);
        let scale = look.scale.value.max(SMALLEST_SCALE);
        WindowPose { rect: scaled(rect, scale), opacity: look.opacity.value.clamp(0.0, 1.0) }
    }

    pub(super) fn fade_sample(&self, present: Instant) -> FadeSample {
        self.look.map_or(FadeSample::FULL, |look| look.at(present))
    }

    pub(super) fn set_fade(&mut self, look: FadeMotion) {
        self.look = Some(look);
    }
}

fn appear(fade: FadeStyle, shown: FrameTimes, from: Option<FadeSample>) -> FadeMotion {
    // A window that is already moving must not pause.
    let start = if from.is_some() { shown.previous } else { shown.open_close_start };
    FadeMotion::new(fade.style, start, from.unwrap_or(FadeSample::invisible(fade.scale)), 1.0, 1.0)
}

/// `rect` scaled by `scale` about its centre.
fn scaled(rect: Rectangle<f64, Logical>, scale: f64) -> Rectangle<f64, Logical> {
    let size = rect.size.upscale(scale);
    let (right, down) = ((rect.size.w - size.w) / 2.0, (rect.size.h - size.h) / 2.0);
    Rectangle::new(rect.loc + Point::from((right, down)), size)
}
