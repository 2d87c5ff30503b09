//! `Alt+Tab`: goes through the windows that are seen, the one used last first, while the modifier is held.
//!
//! Each step gives a window the focus at once: whoever only wants the window before has it as soon as any key is answered. Who
//! goes on, or holds the modifier for a moment, sees all of them beside each other, live and with their titles
//! ([`overview`]), and may choose by arrows, pointer or finger as well. A minimised window comes back when the modifier is let
//! go: stepping past it leaves it minimised.

use crate::shell::overview;
use crate::shell::{self, WindowId};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// How long the modifier is held before the windows are shown beside each other: longer than it takes to press and let go.
const SHOWN_AFTER: Span = Span::from_millis(250);

/// The window switcher, while its modifier is held.
#[derive(Debug)]
pub(super) struct Switcher {
    /// Topmost first, as they were when it began.
    order: Vec<WindowId>,
    chosen: usize,
    /// When they are to be shown; `None`: that was tried.
    shown_at: Option<Instant>,
    /// They were shown. While a window is dragged, and in the overview, they are not.
    was_shown: bool,
}

/// Chooses the next window of the order in which they lay when the switcher began.
pub(super) fn step(state: &mut State, backwards: bool) {
    let was_left = |switcher: &mut Switcher| switcher.was_shown && !state.shell.overlays().are_switched();
    state.input.keyboards.switcher.take_if(was_left);
    let shell = &state.shell;
    let goes_on = state.input.keyboards.switcher.is_some();
    let shown_at = state.clock.now() + SHOWN_AFTER;
    let begin = || Switcher { order: shell.used_last_first(), chosen: 0, shown_at: Some(shown_at), was_shown: false };
    let switcher = state.input.keyboards.switcher.get_or_insert_with(begin);
    if goes_on {
        switcher.order.retain(|id| shell.is_there(*id));
    }
    let count = switcher.order.len();
    // Where no window has the focus, since all of them are minimised, the first step is to the first of them.
    let is_first = !goes_on && shell.focused().is_none();
    if count == 0 || count == 1 && !is_first {
        return;
    }
    let step = if backwards { count - 1 } else { usize::from(!is_first) };
    switcher.chosen = (switcher.chosen + step) % count;
    let chosen = switcher.order[switcher.chosen];
    if goes_on {
        // Windows that were only passed go back to where they lay.
        let bottom_to_top: Vec<WindowId> = switcher.order.iter().rev().copied().collect();
        state.shell.put_in_order(&bottom_to_top);
    }
    if !state.shell.is_minimised(chosen) {
        shell::activate(state, Some(chosen));
    }
    if goes_on {
        show(state);
    }
}

/// Shows all of them beside each other, the chosen one marked.
fn show(state: &mut State) {
    let Some(switcher) = &mut state.input.keyboards.switcher else { return };
    switcher.shown_at = None;
    let (order, chosen) = (switcher.order.clone(), switcher.order.get(switcher.chosen).copied());
    if order.len() > 1 || chosen.is_some_and(|chosen| state.shell.is_minimised(chosen)) {
        overview::switch_among(state, order, chosen);
        let is_shown = state.shell.overlays().are_switched();
        state.input.keyboards.switcher.iter_mut().for_each(|switcher| switcher.was_shown |= is_shown);
    }
}

/// Shows what is to be shown by now. Returns when there will be something.
pub fn attend(state: &mut State) -> Option<Instant> {
    let at = state.input.keyboards.switcher.as_ref()?.shown_at?;
    if at > state.clock.now() {
        return Some(at);
    }
    show(state);
    None
}

/// The modifier is not held any more: what is chosen by then has the focus.
pub(super) fn end(state: &mut State) {
    let Some(switcher) = state.input.keyboards.switcher.take() else { return };
    overview::end_switching(state);
    let chosen = switcher.order.get(switcher.chosen).copied().filter(|_| !switcher.was_shown);
    // It was chosen without the windows being shown beside each other.
    if let Some(chosen) = chosen.filter(|chosen| state.shell.is_minimised(*chosen)) {
        shell::activate(state, Some(chosen));
    }
}
