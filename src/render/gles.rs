//! The OpenGL ES renderer: draws directly into a display's buffers if their memory allows it, otherwise off screen
//! ([`off_screen_targets`](super::off_screen_targets)).
//!
//! ```text
//!   on a display's device:  draw ─► its buffer ─► fence ─► scanned out
//!   anywhere else:          draw ─► off screen ─► the damage is copied to the display's memory, if it is read
//! ```
//!
//! The first way copies nothing, and waits for nothing if fences can be exported; the second waits for the GPU. Both
//! run on a thread of their own ([`thread`](super::thread)).

use std::ffi::{CStr, c_char};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use smithay::backend::allocator::Fourcc;
use smithay::backend::allocator::dmabuf::{Dmabuf, DmabufFlags};
use smithay::backend::egl::native::EGLNativeDisplay;
use smithay::backend::egl::{EGLContext, EGLDevice, EGLDisplay};
use smithay::backend::renderer::gles::{GlesRenderbuffer, GlesRenderer, GlesTexture, ffi};
use smithay::backend::renderer::sync::SyncPoint;
use smithay::backend::renderer::{Bind, Color32F, Frame as _, ImportDma, Offscreen, Renderer as _};
use smithay::utils::{Rectangle, Size, Transform};

use super::backdrop::BackdropCache;
use super::canvas::{self, CanvasTargets, Canvases};
use super::element::SceneElement;
use super::hardware::DeviceFacts;
use super::import::{ImportCaches, import};
use super::off_screen_targets::{GpuCopy, OffScreenJob, OffScreenTargets, PictureKey, PictureReader, area};
use super::partial_upload::PartialTextures;
use super::upload_ahead::{UpcomingContent, UploadQueue, UploadedBytes};
use super::{DrawnFrame, RenderError, RenderJob, background, gles_error, rounded, to_rects};
use crate::backend::plane::DeviceMemory;
use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};
use crate::scene::Scene;
use upbeat_timing::time::Instant;

/// Width and height of the test picture for a new context.
const PROOF: i32 = 16;

/// The extension for copies of pixels with blue first.
const READS_BLUE_FIRST: &str = "GL_EXT_read_format_bgra";

/// A renderer with an OpenGL ES context.
pub(super) struct GlesPainter {
    renderer: GlesRenderer,
    caches: ImportCaches<GlesTexture>,
    in_parts: PartialTextures,
    backdrops: BackdropCache,
    canvases: Canvases<OutputTargets>,
    /// The display device whose buffers it draws into.
    device: Option<u64>,
    /// The device that it draws on.
    node: Option<u64>,
    /// Reads its pictures from other threads; `None`: its pictures cannot be kept.
    reader: Option<PictureReader>,
    /// It copies pixels with blue first, as our buffers have them. Asked once: Smithay leaks a buffer of the GPU with
    /// each copy that the driver refuses.
    blue_first: bool,
    /// Pixels copied from off-screen frames.
    read_back: u64,
}

/// Properties of a context.
#[derive(Clone, Debug)]
pub(super) struct ContextInfo {
    /// `GL_RENDERER`: OpenGL's name for the renderer.
    pub name: String,
    pub is_hardware: bool,
    /// The device that it draws on; `None`: the CPU.
    pub node: Option<u64>,
    /// The display device whose buffers it draws into; `None`: it draws off screen.
    pub device: Option<u64>,
    /// Formats that it can draw into.
    targets: Vec<DrmFormat>,
    /// Dmabuf formats that it can sample.
    pub sources: Vec<DrmFormat>,
}

impl ContextInfo {
    /// Formats, with modifiers, that it can draw into on device `number`: all of its formats on its own device,
    /// only linear buffers on another.
    pub fn target_formats(&self, number: u64) -> Vec<DrmFormat> {
        let formats = self.targets.iter().copied();
        match self.device {
            Some(own) if own == number => formats.collect(),
            Some(_) => formats.filter(|format| format.modifier == DrmModifier::Linear).collect(),
            None => Vec::new(),
        }
    }
}

/// Render targets of one output.
#[derive(Debug, Default)]
struct OutputTargets {
    off_screen: OffScreenTargets,
    targets: BufferTargets,
}

impl CanvasTargets for OutputTargets {
    fn are_read(&self) -> bool {
        self.off_screen.are_read()
    }
}

/// A display's buffers as dmabufs, each created once and dropped with its buffer.
#[derive(Debug, Default)]
struct BufferTargets(Vec<(Weak<DeviceMemory>, Dmabuf)>);

impl BufferTargets {
    fn of(&mut self, memory: &Arc<DeviceMemory>) -> Result<&mut Dmabuf, RenderError> {
        self.0.retain(|(known, _)| known.strong_count() > 0);
        let name = Arc::downgrade(memory);
        let index = match self.0.iter().position(|(known, _)| known.ptr_eq(&name)) {
            Some(index) => index,
            None => {
                self.0.push((name, dmabuf(memory)?));
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[index].1)
    }
}

impl GlesPainter {
    #[expect(unsafe_code, reason = "Smithay makes its caller promise that the context stays on one thread; ours does")]
    /// On an EGL or GBM device. `device`: the display device whose buffers it is to draw into; `node`: the number
    /// of the device that it draws on.
    pub(super) fn on(
        native: impl EGLNativeDisplay + 'static,
        device: Option<u64>,
        node: Option<u64>,
    ) -> Result<Self, RenderError> {
        // SAFETY: `native` is a valid EGL device or GBM device, and the display keeps it as long as it lives.
        let display = unsafe { EGLDisplay::new(native) }.map_err(gles_error)?;
        let context = EGLContext::new(&display).map_err(gles_error)?;
        // SAFETY: the context is current on this thread only and is never sent to another.
        let mut renderer = unsafe { GlesRenderer::new(context) }.map_err(gles_error)?;
        if let Err(error) = rounded::compile(&mut renderer) {
            tracing::warn!(%error, "the shader for rounded corners cannot be compiled: corners stay square");
        }
        let extensions = text_of(&mut renderer, ffi::EXTENSIONS);
        let blue_first =
            cfg!(target_endian = "little") && extensions.split_ascii_whitespace().any(|it| it == READS_BLUE_FIRST);
        Ok(GlesPainter {
            renderer,
            caches: ImportCaches::default(),
            in_parts: PartialTextures::default(),
            backdrops: BackdropCache::default(),
            canvases: Canvases::default(),
            device,
            node,
            reader: None,
            blue_first,
            read_back: 0,
        })
    }

    /// Allows frames to be kept off screen: `reader` reads them later.
    pub(super) fn set_picture_reader(&mut self, reader: PictureReader) {
        self.reader = Some(reader);
    }

    /// Pixels copied from off-screen frames so far.
    pub(super) const fn pixels_read_back(&self) -> u64 {
        self.read_back
    }

    /// Starts to copy a part of a kept picture.
    pub(super) fn copy_picture(&mut self, picture: &Arc<PictureKey>, rect: PixelRect) -> Result<GpuCopy, RenderError> {
        let mut targets = self.canvases.states().map(|state| &mut state.targets.off_screen);
        let target = targets.find_map(|targets| targets.of_picture(picture));
        let target = target.ok_or_else(|| RenderError::Gles("the picture is gone".to_owned()))?;
        let mut target = self.renderer.bind(target).map_err(gles_error)?;
        self.read_back += area(rect);
        GpuCopy::start(&mut self.renderer, &mut target, rect, self.blue_first)
    }

    /// The pixels of a finished copy.
    pub(super) fn map_copy(&mut self, copy: GpuCopy) -> Result<Vec<u32>, RenderError> {
        let mut pixels = Vec::new();
        copy.append_to(&mut self.renderer, &mut pixels)?;
        Ok(pixels)
    }

    /// Whether EGL reports a software device.
    pub(super) fn is_software(&self) -> bool {
        let device = EGLDevice::device_for_display(self.renderer.egl_context().display());
        device.is_ok_and(|device| device.is_software())
    }

    /// Whether it can draw into imported dmabufs.
    pub(super) fn draws_into_others(&self) -> bool {
        self.renderer.egl_context().dmabuf_render_formats().iter().next().is_some()
    }

    /// `GL_RENDERER`: OpenGL's name for the renderer.
    pub(super) fn name(&mut self) -> String {
        text_of(&mut self.renderer, ffi::RENDERER)
    }

    pub(super) fn context_info(&mut self) -> ContextInfo {
        ContextInfo {
            is_hardware: DeviceFacts {
                renderer: self.name(),
                is_software: self.is_software(),
                ..DeviceFacts::default()
            }
            .is_hardware(),
            name: self.name(),
            device: self.device,
            node: self.node,
            targets: self.renderer.egl_context().dmabuf_render_formats().iter().copied().collect(),
            sources: self.renderer.dmabuf_formats().iter().copied().collect(),
        }
    }

    /// Why the context is lost; `None` if it is not. After a GPU reset all of its memory is gone and it can never
    /// draw again.
    pub(super) fn lost(&mut self) -> Option<String> {
        #[expect(unsafe_code, reason = "OpenGL is a C interface")]
        // SAFETY: the context is current in the closure, and the call has no arguments.
        let error = self.renderer.with_context(|gl| unsafe { gl.GetError() });
        match error {
            Ok(ffi::CONTEXT_LOST) => Some("the GPU was reset".to_owned()),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    }

    /// Draws a small off-screen picture to prove that the context works; the pixels are not checked.
    pub(super) fn test_draw(&mut self) -> Result<(), RenderError> {
        let size = Size::from((PROOF, PROOF));
        let mut target: GlesRenderbuffer = self.renderer.create_buffer(Fourcc::Xbgr8888, size).map_err(gles_error)?;
        let mut target = self.renderer.bind(&mut target).map_err(gles_error)?;
        let mut frame =
            self.renderer.render(&mut target, (PROOF, PROOF).into(), Transform::Normal).map_err(gles_error)?;
        let whole = Rectangle::from_size((PROOF, PROOF).into());
        frame.clear(Color32F::BLACK, &[whole]).map_err(gles_error)?;
        frame.finish().map_err(gles_error)?.wait().map_err(gles_error)
    }

    /// Tests whether it can sample this buffer.
    pub(super) fn try_source(&mut self, dmabuf: &Dmabuf) -> Result<(), RenderError> {
        self.renderer.import_dmabuf(dmabuf, None).map(drop).map_err(gles_error)
    }

    /// Tests whether it can draw into this buffer.
    pub(super) fn try_target(&mut self, memory: &DeviceMemory) -> Result<(), RenderError> {
        let mut target = dmabuf(memory)?;
        self.renderer.bind(&mut target).map(drop).map_err(gles_error)
    }

    /// Uploads a piece of the queued content ahead. Returns the items to release.
    pub(super) fn copy_ahead(&mut self, uploads: &mut UploadQueue, now: Instant) -> Vec<UpcomingContent> {
        self.in_parts.copy_ahead(&mut self.renderer, uploads, now)
    }

    /// Bytes uploaded so far.
    pub(super) const fn copied(&self) -> UploadedBytes {
        self.in_parts.copied()
    }

    /// Draws the job's scene into its buffer. Content queued in `uploads` may be a part of the scene.
    pub(super) fn draw(&mut self, job: &mut RenderJob, uploads: &[UpcomingContent]) -> Result<DrawnFrame, RenderError> {
        let RenderJob { scene, with_cursor, buffer, canvas, may_keep } = job;
        self.caches.in_parts = self.in_parts.of(&mut self.renderer, scene, uploads);
        let drawn = self.draw_into(scene, (*with_cursor, *may_keep), buffer, canvas);
        match drawn {
            Ok(_) => self.canvases.of(canvas).frame_drawn(buffer.slot),
            Err(_) => self.canvases.force_full_damage(canvas),
        }
        drawn
    }

    fn draw_into(
        &mut self,
        scene: &Scene,
        (with_cursor, may_keep): (bool, bool),
        buffer: &mut Buffer,
        canvas: &canvas::Canvas,
    ) -> Result<DrawnFrame, RenderError> {
        let GlesPainter { renderer, caches, backdrops, canvases, reader, blue_first, read_back, .. } = self;
        let blue_first = *blue_first;
        let canvas = canvases.of(canvas);
        let age = canvas.age(buffer);
        let mut elements = import(renderer, scene, with_cursor, None, caches).0;
        backdrops.prepare(renderer, scene, &mut elements);
        match &mut buffer.storage {
            BufferStorage::Device(memory) => draw_on_device(renderer, scene, &elements, memory, age, canvas),
            BufferStorage::Memory(pixels) => {
                let off_screen = OffScreenJob { scene, elements: &elements, slot: buffer.slot, age, blue_first };
                let targets = (&mut canvas.targets.off_screen, &mut canvas.tracker);
                match reader.as_ref().filter(|_| may_keep) {
                    Some(reader) => {
                        let (drawn, kept) = off_screen.draw_and_keep(renderer, pixels, targets, reader)?;
                        buffer.storage = BufferStorage::Kept(kept);
                        Ok(drawn)
                    }
                    None => off_screen.draw_and_copy(renderer, pixels, targets, read_back),
                }
            }
            BufferStorage::Kept(_) => Err(RenderError::Gles("the buffer was drawn already".to_owned())),
            BufferStorage::Mapped(mapped) => {
                // The buffer belongs to an output that Pixman drew until a GPU was available.
                let (width, height) = mapped.size();
                let mut pixels = PixelBuffer::new(width, height);
                // Its rows are new, so all of them are copied.
                let off_screen = OffScreenJob { scene, elements: &elements, slot: buffer.slot, age: 0, blue_first };
                let targets = (&mut canvas.targets.off_screen, &mut canvas.tracker);
                let drawn = off_screen.draw_and_copy(renderer, &mut pixels, targets, read_back)?;
                mapped.draw(&mut |rows, stride| copy_rows(&pixels, rows, stride));
                Ok(drawn)
            }
        }
    }
}

/// A text that describes the context, such as `GL_RENDERER`; empty if there is none.
fn text_of(renderer: &mut GlesRenderer, name: ffi::types::GLenum) -> String {
    #[expect(unsafe_code, reason = "OpenGL is a C interface")]
    // SAFETY: the context is current in the closure; the returned string ends with a zero and lives as long as the
    // context.
    let text = renderer.with_context(|gl| unsafe {
        let text = gl.GetString(name).cast::<c_char>();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    });
    text.ok().flatten().unwrap_or_default()
}

/// Draws into a display's buffer, whose content is `age` frames old.
fn draw_on_device(
    renderer: &mut GlesRenderer,
    scene: &Scene,
    elements: &[SceneElement<'_, GlesTexture>],
    memory: &Arc<DeviceMemory>,
    age: usize,
    canvas: &mut canvas::CanvasState<OutputTargets>,
) -> Result<DrawnFrame, RenderError> {
    let mut target = renderer.bind(canvas.targets.targets.of(memory)?).map_err(gles_error)?;
    let result = canvas
        .tracker
        .render_output(renderer, &mut target, age, elements, background(scene))
        .map_err(|error| RenderError::Gles(error.to_string()))?;
    let damage = result.damage.map(|damage| to_rects(damage)).unwrap_or_default();
    Ok(DrawnFrame { damage, fence: fence(&result.sync)? })
}

/// Copies all of `from` into rows that lie `stride` pixels apart.
fn copy_rows(from: &PixelBuffer, rows: &mut [u32], stride: usize) {
    let width = from.width.unsigned_abs() as usize;
    for (from, to) in from.pixels.chunks_exact(width.max(1)).zip(rows.chunks_mut(stride.max(1))) {
        if let Some(to) = to.get_mut(..width) {
            to.copy_from_slice(from);
        }
    }
}

/// A fence that signals when drawing is done; `None` if it is done. If no fence can be exported, this waits, as reading
/// back would.
fn fence(sync: &SyncPoint) -> Result<Option<OwnedFd>, RenderError> {
    if sync.is_reached() {
        return Ok(None);
    }
    let exported = sync.export();
    if exported.is_none() {
        sync.wait().map_err(|_| RenderError::Gles("waiting for the drawing to end was interrupted".to_owned()))?;
    }
    Ok(exported)
}

fn dmabuf(memory: &DeviceMemory) -> Result<Dmabuf, RenderError> {
    let failed = |what: &str| RenderError::Gles(format!("a display's buffer has {what}"));
    let format = DrmFourcc::try_from(memory.format).map_err(|_| failed("an unknown format"))?;
    let size = (memory.width.cast_signed(), memory.height.cast_signed());
    let mut builder = Dmabuf::builder(size, format, memory.modifier.into(), DmabufFlags::empty());
    for (index, part) in (0..).zip(&memory.parts) {
        let descriptor = part.descriptor.try_clone().map_err(gles_error)?;
        builder.add_plane(descriptor, index, part.offset, part.stride);
    }
    builder.build().ok_or_else(|| failed("no memory"))
}
