//! Chooses the scene of one output, topmost layer first, since layers above decide which layers below are visible.
//!
//! ```text
//!   notices, shortcuts    our own                        output/scene/overlays
//!   input popups          at the caret                   shell/input_popups
//!   overlays              pinned to the output           shell/layers
//!   top                   the same; above a fullscreen window only launchers with the keyboard and keyboards
//!                         (shell/layers/above_fullscreen), and no menus of the layers below
//!   windows, ghosts       with their popups              shell/render_order
//!   cards, or a hint      of the overview                output/scene/overlays
//!   bottom, background    pinned to the output
//! ```

use smithay::output::Output;
use smithay::utils::Point;

use crate::output::geometry;
use crate::output::panel::turn_of;
use crate::output::scene::overlays;
use crate::output::scene::placing::LayerPlacer;
use crate::output::scene::uncovered_region::UncoveredRegion;
use crate::scene::Scene;
use crate::shell::effects::WindowEffects;
use crate::shell::layers::ShellLayerSurface;
use crate::shell::layers::layer_arrange::LayerDepth;
use crate::shell::render_order::{OutputView, StackItem};
use crate::shell::{Shell, ShellSeat};
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Instant;

/// Background colour behind the lock.
const LOCKED: [f32; 3] = [0.0; 3];

/// A scene under construction.
struct SceneBuilder<'a> {
    scene: Scene,
    uncovered: UncoveredRegion,
    placing: LayerPlacer<'a>,
    /// Layers further down are invisible.
    is_covered: bool,
}

/// A scene without windows.
fn begin(state: &mut State, id: OutputId) -> Option<(Scene, Output)> {
    let output = state.outputs.by_id_mut(id)?;
    let layers = std::mem::take(&mut output.spare_layers);
    let handle = output.output.clone();
    let (size, turn) = (output.seen_size(), turn_of(&handle));
    let scene = Scene {
        size,
        turn,
        background: state.outputs.background,
        layers,
        effects: Vec::new(),
        cursor: crate::output::scene::cursor::layer(state, id),
        picks_region: state.shell.overlays().region().is_on(),
        locked: false,
    };
    Some((scene, handle))
}

impl<'a> SceneBuilder<'a> {
    fn new(scene: Scene, placing: LayerPlacer<'a>) -> Self {
        let bare = UncoveredRegion::whole(&scene);
        SceneBuilder { scene, uncovered: bare, placing, is_covered: false }
    }

    /// Adds layers. `add` returns whether they hide everything below.
    fn add(&mut self, add: impl FnOnce(&LayerPlacer<'a>, &mut Scene, &UncoveredRegion) -> bool) {
        self.is_covered |= add(&self.placing, &mut self.scene, &self.uncovered);
        self.uncovered.cull(&mut self.scene);
    }

    /// Whether layers further down are invisible.
    fn is_done(&self) -> bool {
        self.is_covered || self.uncovered.is_empty()
    }

    /// Adds the layer surfaces above windows.
    fn above_windows(&mut self, shell: &Shell, output: &Output, view: &OutputView<'_>) {
        self.add(|placing, scene, _| {
            let seen = shell.input_popups_on(output);
            seen.into_iter().for_each(|(popup, at)| placing.unscaled(scene, popup, at));
            false
        });
        self.popups(shell, output, LayerDepth::Overlay);
        self.level(shell, output, LayerDepth::Overlay);
        // Without layer surfaces it does not matter whether a fullscreen window covers them.
        if shell.layers().has_no_surfaces(output) {
            return;
        }
        if shell.is_covered_in(view) {
            self.each(shell, output, LayerDepth::Top, |placing, scene, pinned| {
                if shell.layers().is_above_fullscreen(pinned) {
                    placing.popups_of(scene, shell, pinned);
                    placing.pinned(scene, pinned);
                }
            });
            return;
        }
        self.popups(shell, output, LayerDepth::Top);
        self.level(shell, output, LayerDepth::Top);
        self.popups(shell, output, LayerDepth::Bottom);
        self.popups(shell, output, LayerDepth::Background);
    }

    fn below_windows(&mut self, shell: &Shell, output: &Output) {
        self.level(shell, output, LayerDepth::Bottom);
        self.level(shell, output, LayerDepth::Background);
    }

    fn level(&mut self, shell: &Shell, output: &Output, level: LayerDepth) {
        self.each(shell, output, level, |placing, scene, pinned| placing.pinned(scene, pinned));
    }

    fn popups(&mut self, shell: &Shell, output: &Output, level: LayerDepth) {
        self.each(shell, output, level, |placing, scene, pinned| placing.popups_of(scene, shell, pinned));
    }

    fn each(
        &mut self,
        shell: &Shell,
        output: &Output,
        level: LayerDepth,
        add: impl Fn(&LayerPlacer<'a>, &mut Scene, &ShellLayerSurface),
    ) {
        for pinned in shell.layers().downward(output, level) {
            if self.is_done() {
                return;
            }
            self.add(|placing, scene, _| {
                add(placing, scene, pinned);
                false
            });
        }
    }

    fn end(mut self) -> Scene {
        self.uncovered.keep(&mut self.scene);
        self.scene
    }
}

/// The scene of output `id` while the session is locked: the lock surface, the on-screen keyboard, and black.
fn choose_lock(state: &mut State, id: OutputId) -> Scene {
    let Some((mut scene, handle)) = begin(state, id) else { return Scene::default() };
    (scene.background, scene.locked) = (LOCKED, true);
    let kept = &mut state.outputs.overlays;
    if state.shell.lock().is_abandoned() {
        overlays::show_lock(kept, &mut scene, (id, &handle));
    } else {
        kept.forget();
    }
    let placing = LayerPlacer::new(&handle, WindowEffects::default(), &state.surfaces);
    for keyboard in state.shell.keyboards_above_lock(&handle) {
        placing.popups_of(&mut scene, &state.shell, keyboard);
        placing.pinned(&mut scene, keyboard);
    }
    if let Some(surface) = state.shell.lock().surface_on(&handle) {
        placing.filling(&mut scene, surface, geometry(&handle).loc);
    }
    scene
}

/// The scene of output `id` for the frame presented at `present`.
pub(in crate::output) fn choose(state: &mut State, id: OutputId, present: Instant) -> Scene {
    if state.shell.lock().covers() {
        return choose_lock(state, id);
    }
    let Some((scene, handle)) = begin(state, id) else { return Scene::default() };
    let mut choosing =
        SceneBuilder::new(scene, LayerPlacer::new(&handle, state.outputs.effects(&state.shell), &state.surfaces));
    if let Some(icon) = state.surfaces.drag_icon() {
        let offset = state.surfaces.get(icon).map_or(Point::default(), |entry| entry.offset());
        let at = state.drag_position().to_i32_round() + offset;
        choosing.placing.unscaled(&mut choosing.scene, icon, at);
    }
    let hud = state.shell.overlays().shows_statistics();
    if hud {
        let crate::output::Outputs { list, overlays: kept, statistics, .. } = &mut state.outputs;
        let cost = kept.hud_cost;
        if let Some(output) = list.iter().find(|output| output.id == id) {
            let figures =
                || crate::output::scene::hud::figures(output, (&state.shell, &state.surfaces), statistics, cost);
            overlays::show_hud(kept, &mut choosing.scene, (id, &handle), figures);
        }
    }
    let kept = &mut state.outputs.overlays;
    let overlays = state.shell.overlays();
    let (overview, help, notices) = (overlays.overview(), overlays.help(), overlays.notices());
    let asks = overlays.question().shown.is_seen(present);
    let picks = state.shell.overlays().region().is_on();
    let (overview, help, notices) = (overview.is_seen(present), help.is_seen(present), notices.shown.is_seen(present));
    if notices {
        overlays::show_notices(&state.shell, kept, &mut choosing.scene, (id, &handle), present);
    }
    if overview {
        overlays::show_close_button(&state.shell, kept, &mut choosing.scene, (id, &handle), present);
    }
    let indicates = overlays::show_workspace_indicator(&state.shell, kept, &mut choosing.scene, (id, &handle), present);
    if picks {
        overlays::show_region(&state.shell, kept, &mut choosing.scene, (id, &handle));
    }
    if asks {
        overlays::show_question(&state.shell, kept, &mut choosing.scene, (id, &handle), present);
    }
    if help {
        let bindings = &state.bindings;
        overlays::show_help(&state.shell, bindings, kept, &mut choosing.scene, (id, &handle), present);
    }
    let aims = state.shell.snap_preview().is_some();
    if aims {
        overlays::show_aim(&state.shell, kept, &mut choosing.scene, (id, &handle));
    }
    choosing.uncovered.cull(&mut choosing.scene);
    let shell = &state.shell;
    let view = shell.view(&handle, present);
    choosing.above_windows(shell, &handle, &view);
    for stacked in shell.stack_downward(&view) {
        if choosing.is_done() {
            break;
        }
        match stacked {
            StackItem::Closing(ghost) => choosing.add(|placing, scene, _| {
                let shift = shell.shift_of_closing(ghost, &view);
                shift.into_iter().for_each(|shift| placing.ghost(scene, ghost, shift, present));
                false
            }),
            StackItem::Window(window) => {
                choosing.add(|placing, scene, bare| placing.unless_hidden(scene, shell, window, &view, bare));
            }
        }
    }
    if overview {
        overlays::show_overview(shell, kept, &mut choosing.scene, (id, &handle), present);
        choosing.uncovered.keep(&mut choosing.scene);
    }
    let hints = shell.overlays().shows_hint() && shell.layers().has_no_surfaces(&handle);
    if hints {
        overlays::show_hint(&state.bindings, kept, &mut choosing.scene, (id, &handle));
        choosing.uncovered.keep(&mut choosing.scene);
    }
    choosing.below_windows(shell, &handle);
    if !overview && !help && !notices && !asks && !hints && !hud && !aims && !picks && !indicates {
        kept.forget();
    }
    choosing.end()
}
