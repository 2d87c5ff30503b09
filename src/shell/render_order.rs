//! Contents of a scene: windows with their popups, in stacking order, at their current places.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};

use super::animation::{ClosingWindow, GAP};
use super::effects::{BorderState, WindowDecoration};
use super::layers::ShellLayerSurface;
use super::overview::layout::OverviewLayout;
use super::tiling::TilingMode;
use super::workspaces::{ScreenId, WorkspaceId};
use super::{Shell, Window, WindowArrangement, WindowId};
use crate::shell::geometry;
use upbeat_timing::time::Instant;

/// A window to be drawn, with its popups and effects. Coordinates are global and logical.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderWindow {
    pub id: WindowId,
    /// Its root surface, with its subsurfaces.
    pub surface: WlSurface,
    /// Position of the root surface's origin when the window is not stretched.
    pub location: Point<i32, Logical>,
    /// The window geometry: the visible part without shadows, in surface coordinates.
    pub geometry: Rectangle<i32, Logical>,
    /// While an interactive resize is ahead of the client: the rectangle that `geometry` is stretched into. A point `p`
    /// of the root surface goes to `to.loc + (p − geometry.loc) · to.size / geometry.size`.
    pub stretch: Option<Rectangle<i32, Logical>>,
    /// During an animation: the rectangle in which `geometry` is drawn. Popups move along.
    pub animated: Option<Rectangle<f64, Logical>>,
    /// From 0 (invisible) to 1.
    pub opacity: f64,
    /// Its popups, bottom to top: surface and position of its origin. They are not stretched.
    pub popups: Vec<(WlSurface, Point<i32, Logical>)>,
    /// Its border, shadow, blur and titles.
    pub decoration: WindowDecoration,
    /// It does not float: at the edge of its output it reaches the last physical pixel, even if the logical size is
    /// rounded.
    pub fills: bool,
    /// It covers its output alone: nothing below it is drawn, and its output is black beside it.
    pub fullscreen: bool,
    /// It is black in screenshots and screen recordings.
    pub hidden_from_capture: bool,
}

/// An item of the stacking order.
#[derive(Clone, Copy, Debug)]
pub enum StackItem<'a> {
    Window(&'a Window),
    /// A closed window that fades out.
    Closing(&'a ClosingWindow),
}

/// Visible share of a workspace, during a switch, below which windows that reach beyond the output begin to fade.
const FADES_WITHIN: f64 = 0.25;

/// The output and the time for which a scene is made.
#[derive(Debug)]
pub struct OutputView<'a> {
    output: &'a Output,
    /// Rectangle of the output (global logical coordinates).
    area: Rectangle<i32, Logical>,
    screen: Option<ScreenId>,
    /// Presentation time of the frame.
    present: Instant,
    /// Layout of the overview, and its visible share.
    overview: Option<(OverviewLayout, f64)>,
}

impl OutputView<'_> {
    /// Opacity of a window at `rect` that reaches beyond its output and is drawn at an offset of `shift`. At the end of
    /// a workspace switch such a window still reaches into the output, so it fades instead of vanishing.
    fn edge_fade(&self, rect: Rectangle<i32, Logical>, shift: Point<f64, Logical>) -> f64 {
        let along = |from: i32, length: i32, start: i32, room: i32, shift: f64| {
            let is_within = from >= start && from + length <= start + room;
            let left = 1.0 - shift.abs() / (f64::from(room) * (1.0 + GAP));
            if is_within { 1.0 } else { (left / FADES_WITHIN).clamp(0.0, 1.0) }
        };
        let area = self.area;
        along(rect.loc.x, rect.size.w, area.loc.x, area.size.w, shift.x)
            * along(rect.loc.y, rect.size.h, area.loc.y, area.size.h, shift.y)
    }
}

/// Interpolates between two rectangles: `share` 0 gives the first, 1 the second.
pub(super) fn between(
    from: Rectangle<f64, Logical>,
    to: Rectangle<f64, Logical>,
    share: f64,
) -> Rectangle<f64, Logical> {
    let mix = |from: f64, to: f64| from + (to - from) * share;
    let size = (mix(from.size.w, to.size.w).max(1.0), mix(from.size.h, to.size.h).max(1.0));
    Rectangle::new((mix(from.loc.x, to.loc.x), mix(from.loc.y, to.loc.y)).into(), size.into())
}

impl Shell {
    /// The view of `output` in the frame presented at `present`.
    pub fn view<'a>(&self, output: &'a Output, present: Instant) -> OutputView<'a> {
        let shows = self.overlays.overview.is_seen(present);
        let overview = shows.then(|| (self.overview_at(output, present), self.overlays.overview.at(present)));
        OutputView { overview, output, area: geometry(output), screen: self.workspaces.screen(&output.name()), present }
    }

    /// All mapped windows and all closed windows that still fade out, topmost first, on any output.
    pub fn stack_downward<'a>(&'a self, view: &OutputView<'_>) -> impl Iterator<Item = StackItem<'a>> {
        let present = view.present;
        let ghosts = move |lies: fn(usize, usize) -> bool, place: usize| {
            let seen = self.closing_windows.iter().rev().filter(move |ghost| ghost.is_seen(present));
            seen.filter(move |ghost| lies(ghost.below, place)).map(StackItem::Closing)
        };
        let count = if self.closing_windows.is_empty() { 0 } else { self.windows().count() };
        // A closed window may have had more windows below it than there are now: it goes on top.
        let on_top = ghosts(|below, count| below >= count, count);
        // A window that is dragged in the overview lies above all others.
        let lifted = self.overlays.lifted().and_then(|(id, _)| self.window(id)).filter(|window| window.mapped);
        let first = lifted.into_iter().map(StackItem::Window);
        let lifted = lifted.map(|window| window.id);
        first.chain(on_top).chain(self.windows().rev().enumerate().flat_map(move |(depth, window)| {
            let place = count.saturating_sub(depth + 1);
            let below = (lifted != Some(window.id)).then_some(StackItem::Window(window));
            below.into_iter().chain(ghosts(|below, place| below == place, place))
        }))
    }

    /// The fullscreen window that covers `output`, not counting animations.
    fn covering_window(&self, output: &Output) -> Option<&Window> {
        let covers = |window: &&Window| {
            let own =
                if let WindowArrangement::Fullscreen { output: own, .. } = &window.applied { Some(own) } else { None };
            own == Some(output) && self.workspaces.is_visible(window.id) && !window.is_scrolled_out
        };
        self.windows().find(covers)
    }

    /// Whether a fullscreen window covers `output`, so that only overlays lie above it. Uses the windows' places, not
    /// their animations.
    pub(super) fn is_covered(&self, output: &Output) -> bool {
        self.covering_window(output).is_some()
    }

    /// Whether a fullscreen window covers the output of a view, taking animations into account.
    pub fn is_covered_in(&self, view: &OutputView<'_>) -> bool {
        let window = self.covering_window(view.output).and_then(|window| self.render(window, view));
        window.is_some_and(|window| window.fullscreen)
    }

    /// The visible popups of a layer surface, topmost first: surface and position of its origin (global logical
    /// coordinates).
    pub fn popups_of_layer<'a>(
        &'a self,
        pinned: &'a ShellLayerSurface,
    ) -> impl Iterator<Item = (&'a WlSurface, Point<i32, Logical>)> {
        self.popups_of(pinned.surface()).rev().map(|(popup, location)| (popup.surface(), location))
    }

    /// Offset of a closed window from its former place, in logical pixels.
    pub fn shift_of_closing(&self, ghost: &ClosingWindow, view: &OutputView<'_>) -> Option<Point<f64, Logical>> {
        // The overview has no place for closed windows.
        self.shift(view, ghost.place?).filter(|_| view.overview.is_none())
    }

    /// The rectangle that a window can cover if it is drawn at its place, without popups (global logical coordinates).
    /// `None` if animations, popups or the overview make it more complicated.
    pub fn reach_at_rest(&self, window: &Window, view: &OutputView<'_>) -> Option<Rectangle<i32, Logical>> {
        let rests = self.popups.is_empty()
            && view.overview.is_none()
            && !window.motion.moves_after(view.present)
            && window.stretch.is_none()
            && !window.is_stretched()
            && self.slides.is_at_rest(view.screen?)
            && self.pans.is_still();
        rests.then(|| window.reach())
    }

    /// Whether a part of a window is on the output of a view, covered by other windows or not.
    pub fn is_on(&self, id: WindowId, view: &OutputView<'_>) -> bool {
        self.window(id).filter(|window| window.mapped).is_some_and(|window| self.render(window, view).is_some())
    }

    /// Offset of windows on a workspace during a switch. On their own output they move with their workspace; on other
    /// outputs they stay in place. `None` if the workspace is not visible.
    fn shift(&self, view: &OutputView<'_>, place: WorkspaceId) -> Option<Point<f64, Logical>> {
        if view.screen == Some(place.screen) {
            let distance = self.slides.distance(place, &self.workspaces, view.present)?;
            return Some(self.slides.shift(place.screen, distance, view.area.size));
        }
        (self.workspaces.active(place.screen) == place.number).then(Point::default)
    }

    /// The offset in the overview, which shows all workspaces of its output: hidden workspaces come from their sides.
    fn shift_in_overview(&self, view: &OutputView<'_>, place: WorkspaceId) -> Option<Point<f64, Logical>> {
        let shift = self.shift(view, place);
        if view.overview.is_none() || view.screen != Some(place.screen) || shift.is_some() {
            return shift.filter(|_| view.overview.is_none() || view.screen == Some(place.screen));
        }
        let side = if place.number < self.workspaces.active(place.screen) { -1.0 } else { 1.0 };
        Some(self.slides.shift(place.screen, side, view.area.size))
    }

    /// How `window` is drawn in a view. `None` if no part of it is visible. A window with popups is always drawn,
    /// because popups may lie anywhere.
    pub fn render(&self, window: &Window, view: &OutputView<'_>) -> Option<RenderWindow> {
        let OutputView { output, area, present, .. } = *view;
        let lifted = self.overlays.lifted().filter(|(id, _)| *id == window.id).map(|(_, rect)| rect);
        let lifted = lifted.filter(|_| view.overview.is_some());
        let held = self.is_dragged(window.id) || lifted.is_some();
        let place = self.workspaces.place(window.id)?;
        // Columns are only drawn on their own output, and only one window of a column with tabs.
        if window.in_strip
            && lifted.is_none()
            && (view.screen != Some(place.screen) || window.is_hidden_tab && view.overview.is_none())
        {
            return None;
        }
        let shift = if held { Point::default() } else { self.shift_in_overview(view, place)? };
        let popups: Vec<_> =
            self.popups_of(window.surface()).map(|(popup, location)| (popup.surface().clone(), location)).collect();
        // A fullscreen window belongs to its own output only, even if its content is larger.
        if let WindowArrangement::Fullscreen { output: own, .. } = &window.applied
            && own != output
            && lifted.is_none()
        {
            return None;
        }
        let mut pose = window.motion.at(window.rect(), present);
        if self.is_minimised(window.id) {
            // A minimised window is only drawn in the overview, and fades in and out with it.
            let (layout, share) = view.overview.as_ref()?;
            layout.window(window.id).or(lifted)?;
            pose.opacity *= share;
        }
        if view.overview.is_none() && !area.contains_rect(window.rect()) {
            pose.opacity *= view.edge_fade(window.rect(), shift);
        }
        pose.opacity *= window.appearance.opacity;
        let pan = if window.in_strip && !held { self.pans.at(place, present) } else { 0.0 };
        let shift = shift + Point::from((pan, 0.0));
        pose.rect.loc += shift;
        let cell = view.overview.as_ref().and_then(|(layout, share)| Some((layout.window(window.id)?, *share)));
        let cell = lifted.map(|rect| (rect, 1.0)).or(cell);
        if let Some((cell, share)) = cell {
            pose.rect = between(pose.rect, cell, share);
        }
        // In the overview each window has a title below it.
        let own = window.decoration();
        let titles = own.titles.filter(|_| view.overview.is_none());
        let has_bar = own.has_bar && titles.is_some();
        let moves = window.motion.moves_after(present) || shift != Point::default() || cell.is_some();
        let reaches =
            window.reach().overlaps(area) || window.rect().overlaps(area) || pose.rect.overlaps(area.to_f64());
        (reaches || !popups.is_empty()).then(|| RenderWindow {
            id: window.id,
            surface: window.surface().clone(),
            location: window.origin(),
            geometry: window.geometry(),
            stretch: window.is_stretched().then(|| window.rect()),
            animated: moves.then_some(pose.rect),
            opacity: pose.opacity,
            popups,
            decoration: WindowDecoration {
                border: self.edge_around(window, place),
                titles,
                has_bar,
                ..window.decoration()
            },
            fills: window.applied != WindowArrangement::Floating,
            // Around a moving window the windows below it are visible.
            fullscreen: window.is_fullscreen() && !moves && !window.is_scrolled_out,
            hidden_from_capture: window.is_hidden_from_capture(),
        })
    }

    /// The border of a window on `place`.
    fn edge_around(&self, window: &Window, place: WorkspaceId) -> BorderState {
        if self.effects.border.is_none() || window.is_fullscreen() {
            BorderState::None
        } else if self.workspaces.is_urgent(window.id) {
            BorderState::Urgent
        } else if self.focused == Some(window.id)
            && (self.strips.mode(place) == TilingMode::Strip || window.decoration().is_free)
        {
            // All other floating windows have client-side decorations, which show the focus themselves.
            BorderState::Focus
        } else {
            BorderState::None
        }
    }

    /// How `window` is drawn alone, for a screenshot: without animations, effects of its place or other windows.
    pub fn render_alone(&self, window: &Window) -> RenderWindow {
        let popups = self.popups_of(window.surface()).map(|(popup, location)| (popup.surface().clone(), location));
        RenderWindow {
            id: window.id,
            surface: window.surface().clone(),
            location: window.origin(),
            geometry: window.geometry(),
            stretch: None,
            animated: None,
            opacity: 1.0,
            popups: popups.collect(),
            decoration: window.decoration(),
            fills: false,
            fullscreen: true,
            hidden_from_capture: window.is_hidden_from_capture(),
        }
    }
}
