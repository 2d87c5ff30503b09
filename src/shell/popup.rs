//! Popups (`xdg_popup`): menus and tooltips of windows and layer surfaces, placed next to their parents and kept on the
//! screen.
//!
//! A popup with a *grab* takes the keyboard, and a press outside its client dismisses it and all other popups with a
//! grab. Popups must be destroyed from the topmost down. A client that destroys them in another order gets a protocol
//! error.

use std::collections::VecDeque;

use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_popup::XdgPopup;
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_wm_base;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial};
use smithay::wayland::shell::xdg::{PopupSurface, PositionerState};

use super::window::{MAX_UNANSWERED, end_unresponsive_client};
use super::{Shell, ShellOutputs, ShellSeat, WindowId, configure, surface_outputs, window_geometry, xdg_errors};
use crate::bounds::MAX_NESTING;
use crate::shell::geometry;
use crate::state::State;
use crate::surface;

/// A popup of a window, of a layer surface or of another popup.
#[derive(Debug)]
pub struct ShellPopup {
    popup: PopupSurface,
    parent: Option<WlSurface>,
    /// A configure was sent since the popup was last unmapped.
    configured: bool,
    /// The client has acknowledged a configure since then.
    pub(super) acknowledged: bool,
    mapped: bool,
    /// `popup_done` was sent and the popup is hidden, but the client has not destroyed it yet.
    dismissed: bool,
    sent: VecDeque<(Serial, Rectangle<i32, Logical>)>,
    /// Relative to the parent's window geometry, as last applied.
    placed: Rectangle<i32, Logical>,
    /// Its own window geometry, in surface coordinates.
    geometry: Rectangle<i32, Logical>,
}

impl ShellPopup {
    /// Whether its protocol object exists.
    pub(super) fn is_alive(&self) -> bool {
        self.popup.alive()
    }

    pub fn surface(&self) -> &WlSurface {
        self.popup.wl_surface()
    }

    pub fn parent(&self) -> Option<&WlSurface> {
        self.parent.as_ref()
    }

    pub(super) fn set_parent(&mut self, parent: &WlSurface) {
        self.parent = Some(parent.clone());
    }

    /// Whether it is drawn.
    pub fn is_visible(&self) -> bool {
        self.mapped && !self.dismissed
    }

    /// Rectangle of its window geometry if the origin of its surface is at `origin`.
    pub(super) fn rect_at(&self, origin: Point<i32, Logical>) -> Rectangle<i32, Logical> {
        Rectangle::new(origin + self.geometry.loc, self.geometry.size)
    }

    fn send_configure(&mut self, token: Option<u32>) {
        if !self.popup.alive() {
            return;
        }
        if self.sent.len() >= MAX_UNANSWERED {
            return end_unresponsive_client(self.surface());
        }
        let geometry = self.popup.with_pending_state(|pending| pending.geometry);
        let serial = match token {
            Some(token) => Some(self.popup.send_repositioned(token)),
            None => self.popup.send_configure().ok(),
        };
        if let Some(serial) = serial {
            self.configured = true;
            self.sent.push_back((serial, geometry));
        }
    }
}

impl Shell {
    pub(crate) fn popup(&self, surface: &WlSurface) -> Option<&ShellPopup> {
        self.popups.of_root(surface)
    }

    pub(crate) fn popup_mut(&mut self, surface: &WlSurface) -> Option<&mut ShellPopup> {
        self.popups.of_root_mut(surface)
    }

    /// The visible popups of the window with root `root`, bottom to top, each with the global location of its
    /// surface's origin.
    pub fn popups_of<'a>(
        &'a self,
        root: &'a WlSurface,
    ) -> impl DoubleEndedIterator<Item = (&'a ShellPopup, Point<i32, Logical>)> {
        let mine = self.popups.below(root).filter(|popup| popup.is_visible()).filter_map(move |popup| {
            let (owner, corner) = self.popup_corner(popup)?;
            (owner == *root).then(|| (popup, corner - popup.geometry.loc))
        });
        mine.collect::<Vec<_>>().into_iter()
    }

    /// The window root that a popup belongs to, and the global location of the popup's window geometry. `None` if one
    /// of its parents is gone or hidden.
    fn popup_corner(&self, popup: &ShellPopup) -> Option<(WlSurface, Point<i32, Logical>)> {
        let mut offset = popup.placed.loc;
        let mut parent = surface::root(popup.parent()?);
        for _ in 0..MAX_NESTING {
            match self.popup(&parent) {
                Some(popup) if popup.is_visible() => {
                    offset += popup.placed.loc;
                    parent = surface::root(popup.parent()?);
                }
                Some(_) => return None,
                None => break,
            }
        }
        let corner = self.corner_of_root(&parent)? + offset;
        Some((parent, corner))
    }

    /// The global location of the surface origin of the window, popup or layer surface with root `root`. `None` if it
    /// is hidden.
    pub(super) fn origin_of_root(&self, root: &WlSurface) -> Option<Point<i32, Logical>> {
        if let Some(popup) = self.popup(root) {
            let (owner, corner) = self.popup_corner(popup).filter(|_| popup.is_visible())?;
            let is_seen = self.window_of_root(&owner).is_none_or(|window| self.is_visible(window.id));
            return is_seen.then(|| corner - popup.geometry.loc);
        }
        match self.window_of_root(root) {
            Some(window) => self.is_visible(window.id).then(|| window.origin()),
            None => self.corner_of_root(root),
        }
    }

    /// The global location of the window geometry of the window with root `root`, or of the layer surface. `None` if it
    /// is not mapped.
    fn corner_of_root(&self, root: &WlSurface) -> Option<Point<i32, Logical>> {
        match self.window_of_root(root) {
            Some(window) => Some(window).filter(|window| window.mapped).map(|window| window.rect().loc),
            None => self.layers.of_root(root).filter(|pinned| pinned.is_shown()).map(|pinned| pinned.rect().loc),
        }
    }

    /// Whether `surface` is `ancestor`, or a descendant of it by popups and subsurfaces.
    fn is_at_or_below(&self, surface: &WlSurface, ancestor: &WlSurface) -> bool {
        let ancestor = surface::root(ancestor);
        self.ancestors_of_popup(surface).any(|root| root == ancestor)
    }

    fn depth(&self, surface: &WlSurface) -> usize {
        self.ancestors_of_popup(surface).count()
    }

    /// Roots of `surface`, of its popup's parent, and so on: at most one more than the nesting limit.
    fn ancestors_of_popup(&self, surface: &WlSurface) -> impl Iterator<Item = WlSurface> {
        let above = |root: &WlSurface| self.popup(root)?.parent.as_ref().map(surface::root);
        std::iter::successors(Some(surface::root(surface)), above).take(MAX_NESTING + 1)
    }

    /// The topmost visible popup with a grab, which has the keyboard.
    pub fn grabbing_popup(&self) -> Option<&WlSurface> {
        let shown = |surface: &&WlSurface| self.popup(surface).is_some_and(ShellPopup::is_visible);
        self.popup_grabs.iter().rev().find(shown)
    }

    /// The root of the window or layer surface whose popups have a grab.
    pub(super) fn popup_grab_root(&self) -> Option<WlSurface> {
        self.outermost(self.popup_grabs.first()?)
    }

    /// Whether any popup has a grab, visible yet or not.
    pub fn has_popup_grab(&self) -> bool {
        !self.popup_grabs.is_empty()
    }
}

/// Handles a new popup. It is placed with its first commit.
pub fn new_popup(state: &mut State, popup: PopupSurface) {
    let parent = popup.get_parent_surface();
    let shell = &mut state.shell;
    if parent.as_ref().is_some_and(|parent| shell.is_at_or_below(parent, popup.wl_surface())) {
        let message = "a popup cannot be its own parent, nor the parent of its parent";
        xdg_errors::post_base_error(popup.wl_surface(), xdg_wm_base::Error::InvalidPopupParent, message);
        return;
    }
    if parent.as_ref().is_some_and(|parent| shell.depth(parent) >= MAX_NESTING) {
        let message = "popups are nested too deeply";
        xdg_errors::post_base_error(popup.wl_surface(), xdg_wm_base::Error::InvalidPopupParent, message);
        return;
    }
    shell.popups.push(ShellPopup {
        popup,
        parent,
        configured: false,
        acknowledged: false,
        mapped: false,
        dismissed: false,
        sent: VecDeque::new(),
        placed: Rectangle::default(),
        geometry: Rectangle::default(),
    });
}

/// Whether a popup was created without a parent and may still get one, before its first commit.
pub fn is_orphan(state: &State, popup: &XdgPopup) -> bool {
    let known = state.shell.popups.iter().find(|known| known.popup.xdg_popup() == popup);
    known.is_some_and(|popup| popup.parent.is_none() && !popup.configured)
}

/// Gives a popup without a parent the layer surface `parent`.
pub fn adopt(state: &mut State, popup: &WlSurface, parent: &WlSurface) {
    state.shell.popups.set_parent(popup, parent);
}

/// Called after an update was applied to the popup with root `root`.
pub(super) fn applied(state: &mut State, root: &WlSurface, is_root: bool) {
    let acknowledged = if is_root { configure::take_applied(root) } else { None };
    let has_content = surface::has_content(root);
    let Some(popup) = state.shell.popup(root) else { return };
    if is_root && !popup.configured {
        let positioner = popup.popup.with_pending_state(|pending| pending.positioner);
        let geometry = unconstrained(state, root, positioner);
        if let Some(corner) = parent_corner(state, root) {
            surface_outputs::send_scale_before_map(state, root, Rectangle::new(corner + geometry.loc, geometry.size));
        }
        if let Some(popup) = state.shell.popup_mut(root) {
            popup.popup.with_pending_state(|pending| pending.geometry = geometry);
            popup.send_configure(None);
            if has_content {
                // Only conformance suites draw before they know the place, and they expect the popup at the place they
                // were sent.
                popup.placed = geometry;
            }
        }
    }
    let Some(popup) = state.shell.popup_mut(root) else { return };
    let before = popup.placed;
    if let Some(serial) = acknowledged {
        while let Some((_, placed)) = popup.sent.front().filter(|(sent, _)| *sent <= serial).copied() {
            popup.placed = placed;
            popup.sent.pop_front();
        }
    }
    if has_content && state.shell.popup(root).is_some_and(|popup| !popup.mapped) {
        state.surfaces.measure(root);
    }
    let geometry = window_geometry(root, state.surfaces.extent(root));
    let Some(popup) = state.shell.popup_mut(root) else { return };
    let is_changed = std::mem::replace(&mut popup.geometry, geometry) != geometry || popup.placed != before;
    let was_mapped = std::mem::replace(&mut popup.mapped, has_content);
    if was_mapped && !has_content {
        popup.configured = false;
        popup.acknowledged = false;
        popup.sent.clear();
        popup.popup.reset_initial_configure_sent();
    }
    if is_changed {
        state.shell.note_change();
    }
    match (was_mapped, has_content) {
        (false, true) => state.update_keyboard(),
        (true, false) => {
            surface_outputs::send_leave_all_outputs(state, root);
            state.focus_lost(root);
        }
        _ => return surface_outputs::update_popup(state, root),
    }
    state.schedule_repaint_all();
    surface_outputs::update_popup(state, root);
}

/// The global location of the window geometry of a popup's parent. `None` if the parent is hidden.
fn parent_corner(state: &State, root: &WlSurface) -> Option<Point<i32, Logical>> {
    let shell = &state.shell;
    let parent = surface::root(shell.popup(root)?.parent.as_ref()?);
    match shell.popup(&parent) {
        Some(popup) => Some(shell.popup_corner(popup)?.1),
        None => match shell.window_of_root(&parent) {
            Some(window) => Some(window.rect().loc),
            None => shell.corner_of_root(&parent),
        },
    }
}

/// The geometry by `positioner`, adjusted to stay on the window's usable area, or on the layer surface's output.
fn unconstrained(state: &State, root: &WlSurface, positioner: PositionerState) -> Rectangle<i32, Logical> {
    let Some(corner) = parent_corner(state, root) else { return positioner.get_geometry() };
    let anchor = corner.to_f64() + positioner.get_anchor_point().to_f64();
    let area = match state.shell.pinned_of(root) {
        Some(pinned) => Some(geometry(pinned.output())),
        None => state.usable_area(Some(anchor)).map(|(_, area)| area),
    };
    match area {
        Some(area) => positioner.get_unconstrained_geometry(Rectangle::new(area.loc - corner, area.size)),
        None => positioner.get_geometry(),
    }
}

/// Handles `xdg_popup.reposition`: the client moves its popup.
pub fn reposition(state: &mut State, popup: &PopupSurface, positioner: PositionerState, token: u32) {
    let geometry = unconstrained(state, popup.wl_surface(), positioner);
    let Some(popup) = state.shell.popup_mut(popup.wl_surface()) else { return };
    popup.popup.with_pending_state(|pending| {
        pending.positioner = positioner;
        pending.geometry = geometry;
    });
    if popup.configured {
        popup.send_configure(Some(token));
    }
}

/// Handles `xdg_popup.grab`. A grab is only granted as an answer to a press; otherwise the popup is dismissed at once,
/// as the protocol says. It is also dismissed if the request crossed an event on the wire: its parent was dismissed, or
/// popups of another client have the grab.
pub fn grab(state: &mut State, popup: &PopupSurface, serial: Serial) {
    let surface = popup.wl_surface().clone();
    let Some(entry) = state.shell.popup(&surface) else { return };
    if entry.mapped {
        popup.xdg_popup().post_error_grab();
        return;
    }
    let parent = entry.parent.as_ref().and_then(|parent| state.shell.popup(parent));
    let topmost = state.shell.popup_grabs.iter().rev().find(|grab| grab.is_alive());
    let is_late = parent.is_some_and(|parent| parent.dismissed)
        || topmost.is_some_and(|topmost| !topmost.id().same_client_as(&surface.id()));
    if is_late {
        dismiss(state, &surface);
        return;
    }
    let parent_is_topmost = match state.shell.popup_grabs.last() {
        Some(topmost) => entry.parent.as_ref() == Some(topmost),
        None => entry.parent.as_ref().is_some_and(|parent| state.shell.popup(parent).is_none()),
    };
    if !parent_is_topmost {
        let message = "the parent of a popup with a grab is not the topmost popup with a grab";
        xdg_errors::post_base_error(&surface, xdg_wm_base::Error::NotTheTopmostPopup, message);
        return;
    }
    if !state.is_recent_action(serial) {
        dismiss(state, &surface);
        return;
    }
    state.shell.popup_grabs.push(surface);
}

trait GrabError {
    fn post_error_grab(&self);
}

impl GrabError for XdgPopup {
    fn post_error_grab(&self) {
        use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_popup::Error;
        self.post_error(Error::InvalidGrab, "a popup asked for a grab after it was mapped");
    }
}

/// Sends `popup_done` to a popup and hides it.
fn dismiss(state: &mut State, surface: &WlSurface) {
    state.shell.note_change();
    if let Some(popup) = state.shell.popup_mut(surface)
        && !std::mem::replace(&mut popup.dismissed, true)
        && popup.popup.alive()
    {
        popup.popup.send_popup_done();
    }
}

/// Dismisses all popups with a grab, the topmost first.
pub fn dismiss_grabs(state: &mut State) {
    while let Some(surface) = state.shell.popup_grabs.pop() {
        dismiss(state, &surface);
    }
    state.update_keyboard();
    state.schedule_repaint_all();
}

/// Dismisses all popups of a window that is unmapped.
pub(super) fn dismiss_of_window(state: &mut State, id: WindowId) {
    if let Some(root) = state.shell.window(id).map(|window| window.surface().clone()) {
        dismiss_of(state, &root);
    }
}

/// Dismisses all popups that descend from `root`.
pub(super) fn dismiss_of(state: &mut State, root: &WlSurface) {
    let mine: Vec<WlSurface> = state.shell.popups.below(root).map(|popup| popup.surface().clone()).collect();
    for surface in mine.iter().rev() {
        dismiss(state, surface);
        state.shell.popup_grabs.retain(|grab| grab != surface);
    }
}

/// Posts an error if a popup that is to be destroyed is still the parent of another popup.
pub fn check_destroy_order(state: &State, popup: &XdgPopup) {
    let Some(going) = state.shell.popups.iter().find(|entry| entry.popup.xdg_popup() == popup) else { return };
    if state.shell.popups.has_children(going.surface()) {
        let message = "a popup was destroyed that is not the topmost popup";
        xdg_errors::post_base_error(going.surface(), xdg_wm_base::Error::NotTheTopmostPopup, message);
    }
}

/// Called when a popup's protocol object or surface is destroyed.
pub fn destroyed(state: &mut State, surface: &WlSurface) {
    state.shell.popups.remove(surface);
    state.shell.popup_grabs.retain(|grab| grab != surface);
    state.focus_lost(surface);
    state.schedule_repaint_all();
}
