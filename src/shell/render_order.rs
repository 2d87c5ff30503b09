//! What a scene is made of: windows and their popups, bottom to top, where they are now.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};

use super::animation::{GAP, Ghost};
use super::effects::{Decoration, Edge};
use super::layers::Pinned;
use super::overview::layout::Layout;
use super::strips::Mode;
use super::workspaces::{Place, Screen};
use super::{Arrangement, Shell, Window, WindowId};
use crate::shell::geometry;
use upbeat_timing::time::Instant;

/// A window as it is to be drawn, with everything that belongs to it. Coordinates are global and logical.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderWindow {
    /// Which window.
    pub id: WindowId,
    /// Its root surface; subsurfaces hang on it.
    pub surface: WlSurface,
    /// Where the root surface's origin goes when the window is not stretched.
    pub location: Point<i32, Logical>,
    /// The window geometry: the visible part without shadows, in surface coordinates.
    pub geometry: Rectangle<i32, Logical>,
    /// While an interactive resize is ahead of the client: the rectangle that `geometry` is stretched into. A point `p`
    /// of the root surface goes to `to.loc + (p − geometry.loc) · to.size / geometry.size`.
    pub stretch: Option<Rectangle<i32, Logical>>,
    /// While it moves by itself: the rectangle that `geometry` is shown in; popups go along.
    pub animated: Option<Rectangle<f64, Logical>>,
    /// How much of it is seen: 0 to 1.
    pub opacity: f64,
    /// Its popups, bottom to top: surface and where its origin goes. They are not stretched.
    pub popups: Vec<(WlSurface, Point<i32, Logical>)>,
    /// What is drawn below and around it.
    pub decoration: Decoration,
    /// It fills a part of its output: edges of that are its own.
    pub fills: bool,
    /// It covers an output by itself: nothing below it needs to be drawn there, black where it does not reach.
    pub fullscreen: bool,
    /// It is black in pictures of the screen.
    pub kept_out: bool,
}

/// One thing in the stack.
#[derive(Clone, Copy, Debug)]
pub enum Stacked<'a> {
    /// A window.
    Window(&'a Window),
    /// The last that is seen of one.
    Ghost(&'a Ghost),
}

/// How far from being gone a workspace is, as a share of its width or height, when what reaches beyond it begins to fade.
const FADES_WITHIN: f64 = 0.25;

/// For whom a stack is listed.
#[derive(Debug)]
pub struct View<'a> {
    output: &'a Output,
    /// Its rectangle (global logical coordinates).
    area: Rectangle<i32, Logical>,
    screen: Option<Screen>,
    /// When the frame is shown.
    present: Instant,
    /// The overview, and how much of it is there.
    overview: Option<(Layout, f64)>,
}

impl View<'_> {
    /// How much is seen of a window at `rect` that reaches beyond its output and is `shift` from its place: just before its
    /// workspace is gone, such a window still reaches into the output. It fades instead of vanishing.
    fn share_of_edge(&self, rect: Rectangle<i32, Logical>, shift: Point<f64, Logical>) -> f64 {
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

/// The rectangle on the way from one to another: at 0 the first, at 1 the second.
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
    /// How `output` sees things in the frame presented at `present`.
    pub fn view<'a>(&self, output: &'a Output, present: Instant) -> View<'a> {
        let shows = self.overlays.overview.is_seen(present);
        let overview = shows.then(|| (self.overview_at(output, present), self.overlays.overview.at(present)));
        View { overview, output, area: geometry(output), screen: self.workspaces.screen(&output.name()), present }
    }

    /// All windows with content and all that is still seen of others, topmost first, wherever they are.
    pub fn stack_downward<'a>(&'a self, view: &View<'_>) -> impl Iterator<Item = Stacked<'a>> {
        let present = view.present;
        let ghosts = move |lies: fn(usize, usize) -> bool, place: usize| {
            let seen = self.ghosts.iter().rev().filter(move |ghost| ghost.is_seen(present));
            seen.filter(move |ghost| lies(ghost.below, place)).map(Stacked::Ghost)
        };
        let count = if self.ghosts.is_empty() { 0 } else { self.windows().count() };
        // On top also those that had more windows below them than there are now.
        let on_top = ghosts(|below, count| below >= count, count);
        on_top.chain(self.windows().rev().enumerate().flat_map(move |(depth, window)| {
            let place = count.saturating_sub(depth + 1);
            std::iter::once(Stacked::Window(window)).chain(ghosts(|below, place| below == place, place))
        }))
    }

    /// The window that covers `output` by itself when nothing moves.
    fn covering_window(&self, output: &Output) -> Option<&Window> {
        let covers = |window: &&Window| {
            let own = if let Arrangement::Fullscreen { output: own, .. } = &window.applied { Some(own) } else { None };
            own == Some(output) && self.workspaces.is_visible(window.id) && !window.is_aside
        };
        self.windows().find(covers)
    }

    /// Whether a window covers `output` by itself: then nothing but overlays lies above it. Asked of windows where they
    /// belong, not of those on their way.
    pub(super) fn is_covered(&self, output: &Output) -> bool {
        self.covering_window(output).is_some()
    }

    /// Whether one does as it is seen in a view.
    pub fn is_covered_in(&self, view: &View<'_>) -> bool {
        let window = self.covering_window(view.output).and_then(|window| self.render(window, view));
        window.is_some_and(|window| window.fullscreen)
    }

    /// The visible popups of a layer surface, topmost first: surface and where its origin goes (global logical coordinates).
    pub fn popups_of_layer<'a>(
        &'a self,
        pinned: &'a Pinned,
    ) -> impl Iterator<Item = (&'a WlSurface, Point<i32, Logical>)> {
        self.popups_of(pinned.surface()).rev().map(|(popup, location)| (popup.surface(), location))
    }

    /// How far a ghost is seen from where it was (logical pixels).
    pub fn shift_of_ghost(&self, ghost: &Ghost, view: &View<'_>) -> Option<Point<f64, Logical>> {
        // The overview has no place for what is gone.
        self.shift(view, ghost.place?).filter(|_| view.overview.is_none())
    }

    /// What a window can cover that is seen where it belongs, without popups (global logical coordinates). `None`: that is
    /// not so simple.
    pub fn reach_at_rest(&self, window: &Window, view: &View<'_>) -> Option<Rectangle<i32, Logical>> {
        let rests = self.popups.is_empty()
            && view.overview.is_none()
            && !window.motion.moves_after(view.present)
            && window.stretch.is_none()
            && !window.is_stretched()
            && self.slides.rests(view.screen?)
            && self.pans.is_still();
        rests.then(|| window.reach())
    }

    /// Whether a window is among those that `output` shows something of, covered or not.
    pub fn is_on(&self, id: WindowId, view: &View<'_>) -> bool {
        self.window(id).filter(|window| window.mapped).is_some_and(|window| self.render(window, view).is_some())
    }

    /// How far from their places things on a workspace are seen: those of this output glide along with it, those of others
    /// are where they are. `None` if they are not seen at all.
    fn shift(&self, view: &View<'_>, place: Place) -> Option<Point<f64, Logical>> {
        if view.screen == Some(place.screen) {
            let distance = self.slides.distance(place, &self.workspaces, view.present)?;
            return Some(self.slides.shift(place.screen, distance, view.area.size));
        }
        (self.workspaces.active(place.screen) == place.number).then(Point::default)
    }

    /// The same in the overview, which shows all workspaces of its output: those that are not seen come from their sides.
    fn shift_in_overview(&self, view: &View<'_>, place: Place) -> Option<Point<f64, Logical>> {
        let shift = self.shift(view, place);
        if view.overview.is_none() || view.screen != Some(place.screen) || shift.is_some() {
            return shift.filter(|_| view.overview.is_none() || view.screen == Some(place.screen));
        }
        let side = if place.number < self.workspaces.active(place.screen) { -1.0 } else { 1.0 };
        Some(self.slides.shift(place.screen, side, view.area.size))
    }

    /// How `window` is seen in a view. `None` if nothing of it is; one whose subsurfaces or popups alone reach into it is,
    /// too: those may lie anywhere.
    pub fn render(&self, window: &Window, view: &View<'_>) -> Option<RenderWindow> {
        let View { output, area, present, .. } = *view;
        let held = self.is_dragged(window.id);
        let place = self.workspaces.place(window.id)?;
        // Columns are seen on their own output alone, and of a column with tabs one window.
        if window.in_strip && (view.screen != Some(place.screen) || window.is_behind && view.overview.is_none()) {
            return None;
        }
        let shift = if held { Point::default() } else { self.shift_in_overview(view, place)? };
        let popups: Vec<_> =
            self.popups_of(window.surface()).map(|(popup, location)| (popup.surface().clone(), location)).collect();
        // A fullscreen window belongs to its own output only, even if its content is larger.
        if let Arrangement::Fullscreen { output: own, .. } = &window.applied
            && own != output
        {
            return None;
        }
        let mut pose = window.motion.at(window.rect(), present);
        if self.is_minimised(window.id) {
            // It has a place in the overview alone, and comes and goes with it.
            let (layout, share) = view.overview.as_ref()?;
            layout.window(window.id)?;
            pose.opacity *= share;
        }
        if view.overview.is_none() && !area.contains_rect(window.rect()) {
            pose.opacity *= view.share_of_edge(window.rect(), shift);
        }
        pose.opacity *= window.look.opacity;
        let pan = if window.in_strip && !held { self.pans.at(place, present) } else { 0.0 };
        let shift = shift + Point::from((pan, 0.0));
        pose.rect.loc += shift;
        let cell = view.overview.as_ref().and_then(|(layout, share)| Some((layout.window(window.id)?, *share)));
        if let Some((cell, share)) = cell {
            pose.rect = between(pose.rect, cell, share);
        }
        // In the overview each has its own below it.
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
            decoration: Decoration { edge: self.edge_around(window, place), titles, has_bar, ..window.decoration() },
            fills: window.applied != Arrangement::Floating,
            // What is below one that is on its way is seen around it.
            fullscreen: window.is_fullscreen() && !moves && !window.is_aside,
            kept_out: window.is_kept_out(),
        })
    }

    /// What the edge around a window on `place` says.
    fn edge_around(&self, window: &Window, place: Place) -> Edge {
        if self.effects.mark.is_none() || window.is_fullscreen() {
            Edge::None
        } else if self.workspaces.is_urgent(window.id) {
            Edge::Urgent
        } else if self.focused == Some(window.id)
            && (self.strips.mode(place) == Mode::Strip || window.decoration().stands_free)
        {
            // A window that floats and draws a frame of its own says by that which it is.
            Edge::Focus
        } else {
            Edge::None
        }
    }

    /// How `window` is seen alone: as it is, wherever it belongs and whatever moves it.
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
            kept_out: window.is_kept_out(),
        }
    }
}
