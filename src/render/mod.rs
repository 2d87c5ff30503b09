//! A scene into a buffer.
//!
//! Pixman draws into memory on this thread and is done when it returns. GLES draws off screen and is read back; it is
//! there by choice, for machines whose GPU is worth it.

mod backdrop;
mod element;
mod import;
mod intermediate;
mod rounded;
mod shadow;

use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::backend::allocator::{Format, Fourcc};
use smithay::backend::egl::{EGLContext, EGLDevice, EGLDisplay};
use smithay::backend::renderer::damage::OutputDamageTracker;
use smithay::backend::renderer::gles::{GlesRenderbuffer, GlesRenderer, GlesTexture};
use smithay::backend::renderer::pixman::{PixmanRenderer, PixmanTexture};
use smithay::backend::renderer::{Bind, Color32F, ExportMem, ImportDma, Offscreen};
use smithay::reexports::pixman::{FormatCode, Image};
use smithay::utils::{Physical, Rectangle, Size, Transform};

use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};
use crate::output::scene::Scene;
use backdrop::BackdropCache;
pub(crate) use element::source;
use import::{Caches, import};

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
    Pixman(PixmanPainter),
    /// With OpenGL ES, off screen.
    Gles(GlesPainter),
}

/// The CPU, through pixman.
pub struct PixmanPainter {
    renderer: PixmanRenderer,
    caches: Caches<PixmanTexture>,
}

/// OpenGL ES without a screen.
pub struct GlesPainter {
    renderer: GlesRenderer,
    caches: Caches<GlesTexture>,
    backdrops: BackdropCache,
}

/// What is remembered of one output between two frames: what is damaged, and what GLES drew.
pub struct Canvas {
    size: Size<i32, Physical>,
    tracker: OutputDamageTracker,
    target: Option<GlesRenderbuffer>,
}

impl Canvas {
    /// For an output of `size` physical pixels.
    pub fn new(size: Size<i32, Physical>) -> Self {
        Canvas { size, tracker: OutputDamageTracker::new(size, 1.0, Transform::Normal), target: None }
    }

    /// Forgets what was drawn: the next frame is drawn as a whole. Wanted when a frame that was drawn did not reach the
    /// display, whose buffers then do not count it in their age.
    pub fn forget(&mut self) {
        *self = Canvas::new(self.size);
    }
}

impl Renderer {
    /// Draws with the CPU.
    pub fn pixman() -> Result<Self, RenderError> {
        let renderer = PixmanRenderer::new().map_err(pixman_error)?;
        Ok(Renderer::Pixman(PixmanPainter { renderer, caches: Caches::default() }))
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
        let mut renderer = unsafe { GlesRenderer::new(context) }.map_err(gles_error)?;
        if let Err(error) = rounded::compile(&mut renderer) {
            tracing::warn!(%error, "corners stay square");
        }
        let painter = GlesPainter { renderer, caches: Caches::default(), backdrops: BackdropCache::default() };
        Ok(Renderer::Gles(painter))
    }

    /// The buffers in devices' memory that it can read.
    pub fn dmabuf_formats(&self) -> Vec<Format> {
        let formats = match self {
            Renderer::Pixman(painter) => painter.renderer.dmabuf_formats(),
            Renderer::Gles(painter) => painter.renderer.dmabuf_formats(),
        };
        formats.iter().copied().collect()
    }

    /// Makes sure that it can read this one.
    pub fn import_dmabuf(&mut self, dmabuf: &Dmabuf) -> Result<(), RenderError> {
        match self {
            Renderer::Pixman(painter) => painter.renderer.import_dmabuf(dmabuf, None).map(drop).map_err(pixman_error),
            Renderer::Gles(painter) => painter.renderer.import_dmabuf(dmabuf, None).map(drop).map_err(gles_error),
        }
    }

    /// Draws `scene` into `buffer` and returns what changed since the frame drawn before. `with_cursor`: the display
    /// has no plane for it.
    pub fn draw(
        &mut self,
        scene: &Scene,
        with_cursor: bool,
        buffer: &mut Buffer,
        canvas: &mut Canvas,
    ) -> Result<Vec<PixelRect>, RenderError> {
        let age = buffer.age as usize;
        let BufferStorage::Memory(pixels) = &mut buffer.storage;
        match self {
            Renderer::Pixman(painter) => painter.draw(scene, with_cursor, pixels, age, canvas),
            Renderer::Gles(painter) => painter.draw(scene, with_cursor, pixels, canvas),
        }
    }
}

impl PixmanPainter {
    #[expect(unsafe_code, reason = "pixman takes the address of the pixels")]
    fn draw(
        &mut self,
        scene: &Scene,
        with_cursor: bool,
        pixels: &mut PixelBuffer,
        age: usize,
        canvas: &mut Canvas,
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
        let mut elements = import(&mut self.renderer, scene, with_cursor, &mut self.caches);
        intermediate::prepare(&mut self.renderer, scene, &mut elements);
        let mut target = self.renderer.bind(&mut image).map_err(pixman_error)?;
        let result = canvas
            .tracker
            .render_output(&mut self.renderer, &mut target, age, &elements, background(scene))
            .map_err(|error| RenderError::Pixman(error.to_string()))?;
        Ok(result.damage.map(|damage| to_rects(damage)).unwrap_or_default())
    }
}

impl GlesPainter {
    fn draw(
        &mut self,
        scene: &Scene,
        with_cursor: bool,
        pixels: &mut PixelBuffer,
        canvas: &mut Canvas,
    ) -> Result<Vec<PixelRect>, RenderError> {
        let size = (pixels.width, pixels.height).into();
        // One target holds the newest frame, however old the buffer is that it is read back into.
        let age = usize::from(canvas.target.as_ref().is_some_and(|target| target.size() == size));
        if age == 0 {
            let target = Offscreen::<GlesRenderbuffer>::create_buffer(&mut self.renderer, Fourcc::Xbgr8888, size);
            canvas.target = Some(target.map_err(gles_error)?);
        }
        let mut elements = import(&mut self.renderer, scene, with_cursor, &mut self.caches);
        self.backdrops.prepare(&mut self.renderer, scene, &mut elements);
        let Some(buffer) = canvas.target.as_mut() else { return Ok(Vec::new()) };
        let mut target = self.renderer.bind(buffer).map_err(gles_error)?;
        let result = canvas
            .tracker
            .render_output(&mut self.renderer, &mut target, age, &elements, background(scene))
            .map_err(|error| RenderError::Gles(error.to_string()))?;
        let damage = result.damage.map(|damage| to_rects(damage)).unwrap_or_default();
        let mapping = self
            .renderer
            .copy_framebuffer(&target, Rectangle::from_size(size), Fourcc::Xbgr8888)
            .map_err(gles_error)?;
        let bytes = self.renderer.map_texture(&mapping).map_err(gles_error)?;
        for (pixel, bytes) in pixels.pixels.iter_mut().zip(bytes.chunks_exact(4)) {
            // Red comes first in memory.
            *pixel = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        }
        Ok(damage)
    }
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
