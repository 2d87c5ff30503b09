//! One layer surface: the state its client asks for, its configures, and its place.

use std::collections::VecDeque;

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_surface_v1::ZwlrLayerSurfaceV1;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial, Size};
use smithay::wayland::shell::wlr_layer::{KeyboardInteractivity, LayerSurface};

use super::LayerAppearance;
use super::layer_arrange::{LayerDepth, LayerPlacement};
use crate::shell::ShellRevision;
use crate::surface::{SurfaceRegistry, tree};

/// Unanswered configures after which no further configure is sent: the client gets the newest size with its next
/// answer. A stopped bar would otherwise collect a configure for each mode change of its output.
const MOST_UNANSWERED: usize = 16;

/// A layer surface on an output.
#[derive(Debug)]
pub struct ShellLayerSurface {
    layer: LayerSurface,
    output: Output,
    namespace: String,
    /// Appearance that rules set.
    pub(super) look: LayerAppearance,
    placement: LayerPlacement,
    keyboard: KeyboardInteractivity,
    /// A configure was sent since the surface was last unmapped.
    configured: bool,
    /// The client has acknowledged a configure since then.
    pub(in crate::shell) acknowledged: bool,
    shown: bool,
    /// Its output is unplugged: `closed` was sent, but the client has not destroyed the surface yet.
    closed: bool,
    /// Newest place from the layout (global logical coordinates, as in all fields below).
    wanted: Rectangle<i32, Logical>,
    /// Unanswered configures with their places, newest last.
    sent: VecDeque<(Serial, Rectangle<i32, Logical>)>,
    /// Size in the last configure.
    sent_size: Option<Size<i32, Logical>>,
    /// The place that the current content was drawn for.
    place: Rectangle<i32, Logical>,
    /// Size of the current content.
    size: Size<i32, Logical>,
    /// [`Shell::changes`](crate::shell::Shell::changes) when its surfaces were last sent `enter` and `leave`.
    pub(in crate::shell) outputs_sent_at: Option<ShellRevision>,
}

impl ShellLayerSurface {
    pub(super) fn new(layer: LayerSurface, output: Output, namespace: String, look: LayerAppearance) -> Self {
        ShellLayerSurface {
            layer,
            output,
            namespace,
            look,
            placement: LayerPlacement::default(),
            keyboard: KeyboardInteractivity::None,
            configured: false,
            acknowledged: false,
            shown: false,
            closed: false,
            wanted: Rectangle::default(),
            sent: VecDeque::new(),
            sent_size: None,
            place: Rectangle::default(),
            size: Size::default(),
            outputs_sent_at: None,
        }
    }

    pub fn surface(&self) -> &WlSurface {
        self.layer.wl_surface()
    }

    pub(super) fn object(&self) -> &ZwlrLayerSurfaceV1 {
        self.layer.shell_surface()
    }

    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// The purpose of the surface, named by its client.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    pub const fn level(&self) -> LayerDepth {
        self.placement.level
    }

    /// Appearance that rules set.
    pub const fn look(&self) -> &LayerAppearance {
        &self.look
    }

    /// The client's keyboard interactivity, or none if a rule forbids it.
    pub const fn keyboard(&self) -> KeyboardInteractivity {
        if self.look.may_have_keyboard { self.keyboard } else { KeyboardInteractivity::None }
    }

    /// Whether it is mapped and its output still exists.
    pub const fn is_shown(&self) -> bool {
        self.shown && !self.closed
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) const fn is_configured(&self) -> bool {
        self.configured
    }

    /// Whether its protocol objects exist.
    pub(super) fn is_alive(&self) -> bool {
        self.layer.alive()
    }

    /// Whether it takes part in the layout of `output`.
    pub(super) fn is_on(&self, output: &Output) -> bool {
        !self.closed && self.output == *output
    }

    pub(super) const fn placement(&self) -> &LayerPlacement {
        &self.placement
    }

    /// Rectangle of the current content.
    pub fn rect(&self) -> Rectangle<i32, Logical> {
        self.placement.align(self.place, self.size)
    }

    /// Rectangle that its surfaces can cover.
    pub fn reach(&self, surfaces: &SurfaceRegistry) -> Rectangle<i32, Logical> {
        let extent = surfaces.extent(self.surface());
        Rectangle::new(self.rect().loc + extent.loc, extent.size)
    }

    /// Everything that affects its own picture or the places of other surfaces, to detect changes.
    pub(super) fn state(
        &self,
    ) -> (LayerPlacement, KeyboardInteractivity, bool, Rectangle<i32, Logical>, Size<i32, Logical>) {
        (self.placement, self.keyboard, self.is_shown(), self.place, self.size)
    }

    /// Sets the state that the client asks for.
    pub(super) fn set_placement(&mut self, wish: LayerPlacement, keyboard: KeyboardInteractivity) {
        (self.placement, self.keyboard) = (wish, keyboard);
    }

    /// New content was applied, drawn for the configure `acknowledged`, if that is a new configure.
    pub(super) fn apply_acknowledged(&mut self, acknowledged: Option<Serial>) {
        let Some(serial) = acknowledged else { return };
        while let Some((_, place)) = self.sent.front().filter(|(sent, _)| *sent <= serial).copied() {
            self.place = place;
            self.sent.pop_front();
        }
    }

    /// Updates whether it has content. Returns whether it had content before.
    pub(super) fn set_shown(&mut self, has_content: bool) -> bool {
        let was_shown = std::mem::replace(&mut self.shown, has_content);
        self.size = tree::size(self.surface());
        if was_shown && !has_content {
            // To map it again the client needs an initial commit without a buffer, and a configure.
            self.configured = false;
            self.acknowledged = false;
            self.sent.clear();
            self.sent_size = None;
        }
        was_shown
    }

    /// Sets its place in the layout. Returns whether it moves at once, which it does if the size stays the same.
    pub(super) fn set_place(&mut self, place: Rectangle<i32, Logical>) -> bool {
        self.wanted = place;
        if !self.configured {
            return false;
        }
        if self.sent_size != Some(place.size) {
            self.send_wanted();
            return false;
        }
        match self.sent.back_mut() {
            Some((_, sent)) => {
                sent.loc = place.loc;
                false
            }
            None => std::mem::replace(&mut self.place, place) != place,
        }
    }

    /// Places the current content at `corner` with its current size, whatever size was asked for.
    pub(in crate::shell) fn move_to(&mut self, corner: Point<i32, Logical>) {
        self.place = Rectangle::new(corner, self.size);
        self.sent.iter_mut().for_each(|(_, place)| *place = self.place);
    }

    /// Called at the initial commit: allows the first configure.
    pub(super) fn start_configure(&mut self) {
        self.configured = true;
        self.sent_size = None;
    }

    /// Sends the newest size, unless it was sent already or too many configures are unanswered.
    pub(super) fn send_wanted(&mut self) {
        let size = self.wanted.size;
        if !self.configured || self.closed || self.sent_size == Some(size) || self.sent.len() >= MOST_UNANSWERED {
            return;
        }
        if self.layer.alive() {
            self.layer.with_pending_state(|pending| pending.size = Some(size));
            self.sent.push_back((self.layer.send_configure(), self.wanted));
            self.sent_size = Some(size);
        }
    }

    /// Sends `closed`, because its output is unplugged.
    pub(super) fn close(&mut self) -> WlSurface {
        self.closed = true;
        self.sent.clear();
        if self.layer.alive() {
            self.layer.send_close();
        }
        self.surface().clone()
    }
}
