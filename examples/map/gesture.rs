//! Zooming by the wheel or by two fingers, and the predicted zoom at the light of a frame.
//!
//! ```text
//!  log distance                        ○ predicted for the frame's time
//!        ×     ×    ×               ·
//!    ×                     ·    ·        ── after the last event, up to the horizon
//!  ─────────────────────┼──────────────▶
//!                      now
//! ```
//! A wheel acts like a pair of fingers whose distance doubles with some clicks. So both are predicted in the same way,
//! by the zoom distance predictor of D-VSync 6.5.

use upbeat_timing::input_prediction::PinchDistance;
use upbeat_timing::time::{Instant, Span};

use super::common::window::WindowInput;

/// Time without an event that ends a gesture: longer than between two clicks of a slow wheel.
const REST: Span = Span::from_millis(200);
/// Longest prediction after the last event: longer than frames are drawn ahead, shorter than a change of mind.
const HORIZON: Span = Span::from_millis(80);
/// Time of the transition from the predicted to the true zoom.
const SETTLE: Span = Span::from_millis(150);
/// Logical pixels of the wheel that double the scale: four clicks.
const DOUBLES: f64 = 60.0;
/// Arbitrary finger distance that stands for a wheel at rest, in pixels.
const WHEEL: f64 = 200.0;
const ZOOM: (f64, f64) = (2.0, 16.0);

/// The visible part of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapView {
    /// The middle; the map is 1 wide and high.
    pub centre: (f64, f64),
    /// The map is 2^zoom tiles wide.
    pub zoom: f64,
}

#[derive(Debug)]
struct ZoomGesture {
    distance: PinchDistance,
    first: f64,
    last: f64,
    at: Instant,
    from: MapView,
    /// The fixed point of the zoom, in pixels from the middle.
    anchor: (f64, f64),
    /// A finger was lifted.
    is_over: bool,
}

#[derive(Debug)]
pub struct ZoomState {
    size: (f64, f64),
    view: MapView,
    gesture: Option<ZoomGesture>,
    pointer: (f64, f64),
    fingers: Vec<(i32, (f64, f64))>,
    /// The shown view from which the transition starts, and its start.
    settling: Option<(MapView, Instant)>,
}

/// Edge of a tile in pixels at a whole zoom.
pub const TILE: usize = 128;

impl MapView {
    /// Width of the whole map in pixels.
    pub fn scale(self) -> f64 {
        TILE as f64 * self.zoom.exp2()
    }

    /// Zooms in by `by` around a point, in pixels from the middle.
    fn zoomed(self, by: f64, anchor: (f64, f64)) -> MapView {
        let zoom = (self.zoom + by).clamp(ZOOM.0, ZOOM.1);
        let moved = 1.0 / self.scale() - 1.0 / MapView { zoom, ..self }.scale();
        let centre = (self.centre.0 + anchor.0 * moved, self.centre.1 + anchor.1 * moved);
        MapView { zoom, centre }
    }

    fn between(self, other: MapView, share: f64) -> MapView {
        let mix = |from: f64, to: f64| from + (to - from) * share;
        let centre = (mix(self.centre.0, other.centre.0), mix(self.centre.1, other.centre.1));
        MapView { centre, zoom: mix(self.zoom, other.zoom) }
    }
}

impl ZoomGesture {
    fn view(&self, distance: f64) -> MapView {
        self.from.zoomed((distance / self.first).log2(), self.anchor)
    }

    fn predicted(&self, at: Instant) -> MapView {
        self.view(self.distance.distance(at.min(self.at + HORIZON)).unwrap_or(self.last))
    }
}

impl ZoomState {
    pub fn new(size: (usize, usize), centre: (f64, f64)) -> Self {
        let size = (size.0 as f64, size.1 as f64);
        let view = MapView { centre, zoom: 3.0 };
        ZoomState { size, view, gesture: None, pointer: (size.0 / 2.0, size.1 / 2.0), fingers: vec![], settling: None }
    }

    pub fn is_going_on(&self) -> bool {
        self.gesture.is_some()
    }

    /// Whether the view changes without input.
    pub fn moves(&self, now: Instant) -> bool {
        self.is_going_on() || self.settling.is_some_and(|(_, since)| now < since + SETTLE)
    }

    /// When the gesture ends if no further event arrives.
    pub fn ends(&self) -> Option<Instant> {
        self.gesture.as_ref().map(|gesture| if gesture.is_over { gesture.at } else { gesture.at + REST })
    }

    pub fn input(&mut self, input: WindowInput) {
        match input {
            WindowInput::Pointer { x, y } => self.pointer = (x, y),
            WindowInput::Scroll { at, by } => {
                let before = self.gesture.as_ref().map_or(WHEEL, |gesture| gesture.last);
                self.observe(at, before * (-by / DOUBLES).exp2(), WHEEL, self.pointer);
            }
            WindowInput::Finger { at, finger, x, y } => {
                match self.fingers.iter_mut().find(|(known, _)| *known == finger) {
                    Some((_, place)) => *place = (x, y),
                    None => self.fingers.push((finger, (x, y))),
                }
                if let [(_, one), (_, other), ..] = self.fingers[..] {
                    let distance = (one.0 - other.0).hypot(one.1 - other.1).max(1.0);
                    self.observe(at, distance, distance, ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0));
                }
            }
            WindowInput::FingerUp { finger } => {
                self.fingers.retain(|(known, _)| *known != finger);
                self.gesture.iter_mut().for_each(|gesture| gesture.is_over = true);
            }
            _ => {}
        }
    }

    /// Adds a distance to the gesture. `first` is the distance before the gesture, used when it begins.
    fn observe(&mut self, at: Instant, distance: f64, first: f64, place: (f64, f64)) {
        let from = self.view(at);
        let anchor = (place.0 - self.size.0 / 2.0, place.1 - self.size.1 / 2.0);
        let begin =
            || ZoomGesture { distance: PinchDistance::new(), first, last: first, at, from, anchor, is_over: false };
        let gesture = self.gesture.get_or_insert_with(begin);
        gesture.distance.observe(at, (0.0, 0.0), (distance, 0.0));
        (gesture.last, gesture.at) = (distance, at);
        self.settling = None;
    }

    /// Ends the gesture if its time is over; true if it ended.
    pub fn end(&mut self, now: Instant) -> bool {
        let is_over = self.ends().is_some_and(|end| end <= now);
        if is_over {
            self.finish(now);
        }
        is_over
    }

    fn finish(&mut self, now: Instant) {
        if let Some(gesture) = self.gesture.take() {
            self.settling = Some((gesture.predicted(now), now));
            self.view = gesture.view(gesture.last);
        }
    }

    /// The visible part at `at`.
    pub fn view(&self, at: Instant) -> MapView {
        if let Some(gesture) = &self.gesture {
            return gesture.predicted(at);
        }
        let Some((from, since)) = self.settling else { return self.view };
        let share = ((at - since).as_nanos() as f64 / SETTLE.as_nanos() as f64).clamp(0.0, 1.0);
        from.between(self.view, 1.0 - (1.0 - share).powi(3))
    }
}
