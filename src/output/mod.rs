//! An output's life: need, latch, scene, plan, light.

pub mod capture;

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};

use crate::state::State;
use crate::time::Instant;
pub use capture::capture;

/// All outputs.
#[derive(Debug, Default)]
pub struct Outputs {
    outputs: Vec<Output>,
    /// Captures that wait for the next light.
    pub captures: Vec<(Output, capture::Request)>,
}

impl Outputs {
    /// The outputs that are on.
    pub fn iter(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter()
    }

    /// Adds an output.
    pub fn add(&mut self, output: Output) {
        self.outputs.push(output);
    }
}

/// What kind of input a client was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A key went down or up.
    Key,
    /// A pointer button went down or up.
    Button,
    /// The wheel turned or a finger scrolled.
    Scroll,
    /// A finger touched, moved or left.
    Touch,
    /// The pointer moved; does not interrupt by itself.
    Motion,
}

/// Something that `surface` shows has changed.
pub fn need(_state: &mut State, _surface: &WlSurface) {}

/// Something changed that may be seen on any output.
pub fn need_all(_state: &mut State) {}

/// The cursor moved or looks different.
pub fn cursor_changed(_state: &mut State) {}

/// An input event was delivered to the client of `surface`, or to the compositor itself.
pub fn input(_state: &mut State, _kind: InputKind, _surface: Option<&WlSurface>, _at: Instant) {}

/// What lies under `point` in the scene on screen: the surface and where its origin is.
pub fn scene_on_screen_hit(state: &State, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
    state.shell.hit(point)
}

/// The rectangle of an output in global logical coordinates.
pub fn geometry(output: &Output) -> Rectangle<i32, Logical> {
    let size = output.current_mode().map(|mode| {
        let scale = output.current_scale().fractional_scale();
        output.current_transform().transform_size(mode.size).to_f64().to_logical(scale).to_i32_round()
    });
    Rectangle::new(output.current_location(), size.unwrap_or_default())
}

/// Every output with its rectangle (global logical coordinates).
pub fn all(state: &State) -> impl Iterator<Item = (&Output, Rectangle<i32, Logical>)> {
    state.outputs.iter().map(|output| (output, geometry(output)))
}

/// The output at `point`, or the one nearest to it, or the first one if there is no point; with the area that windows
/// may fill (global logical coordinates). `None` when there is no output at all.
pub fn usable_area(state: &State, point: Option<Point<f64, Logical>>) -> Option<(Output, Rectangle<i32, Logical>)> {
    let distance = |area: &Rectangle<i32, Logical>| {
        let Some(point) = point else { return 0.0 };
        let nearest = point.constrain(area.to_f64());
        (nearest.x - point.x).powi(2) + (nearest.y - point.y).powi(2)
    };
    all(state)
        .min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)))
        .map(|(output, area)| (output.clone(), area))
}
