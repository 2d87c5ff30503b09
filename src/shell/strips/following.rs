//! Translates changes of windows, outputs and the focus into operations on the layout.

use ahash::HashMap;
use smithay::output::Output;

use super::super::layout::op::{self, Limits, Opening, Rect, Width};
use super::super::layout::{Arranged, Op};
use super::super::spaces;
use super::super::wishes::{self, WindowRules as _};
use super::super::workspaces::{Place, Screen};
use super::super::{Arrangement, Shell, Window, WindowId};
use super::{Mode, Strips, placing};
use crate::shell::{Desk, Hand, geometry};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// After each arrangement, changes by clients wait for this multiple of its duration. So a client that changes its
/// limits in every turn uses at most an eighth of the time. With a usual number of windows an arrangement takes some
/// ten microseconds.
const PAUSE: i64 = 8;
/// Longest pause, for an arrangement that took long because another process was running.
const LONGEST_PAUSE: Span = Span::from_millis(100);

/// Whether anything has changed since the windows of all strips were last arranged.
fn is_stale(shell: &Shell) -> bool {
    shell.strips.is_used() && shell.strips.arranged != Some(shell.changes())
}

/// Arranges the windows of all strips, if anything has changed since the last time.
pub fn arrange(state: &mut State) {
    if !is_stale(&state.shell) {
        return;
    }
    let start = state.clock.now();
    follow_screens(state);
    follow_windows(state);
    follow_focus(state);
    placing::place(state);
    let end = state.clock.now();
    let shell = &mut state.shell;
    let strips = &mut shell.strips;
    (strips.pauses_until, strips.arrangements) =
        (end + ((end - start) * PAUSE).min(LONGEST_PAUSE), strips.arrangements + 1);
    shell.strips.arranged = Some(shell.changes());
}

/// Arranges after changes by clients in a turn, but not in the pause after the last arrangement. Then it must be done
/// before the next frame that may show the change, and no later than the returned time.
pub fn arrange_in_time(state: &mut State) -> Option<Instant> {
    if !is_stale(&state.shell) {
        return None;
    }
    let until = state.shell.strips.pauses_until;
    if state.clock.now() < until {
        return Some(until);
    }
    arrange(state);
    None
}

/// Updates the layout with the connected outputs and their usable areas.
fn follow_screens(state: &mut State) {
    let outputs: Vec<Output> = state.outputs().cloned().collect();
    let shell = &mut state.shell;
    let there: Vec<(Screen, String)> =
        shell.workspaces.screens().map(|(screen, name)| (screen, name.to_owned())).collect();
    let gone: Vec<Screen> =
        shell.strips.layout.screens().filter(|screen| there.iter().all(|(known, _)| known != screen)).collect();
    gone.into_iter().for_each(|screen| shell.strips.layout.apply(&Op::Disconnect(screen)));
    shell.strips.screens.clear();
    for (screen, name) in there {
        let Some(output) = outputs.iter().find(|output| output.name() == name) else { continue };
        shell.strips.screens.push((screen, geometry(output)));
        let area = Strips::area(shell, output);
        if shell.strips.layout.area(screen) != Some(&area) {
            shell.strips.layout.apply(&Op::Connect(screen, area));
        }
    }
}

/// Updates the layout with the windows and their workspaces.
fn follow_windows(state: &mut State) {
    let widths = wished_widths(state);
    let shell = &mut state.shell;
    let mut there: HashMap<WindowId, Place> = shell.strips.layout.windows().collect();
    // Minimised windows have no place: their neighbours use it until they are restored.
    let windows = shell.windows().map(|window| window.id).filter(|id| !shell.is_minimised(*id));
    let mut windows: Vec<WindowId> = windows.collect();
    windows.sort_unstable();
    for id in windows {
        let place = shell.workspaces.place(id).filter(|place| shell.strips.layout.area(place.screen).is_some());
        let Some(place) = place else {
            // Without an output, keep its place in the layout.
            there.remove(&id);
            continue;
        };
        match (there.remove(&id), shell.strips.mode(place)) {
            (None, Mode::Strip) => open(shell, id, place, widths.get(&id).copied()),
            (Some(known), Mode::Strip) if known != place => shell.strips.layout.apply(&Op::Send(id, place)),
            (Some(_), Mode::Strip) => {}
            (Some(_), Mode::Floating) => shell.strips.layout.apply(&Op::Close(id)),
            (None, Mode::Floating) => {}
        }
        if let Some(window) = shell.windows.get_mut_quietly(id).filter(|_| shell.strips.mode(place) == Mode::Strip) {
            let limits = limits_of(window);
            if std::mem::replace(&mut window.told_limits, limits) != limits {
                shell.strips.layout.apply(&Op::Limit(id, limits));
            }
        }
    }
    // In the order of their ids, because the order decides which window gets the focus next.
    let mut gone: Vec<WindowId> = there.into_keys().collect();
    gone.sort_unstable();
    gone.into_iter().for_each(|gone| shell.strips.layout.apply(&Op::Close(gone)));
    shell.strips.has_windows = shell.strips.layout.windows().next().is_some();
}

/// Column widths from rules for windows that have no column yet, in thousandths of the screen.
fn wished_widths(state: &State) -> HashMap<WindowId, u16> {
    let shell = &state.shell;
    if !state.has_window_rules() {
        return HashMap::default();
    }
    let fresh = shell.windows().filter(|window| !window.in_strip && !window.placed);
    fresh.filter_map(|window| Some((window.id, wishes::of(state, window.id).width?))).collect()
}

/// Called after a client may have set another minimum size: schedules an arrangement if it has changed.
pub(in crate::shell) fn hear_limits(shell: &mut Shell, id: WindowId) {
    let is_other = |window: &Window| window.in_strip && limits_of(window) != window.told_limits;
    if shell.window(id).is_some_and(is_other) {
        shell.strips.arranged = None;
    }
}

fn limits_of(window: &Window) -> Limits {
    let least = window.size_limits().min;
    Limits { width: least.w.max(0), height: least.h.max(0) }
}

/// Adds a window to a strip: beside the active column, or floating above.
fn open(shell: &mut Shell, id: WindowId, place: Place, width: Option<u16>) {
    let Some(window) = shell.window(id) else { return };
    let corner = shell.strips.full(place.screen).map(|full| full.loc).unwrap_or_default();
    let rect = window.rect();
    let at = rect.loc - corner;
    let floats = window.floats_always().then(|| Rect::new((at.x, at.y).into(), (rect.size.w, rect.size.h).into()));
    let (wanted, limits) = (window.wanted.clone(), limits_of(window));
    let back = shell.strips.ways_back.iter().find(|(known, _)| *known == id).map(|(_, back)| *back);
    shell.strips.forget_way_back(id);
    let opening = Opening { place: Some(place), floating: floats, focused: shell.focused == Some(id), back };
    let layout = &mut shell.strips.layout;
    layout.apply(&Op::Open(id, limits, opening));
    if let Some(width) = width.filter(|_| floats.is_none() && back.is_none()) {
        placing::on_column_of(layout, id, &Op::SetWidth(Width::Share(width)));
    }
    // Apply the state that the client requested before.
    match wanted {
        Arrangement::Fullscreen { .. } => layout.apply(&Op::SetFullscreen(id, true)),
        Arrangement::Maximized { .. } if floats.is_none() && back.is_none() => {
            placing::on_column_of(layout, id, &Op::SetSpan(op::Span::Maximised))
        }
        _ => {}
    }
}

/// Updates the layout with the focused window and the visible workspaces.
fn follow_focus(state: &mut State) {
    let current = spaces::current_screen(state);
    let shell = &mut state.shell;
    let layout = &mut shell.strips.layout;
    for (screen, _) in shell.workspaces.screens() {
        let place = Place { screen, number: shell.workspaces.active(screen) };
        if layout.shown(screen).is_some_and(|shown| shown != place) {
            layout.apply(&Op::Show(place));
        }
    }
    let focused = shell.focused.and_then(|id| Some((id, layout.place_of(id)?)));
    match focused {
        Some((id, place)) if layout.focus_on(place) != Some(id) => layout.apply(&Op::Focus(id)),
        Some((_, place)) if layout.focused_place() != place => layout.apply(&Op::Show(place)),
        Some(_) => {}
        None => {
            let place = current.map(|screen| Place { screen, number: shell.workspaces.active(screen) });
            if let Some(place) = place.filter(|place| layout.focused_place() != *place) {
                layout.apply(&Op::Show(place));
            }
        }
    }
}

/// Called before the first configure of a window: if it will be in a strip, the configure has its size there.
pub(in crate::shell) fn foresee(state: &mut State, id: WindowId) {
    let wishes = wishes::of(state, id);
    if let Some(window) = state.shell.windows.get_mut_quietly(id) {
        window.wished_floating = wishes.floating;
    }
    let floats = |window: &Window| window.wanted != Arrangement::Floating || window.placed || window.floats_always();
    if !state.shell.strips.is_used() || state.shell.window(id).is_none_or(floats) {
        return;
    }
    let Some(place) = expected(state, id).filter(|place| state.shell.strips.mode(*place) == Mode::Strip) else {
        return;
    };
    follow_screens(state);
    let Some(window) = state.shell.window(id) else { return };
    let mut layout = state.shell.strips.layout.clone();
    let opening = Opening {
        place: Some(place),
        floating: None,
        back: None,
        focused: state.shell.workspaces.active(place.screen) == place.number,
    };
    layout.apply(&Op::Open(id, limits_of(window), opening));
    if let Some(width) = wishes.width {
        placing::on_column_of(&mut layout, id, &Op::SetWidth(Width::Share(width)));
    }
    let mut arranged: Vec<Arranged> = Vec::new();
    layout.arrange(place, &mut arranged);
    let Some(found) = arranged.into_iter().find(|it| it.window == id && !it.is_fullscreen) else { return };
    let Some((output, full)) = spaces::output_of(state, place.screen) else { return };
    let area = placing::to_global(found.rect, full, output.current_scale().fractional_scale());
    if let Some(window) = state.shell.windows.get_mut_quietly(id) {
        window.want(Arrangement::Tiled { area, is_maximised: found.is_maximised });
        // Makes sure that the strips are arranged, even if the window is closed at once.
        state.shell.strips.has_windows = true;
    }
}

/// Called when a window is mapped. Many clients set the application id only after the first configure. If a rule for
/// that id makes the window float, it leaves the strip.
pub(in crate::shell) fn hear_name(state: &mut State, id: WindowId) {
    let floating = wishes::of(state, id).floating;
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    window.wished_floating = floating;
    if floating == Some(true) && !window.placed && matches!(window.wanted, Arrangement::Tiled { .. }) {
        window.want(Arrangement::Floating);
        window.send_pending();
    }
}

/// The workspace on which a window will appear.
pub(in crate::shell) fn expected(state: &State, id: WindowId) -> Option<Place> {
    let (output, _) = state.usable_area(Some(state.pointer_position()))?;
    let wishes = wishes::of(state, id);
    let named = wishes.output.as_deref().and_then(|name| state.shell.workspaces.screen(name));
    let screen = named.or_else(|| state.shell.workspaces.screen(&output.name()))?;
    let app_id = state.shell.window(id)?.app_id().unwrap_or_default();
    let number =
        wishes.workspace.or_else(|| state.ruled_workspace(&app_id)).unwrap_or(state.shell.workspaces.active(screen));
    Some(Place { screen, number })
}
