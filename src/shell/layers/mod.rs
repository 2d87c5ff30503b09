//! Layer surfaces: bars, wallpapers, launchers, notifications; whatever is pinned to an output, below windows or above them.
//!
//! Workspaces glide beneath them, and the overview leaves them where they are. Where they go is reckoned in [`placing`],
//! from all of an output at once; a place takes effect with the content that was made for it, and one of the same size at
//! once:
//!
//! ```text
//!   wish (commit) ─► arrange ─┬─ another size ─► configure ─► ack ─► commit ─► it is there
//!                             └─ the same ──────────────────────────────────► it is there
//! ```

pub mod keyboard;
mod pinned;
pub mod placing;
pub mod rising;
mod ruled;

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_surface_v1::ZwlrLayerSurfaceV1;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};
use smithay::wayland::shell::wlr_layer::{LayerSurface, LayerSurfaceCachedState};

use super::{Desk, Hand, Shell, configure, hit, popup, refitting, spaces, visit};
use crate::guard;
use crate::shell::geometry;
use crate::state::State;
use crate::surface;
pub use pinned::Pinned;
use placing::{Level, Placed, Wish};
pub use ruled::LayerLook;

/// All layer surfaces.
#[derive(Debug, Default)]
pub struct Layers {
    /// In the order in which they were made.
    list: Vec<Pinned>,
    /// What they leave for windows, where that is not all of an output.
    usable: Vec<(Output, Rectangle<i32, Logical>)>,
    /// The one that the user gave the keyboard to.
    chosen: Option<WlSurface>,
    /// The one that a button or finger holds down.
    pressed: Option<WlSurface>,
    /// The surfaces on *top* that lie above fullscreen windows.
    risen: Vec<ObjectId>,
    covering: keyboard::Covering,
}

impl Layers {
    /// Every surface with content, in the order in which they were made.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = &Pinned> {
        self.list.iter().filter(|pinned| pinned.is_shown())
    }

    /// Those of one layer of an output, topmost first: the newest.
    pub fn downward<'a>(&'a self, output: &'a Output, level: Level) -> impl Iterator<Item = &'a Pinned> {
        self.shown().rev().filter(move |pinned| pinned.level() == level && *pinned.output() == *output)
    }

    /// Whether nothing with content is pinned to `output`.
    pub fn is_bare(&self, output: &Output) -> bool {
        !self.shown().any(|pinned| pinned.output() == output)
    }

    /// The outputs that any are pinned to, some of them several times.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.shown().map(Pinned::output)
    }

    pub(super) fn of_root(&self, surface: &WlSurface) -> Option<&Pinned> {
        self.list.iter().find(|pinned| pinned.surface() == surface)
    }

    pub(super) fn of_root_mut(&mut self, surface: &WlSurface) -> Option<&mut Pinned> {
        self.list.iter_mut().find(|pinned| pinned.surface() == surface)
    }

    /// What windows may fill of `output` (global logical coordinates).
    pub fn usable(&self, output: &Output) -> Rectangle<i32, Logical> {
        let known = self.usable.iter().find(|(known, _)| known == output);
        known.map_or_else(|| geometry(output), |(_, usable)| *usable)
    }

    /// Returns whether that is something else than before.
    fn set_usable(&mut self, output: &Output, usable: Rectangle<i32, Logical>) -> bool {
        let before = self.usable(output);
        self.usable.retain(|(known, _)| known != output);
        // All of an output without bars, which goes where the output goes, is not kept: nothing is arranged there.
        if usable != geometry(output) {
            self.usable.push((output.clone(), usable));
        }
        before != usable
    }

    /// The surfaces of those whose objects are gone.
    pub(super) fn gone(&self) -> Vec<WlSurface> {
        self.list.iter().filter(|pinned| !pinned.is_alive()).map(|pinned| pinned.surface().clone()).collect()
    }
}

impl Shell {
    /// The object of the layer surface with root `surface`, if its client has acknowledged nothing since it was last
    /// unmapped: it may have no content then.
    pub fn unacknowledged_layer(&self, surface: &WlSurface) -> Option<&ZwlrLayerSurfaceV1> {
        let pinned = self.layers.of_root(surface)?;
        (!pinned.acknowledged && !pinned.is_closed() && !self.allow_unconfigured_content).then(|| pinned.object())
    }

    /// Whether `surface` is the root of a layer surface.
    pub fn is_pinned(&self, surface: &WlSurface) -> bool {
        self.layers.of_root(surface).is_some()
    }

    /// The layer surface that `surface` is part of: as its root, as a subsurface, or inside one of its popups.
    pub fn pinned_of(&self, surface: &WlSurface) -> Option<&Pinned> {
        self.layers.of_root(&self.outermost(surface)?)
    }

    /// The surface of the layers above windows that takes input at `point` (global logical coordinates), and where its
    /// origin is.
    pub fn hit_above(&self, point: Point<f64, Logical>, output: &Output) -> Option<(WlSurface, Point<f64, Logical>)> {
        let all = |_: &&Pinned| true;
        self.hit_level(point, output, Level::Overlay, all).or_else(|| {
            if !self.overlays.overview.is_on() && self.is_covered(output) {
                return self.hit_level(point, output, Level::Top, |pinned| self.layers.rises(pinned));
            }
            self.hit_level(point, output, Level::Top, all)
                .or_else(|| self.hit_popups(point, output, Level::Bottom, all))
                .or_else(|| self.hit_popups(point, output, Level::Background, all))
        })
    }

    /// The same of those below windows, whose popups lie above.
    pub(super) fn hit_below(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let in_level = |level| self.hit_surfaces(point, output, level, |_| true);
        if self.is_covered(output) { None } else { in_level(Level::Bottom).or_else(|| in_level(Level::Background)) }
    }

    fn hit_level(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
        level: Level,
        these: impl Fn(&&Pinned) -> bool + Copy,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        self.hit_popups(point, output, level, these).or_else(|| self.hit_surfaces(point, output, level, these))
    }

    fn hit_popups(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
        level: Level,
        these: impl Fn(&&Pinned) -> bool,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let pinned = self.layers.downward(output, level).filter(these);
        let mut popups = pinned.flat_map(|pinned| self.popups_of_layer(pinned));
        popups.find_map(|(popup, origin)| hit::hit_tree_at(popup, origin.to_f64(), point))
    }

    fn hit_surfaces(
        &self,
        point: Point<f64, Logical>,
        output: &Output,
        level: Level,
        these: impl Fn(&&Pinned) -> bool,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let mut pinned = self.layers.downward(output, level).filter(these);
        pinned.find_map(|pinned| hit::hit_tree_at(pinned.surface(), pinned.rect().loc.to_f64(), point))
    }
}

/// A client made a layer surface for `output`, or for the one that is being used. It is placed with its first commit. Where
/// there is no such output it is closed at once.
pub fn new_surface(
    state: &mut State,
    surface: LayerSurface,
    output: Option<Output>,
    namespace: String,
    look: LayerLook,
) {
    let output = match output {
        Some(output) => Some(output).filter(|output| state.outputs().any(|known| known == output)),
        None => used_output(state),
    };
    match output {
        Some(output) => {
            state.shell.layers.list.push(Pinned::new(surface, output, namespace, look));
        }
        None => surface.send_close(),
    }
}

/// That of the focused window, or else the one at the pointer.
fn used_output(state: &State) -> Option<Output> {
    let name = spaces::current_screen(state).and_then(|screen| state.shell.workspaces.name(screen));
    let named = name.and_then(|name| state.outputs().find(|output| output.name() == name)).cloned();
    named.or_else(|| Some(state.usable_area(Some(state.pointer_position()))?.0))
}

/// An update was applied to the layer surface with root `root`.
pub(super) fn applied(state: &mut State, root: &WlSurface, is_root: bool) {
    let acknowledged = if is_root { configure::take_applied(root) } else { None };
    let has_content = surface::has_content(root);
    let said = guard::with_states(root, |states| *states.cached_state.get::<LayerSurfaceCachedState>().current());
    let Some(pinned) = state.shell.layers.of_root_mut(root).filter(|pinned| !pinned.is_closed()) else { return };
    let (before, is_first) = (pinned.state(), is_root && !pinned.is_configured());
    if is_root {
        pinned.wish(Wish::from(&said), said.keyboard_interactivity);
    }
    pinned.take_answer(acknowledged);
    let was_shown = pinned.set_shown(has_content);
    let is_changed = before != pinned.state();
    let (output, is_shown) = (pinned.output().clone(), pinned.is_shown());
    if is_changed || is_first {
        arrange(state, &output);
    }
    if let Some(pinned) = state.shell.layers.of_root_mut(root) {
        if is_first {
            pinned.begin();
        }
        pinned.send_wanted();
    }
    match (was_shown, is_shown) {
        (true, false) => unmapped(state, root),
        (false, true) => keyboard::appeared(state, root),
        _ if is_changed => state.update_keyboard(),
        _ => {}
    }
    visit::update_layer(state, root);
    if is_changed {
        state.need_all();
    }
}

/// Places all surfaces of an output anew; windows that fill what is left are refitted in the same frame.
fn arrange(state: &mut State, output: &Output) {
    let layers = &mut state.shell.layers;
    let mut mine: Vec<&mut Pinned> = layers.list.iter_mut().filter(|pinned| pinned.is_on(output)).collect();
    let wishes: Vec<_> = mine.iter().map(|pinned| (*pinned.wished(), pinned.is_shown())).collect();
    let Placed { places, usable } = placing::arrange(geometry(output), &wishes);
    let moved = mine.iter_mut().zip(places).fold(false, |moved, (pinned, place)| pinned.put(place) | moved);
    if layers.set_usable(output, usable) {
        refitting::refit(state);
    }
    if moved {
        state.need_all();
    }
}

/// A layer surface is not seen any more.
fn unmapped(state: &mut State, root: &WlSurface) {
    popup::dismiss_of(state, root);
    let layers = &mut state.shell.layers;
    layers.chosen.take_if(|chosen| chosen == root);
    layers.pressed.take_if(|pressed| pressed == root);
    layers.covering.forget(root);
    state.focus_lost(root);
    state.need_all();
}

/// Its object or its surface is gone.
pub fn destroyed(state: &mut State, root: &WlSurface) {
    let Some(index) = state.shell.layers.list.iter().position(|pinned| pinned.surface() == root) else { return };
    let pinned = state.shell.layers.list.remove(index);
    unmapped(state, root);
    visit::leave_layer(root, pinned.output());
    arrange(state, pinned.output());
}

/// Outputs came, went or changed: surfaces of one that went are closed, all others placed anew.
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
            arrange(state, output);
        }
    }
    let roots: Vec<WlSurface> = state.shell.layers.shown().map(|pinned| pinned.surface().clone()).collect();
    roots.iter().for_each(|root| visit::update_layer(state, root));
}
