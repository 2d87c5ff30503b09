//! One layer surface: what its client wants, what it has agreed to, and where that puts it.

use std::collections::VecDeque;

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_surface_v1::ZwlrLayerSurfaceV1;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial, Size};
use smithay::wayland::shell::wlr_layer::{KeyboardInteractivity, LayerSurface};

use super::LayerLook;
use super::placing::{Level, Wish};
use crate::shell::ShellRevision;
use crate::surface::{Surfaces, tree};

/// How many configures a client may leave unanswered before it is sent no more: it gets the newest size with its next
/// answer. A stopped bar gathers one for each mode that its output goes through.
const MOST_UNANSWERED: usize = 16;

/// A surface that is pinned to an output.
#[derive(Debug)]
pub struct Pinned {
    layer: LayerSurface,
    output: Output,
    namespace: String,
    /// As rules say.
    pub(super) look: LayerLook,
    wish: Wish,
    keyboard: KeyboardInteractivity,
    /// It was configured since it was last unmapped.
    configured: bool,
    /// The client acknowledged a configure since then.
    pub(in crate::shell) acknowledged: bool,
    shown: bool,
    /// Its output is gone: the client was told, and has yet to destroy it.
    closed: bool,
    /// Where it is to be (global logical coordinates, as all that follows).
    wanted: Rectangle<i32, Logical>,
    /// What its client was asked to be, the newest last, and where that is to be.
    sent: VecDeque<(Serial, Rectangle<i32, Logical>)>,
    /// The size that it was asked to have last.
    asked: Option<Size<i32, Logical>>,
    /// What the content on screen was made for.
    place: Rectangle<i32, Logical>,
    /// The size of that content.
    size: Size<i32, Logical>,
    /// [`Shell::changes`](crate::shell::Shell::changes) when its surfaces were told of their output last.
    pub(in crate::shell) visited: Option<ShellRevision>,
}

impl Pinned {
    pub(super) fn new(layer: LayerSurface, output: Output, namespace: String, look: LayerLook) -> Self {
        Pinned {
            layer,
            output,
            namespace,
            look,
            wish: Wish::default(),
            keyboard: KeyboardInteractivity::None,
            configured: false,
            acknowledged: false,
            shown: false,
            closed: false,
            wanted: Rectangle::default(),
            sent: VecDeque::new(),
            asked: None,
            place: Rectangle::default(),
            size: Size::default(),
            visited: None,
        }
    }

    /// The root surface.
    pub fn surface(&self) -> &WlSurface {
        self.layer.wl_surface()
    }

    /// Its protocol object.
    pub(super) fn object(&self) -> &ZwlrLayerSurfaceV1 {
        self.layer.shell_surface()
    }

    /// The output that it is pinned to.
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// What its client calls its purpose.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The layer that it is in.
    pub const fn level(&self) -> Level {
        self.wish.level
    }

    /// How it looks because a rule says so.
    pub const fn look(&self) -> &LayerLook {
        &self.look
    }

    /// The interactivity that its client asks for, or none where a rule forbids it.
    pub const fn keyboard(&self) -> KeyboardInteractivity {
        if self.look.may_have_keyboard { self.keyboard } else { KeyboardInteractivity::None }
    }

    /// Whether it has content and is to be seen.
    pub const fn is_shown(&self) -> bool {
        self.shown && !self.closed
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) const fn is_configured(&self) -> bool {
        self.configured
    }

    /// Whether its objects are there.
    pub(super) fn is_alive(&self) -> bool {
        self.layer.alive()
    }

    /// Whether it counts where surfaces of `output` are placed.
    pub(super) fn is_on(&self, output: &Output) -> bool {
        !self.closed && self.output == *output
    }

    pub(super) const fn wished(&self) -> &Wish {
        &self.wish
    }

    /// Where its content is.
    pub fn rect(&self) -> Rectangle<i32, Logical> {
        self.wish.align(self.place, self.size)
    }

    /// What its surfaces may cover.
    pub fn reach(&self, surfaces: &Surfaces) -> Rectangle<i32, Logical> {
        let extent = surfaces.extent(self.surface());
        Rectangle::new(self.rect().loc + extent.loc, extent.size)
    }

    /// What says where it is seen, and what others have to make of it.
    pub(super) fn state(&self) -> (Wish, KeyboardInteractivity, bool, Rectangle<i32, Logical>, Size<i32, Logical>) {
        (self.wish, self.keyboard, self.is_shown(), self.place, self.size)
    }

    /// What the client wants from now on.
    pub(super) fn wish(&mut self, wish: Wish, keyboard: KeyboardInteractivity) {
        (self.wish, self.keyboard) = (wish, keyboard);
    }

    /// New content was applied; `acknowledged` is the configure that it was made for, if it is a new one.
    pub(super) fn take_answer(&mut self, acknowledged: Option<Serial>) {
        let Some(serial) = acknowledged else { return };
        while let Some((_, place)) = self.sent.front().filter(|(sent, _)| *sent <= serial).copied() {
            self.place = place;
            self.sent.pop_front();
        }
    }

    /// Whether it has content now. Returns whether it had.
    pub(super) fn set_shown(&mut self, has_content: bool) -> bool {
        let was_shown = std::mem::replace(&mut self.shown, has_content);
        self.size = tree::size(self.surface());
        if was_shown && !has_content {
            // The client starts again with a commit without content, and with a configure.
            self.configured = false;
            self.acknowledged = false;
            self.sent.clear();
            self.asked = None;
        }
        was_shown
    }

    /// It belongs at `place` from now on. Returns whether it is seen elsewhere at once: where it keeps its size.
    pub(super) fn put(&mut self, place: Rectangle<i32, Logical>) -> bool {
        self.wanted = place;
        if !self.configured {
            return false;
        }
        if self.asked != Some(place.size) {
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

    /// Its content, as large as it is, lies at `corner`, whatever was asked for.
    pub(in crate::shell) fn stand_at(&mut self, corner: Point<i32, Logical>) {
        self.place = Rectangle::new(corner, self.size);
        self.sent.iter_mut().for_each(|(_, place)| *place = self.place);
    }

    /// The client has said what it wants: it is told its size.
    pub(super) fn begin(&mut self) {
        self.configured = true;
        self.asked = None;
    }

    /// Asks for the size that it is to have, unless that was asked for, or too much is unanswered.
    pub(super) fn send_wanted(&mut self) {
        let size = self.wanted.size;
        if !self.configured || self.closed || self.asked == Some(size) || self.sent.len() >= MOST_UNANSWERED {
            return;
        }
        if self.layer.alive() {
            self.layer.with_pending_state(|pending| pending.size = Some(size));
            self.sent.push_back((self.layer.send_configure(), self.wanted));
            self.asked = Some(size);
        }
    }

    /// Its output is gone.
    pub(super) fn close(&mut self) -> WlSurface {
        self.closed = true;
        self.sent.clear();
        if self.layer.alive() {
            self.layer.send_close();
        }
        self.surface().clone()
    }
}
