//! A view that the client scrolls itself, with frame callbacks. `wp_viewport` crops its contents at the edges of the
//! view.
//!
//! Contents take no input, because they move below fingers, and compositors differ in the coordinates that a touch then
//! has. The surface of the outermost view never moves, and takes all input.

mod axis_events;
mod callback_surface;
mod gesture_routing;
mod layout;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_subsurface::WlSubsurface;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::protocol::{wl_pointer, wl_touch};
use wayland_client::{Connection, Proxy as _};
use wayland_protocols::wp::viewporter::client::wp_viewport::WpViewport;
use wayland_protocols::wp::viewporter::client::wp_viewporter::{self, WpViewporter};

use self::callback_surface::{CallbackSurface, set_empty_input_region};
use self::gesture_routing::GestureRouter;
use self::layout::{VisiblePart, content_region, visible_part};
use super::content::{ContentPicture, ViewContent};
use super::listener::SharedScrollState;
use super::{ContentRole, DocumentExtent, DocumentRegion, ScrollError, ScrollEvent, ScrollOptions};
use crate::FramePacer;
use crate::bind_global::{IgnoreEvents, bind};
use upbeat_timing::scroll::{RenderedRegions, ScrollRequest, SupplySettings, ViewLatch, ViewMachine, ViewTerms};
use upbeat_timing::time::{Instant, Span};

/// A view, shared with the view around it.
type SharedView = Arc<Mutex<ClientViewState>>;
/// The outer view's reference to an inner view.
type WeakView = Weak<Mutex<ClientViewState>>;

/// A view that the client scrolls itself.
#[derive(Clone, Debug)]
pub(super) struct ClientView {
    view: SharedView,
    hand: GestureRouter,
}

/// State of a view: its surfaces, its options and its motion.
#[derive(Debug)]
struct ClientViewState {
    surface: WlSurface,
    /// Surfaces of the views around it, innermost first.
    outer_surfaces: Vec<WlSurface>,
    viewporter: WpViewporter,
    pacer: FramePacer,
    callback_surface: CallbackSurface,
    options: ScrollOptions,
    contents: Vec<ClientViewContent>,
    machine: ViewMachine,
    offset: (f64, f64),
    /// The part of the view that is visible through the views around it, in its own coordinates; `None`: all of it.
    clip: Option<DocumentRegion>,
    /// The next frame may have something to do.
    is_dirty: bool,
    /// The view shows its motion as of this long before `present`, which limits how far input is predicted. Constant
    /// during a motion, so that each refresh moves as far as the one before, however early frames are drawn.
    shown_delay: Span,
    reports_offsets: bool,
    /// The simulated time of [`ClientView::update_at`].
    simulated_time: Option<Instant>,
}

#[derive(Debug)]
struct ClientViewContent {
    surface: WlSurface,
    subsurface: WlSubsurface,
    viewport: WpViewport,
    role: ContentRole,
    picture: Option<ContentPicture>,
    shown: ContentPlacement,
    /// Its new picture is not attached yet.
    is_fresh: bool,
    nested: Option<WeakView>,
}

/// Where a content is shown. A hidden content keeps its buffer attached, because it may become visible again; with an
/// unmapped surface, compositors would release the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentPlacement {
    /// It had no picture yet.
    Never,
    /// One pixel of it is shown, below the view's surface.
    Hidden,
    /// It is visible, above the contents before it.
    Seen(VisiblePart),
}

/// How far ahead input is predicted at most: predictions further ahead are cut short, by an amount that varies from one
/// refresh to the next.
const FURTHEST: Span = Span::from_millis(12);
/// The part that a hidden content shows.
const HIDDEN: VisiblePart = VisiblePart {
    region: DocumentRegion { x: DocumentExtent { start: 0, length: 1 }, y: DocumentExtent { start: 0, length: 1 } },
    from: (0, 0),
};

fn lock(view: &Mutex<ClientViewState>) -> MutexGuard<'_, ClientViewState> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClientView {
    /// Creates a view. For a nested view, `around` lists the surfaces of the views around it, innermost first.
    pub fn new(
        connection: &Connection,
        globals: &GlobalList,
        surface: &WlSurface,
        around: Option<Vec<WlSurface>>,
    ) -> Result<Self, ScrollError> {
        let own = ClientViewState {
            surface: surface.clone(),
            viewporter: bind(globals, 1, Arc::new(IgnoreEvents)).ok_or(ScrollError::Missing("wp_viewporter"))?,
            pacer: FramePacer::predicting(connection, globals, surface),
            callback_surface: CallbackSurface::new(globals, surface)?,
            options: ScrollOptions::default(),
            contents: Vec::new(),
            machine: ViewMachine::new(SupplySettings::default()),
            offset: (0.0, 0.0),
            clip: around.as_ref().map(|_| DocumentRegion::default()),
            outer_surfaces: around.unwrap_or_default(),
            is_dirty: true,
            shown_delay: Span::ZERO,
            reports_offsets: false,
            simulated_time: None,
        };
        Ok(ClientView { view: Arc::new(Mutex::new(own)), hand: GestureRouter::default() })
    }

    fn lock(&self) -> MutexGuard<'_, ClientViewState> {
        lock(&self.view)
    }

    /// Makes content `index` a view of its own.
    pub fn nest(&self, index: usize, inner: &ClientView) {
        if let Some(content) = self.lock().contents.get_mut(index) {
            content.nested = Some(Arc::downgrade(&inner.view));
        }
    }

    pub fn add(&self, part: &ViewContent, compositor: &WlCompositor) -> Result<(), ScrollError> {
        let gone = |_| ScrollError::Gone;
        let mut own = self.lock();
        let request = wp_viewporter::Request::GetViewport { surface: part.surface.clone() };
        let viewport = own.viewporter.send_constructor(request, Arc::new(IgnoreEvents)).map_err(gone)?;
        set_empty_input_region(compositor, &part.surface)?;
        own.callback_surface.raise(&part.surface);
        own.contents.push(ClientViewContent {
            surface: part.surface.clone(),
            subsurface: part.subsurface.clone(),
            viewport,
            role: part.role,
            picture: None,
            shown: ContentPlacement::Never,
            is_fresh: false,
            nested: None,
        });
        Ok(())
    }

    /// Applies changes. They take effect with the commit of the view's surface, which must follow.
    pub fn apply(&self, options: Option<&ScrollOptions>, parts: &mut [ViewContent]) {
        let mut own = self.lock();
        if let Some(options) = options {
            own.options = options.clone();
            own.machine.set_supply(SupplySettings::with_budget(options.budget).ahead_by(options.ahead));
        }
        for (content, part) in own.contents.iter_mut().zip(parts).filter(|(_, part)| part.is_new) {
            part.is_new = false;
            content.is_fresh |= content.picture != part.picture;
            content.picture.clone_from(&part.picture);
            content.role = part.role;
        }
        own.lay_out();
        own.is_dirty = true;
        if own.pacer.request_refresh_times(&own.callback_surface.surface) {
            own.callback_surface.surface.commit();
        }
    }

    pub fn report_offsets(&self, armed: bool) {
        self.lock().reports_offsets = armed;
    }

    pub fn shown(&self) -> (f64, f64) {
        self.lock().offset
    }

    pub fn now(&self) -> Instant {
        self.lock().pacer.now()
    }

    pub fn start_movement(&self, movement: ScrollRequest) {
        let mut own = self.lock();
        let now = own.current_time();
        own.start_movement(now, movement);
    }

    pub fn pointer_event(&mut self, event: &wl_pointer::Event) -> bool {
        self.hand.pointer(&self.view, event)
    }

    pub fn touch_event(&mut self, event: &wl_touch::Event) -> bool {
        self.hand.touch(&self.view, event)
    }

    /// Shows the next frame if it is due at `now`.
    pub fn update(&self, now: Instant, shared: &SharedScrollState) {
        self.lock().update(now, shared);
    }

    /// Like [`update`](Self::update), with a simulated clock: from now on, the time is the time of the last call.
    pub fn update_at(&self, now: Instant, shared: &SharedScrollState) {
        let mut own = self.lock();
        own.simulated_time = Some(now);
        own.update(now, shared);
    }
}

impl ClientViewState {
    fn current_time(&self) -> Instant {
        self.simulated_time.unwrap_or_else(|| self.pacer.now())
    }

    fn start_movement(&mut self, at: Instant, movement: ScrollRequest) {
        let ClientViewState { machine, options, offset: shown, .. } = self;
        if options.size.0 > 0 && options.size.1 > 0 {
            machine.handle_request(at, movement, &motion_terms(options), *shown);
        } else {
            machine.begin(movement);
        }
        self.is_dirty = true;
    }

    fn update(&mut self, now: Instant, shared: &SharedScrollState) {
        while self.pacer.next_event().is_some() {}
        if !(self.machine.is_active() || self.is_dirty) || self.options.size.0 <= 0 || self.options.size.1 <= 0 {
            return;
        }
        self.pacer.request_frame();
        let Some(target) = self.pacer.next_target_at(now) else { return };
        self.is_dirty = false;
        self.shown_delay = self.shown_delay.max(target.present - now - FURTHEST);
        let latch =
            ViewLatch { now, present: target.present - self.shown_delay, interval: target.interval, scale: 1.0 };
        let step = self.machine.latch(latch, &motion_terms(&self.options), self.cover(), self.offset);
        let (x, y) = step.at.offset;
        let mut state = shared.lock();
        if step.wanted.is_some() {
            state.wanted = step.wanted;
        }
        if let Some(low) = step.low_water {
            state.push_event(ScrollEvent::LowWater(low));
        }
        if step.moved && self.reports_offsets {
            state.push_event(ScrollEvent::Offset { x, y, present: target.present });
        }
        if !step.is_moving {
            self.shown_delay = Span::ZERO;
        }
        if step.has_come_to_rest {
            state.push_event(ScrollEvent::Rest { x, y, serial: step.at.serial });
        }
        drop(state);
        if step.moved {
            self.offset = step.at.offset;
            self.lay_out();
        }
        if !(step.moved || step.is_moving) || self.pacer.bind_on(target.id, &self.callback_surface.surface).is_err() {
            self.pacer.cancel_from(target.id);
            return;
        }
        self.callback_surface.surface.commit();
        self.surface.commit();
        self.outer_surfaces.iter().for_each(WlSurface::commit);
    }

    /// The part of the document that has pictures.
    fn cover(&self) -> RenderedRegions {
        let documents = self.contents.iter().filter(|content| content.role == ContentRole::Document);
        RenderedRegions::of(documents.filter_map(|content| content.picture.as_ref()).map(|picture| picture.region))
    }

    /// The visible part of the view, in its own coordinates.
    fn clip(&self) -> DocumentRegion {
        let length = |length: i32| DocumentExtent { start: 0, length: length.into() };
        self.clip.unwrap_or(DocumentRegion { x: length(self.options.size.0), y: length(self.options.size.1) })
    }

    /// Moves all contents to their places, with the next commit of the view's surface.
    fn lay_out(&mut self) {
        let (clip, shown, ranges) = (self.clip(), self.offset, motion_terms(&self.options).ranges());
        let mut below = self.surface.clone();
        for content in &mut self.contents {
            let Some(picture) = &content.picture else { continue };
            let now = visible_part(content_region(picture.region, content.role, shown, ranges), clip);
            content.show(
                now.map_or(ContentPlacement::Hidden, ContentPlacement::Seen),
                (clip.x.start, clip.y.start),
                &below,
                &self.surface,
            );
            if now.is_some() {
                below.clone_from(&content.surface);
            }
        }
    }

    /// Sets the part that is visible through the views around it.
    fn clip_to(&mut self, clip: DocumentRegion) {
        if self.clip.replace(clip) != Some(clip) {
            self.lay_out();
        }
    }
}

impl ClientViewContent {
    /// Shows the content at `now`. `origin`: position of the view's surface in the view's coordinates. `below`: the
    /// visible surface directly below the content.
    fn show(&mut self, now: ContentPlacement, origin: (i64, i64), below: &WlSurface, view: &WlSurface) {
        let Some(picture) = &self.picture else { return };
        if now == self.shown && !self.is_fresh {
            return;
        }
        if std::mem::take(&mut self.is_fresh) {
            self.surface.set_buffer_scale(picture.scale);
            self.surface.attach(Some(&picture.buffer), 0, 0);
            self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        }
        let was_seen = matches!(self.shown, ContentPlacement::Seen(_));
        let (VisiblePart { region: seen, from }, origin) = match now {
            ContentPlacement::Seen(placed) => (placed, origin),
            _ => (HIDDEN, (0, 0)),
        };
        match now {
            ContentPlacement::Seen(_) if !was_seen => self.subsurface.place_above(below),
            ContentPlacement::Hidden if self.shown != ContentPlacement::Hidden => self.subsurface.place_below(view),
            _ => {}
        }
        let (width, height) = (seen.x.length, seen.y.length);
        self.viewport.set_source(from.0 as f64, from.1 as f64, width as f64, height as f64);
        self.viewport.set_destination(width as i32, height as i32);
        self.subsurface.set_position((seen.x.start - origin.0) as i32, (seen.y.start - origin.1) as i32);
        self.shown = now;
        if let Some(nested) = self.nested.as_ref().and_then(Weak::upgrade) {
            let inside = |from: i64, length: i64| DocumentExtent { start: from, length };
            let is_seen = now != ContentPlacement::Hidden;
            let clip = DocumentRegion { x: inside(from.0, seen.x.length), y: inside(from.1, seen.y.length) };
            lock(&nested).clip_to(if is_seen { clip } else { DocumentRegion::default() });
        }
        self.surface.commit();
    }
}

impl Drop for ClientViewState {
    fn drop(&mut self) {
        self.contents.iter().for_each(|content| content.viewport.destroy());
        self.viewporter.destroy();
    }
}

fn motion_terms(options: &ScrollOptions) -> ViewTerms<'_> {
    ViewTerms {
        size: (options.size.0.into(), options.size.1.into()),
        document: options.document,
        axes: (options.horizontal, options.vertical),
        keeps: f64::from(options.deceleration) / 1e3,
        band: f64::from(options.rubber_band),
        snaps: (&options.snaps_x, &options.snaps_y),
        predicts: options.predicts,
        // A viewport cannot stretch the last row of a picture alone.
        stretches: false,
    }
}
