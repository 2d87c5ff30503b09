//! Windows: stacking, placement, arrangement, interactive move and resize, popups. And what is pinned below and above them
//! ([`layers`]).
//!
//! [`Shell`] holds them; the functions of this module are what protocols and input ask for. What a window *shows*
//! follows the configure that its content was made for ([`configure`]); where it *is* while a person moves or resizes
//! it follows the pointer at the latch ([`drag`]), whatever its client does.

pub mod animation;
mod arrangement;
pub mod arranging;
mod bounding;
mod carrying;
mod change_log;
pub mod configure;
pub mod decorations;
mod desk;
pub mod drag;
pub mod effects;
pub mod floating;
pub mod hit;
pub mod input_popups;
pub mod layers;
pub mod layout;
pub mod lock;
pub mod look;
pub mod minimising;
mod naming;
pub mod notices;
pub mod overview;
pub mod parts;
pub mod placement;
pub mod popup;
mod popup_list;
pub mod question;
mod refitting;
pub mod region;
pub mod render_order;
pub mod resize;
mod ruled_size;
mod snapping;
pub mod spaces;
pub mod stacking;
pub mod strips;
pub mod sweep;
pub mod swipes;
pub mod title_bars;
pub mod titles;
pub mod urgency;
pub mod visit;
pub mod window;
mod window_list;
mod window_rect;
pub mod wishes;
pub mod workspaces;
pub mod xdg_errors;

use std::collections::{BTreeSet, VecDeque};

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_surface::XdgSurface;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial, Size};
use smithay::wayland::shell::xdg::{SurfaceCachedState, ToplevelSurface};

use crate::guard;
use crate::revision::Revision;
use crate::state::State;
use crate::surface::{self, Surfaces, reach};
use animation::{Animations, Ghost, Pans, Slides, WindowMotion};
pub use arrangement::Arrangement;
pub use arranging::{fullscreen, maximize, outputs_changed, send_column_to, send_to, unfullscreen, unmaximize};
pub use carrying::carry_along;
pub use change_log::{ListRevision, ShellRevision};
pub use desk::{Desk, Hand, Monitor, geometry};
use drag::Drag;
use effects::Effects;
use input_popups::InputPopups;
use layers::Layers;
use lock::Lock;
pub use naming::{app_id_changed, set_tag, title_changed};
use overview::Overlays;
use parts::Aim;
use popup_list::PopupList;
pub use stacking::{is_window, parent_surface, set_parent};
use strips::Strips;
pub use upbeat_timing::id::WindowId;
pub use window::Window;
use window_list::WindowList;
use workspaces::Workspaces;

/// All windows and popups.
#[derive(Debug, Default)]
pub struct Shell {
    /// Bottom to top; windows without content are among them and are skipped.
    windows: WindowList,
    /// A popup always comes after its parent.
    popups: PopupList,
    /// What is pinned to outputs.
    layers: Layers,
    /// What the input method shows at the caret.
    input_popups: InputPopups,
    /// Grabbing popups, the outermost first.
    popup_grabs: Vec<WlSurface>,
    focused: Option<WindowId>,
    /// Which window is on which workspace.
    workspaces: Workspaces,
    /// The window under a pressed button or a finger.
    pressed: Option<WindowId>,
    drag: Option<Drag>,
    /// Where a window that is moved goes if it is let go now.
    aim: Option<Aim>,
    animations: Animations,
    slides: Slides,
    pans: Pans,
    /// What fingers move together.
    swipe: Option<swipes::Swipe>,
    /// What lies over the windows.
    overlays: Overlays,
    /// What is drawn around and below windows.
    effects: Effects,
    /// Whether the session is locked, and by whom.
    lock: Lock,
    /// Windows that are gone and still seen, in the order in which they went.
    ghosts: Vec<Ghost>,
    /// Lets clients draw before they have acknowledged their first configure, which the protocol forbids. For the
    /// conformance suite WLCS, most of whose own clients do.
    allow_unconfigured_content: bool,
    /// While a role is being given: the object that asked for it.
    constructing: Option<XdgSurface>,
    /// [`Shell::changes`] when nothing was found to move by itself.
    still: Option<ShellRevision>,
    /// How large outputs were when windows were last brought back to them.
    output_sizes: Vec<(String, Size<i32, Logical>)>,
    /// What windows were told last of the focus, and what they can know of being seen.
    told: spaces::Told,
    /// Windows of many surfaces, which are told where they are at the end of the turn.
    unvisited: BTreeSet<WindowId>,
    last_id: u32,
    /// Advanced whenever a window is given another title or application id.
    names: Revision,
    /// Which workspaces are strips of columns.
    strips: Strips,
    /// The window that the pointer is moved onto has the focus.
    focus_follows_pointer: bool,
    /// How often a window was given the focus.
    focuses: u64,
    /// Who had the focus when rules were asked last.
    wished_for: Option<WindowId>,
    /// Windows that are called something else since, each once.
    renamed: VecDeque<WindowId>,
}

impl Shell {
    /// What is pinned to outputs.
    pub const fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The same, to change it.
    pub const fn layers_mut(&mut self) -> &mut Layers {
        &mut self.layers
    }

    /// What the input method shows at the caret.
    pub const fn input_popups(&self) -> &InputPopups {
        &self.input_popups
    }

    /// Which window is on which workspace.
    pub const fn workspaces(&self) -> &Workspaces {
        &self.workspaces
    }

    /// Which workspaces are strips of columns.
    pub const fn strips(&self) -> &Strips {
        &self.strips
    }

    /// What lies over the windows.
    pub const fn overlays(&self) -> &Overlays {
        &self.overlays
    }

    /// The same, to change it.
    pub const fn overlays_mut(&mut self) -> &mut Overlays {
        &mut self.overlays
    }

    /// Whether the session is locked, and by which client.
    pub const fn lock(&self) -> &Lock {
        &self.lock
    }

    /// The same, to change it.
    pub const fn lock_mut(&mut self) -> &mut Lock {
        &mut self.lock
    }

    /// Where a window that is moved goes if it is let go now.
    pub const fn aim(&self) -> Option<Aim> {
        self.aim
    }

    /// What is drawn around and below windows.
    pub const fn effects(&self) -> Effects {
        self.effects
    }

    /// The same, to change it.
    pub const fn effects_mut(&mut self) -> &mut Effects {
        &mut self.effects
    }

    /// Draws these around and below windows.
    pub const fn set_effects(&mut self, effects: Effects) {
        self.effects = effects;
    }

    /// While a role is being given: the object that asked for it.
    pub(crate) const fn constructing(&self) -> Option<&XdgSurface> {
        self.constructing.as_ref()
    }

    /// A role is being given to this object, or no more.
    pub(crate) fn set_constructing(&mut self, constructing: Option<XdgSurface>) {
        self.constructing = constructing;
    }

    /// Whether the window that the pointer is moved onto has the focus.
    pub const fn focus_follows_pointer(&self) -> bool {
        self.focus_follows_pointer
    }

    /// The window that the pointer is moved onto has the focus from now on, or has not.
    pub const fn set_focus_follows_pointer(&mut self, follows: bool) {
        self.focus_follows_pointer = follows;
    }

    /// Lets clients draw before they have acknowledged their first configure, which the protocol forbids. For the
    /// conformance suite WLCS, most of whose own clients do.
    pub const fn set_allow_unconfigured_content(&mut self, allow: bool) {
        self.allow_unconfigured_content = allow;
    }

    /// Every window with content, bottom to top.
    pub fn windows(&self) -> impl DoubleEndedIterator<Item = &Window> {
        self.windows.iter().filter(|window| window.mapped)
    }

    /// The window called `id`.
    pub fn window(&self, id: WindowId) -> Option<&Window> {
        self.windows.get(id)
    }

    fn window_mut(&mut self, id: WindowId) -> Option<&mut Window> {
        self.windows.get_mut(id)
    }

    /// The window whose root surface is `surface`.
    pub(crate) fn window_of_root(&self, surface: &WlSurface) -> Option<&Window> {
        self.windows.of_root(surface)
    }

    pub(crate) fn window_of_root_mut(&mut self, surface: &WlSurface) -> Option<&mut Window> {
        self.windows.of_root_mut(surface)
    }

    /// The xdg toplevel whose surface is `surface`.
    pub fn toplevel_of(&self, surface: &WlSurface) -> Option<&ToplevelSurface> {
        self.window_of_root(surface).map(|window| &window.toplevel)
    }

    /// The window that `surface` is part of: as its root, as a subsurface, or inside one of its popups.
    pub fn window_of(&self, surface: &WlSurface) -> Option<&Window> {
        self.window_of_root(&self.outermost(surface)?)
    }

    /// The root of what `surface` is part of: for a popup that of what it hangs on.
    fn outermost(&self, surface: &WlSurface) -> Option<WlSurface> {
        let mut root = surface::root(surface);
        // No popup hangs on itself (`popup::new_popup`), so this ends.
        while let Some(popup) = self.popup(&root) {
            root = surface::root(popup.parent()?);
        }
        Some(root)
    }

    /// What the window or layer surface whose surface, or whose subsurface, this is may cover (global logical coordinates).
    /// `None` for popups, and for what belongs to neither.
    pub fn reach_of(&self, surfaces: &Surfaces, surface: &WlSurface) -> Option<Rectangle<i32, Logical>> {
        let root = surface::root(surface);
        let Some(window) = self.window_of_root(&root) else {
            return self.layers.of_root(&root).map(|pinned| pinned.reach(surfaces));
        };
        let extent = surfaces.extent(&root);
        Some(Rectangle::new(window.origin() + extent.loc, extent.size))
    }

    /// Another value whenever anything changed that says what is seen where, apart from the content of surfaces.
    pub const fn changes(&self) -> ShellRevision {
        ShellRevision { windows: self.windows.changes(), places: self.workspaces.changes() }
    }

    /// Another value whenever a list of windows may have changed, with titles and the focus.
    pub const fn listed(&self) -> ListRevision {
        ListRevision { changes: self.changes(), names: self.names, focused: self.focused }
    }

    /// The windows of which anything changed since [`changes`](Self::changes) was `seen`, each at least once. `None` if
    /// anything else may have changed.
    pub fn changes_since(&self, seen: ShellRevision) -> Option<impl Iterator<Item = WindowId>> {
        let (windows, places) =
            (self.windows.changes_since(seen.windows)?, self.workspaces.changes_since(seen.places)?);
        Some(windows.chain(places))
    }

    /// Something changed that says what is seen where.
    pub fn note_change(&mut self) {
        self.windows.note_change();
    }

    /// The window that has the keyboard's attention.
    pub fn focused(&self) -> Option<WindowId> {
        self.focused
    }

    /// The window that a button or finger holds down.
    pub const fn pressed(&self) -> Option<WindowId> {
        self.pressed
    }

    /// Notes which window a button or finger holds down; `None` when all are up.
    pub fn set_pressed(&mut self, window: Option<WindowId>) {
        self.pressed = window;
        self.layers.let_go();
    }
}

/// A client made a window. It is configured with its first commit and placed with its first content.
pub fn new_toplevel(state: &mut State, toplevel: ToplevelSurface) {
    let shell = &mut state.shell;
    shell.last_id += 1;
    let mut window = Window::new(WindowId(shell.last_id), toplevel);
    window.want(Arrangement::Floating);
    shell.windows.push(window);
}

/// An update was applied to `surface` (called after the surface's own bookkeeping).
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
        wishes::renew(state, id);
        let expected = strips::expected(state, id);
        bounding::foretell(state, id, expected);
        strips::foresee(state, id);
        let Some(window) = state.shell.windows.of_root_mut_quietly(root) else { return };
        window.send();
    }
    let Some(window) = state.shell.windows.of_root_mut_quietly(root) else { return };
    window.geometry = window_geometry(root, extent);
    window.extent = extent;
    let answered = acknowledged.is_some();
    window.take_answer(acknowledged);
    let id = window.id;
    let is_other = before.2 != window.applied;
    if (answered && was_resized) || before != look(window) {
        state.shell.windows.note_change_of(id);
    }
    if is_other {
        wishes::state_changed(state, id);
    }
    if is_root {
        strips::hear_limits(&mut state.shell, id);
    }
    match (was_mapped, has_content) {
        (false, true) => mapped(state, id),
        (true, false) => unmapped(state, id),
        (true, true) if answered && !state.shell.is_dragged(id) => spaces::settle(state, id),
        _ => {}
    }
    if !is_root || state.surfaces.has_children(root) {
        // All of a tree is told, once in a turn: of a window that has not committed yet, too.
        state.shell.unvisited.insert(id);
    } else {
        visit::update_outputs(state, id);
    }
}

/// What is looked at once in a turn, however often clients commit: what trees of surfaces reach, and who is told where he is.
pub fn catch_up(state: &mut State) {
    for root in reach::measure_all(state) {
        if state.shell.window_of_root(&root).is_some() {
            window_applied(state, &root, false);
        } else if state.shell.popup(&root).is_some() {
            popup::applied(state, &root, false);
        } else if state.shell.input_popups.has(&root) {
            input_popups::applied(state, &root);
        }
    }
    for id in std::mem::take(&mut state.shell.unvisited) {
        visit::update_outputs(state, id);
    }
    layers::keyboard::attend(state);
    layers::rising::attend(state);
}

/// The window geometry that the client set, cut to what it covers; all of it if it set none.
fn window_geometry(root: &WlSurface, covered: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
    let set = guard::with_states(root, |states| states.cached_state.get::<SurfaceCachedState>().current().geometry);
    set.and_then(|geometry| geometry.intersection(covered)).unwrap_or(covered)
}

impl Window {
    /// New content was applied; `acknowledged` is the configure that it was made for, if it is a new one.
    fn take_answer(&mut self, acknowledged: Option<Serial>) {
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
                self.settle();
            } else {
                self.send_wanted_size();
            }
        }
    }
}

fn mapped(state: &mut State, id: WindowId) {
    state.shell.overlays.hint = false;
    let pointer = state.pointer_position();
    let usable = state.usable_area(Some(pointer));
    let is_seen = spaces::appear(state, id, usable.as_ref().map(|(output, _)| output.name()).as_deref());
    strips::hear_name(state, id);
    let area = usable.map(|(_, area)| area);
    let Some(window) = state.shell.window(id) else { return };
    // A window that comes back comes back where it was.
    if let (Some(area), false) = (area, window.placed || state.shell.is_for_strip(id)) {
        let bar = state.shell.bar_height(window);
        let size = window.ruled_size() + Size::from((0, bar));
        let parent = window.toplevel.parent().and_then(|parent| Some(state.shell.window_of(&parent)?.rect()));
        let corner = match parent {
            Some(parent) => placement::centre_over(size, parent, area),
            None => {
                let others = state.shell.visible_windows().filter(|other| other.id != id);
                let others = others.map(|other| state.shell.with_bar(other));
                let others = others.filter(|other| other.overlaps(area));
                placement::place(size, area, &others.collect::<Vec<_>>())
            }
        };
        if let Some(window) = state.shell.window_mut(id) {
            window.floating = corner + Point::from((0, bar));
            window.placed = true;
        }
    }
    ruled_size::apply(state, id);
    tracing::debug!(?id, "window mapped");
    spaces::settle(state, id);
    // A dialog of a window that is not seen waits with it.
    let wishes = wishes::of(state, id);
    if is_seen && (wishes.focused.unwrap_or(true) || state.shell.focused.is_none()) {
        urgency::focus_new(state, id, wishes.focused == Some(true));
    }
    if let (Some(true), Some(surface)) = (wishes.fullscreen, state.shell.window(id).map(|it| it.surface().clone())) {
        fullscreen(state, &surface, None);
    }
    state.need_look();
}

fn unmapped(state: &mut State, id: WindowId) {
    if let Some(window) = state.shell.window_mut(id) {
        // The client starts again with a commit without content, and with a configure.
        window.configured = false;
        window.acknowledged = false;
        window.sent.clear();
        window.toplevel.reset_initial_configure_sent();
        window.stretch = None;
        window.applied = Arrangement::Floating;
        window.motion = WindowMotion::default();
        (window.in_strip, window.is_behind, window.is_aside) = (false, false, false);
        if matches!(window.wanted, Arrangement::Tiled { .. }) {
            window.want(Arrangement::Floating);
        }
    }
    tracing::debug!(?id, "window unmapped");
    state.shell.forget_minimised(id);
    gone(state, id);
    if let Some(surface) = state.shell.window(id).map(|window| window.surface().clone()) {
        state.focus_lost(&surface);
    }
}

/// A window is no longer seen: its popups and its drag go with it.
fn gone(state: &mut State, id: WindowId) {
    state.shell.leave_strip(id);
    let_go_of(state, id);
    state.need_all();
}

/// A window cannot be held any more, and has no popups.
fn let_go_of(state: &mut State, id: WindowId) {
    popup::dismiss_of_window(state, id);
    if state.shell.is_dragged(id) {
        drag::cancel(state);
    }
    state.shell.pressed.take_if(|pressed| *pressed == id);
}

/// Focuses the topmost window if the one that was focused is not seen any more.
pub fn focus_next(state: &mut State) {
    if state.shell.focused.is_some_and(|id| !state.shell.is_visible(id)) {
        let beside = state.shell.after_lost();
        let next = beside.or_else(|| state.shell.visible_windows().next_back().map(|window| window.id));
        activate(state, next);
    }
}

/// A toplevel's protocol object is gone, and the window with it.
pub fn toplevel_destroyed(state: &mut State, toplevel: &ToplevelSurface) {
    let Some(id) = state.shell.window_of_root(toplevel.wl_surface()).map(|window| window.id) else { return };
    animation::about_to_destroy(state, toplevel.wl_surface());
    if let Some(window) = state.shell.window_mut(id) {
        window.mapped = false;
    }
    state.shell.forget_minimised(id);
    gone(state, id);
    stacking::adopt_children(&mut state.shell, id, toplevel);
    state.shell.workspaces.remove(id);
    state.shell.forget_names(id);
    state.shell.windows.remove(id);
    state.focus_lost(toplevel.wl_surface());
}

/// A surface is gone. Normally its role went first; a dying client may do it in any order.
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

/// Gives a window, or a modal dialog of it, the focus, raises it and shows the workspace that it is on; a minimised window comes
/// back. `None` leaves nobody focused.
pub fn activate(state: &mut State, id: Option<WindowId>) {
    give_focus(state, id, true);
}

/// Gives a window that is seen, or a modal dialog of it, the focus, where it lies.
pub fn focus(state: &mut State, id: WindowId) {
    give_focus(state, Some(id), false);
}

fn give_focus(state: &mut State, id: Option<WindowId>, raises: bool) {
    let id = id.map(|id| state.shell.modal_above(id).unwrap_or(id));
    if let Some(id) = id {
        minimising::bring_back(state, id);
    }
    if let Some(place) = id.and_then(|id| state.shell.workspaces.place(id)) {
        state.shell.workspaces.switch(place.screen, place.number);
    }
    let before = std::mem::replace(&mut state.shell.focused, id);
    if before != id && state.shell.effects.mark.is_some() {
        // The mark goes from one to the other.
        before.into_iter().chain(id).for_each(|window| state.shell.windows.note_change_of(window));
    }
    state.shell.layers.forget_choice();
    let root = id.and_then(|id| state.shell.window(id)).map(Window::surface);
    if state.shell.popup_grab_root().is_some_and(|grabbing| Some(&grabbing) != root) {
        popup::dismiss_grabs(state);
    }
    if let Some(id) = id {
        urgency::calm(state, id);
        if raises {
            state.shell.raise(id);
        }
        state.shell.focuses += 1;
        let number = state.shell.focuses;
        state.shell.windows.get_mut_quietly(id).into_iter().for_each(|window| window.focused_last = number);
    }
    state.shell.strips.stale();
    if id.and_then(|id| state.shell.window(id)).is_some_and(|window| window.is_behind) {
        // It is seen from now on.
        strips::arrange(state);
    }
    spaces::tell_windows(&mut state.shell);
    state.update_keyboard();
    state.need_look();
}

/// Asks the client to close a window.
pub fn close(state: &mut State, id: WindowId) {
    if let Some(window) = state.shell.window(id) {
        window.toplevel.send_close();
    }
}

/// Puts the top left corner of a floating window's geometry at `corner` (global logical coordinates). A layer surface lies there
/// until what its client wants of its place changes.
pub fn set_location(state: &mut State, surface: &WlSurface, corner: Point<i32, Logical>) {
    if let Some(pinned) = state.shell.layers.of_root_mut(surface) {
        pinned.stand_at(corner);
        state.need_all();
        return;
    }
    let Some(window) = state.shell.window_of_root_mut(surface) else { return };
    window.floating = corner;
    window.motion.glide();
    let id = window.id;
    spaces::settle(state, id);
    visit::update_outputs(state, id);
    state.need_all();
}

/// Sends what is pending on the window of `surface`, even if nothing changed: some requests are always answered.
pub fn send_configure(state: &mut State, surface: &WlSurface) {
    if let Some(window) = state.shell.window_of_root_mut(surface)
        && window.configured
    {
        window.send();
    }
}

/// A window was given another parent: it is kept above it.
pub fn parent_changed(state: &mut State, surface: &WlSurface) {
    let parent = state.shell.toplevel_of(surface).and_then(ToplevelSurface::parent);
    let parent = parent.and_then(|parent| state.shell.window_of_root(&parent)).map(|window| window.id);
    if let Some(window) = state.shell.window_of_root_mut(surface) {
        window.parent = parent;
        let id = window.id;
        if state.shell.focused == Some(id) {
            state.shell.raise(id);
        }
        state.need_all();
    }
}
