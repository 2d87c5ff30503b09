//! Draws a scene into memory on any thread, for captures that no display shows.
//!
//! Such scenes have no panel transform. While a scene is drawn from client memory, that memory is locked and the
//! renderer of displays has to wait for it: so the scene is drawn in bands.

use smithay::backend::renderer::Bind;
use smithay::backend::renderer::pixman::{PixmanRenderer, PixmanTexture};
use smithay::reexports::pixman::{FormatCode, Image};
use smithay::utils::{Physical, Rectangle};

use super::import::{ImportCaches, import};
use super::{RenderError, background, damage, intermediate, pixman_error};
use crate::backend::PixelBuffer;
use crate::scene::Scene;

/// Pixels of a band: some tens of microseconds.
const BAND_PIXELS: i32 = 64 * 1024;

/// Draws with the CPU, independent of the renderer of displays.
pub struct OffScreen {
    renderer: PixmanRenderer,
    caches: ImportCaches<PixmanTexture>,
}

impl OffScreen {
    /// Creates a renderer with empty caches.
    ///
    /// # Errors
    /// [`RenderError::Pixman`] if pixman cannot be used.
    pub fn new() -> Result<Self, RenderError> {
        Ok(OffScreen {
            renderer: PixmanRenderer::new().map_err(pixman_error)?,
            caches: ImportCaches::without_waiting(),
        })
    }

    /// Draws all of `scene` with its cursor, if it has one.
    ///
    /// # Errors
    /// [`RenderError::Pixman`] if any part cannot be drawn: an incomplete picture would be wrong.
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
        // SAFETY: `pixels` is borrowed mutably until the end of this function, where the image is dropped, and
        // holds `height` rows of `stride` bytes.
        let image = unsafe {
            Image::from_raw_mut(FormatCode::X8R8G8B8, width, height, pixels.pixels.as_mut_ptr(), stride, false)
        };
        let mut image = image.map_err(|_| RenderError::Pixman("the picture cannot be drawn into".to_owned()))?;
        let (mut elements, is_complete) = import(&mut self.renderer, scene, true, Some(&[band]), &mut self.caches);
        if !is_complete {
            return Err(pixman_error("a part of it cannot be read"));
        }
        intermediate::prepare(&mut self.renderer, scene, &mut elements);
        let mut target = self.renderer.bind(&mut image).map_err(pixman_error)?;
        let frame = (scene.size, background(scene));
        damage::draw(&mut self.renderer, &mut target, frame, &elements, &[band]).map_err(pixman_error)
    }
}
