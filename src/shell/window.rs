//! One window: what it wants to be, what its client has agreed to, and where that puts it.

use std::collections::VecDeque;

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::utils::{Logical, Point, Rectangle, Serial, Size};
use smithay::wayland::content_type::ContentTypeSurfaceCachedState;
use smithay::wayland::shell::xdg::{SurfaceCachedState, ToplevelSurface, XdgToplevelSurfaceData};

use super::animation::WindowMotion;
use super::arrangement::Arrangement;
use super::effects::{Decoration, Edge, EffectNames};
use super::layout::op::Limits;
use super::look::{DecoratedBy, Look};
use super::parts::Snapped;
use super::resize::{Edges, SizeLimits};
use super::titles::Titles;
use super::{ShellRevision, WindowId};

use crate::guard;
use crate::revision::Revision;
use upbeat_timing::time::Instant;

/// A client that leaves so many configures of a window unanswered is sent no more that it has not asked for: the newest comes
/// when it answers. A program that is stopped would be told of the focus each time that others take it and lose it.
const MOST_UNASKED: usize = 64;
/// How many configures a client may leave unanswered in all: one that asks for states in a loop and never answers would fill
/// the memory.
pub(super) const MAX_UNANSWERED: usize = 1_000;

/// Ends a client that leaves more configures of `surface` unanswered than that.
pub(super) fn end_unanswered(surface: &WlSurface) {
    let (Some(client), Some(handle)) = (surface.client(), surface.handle().upgrade()) else { return };
    let reason = format!("more than {MAX_UNANSWERED} configures of one window or menu without an answer");
    guard::end_for(&DisplayHandle::from(handle), &client, &reason);
}

/// What tells a client that none of its edges is its own.
const TILED: [xdg_toplevel::State; 4] = [
    xdg_toplevel::State::TiledLeft,
    xdg_toplevel::State::TiledRight,
    xdg_toplevel::State::TiledTop,
    xdg_toplevel::State::TiledBottom,
];

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
    /// The configure that was acknowledged last, and the last one that was by a commit.
    last_acknowledged: Option<Serial>,
    last_committed: Option<Serial>,
    /// Top left corner of the window geometry while floating (global logical coordinates).
    pub(super) floating: Point<i32, Logical>,
    /// Where it was, while the output that it is at home on is unplugged and it had to move.
    pub(super) displaced_from: Option<Point<i32, Logical>>,
    /// The size to return to from maximised or fullscreen; `None` lets the client choose.
    pub(super) floating_size: Option<Size<i32, Logical>>,
    /// It lies on a half or a quarter of its screen.
    pub(super) snapped: Option<Snapped>,
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
    pub(super) visited: Option<ShellRevision>,
    /// Its client leaves its decoration to us.
    pub(super) leaves_decoration: bool,
    /// It has its place in a strip.
    pub(super) in_strip: bool,
    /// Another window of its column is shown in its place.
    pub(super) is_behind: bool,
    /// It lies where its strip is not in view.
    pub(super) is_aside: bool,
    /// How small it can be, as the strip knows it.
    pub(super) told_limits: Limits,
    /// When it had the focus last: the latest has the greatest number.
    pub(super) focused_last: u64,
    /// The window that it is a dialog of.
    pub(super) parent: Option<WindowId>,
    /// Which of its program's windows it is.
    pub(super) tag: Option<String>,
    /// Counts how often its title and its application's name changed.
    pub(super) names: Revision,
    /// It is called something else, and the rules for it were not gone through since.
    pub(super) is_renamed: bool,
    /// When an activation token was used for it while it had no content.
    pub(super) activated: Option<Instant>,
    /// It is black in pictures of the screen.
    pub(super) kept_out: bool,
    /// The titles of its column.
    pub(super) titles: Option<Titles>,
    /// How it looks because a rule says so.
    pub(super) look: Look,
    /// The sizes that rules want.
    pub(super) ruled_limits: SizeLimits,
    /// The painter of its decoration that a rule names.
    pub(super) ruled_decoration: Option<DecoratedBy>,
    /// The painter of its decoration that its client wishes.
    pub(super) wished_decoration: DecoratedBy,
    /// Whether it floats because a rule says so, or does not.
    pub(super) wished_floating: Option<bool>,
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
            last_acknowledged: None,
            last_committed: None,
            floating: Point::default(),
            displaced_from: None,
            floating_size: None,
            snapped: None,
            before_fullscreen: Arrangement::Floating,
            stretch: None,
            geometry: Rectangle::default(),
            extent: Rectangle::default(),
            told: None,
            visited: None,
            leaves_decoration: false,
            in_strip: false,
            is_behind: false,
            is_aside: false,
            told_limits: Limits::default(),
            focused_last: 0,
            parent: None,
            tag: None,
            names: Revision::default(),
            is_renamed: false,
            activated: None,
            kept_out: false,
            titles: None,
            look: Look::default(),
            ruled_limits: SizeLimits::default(),
            ruled_decoration: None,
            wished_decoration: DecoratedBy::Client,
            wished_floating: None,
            motion: WindowMotion::default(),
            effect_names: EffectNames::default(),
        }
    }

    /// The root surface.
    pub fn surface(&self) -> &WlSurface {
        self.toplevel.wl_surface()
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

    /// Another number whenever its title or its application's name is another.
    pub const fn names(&self) -> Revision {
        self.names
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
    pub fn client_pid(&self, display: &DisplayHandle) -> Option<u32> {
        guard::process_of(display, &self.surface().client()?)
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

    /// The sizes that the session asks for: within the limits of the client, and then within those of rules.
    pub(super) fn size_limits(&self) -> SizeLimits {
        self.own_size_limits().narrowed(self.ruled_limits)
    }

    /// The sizes that the client accepts, as last applied.
    pub fn own_size_limits(&self) -> SizeLimits {
        guard::with_states(self.surface(), |states| {
            let mut cached = states.cached_state.get::<SurfaceCachedState>();
            let current = cached.current();
            SizeLimits { min: current.min_size, max: current.max_size }
        })
    }

    /// Whether its client accepts no size but one.
    pub(super) fn has_one_size(&self) -> bool {
        let SizeLimits { min, max } = self.own_size_limits();
        min == max && min.w > 0 && min.h > 0
    }

    /// The window geometry of the applied content, in surface coordinates.
    pub fn geometry(&self) -> Rectangle<i32, Logical> {
        self.geometry
    }

    /// Whether there are titles above it.
    pub const fn carries_titles(&self) -> bool {
        self.titles.is_some()
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
        let is_due = self.configured && self.sent.len() < MOST_UNASKED;
        if !is_due || !self.toplevel.alive() || !self.toplevel.has_pending_changes() {
            return false;
        }
        self.send();
        true
    }

    /// Whether its client has answered and read enough to be asked for more by others.
    pub fn hears_more(&self) -> bool {
        self.sent.len() < MOST_UNASKED && guard::has_room(self.surface())
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
            return end_unanswered(self.surface());
        }
        let serial = self.toplevel.send_configure();
        self.sent.push_back(SentConfigure { serial, arrangement: self.wanted.clone(), size, resizing });
    }

    /// The client acknowledged the configure `serial`, and has committed since the one before if `has_committed`. What lies
    /// between that and this one will never be answered by itself.
    pub(super) fn acknowledge(&mut self, serial: Serial, has_committed: bool) {
        self.acknowledged = true;
        let before = self.last_acknowledged.replace(serial);
        if has_committed {
            self.last_committed = before;
        }
        let committed = self.last_committed;
        let had_many = self.sent.len() >= MOST_UNASKED;
        self.sent.retain(|sent| sent.serial >= serial || committed.is_some_and(|committed| sent.serial <= committed));
        if had_many {
            self.send_pending();
        }
    }

    /// Asks for `arrangement` with the size that goes with it. Nothing is sent yet.
    pub(super) fn want(&mut self, arrangement: Arrangement) {
        let (size, maximized, fullscreen) = match &arrangement {
            Arrangement::Floating => (self.floating_size, false, None),
            Arrangement::Maximized { area } => (Some(area.size), true, None),
            Arrangement::Tiled { area, is_maximised } => (Some(area.size), *is_maximised, None),
            Arrangement::Fullscreen { area, output } => (Some(area.size), false, Some(output.clone())),
        };
        let part = self.snapped.filter(|_| arrangement == Arrangement::Floating).map(|snapped| snapped.part);
        let is_tiled = matches!(arrangement, Arrangement::Tiled { is_maximised: false, .. });
        let client = self.surface().client();
        self.toplevel.with_pending_state(|pending| {
            pending.size = size;
            let mut set = |state, on| if on { pending.states.set(state) } else { pending.states.unset(state) };
            set(xdg_toplevel::State::Maximized, maximized);
            set(xdg_toplevel::State::Fullscreen, fullscreen.is_some());
            let has_edge = |edge| is_tiled || part.is_some_and(|part| part.has_edge(edge));
            TILED.into_iter().for_each(|edge| _ = set(edge, has_edge(edge)));
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

    /// The radius of its corners, where a rule says one.
    pub const fn corner_radius(&self) -> Option<f64> {
        self.look.corner_radius
    }

    /// Which effects it takes part in.
    pub(super) fn decoration(&self) -> Decoration {
        // Content outside the window geometry is the client's own shadow.
        let is_bare = self.extent == self.geometry;
        let is_free = self.applied == Arrangement::Floating;
        Decoration {
            names: self.effect_names.clone(),
            stands_free: is_bare && is_free,
            edge: Edge::None,
            corner_radius: self.look.corner_radius,
            titles: self.titles.as_ref().map(|titles| titles.picture.clone()),
            has_bar: self.titles.as_ref().is_some_and(|titles| titles.says.closes),
        }
    }
}
