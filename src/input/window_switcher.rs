//! `Alt+Tab`: steps through the visible windows while the modifier is held, the one used last first.
//!
//! Each step focuses a window at once, so that a single step is as fast as any key. On a second step, or when the
//! modifier is held for a moment, all windows are shown beside each other, live and with their titles ([`overview`]);
//! the user may then also choose by arrows, pointer or finger. A minimised window is restored when the modifier is
//! released: stepping past it leaves it minimised.

use smithay::input::keyboard::ModifiersState;

use crate::shell::overview;
use crate::shell::{self, WindowId};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// How long the modifier is held before the windows are shown beside each other: longer than a press and release take.
const SHOWN_AFTER: Span = Span::from_millis(250);

/// The window switcher, while its modifier is held.
#[derive(Debug)]
pub(super) struct WindowSwitcher {
    /// The windows in the order of their last use when the switcher began, the latest first.
    order: Vec<WindowId>,
    chosen: usize,
    /// When the windows are to be shown beside each other; `None` after that was tried.
    shown_at: Option<Instant>,
    /// They were shown. They are not while a window is dragged, nor in the overview.
    was_shown: bool,
}

/// Chooses the next window in the order at the beginning of the switcher. If no modifier is held (a message, a swipe, a
/// key of its own) nothing could end the switcher later, so it ends at once.
pub(super) fn step(state: &mut State, backwards: bool) {
    choose_next(state, backwards);
    let held = state.input.keyboard.as_ref().map(|keyboard| keyboard.modifier_state());
    if !held.is_some_and(|held| ends_with_release(&held)) {
        end(state);
    }
}

/// Whether one of the modifiers is held whose release ends the switcher.
pub(super) const fn ends_with_release(held: &ModifiersState) -> bool {
    held.alt || held.logo || held.ctrl
}

fn choose_next(state: &mut State, backwards: bool) {
    let was_left = |switcher: &mut WindowSwitcher| switcher.was_shown && !state.shell.overlays().is_switcher_open();
    state.input.keyboards.switcher.take_if(was_left);
    let shell = &state.shell;
    let goes_on = state.input.keyboards.switcher.is_some();
    let shown_at = state.clock.now() + SHOWN_AFTER;
    let begin =
        || WindowSwitcher { order: shell.windows_by_last_use(), chosen: 0, shown_at: Some(shown_at), was_shown: false };
    let switcher = state.input.keyboards.switcher.get_or_insert_with(begin);
    if goes_on {
        switcher.order.retain(|id| shell.is_on_visible_workspace(*id));
    }
    let count = switcher.order.len();
    // If all windows are minimised and none has the focus, the first step goes to the first of them.
    let is_first = !goes_on && shell.focused().is_none();
    if count == 0 || count == 1 && !is_first {
        return;
    }
    let step = if backwards { count - 1 } else { usize::from(!is_first) };
    switcher.chosen = (switcher.chosen + step) % count;
    let chosen = switcher.order[switcher.chosen];
    if goes_on {
        // Windows that were only stepped past return to their place in the stack.
        let bottom_to_top: Vec<WindowId> = switcher.order.iter().rev().copied().collect();
        state.shell.set_use_order(&bottom_to_top);
    }
    if !state.shell.is_minimised(chosen) {
        shell::activate(state, Some(chosen));
    }
    if goes_on {
        show(state);
    }
}

/// Shows all windows beside each other, the chosen one marked.
fn show(state: &mut State) {
    let Some(switcher) = &mut state.input.keyboards.switcher else { return };
    switcher.shown_at = None;
    let (order, chosen) = (switcher.order.clone(), switcher.order.get(switcher.chosen).copied());
    if order.len() > 1 || chosen.is_some_and(|chosen| state.shell.is_minimised(chosen)) {
        overview::open_switcher(state, order, chosen);
        let is_shown = state.shell.overlays().is_switcher_open();
        state.input.keyboards.switcher.iter_mut().for_each(|switcher| switcher.was_shown |= is_shown);
    }
}

/// Shows the windows if that is due. Returns when it will be due.
pub fn show_if_due(state: &mut State) -> Option<Instant> {
    let at = state.input.keyboards.switcher.as_ref()?.shown_at?;
    if at > state.clock.now() {
        return Some(at);
    }
    show(state);
    None
}

/// The modifier was released: the chosen window keeps the focus.
pub(super) fn end(state: &mut State) {
    let Some(switcher) = state.input.keyboards.switcher.take() else { return };
    overview::close_switcher(state);
    let chosen = switcher.order.get(switcher.chosen).copied().filter(|_| !switcher.was_shown);
    // The windows were not shown beside each other, so a minimised one is still to be restored here.
    if let Some(chosen) = chosen.filter(|chosen| state.shell.is_minimised(*chosen)) {
        shell::activate(state, Some(chosen));
    }
}
