//! One window: the state that was requested, the state that its client has acknowledged, and its place.

use std::collections::VecDeque;

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::utils::{Logical, Point, Rectangle, Serial, Size};
use smithay::wayland::content_type::ContentTypeSurfaceCachedState;
use smithay::wayland::shell::xdg::{SurfaceCachedState, ToplevelSurface, XdgToplevelSurfaceData};

use super::animation::WindowMotion;
use super::appearance::{DecoratedBy, WindowAppearance};
use super::arrangement::WindowArrangement;
use super::effects::{BorderState, EffectIds, WindowDecoration};
use super::layout::op::MinimumSize;
use super::placement::Displacement;
use super::resize::{Edges, SizeLimits};
use super::snap_targets::Snapped;
use super::titles::RenderedTitles;
use super::{ShellRevision, WindowId};

use crate::guard;
use crate::revision::Revision;
use upbeat_timing::time::Instant;

/// Unanswered configures of a window after which no further configure is sent unless the client asks for it; the newest
/// follows with the client's answer. Otherwise a stopped client would collect one for each change of the focus.
const MOST_UNASKED: usize = 64;
/// Limit on all unanswered configures of a window: a client that requests states in a loop and never answers would fill
/// the memory.
pub(super) const MAX_UNANSWERED: usize = 1_000;

/// Ends a client that leaves more than [`MAX_UNANSWERED`] configures of `surface` unanswered.
pub(super) fn end_unresponsive_client(surface: &WlSurface) {
    let (Some(client), Some(handle)) = (surface.client(), surface.handle().upgrade()) else { return };
    let reason = format!("more than {MAX_UNANSWERED} configures of one window or menu without an answer");
    guard::end_for_reason(&DisplayHandle::from(handle), &client, &reason);
}

/// States of a tiled window, whose client draws no borders or shadows at its edges.
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
    pub arrangement: WindowArrangement,
    pub size: Option<Size<i32, Logical>>,
    /// Whether it had the state `resizing`.
    pub resizing: bool,
}

/// An interactive resize, from its first motion until the client has committed its last size.
#[derive(Clone, Debug)]
pub(super) struct ResizeStretch {
    pub edges: Edges,
    /// The window geometry when the edges were grabbed.
    pub start: Rectangle<i32, Logical>,
    /// Rectangle that the pointer asks for now.
    pub wanted: Rectangle<i32, Logical>,
    /// The size that the content on screen was configured with.
    pub answered: Size<i32, Logical>,
    /// The user has released the edges; only the client's answer is missing.
    pub released: bool,
}

#[derive(Debug)]
pub struct Window {
    pub id: WindowId,
    pub(super) toplevel: ToplevelSurface,
    /// A configure was sent since it was last unmapped.
    pub(super) configured: bool,
    /// The client has acknowledged a configure since then.
    pub(super) acknowledged: bool,
    pub(super) mapped: bool,
    /// It has been placed, when it was first mapped.
    pub(super) placed: bool,
    /// Arrangement of the last configure, or of the next one.
    pub(super) wanted: WindowArrangement,
    /// The arrangement that the content on screen was drawn for.
    pub(super) applied: WindowArrangement,
    pub(super) sent: VecDeque<SentConfigure>,
    /// The configure that was acknowledged last, and the last one that was acknowledged before a commit.
    last_acknowledged: Option<Serial>,
    last_committed: Option<Serial>,
    /// Top left corner of the window geometry while floating (global logical coordinates).
    pub(super) floating: Point<i32, Logical>,
    /// Its place before a change of outputs moved it elsewhere.
    pub(super) displaced: Option<Displacement>,
    /// Size after leaving maximised or fullscreen; `None` lets the client choose.
    pub(super) floating_size: Option<Size<i32, Logical>>,
    /// It is snapped to a half or a quarter of its screen.
    pub(super) snapped: Option<Snapped>,
    /// The arrangement to restore after fullscreen.
    pub(super) before_fullscreen: WindowArrangement,
    pub(super) stretch: Option<ResizeStretch>,
    /// The window geometry of the applied content, in surface coordinates.
    pub(super) geometry: Rectangle<i32, Logical>,
    /// Bounding box of its surfaces, in root surface coordinates. It may be too large until the next commit, but never
    /// too small.
    pub(super) extent: Rectangle<i32, Logical>,
    /// The states `activated` and `suspended` as last sent.
    pub(super) sent_state: Option<(bool, bool)>,
    /// [`Shell::changes`](super::Shell::changes) when its surfaces were last sent `enter` and `leave`.
    pub(super) outputs_sent_at: Option<ShellRevision>,
    /// Its decoration is server-side.
    pub(super) has_server_decoration: bool,
    /// It is tiled in a column of a strip.
    pub(super) in_strip: bool,
    /// It is hidden behind another tab of its column.
    pub(super) is_hidden_tab: bool,
    /// It is in a part of its strip that is scrolled out of view.
    pub(super) is_scrolled_out: bool,
    /// Its minimum size, as last sent to the layout.
    pub(super) layout_limits: MinimumSize,
    /// Number of its last focus change; the most recent has the greatest number.
    pub(super) focus_number: u64,
    /// The window that it is a dialog of.
    pub(super) parent: Option<WindowId>,
    /// Identifies it among the windows of its client.
    pub(super) tag: Option<String>,
    /// Advances when its title or application id changes.
    pub(super) names: Revision,
    /// Its title or application id has changed since its rules were evaluated.
    pub(super) is_renamed: bool,
    /// Time at which an activation token was used for it while it had no content.
    pub(super) activated: Option<Instant>,
    /// It is black in screenshots and screen recordings.
    pub(super) hidden_from_capture: bool,
    /// The titles of its column, or its title bar.
    pub(super) titles: Option<RenderedTitles>,
    /// Appearance that rules set.
    pub(super) appearance: WindowAppearance,
    /// Size limits from rules.
    pub(super) ruled_limits: SizeLimits,
    /// Decoration mode from a rule.
    pub(super) ruled_decoration: Option<DecoratedBy>,
    /// Decoration mode that its client prefers.
    pub(super) preferred_decoration: DecoratedBy,
    /// Whether it floats, if a rule decides that.
    pub(super) ruled_floating: Option<bool>,
    pub(super) motion: WindowMotion,
    /// Damage tracking ids of its shadow, blur, border and titles.
    pub(super) effect_names: EffectIds,
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
            wanted: WindowArrangement::Floating,
            applied: WindowArrangement::Floating,
            sent: VecDeque::new(),
            last_acknowledged: None,
            last_committed: None,
            floating: Point::default(),
            displaced: None,
            floating_size: None,
            snapped: None,
            before_fullscreen: WindowArrangement::Floating,
            stretch: None,
            geometry: Rectangle::default(),
            extent: Rectangle::default(),
            sent_state: None,
            outputs_sent_at: None,
            has_server_decoration: false,
            in_strip: false,
            is_hidden_tab: false,
            is_scrolled_out: false,
            layout_limits: MinimumSize::default(),
            focus_number: 0,
            parent: None,
            tag: None,
            names: Revision::default(),
            is_renamed: false,
            activated: None,
            hidden_from_capture: false,
            titles: None,
            appearance: WindowAppearance::default(),
            ruled_limits: SizeLimits::default(),
            ruled_decoration: None,
            preferred_decoration: DecoratedBy::Client,
            ruled_floating: None,
            motion: WindowMotion::default(),
            effect_names: EffectIds::default(),
        }
    }

    pub fn surface(&self) -> &WlSurface {
        self.toplevel.wl_surface()
    }

    /// The window that it is a dialog of.
    pub const fn parent(&self) -> Option<WindowId> {
        self.parent
    }

    /// Whether it is black in screenshots and screen recordings.
    pub const fn is_hidden_from_capture(&self) -> bool {
        self.hidden_from_capture
    }

    pub fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// The arrangement that was last requested from the client.
    pub fn arrangement(&self) -> &WindowArrangement {
        &self.wanted
    }

    /// Whether the content on screen was drawn for fullscreen.
    pub fn is_fullscreen(&self) -> bool {
        matches!(self.applied, WindowArrangement::Fullscreen { .. })
    }

    pub fn app_id(&self) -> Option<String> {
        self.role_data(|data| data.app_id.clone())
    }

    pub fn title(&self) -> Option<String> {
        self.role_data(|data| data.title.clone())
    }

    /// Whether it is a modal dialog, which blocks its parent.
    pub(super) fn is_modal(&self) -> bool {
        self.role_data(|data| Some(data.modal)).unwrap_or(false)
    }

    /// Identifies it among the windows of its client.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Advances when its title or application id changes.
    pub const fn names(&self) -> Revision {
        self.names
    }

    /// The content type that its client has set.
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

    /// Process id of its client, from the socket.
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

    /// Size limits from rules, within the client's own limits.
    pub(super) fn size_limits(&self) -> SizeLimits {
        self.own_size_limits().narrowed(self.ruled_limits)
    }

    /// The client's own size limits, as last applied.
    pub fn own_size_limits(&self) -> SizeLimits {
        guard::with_states(self.surface(), |states| {
            let mut cached = states.cached_state.get::<SurfaceCachedState>();
            let current = cached.current();
            SizeLimits { min: current.min_size, max: current.max_size }
        })
    }

    /// Whether its client only accepts a single size.
    pub(super) fn has_one_size(&self) -> bool {
        let SizeLimits { min, max } = self.own_size_limits();
        min == max && min.w > 0 && min.h > 0
    }

    /// The window geometry of the applied content, in surface coordinates.
    pub fn geometry(&self) -> Rectangle<i32, Logical> {
        self.geometry
    }

    /// Whether it has titles or a title bar above it.
    pub const fn carries_titles(&self) -> bool {
        self.titles.is_some()
    }

    /// Whether the content must be stretched to fill [`rect`](Self::rect).
    pub fn is_stretched(&self) -> bool {
        self.rect().size != self.geometry.size
    }

    /// Position of the root surface's origin, without stretching (global logical coordinates).
    pub fn origin(&self) -> Point<i32, Logical> {
        self.rect().loc - self.geometry.loc
    }

    /// Rectangle that its surfaces can cover, without stretching and animations (global logical coordinates).
    pub fn reach(&self) -> Rectangle<i32, Logical> {
        let (origin, extent) = (self.origin(), self.extent);
        Rectangle::new(origin + extent.loc, extent.size).merge(self.rect())
    }

    /// Sends the pending state, if it differs from the last configure. Returns whether a configure was sent. Nothing is
    /// sent before the first commit, because that is answered with the first configure.
    pub(super) fn send_pending(&mut self) -> bool {
        let is_due = self.configured && self.sent.len() < MOST_UNASKED;
        if !is_due || !self.toplevel.alive() || !self.toplevel.has_pending_changes() {
            return false;
        }
        self.send();
        true
    }

    /// Whether its client answers and reads fast enough for requests of a taskbar. Otherwise they would get the client
    /// ended.
    pub fn can_send_more(&self) -> bool {
        self.sent.len() < MOST_UNASKED && guard::may_send_urgent(self.surface())
    }

    /// Sends a configure, even if nothing has changed.
    pub(super) fn send(&mut self) {
        if !self.toplevel.alive() {
            return;
        }
        self.configured = true;
        let (size, resizing) = self
            .toplevel
            .with_pending_state(|pending| (pending.size, pending.states.contains(xdg_toplevel::State::Resizing)));
        if self.sent.len() >= MAX_UNANSWERED {
            return end_unresponsive_client(self.surface());
        }
        let serial = self.toplevel.send_configure();
        self.sent.push_back(SentConfigure { serial, arrangement: self.wanted.clone(), size, resizing });
    }

    /// The client acknowledged the configure `serial`; `has_committed` says whether it has committed since its previous
    /// acknowledgement. Configures between the two will never be acknowledged themselves.
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

    /// Sets the pending state to `arrangement` and its size. Sends nothing yet.
    pub(super) fn set_pending_arrangement(&mut self, arrangement: WindowArrangement) {
        let (size, maximized, fullscreen) = match &arrangement {
            WindowArrangement::Floating => (self.floating_size, false, None),
            WindowArrangement::Maximized { area } => (Some(area.size), true, None),
            WindowArrangement::Tiled { area, is_maximised } => (Some(area.size), *is_maximised, None),
            WindowArrangement::Fullscreen { area, output } => (Some(area.size), false, Some(output.clone())),
        };
        let part = self.snapped.filter(|_| arrangement == WindowArrangement::Floating).map(|snapped| snapped.part);
        let is_tiled = matches!(arrangement, WindowArrangement::Tiled { is_maximised: false, .. });
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

    /// Stores place and size of a floating window before it changes to another arrangement.
    pub(super) fn remember_floating(&mut self) {
        // Until the client has answered, it still has the rectangle of its former arrangement.
        let floats = self.wanted == WindowArrangement::Floating && self.applied == WindowArrangement::Floating;
        if floats && self.mapped {
            let rect = self.rect();
            self.floating = rect.loc;
            self.floating_size = Some(rect.size);
            self.stretch = None;
        }
    }

    /// Corner radius from a rule.
    pub const fn corner_radius(&self) -> Option<f64> {
        self.appearance.corner_radius
    }

    /// The effects that apply to the window.
    pub(super) fn decoration(&self) -> WindowDecoration {
        // Content outside the window geometry is the client's own shadow.
        let is_bare = self.extent == self.geometry;
        let is_free = self.applied == WindowArrangement::Floating;
        WindowDecoration {
            ids: self.effect_names.clone(),
            is_free: is_bare && is_free,
            border: BorderState::None,
            corner_radius: self.appearance.corner_radius,
            titles: self.titles.as_ref().map(|titles| titles.picture.clone()),
            has_bar: self.titles.as_ref().is_some_and(|titles| titles.content.closes),
        }
    }
}
