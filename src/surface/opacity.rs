//! How much of a surface its client lets be seen (`wp_alpha_modifier_v1`): double-buffered, beside what the buffer says of
//! each pixel.

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::compositor::Cacheable;

/// Of [`u32::MAX`]: that is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opacity(pub u32);

impl Default for Opacity {
    fn default() -> Self {
        Opacity(u32::MAX)
    }
}

impl Opacity {
    /// 0 to 1.
    pub fn factor(self) -> f32 {
        (f64::from(self.0) / f64::from(u32::MAX)) as f32
    }
}

impl Cacheable for Opacity {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        *self
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}
