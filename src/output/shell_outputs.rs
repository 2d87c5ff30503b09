//! The outputs as the shell sees them: implements the shell's trait for outputs.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};

use crate::shell::{ShellOutputs, WindowId};
use crate::state::State;

impl ShellOutputs for State {
    fn schedule_repaint_all(&mut self) {
        super::schedule_repaint_all(self);
    }

    fn schedule_update_all(&mut self) {
        super::schedule_window_repaint(self);
    }

    fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter()
    }

    fn output_areas(&self) -> impl Iterator<Item = (&Output, Rectangle<i32, Logical>)> {
        super::all(self)
    }

    fn usable_area(&self, point: Option<Point<f64, Logical>>) -> Option<(Output, Rectangle<i32, Logical>)> {
        super::usable_area(self, point)
    }

    fn is_drawn(&self, surface: &WlSurface) -> bool {
        super::is_drawn(self, surface)
    }

    fn window_named(&mut self, id: WindowId, app_id: &str) {
        super::window_named(self, id, app_id);
    }

    fn is_output_on(&self, output: &Output) -> bool {
        self.outputs.states().any(|known| known.on && known.output == *output)
    }

    fn drop_unlocked_scenes(&mut self) {
        super::lock::drop_unlocked_frames(self);
    }
}
