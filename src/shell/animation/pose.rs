//! Position, size and opacity of one window in a frame, and the animations that change them.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{Animations, EDGE_TOLERANCE, Fade, Shown};
use crate::shell::Arrangement;
use upbeat_timing::motion::{Motion, Sample, Style};
use upbeat_timing::time::Instant;

/// When opacity and scale count as settled: a quarter of one of 256 levels, half a pixel of a large window.
const SHARE_TOLERANCE: f64 = 1e-3 / 4.0;
/// Shortest side, in logical pixels, that is drawn, however far a spring overshoots.
const SHORTEST_SIDE: f64 = 1.0;
/// Smallest scale that is drawn.
const SMALLEST_SCALE: f64 = 0.01;

/// Position, size and opacity of a window in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rectangle of the window geometry (global logical coordinates).
    pub rect: Rectangle<f64, Logical>,
    /// From 0 (invisible) to 1.
    pub opacity: f64,
}

/// Opacity and scale at one time, each as value and velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LookSample {
    pub opacity: Sample,
    pub scale: Sample,
}

impl LookSample {
    /// At rest and fully visible.
    pub const FULL: LookSample = LookSample { opacity: Sample::at_rest(1.0), scale: Sample::at_rest(1.0) };

    /// Invisible, before the window opens and after it has closed.
    pub const fn gone(scale: f64) -> Self {
        LookSample { opacity: Sample::at_rest(0.0), scale: Sample::at_rest(scale) }
    }
}

/// Animation of opacity and scale while a window opens or closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    opacity: Motion,
    scale: Motion,
}

impl Look {
    /// Animates to opacity `goal` and scale `scale`, starting with `from` in the frame shown at `start`.
    pub fn new(style: Style, start: Instant, from: LookSample, goal: f64, scale: f64) -> Self {
        let motion = |from, goal| Motion::carry_on(style, start, from, goal, SHARE_TOLERANCE);
        Look { opacity: motion(from.opacity, goal), scale: motion(from.scale, scale) }
    }

    pub fn at(&self, present: Instant) -> LookSample {
        LookSample { opacity: self.opacity.at(present), scale: self.scale.at(present) }
    }

    pub fn settled_by(&self) -> Instant {
        self.opacity.settled_by().max(self.scale.settled_by())
    }
}

/// Animation of left, top, width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place([Motion; 4]);

impl Place {
    fn new(style: Style, start: Instant, from: Rectangle<i32, Logical>, to: Rectangle<i32, Logical>) -> Self {
        let (from, to) = (sides(from), sides(to));
        Place(std::array::from_fn(|side| Motion::new(style, start, from[side], to[side], EDGE_TOLERANCE)))
    }

    fn retarget(&self, present: Instant, to: Rectangle<i32, Logical>) -> Self {
        let to = sides(to);
        Place(std::array::from_fn(|side| self.0[side].retarget(present, to[side])))
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
    look: Option<Look>,
    place: Option<Place>,
    /// Place and arrangement at the last latch; `None` before the first latch.
    known: Option<(Rectangle<i32, Logical>, Arrangement)>,
    /// The next change of place is animated.
    glides: bool,
    /// A gesture moved the whole strip: the next change of place is not animated.
    is_carried: bool,
}

impl WindowMotion {
    /// Whether no latch has seen the window yet.
    pub fn is_new(&self) -> bool {
        self.known.is_none()
    }

    /// Animates the next change of place: it does not come from a drag.
    pub fn glide(&mut self) {
        self.glides = true;
    }

    /// Skips the animation of the next change of place: a gesture moved all columns, and the pan already shows it.
    pub(in crate::shell) fn carry(&mut self) {
        self.is_carried = true;
    }

    /// Updates the animations for the frame `shown`, in which the window's place is `rect`. `held`: a drag or resize
    /// puts the window there. `from`: the window was fading out and is mapped again.
    pub(super) fn follow(
        &mut self,
        animations: &Animations,
        shown: Shown,
        rect: Rectangle<i32, Logical>,
        arrangement: Arrangement,
        held: bool,
        from: Option<LookSample>,
    ) {
        let (glides, is_carried) = (std::mem::take(&mut self.glides), std::mem::take(&mut self.is_carried));
        match &self.known {
            None => self.look = animations.open.map(|fade| appear(fade, shown, from)),
            Some(_) if held || is_carried => self.place = None,
            Some((before, known)) if *before != rect => {
                let moves = glides || *known != arrangement;
                self.place = match (self.place, animations.place) {
                    // Any change during an animation retargets it.
                    (Some(place), _) => Some(place.retarget(shown.before, rect)),
                    (None, Some(style)) if moves => Some(Place::new(style, shown.before, *before, rect)),
                    _ => None,
                };
            }
            Some(_) => {}
        }
        self.known = Some((rect, arrangement));
        self.look = self.look.filter(|look| look.settled_by() > shown.at);
        self.place = self.place.filter(|place| place.settled_by() > shown.at);
    }

    /// Whether the window rests at `rect` in this arrangement, as in the previous frame. Then there is nothing to
    /// [follow](Self::follow).
    pub(super) fn rests_at(&self, rect: Rectangle<i32, Logical>, arrangement: &Arrangement) -> bool {
        let is_known = self.known.as_ref().is_some_and(|(at, known)| *at == rect && known == arrangement);
        is_known && !self.is_moving() && !self.glides && !self.is_carried
    }

    /// Ends animations that are switched off in the settings.
    pub(super) fn allow(&mut self, animations: &Animations) {
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
    pub fn at(&self, rect: Rectangle<i32, Logical>, present: Instant) -> Pose {
        let rect = self.place.map_or(rect.to_f64(), |place| place.at(present));
        let look = self.look(present);
        let scale = look.scale.value.max(SMALLEST_SCALE);
        Pose { rect: scaled(rect, scale), opacity: look.opacity.value.clamp(0.0, 1.0) }
    }

    pub(super) fn look(&self, present: Instant) -> LookSample {
        self.look.map_or(LookSample::FULL, |look| look.at(present))
    }

    pub(super) fn set_look(&mut self, look: Look) {
        self.look = Some(look);
    }
}

fn appear(fade: Fade, shown: Shown, from: Option<LookSample>) -> Look {
    // A window that is already moving must not pause.
    let start = if from.is_some() { shown.before } else { shown.unasked };
    Look::new(fade.style, start, from.unwrap_or(LookSample::gone(fade.scale)), 1.0, 1.0)
}

/// `rect` scaled by `scale` about its centre.
fn scaled(rect: Rectangle<f64, Logical>, scale: f64) -> Rectangle<f64, Logical> {
    let size = rect.size.upscale(scale);
    let (right, down) = ((rect.size.w - size.w) / 2.0, (rect.size.h - size.h) / 2.0);
    Rectangle::new(rect.loc + Point::from((right, down)), size)
}
