//! Window management: stacking, placement, arrangement, interactive move and resize, popups, and layer surfaces
//! ([`layers`]).
//!
//! [`Shell`] holds the windows; the functions of this module implement requests of protocols and input. The *state* of
//! a window follows the configure that its content was drawn for ([`configure`]). Its *place* during an interactive
//! move or resize follows the pointer at the latch ([`drag`]), independently of its client.

pub mod animation;
pub mod appearance;
mod arrangement;
pub mod arrangement_requests;
mod change_log;
mod chosen_screen;
pub mod configure;
mod configure_bounds;
pub mod decorations;
pub mod destroyed_objects;
pub mod drag;
pub mod effects;
pub mod end_session_question;
mod first_place;
pub mod floating;
mod following;
pub mod hit;
mod host;
pub mod input_popups;
pub mod layers;
pub mod layout;
pub mod lock;
pub mod minimising;
pub mod named_workspaces;
pub mod notices;
mod output_changes;
pub mod overview;
pub mod overview_presses;
pub mod placement;
pub mod popup;
mod popup_list;
pub mod region_selection;
pub mod render_order;
pub mod resize;
mod ruled_size;
pub mod snap_targets;
mod snapping;
pub mod stacking;
pub mod surface_outputs;
pub mod swipes;
pub mod tiling;
pub mod title_bars;
pub mod titles;
pub mod urgency;
pub mod window;
mod window_list;
mod window_names;
mod window_rect;
pub mod window_rules;
pub mod workspace_actions;
pub mod workspace_indicator;
pub mod workspaces;
pub mod xdg_errors;

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_surface::XdgSurface;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial};
use smithay::wayland::shell::xdg::{SurfaceCachedState, ToplevelSurface};

use crate::guard;
use crate::revision::Revision;
use crate::state::State;
use crate::surface::{self, SurfaceRegistry, tree_extent};
use animation::{AnimationStyles, ClosingWindow, ColumnPans, WindowMotion, WorkspaceSlides};
pub use arrangement::WindowArrangement;
pub use arrangement_requests::{fullscreen, maximize, send_column_to, send_to, unfullscreen, unmaximize};
pub use change_log::{ListRevision, ShellRevision};
pub use chosen_screen::pointer_moved;
use drag::WindowDrag;
use effects::WindowEffects;
use following::FollowedOutput;
pub use host::{MonitorIdentity, ShellOutputs, ShellSeat, geometry};
use input_popups::InputPopups;
use layers::Layers;
use lock::Lock;
pub use output_changes::outputs_changed;
use overview::Overlays;
use popup_list::PopupList;
use snap_targets::SnapPreview;
pub use stacking::{is_window, parent_surface, set_parent};
use tiling::TilingState;
pub use upbeat_timing::id::WindowId;
pub use window::Window;
use window_list::WindowList;
pub use window_names::{app_id_changed, set_tag, title_changed};
use workspaces::Workspaces;

/// All windows, popups and layer surfaces, and the state that places them.
#[derive(Debug, Default)]
pub struct Shell {
    /// Bottom to top, including windows without content, which are skipped.
    windows: WindowList,
    /// A popup always comes after its parent.
    popups: PopupList,
    layers: Layers,
    /// Popups of the input method at the text caret.
    input_popups: InputPopups,
    /// Popups with a grab, outermost first.
    popup_grabs: Vec<WlSurface>,
    focused: Option<WindowId>,
    /// The output that a key gave the focus to.
    chosen_screen: Option<chosen_screen::ChosenScreen>,
    /// The workspace of each window.
    workspaces: Workspaces,
    /// The window on which a button or finger is down.
    pressed: Option<WindowId>,
    drag: Option<WindowDrag>,
    /// The place where the dragged window is snapped if it is released now.
    snap_preview: Option<SnapPreview>,
    animations: AnimationStyles,
    slides: WorkspaceSlides,
    pans: ColumnPans,
    /// The multi-finger gesture in progress.
    swipe: Option<swipes::SwipeGesture>,
    /// Overview, notices, help and other layers above the windows.
    overlays: Overlays,
    /// Shadows, corners, blur and borders.
    effects: WindowEffects,
    title_bars: RefCell<title_bars::VisibleTitleBars>,
    lock: Lock,
    /// Closed windows that fade out, in the order in which they closed.
    closing_windows: Vec<ClosingWindow>,
    /// Lets clients draw before they have acknowledged their first configure, which the protocol forbids. For the
    /// conformance suite WLCS, because most of its own clients do.
    allow_unconfigured_content: bool,
    /// The object whose role is being created right now.
    constructing: Option<XdgSurface>,
    /// [`Shell::changes`] when all animations were last found at rest.
    at_rest_since: Option<ShellRevision>,
    /// Areas of the outputs when windows last followed them.
    followed_outputs: Vec<FollowedOutput>,
    /// States last sent to windows: focus and suspension.
    sent_states: workspace_actions::SentWindowStates,
    /// Windows with subsurfaces that get `enter` and `leave` at the end of the turn.
    pending_output_updates: BTreeSet<WindowId>,
    last_id: u32,
    /// Advances whenever a window gets another title or application id.
    names: Revision,
    /// Workspaces that are strips of columns.
    strips: TilingState,
    /// The window under the pointer gets the focus.
    focus_follows_pointer: bool,
    /// Counts focus changes, to sort windows by their last focus.
    focuses: u64,
    /// The focused window when rules were last evaluated.
    rules_focus: Option<WindowId>,
    /// Windows whose names have changed since the rules were evaluated, without duplicates.
    renamed: VecDeque<WindowId>,
}

impl Shell {
    pub const fn layers(&self) -> &Layers {
        &self.layers
    }

    pub const fn layers_mut(&mut self) -> &mut Layers {
        &mut self.layers
    }

    /// Popups of the input method at the text caret.
    pub const fn input_popups(&self) -> &InputPopups {
        &self.input_popups
    }

    /// The workspace of each window.
    pub const fn workspaces(&self) -> &Workspaces {
        &self.workspaces
    }

    /// Workspaces that are strips of columns.
    pub const fn strips(&self) -> &TilingState {
        &self.strips
    }

    pub const fn overlays(&self) -> &Overlays {
        &self.overlays
    }

    pub const fn overlays_mut(&mut self) -> &mut Overlays {
        &mut self.overlays
    }

    pub const fn lock(&self) -> &Lock {
        &self.lock
    }

    pub const fn lock_mut(&mut self) -> &mut Lock {
        &mut self.lock
    }

    /// The dragged window goes nowhere else when the drag ends.
    pub const fn forget_snap_preview(&mut self) {
        self.snap_preview = None;
    }

    /// The place where the dragged window is snapped if it is released now.
    pub const fn snap_preview(&self) -> Option<SnapPreview> {
        self.snap_preview
    }

    pub const fn effects(&self) -> WindowEffects {
        self.effects
    }

    pub const fn effects_mut(&mut self) -> &mut WindowEffects {
        &mut self.effects
    }

    pub const fn set_effects(&mut self, effects: WindowEffects) {
        self.effects = effects;
    }

    /// The object whose role is being created right now.
    pub(crate) const fn constructing(&self) -> Option<&XdgSurface> {
        self.constructing.as_ref()
    }

    pub(crate) fn set_constructing(&mut self, constructing: Option<XdgSurface>) {
        self.constructing = constructing;
    }

    /// Whether the window under the pointer gets the focus.
    pub const fn focus_follows_pointer(&self) -> bool {
        self.focus_follows_pointer
    }

    pub const fn set_focus_follows_pointer(&mut self, follows: bool) {
        self.focus_follows_pointer = follows;
    }

    /// Lets clients draw before they have acknowledged their first configure, which the protocol forbids. For the
    /// conformance suite WLCS, because most of its own clients do.
    pub const fn set_allow_unconfigured_content(&mut self, allow: bool) {
        self.allow_unconfigured_content = allow;
    }

    /// Every mapped window, bottom to top.
    pub fn windows(&self) -> impl DoubleEndedIterator<Item = &Window> {
        self.windows.iter().filter(|window| window.mapped)
    }

    pub fn window(&self, id: WindowId) -> Option<&Window> {
        self.windows.get(id)
    }

    fn window_mut(&mut self, id: WindowId) -> Option<&mut Window> {
        self.windows.get_mut(id)
    }

    pub(crate) fn window_of_root(&self, surface: &WlSurface) -> Option<&Window> {
        self.windows.of_root(surface)
    }

    pub(crate) fn window_of_root_mut(&mut self, surface: &WlSurface) -> Option<&mut Window> {
        self.windows.of_root_mut(surface)
    }

    pub fn toplevel_of(&self, surface: &WlSurface) -> Option<&ToplevelSurface> {
        self.window_of_root(surface).map(|window| &window.toplevel)
    }

    /// The window that `surface` belongs to, as its root, as a subsurface, or inside one of its popups.
    pub fn window_of(&self, surface: &WlSurface) -> Option<&Window> {
        self.window_of_root(&self.outermost(surface)?)
    }

    /// The root surface of the window or layer surface that `surface` belongs to. Popups are followed to their parents.
    fn outermost(&self, surface: &WlSurface) -> Option<WlSurface> {
        let mut root = surface::root(surface);
        // No popup is its own ancestor (`popup::new_popup`), so this loop ends.
        while let Some(popup) = self.popup(&root) {
            root = surface::root(popup.parent()?);
        }
        Some(root)
    }

    /// The rectangle that can be covered by the window or layer surface of `surface` (global logical coordinates).
    /// `None` for popups and for surfaces that belong to neither.
    pub fn reach_of(&self, surfaces: &SurfaceRegistry, surface: &WlSurface) -> Option<Rectangle<i32, Logical>> {
        let root = surface::root(surface);
        let Some(window) = self.window_of_root(&root) else {
            return self.layers.of_root(&root).map(|pinned| pinned.reach(surfaces));
        };
        let extent = surfaces.extent(&root);
        Some(Rectangle::new(window.origin() + extent.loc, extent.size))
    }

    /// Advances when anything changes that affects the picture, apart from the content of surfaces.
    pub const fn changes(&self) -> ShellRevision {
        ShellRevision { windows: self.windows.changes(), places: self.workspaces.changes() }
    }

    /// Advances when a list of windows, with titles and the focus, may have changed.
    pub const fn listed(&self) -> ListRevision {
        ListRevision { changes: self.changes(), names: self.names, focused: self.focused }
    }

    /// The windows that have changed since [`changes`](Self::changes) was `seen`, each at least once. `None` if
    /// anything else may have changed.
    pub fn changes_since(&self, seen: ShellRevision) -> Option<impl Iterator<Item = WindowId>> {
        let (windows, places) =
            (self.windows.changes_since(seen.windows)?, self.workspaces.changes_since(seen.places)?);
        Some(windows.chain(places))
    }

    /// Records a change that affects the picture.
    pub fn note_change(&mut self) {
        self.windows.note_change();
    }

    /// The window with the keyboard focus.
    pub fn focused(&self) -> Option<WindowId> {
        self.focused
    }

    /// The window on which a button or finger is down.
    pub const fn pressed(&self) -> Option<WindowId> {
        self.pressed
    }

    /// Sets the window on which a button or finger is down; `None` when all are up.
    pub fn set_pressed(&mut self, window: Option<WindowId>) {
        self.pressed = window;
        self.layers.clear_pressed();
    }
}

/// Handles a new toplevel. It is configured with its first commit and placed with its first content.
pub fn new_toplevel(state: &mut State, toplevel: ToplevelSurface) {
    let shell = &mut state.shell;
    shell.last_id += 1;
    let mut window = Window::new(WindowId(shell.last_id), toplevel);
    window.set_pending_arrangement(WindowArrangement::Floating);
    shell.windows.push(window);
}

/// Called after an update was applied to `surface`, and after the surface's own bookkeeping.
pub fn applied(state: &mut State, surface: &WlSurface) {
    let root = surface::root(surface);
    if state.shell.window_of_root(&root).is_some() {
        window_applied(state, &root, *surface == root);
    } else if state.shell.popup(&root).is_some() {
        popup::applied(state, &root, *surface == root);
    } else if state.shell.is_pinned(&root) {
        layers::applied(state, &root, *surface == root);
    } else if state.shell.input_popups.has(&root) {
        input_popups::applied(state, &root);
    } else {
        lock::applied(state, &root, *surface == root);
    }
}

fn window_applied(state: &mut State, root: &WlSurface, is_root: bool) {
    let acknowledged = if is_root { configure::take_applied(root) } else { None };
    let has_content = surface::has_content(root);
    if has_content && state.shell.window_of_root(root).is_some_and(|window| !window.mapped) {
        state.surfaces.measure(root);
    }
    let extent = state.surfaces.extent(root);
    let Some(window) = state.shell.windows.of_root_mut_quietly(root) else { return };
    let look = |window: &Window| (window.geometry, window.extent, window.applied.clone(), window.mapped);
    let (before, was_resized) = (look(window), window.stretch.is_some());

    let was_mapped = std::mem::replace(&mut window.mapped, has_content);
    if !window.configured && is_root {
        let id = window.id;
        window_rules::apply_rules(state, id);
        let expected = tiling::expected_workspace(state, id);
        configure_bounds::set_initial_bounds(state, id, expected);
        tiling::set_initial_tile(state, id);
        let Some(window) = state.shell.windows.of_root_mut_quietly(root) else { return };
        window.send();
    }
    let Some(window) = state.shell.windows.of_root_mut_quietly(root) else { return };
    window.geometry = window_geometry(root, extent);
    window.extent = extent;
    let answered = acknowledged.is_some();
    window.apply_acknowledged(acknowledged);
    let id = window.id;
    let is_other = before.2 != window.applied;
    if (answered && was_resized) || before != look(window) {
        state.shell.windows.note_change_of(id);
    }
    if is_other {
        window_rules::state_changed(state, id);
    }
    if is_root {
        tiling::minimum_size_changed(&mut state.shell, id);
    }
    match (was_mapped, has_content) {
        (false, true) => mapped(state, id),
        (true, false) => unmapped(state, id),
        (true, true) if answered && !state.shell.is_dragged(id) => workspace_actions::assign_to_output(state, id),
        _ => {}
    }
    if !is_root || state.surfaces.has_children(root) {
        // The whole tree gets `enter` and `leave` once in a turn, even if the window has not committed yet.
        state.shell.pending_output_updates.insert(id);
    } else {
        surface_outputs::update_outputs(state, id);
    }
}

/// Work that is done once in a turn, however often clients commit: extents of surface trees, and `enter` and `leave`
/// events.
pub fn update_trees(state: &mut State) {
    for root in tree_extent::measure_all(state) {
        if state.shell.window_of_root(&root).is_some() {
            window_applied(state, &root, false);
        } else if state.shell.popup(&root).is_some() {
            popup::applied(state, &root, false);
        } else if state.shell.input_popups.has(&root) {
            input_popups::applied(state, &root);
        }
    }
    for id in std::mem::take(&mut state.shell.pending_output_updates) {
        surface_outputs::update_outputs(state, id);
    }
    layers::keyboard::update_covered_layers(state);
    layers::above_fullscreen::update_above_fullscreen(state);
}

/// The window geometry set by the client, clipped to the window's extent; the whole extent if the client has set none.
fn window_geometry(root: &WlSurface, covered: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
    let set = guard::with_states(root, |states| states.cached_state.get::<SurfaceCachedState>().current().geometry);
    set.and_then(|geometry| geometry.intersection(covered)).unwrap_or(covered)
}

impl Window {
    /// New content was applied, drawn for the configure `acknowledged`, if that is a new configure.
    fn apply_acknowledged(&mut self, acknowledged: Option<Serial>) {
        let Some(serial) = acknowledged else { return };
        let mut answered = None;
        while self.sent.front().is_some_and(|sent| sent.serial <= serial) {
            answered = self.sent.pop_front();
        }
        if self.sent.is_empty() {
            self.sent.shrink_to_fit();
        }
        let Some(answered) = answered else { return };
        self.applied = answered.arrangement;
        let rect_size = self.geometry.size;
        if let Some(stretch) = &mut self.stretch {
            stretch.answered = answered.size.unwrap_or(rect_size);
            if stretch.released && !answered.resizing {
                self.finish_stretch();
            } else {
                self.send_wanted_size();
            }
        }
    }
}

fn mapped(state: &mut State, id: WindowId) {
    state.shell.overlays.hint = false;
    let usable = chosen_screen::used_area(state);
    let is_seen =
        workspace_actions::assign_new_window(state, id, usable.as_ref().map(|(output, _)| output.name()).as_deref());
    tiling::recheck_floating_rule(state, id);
    // A rule or its parent may have put it on another output.
    let area = workspace_actions::usable_area_of(state, id).or(usable).map(|(_, area)| area);
    // A window that is mapped again keeps its place.
    let is_placed = state.shell.window(id).is_none_or(|window| window.placed) || state.shell.is_for_strip(id);
    if let Some(area) = area.filter(|_| !is_placed) {
        first_place::place_new(state, id, area);
    }
    ruled_size::apply(state, id);
    tracing::debug!(?id, "window mapped");
    workspace_actions::assign_to_output(state, id);
    // A dialog of a hidden window stays hidden and gets no focus.
    let settings = window_rules::evaluate(state, id);
    if is_seen && (settings.focused.unwrap_or(true) || state.shell.focused.is_none()) {
        urgency::focus_new(state, id, settings.focused == Some(true));
    }
    if let (Some(true), Some(surface)) = (settings.fullscreen, state.shell.window(id).map(|it| it.surface().clone())) {
        fullscreen(state, &surface, None);
    }
    state.schedule_update_all();
}

fn unmapped(state: &mut State, id: WindowId) {
    if let Some(window) = state.shell.window_mut(id) {
        // To map it again the client needs an initial commit without a buffer, and a configure.
        window.configured = false;
        window.acknowledged = false;
        window.sent.clear();
        window.toplevel.reset_initial_configure_sent();
        window.stretch = None;
        window.applied = WindowArrangement::Floating;
        window.motion = WindowMotion::default();
        (window.in_strip, window.is_hidden_tab, window.is_scrolled_out) = (false, false, false);
        if matches!(window.wanted, WindowArrangement::Tiled { .. }) {
            window.set_pending_arrangement(WindowArrangement::Floating);
        }
    }
    tracing::debug!(?id, "window unmapped");
    state.shell.forget_minimised(id);
    window_hidden(state, id);
    if let Some(surface) = state.shell.window(id).map(|window| window.surface().clone()) {
        state.focus_lost(&surface);
    }
}

/// Called when a window is unmapped: ends its popups and its drag.
fn window_hidden(state: &mut State, id: WindowId) {
    state.shell.remove_from_strip(id);
    release_window(state, id);
    state.schedule_repaint_all();
}

/// Ends the drag and the popups of a window, and clears its pressed state.
fn release_window(state: &mut State, id: WindowId) {
    popup::dismiss_of_window(state, id);
    if state.shell.is_dragged(id) {
        drag::cancel(state);
    }
    state.shell.pressed.take_if(|pressed| *pressed == id);
}

/// If the focused window is no longer visible, focuses its neighbour in a strip, or else the topmost window.
pub fn focus_next(state: &mut State) {
    if state.shell.focused.is_some_and(|id| !state.shell.is_visible(id)) {
        let beside = state.shell.focus_after_removal();
        let next = beside.or_else(|| state.shell.visible_windows().next_back().map(|window| window.id));
        activate(state, next);
    }
}

/// Called when a toplevel object is destroyed: its window goes, too.
pub fn toplevel_destroyed(state: &mut State, toplevel: &ToplevelSurface) {
    let Some(id) = state.shell.window_of_root(toplevel.wl_surface()).map(|window| window.id) else { return };
    animation::about_to_destroy(state, toplevel.wl_surface());
    if let Some(window) = state.shell.window_mut(id) {
        window.mapped = false;
    }
    state.shell.forget_minimised(id);
    window_hidden(state, id);
    stacking::adopt_children(&mut state.shell, id, toplevel);
    state.shell.workspaces.remove(id);
    state.shell.forget_names(id);
    state.shell.windows.remove(id);
    state.focus_lost(toplevel.wl_surface());
}

/// Called when a surface is destroyed. Its role is normally destroyed first, but not if the client has died.
pub fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    if let Some(toplevel) = state.shell.toplevel_of(surface).cloned() {
        toplevel_destroyed(state, &toplevel);
    }
    if state.shell.popup(surface).is_some() {
        popup::destroyed(state, surface);
    }
    lock::surface_destroyed(state, surface);
    layers::destroyed(state, surface);
    input_popups::surface_destroyed(state, surface);
}

/// Focuses and raises a window, or its modal dialog, and shows its workspace. A minimised window is restored. `None`
/// leaves no window focused.
pub fn activate(state: &mut State, id: Option<WindowId>) {
    give_focus(state, id, true);
}

/// Focuses a visible window, or its modal dialog, without raising it.
pub fn focus(state: &mut State, id: WindowId) {
    give_focus(state, Some(id), false);
}

fn give_focus(state: &mut State, id: Option<WindowId>, raises: bool) {
    let id = id.map(|id| state.shell.modal_above(id).unwrap_or(id));
    if let Some(id) = id {
        minimising::restore(state, id);
    }
    if let Some(place) = id.and_then(|id| state.shell.workspaces.place(id)) {
        state.shell.workspaces.switch(place.screen, place.number);
        state.shell.chosen_screen.take_if(|chosen| chosen.screen != place.screen);
    }
    let before = std::mem::replace(&mut state.shell.focused, id);
    if before != id && state.shell.effects.border.is_some() {
        // The border of both windows changes.
        before.into_iter().chain(id).for_each(|window| state.shell.windows.note_change_of(window));
    }
    state.shell.layers.forget_choice();
    let root = id.and_then(|id| state.shell.window(id)).map(Window::surface);
    if state.shell.popup_grab_root().is_some_and(|grabbing| Some(&grabbing) != root) {
        popup::dismiss_grabs(state);
    }
    if let Some(id) = id {
        urgency::clear_urgent(state, id);
        if raises {
            state.shell.raise(id);
        }
        state.shell.focuses += 1;
        let number = state.shell.focuses;
        state.shell.windows.get_mut_quietly(id).into_iter().for_each(|window| window.focus_number = number);
    }
    state.shell.strips.invalidate();
    if id.and_then(|id| state.shell.window(id)).is_some_and(|window| window.is_hidden_tab) {
        // The tab becomes visible now.
        tiling::arrange(state);
    }
    workspace_actions::send_window_states(&mut state.shell);
    state.update_keyboard();
    state.schedule_update_all();
}

/// Asks the client to close a window.
pub fn close(state: &mut State, id: WindowId) {
    if let Some(window) = state.shell.window(id) {
        window.toplevel.send_close();
    }
}

/// Puts the top left corner of a floating window's geometry at `corner` (global logical coordinates). A layer surface
/// stays there until its client changes its placement state.
pub fn set_location(state: &mut State, surface: &WlSurface, corner: Point<i32, Logical>) {
    if let Some(pinned) = state.shell.layers.of_root_mut(surface) {
        pinned.move_to(corner);
        state.schedule_repaint_all();
        return;
    }
    let Some(window) = state.shell.window_of_root_mut(surface) else { return };
    window.floating = corner;
    window.motion.animate_next_move();
    let id = window.id;
    workspace_actions::assign_to_output(state, id);
    surface_outputs::update_outputs(state, id);
    state.schedule_repaint_all();
}

/// Sends the pending state of the window of `surface`, even if nothing has changed, because some requests must be
/// answered.
pub fn send_configure(state: &mut State, surface: &WlSurface) {
    if let Some(window) = state.shell.window_of_root_mut(surface)
        && window.configured
    {
        window.send();
    }
}

/// Called after a window got another parent, above which it is kept.
pub fn parent_changed(state: &mut State, surface: &WlSurface) {
    let parent = state.shell.toplevel_of(surface).and_then(ToplevelSurface::parent);
    let parent = parent.and_then(|parent| state.shell.window_of_root(&parent)).map(|window| window.id);
    if let Some(window) = state.shell.window_of_root_mut(surface) {
        window.parent = parent;
        let id = window.id;
        if state.shell.focused == Some(id) {
            state.shell.raise(id);
        }
        state.schedule_repaint_all();
    }
}
