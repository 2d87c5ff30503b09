//! The opacity of a whole surface (`wp_alpha_modifier_v1`), on top of its buffer's alpha channel: double-buffered
//! state.

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::compositor::Cacheable;

/// A fraction of [`u32::MAX`], which means opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opacity(pub u32);

impl Default for Opacity {
    fn default() -> Self {
        Opacity(u32::MAX)
    }
}

impl Opacity {
    /// As a factor from 0 to 1.
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
