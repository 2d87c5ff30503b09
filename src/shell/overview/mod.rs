//! The overview: all windows of all workspaces of every output at once, live and smaller; the same of those that are seen, to
//! switch among them. And the list of shortcuts, which
//! lies over everything. While either is there, keys, buttons and fingers are theirs, but for what is pinned above windows:
//! bars stay what they are in the overview, and a launcher that opens there is typed into.

pub mod glide;
pub mod layout;

use smithay::input::keyboard::{Keysym, keysyms};
use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::animation::Toggle;
use super::notices::Notices;
use super::question::Question;
use super::region::RegionPick;
use super::workspaces::{Place, Screen};
use super::{Shell, WindowId, activate, popup, spaces};
use crate::shell::{Desk, Hand, geometry};
use crate::state::State;
use glide::Glides;
use layout::{Layout, Target};
use upbeat_timing::time::Instant;

/// What lies over the windows.
#[derive(Debug, Default)]
pub struct Overlays {
    /// The overview.
    pub(super) overview: Toggle,
    /// Its things that make room.
    pub(super) glides: Glides,
    /// The window that Enter takes.
    pub(super) selected: Option<WindowId>,
    /// What it shows are these windows alone, in this order, to switch among them ([`switch_among`]).
    switched: Option<Vec<WindowId>>,
    /// The list of shortcuts.
    pub(super) help: Toggle,
    /// On which output that is.
    pub(super) help_on: Option<Screen>,
    /// Notices, which take no input.
    pub(super) notices: Notices,
    /// Whether the session is to end.
    pub(super) question: Question,
    /// A part of the screen is picked.
    pub(super) region: RegionPick,
    /// Figures of frames are seen.
    pub(super) hud: bool,
    /// No window was opened yet: an empty desktop says which key shows the others.
    pub(super) hint: bool,
}

impl Overlays {
    /// Whether anything lies over the windows in the frame presented at `present`, or will.
    pub(super) fn is_anything_seen(&self, present: Instant) -> bool {
        [&self.overview, &self.help, &self.notices.shown, &self.question.shown]
            .into_iter()
            .any(|overlay| overlay.is_on() || overlay.is_seen(present))
            || self.hint
            || self.region.is_on()
    }
}

impl Overlays {
    /// Whether the overview is there.
    pub const fn overview(&self) -> &Toggle {
        &self.overview
    }

    /// Whether the list of shortcuts is there.
    pub const fn help(&self) -> &Toggle {
        &self.help
    }

    /// Notices, which take no input.
    pub const fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Whether the session is to end.
    pub const fn question(&self) -> &Question {
        &self.question
    }

    /// A part of the screen is picked.
    pub const fn region(&self) -> &RegionPick {
        &self.region
    }

    /// The window that Enter takes.
    pub const fn selected(&self) -> Option<WindowId> {
        self.selected
    }

    /// On which output the list of shortcuts is.
    pub const fn help_on(&self) -> Option<Screen> {
        self.help_on
    }

    /// Whether figures of frames are seen.
    pub const fn shows_figures(&self) -> bool {
        self.hud
    }

    /// Whether an empty desktop says which key shows the others: no window was opened yet.
    pub const fn shows_hint(&self) -> bool {
        self.hint
    }

    /// An empty desktop says so, or does not.
    pub const fn set_hint(&mut self, shows: bool) {
        self.hint = shows;
    }

    /// The built-in defaults are in force, which a notice says.
    pub const fn note_defaults(&mut self) {
        self.notices.on_defaults = true;
    }

    /// Whether input is for them.
    pub const fn take_input(&self) -> bool {
        self.overview.is_on() || self.covers_all()
    }

    /// Whether windows are beside each other to be switched among.
    pub const fn are_switched(&self) -> bool {
        self.overview.is_on() && self.switched.is_some()
    }

    /// Whether what is seen of the overview is windows alone.
    pub const fn shows_windows_alone(&self) -> bool {
        self.switched.is_some()
    }

    /// Whether input is for what lies above everything else, pinned or not.
    pub const fn covers_all(&self) -> bool {
        self.help.is_on() || self.question.shown.is_on() || self.region.is_on()
    }
}

impl Shell {
    /// The overview of an output: workspaces that have windows, and the one that is seen.
    pub fn overview(&self, output: &Output) -> Layout {
        let Some(screen) = self.workspaces.screen(&output.name()) else { return Layout::default() };
        self.places(screen, geometry(output).to_f64())
    }

    /// The same as it is seen in the frame presented at `present`: things may be on their way.
    pub fn overview_at(&self, output: &Output, present: Instant) -> Layout {
        let goal = self.overview(output);
        match self.workspaces.screen(&output.name()) {
            Some(screen) => self.overlays.glides.at(screen, goal, present),
            None => goal,
        }
    }

    /// Where everything in the overview of `screen` is to be, if that is `area`.
    pub(super) fn places(&self, screen: Screen, area: Rectangle<f64, Logical>) -> Layout {
        if let Some(order) = &self.overlays.switched {
            return Layout::of_windows(area, &self.switched_on(screen, order));
        }
        let mut windows: Vec<_> = self.windows().collect();
        // Raising one moves none: they keep the order in which they came.
        windows.sort_by_key(|window| window.id);
        let on = |place: Place| {
            let there = windows.iter().filter(move |window| self.workspaces.place(window.id) == Some(place));
            there.map(|window| (window.id, window.rect().size.to_f64())).collect::<Vec<_>>()
        };
        let active = self.workspaces.active(screen);
        let spaces = super::workspaces::Number::all().map(|number| (number, on(Place { screen, number })));
        let spaces: Vec<_> = spaces.filter(|(number, windows)| *number == active || !windows.is_empty()).collect();
        Layout::new(area, &spaces)
    }

    /// The windows of `screen` that are switched among, in their order, those that came meanwhile last; with their sizes.
    fn switched_on(&self, screen: Screen, order: &[WindowId]) -> Vec<(WindowId, Size<f64, Logical>)> {
        let new = self.windows().map(|window| window.id).filter(|id| !order.contains(id));
        let is_here = |id: &WindowId| {
            self.is_there(*id) && self.workspaces.place(*id).is_some_and(|place| place.screen == screen)
        };
        let here = order.iter().copied().chain(new).filter(is_here);
        here.filter_map(|id| Some((id, self.window(id)?.rect().size.to_f64()))).collect()
    }
}

/// Shows the overview, or what was seen before.
pub fn toggle(state: &mut State) {
    let shows = !state.shell.overlays.overview.is_on();
    if state.shell.lock.takes_input() || shows && state.shell.drag.is_some() {
        return;
    }
    if shows {
        state.shell.overlays.switched = None;
    }
    state.shell.overlays.selected = state.shell.focused;
    set(state, shows);
}

/// Shows the overview, if it may be shown. Returns whether it is there.
pub fn show(state: &mut State) -> bool {
    if !state.shell.overlays.overview.is_on() {
        toggle(state);
    }
    state.shell.overlays.overview.is_on()
}

/// Shows what was seen before it.
pub fn hide(state: &mut State) {
    if state.shell.overlays.overview.is_on() {
        toggle(state);
    }
}

/// Shows the windows that are seen beside each other, in this order, `chosen` marked; or marks that one, where they are shown.
/// Nothing if the overview is there, or a window is held.
pub fn switch_among(state: &mut State, order: Vec<WindowId>, chosen: Option<WindowId>) {
    let overlays = &mut state.shell.overlays;
    if state.shell.lock.takes_input() || state.shell.drag.is_some() {
        return;
    }
    if overlays.are_switched() {
        select(state, chosen);
    } else if !overlays.overview.is_on() {
        (overlays.switched, overlays.selected) = (Some(order), chosen);
        set(state, true);
    }
}

/// Nobody switches any more: the window that is marked has the focus.
pub fn end_switching(state: &mut State) {
    if state.shell.overlays.are_switched() {
        take(state, state.shell.overlays.selected.map(Target::Window), None);
    }
}

/// Back to what was there before.
fn leave(state: &mut State) {
    let order = state.shell.overlays.switched.clone().unwrap_or_default();
    let used: Vec<WindowId> = order.iter().rev().copied().filter(|id| state.shell.is_there(*id)).collect();
    state.shell.put_in_order(&used);
    // Where all are minimised none had the focus, and none has it now.
    let last = used.last().copied().filter(|last| !state.shell.is_minimised(*last));
    take(state, last.map(Target::Window), None);
}

fn set(state: &mut State, shows: bool) {
    if state.shell.overlays.overview.set(shows) {
        if shows {
            let shell = &state.shell;
            let areas = state
                .outputs()
                .filter_map(|output| Some((shell.workspaces.screen(&output.name())?, geometry(output).to_f64())));
            let mut glides = Glides::default();
            glides.begin(areas, |screen, area| shell.places(screen, area));
            state.shell.overlays.glides = glides;
        }
        popup::dismiss_grabs(state);
        spaces::tell_windows(&mut state.shell);
        changed(state);
    }
}

/// Shows the list of shortcuts, or hides it.
pub fn toggle_help(state: &mut State) {
    if state.shell.lock.takes_input() {
        return;
    }
    let shows = !state.shell.overlays.help.is_on();
    state.shell.overlays.help_on = spaces::current_screen(state).filter(|_| shows).or(state.shell.overlays.help_on);
    state.shell.overlays.help.set(shows);
    changed(state);
}

/// Shows figures of frames, or hides them.
pub fn toggle_hud(state: &mut State) {
    state.shell.overlays.hud = !state.shell.overlays.hud;
    state.need_all();
}

fn changed(state: &mut State) {
    state.refresh_focus();
    state.need_all();
}

/// A key went down. Returns whether it was for what lies over the windows: shortcuts are not for the overview, and every
/// key but those that are held closes the list.
pub fn key(state: &mut State, key: Keysym, is_shortcut: bool) -> bool {
    if key.is_modifier_key() {
        return false;
    }
    if state.shell.overlays.help.is_on() {
        toggle_help(state);
        return true;
    }
    if is_shortcut || !state.shell.overlays.overview.is_on() || state.shell.layers.exclusive().is_some() {
        return false;
    }
    match key.raw() {
        keysyms::KEY_Escape => leave(state),
        keysyms::KEY_Return | keysyms::KEY_KP_Enter | keysyms::KEY_space => {
            take(state, state.shell.overlays.selected.map(Target::Window), None);
        }
        keysyms::KEY_Left => select_towards(state, (-1, 0)),
        keysyms::KEY_Right => select_towards(state, (1, 0)),
        keysyms::KEY_Up => select_towards(state, (0, -1)),
        keysyms::KEY_Down => select_towards(state, (0, 1)),
        _ => {}
    }
    true
}

fn select_towards(state: &mut State, direction: (i8, i8)) {
    let selected = state.shell.overlays.selected;
    let layouts = state.outputs().map(|output| state.shell.overview(output));
    let layouts: Vec<Layout> = layouts.collect();
    let on = layouts.iter().find_map(|layout| selected.and_then(|id| layout.towards(id, direction)));
    let first = || layouts.iter().find_map(|layout| layout.windows.first()).map(|(id, _)| *id);
    select(state, on.or_else(first));
}

fn select(state: &mut State, window: Option<WindowId>) {
    if std::mem::replace(&mut state.shell.overlays.selected, window) != window {
        state.need_all();
    }
}

/// The pointer is at `point` (global logical coordinates).
pub fn pointed(state: &mut State, point: Point<f64, Logical>) {
    if !state.shell.overlays.overview.is_on() {
        return;
    }
    if let Some((_, Some(Target::Window(id)))) = target(state, point) {
        select(state, Some(id));
    }
}

/// A button or a finger went down at `point`. Returns whether it was for what lies over the windows.
pub fn pressed(state: &mut State, point: Point<f64, Logical>) -> bool {
    if state.shell.overlays.help.is_on() {
        toggle_help(state);
        return true;
    }
    if !state.shell.overlays.overview.is_on() {
        return false;
    }
    let target = target(state, point);
    // What lies above windows lies above the overview.
    if target.as_ref().is_some_and(|(output, _)| state.shell.hit_above(point, output).is_some()) {
        return false;
    }
    match target {
        Some((output, at)) => take(state, at, Some(&output)),
        None => leave(state),
    }
    true
}

/// The output at `point`, and what of its overview is there.
fn target(state: &State, point: Point<f64, Logical>) -> Option<(Output, Option<Target>)> {
    let (output, _) = state.usable_area(Some(point))?;
    let target = state.shell.overview(&output).at(point);
    Some((output, target))
}

/// Leaves the overview for what was chosen.
fn take(state: &mut State, target: Option<Target>, output: Option<&Output>) {
    let screen = output.and_then(|output| state.shell.workspaces.screen(&output.name()));
    match target {
        Some(Target::Window(id)) if state.shell.window(id).is_some_and(super::Window::is_mapped) => {
            activate(state, Some(id));
        }
        Some(Target::Card(number)) => {
            if let Some(screen) = screen {
                spaces::switch(state, Place { screen, number });
            }
        }
        _ => {}
    }
    set(state, false);
}
