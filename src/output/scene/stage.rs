//! What the last latch of an output chose, kept for the next one: while nothing is moved, opened, closed or restacked, only
//! the content of those surfaces is looked at that have changed.
//!
//! Who opens or comes to lie above others, and whatever else happens to one of whom nothing was seen, uncovers nobody: who
//! was hidden stays hidden, and only those that were seen and those that something happened to are looked at.
//!
//! ```text
//!   seen before    a  b  c  d       e to z: hidden
//!   w is raised    w ┊ a  b  c  d   each as it was, unless it is hidden now; e to v, x to z still are
//! ```
//!
//! What makes it stale is said in two places: [`Shell::changes`](crate::shell::Shell::changes) counts whatever says what is
//! seen where, and [`Stage::changed`] hears of every surface with other content. With debug assertions each scene chosen
//! from what was kept is compared with one chosen from nothing.

use ahash::HashMap;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Physical, Rectangle, Size};

use crate::guard;
use crate::output::geometry;
use crate::output::panel::turn_of;
use crate::output::scene::choosing;
use crate::output::scene::choosing::{Arranged, Placed};
use crate::output::scene::cursor;
use crate::revision::Revision;
use crate::scene::{Effect, Layer, Scene};
use crate::shell::ShellRevision;
use crate::shell::effects::Effects;
use crate::state::State;
use crate::surface::background::Background;
use crate::surface::content::SurfaceContent;
use crate::turn::Turn;
use upbeat_timing::id::{OutputId, WindowId};
use upbeat_timing::time::Instant;

/// More surfaces than this that may be seen now are no reason to look at each: all is looked at.
const MOST_APPEARED: usize = 32;

/// What an arrangement follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Basis {
    shell: ShellRevision,
    effects: Effects,
    area: Rectangle<i32, Logical>,
    scale: f64,
    size: Size<i32, Physical>,
    turn: Turn,
}

/// What the last latch of an output chose.
#[derive(Debug, Default)]
pub(in crate::output) struct Stage {
    /// What it follows from; `None` if it cannot be used again.
    basis: Option<Basis>,
    /// Advanced with every arrangement.
    arrangement: Revision,
    /// How many windows were looked at for all arrangements.
    looked_at: u64,
    /// Whose the layers and effects are, in order; with what is pinned above and below windows.
    windows: Vec<Placed>,
    /// With the buffers of surfaces that have not changed since.
    layers: Vec<Layer>,
    effects: Vec<Effect>,
    places: HashMap<ObjectId, usize>,
    /// Something was left out that could be seen.
    is_cut: bool,
    /// Surfaces that have changed since.
    changed: Vec<WlSurface>,
    /// Surfaces without a layer that have changed since.
    appeared: Vec<WlSurface>,
}

impl Stage {
    /// Advanced whenever other surfaces are seen, or seen elsewhere.
    pub const fn arrangement(&self) -> Revision {
        self.arrangement
    }

    /// Whether it has `surface`; `None` if what it has is not to be relied upon.
    pub fn has(&self, surface: &WlSurface) -> Option<bool> {
        self.basis.is_some().then(|| self.places.contains_key(&surface.id()))
    }

    /// What `surface` shows has changed. Its buffer is let go.
    pub fn changed(&mut self, surface: &WlSurface) {
        match self.places.get(&surface.id()).and_then(|place| self.layers.get_mut(*place)) {
            Some(layer) => {
                layer.buffer = None;
                if !self.changed.contains(surface) {
                    self.changed.push(surface.clone());
                }
            }
            // It may be seen now.
            None if self.basis.is_some() && self.appeared.len() < MOST_APPEARED => {
                if !self.appeared.contains(surface) {
                    self.appeared.push(surface.clone());
                }
            }
            None => self.forget(),
        }
    }

    /// How many windows were looked at for all arrangements.
    pub const fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// Those of which something is seen, topmost first.
    pub fn windows(&self) -> impl Iterator<Item = WindowId> {
        self.windows.iter().filter_map(|placed| placed.window)
    }

    /// Adds what it has of a window to `scene`, if it has anything. Returns whether nothing is seen of what lies below it.
    pub fn put(&self, window: WindowId, scene: &mut Scene) -> Option<bool> {
        let place = self.windows.iter().position(|placed| placed.window == Some(window))?;
        let (placed, above) = (self.windows[place], &self.windows[..place]);
        let layers = above.iter().map(|placed| placed.layers).sum();
        let effects = above.iter().map(|placed| placed.effects).sum();
        let begun = scene.layers.len();
        scene.layers.extend(self.layers.iter().skip(layers).take(placed.layers).cloned());
        let its = self.effects.iter().skip(effects).take(placed.effects).cloned();
        scene.effects.extend(its.map(|effect| Effect { depth: effect.depth - layers + begun, ..effect }));
        Some(placed.covers_output)
    }

    /// All is to be looked at again.
    pub fn forget(&mut self) {
        self.basis = None;
        self.layers.clear();
        self.effects.clear();
        self.windows.clear();
        self.places.clear();
        self.changed.clear();
        self.appeared.clear();
    }

    fn keep(&mut self, basis: Option<Basis>, arranged: &mut Arranged) {
        self.forget();
        self.arrangement.advance();
        self.looked_at += arranged.looked_at as u64;
        self.is_cut = arranged.is_cut;
        if basis.is_some() {
            let scene = &arranged.scene;
            self.basis = basis;
            self.windows = std::mem::take(&mut arranged.windows);
            self.layers.extend(scene.layers.iter().cloned());
            self.effects.extend(scene.effects.iter().cloned());
            self.places.extend(scene.layers.iter().enumerate().map(|(place, layer)| (layer.surface.id(), place)));
        }
    }

    /// Looks at what has changed. Returns whether that is all that looks different; if not, nothing is kept.
    fn refresh(&mut self) -> bool {
        let Stage { layers, places, changed, .. } = self;
        let are_same = changed.drain(..).all(|surface| {
            let layer = places.get(&surface.id()).and_then(|place| layers.get_mut(*place));
            layer.is_some_and(|layer| refresh(layer, &surface))
        });
        if !are_same {
            self.forget();
        }
        are_same
    }
}

/// Has `layer` show what `surface` does now. Returns whether it still has the same shape.
pub(in crate::output) fn refresh(layer: &mut Layer, surface: &WlSurface) -> bool {
    if !surface.is_alive() {
        return false;
    }
    let content = guard::with_states(surface, |states| SurfaceContent::of(surface, states));
    let Some(content) = content else { return false };
    let shape = &layer.shape;
    let same = content.buffer_size == shape.buffer_size
        && content.buffer_scale == shape.buffer_scale
        && content.buffer_transform == shape.buffer_transform
        && Background { blurred: content.blurred } == Background { blurred: shape.blurred.clone() }
        && content.source == shape.whole
        && content.size == shape.size
        && content.opacity == shape.own_opacity
        && content.opaque.iter().eq(shape.solid.iter());
    layer.buffer = Some(content.buffer);
    layer.damage = content.damage;
    same
}

/// What output `id` is to show in the frame presented at `present`, and whether it is arranged anew.
pub(in crate::output) fn choose(state: &mut State, id: OutputId, present: Instant) -> (Scene, bool) {
    let basis = basis(state, id);
    if let Some(scene) = basis.and_then(|basis| choose_again(state, id, basis)) {
        debug_assert!(is_as_chosen_anew(state, id, present, &scene), "what was kept of a scene is stale");
        return (scene, false);
    }
    let mut stage = state.outputs.by_id_mut(id).map(|output| std::mem::take(&mut output.stage)).unwrap_or_default();
    let these = basis.and_then(|basis| uncovering_nobody(&mut stage, state, basis));
    let mut arranged = match &these {
        Some((these, raised)) => {
            // Of one that is raised more may be seen than was.
            let put = |window: WindowId, scene: &mut Scene| match raised.contains(&window) {
                true => None,
                false => stage.put(window, scene),
            };
            choosing::choose_among(state, id, these, put, present)
        }
        None => choosing::choose(state, id, present),
    };
    debug_assert!(
        these.is_none() || is_as_chosen_anew(state, id, present, &arranged.scene),
        "somebody was uncovered: {these:?}"
    );
    stage.keep(basis, &mut arranged);
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.stage = stage;
    }
    (arranged.scene, true)
}

/// Those that can be seen now, if nothing that happened since what `stage` has was chosen uncovers anybody: those that were
/// seen, and those that it happened to. And which of the first came to lie above others.
fn uncovering_nobody(stage: &mut Stage, state: &State, basis: Basis) -> Option<(Vec<WindowId>, Vec<WindowId>)> {
    let before = stage.basis.filter(|_| !stage.is_cut)?;
    if (Basis { shell: before.shell, ..basis }) != before || !stage.refresh() {
        return None;
    }
    let is_seen = |window: WindowId| stage.windows().any(|seen| seen == window);
    let (mut these, mut raised): (Vec<WindowId>, _) = (stage.windows().collect(), Vec::new());
    for (window, is_other) in state.shell.changes_since(before.shell)? {
        match (is_seen(window), is_other) {
            (true, true) => return None,
            (true, false) => raised.push(window),
            (false, _) => these.push(window),
        }
    }
    // What is part of no window is seen nowhere.
    for surface in stage.appeared.iter().filter(|surface| surface.is_alive()) {
        match state.shell.window_of(surface).map(|window| window.id) {
            Some(window) if is_seen(window) => return None,
            window => these.extend(window),
        }
    }
    Some((these, raised))
}

/// What the next scene follows from; `None` while that changes from frame to frame.
fn basis(state: &State, id: OutputId) -> Option<Basis> {
    let output = state.outputs.by_id(id)?;
    // What is said of frames changes with each.
    if state.shell.overlays.hud
        || state.shell.lock.covers()
        || !state.shell.is_still()
        || state.input.drag_icon.is_some()
        || output.keeps
    {
        return None;
    }
    Some(Basis {
        shell: state.shell.changes(),
        effects: state.outputs.effects(&state.shell),
        area: geometry(&output.output),
        scale: output.output.current_scale().fractional_scale(),
        size: output.seen_size(),
        turn: turn_of(&output.output),
    })
}

fn choose_again(state: &mut State, id: OutputId, basis: Basis) -> Option<Scene> {
    let background = state.outputs.background;
    let output = state.outputs.by_id_mut(id)?;
    if output.stage.basis != Some(basis) || !output.stage.appeared.is_empty() || !output.stage.refresh() {
        return None;
    }
    let mut layers = std::mem::take(&mut output.spare);
    layers.extend(output.stage.layers.iter().cloned());
    let effects = output.stage.effects.clone();
    let Basis { size, turn, .. } = basis;
    let cursor = cursor::layer(state, id);
    let picks_region = state.shell.overlays.region.is_on();
    Some(Scene { size, turn, background, layers, effects, cursor, picks_region, locked: false })
}

fn is_as_chosen_anew(state: &mut State, id: OutputId, present: Instant, scene: &Scene) -> bool {
    let anew = choosing::choose(state, id, present).scene;
    let same = |a: &Layer, b: &Layer| {
        a.surface == b.surface
            && a.buffer.as_deref() == b.buffer.as_deref()
            && a.opaque == b.opaque
            && a.origin == b.origin
    };
    scene.looks_like(&anew)
        && scene.layers.iter().zip(&anew.layers).all(|(a, b)| same(a, b))
        && scene.effects.iter().zip(&anew.effects).all(|(a, b)| a.depth == b.depth)
}
