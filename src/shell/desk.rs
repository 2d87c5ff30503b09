//! What the shell asks of the outputs that it puts windows on, and of the hand that moves them.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Serial};

use super::WindowId;
use crate::scene::CursorView;

/// The outputs, as the shell sees them. It is a trait since `output` knows `shell`, and `shell` may not know `output`.
pub trait Desk {
    /// Something changed that may be seen on any output.
    fn need_all(&mut self);

    /// Windows changed that [count](super::Shell::changes) their changes themselves: every output looks at those.
    fn need_look(&mut self);

    /// Every output, also those that are switched off.
    fn outputs(&self) -> impl Iterator<Item = &Output>;

    /// Every output with its rectangle (global logical coordinates).
    fn output_areas(&self) -> impl Iterator<Item = (&Output, Rectangle<i32, Logical>)>;

    /// The output at `point`, or the one nearest to it, or the first one if there is no point; with the area that windows
    /// may fill (global logical coordinates). `None` when there is no output at all.
    fn usable_area(&self, point: Option<Point<f64, Logical>>) -> Option<(Output, Rectangle<i32, Logical>)>;

    /// Whether the newest frame of any output shows something of `surface`.
    fn is_drawn(&self, surface: &WlSurface) -> bool;

    /// A window's application is called `app_id`.
    fn window_named(&mut self, id: WindowId, app_id: &str);

    /// Whether `output` is on.
    fn is_lit(&self, output: &Output) -> bool;

    /// From now on nothing but the lock may be seen ([`Lock::covers`](super::lock::Lock::covers)): what was chosen before and was
    /// not submitted is not shown.
    fn cover(&mut self);
}

/// The seat, as the shell sees it, and the outputs, which draw the cursor. It is a trait since `input` knows both, and neither may
/// know `input`.
pub trait Hand {
    /// Where the pointer is (global logical coordinates).
    fn pointer_position(&self) -> Point<f64, Logical>;

    /// Where what is dragged between clients is: at the finger that drags it, or at the pointer (global logical coordinates).
    fn drag_position(&self) -> Point<f64, Logical>;

    /// What is to be drawn at the pointer on an output of this scale.
    fn cursor_view(&self, scale: f64) -> CursorView;

    /// The client's surface that is drawn at the pointer, if one is.
    fn cursor_surface(&self) -> Option<&WlSurface>;

    /// Whether `serial` is that of a press or touch a moment ago.
    fn is_recent_action(&self, serial: Serial) -> bool;

    /// Whether a person types into the client of `surface`: a key was pressed for it a moment ago.
    fn is_typed_into(&self, surface: &WlSurface) -> bool;

    /// Gives the keyboard to whom it belongs now.
    fn update_keyboard(&mut self);

    /// Gives the pointer to whom it belongs now.
    fn refresh_focus(&mut self);

    /// `surface` cannot have a focus any more.
    fn focus_lost(&mut self, surface: &WlSurface);

    /// Moves or resizes the held window to where the pointer or finger that holds it is. Returns whether anything changed.
    fn latch_drag(&mut self) -> bool;

    /// Nothing is held any more.
    fn forget_drag(&mut self);

    /// Takes pointer, fingers, tools and keyboard away from whoever has them. Buttons that are down stay without effect.
    fn let_go(&mut self);
}

/// Which monitor an output is, wherever it is plugged in: its maker, model and serial number. Kept with the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor(pub String);

impl Monitor {
    /// That of `output`, if it says so.
    pub fn of(output: &Output) -> Option<&str> {
        output.user_data().get::<Monitor>().map(|monitor| monitor.0.as_str())
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
