//! The public type [`ScrollView`].

use std::sync::Arc;

use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_compositor::{self, WlCompositor};
use wayland_client::protocol::wl_subcompositor::{self, WlSubcompositor};
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::protocol::{wl_pointer, wl_touch};
use wayland_client::{Connection, Proxy};

use super::client_side::ClientView;
use super::compositor_side::CompositorView;
use super::content::{ContentPicture, ViewContent};
use super::listener::SharedScrollState;
use super::{ContentId, ContentRole, RenderDemand, ScrollError, ScrollEvent, ScrollOptions};
use crate::bind_global::{IgnoreEvents, bind};
use upbeat_timing::scroll::ScrollRequest;
use upbeat_timing::time::Instant;

#[derive(Debug)]
enum ScrollBackend {
    Compositor(CompositorView),
    Client(ClientView),
}

/// A viewport on a document that is larger than the view.
///
/// The program sets the size of the document ([`set_options`](Self::set_options)), renders the
/// [wanted](Self::next_wanted) regions into contents, [places](Self::place) these and [commits](Self::commit). With a
/// compositor that has `upbeat_scroll_v1` this is all: the view follows fingers, wheels and flings at the rate of the
/// display while the program sleeps. On other compositors the view moves its contents itself, with frame callbacks and
/// `wp_viewport`, and with the same physics. Then it needs the input events of the program; with `upbeat_scroll_v1` it
/// ignores them.
///
/// Like [`FramePacer`](crate::FramePacer), a view does not wait or read by itself, and needs no event queue. After the
/// program has read from its connection, it takes the wanted regions and the events, and flushes.
///
/// ```no_run
/// # use upbeat_client::{ContentPicture, ScrollOptions, ScrollView, Tile, TileRing};
/// # use wayland_client::{Connection, globals::GlobalList, protocol::{wl_buffer::WlBuffer, wl_surface::WlSurface}};
/// # fn draw(_: &Tile) -> WlBuffer { unimplemented!() }
/// # fn read_events() -> Vec<wayland_client::protocol::wl_pointer::Event> { unimplemented!() }
/// # fn page(connection: &Connection, globals: &GlobalList, surface: &WlSurface, options: ScrollOptions)
/// #     -> Result<(), Box<dyn std::error::Error>> {
/// let mut view = ScrollView::new(connection, globals, surface)?;
/// let tile = (i64::from(options.size.0), 256);
/// let slots = TileRing::slots_for(options.budget, (tile.0, i64::from(options.size.1)), tile);
/// let mut ring = TileRing::new(tile, slots);
/// let contents = (0..slots).map(|_| view.add_content()).collect::<Result<Vec<_>, _>>()?;
/// view.set_options(options);
/// view.commit();
/// loop {
///     while let Some(wanted) = view.next_wanted() {
///         for tile in ring.fill(wanted.region) {
///             view.place(contents[tile.slot], ContentPicture { buffer: draw(&tile), region: tile.region, scale: 1 });
///         }
///         view.commit();
///     }
///     for event in read_events() {
///         view.pointer_event(&event);
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct ScrollView {
    shared: SharedScrollState,
    surface: WlSurface,
    /// Surfaces of the views around it, innermost first.
    outer_surfaces: Vec<WlSurface>,
    compositor: WlCompositor,
    subcompositor: WlSubcompositor,
    parts: Vec<ViewContent>,
    options: ScrollOptions,
    /// `options` has changed since the last commit.
    has_new_options: bool,
    mover: ScrollBackend,
}

impl ScrollView {
    /// Creates the view of `surface`, which can have only one. The surface's own buffer is the background and
    /// should be opaque. The program attaches it, but does not commit it: [`commit`](Self::commit) does.
    ///
    /// # Errors
    /// The compositor has neither the protocol nor the globals that the fallback needs.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Result<Self, ScrollError> {
        let shared = SharedScrollState::default();
        match CompositorView::new(globals, surface, &shared) {
            Some(served) => Self::from_backend(connection, globals, surface, shared, ScrollBackend::Compositor(served)),
            None => Self::client_side(connection, globals, surface),
        }
    }

    /// Creates a view that the client scrolls itself, on any compositor: for comparisons, and to test a program as
    /// on compositors without the protocol.
    ///
    /// # Errors
    /// The compositor does not have the globals that this needs.
    pub fn client_side(
        connection: &Connection,
        globals: &GlobalList,
        surface: &WlSurface,
    ) -> Result<Self, ScrollError> {
        let shared = SharedScrollState::default();
        let own = ClientView::new(connection, globals, surface, None)?;
        Self::from_backend(connection, globals, surface, shared, ScrollBackend::Client(own))
    }

    /// Creates a view that is a content of another view. A gesture scrolls the innermost view that can scroll in
    /// its direction; this is chosen when the gesture begins.
    ///
    /// # Errors
    /// The compositor does not have the globals that this needs, or the content is gone.
    pub fn nested(
        connection: &Connection,
        globals: &GlobalList,
        outer: &mut ScrollView,
        content: ContentId,
    ) -> Result<Self, ScrollError> {
        let surface = outer.content_surface(content).ok_or(ScrollError::Gone)?.clone();
        let shared = SharedScrollState::default();
        let mover = match &mut outer.mover {
            ScrollBackend::Compositor(_) => {
                ScrollBackend::Compositor(CompositorView::new(globals, &surface, &shared).ok_or(ScrollError::Gone)?)
            }
            ScrollBackend::Client(own) => {
                let around =
                    std::iter::once(outer.surface.clone()).chain(outer.outer_surfaces.iter().cloned()).collect();
                let inner = ClientView::new(connection, globals, &surface, Some(around))?;
                own.nest(content.0, &inner);
                ScrollBackend::Client(inner)
            }
        };
        let mut view = Self::from_backend(connection, globals, &surface, shared, mover)?;
        view.outer_surfaces =
            std::iter::once(outer.surface.clone()).chain(outer.outer_surfaces.iter().cloned()).collect();
        Ok(view)
    }

    fn from_backend(
        connection: &Connection,
        globals: &GlobalList,
        surface: &WlSurface,
        shared: SharedScrollState,
        mover: ScrollBackend,
    ) -> Result<Self, ScrollError> {
        let compositor = bind(globals, 4, Arc::new(IgnoreEvents)).ok_or(ScrollError::Missing("wl_compositor"))?;
        let subcompositor = bind(globals, 1, Arc::new(IgnoreEvents)).ok_or(ScrollError::Missing("wl_subcompositor"))?;
        // A connection error is reported by the program's next read.
        let _ = connection.flush();
        Ok(ScrollView {
            shared,
            surface: surface.clone(),
            outer_surfaces: Vec::new(),
            compositor,
            subcompositor,
            parts: Vec::new(),
            options: ScrollOptions::default(),
            has_new_options: true,
            mover,
        })
    }

    /// Whether the compositor scrolls the view.
    pub const fn is_moved_by_compositor(&self) -> bool {
        matches!(self.mover, ScrollBackend::Compositor(_))
    }

    /// The options that were set last.
    pub const fn options(&self) -> &ScrollOptions {
        &self.options
    }

    /// Sets the options, from the next commit on. Values that the protocol does not allow are clamped to its limits.
    pub fn set_options(&mut self, mut options: ScrollOptions) {
        options.deceleration = options.deceleration.clamp(900, 999);
        options.rubber_band = options.rubber_band.min(1_000);
        options.snaps_x.sort_unstable();
        options.snaps_y.sort_unstable();
        self.has_new_options |= self.options != options;
        self.options = options;
    }

    /// Adds a content above the existing contents. A view can have 64.
    ///
    /// # Errors
    /// The connection is closed, or the view's surface was destroyed.
    pub fn add_content(&mut self) -> Result<ContentId, ScrollError> {
        let gone = |_| ScrollError::Gone;
        let request = wl_compositor::Request::CreateSurface {};
        let surface: WlSurface = self.compositor.send_constructor(request, Arc::new(IgnoreEvents)).map_err(gone)?;
        let request =
            wl_subcompositor::Request::GetSubsurface { surface: surface.clone(), parent: self.surface.clone() };
        let subsurface = self.subcompositor.send_constructor(request, Arc::new(IgnoreEvents)).map_err(gone)?;
        let part = ViewContent { surface, subsurface, role: ContentRole::Document, picture: None, is_new: false };
        match &mut self.mover {
            ScrollBackend::Compositor(served) => served.add(&part)?,
            ScrollBackend::Client(own) => own.add(&part, &self.compositor)?,
        }
        self.parts.push(part);
        Ok(ContentId(self.parts.len() - 1))
    }

    /// The surface of a content; `None` if the view has no such content.
    pub fn content_surface(&self, content: ContentId) -> Option<&WlSurface> {
        self.parts.get(content.0).map(|part| &part.surface)
    }

    /// Sets how a content moves, from the next commit on.
    pub fn set_role(&mut self, content: ContentId, role: ContentRole) {
        if let Some(part) = self.parts.get_mut(content.0) {
            part.role = role;
            part.is_new = true;
        }
    }

    /// Sets the picture of a content, from the next commit on.
    pub fn place(&mut self, content: ContentId, picture: ContentPicture) {
        if let Some(part) = self.parts.get_mut(content.0) {
            part.picture = Some(picture);
            part.is_new = true;
        }
    }

    /// Applies all changes since the last commit at once, together with the pending state of the view's surface.
    pub fn commit(&mut self) {
        let options = std::mem::take(&mut self.has_new_options).then_some(&self.options);
        match &mut self.mover {
            ScrollBackend::Compositor(served) => {
                if let Some(options) = options {
                    served.set_options(options);
                }
                for (index, part) in self.parts.iter_mut().enumerate().filter(|(_, part)| part.is_new) {
                    part.is_new = false;
                    served.place(index, part);
                    if let Some(picture) = &part.picture {
                        part.surface.set_buffer_scale(picture.scale);
                        part.surface.attach(Some(&picture.buffer), 0, 0);
                        part.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
                    }
                    part.surface.commit();
                }
            }
            ScrollBackend::Client(own) => own.apply(options, &mut self.parts),
        }
        self.surface.commit();
        self.outer_surfaces.iter().for_each(WlSurface::commit);
    }

    /// The region to render next, and its deadline. Each demand is returned once; a newer demand replaces a demand
    /// that was not taken.
    pub fn next_wanted(&mut self) -> Option<RenderDemand> {
        self.update();
        self.shared.lock().wanted.take()
    }

    /// The next event that was read from the connection, or that the view caused itself.
    pub fn next_event(&mut self) -> Option<ScrollEvent> {
        self.update();
        self.shared.lock().events.pop_front()
    }

    /// Sets whether [`ScrollEvent::Offset`] is sent for each refresh that moves the view. This wakes the program at
    /// each such refresh.
    pub fn report_offsets(&mut self, armed: bool) {
        match &mut self.mover {
            ScrollBackend::Compositor(served) => served.report_offsets(armed),
            ScrollBackend::Client(own) => own.report_offsets(armed),
        }
    }

    /// Scrolls so that this position of the document is in the view's top left corner, or as near as the document
    /// allows. [`ScrollEvent::Rest`] follows.
    pub fn scroll_to(&mut self, x: i32, y: i32, smoothly: bool, serial: u32) {
        match &mut self.mover {
            ScrollBackend::Compositor(served) => served.scroll_to((x, y), smoothly, serial),
            ScrollBackend::Client(own) => {
                own.start_movement(ScrollRequest::To { offset: (x.into(), y.into()), smoothly, serial })
            }
        }
    }

    /// Scrolls by a distance from the current offset, or from the offset that the view is moving to.
    /// [`ScrollEvent::Rest`] follows.
    pub fn scroll_by(&mut self, x: i32, y: i32, smoothly: bool, serial: u32) {
        match &mut self.mover {
            ScrollBackend::Compositor(served) => served.scroll_by((x, y), smoothly, serial),
            ScrollBackend::Client(own) => {
                own.start_movement(ScrollRequest::By { way: (x.into(), y.into()), smoothly, serial })
            }
        }
    }

    /// Stops the view where it is.
    pub fn stop(&mut self) {
        match &mut self.mover {
            ScrollBackend::Compositor(served) => served.stop(),
            ScrollBackend::Client(own) => own.start_movement(ScrollRequest::Stop),
        }
    }

    /// Passes an event of the seat's pointer (version 5 or newer) to the view. Call it for each event. Returns
    /// whether the view has used the event: then the program must ignore it. A compositor that scrolls the view
    /// handles input itself. With nested views, call it on the outermost view.
    pub fn pointer_event(&mut self, event: &wl_pointer::Event) -> bool {
        match &mut self.mover {
            ScrollBackend::Compositor(_) => false,
            ScrollBackend::Client(own) => own.pointer_event(event),
        }
    }

    /// Like [`pointer_event`](Self::pointer_event), for touch events. Once the view has used an event, it owns this
    /// finger until the finger is lifted.
    pub fn touch_event(&mut self, event: &wl_touch::Event) -> bool {
        match &mut self.mover {
            ScrollBackend::Compositor(_) => false,
            ScrollBackend::Client(own) => own.touch_event(event),
        }
    }

    /// The position in the document that a point of `surface` shows, in the coordinates of input events. `surface`
    /// must be the view's or the surface of one of its contents. Does not work for nested views that the client
    /// scrolls itself.
    pub fn document_position(&self, surface: &WlSurface, x: f64, y: f64) -> Option<(f64, f64)> {
        if let ScrollBackend::Client(own) = &self.mover {
            return (*surface == self.surface).then(|| own.shown()).map(|(left, top)| (left + x, top + y));
        }
        let part = self.parts.iter().find(|part| part.surface == *surface && part.role == ContentRole::Document)?;
        let region = part.picture.as_ref()?.region;
        Some((region.x.start as f64 + x, region.y.start as f64 + y))
    }

    fn update(&mut self) {
        if let ScrollBackend::Client(own) = &mut self.mover {
            let now = own.now();
            own.update(now, &self.shared);
        }
    }

    /// Shows the next frame if it is due at `now`: for programs with a clock other than
    /// [`FramePacer::now`](crate::FramePacer::now).
    #[doc(hidden)]
    pub fn update_at(&mut self, now: Instant) {
        if let ScrollBackend::Client(own) = &mut self.mover {
            own.update_at(now, &self.shared);
        }
    }

    /// Like [`next_wanted`](Self::next_wanted), for such programs.
    #[doc(hidden)]
    pub fn take_wanted(&mut self) -> Option<RenderDemand> {
        self.shared.lock().wanted.take()
    }

    /// Like [`next_event`](Self::next_event), for such programs.
    #[doc(hidden)]
    pub fn take_event(&mut self) -> Option<ScrollEvent> {
        self.shared.lock().events.pop_front()
    }
}

impl Drop for ScrollView {
    fn drop(&mut self) {
        for part in &self.parts {
            part.subsurface.destroy();
            part.surface.destroy();
        }
        self.subcompositor.destroy();
    }
}
