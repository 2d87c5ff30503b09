//! A scene into a buffer.
//!
//! Pixman draws into memory on this thread and is done when it returns. GLES is there by choice, for machines whose GPU
//! is worth it: into the buffers of a display where it can, else read back.

mod backdrop;
mod element;
mod gles;
mod import;
mod intermediate;
mod panel;
mod picture;
mod rounded;
mod shadow;

use std::os::fd::{AsFd, OwnedFd};

use smithay::backend::allocator::Format;
use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::backend::allocator::gbm::GbmDevice;
use smithay::backend::renderer::damage::OutputDamageTracker;
use smithay::backend::renderer::gles::GlesRenderbuffer;
use smithay::backend::renderer::pixman::{PixmanRenderer, PixmanTexture};
use smithay::backend::renderer::{Bind, Color32F, ImportDma};
use smithay::reexports::pixman::{FormatCode, Image};
use smithay::utils::{Physical, Rectangle, Size, Transform};

use crate::backend::plane::DeviceMemory;
use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};
use crate::output::scene::Scene;
pub(crate) use element::source;
use gles::{GlesPainter, Targets};
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
    /// With OpenGL ES.
    Gles(GlesPainter),
}

/// The CPU, through pixman.
pub struct PixmanPainter {
    renderer: PixmanRenderer,
    caches: Caches<PixmanTexture>,
}

/// What came of drawing a frame.
#[derive(Debug, Default)]
pub struct Drawn {
    /// What changed since the frame drawn before.
    pub damage: Vec<PixelRect>,
    /// Signals when the drawing is done; `None` when it is.
    pub fence: Option<OwnedFd>,
}

/// What is remembered of one output between two frames: what is damaged, and what GLES draws into.
pub struct Canvas {
    size: Size<i32, Physical>,
    tracker: OutputDamageTracker,
    off_screen: Option<GlesRenderbuffer>,
    targets: Targets,
}

impl Canvas {
    /// For an output of `size` physical pixels.
    pub fn new(size: Size<i32, Physical>) -> Self {
        let tracker = OutputDamageTracker::new(size, 1.0, Transform::Normal);
        Canvas { size, tracker, off_screen: None, targets: Targets::default() }
    }

    /// Forgets what was drawn: the next frame is drawn as a whole. Wanted when a frame that was drawn did not reach the
    /// display, whose buffers then do not count it in their age.
    pub fn forget(&mut self) {
        *self = Canvas { targets: std::mem::take(&mut self.targets), ..Canvas::new(self.size) };
    }
}

impl Renderer {
    /// Draws with the CPU.
    pub fn pixman() -> Result<Self, RenderError> {
        let renderer = PixmanRenderer::new().map_err(pixman_error)?;
        Ok(Renderer::Pixman(PixmanPainter { renderer, caches: Caches::default() }))
    }

    /// Draws with OpenGL ES off screen, on the software device, which every machine with Mesa has.
    pub fn gles() -> Result<Self, RenderError> {
        GlesPainter::off_screen().map(Renderer::Gles)
    }

    /// Draws with OpenGL ES on a display device, into its displays' own buffers. `number`: the device's, as
    /// [`target_formats`](Self::target_formats) is asked for it.
    pub fn gles_on<A: AsFd + Send + 'static>(device: GbmDevice<A>, number: u64) -> Result<Self, RenderError> {
        GlesPainter::on_display(device, number).map(Renderer::Gles)
    }

    /// Whether it could draw into displays' own buffers if it were on their device.
    pub fn wants_device(&self) -> bool {
        matches!(self, Renderer::Gles(painter) if painter.is_off_screen())
    }

    /// The formats, with their layouts, of what it can draw into in the memory of display device `number`; none for what
    /// draws elsewhere.
    pub fn target_formats(&self, number: u64) -> Vec<Format> {
        match self {
            Renderer::Pixman(_) => Vec::new(),
            Renderer::Gles(painter) => painter.target_formats(number),
        }
    }

    /// Makes sure that it can draw into this.
    pub fn try_target(&mut self, memory: &DeviceMemory) -> Result<(), RenderError> {
        match self {
            Renderer::Pixman(_) => Err(pixman_error("it draws into no device's memory")),
            Renderer::Gles(painter) => painter.try_target(memory),
        }
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

    /// Draws `scene` into `buffer`. `with_cursor`: the display has no plane for it.
    pub fn draw(
        &mut self,
        scene: &Scene,
        with_cursor: bool,
        buffer: &mut Buffer,
        canvas: &mut Canvas,
    ) -> Result<Drawn, RenderError> {
        let age = buffer.age as usize;
        match (self, &mut buffer.storage) {
            (Renderer::Pixman(painter), BufferStorage::Memory(pixels)) => {
                painter.draw(scene, with_cursor, pixels, age, canvas)
            }
            (Renderer::Pixman(_), BufferStorage::Device(_)) => Err(pixman_error("the buffer is a device's")),
            (Renderer::Gles(painter), BufferStorage::Memory(pixels)) => {
                painter.draw_and_read_back(scene, with_cursor, pixels, canvas)
            }
            (Renderer::Gles(painter), BufferStorage::Device(memory)) => {
                painter.draw_on_device(scene, with_cursor, memory, age, canvas)
            }
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
    ) -> Result<Drawn, RenderError> {
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
        Ok(Drawn { damage: result.damage.map(|damage| to_rects(damage)).unwrap_or_default(), fence: None })
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
