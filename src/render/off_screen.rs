//! A scene into memory, on whatever thread: for pictures of what no display shows.
//!
//! Nothing of that is turned. Clients' memory is locked for as long as something is drawn from it, and whoever shows it waits: so it is drawn in bands.

use smithay::backend::renderer::Bind;
use smithay::backend::renderer::pixman::{PixmanRenderer, PixmanTexture};
use smithay::reexports::pixman::{FormatCode, Image};
use smithay::utils::{Physical, Rectangle};

use super::import::{Caches, import};
use super::{RenderError, background, damage, intermediate, pixman_error};
use crate::backend::PixelBuffer;
use crate::scene::Scene;

/// As many pixels are drawn at a time: some tens of microseconds.
const BAND_PIXELS: i32 = 64 * 1024;

/// Draws with the CPU, beside whoever draws for displays.
pub struct OffScreen {
    renderer: PixmanRenderer,
    caches: Caches<PixmanTexture>,
}

impl OffScreen {
    /// Draws nothing yet.
    ///
    /// # Errors
    /// [`RenderError::Pixman`] where pixman cannot be used.
    pub fn new() -> Result<Self, RenderError> {
        Ok(OffScreen { renderer: PixmanRenderer::new().map_err(pixman_error)?, caches: Caches::without_waiting() })
    }

    /// Draws all of `scene` with its cursor, if it has one.
    ///
    /// # Errors
    /// [`RenderError::Pixman`] where some of it cannot be drawn: a picture without it would be another one.
    pub fn draw(&mut self, scene: &Scene) -> Result<PixelBuffer, RenderError> {
        let mut pixels = PixelBuffer::new(scene.size.w, scene.size.h);
        let rows = (BAND_PIXELS / scene.size.w.max(1)).max(1);
        for top in (0..scene.size.h).step_by(rows.unsigned_abs() as usize) {
            let band = Rectangle::new((0, top).into(), (scene.size.w, rows.min(scene.size.h - top)).into());
            self.draw_band(scene, band, &mut pixels)?;
        }
        Ok(pixels)
    }

    #[expect(unsafe_code, reason = "pixman takes the address of the pixels")]
    fn draw_band(
        &mut self,
        scene: &Scene,
        band: Rectangle<i32, Physical>,
        pixels: &mut PixelBuffer,
    ) -> Result<(), RenderError> {
        let (width, height, stride) = (pixels.width as usize, pixels.height as usize, pixels.stride());
        // SAFETY: `pixels` is borrowed mutably until the end of this function, where the image is gone again, and holds
        // `height` rows of `stride` bytes.
        let image = unsafe {
            Image::from_raw_mut(FormatCode::X8R8G8B8, width, height, pixels.pixels.as_mut_ptr(), stride, false)
        };
        let mut image = image.map_err(|_| RenderError::Pixman("the picture cannot be drawn into".to_owned()))?;
        let (mut elements, is_complete) = import(&mut self.renderer, scene, true, Some(&[band]), &mut self.caches);
        if !is_complete {
            return Err(pixman_error("some of it cannot be read"));
        }
        intermediate::prepare(&mut self.renderer, scene, &mut elements);
        let mut target = self.renderer.bind(&mut image).map_err(pixman_error)?;
        let frame = (scene.size, background(scene));
        damage::draw(&mut self.renderer, &mut target, frame, &elements, &[band]).map_err(pixman_error)
    }
}
