//! The view that programs hold.

use std::sync::Arc;

use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_compositor::{self, WlCompositor};
use wayland_client::protocol::wl_subcompositor::{self, WlSubcompositor};
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::protocol::{wl_pointer, wl_touch};
use wayland_client::{Connection, Proxy};

use super::content::{Part, Picture};
use super::listener::Shared;
use super::own::OwnView;
use super::served::ServedView;
use super::{ContentId, ContentRole, Demand, ScrollError, ScrollEvent, ScrollOptions};
use crate::binding::{Deaf, bind};
use upbeat_timing::scroll::Movement;
use upbeat_timing::time::Instant;

#[derive(Debug)]
enum Mover {
    Compositor(ServedView),
    Own(OwnView),
}

/// A window into a document that is larger than what is seen of it.
///
/// The program says how large the document is ([`set_options`](Self::set_options)), renders what is
/// [wanted](Self::next_wanted) of it into contents, [places](Self::place) these and [commits](Self::commit). With a compositor that has
/// `upbeat_scroll_v1` that is all: the view follows fingers and wheels and flings at the rate of the display while the
/// program sleeps. With any other the view moves its contents itself, by frame callbacks and `wp_viewport`, with the same
/// physics; then input has to be handed to it, which does no harm with the first.
///
/// Like [`FramePacer`](crate::FramePacer) it does no waiting and no reading of its own and needs no event queue: whenever
/// the program has read from its connection, it asks for what is wanted and for events, and flushes.
///
/// ```no_run
/// # use upbeat_client::{Picture, ScrollOptions, ScrollView, Tile, TileRing};
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
///             view.place(contents[tile.slot], Picture { buffer: draw(&tile), region: tile.region, scale: 1 });
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
    shared: Shared,
    surface: WlSurface,
    /// Those of the views around it, innermost first.
    around: Vec<WlSurface>,
    compositor: WlCompositor,
    subcompositor: WlSubcompositor,
    parts: Vec<Part>,
    options: ScrollOptions,
    /// They were changed since the last commit.
    has_new_options: bool,
    mover: Mover,
}

impl ScrollView {
    /// Makes a view of `surface`, of which there may be one. Its own buffer is the background, which should be opaque, and is the
    /// program's to attach, but not to commit: [`commit`](Self::commit) does that.
    ///
    /// # Errors
    /// If the compositor has none of what is needed.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Result<Self, ScrollError> {
        let shared = Shared::default();
        match ServedView::new(globals, surface, &shared) {
            Some(served) => Self::with(connection, globals, surface, shared, Mover::Compositor(served)),
            None => Self::by_itself(connection, globals, surface),
        }
    }

    /// One that moves its contents itself on any compositor: to compare with, and to see what a program does on others.
    ///
    /// # Errors
    /// If the compositor has none of what is needed.
    pub fn by_itself(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Result<Self, ScrollError> {
        let shared = Shared::default();
        let own = OwnView::new(connection, globals, surface, None)?;
        Self::with(connection, globals, surface, shared, Mover::Own(own))
    }

    /// A view that is a content of another. Of both the innermost moves that can, chosen when a gesture begins.
    ///
    /// # Errors
    /// If the compositor has none of what is needed.
    pub fn nested(
        connection: &Connection,
        globals: &GlobalList,
        outer: &mut ScrollView,
        content: ContentId,
    ) -> Result<Self, ScrollError> {
        let surface = outer.content_surface(content).ok_or(ScrollError::Gone)?.clone();
        let shared = Shared::default();
        let mover = match &mut outer.mover {
            Mover::Compositor(_) => {
                Mover::Compositor(ServedView::new(globals, &surface, &shared).ok_or(ScrollError::Gone)?)
            }
            Mover::Own(own) => {
                let around = std::iter::once(outer.surface.clone()).chain(outer.around.iter().cloned()).collect();
                let inner = OwnView::new(connection, globals, &surface, Some(around))?;
                own.nest(content.0, &inner);
                Mover::Own(inner)
            }
        };
        let mut view = Self::with(connection, globals, &surface, shared, mover)?;
        view.around = std::iter::once(outer.surface.clone()).chain(outer.around.iter().cloned()).collect();
        Ok(view)
    }

    fn with(
        connection: &Connection,
        globals: &GlobalList,
        surface: &WlSurface,
        shared: Shared,
        mover: Mover,
    ) -> Result<Self, ScrollError> {
        let compositor = bind(globals, 4, Arc::new(Deaf)).ok_or(ScrollError::Missing("wl_compositor"))?;
        let subcompositor = bind(globals, 1, Arc::new(Deaf)).ok_or(ScrollError::Missing("wl_subcompositor"))?;
        // A connection that fails is told of by what the program reads next.
        let _ = connection.flush();
        Ok(ScrollView {
            shared,
            surface: surface.clone(),
            around: Vec::new(),
            compositor,
            subcompositor,
            parts: Vec::new(),
            options: ScrollOptions::default(),
            has_new_options: true,
            mover,
        })
    }

    /// Whether the compositor moves it.
    pub const fn is_moved_by_compositor(&self) -> bool {
        matches!(self.mover, Mover::Compositor(_))
    }

    /// What is said of it.
    pub const fn options(&self) -> &ScrollOptions {
        &self.options
    }

    /// Says so from the next commit on. What the protocol would refuse is brought into its limits.
    pub fn set_options(&mut self, mut options: ScrollOptions) {
        options.deceleration = options.deceleration.clamp(900, 999);
        options.rubber_band = options.rubber_band.min(1_000);
        options.snaps_x.sort_unstable();
        options.snaps_y.sort_unstable();
        self.has_new_options |= self.options != options;
        self.options = options;
    }

    /// One more content, above those that there are: at most 64.
    ///
    /// # Errors
    /// If the connection or the view's surface is gone.
    pub fn add_content(&mut self) -> Result<ContentId, ScrollError> {
        let gone = |_| ScrollError::Gone;
        let request = wl_compositor::Request::CreateSurface {};
        let surface: WlSurface = self.compositor.send_constructor(request, Arc::new(Deaf)).map_err(gone)?;
        let request =
            wl_subcompositor::Request::GetSubsurface { surface: surface.clone(), parent: self.surface.clone() };
        let subsurface = self.subcompositor.send_constructor(request, Arc::new(Deaf)).map_err(gone)?;
        let part = Part { surface, subsurface, role: ContentRole::Document, picture: None, is_new: false };
        match &mut self.mover {
            Mover::Compositor(served) => served.add(&part)?,
            Mover::Own(own) => own.add(&part, &self.compositor)?,
        }
        self.parts.push(part);
        Ok(ContentId(self.parts.len() - 1))
    }

    /// The surface of a content.
    pub fn content_surface(&self, content: ContentId) -> Option<&WlSurface> {
        self.parts.get(content.0).map(|part| &part.surface)
    }

    /// How a content moves, from the next commit on.
    pub fn set_role(&mut self, content: ContentId, role: ContentRole) {
        if let Some(part) = self.parts.get_mut(content.0) {
            part.role = role;
            part.is_new = true;
        }
    }

    /// What a content shows from the next commit on.
    pub fn place(&mut self, content: ContentId, picture: Picture) {
        if let Some(part) = self.parts.get_mut(content.0) {
            part.picture = Some(picture);
            part.is_new = true;
        }
    }

    /// All that was said since the last commit is in force at once, and so are the requests of the view's surface.
    pub fn commit(&mut self) {
        let options = std::mem::take(&mut self.has_new_options).then_some(&self.options);
        match &mut self.mover {
            Mover::Compositor(served) => {
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
            Mover::Own(own) => own.apply(options, &mut self.parts),
        }
        self.surface.commit();
        self.around.iter().for_each(WlSurface::commit);
    }

    /// What is to be rendered next, and by when. It is said once; what is newer takes the place of what was not taken.
    pub fn next_wanted(&mut self) -> Option<Demand> {
        self.turn();
        self.shared.lock().wanted.take()
    }

    /// The next thing that happened.
    pub fn next_event(&mut self) -> Option<ScrollEvent> {
        self.turn();
        self.shared.lock().events.pop_front()
    }

    /// Whether events tell of each refresh that shows it elsewhere. This wakes the program as often.
    pub fn report_offsets(&mut self, armed: bool) {
        match &mut self.mover {
            Mover::Compositor(served) => served.report_offsets(armed),
            Mover::Own(own) => own.report_offsets(armed),
        }
    }

    /// Shows this position of the document in its top left corner, or as near as the document allows. Answered by
    /// [`ScrollEvent::Rest`].
    pub fn scroll_to(&mut self, x: i32, y: i32, smoothly: bool, serial: u32) {
        match &mut self.mover {
            Mover::Compositor(served) => served.scroll_to((x, y), smoothly, serial),
            Mover::Own(own) => own.ask(Movement::To { offset: (x.into(), y.into()), smoothly, serial }),
        }
    }

    /// The same by a distance from where it is, or from where it is going.
    pub fn scroll_by(&mut self, x: i32, y: i32, smoothly: bool, serial: u32) {
        match &mut self.mover {
            Mover::Compositor(served) => served.scroll_by((x, y), smoothly, serial),
            Mover::Own(own) => own.ask(Movement::By { way: (x.into(), y.into()), smoothly, serial }),
        }
    }

    /// It stays where it is.
    pub fn stop(&mut self) {
        match &mut self.mover {
            Mover::Compositor(served) => served.stop(),
            Mover::Own(own) => own.ask(Movement::Stop),
        }
    }

    /// To be called with each event of the seat's pointer, version 5 or newer. Returns whether the view has taken it: then it is
    /// nobody else's. A compositor that moves the view takes such events itself. Of nested views the outermost is called.
    pub fn pointer_event(&mut self, event: &wl_pointer::Event) -> bool {
        match &mut self.mover {
            Mover::Compositor(_) => false,
            Mover::Own(own) => own.pointer_event(event),
        }
    }

    /// The same with each event of touches. From when the view has taken one, all of that finger until it is lifted is the view's.
    pub fn touch_event(&mut self, event: &wl_touch::Event) -> bool {
        match &mut self.mover {
            Mover::Compositor(_) => false,
            Mover::Own(own) => own.touch_event(event),
        }
    }

    /// Which position of the document a point of `surface` shows, if that is the view's or one of its contents': as events have
    /// them. Not for nested views that move themselves.
    pub fn document_position(&self, surface: &WlSurface, x: f64, y: f64) -> Option<(f64, f64)> {
        if let Mover::Own(own) = &self.mover {
            return (*surface == self.surface).then(|| own.shown()).map(|(left, top)| (left + x, top + y));
        }
        let part = self.parts.iter().find(|part| part.surface == *surface && part.role == ContentRole::Document)?;
        let region = part.picture.as_ref()?.region;
        Some((region.x.start as f64 + x, region.y.start as f64 + y))
    }

    fn turn(&mut self) {
        if let Mover::Own(own) = &mut self.mover {
            let now = own.now();
            own.turn(now, &self.shared);
        }
    }

    /// What is due at `now`: for programs whose clock is another than that of [`FramePacer::now`](crate::FramePacer::now).
    #[doc(hidden)]
    pub fn turn_at(&mut self, now: Instant) {
        if let Mover::Own(own) = &mut self.mover {
            own.play(now, &self.shared);
        }
    }

    /// [`next_wanted`](Self::next_wanted) of such programs.
    #[doc(hidden)]
    pub fn take_wanted(&mut self) -> Option<Demand> {
        self.shared.lock().wanted.take()
    }

    /// [`next_event`](Self::next_event) of such programs.
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
