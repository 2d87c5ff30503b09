//! A scene into a buffer.
//!
//! Pixman draws into memory on this thread and is done when it returns. GLES draws off screen and is read back; it is
//! there by choice, for machines whose GPU is worth it.

mod element;

use smithay::backend::allocator::Fourcc;
use smithay::backend::egl::{EGLContext, EGLDevice, EGLDisplay};
use smithay::backend::renderer::damage::OutputDamageTracker;
use smithay::backend::renderer::gles::{GlesRenderbuffer, GlesRenderer};
use smithay::backend::renderer::pixman::PixmanRenderer;
use smithay::backend::renderer::{
    Bind, Color32F, ExportMem, ImportAll, Offscreen, Renderer as SmithayRenderer, Texture,
};
use smithay::reexports::pixman::{FormatCode, Image};
use smithay::utils::{Physical, Rectangle};
use smithay::wayland::compositor;
use smithay::wayland::single_pixel_buffer::get_single_pixel_buffer;

use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};
use crate::output::scene::Scene;
use element::{Fill, LayerElement};

/// A frame could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// Pixman cannot be used.
    #[error("pixman: {0}")]
    Pixman(String),
    /// OpenGL ES cannot be used.
    #[error("OpenGL ES: {0}")]
    Gles(String),
}

/// Draws scenes.
#[expect(clippy::large_enum_variant, reason = "there is one")]
pub enum Renderer {
    /// With the CPU.
    Pixman(PixmanRenderer),
    /// With OpenGL ES, off screen.
    Gles(GlesOffscreen),
}

/// OpenGL ES without a screen.
pub struct GlesOffscreen {
    renderer: GlesRenderer,
    target: Option<GlesRenderbuffer>,
}

impl Renderer {
    /// Draws with the CPU.
    pub fn pixman() -> Result<Self, RenderError> {
        PixmanRenderer::new().map(Renderer::Pixman).map_err(pixman_error)
    }

    /// Draws with OpenGL ES on the software device, which every machine with Mesa has.
    #[expect(unsafe_code, reason = "Smithay makes its caller promise that the context stays on one thread; ours does")]
    pub fn gles() -> Result<Self, RenderError> {
        let device = EGLDevice::enumerate()
            .map_err(gles_error)?
            .find(EGLDevice::is_software)
            .ok_or_else(|| RenderError::Gles("there is no software EGL device; is Mesa installed?".to_owned()))?;
        // SAFETY: the device is a valid EGL device and is used through this display alone.
        let display = unsafe { EGLDisplay::new(device) }.map_err(gles_error)?;
        let context = EGLContext::new(&display).map_err(gles_error)?;
        // SAFETY: the context is current on this thread only and is never sent to another.
        let renderer = unsafe { GlesRenderer::new(context) }.map_err(gles_error)?;
        Ok(Renderer::Gles(GlesOffscreen { renderer, target: None }))
    }

    /// Draws `scene` into `buffer` and returns what changed since the frame drawn before. `with_cursor`: the display
    /// has no plane for it.
    pub fn draw(
        &mut self,
        scene: &Scene,
        with_cursor: bool,
        buffer: &mut Buffer,
        tracker: &mut OutputDamageTracker,
    ) -> Result<Vec<PixelRect>, RenderError> {
        let age = buffer.age as usize;
        let BufferStorage::Memory(pixels) = &mut buffer.storage;
        let _ = with_cursor;
        match self {
            Renderer::Pixman(renderer) => draw_with_pixman(renderer, scene, pixels, age, tracker),
            Renderer::Gles(gles) => gles.draw(scene, pixels, tracker),
        }
    }
}

#[expect(unsafe_code, reason = "pixman takes the address of the pixels")]
fn draw_with_pixman(
    renderer: &mut PixmanRenderer,
    scene: &Scene,
    pixels: &mut PixelBuffer,
    age: usize,
    tracker: &mut OutputDamageTracker,
) -> Result<Vec<PixelRect>, RenderError> {
    let stride = pixels.stride();
    // SAFETY: `pixels` is borrowed mutably until the end of this function, where the image is gone again; it holds
    // `height` rows of `stride` bytes, and its alignment is that of `u32`.
    let image = unsafe {
        Image::from_raw_mut(
            FormatCode::X8R8G8B8,
            pixels.width as usize,
            pixels.height as usize,
            pixels.pixels.as_mut_ptr(),
            stride,
            false,
        )
    };
    let mut image = image.map_err(|_| RenderError::Pixman("the buffer cannot be drawn into".to_owned()))?;
    let elements = import(renderer, scene);
    let mut target = renderer.bind(&mut image).map_err(pixman_error)?;
    let result = tracker
        .render_output(renderer, &mut target, age, &elements, background(scene))
        .map_err(|error| RenderError::Pixman(error.to_string()))?;
    Ok(result.damage.map(|damage| to_rects(damage)).unwrap_or_default())
}

impl GlesOffscreen {
    fn draw(
        &mut self,
        scene: &Scene,
        pixels: &mut PixelBuffer,
        tracker: &mut OutputDamageTracker,
    ) -> Result<Vec<PixelRect>, RenderError> {
        let size = (pixels.width, pixels.height).into();
        let fits = self.target.as_ref().is_some_and(|target| target.size() == size);
        let age = usize::from(fits);
        if !fits {
            let target = Offscreen::<GlesRenderbuffer>::create_buffer(&mut self.renderer, Fourcc::Xrgb8888, size);
            self.target = Some(target.map_err(gles_error)?);
        }
        let elements = import(&mut self.renderer, scene);
        let Some(buffer) = self.target.as_mut() else { return Ok(Vec::new()) };
        let mut target = self.renderer.bind(buffer).map_err(gles_error)?;
        let result = tracker
            .render_output(&mut self.renderer, &mut target, age, &elements, background(scene))
            .map_err(|error| RenderError::Gles(error.to_string()))?;
        let damage = result.damage.map(|damage| to_rects(damage)).unwrap_or_default();
        let mapping = self
            .renderer
            .copy_framebuffer(&target, Rectangle::from_size(size), Fourcc::Xrgb8888)
            .map_err(gles_error)?;
        let bytes = self.renderer.map_texture(&mapping).map_err(gles_error)?;
        for (pixel, bytes) in pixels.pixels.iter_mut().zip(bytes.chunks_exact(4)) {
            *pixel = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Ok(damage)
    }
}

/// The scene's layers with their content, topmost first. What cannot be imported is left out and named.
fn import<'a, R>(renderer: &mut R, scene: &'a Scene) -> Vec<LayerElement<'a, R::TextureId>>
where
    R: SmithayRenderer + ImportAll,
    R::TextureId: Texture + Clone + 'static,
{
    let mut elements = Vec::with_capacity(scene.layers.len());
    for layer in &scene.layers {
        let Some(buffer) = &layer.buffer else { continue };
        let fill = if let Ok(pixel) = get_single_pixel_buffer(buffer) {
            let [red, green, blue, alpha] = pixel.rgba32f();
            Fill::Colour(Color32F::new(red, green, blue, alpha))
        } else {
            let damage: Vec<_> = layer.damage.raw().next().into_iter().flatten().copied().collect();
            let imported =
                compositor::with_states(&layer.surface, |states| renderer.import_buffer(buffer, Some(states), &damage));
            match imported {
                Some(Ok(texture)) => Fill::Texture(texture),
                Some(Err(error)) => {
                    tracing::warn!(?error, "a client's buffer cannot be read");
                    continue;
                }
                None => continue,
            }
        };
        elements.push(LayerElement { layer, fill });
    }
    elements
}

fn background(scene: &Scene) -> Color32F {
    let [red, green, blue] = scene.background;
    Color32F::new(red, green, blue, 1.0)
}

fn to_rects(damage: &[Rectangle<i32, Physical>]) -> Vec<PixelRect> {
    damage
        .iter()
        .map(|rect| PixelRect { x: rect.loc.x, y: rect.loc.y, width: rect.size.w, height: rect.size.h })
        .collect()
}

fn pixman_error(error: impl std::fmt::Display) -> RenderError {
    RenderError::Pixman(error.to_string())
}

fn gles_error(error: impl std::fmt::Display) -> RenderError {
    RenderError::Gles(error.to_string())
}
