//! Popups of the input method at the text caret (candidates), and on-screen keyboards.
//!
//! While a text field is active, the popups lie above the windows and layers of the caret's output. They are placed at
//! each latch ([`placing`]), so that they move with the caret's window. They are hidden by a lock. An on-screen
//! keyboard is a layer surface above windows that belongs to the input method's client. It is the only surface that
//! lies above a lock and takes input there, provided that it lies in the lower half of its output, since the upper half
//! belongs to the locker.

pub mod placing;

use smithay::output::Output;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Size};
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_popup_surface_v2::ZwpInputPopupSurfaceV2;

use super::layers::ShellLayerSurface;
use super::layers::layer_arrange::LayerDepth;
use super::{Shell, ShellOutputs, ShellRevision, ShellSeat, geometry, hit, layers, surface_outputs};
use crate::deferred_calls;
use crate::state::State;
use crate::surface::{self, tree};

/// The text caret of the active field.
#[derive(Clone, Debug, PartialEq)]
pub struct Caret {
    /// The surface that contains the field.
    pub surface: WlSurface,
    /// Cursor rectangle (surface coordinates), if the client has set it.
    pub rect: Option<Rectangle<i32, Logical>>,
}

#[derive(Debug)]
struct InputPopup {
    object: ZwpInputPopupSurfaceV2,
    surface: WlSurface,
    size: Size<i32, Logical>,
    mapped: bool,
    /// Caret in coordinates of the popup, as last sent to the client.
    sent_caret: Option<Rectangle<i32, Logical>>,
    /// Output that its surfaces have entered.
    entered_output: Option<Output>,
}

impl InputPopup {
    fn is_shown(&self) -> bool {
        self.mapped && self.surface.is_alive() && self.object.is_alive()
    }
}

/// All popups of the input method, and the state that places them.
#[derive(Debug, Default)]
pub struct InputPopups {
    /// All popups, newest last.
    list: Vec<InputPopup>,
    /// `None` if no text field is active.
    caret: Option<Caret>,
    /// The output of the caret.
    output: Option<Output>,
    /// An object of the client that is the input method.
    input_method: Option<ObjectId>,
    keyboards: Vec<ObjectId>,
    /// [`Shell::changes`] at the last update.
    updated_at: Option<ShellRevision>,
}

impl InputPopups {
    /// Whether `surface` is the root of a popup.
    pub fn has(&self, surface: &WlSurface) -> bool {
        self.list.iter().any(|popup| popup.surface == *surface)
    }

    /// Whether `surface` belongs to the client that is the input method.
    pub fn belongs_to_input_method(&self, surface: &WlSurface) -> bool {
        self.input_method.as_ref().is_some_and(|object| object.same_client_as(&surface.id()))
    }
}

impl Shell {
    /// Caret in global logical coordinates.
    fn caret_on_screen(&self) -> Option<Rectangle<i32, Logical>> {
        let Caret { surface, rect } = self.input_popups.caret.as_ref()?;
        let root = surface::root(surface);
        let offset = tree::find_downward(&root, &mut |known, _, place| (known == surface).then_some(place.origin))?;
        let origin = self.origin_of_root(&root)? + offset.to_i32_round();
        let size = tree::size(surface);
        // Without a cursor rectangle the whole surface counts as the field, and popups go below it.
        let rect = rect.unwrap_or_else(|| Rectangle::new(Point::from((0, size.h)), Size::default()));
        Some(Rectangle::new(origin + rect.loc, rect.size))
    }

    /// The popups on `output`, topmost first: surface and its origin (global logical coordinates).
    pub fn input_popups_on(&self, output: &Output) -> Vec<(&WlSurface, Point<i32, Logical>)> {
        let InputPopups { list, output: on, .. } = &self.input_popups;
        if list.is_empty() || on.as_ref() != Some(output) || self.overlays.take_input() {
            return Vec::new();
        }
        let (Some(caret), area) = (self.caret_on_screen(), geometry(output)) else { return Vec::new() };
        let shown = list.iter().rev().filter(|popup| popup.is_shown());
        shown.map(|popup| (&popup.surface, placing::place(caret, popup.size, area))).collect()
    }

    /// The popup that takes input at `point` (global logical coordinates), and its origin.
    pub(super) fn hit_input_popups(&self, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
        let output = self.input_popups.output.as_ref()?;
        let mut popups = self.input_popups_on(output).into_iter();
        popups.find_map(|(popup, origin)| hit::hit_tree_at(popup, origin.to_f64(), point))
    }

    fn is_keyboard(&self, pinned: &ShellLayerSurface) -> bool {
        pinned.level().is_above_windows() && self.input_popups.belongs_to_input_method(pinned.surface())
    }

    /// Whether it is an on-screen keyboard in use. A keyboard of the input method is in use while a field is active. A
    /// client with a virtual keyboard does not know about fields, so its keyboard is always in use.
    pub(super) fn is_keyboard_in_use(&self, pinned: &ShellLayerSurface) -> bool {
        let InputPopups { caret, keyboards, .. } = &self.input_popups;
        let plays = || keyboards.iter().any(|keyboard| keyboard.same_client_as(&pinned.surface().id()));
        (caret.is_some() && self.is_keyboard(pinned)) || plays()
    }

    /// Whether it lies above a lock, with its subsurfaces and popups.
    fn lies_above_lock(&self, pinned: &ShellLayerSurface) -> bool {
        let area = geometry(pinned.output());
        let mut trees = self.popups_of_layer(pinned).chain([(pinned.surface(), pinned.rect().loc)]);
        self.is_keyboard(pinned)
            && trees.all(|(root, origin)| {
                let extent = tree::extent(root);
                placing::fits_above_lock(Rectangle::new(origin + extent.loc, extent.size), area)
            })
    }

    /// On-screen keyboards above a lock on `output`, topmost first.
    pub fn keyboards_above_lock<'a>(&'a self, output: &'a Output) -> impl Iterator<Item = &'a ShellLayerSurface> {
        let of = |level| self.layers.downward(output, level).filter(|pinned| self.lies_above_lock(pinned));
        of(LayerDepth::Overlay).chain(of(LayerDepth::Top))
    }

    pub(super) fn hit_keyboard_above_lock(
        &self,
        point: Point<f64, Logical>,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let output = self.layers.outputs().find(|output| geometry(output).to_f64().contains(point))?;
        self.keyboards_above_lock(output).find_map(|pinned| {
            let popups = self.popups_of_layer(pinned).map(|(popup, origin)| (popup, origin.to_f64()));
            let mut trees = popups.chain([(pinned.surface(), pinned.rect().loc.to_f64())]);
            trees.find_map(|(root, origin)| hit::hit_tree_at(root, origin, point))
        })
    }

    /// Whether the lock allows `surface` to have input.
    pub fn lock_allows_input(&self, surface: &WlSurface) -> bool {
        self.lock.allows_input(surface) || self.pinned_of(surface).is_some_and(|pinned| self.lies_above_lock(pinned))
    }
}

/// Sets the client that is the input method, by one of its objects.
pub fn set_input_method(state: &mut State, object: Option<ObjectId>) {
    state.shell.input_popups.input_method = object;
    if state.shell.lock.takes_input() {
        state.schedule_repaint_all();
        state.refresh_focus();
    }
}

/// Called when a virtual keyboard is created or destroyed.
pub fn note_virtual_keyboard(state: &mut State, keyboard: ObjectId, is_there: bool) {
    let keyboards = &mut state.shell.input_popups.keyboards;
    keyboards.retain(|known| *known != keyboard);
    keyboards.extend(Some(keyboard).filter(|_| is_there));
}

/// Called when the caret moves, or when a text field becomes active or inactive.
pub fn set_caret(state: &mut State, caret: Option<Caret>) {
    let popups = &mut state.shell.input_popups;
    if popups.caret == caret {
        return;
    }
    let begins_or_ends = popups.caret.is_some() != caret.is_some();
    popups.caret = caret;
    if begins_or_ends && state.shell.layers.shown().any(|pinned| state.shell.is_keyboard(pinned)) {
        // Later, because the input method is informed at the end of a turn.
        deferred_calls::queue(state, layers::above_fullscreen::update_above_fullscreen);
    }
    let popups = &state.shell.input_popups;
    // Without popups nothing is drawn at the caret, so typing on an on-screen keyboard needs no frame.
    if !popups.list.is_empty() {
        changed(state);
    }
}

/// The input method made a popup of `surface`, which is shown once it has content.
pub fn new_popup(state: &mut State, object: ZwpInputPopupSurfaceV2, surface: &WlSurface) {
    let popup = InputPopup {
        object,
        surface: surface.clone(),
        size: Size::default(),
        mapped: false,
        sent_caret: None,
        entered_output: None,
    };
    state.shell.input_popups.list.push(popup);
    applied(state, surface);
}

/// Called after an update was applied to a surface of the tree with this root.
pub(super) fn applied(state: &mut State, root: &WlSurface) {
    let (mapped, size) = (surface::has_content(root), tree::size(root));
    let Some(popup) = state.shell.input_popups.list.iter_mut().find(|popup| popup.surface == *root) else { return };
    // Subsurfaces can appear and vanish with updates of their own.
    let is_plain = state.surfaces.extent(root).size == size;
    let before = (popup.mapped, popup.size);
    (popup.mapped, popup.size) = (mapped, size);
    if before != (mapped, size) || !is_plain {
        changed(state);
    }
}

/// Called when the popup object is destroyed.
pub fn destroyed(state: &mut State, object: &ZwpInputPopupSurfaceV2) {
    forget(state, |popup| popup.object == *object);
}

pub(super) fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    if !state.shell.input_popups.list.is_empty() {
        forget(state, |popup| popup.surface == *surface);
    }
}

fn forget(state: &mut State, goes: impl Fn(&InputPopup) -> bool) {
    let list = &mut state.shell.input_popups.list;
    let gone: Vec<InputPopup> = list.extract_if(.., |popup| goes(popup)).collect();
    for popup in &gone {
        if let Some(output) = popup.entered_output.as_ref().filter(|_| popup.surface.is_alive()) {
            surface_outputs::send_leave(&popup.surface, output);
        }
    }
    if !gone.is_empty() {
        changed(state);
    }
}

fn changed(state: &mut State) {
    state.shell.input_popups.updated_at = None;
    state.shell.note_change();
    state.schedule_repaint_all();
}

/// Updates the caret's output and sends popups their position. Called once in a turn.
pub fn update_positions(state: &mut State) {
    let changes = state.shell.changes();
    let shell = &state.shell;
    if shell.input_popups.list.is_empty() || shell.input_popups.updated_at == Some(changes) {
        return;
    }
    let caret = shell.caret_on_screen();
    let on = caret.and_then(|caret| state.usable_area(Some(caret.loc.to_f64()))).map(|(output, _)| output);
    let is_elsewhere = shell.input_popups.output != on;
    state.shell.input_popups.output.clone_from(&on);
    for popup in &mut state.shell.input_popups.list {
        send_position(popup, caret.zip(on.as_ref()));
    }
    state.shell.input_popups.updated_at = Some(changes);
    if is_elsewhere {
        changed(state);
        state.shell.input_popups.updated_at = Some(state.shell.changes());
    }
}

/// Sends a popup its output and the caret's rectangle if they have changed.
fn send_position(popup: &mut InputPopup, at: Option<(Rectangle<i32, Logical>, &Output)>) {
    let Some((caret, output)) = at.filter(|_| popup.is_shown()) else { return };
    if let Some(before) = popup.entered_output.replace(output.clone()).filter(|before| before != output) {
        surface_outputs::send_leave(&popup.surface, &before);
    }
    // Also on the same output, because its scale may have changed.
    surface_outputs::send_enter(&popup.surface, output);
    let origin = placing::place(caret, popup.size, geometry(output));
    let relative = Rectangle::new(caret.loc - origin, caret.size);
    if popup.sent_caret != Some(relative) {
        popup.sent_caret = Some(relative);
        popup.object.text_input_rectangle(relative.loc.x, relative.loc.y, relative.size.w, relative.size.h);
    }
}
