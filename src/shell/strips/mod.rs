//! The [layout](super::layout) in use: which workspaces are strips, and what becomes of what the layout wants.
//!
//! Three things stay apart: what the layout wants (`Layout`), what a client was asked for and has acknowledged
//! (`Window::wanted`, `Window::applied`), and what is shown of it (`Window::rect`, and `shell::animation` on the way there).
//! Windows that are resized together change in one frame: whoever has not answered is stretched into its place, as windows are
//! whose neighbour is a bar (`refitting`). Waiting for all of them instead would make the fast as slow as
//! the slowest of them, and a key that moves a column would be seen up to the longest wait later.
//!
//! ```text
//!   windows, outputs, focus ─► follow: ops ─► Layout ─► arrange ─► place: wanted ─► configure ─► client
//!   keys, messages (act)    ─────────────────┘                        └─► seen in the next frame, stretched if need be
//! ```
//! All of that is done at most once in a turn, before anything is latched, and only if [`Shell::changes`](super::Shell::changes)
//! says that anything changed. Without a strip nothing of it is. Where clients have it done in every turn it has an eighth of the
//! time, and what a frame shows is arranged all the same.

pub mod acting;
mod following;
mod placing;

pub use following::{arrange, arrange_in_time};
pub(super) use following::{expected, foresee, hear_limits, hear_name};

use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle};

use super::layout::op::{Rect, Span};
use super::layout::{Area, Back, Layout, Op, Seen};
pub use super::titles::TITLES;
use super::workspaces::{Place, Screen};
use super::{Shell, ShellRevision, Window, WindowId};
use crate::shell::{Desk, geometry};
use crate::state::State;
use upbeat_timing::time::Instant;

/// Between windows, and between them and the edge, in logical pixels: enough to tell them apart, and to show whose the focus is.
const GAP: i32 = 8;
/// A scale of 1, as the layout counts it.
const UNSCALED: u32 = 120;
/// Names no output: workspaces begin to count behind it.
const NOWHERE: Screen = Screen(0);

/// How the windows of a workspace lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Above each other, where they are put.
    #[default]
    Floating,
    /// Beside each other, in columns.
    Strip,
}

impl Mode {
    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Mode::Floating => Mode::Strip,
            Mode::Strip => Mode::Floating,
        }
    }
}

/// Which workspaces are strips, and where their windows are.
#[derive(Debug)]
pub struct Strips {
    layout: Layout,
    /// Where nothing else was said.
    mode: Mode,
    /// Where something else was.
    chosen: Vec<(Place, Mode)>,
    /// [`Shell::changes`] when all was where it belongs.
    arranged: Option<ShellRevision>,
    /// Until then clients have nothing arranged.
    pauses_until: Instant,
    /// How often all was arranged. For tests.
    arrangements: u64,
    /// The layout has windows.
    has_windows: bool,
    /// The outputs, where they are (global logical coordinates).
    screens: Vec<(Screen, Rectangle<i32, Logical>)>,
    /// Where the window was that had the focus and is gone.
    lost: Option<Place>,
    /// The places of windows that are minimised.
    ways_back: Vec<(WindowId, Back)>,
}

impl Default for Strips {
    fn default() -> Self {
        Strips {
            layout: Layout::new(NOWHERE),
            mode: Mode::Floating,
            chosen: Vec::new(),
            arranged: None,
            pauses_until: Instant::ZERO,
            arrangements: 0,
            has_windows: false,
            screens: Vec::new(),
            lost: None,
            ways_back: Vec::new(),
        }
    }
}

impl Strips {
    /// How the windows of a workspace lie.
    pub fn mode(&self, place: Place) -> Mode {
        self.chosen.iter().find(|(chosen, _)| *chosen == place).map_or(self.mode, |(_, mode)| *mode)
    }

    /// How they lie where nobody chose otherwise. Returns whether they did not before.
    pub fn set_mode(&mut self, mode: Mode) -> bool {
        self.arranged = None;
        std::mem::replace(&mut self.mode, mode) != mode
    }

    /// How often all was arranged.
    pub const fn arrangements(&self) -> u64 {
        self.arrangements
    }

    /// All is to be looked at again, whatever changed.
    pub(super) fn stale(&mut self) {
        self.arranged = None;
    }

    fn choose(&mut self, place: Place, mode: Mode) {
        self.arranged = None;
        self.chosen.retain(|(chosen, _)| *chosen != place);
        if mode != self.mode {
            self.chosen.push((place, mode));
        }
    }

    /// Whether workspaces lie above each other: where columns are beside each other unless somebody chose otherwise.
    pub(super) fn are_spaces_vertical(&self) -> bool {
        self.mode == Mode::Strip
    }

    /// Whether any workspace is a strip, or was one until now.
    pub fn is_used(&self) -> bool {
        self.mode == Mode::Strip || self.has_windows || self.chosen.iter().any(|(_, mode)| *mode == Mode::Strip)
    }

    /// Every column of which one window is seen at a time, with that one and all of them.
    pub(super) fn tabbed(&self) -> impl Iterator<Item = (WindowId, Vec<WindowId>)> {
        self.layout.tabbed()
    }

    /// The column of a window goes to another workspace, if that has columns. Returns its windows; none if it is in no column.
    pub(super) fn send_column(&mut self, id: WindowId, to: Place) -> Vec<WindowId> {
        let column = self.layout.column_of(id);
        if !column.is_empty() && self.mode(to) == Mode::Strip {
            self.layout.apply(&Op::SendColumn(id, to));
        }
        column
    }

    /// A window is about to be minimised: it comes back to where it is now.
    fn keep_way_back(&mut self, id: WindowId) {
        self.forget_way_back(id);
        self.ways_back.extend(self.layout.way_back(id).map(|back| (id, back)));
    }

    /// A minimised window that was alone in its column comes back to one that reaches so far.
    fn span_when_back(&mut self, id: WindowId, wanted: Span) {
        let back = self.ways_back.iter_mut().find(|(known, _)| *known == id);
        if let Some((_, Back::Column { span, .. })) = back {
            *span = wanted;
        }
    }

    /// A window is not minimised any more, or is gone.
    pub(super) fn forget_way_back(&mut self, id: WindowId) {
        self.ways_back.retain(|(known, _)| *known != id);
    }

    /// What is seen of the columns of a workspace, if it has any, in logical pixels.
    pub(super) fn view(&self, place: Place) -> Option<Seen> {
        self.layout.view(place).filter(|_| self.mode(place) == Mode::Strip)
    }

    /// The rectangle of an output, if it was there when all was arranged last.
    pub(super) fn full(&self, screen: Screen) -> Option<Rectangle<i32, Logical>> {
        self.screens.iter().find(|(known, _)| *known == screen).map(|(_, full)| *full)
    }

    /// What an output has room for, in logical pixels: a rectangle of whole ones is what clients can be asked for.
    fn area(shell: &Shell, output: &Output) -> Area {
        let (full, usable) = (geometry(output), shell.layers.usable(output));
        let local = |rect: Rectangle<i32, Logical>| {
            let corner = rect.loc - full.loc;
            Rect::new((corner.x, corner.y).into(), (rect.size.w, rect.size.h).into())
        };
        Area { full: local(full), usable: local(usable), scale: UNSCALED, gap: GAP, titles: TITLES }
    }
}

impl Window {
    /// Whether it floats wherever it is: a dialog, or a window that has one size.
    fn floats_always(&self) -> bool {
        let limits = self.own_size_limits();
        let is_fixed = |min: i32, max: i32| max > 0 && min >= max;
        let by_itself =
            self.parent.is_some() || is_fixed(limits.min.w, limits.max.w) && is_fixed(limits.min.h, limits.max.h);
        self.wished_floating.unwrap_or(by_itself)
    }
}

impl Shell {
    /// Whether a window has its place in a strip, or will have once it is arranged.
    pub(super) fn is_for_strip(&self, id: WindowId) -> bool {
        let is_strip = || self.workspaces.place(id).is_some_and(|place| self.strips.mode(place) == Mode::Strip);
        let is_tile = |window: &Window| window.in_strip || !window.placed && !window.floats_always();
        self.strips.is_used() && is_strip() && self.window(id).is_some_and(is_tile)
    }

    /// Whether a window has its place in a strip.
    pub fn is_tile(&self, id: WindowId) -> bool {
        self.window(id).is_some_and(|window| window.in_strip)
    }

    /// Whether a window may be seen at `point` (global logical coordinates): columns are seen on their own output alone.
    pub(super) fn may_be_at(&self, window: &Window, point: Point<f64, Logical>) -> bool {
        let full = || self.strips.full(self.workspaces.place(window.id)?.screen);
        !window.in_strip || full().is_none_or(|full| full.to_f64().contains(point))
    }

    /// The window that gets the focus on a workspace, if that is a strip.
    pub(super) fn next_in_strip(&self, place: Place) -> Option<WindowId> {
        let next = self.strips.layout.focus_on(place).filter(|_| self.strips.mode(place) == Mode::Strip)?;
        self.window(next).filter(|window| window.mapped).map(|window| window.id)
    }

    /// A window is not seen any more, and has no place.
    pub(super) fn leave_strip(&mut self, id: WindowId) {
        if !self.strips.has_windows {
            return;
        }
        if self.focused == Some(id) {
            self.strips.lost = self.workspaces.place(id);
        }
        self.strips.layout.apply(&Op::Close(id));
        self.strips.arranged = None;
    }

    /// Who has the focus after the one that [left](Self::leave_strip) with it.
    pub(super) fn after_lost(&mut self) -> Option<WindowId> {
        let place = self.strips.lost.take()?;
        self.next_in_strip(place).filter(|id| self.is_visible(*id))
    }
}

/// How the windows of workspaces lie where nobody chose otherwise.
pub fn set_mode(state: &mut State, mode: Mode) {
    if state.shell.strips.set_mode(mode) {
        state.need_all();
    }
}
