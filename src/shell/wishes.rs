//! What the user's rules want of single windows: where and how they open, and how they look.

use super::arrangement::Arrangement;
use super::look::{DecoratedBy, Look};
use super::resize::SizeLimits;
use super::workspaces::Number;
use super::{Shell, WindowId, decorations, ruled_size};
use crate::shell::Desk;
use crate::state::State;
use upbeat_timing::time::{Clock as _, Instant};

/// What rules want of a window; what they leave open is as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// The output that it opens on.
    pub output: Option<String>,
    /// And the workspace of that.
    pub workspace: Option<Number>,
    /// Whether it opens above the columns.
    pub floating: Option<bool>,
    /// How wide its column is, in thousandths of the screen.
    pub width: Option<u16>,
    /// Whether it opens on all of the screen.
    pub fullscreen: Option<bool>,
    /// Whether it has the focus when it opens.
    pub focused: Option<bool>,
    /// The sizes that it is asked for.
    pub limits: SizeLimits,
    /// The painter of its title bar and edges.
    pub decoration: Option<DecoratedBy>,
    /// How much of it is seen: 0 to 1.
    pub opacity: Option<f64>,
    /// The radius of its corners, in logical pixels.
    pub corner_radius: Option<f64>,
    /// Whether it is in pictures of the screen.
    pub capture: Option<bool>,
}

/// What rules know windows by.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// What its application is called.
    pub app_id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Which of its program's windows it is.
    pub tag: &'a str,
    /// Whether it has the focus.
    pub is_focused: bool,
    /// Whether it is in no column.
    pub is_floating: bool,
    /// Whether its client wants it to be looked at.
    pub is_urgent: bool,
    /// Whether its content fills its output.
    pub is_fullscreen: bool,
    /// Whether its content is maximised.
    pub is_maximised: bool,
}

/// The rules for windows and applications. It is a trait since `config`, which has their types, knows the shell.
pub trait WindowRules {
    /// Whether there are rules for windows.
    fn has_window_rules(&self) -> bool;

    /// How many rules there are for windows and applications.
    fn number_of_rules(&self) -> usize;

    /// What the rules want of a window.
    fn wishes_of(&self, named: &Named<'_>) -> Wishes;

    /// Whether the windows of what calls itself `app_id` are kept out of pictures of the screen.
    fn keeps_out(&self, app_id: &str) -> bool;

    /// On which workspace the windows of what calls itself `app_id` appear, if a rule says so.
    fn ruled_workspace(&self, app_id: &str) -> Option<Number>;
}

/// What the rules want of a window.
pub(super) fn of(state: &State, id: WindowId) -> Wishes {
    let Some(window) = state.shell.window(id).filter(|_| state.has_window_rules()) else {
        return Wishes::default();
    };
    let (app_id, title) = (window.app_id().unwrap_or_default(), window.title().unwrap_or_default());
    let named = Named {
        app_id: &app_id,
        title: &title,
        tag: window.tag().unwrap_or_default(),
        is_focused: state.shell.focused() == Some(id),
        is_floating: !window.in_strip,
        is_urgent: state.shell.workspaces.is_urgent(id),
        is_fullscreen: window.is_fullscreen(),
        is_maximised: matches!(
            window.applied,
            Arrangement::Maximized { .. } | Arrangement::Tiled { is_maximised: true, .. }
        ),
    };
    state.wishes_of(&named)
}

/// A window may be called or be something else: it looks as the rules want it now.
pub fn renew(state: &mut State, id: WindowId) {
    let Some(window) = state.shell.window(id) else { return };
    let kept_out = state.keeps_out(&window.app_id().unwrap_or_default());
    let wishes = of(state, id);
    keep_out(state, id, wishes.capture.map_or(kept_out, |seen| !seen));
    ruled_size::limit(state, id, wishes.limits);
    decorations::rule(state, id, wishes.decoration);
    let look = Look { opacity: wishes.opacity.unwrap_or(1.0), corner_radius: wishes.corner_radius };
    if state.shell.window(id).is_some_and(|window| window.look != look) {
        state.shell.window_mut(id).into_iter().for_each(|window| window.look = look);
        state.need_look();
    }
}

/// A window is kept out of pictures of the screen, or is not.
fn keep_out(state: &mut State, id: WindowId, kept_out: bool) {
    if state.shell.window(id).is_none_or(|window| window.kept_out == kept_out) {
        return;
    }
    if let Some(window) = state.shell.windows.get_mut(id) {
        window.kept_out = kept_out;
    }
    state.need_all();
}

/// A window is called something else: it looks as the rules want it before the next frame is put together, however often it is
/// called something else until then.
pub fn renew_soon(state: &mut State, id: WindowId) {
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    if !std::mem::replace(&mut window.is_renamed, true) {
        state.shell.renamed.push_back(id);
    }
}

/// A window fills its screen, is part of a column, or is not any more: rules may go by that.
pub(super) fn state_changed(state: &mut State, id: WindowId) {
    if state.has_window_rules() {
        renew_soon(state, id);
    }
}

/// The rules, or what they go by, changed for all.
pub fn renew_all(state: &mut State) {
    let ids: Vec<WindowId> = state.shell.windows.iter().map(|window| window.id).collect();
    ids.into_iter().for_each(|id| renew(state, id));
}

impl Shell {
    /// The next window that is called something else.
    fn take_renamed(&mut self) -> Option<WindowId> {
        while let Some(id) = self.renamed.pop_front() {
            if let Some(window) = self.windows.get_mut_quietly(id) {
                window.is_renamed = false;
                return Some(id);
            }
        }
        None
    }

    /// A window goes: no turn is spent on its names.
    pub(super) fn forget_names(&mut self, id: WindowId) {
        if self.window(id).is_some_and(|window| window.is_renamed) {
            self.renamed.retain(|renamed| *renamed != id);
        }
    }

    /// The windows whose focus changed since that was asked last.
    pub(super) fn take_refocused(&mut self) -> Option<[Option<WindowId>; 2]> {
        let before = std::mem::replace(&mut self.wished_for, self.focused);
        (before != self.focused).then_some([before, self.focused])
    }
}

/// So many rules are gone through in a turn for windows that are called something else, or all of them for one window.
const RULES_IN_A_TURN: usize = 1_000;

/// Windows may be called something else: looks follow that.
fn follow_names(state: &mut State) {
    let windows = (RULES_IN_A_TURN / state.number_of_rules().max(1)).max(1);
    for _ in 0..windows {
        let Some(id) = state.shell.take_renamed() else { return };
        renew(state, id);
    }
}

/// The focus and names of windows may be other ones: looks follow them.
pub fn attend(state: &mut State) {
    follow_focus(state);
    follow_names(state);
}

/// When rules are to be gone through next.
pub fn next(state: &State) -> Option<Instant> {
    (!state.shell.renamed.is_empty()).then(|| state.clock.now())
}

fn follow_focus(state: &mut State) {
    if let Some(windows) = state.shell.take_refocused().filter(|_| state.has_window_rules()) {
        windows.into_iter().flatten().for_each(|id| renew(state, id));
    }
}
