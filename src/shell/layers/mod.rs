//! Layer surfaces (`wlr_layer_shell`): bars, wallpapers, launchers and notifications, above or below the windows of an
//! output.
//!
//! They stay in place during workspace switches and in the overview. [`layer_arrange`] computes their places, for all
//! surfaces of an output at once. A place with another size takes effect with the content that was drawn for it; a
//! place with the same size takes effect at once:
//!
//! ```text
//!   request (commit) ─► arrange ─┬─ another size ─► configure ─► ack ─► commit ─► in effect
//!                                └─ the same ────────────────────────────────────► in effect
//! ```

pub mod above_fullscreen;
pub mod keyboard;
pub mod layer_arrange;
mod layer_rules;
mod layer_surface;

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_surface_v1::ZwlrLayerSurfaceV1;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};
use smithay::wayland::shell::wlr_layer::{LayerSurface, LayerSurfaceCachedState};

use super::{Shell, ShellOutputs, ShellSeat, configure, following, hit, popup, surface_outputs, workspace_actions};
use crate::guard;
use crate::shell::geometry;
use crate::state::State;
use crate::surface;
use layer_arrange::{LayerArrangement, LayerDepth, LayerPlacement};
pub use layer_rules::LayerAppearance;
pub use layer_surface::ShellLayerSurface;

#[derive(Debug, Default)]
pub struct Layers {
    /// In order of creation.
    list: Vec<ShellLayerSurface>,
    /// Usable areas, except of outputs where windows may use the whole output.
    usable: Vec<(Output, Rectangle<i32, Logical>)>,
    /// The layer surface that the user gave the keyboard to.
    keyboard_choice: Option<WlSurface>,
    /// The layer surface on which a button or finger is down.
    pressed: Option<WlSurface>,
    /// Surfaces of the *top* layer that lie above fullscreen windows.
    above_fullscreen: Vec<ObjectId>,
    covered: keyboard::CoveredLayers,
}

impl Layers {
    /// All mapped layer surfaces, in order of creation.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = &ShellLayerSurface> {
        self.list.iter().filter(|pinned| pinned.is_shown())
    }

    /// The surfaces in one layer of an output, newest (topmost) first.
    pub fn downward<'a>(
        &'a self,
        output: &'a Output,
        level: LayerDepth,
    ) -> impl Iterator<Item = &'a ShellLayerSurface> {
        self.shown().rev().filter(move |pinned| pinned.level() == level && *pinned.output() == *output)
    }

    /// Whether no mapped layer surface is on `output`.
    pub fn has_no_surfaces(&self, output: &Output) -> bool {
        !self.shown().any(|pinned| pinned.output() == output)
    }

    /// Outputs with layer surfaces; an output with several surfaces is repeated.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.shown().map(ShellLayerSurface::output)
    }

    pub(super) fn of_root(&self, surface: &WlSurface) -> Option<&ShellLayerSurface> {
        self.list.iter().find(|pinned| pinned.surface() == surface)
    }

    pub(super) fn of_root_mut(&mut self, surface: &WlSurface) -> Option<&mut ShellLayerSurface> {
        self.list.iter_mut().find(|pinned| pinned.surface() == surface)
    }

    /// The area of `output` that windows may use (global logical coordinates).
    pub fn usable(&self, output: &Output) -> Rectangle<i32, Logical> {
        let known = self.usable.iter().find(|(known, _)| known == output);
        known.map_or_else(|| geometry(output), |(_, usable)| *usable)
    }

    /// Returns whether the area has changed.
    fn set_usable(&mut self, output: &Output, usable: Rectangle<i32, Logical>) -> bool {
        let before = self.usable(output);
        self.usable.retain(|(known, _)| known != output);
        // Keep no entry for an output without bars: it may be moved, and nothing would update its entry then.
        if usable != geometry(output) {
            self.usable.push((output.clone(), usable));
        }
        before != usable
    }

    /// Surfaces whose layer surface object is destroyed.
    pub(super) fn destroyed_surfaces(&self) -> Vec<WlSurface> {
        self.list.iter().filter(|pinned| !pinned.is_alive()).map(|pinned| pinned.surface().clone()).collect()
    }
}

impl Shell {
    /// The object of the layer surface with root `surface`, if its client has acknowledged no configure since it was
    /// last unmapped: it must not have content then.
    pub fn unacknowledged_layer(&self, surface: &WlSurface) -> Option<&ZwlrLayerSurfaceV1> {
        let pinned = self.layers.of_root(surface)?;
        (!pinned.acknowledged && !pinned.is_closed() && !self.allow_unconfigured_content).then(|| pinned.object())
    }

    /// Whether `surface` is the root of a layer surface.
    pub fn is_pinned(&self, surface: &WlSurface) -> bool {
        self.layers.of_root(surface).is_some()
    }

    /// The layer surface that `surface` belongs to, as its root, as a subsurface, or inside one of its popups.
    pub fn pinned_of(&self, surface: &WlSurface) -> Option<&ShellLayerSurface> {
        self.layers.of_root(&self.outermost(surface)?)
    }

    /// The surface in the layers above windows that takes input at `point` (global logical coordinates), and its
    /// origin.
    pub fn hit_above(&self, point: Point<f64, Logical>, output: &Output) -> Option<(WlSurface, Point<f64, Logical>)> {
        let all = |_: &&ShellLayerSurface| true;
        self.hit_level(point, output, LayerDepth::Overlay, all).or_else(|| {
            if !self.overlays.overview.is_on() && self.is_covered(output) {
                return self
                    .hit_level(point, output, LayerDepth::Top, |pinned| self.layers.is_above_fullscreen(pinned));
            }
            self.hit_level(point, output, LayerDepth::Top, all)
                .or_else(|| self.hit_popups(point, output, LayerDepth::Bottom, all))
                .or_else(|| self.hit_popups(point, output, LayerDepth::Background, all))
        })
    }

    /// Hit test for the layers below windows, without their popups, which lie above windows.
    pub(super) fn hit_below(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let in_level = |level| self.hit_surfaces(point, output, level, |_| true);
        if self.is_covered(output) {
            None
        } else {
            in_level(LayerDepth::Bottom).or_else(|| in_level(LayerDepth::Background))
        }
    }

    fn hit_level(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
        level: LayerDepth,
        these: impl Fn(&&ShellLayerSurface) -> bool + Copy,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        self.hit_popups(point, output, level, these).or_else(|| self.hit_surfaces(point, output, level, these))
    }

    fn hit_popups(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
        level: LayerDepth,
        these: impl Fn(&&ShellLayerSurface) -> bool,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let pinned = self.layers.downward(output, level).filter(these);
        let mut popups = pinned.flat_map(|pinned| self.popups_of_layer(pinned));
        popups.find_map(|(popup, origin)| hit::hit_tree_at(popup, origin.to_f64(), point))
    }

    fn hit_surfaces(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
        level: LayerDepth,
        these: impl Fn(&&ShellLayerSurface) -> bool,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let mut pinned = self.layers.downward(output, level).filter(these);
        pinned.find_map(|pinned| hit::hit_tree_at(pinned.surface(), pinned.rect().loc.to_f64(), point))
    }
}

/// Handles a new layer surface for `output`, or for the output in use. It is placed with its first commit. If there is
/// no such output it is closed at once.
pub fn new_surface(
    state: &mut State,
    surface: LayerSurface,
    output: Option<Output>,
    namespace: String,
    look: LayerAppearance,
) {
    let output = match output {
        Some(output) => Some(output).filter(|output| state.outputs().any(|known| known == output)),
        None => used_output(state),
    };
    match output {
        Some(output) => {
            state.shell.layers.list.push(ShellLayerSurface::new(surface, output, namespace, look));
        }
        None => surface.send_close(),
    }
}

/// The output of the focused window, or else the output at the pointer.
fn used_output(state: &State) -> Option<Output> {
    let name = workspace_actions::current_screen(state).and_then(|screen| state.shell.workspaces.name(screen));
    let named = name.and_then(|name| state.outputs().find(|output| output.name() == name)).cloned();
    named.or_else(|| Some(state.usable_area(Some(state.pointer_position()))?.0))
}

/// Called after an update was applied to the layer surface with root `root`.
pub(super) fn applied(state: &mut State, root: &WlSurface, is_root: bool) {
    let acknowledged = if is_root { configure::take_applied(root) } else { None };
    let has_content = surface::has_content(root);
    let current = guard::with_states(root, |states| *states.cached_state.get::<LayerSurfaceCachedState>().current());
    let Some(pinned) = state.shell.layers.of_root_mut(root).filter(|pinned| !pinned.is_closed()) else { return };
    let (before, is_first) = (pinned.state(), is_root && !pinned.is_configured());
    if is_root {
        pinned.set_placement(LayerPlacement::from(&current), current.keyboard_interactivity);
    }
    pinned.apply_acknowledged(acknowledged);
    let was_shown = pinned.set_shown(has_content);
    let is_changed = before != pinned.state();
    let (output, is_shown) = (pinned.output().clone(), pinned.is_shown());
    if is_changed || is_first {
        arrange(state, &output);
    }
    if let Some(pinned) = state.shell.layers.of_root_mut(root) {
        if is_first {
            pinned.start_configure();
        }
        pinned.send_wanted();
    }
    match (was_shown, is_shown) {
        (true, false) => unmapped(state, root),
        (false, true) => keyboard::mapped(state, root),
        _ if is_changed => state.update_keyboard(),
        _ => {}
    }
    surface_outputs::update_layer(state, root);
    if is_changed {
        state.schedule_repaint_all();
    }
}

/// Places all layer surfaces of an output. If the usable area changes, windows follow in the same frame.
fn arrange(state: &mut State, output: &Output) {
    if place_surfaces(state, output) {
        following::usable_area_changed(state);
    }
}

/// Places all layer surfaces of an output. Returns whether its usable area has changed.
fn place_surfaces(state: &mut State, output: &Output) -> bool {
    let layers = &mut state.shell.layers;
    let mut mine: Vec<&mut ShellLayerSurface> = layers.list.iter_mut().filter(|pinned| pinned.is_on(output)).collect();
    let placements: Vec<_> = mine.iter().map(|pinned| (*pinned.placement(), pinned.is_shown())).collect();
    let LayerArrangement { places, usable } = layer_arrange::arrange(geometry(output), &placements);
    let moved = mine.iter_mut().zip(places).fold(false, |moved, (pinned, place)| pinned.set_place(place) | moved);
    let is_changed = layers.set_usable(output, usable);
    if moved {
        state.schedule_repaint_all();
    }
    is_changed
}

/// Called when a layer surface is unmapped.
fn unmapped(state: &mut State, root: &WlSurface) {
    popup::dismiss_of(state, root);
    let layers = &mut state.shell.layers;
    layers.keyboard_choice.take_if(|chosen| chosen == root);
    layers.pressed.take_if(|pressed| pressed == root);
    layers.covered.forget(root);
    state.focus_lost(root);
    state.schedule_repaint_all();
}

/// Called when the layer surface object or its surface is destroyed.
pub fn destroyed(state: &mut State, root: &WlSurface) {
    let Some(index) = state.shell.layers.list.iter().position(|pinned| pinned.surface() == root) else { return };
    let pinned = state.shell.layers.list.remove(index);
    unmapped(state, root);
    surface_outputs::send_leave(root, pinned.output());
    arrange(state, pinned.output());
}

/// Called after an output was plugged, unplugged or changed: closes surfaces of unplugged outputs, and places the
/// others. Windows do not follow yet.
pub(super) fn outputs_changed(state: &mut State) {
    let known: Vec<Output> = state.outputs().cloned().collect();
    let layers = &mut state.shell.layers;
    layers.usable.retain(|(output, _)| known.contains(output));
    let orphans: Vec<WlSurface> = layers
        .list
        .iter_mut()
        .filter(|pinned| !pinned.is_closed() && !known.contains(pinned.output()))
        .map(|pinned| pinned.close())
        .collect();
    orphans.iter().for_each(|root| unmapped(state, root));
    for output in &known {
        if state.shell.layers.list.iter().any(|pinned| pinned.is_on(output)) {
            place_surfaces(state, output);
        }
    }
    let roots: Vec<WlSurface> = state.shell.layers.shown().map(|pinned| pinned.surface().clone()).collect();
    roots.iter().for_each(|root| surface_outputs::update_layer(state, root));
}
