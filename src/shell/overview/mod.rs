//! The overview of all windows of all workspaces, live and smaller; the window switcher, which shows the visible
//! windows in the same way; and the list of shortcuts, which lies over everything.
//!
//! While one of them is shown, it gets all keys, buttons and touches, except for layer surfaces above windows: bars can
//! be used in the overview, and a launcher that opens there gets the keyboard.

pub mod animation;
pub mod layout;
mod press;

use smithay::input::keyboard::{Keysym, keysyms};
use smithay::output::Output;
use smithay::utils::{Logical, Rectangle, Size};

use super::animation::AnimatedToggle;
use super::end_session_question::EndSessionQuestion;
use super::notices::Notices;
use super::region_selection::RegionPick;
use super::workspace_indicator::WorkspaceIndicators;
use super::workspaces::{ScreenId, WorkspaceId, WorkspaceNumber};
use super::{Shell, WindowId, activate, close, popup, workspace_actions};
use crate::shell::{ShellOutputs, ShellSeat, geometry};
use crate::state::State;
use animation::OverviewAnimations;
use layout::{EmptyWorkspace, OverviewLayout, OverviewTarget};
pub(super) use press::put_down;
pub use press::{LiftedWindow, OverviewPress, OverviewPressKind, fingers_cancelled};
use upbeat_timing::time::Instant;

/// Overlays above the windows.
#[derive(Debug, Default)]
pub struct Overlays {
    pub(super) overview: AnimatedToggle,
    /// Animations of windows and cards that make room.
    pub(super) overview_animations: OverviewAnimations,
    /// The window that Enter activates.
    pub(super) selected: Option<WindowId>,
    /// The window under the pointer.
    pub(super) hovered: Option<WindowId>,
    /// The button or finger that is down.
    pub(super) press: Option<OverviewPress>,
    /// In the window switcher: its windows, in this order ([`open_switcher`]).
    switcher_order: Option<Vec<WindowId>>,
    /// The list of shortcuts.
    pub(super) help: AnimatedToggle,
    /// The output with the list of shortcuts.
    pub(super) help_on: Option<ScreenId>,
    /// Notices, which take no input.
    pub(super) notices: Notices,
    /// Asks whether to end the session.
    pub(super) question: EndSessionQuestion,
    /// Selection of a region for a screenshot.
    pub(super) region: RegionPick,
    /// Row of workspaces after a switch.
    pub(super) indicators: WorkspaceIndicators,
    /// Frame statistics are shown.
    pub(super) shows_statistics: bool,
    /// No window was opened yet: an empty desktop shows the key for the list of shortcuts.
    pub(super) hint: bool,
}

impl Overlays {
    /// Whether an overlay is visible in the frame presented at `present`, or will be.
    pub(super) fn is_anything_seen(&self, present: Instant) -> bool {
        [&self.overview, &self.help, &self.notices.shown, &self.question.shown]
            .into_iter()
            .any(|overlay| overlay.is_on() || overlay.is_seen(present))
            || self.hint
            || self.region.is_on()
    }
}

impl Overlays {
    pub const fn overview(&self) -> &AnimatedToggle {
        &self.overview
    }

    /// The list of shortcuts.
    pub const fn help(&self) -> &AnimatedToggle {
        &self.help
    }

    pub const fn notices(&self) -> &Notices {
        &self.notices
    }

    pub const fn question(&self) -> &EndSessionQuestion {
        &self.question
    }

    /// Selection of a region for a screenshot.
    pub const fn region(&self) -> &RegionPick {
        &self.region
    }

    /// Row of workspaces after a switch.
    pub const fn indicators(&self) -> &WorkspaceIndicators {
        &self.indicators
    }

    /// The window that Enter activates.
    pub const fn selected(&self) -> Option<WindowId> {
        self.selected
    }

    /// The output with the list of shortcuts.
    pub const fn help_on(&self) -> Option<ScreenId> {
        self.help_on
    }

    /// Whether frame statistics are shown.
    pub const fn shows_statistics(&self) -> bool {
        self.shows_statistics
    }

    /// Whether an empty desktop shows the key for the list of shortcuts: no window was opened yet.
    pub const fn shows_hint(&self) -> bool {
        self.hint
    }

    pub const fn set_hint(&mut self, shows: bool) {
        self.hint = shows;
    }

    /// The built-in defaults are in use; a notice says so.
    pub const fn note_defaults(&mut self) {
        self.notices.on_defaults = true;
    }

    /// Whether an overlay gets all input.
    pub const fn take_input(&self) -> bool {
        self.overview.is_on() || self.covers_all()
    }

    /// Whether the window switcher is shown.
    pub const fn is_switcher_open(&self) -> bool {
        self.overview.is_on() && self.switcher_order.is_some()
    }

    /// Whether the overview has no cards, even while it fades out: it is the window switcher.
    pub const fn is_switcher(&self) -> bool {
        self.switcher_order.is_some()
    }

    /// Whether an overlay above all layer surfaces gets all input.
    pub const fn covers_all(&self) -> bool {
        self.help.is_on() || self.question.shown.is_on() || self.region.is_on()
    }
}

impl Shell {
    /// Overview of an output: a card for each workspace with windows and for the active workspace, and a row of cards
    /// of empty workspaces.
    pub fn overview(&self, output: &Output) -> OverviewLayout {
        let Some(screen) = self.workspaces.screen(&output.name()) else { return OverviewLayout::default() };
        self.places(screen, geometry(output).to_f64())
    }

    /// The overview in the frame presented at `present`, with its animations.
    pub fn overview_at(&self, output: &Output, present: Instant) -> OverviewLayout {
        let goal = self.overview(output);
        match self.workspaces.screen(&output.name()) {
            Some(screen) => self.overlays.overview_animations.at(screen, goal, present),
            None => goal,
        }
    }

    /// Target layout of the overview of `screen`, whose rectangle is `area`.
    pub(super) fn places(&self, screen: ScreenId, area: Rectangle<f64, Logical>) -> OverviewLayout {
        if let Some(order) = &self.overlays.switcher_order {
            return OverviewLayout::of_windows(area, &self.switcher_windows(screen, order));
        }
        let mut windows: Vec<_> = self.windows().collect();
        // Sorted by age, so that raising a window does not move it in the overview.
        windows.sort_by_key(|window| window.id);
        let on = |place: WorkspaceId| {
            let there = windows.iter().filter(move |window| self.workspaces.place(window.id) == Some(place));
            there.map(|window| (window.id, window.rect().size.to_f64())).collect::<Vec<_>>()
        };
        let active = self.workspaces.active(screen);
        let spaces = self.workspaces.numbers().map(|number| (number, on(WorkspaceId { screen, number })));
        let spaces: Vec<_> = spaces.filter(|(number, windows)| *number == active || !windows.is_empty()).collect();
        let is_empty = |number: &WorkspaceNumber| spaces.iter().all(|(known, _)| known != number);
        let empty = |number: WorkspaceNumber| {
            let characters = self.workspaces.name_of(number).map_or(1, |name| name.as_str().chars().count());
            EmptyWorkspace { number, characters }
        };
        let empty: Vec<_> = self.workspaces.numbers().filter(is_empty).map(empty).collect();
        OverviewLayout::with_empty(area, &spaces, &empty)
    }

    /// Windows of the switcher on `screen`, with their sizes. Windows that opened meanwhile come last.
    fn switcher_windows(&self, screen: ScreenId, order: &[WindowId]) -> Vec<(WindowId, Size<f64, Logical>)> {
        let new = self.windows().map(|window| window.id).filter(|id| !order.contains(id));
        let is_here = |id: &WindowId| {
            self.is_on_visible_workspace(*id) && self.workspaces.place(*id).is_some_and(|place| place.screen == screen)
        };
        let here = order.iter().copied().chain(new).filter(is_here);
        here.filter_map(|id| Some((id, self.window(id)?.rect().size.to_f64()))).collect()
    }
}

/// Opens or closes the overview.
pub fn toggle(state: &mut State) {
    let shows = !state.shell.overlays.overview.is_on();
    if state.shell.lock.takes_input() || shows && state.shell.drag.is_some() {
        return;
    }
    if shows {
        state.shell.overlays.switcher_order = None;
    }
    state.shell.overlays.selected = state.shell.focused;
    set(state, shows);
}

/// Opens the overview, if that is possible. Returns whether it is open.
pub fn show(state: &mut State) -> bool {
    if !state.shell.overlays.overview.is_on() {
        toggle(state);
    }
    state.shell.overlays.overview.is_on()
}

pub fn hide(state: &mut State) {
    if state.shell.overlays.overview.is_on() {
        toggle(state);
    }
}

/// Opens the window switcher with windows in this order and `chosen` selected, or selects `chosen` if it is open. Does
/// nothing while the overview is open or a window is dragged.
pub fn open_switcher(state: &mut State, order: Vec<WindowId>, chosen: Option<WindowId>) {
    let overlays = &mut state.shell.overlays;
    if state.shell.lock.takes_input() || state.shell.drag.is_some() {
        return;
    }
    if overlays.is_switcher_open() {
        select(state, chosen);
    } else if !overlays.overview.is_on() {
        (overlays.switcher_order, overlays.selected) = (Some(order), chosen);
        set(state, true);
    }
}

/// Closes the window switcher and focuses the selected window.
pub fn close_switcher(state: &mut State) {
    if state.shell.overlays.is_switcher_open() {
        activate_target(state, state.shell.overlays.selected.map(OverviewTarget::Window), None);
    }
}

/// Closes the overview or the switcher without a choice. The switcher restores the stacking order.
pub(super) fn cancel(state: &mut State) {
    let order = state.shell.overlays.switcher_order.clone().unwrap_or_default();
    let used: Vec<WindowId> =
        order.iter().rev().copied().filter(|id| state.shell.is_on_visible_workspace(*id)).collect();
    state.shell.set_use_order(&used);
    // If all windows are minimised none had the focus, so none gets it.
    let last = used.last().copied().filter(|last| !state.shell.is_minimised(*last));
    activate_target(state, last.map(OverviewTarget::Window), None);
}

fn set(state: &mut State, shows: bool) {
    if state.shell.overlays.overview.set(shows) {
        (state.shell.overlays.press, state.shell.overlays.hovered) = (None, None);
        if shows {
            let shell = &state.shell;
            let areas = state
                .outputs()
                .filter_map(|output| Some((shell.workspaces.screen(&output.name())?, geometry(output).to_f64())));
            let mut animations = OverviewAnimations::default();
            animations.begin(areas, |screen, area| shell.places(screen, area));
            state.shell.overlays.overview_animations = animations;
        }
        popup::dismiss_grabs(state);
        workspace_actions::send_window_states(&mut state.shell);
        changed(state);
    }
}

/// Shows or hides the list of shortcuts.
pub fn toggle_help(state: &mut State) {
    if state.shell.lock.takes_input() {
        return;
    }
    let shows = !state.shell.overlays.help.is_on();
    state.shell.overlays.help_on =
        workspace_actions::current_screen(state).filter(|_| shows).or(state.shell.overlays.help_on);
    state.shell.overlays.help.set(shows);
    changed(state);
}

/// Shows or hides frame statistics.
pub fn toggle_hud(state: &mut State) {
    state.shell.overlays.shows_statistics = !state.shell.overlays.shows_statistics;
    state.schedule_repaint_all();
}

fn changed(state: &mut State) {
    state.refresh_focus();
    state.schedule_repaint_all();
}

/// Handles a key press. Returns whether an overlay used it: shortcuts are not for the overview, and every key except
/// modifiers closes the list of shortcuts.
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
        keysyms::KEY_Escape if press::cancel_drag(state) => {}
        keysyms::KEY_Escape => cancel(state),
        keysyms::KEY_Delete | keysyms::KEY_KP_Delete => {
            state.shell.overlays.selected.into_iter().for_each(|id| close(state, id));
        }
        keysyms::KEY_Return | keysyms::KEY_KP_Enter | keysyms::KEY_space => {
            activate_target(state, state.shell.overlays.selected.map(OverviewTarget::Window), None);
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
    let layouts: Vec<OverviewLayout> = layouts.collect();
    let on = layouts.iter().find_map(|layout| selected.and_then(|id| layout.towards(id, direction)));
    // Without a window in that direction on the output, the selection goes to the next output.
    let on = if on == selected {
        let windows = layouts.iter().flat_map(|layout| layout.windows.iter().copied()).collect();
        let all = OverviewLayout { windows, ..OverviewLayout::default() };
        selected.and_then(|id| all.towards(id, direction))
    } else {
        on
    };
    let first = || layouts.iter().find_map(|layout| layout.windows.first()).map(|(id, _)| *id);
    select(state, on.or_else(first));
}

pub(super) fn select(state: &mut State, window: Option<WindowId>) {
    if std::mem::replace(&mut state.shell.overlays.selected, window) != window {
        state.schedule_repaint_all();
    }
}

/// Closes the overview and shows the chosen window or workspace.
pub(super) fn activate_target(state: &mut State, target: Option<OverviewTarget>, output: Option<&Output>) {
    let screen = output.and_then(|output| state.shell.workspaces.screen(&output.name()));
    match target {
        Some(OverviewTarget::Window(id)) if state.shell.window(id).is_some_and(super::Window::is_mapped) => {
            activate(state, Some(id));
        }
        Some(OverviewTarget::Card(number)) => {
            if let Some(screen) = screen {
                workspace_actions::switch(state, WorkspaceId { screen, number });
            }
        }
        _ => {}
    }
    set(state, false);
}
