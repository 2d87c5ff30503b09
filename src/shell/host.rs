//! Traits by which the shell uses outputs and the seat without importing their modules.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial};

use super::WindowId;
use crate::scene::CursorView;

/// The outputs, as the shell sees them. A trait, because `output` imports `shell`, and `shell` must not import
/// `output`.
pub trait ShellOutputs {
    /// Schedules a repaint of every output.
    fn schedule_repaint_all(&mut self);

    /// Schedules a check of every output after changes that windows [count](super::Shell::changes) themselves.
    fn schedule_update_all(&mut self);

    /// Every output, including outputs that are switched off.
    fn outputs(&self) -> impl Iterator<Item = &Output>;

    /// Every output with its rectangle (global logical coordinates).
    fn output_areas(&self) -> impl Iterator<Item = (&Output, Rectangle<i32, Logical>)>;

    /// The output at `point` or nearest to it (without a point: the first output), and its usable area (global logical
    /// coordinates). `None` if there are no outputs.
    fn usable_area(&self, point: Option<Point<f64, Logical>>) -> Option<(Output, Rectangle<i32, Logical>)>;

    /// Whether the newest frame of any output shows a part of `surface`.
    fn is_drawn(&self, surface: &WlSurface) -> bool;

    /// Reports that a window has the application id `app_id`.
    fn window_named(&mut self, id: WindowId, app_id: &str);

    /// Whether `output` is switched on.
    fn is_output_on(&self, output: &Output) -> bool;

    /// From now on only the lock may be visible ([`Lock::covers`](super::lock::Lock::covers)): drops scenes that were
    /// latched before but not submitted.
    fn drop_unlocked_scenes(&mut self);
}

/// The seat, as the shell sees it. A trait, because `input` imports both `shell` and `output`, and neither may import
/// `input`.
pub trait ShellSeat {
    /// Position of the pointer (global logical coordinates).
    fn pointer_position(&self) -> Point<f64, Logical>;

    /// Moves a pointer that lies outside of all outputs, because they have changed, to the nearest point on an output.
    fn keep_pointer_on_output(&mut self);

    /// Position of a drag and drop between clients: of the dragging finger, or of the pointer (global logical
    /// coordinates).
    fn drag_position(&self) -> Point<f64, Logical>;

    /// The cursor image for an output of this scale.
    fn cursor_view(&self, scale: f64) -> CursorView;

    /// The client's cursor surface, if the cursor has one.
    fn cursor_surface(&self) -> Option<&WlSurface>;

    /// Whether `serial` belongs to a recent press or touch.
    fn is_recent_action(&self, serial: Serial) -> bool;

    /// Whether the user types into the client of `surface`: a key was recently pressed for it.
    fn is_typed_into(&self, surface: &WlSurface) -> bool;

    /// Moves the keyboard focus to the surface that should have it now.
    fn update_keyboard(&mut self);

    /// Moves the pointer focus to the surface that should have it now.
    fn refresh_focus(&mut self);

    /// Removes all focus from `surface`, which can no longer have it.
    fn focus_lost(&mut self, surface: &WlSurface);

    /// Handles input that has arrived since this turn read its input, if the seat has devices of its own. It latches
    /// nothing, but it may change anything else: windows, focus, whether outputs are on.
    fn read_waiting_input(&mut self);

    /// Moves or resizes the dragged window to the position of its pointer or finger. Returns whether anything changed.
    fn latch_drag(&mut self) -> bool;

    /// Ends the drag of a window in the seat.
    fn end_drag(&mut self);

    /// Takes the focus of pointer, fingers, tablet tools and keyboard away. Buttons that are down stay without effect.
    fn release_all_input(&mut self);
}

/// Identifies a monitor, whatever connector it is plugged into: maker, model, serial number. Kept in the output's user
/// data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorIdentity(pub String);

impl MonitorIdentity {
    /// `None` if the monitor does not identify itself.
    pub fn of(output: &Output) -> Option<&str> {
        output.user_data().get::<MonitorIdentity>().map(|monitor| monitor.0.as_str())
    }
}

/// The rectangle of an output in global logical coordinates.
pub fn geometry(output: &Output) -> Rectangle<i32, Logical> {
    let size = output.current_mode().map(|mode| {
        let scale = output.current_scale().fractional_scale();
        output.current_transform().transform_size(mode.size).to_f64().to_logical(scale).to_i32_round()
    });
    Rectangle::new(output.current_location(), size.unwrap_or_default())
}
