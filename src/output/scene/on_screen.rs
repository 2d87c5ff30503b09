//! Maps points of a surface to the screen.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use crate::output::geometry;
use crate::state::State;

/// Maps `place` (coordinates of `surface`) to global logical coordinates; `None` if the surface is not visible.
pub fn place_on_screen(state: &State, surface: &WlSurface, place: Point<f64, Logical>) -> Option<Point<f64, Logical>> {
    state.outputs.list.iter().find_map(|output| {
        let area = geometry(&output.output).to_f64();
        let scale = output.output.current_scale().fractional_scale();
        let layers =
            output.on_screen.layers.iter().filter(|layer| layer.snapshot.is_none() && layer.surface == *surface);
        layers.into_iter().find_map(|layer| {
            let place = layer.origin + Point::from((place.x * layer.stretch.0, place.y * layer.stretch.1));
            let is_on_it = layer.target.to_f64().contains((place - area.loc).to_physical(scale));
            (is_on_it && area.contains(place)).then_some(place)
        })
    })
}
