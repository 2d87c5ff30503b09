//! How one window is seen in a frame, and what moves it there.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{Animations, EDGE_TOLERANCE, Fade, Shown};
use crate::shell::Arrangement;
use upbeat_timing::motion::{Motion, Sample, Style};
use upbeat_timing::time::Instant;

/// When opacity and scale count as settled: a quarter of one of 256 levels, half a pixel of a large window.
const SHARE_TOLERANCE: f64 = 1e-3 / 4.0;
/// No side is shown shorter than this, in logical pixels, wherever a spring swings.
const SHORTEST_SIDE: f64 = 1.0;
/// Nothing is shown smaller than this share of its size.
const SMALLEST_SCALE: f64 = 0.01;

/// How a window is seen in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Where its geometry is shown (global logical coordinates).
    pub rect: Rectangle<f64, Logical>,
    /// How much of it is seen: 0 to 1.
    pub opacity: f64,
}

/// Opacity and scale on their way, each as value and velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LookSample {
    pub opacity: Sample,
    pub scale: Sample,
}

impl LookSample {
    /// As it is when nothing moves.
    pub const FULL: LookSample = LookSample { opacity: Sample::at_rest(1.0), scale: Sample::at_rest(1.0) };

    /// As it is before it appears, and when it is gone.
    pub const fn gone(scale: f64) -> Self {
        LookSample { opacity: Sample::at_rest(0.0), scale: Sample::at_rest(scale) }
    }
}

/// Appearing or going.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    opacity: Motion,
    scale: Motion,
}

impl Look {
    /// To opacity `goal` and scale `scale`, from `from` in the frame shown at `start`.
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

/// Left, top, width and height on their way.
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

/// What moves a window by itself.
#[derive(Clone, Debug, Default)]
pub struct WindowMotion {
    look: Option<Look>,
    place: Option<Place>,
    /// Where it belonged at the last latch, and as what; `None` before the first one.
    known: Option<(Rectangle<i32, Logical>, Arrangement)>,
    /// It was put elsewhere by something other than a hand.
    glides: bool,
    /// What it lies on was moved by a hand, and it with that: it is there.
    is_carried: bool,
}

impl WindowMotion {
    /// No latch has seen the window yet.
    pub fn is_new(&self) -> bool {
        self.known.is_none()
    }

    /// The next change of place is not a hand's: it moves there.
    pub fn glide(&mut self) {
        self.glides = true;
    }

    /// The next change of place is that of all columns, which a hand had: it is there at once.
    pub(in crate::shell) fn carry(&mut self) {
        self.is_carried = true;
    }

    /// The window belongs at `rect` from the frame `shown` on. `held`: a hand puts it there. `from`: it was on its way
    /// out and comes back.
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
                    // Whatever changes on the way changes the goal.
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

    /// Whether it lies still at `rect` in this arrangement, as it did in the frame before: then there is nothing to
    /// [follow](Self::follow).
    pub(super) fn rests_at(&self, rect: Rectangle<i32, Logical>, arrangement: &Arrangement) -> bool {
        let is_known = self.known.as_ref().is_some_and(|(at, known)| *at == rect && known == arrangement);
        is_known && !self.is_moving() && !self.glides && !self.is_carried
    }

    /// Ends at once what is switched off.
    pub(super) fn allow(&mut self, animations: &Animations) {
        self.look = self.look.filter(|_| animations.open.is_some());
        self.place = self.place.filter(|_| animations.place.is_some());
    }

    /// Whether anything moves it.
    pub(super) fn is_moving(&self) -> bool {
        self.look.is_some() || self.place.is_some()
    }

    /// Whether it looks different after the frame presented at `present`.
    pub fn moves_after(&self, present: Instant) -> bool {
        let look = self.look.map(|look| look.settled_by());
        look.max(self.place.map(|place| place.settled_by())).is_some_and(|end| end > present)
    }

    /// How it is seen in the frame presented at `present`, where it belongs at `rect`.
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
    // What moves already does not stop for a moment.
    let start = if from.is_some() { shown.before } else { shown.unasked };
    Look::new(fade.style, start, from.unwrap_or(LookSample::gone(fade.scale)), 1.0, 1.0)
}

/// `rect` with `scale` times its size, about its middle.
fn scaled(rect: Rectangle<f64, Logical>, scale: f64) -> Rectangle<f64, Logical> {
    let size = rect.size.upscale(scale);
    let (right, down) = ((rect.size.w - size.w) / 2.0, (rect.size.h - size.h) / 2.0);
    Rectangle::new(rect.loc + Point::from((right, down)), size)
}
