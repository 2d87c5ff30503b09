//! One window: what it wants to be, what its client has agreed to, and where that puts it.

use std::collections::VecDeque;

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial, Size};
use smithay::wayland::content_type::ContentTypeSurfaceCachedState;
use smithay::wayland::shell::xdg::{SurfaceCachedState, ToplevelSurface, XdgToplevelSurfaceData};

use super::WindowId;
use super::animation::WindowMotion;
use super::arrangement::Arrangement;
use super::effects::{Decoration, EffectNames};
use super::resize::{self, Edges, SizeLimits};

use crate::guard;
use crate::surface::tree;

/// How many configures a client may leave unanswered: a stopped program gathers one per change of focus, one that asks
/// for states in a loop and never answers would fill the memory.
const MAX_UNANSWERED: usize = 1_000;

/// A configure that was sent and has not taken effect yet.
#[derive(Clone, Debug)]
pub(super) struct SentConfigure {
    pub serial: Serial,
    pub arrangement: Arrangement,
    pub size: Option<Size<i32, Logical>>,
    /// Whether the window was told that it is being resized.
    pub resizing: bool,
}

/// An interactive resize, from its first motion until the client has committed its last size.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub edges: Edges,
    /// The window geometry when the edges were grabbed.
    pub start: Rectangle<i32, Logical>,
    /// What the pointer asks for now.
    pub wanted: Rectangle<i32, Logical>,
    /// The size that the content on screen was configured with.
    pub answered: Size<i32, Logical>,
    /// The person let go; only the client's answer is missing.
    pub released: bool,
}

/// A toplevel window.
#[derive(Debug)]
pub struct Window {
    /// Its name.
    pub id: WindowId,
    pub(super) toplevel: ToplevelSurface,
    /// It was configured since it was last unmapped.
    pub(super) configured: bool,
    /// The client acknowledged a configure since then.
    pub(super) acknowledged: bool,
    pub(super) mapped: bool,
    /// It was given a place when it was mapped first.
    pub(super) placed: bool,
    /// What the last configure asked for, or the next one will.
    pub(super) wanted: Arrangement,
    /// What the content on screen was made for.
    pub(super) applied: Arrangement,
    pub(super) sent: VecDeque<SentConfigure>,
    /// Top left corner of the window geometry while floating (global logical coordinates).
    pub(super) floating: Point<i32, Logical>,
    /// Where it was, while the output that it is at home on is unplugged and it had to move.
    pub(super) displaced_from: Option<Point<i32, Logical>>,
    /// The size to return to from maximised or fullscreen; `None` lets the client choose.
    pub(super) floating_size: Option<Size<i32, Logical>>,
    /// What fullscreen returns to.
    pub(super) before_fullscreen: Arrangement,
    pub(super) stretch: Option<Stretch>,
    /// The window geometry of the applied content, in surface coordinates.
    pub(super) geometry: Rectangle<i32, Logical>,
    /// What its surfaces cover, in coordinates of the root surface: no less, and no more once it has committed.
    pub(super) extent: Rectangle<i32, Logical>,
    /// The focus and the visibility that its client was told of last.
    pub(super) told: Option<(bool, bool)>,
    /// [`Shell::changes`](super::Shell::changes) when its surfaces were told of their outputs last.
    pub(super) visited: Option<(u64, u64)>,
    /// The window that it is a dialog of.
    pub(super) parent: Option<WindowId>,
    /// Which of its program's windows it is.
    pub(super) tag: Option<String>,
    /// It is black in pictures of the screen.
    pub(super) kept_out: bool,
    /// What moves it by itself.
    pub(super) motion: WindowMotion,
    /// Names of what is drawn below it.
    pub(super) effect_names: EffectNames,
}

impl Window {
    pub(super) fn new(id: WindowId, toplevel: ToplevelSurface) -> Self {
        Window {
            id,
            toplevel,
            configured: false,
            acknowledged: false,
            mapped: false,
            placed: false,
            wanted: Arrangement::Floating,
            applied: Arrangement::Floating,
            sent: VecDeque::new(),
            floating: Point::default(),
            displaced_from: None,
            floating_size: None,
            before_fullscreen: Arrangement::Floating,
            stretch: None,
            geometry: Rectangle::default(),
            extent: Rectangle::default(),
            told: None,
            visited: None,
            parent: None,
            tag: None,
            kept_out: false,
            motion: WindowMotion::default(),
            effect_names: EffectNames::default(),
        }
    }

    /// The root surface.
    pub fn surface(&self) -> &WlSurface {
        self.toplevel.wl_surface()
    }

    /// The xdg toplevel.
    pub fn toplevel(&self) -> &ToplevelSurface {
        &self.toplevel
    }

    /// The window that it is a dialog of.
    pub const fn parent(&self) -> Option<WindowId> {
        self.parent
    }

    /// Whether it is kept out of pictures of the screen.
    pub const fn is_kept_out(&self) -> bool {
        self.kept_out
    }

    /// Whether it has content.
    pub fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// What it was last asked to be.
    pub fn arrangement(&self) -> &Arrangement {
        &self.wanted
    }

    /// Whether the content on screen covers an output by itself.
    pub fn is_fullscreen(&self) -> bool {
        matches!(self.applied, Arrangement::Fullscreen { .. })
    }

    /// The application id that the client set.
    pub fn app_id(&self) -> Option<String> {
        self.role_data(|data| data.app_id.clone())
    }

    /// The title that the client set.
    pub fn title(&self) -> Option<String> {
        self.role_data(|data| data.title.clone())
    }

    /// Whether it is a dialog that keeps its parent from being used.
    pub(super) fn is_modal(&self) -> bool {
        self.role_data(|data| Some(data.modal)).unwrap_or(false)
    }

    /// Which of its program's windows it is, as the program says.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// What its program says that it shows.
    pub fn content(&self) -> Option<&'static str> {
        use smithay::reexports::wayland_protocols::wp::content_type::v1::server::wp_content_type_v1::Type;
        guard::with_states(self.surface(), |states| {
            match states.cached_state.get::<ContentTypeSurfaceCachedState>().current().content_type() {
                Type::Photo => Some("photo"),
                Type::Video => Some("video"),
                Type::Game => Some("game"),
                _ => None,
            }
        })
    }

    /// The process id of its client, as the socket states it.
    pub fn client_pid(&self, display: &smithay::reexports::wayland_server::DisplayHandle) -> Option<i32> {
        let client = self.surface().client()?;
        client.get_credentials(display).ok().map(|credentials| credentials.pid)
    }

    fn role_data<T>(
        &self,
        read: impl FnOnce(&smithay::wayland::shell::xdg::XdgToplevelSurfaceRoleAttributes) -> Option<T>,
    ) -> Option<T> {
        guard::with_states(self.surface(), |states| {
            let data = states.data_map.get::<XdgToplevelSurfaceData>()?;
            read(&data.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
        })
    }

    /// The sizes that the client accepts, as last applied.
    pub fn size_limits(&self) -> SizeLimits {
        guard::with_states(self.surface(), |states| {
            let mut cached = states.cached_state.get::<SurfaceCachedState>();
            let current = cached.current();
            SizeLimits { min: current.min_size, max: current.max_size }
        })
    }

    /// The window geometry of the applied content, in surface coordinates.
    pub fn geometry(&self) -> Rectangle<i32, Logical> {
        self.geometry
    }

    /// Where the window geometry is on screen (global logical coordinates). While an interactive resize is ahead of
    /// its client this differs in size from [`geometry`](Self::geometry): the content is stretched into it.
    pub fn rect(&self) -> Rectangle<i32, Logical> {
        if let Some(stretch) = &self.stretch {
            return self.stretched_rect(stretch);
        }
        match &self.applied {
            Arrangement::Floating => Rectangle::new(self.floating, self.geometry.size),
            Arrangement::Maximized { area } => self.refitted(*area),
            // Smaller than the screen is allowed: centred then.
            Arrangement::Fullscreen { area, .. } => Rectangle::new(
                area.loc
                    + Point::from((
                        (area.size.w - self.geometry.size.w).max(0) / 2,
                        (area.size.h - self.geometry.size.h).max(0) / 2,
                    )),
                self.geometry.size,
            ),
        }
    }

    /// Where content is that was made to fill `made_for`. When the area that is left for windows becomes another one, it is
    /// stretched with it in that very frame, until its client has answered: what lies beside it neither covers it nor leaves
    /// a gap. A client that snaps to its own grid keeps the distance that it had.
    fn refitted(&self, made_for: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let Arrangement::Maximized { area } = self.wanted else {
            return Rectangle::new(made_for.loc, self.geometry.size);
        };
        let width = self.geometry.size.w + area.size.w - made_for.size.w;
        let height = self.geometry.size.h + area.size.h - made_for.size.h;
        Rectangle::new(area.loc, Size::from((width.max(1), height.max(1))))
    }

    /// What the content answers the pointer with, before the client does: its own size plus what the pointer has
    /// moved since the configure that this content was made for. A client that snaps to its own grid (a terminal)
    /// keeps its offset to the pointer and does not jump back and forth.
    ///
    /// ```text
    /// configured ──►|                     wanted ──►|
    /// content    ─►|      shown = content + (wanted − configured)
    /// ```
    fn stretched_rect(&self, stretch: &Stretch) -> Rectangle<i32, Logical> {
        let width = self.geometry.size.w + stretch.wanted.size.w - stretch.answered.w;
        let height = self.geometry.size.h + stretch.wanted.size.h - stretch.answered.h;
        resize::anchored(stretch.start, stretch.edges, Size::from((width.max(1), height.max(1))))
    }

    /// Whether the content has to be stretched to fill [`rect`](Self::rect).
    pub fn is_stretched(&self) -> bool {
        self.rect().size != self.geometry.size
    }

    /// Where the surface's own origin is on screen, not stretched.
    pub fn origin(&self) -> Point<i32, Logical> {
        self.rect().loc - self.geometry.loc
    }

    /// What its surfaces may cover on screen, not stretched and where it belongs (global logical coordinates).
    pub fn reach(&self) -> Rectangle<i32, Logical> {
        let (origin, extent) = (self.origin(), self.extent);
        Rectangle::new(origin + extent.loc, extent.size).merge(self.rect())
    }

    /// Sends what is pending, if it differs from what was sent before. Returns whether something was sent. Before the
    /// first commit nothing is: it waits for the first configure.
    pub(super) fn send_pending(&mut self) -> bool {
        if !self.configured || !self.toplevel.alive() || !self.toplevel.has_pending_changes() {
            return false;
        }
        self.send();
        true
    }

    /// Sends a configure, whether or not something changed.
    pub(super) fn send(&mut self) {
        if !self.toplevel.alive() {
            return;
        }
        self.configured = true;
        let (size, resizing) = self
            .toplevel
            .with_pending_state(|pending| (pending.size, pending.states.contains(xdg_toplevel::State::Resizing)));
        if self.sent.len() >= MAX_UNANSWERED {
            // Nobody will ever notice the error but the log of a client that hangs or floods.
            let _ = self.toplevel.client().unresponsive();
            return;
        }
        let serial = self.toplevel.send_configure();
        self.sent.push_back(SentConfigure { serial, arrangement: self.wanted.clone(), size, resizing });
    }

    /// Asks for `arrangement` with the size that goes with it. Nothing is sent yet.
    pub(super) fn want(&mut self, arrangement: Arrangement) {
        let (size, maximized, fullscreen) = match &arrangement {
            Arrangement::Floating => (self.floating_size, false, None),
            Arrangement::Maximized { area } => (Some(area.size), true, None),
            Arrangement::Fullscreen { area, output } => (Some(area.size), false, Some(output.clone())),
        };
        let client = self.surface().client();
        self.toplevel.with_pending_state(|pending| {
            pending.size = size;
            let mut set = |state, on| if on { pending.states.set(state) } else { pending.states.unset(state) };
            set(xdg_toplevel::State::Maximized, maximized);
            set(xdg_toplevel::State::Fullscreen, fullscreen.is_some());
            pending.fullscreen_output =
                fullscreen.zip(client).and_then(|(output, client)| output.client_outputs(&client).next());
        });
        self.wanted = arrangement;
    }

    /// Remembers where to return to before a floating window leaves that state.
    pub(super) fn remember_floating(&mut self) {
        if self.wanted == Arrangement::Floating && self.mapped {
            let rect = self.rect();
            self.floating = rect.loc;
            self.floating_size = Some(rect.size);
            self.stretch = None;
        }
    }

    /// Which effects it takes part in.
    pub(super) fn decoration(&self) -> Decoration {
        // Content outside the window geometry is the client's own shadow.
        let is_bare = tree::extent(self.surface()) == self.geometry;
        let is_free = self.applied == Arrangement::Floating;
        Decoration { names: self.effect_names.clone(), stands_free: is_bare && is_free }
    }
}
