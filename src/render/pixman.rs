//! The CPU renderer, through pixman: draws into memory and is done when it returns.

use smithay::backend::allocator::dmabuf::{Dmabuf, DmabufMappingMode};
use smithay::backend::allocator::{Buffer as _, Format, Modifier};
use smithay::backend::renderer::pixman::{PixmanRenderer, PixmanTexture};
use smithay::backend::renderer::{Bind, ImportDma};
use smithay::reexports::pixman::FormatCode;

use super::abandoned_threads::AbandonedThreads;
use super::bands::{Bands, FrameMemory};
use super::canvas::Canvases;
use super::damage::{self, ComparedParts, SceneDamage};
use super::import::{ImportCaches, import};
use super::thread::RenderThread;
use super::{
    Canvas, DrawnFrame, FinishedJob, RenderError, RenderJob, RenderJobId, SoftwareDriver, background, intermediate,
    pixman_error, to_rects,
};
use crate::backend::{Buffer, BufferStorage};
use crate::scene::Scene;

/// The file system of dma-bufs (`DMA_BUF_MAGIC` in `linux/magic.h`).
const DMA_BUF: u64 = 0x444d_4142;

/// Draws with the CPU, through pixman.
pub struct PixmanPainter {
    renderer: PixmanRenderer,
    caches: ImportCaches<PixmanTexture>,
    canvases: Canvases<(), SceneDamage>,
    /// Divides large frames among the processor's cores.
    pub(super) bands: Bands,
    /// Jobs that were pending when OpenGL ES was lost.
    abandoned: AbandonedThreads,
    /// Set if a GPU is to take over when one is available: the allowed kind of driver, and why none is in use.
    /// `None`: Pixman was chosen.
    pub(super) stands_in: Option<(SoftwareDriver, String)>,
}

impl PixmanPainter {
    pub(super) fn new() -> Result<Self, RenderError> {
        let renderer = PixmanRenderer::new().map_err(pixman_error)?;
        let caches = ImportCaches::without_waiting();
        Ok(PixmanPainter {
            renderer,
            caches,
            canvases: Canvases::default(),
            bands: Bands::default(),
            abandoned: AbandonedThreads::default(),
            stands_in: None,
        })
    }

    /// Dmabuf formats that it can read.
    pub(super) fn dmabuf_formats(&self) -> Vec<Format> {
        self.renderer.dmabuf_formats().iter().copied().collect()
    }

    /// Tests whether it can read this buffer. The buffer is not imported here, because an import would wait until
    /// the GPU has finished drawing into it. The first frame that shows it comes after that, and imports it.
    pub(super) fn try_source(dmabuf: &Dmabuf) -> Result<(), RenderError> {
        let descriptor = dmabuf.handles().next().filter(|_| dmabuf.num_planes() == 1);
        let descriptor = descriptor.ok_or_else(|| pixman_error("it has several planes"))?;
        if rustix::fs::fstatfs(descriptor).map_err(pixman_error)?.f_type as u64 != DMA_BUF {
            return Err(pixman_error("it is not a dma-buf"));
        }
        let format = dmabuf.format();
        if FormatCode::try_from(format.code).is_err() || format.modifier != Modifier::Linear {
            return Err(pixman_error("it has an unknown format"));
        }
        let stride = dmabuf.strides().next().map_or(0, |stride| stride as usize);
        let length = dmabuf.map_plane(0, DmabufMappingMode::READ).map_err(pixman_error)?.length();
        if !stride.is_multiple_of(size_of::<u32>()) || length < stride * dmabuf.size().h.unsigned_abs() as usize {
            return Err(pixman_error("its rows exceed its memory"));
        }
        Ok(())
    }

    /// Takes over the pending jobs and buffer tests of a lost renderer.
    pub(super) fn take_over(&mut self, abandoned: AbandonedThreads) {
        self.abandoned = abandoned;
    }

    /// Ends a thread that is not used, without waiting.
    pub(super) fn give_up(&mut self, thread: RenderThread) {
        self.abandoned.close_thread(thread);
    }

    /// Hands the pending jobs of lost renderers over to the next renderer.
    pub(super) fn leave(&mut self) -> AbandonedThreads {
        std::mem::take(&mut self.abandoned)
    }

    /// The next job that a lost renderer has returned.
    pub(super) fn finished(&mut self) -> Option<FinishedJob> {
        let abandoned = self.abandoned.next();
        for test in self.abandoned.take_tests() {
            let result = Self::try_source(&test.dmabuf);
            test.finish(result);
        }
        abandoned
    }

    /// Draws the job's scene into its buffer.
    pub(super) fn draw(&mut self, mut job: RenderJob) -> FinishedJob {
        let RenderJob { scene, with_cursor, buffer, canvas, .. } = &mut job;
        let result = self.draw_into(scene, *with_cursor, buffer, canvas);
        match result {
            Ok(_) => self.canvases.of(canvas).frame_drawn(buffer.slot),
            Err(_) => self.canvases.force_full_damage(canvas),
        }
        FinishedJob { id: RenderJobId::default(), job, result, took: None }
    }

    fn draw_into(
        &mut self,
        scene: &Scene,
        with_cursor: bool,
        buffer: &mut Buffer,
        canvas: &Canvas,
    ) -> Result<DrawnFrame, RenderError> {
        let age = self.canvases.of(canvas).age(buffer);
        match &mut buffer.storage {
            BufferStorage::Memory(pixels) => {
                let (size, stride) = ((pixels.width, pixels.height), pixels.width.unsigned_abs() as usize);
                self.draw_in_memory(scene, with_cursor, (&mut pixels.pixels, size, stride), age, canvas)
            }
            BufferStorage::Mapped(mapped) => {
                let size = mapped.size();
                let mut result = Err(pixman_error("the buffer has no memory"));
                mapped.draw(&mut |pixels, stride| {
                    result = self.draw_in_memory(scene, with_cursor, (pixels, size, stride), age, canvas);
                });
                result
            }
            BufferStorage::Device(_) | BufferStorage::Kept(_) => {
                Err(pixman_error("the buffer has no memory that the CPU draws into"))
            }
        }
    }

    fn draw_in_memory(
        &mut self,
        scene: &Scene,
        with_cursor: bool,
        (pixels, (width, height), stride): (&mut [u32], (i32, i32), usize),
        age: usize,
        canvas: &Canvas,
    ) -> Result<DrawnFrame, RenderError> {
        let (width, height) = (width.unsigned_abs() as usize, height.unsigned_abs() as usize);
        if width > stride || stride * height > pixels.len() {
            return Err(pixman_error("the buffer is smaller than its picture"));
        }
        let mut memory = FrameMemory::new(pixels, (width, height), stride);
        let tracker = &mut self.canvases.of(canvas).tracker;
        let region = tracker.observe(scene, ComparedParts { cursor: with_cursor, planes: false }, age);
        if region.is_empty() {
            return Ok(DrawnFrame::default());
        }
        let (mut elements, is_complete) =
            import(&mut self.renderer, scene, with_cursor, Some(&region), &mut self.caches);
        if !is_complete {
            tracker.forget();
        }
        intermediate::prepare(&mut self.renderer, scene, &mut elements);
        let frame = (scene.panel_size(), background(scene));
        let region = damage::on_panel(scene, &region);
        if !self.bands.draw(&mut memory, frame, &elements, &region)? {
            let mut image = memory.image()?;
            let mut target = self.renderer.bind(&mut image).map_err(pixman_error)?;
            damage::draw(&mut self.renderer, &mut target, frame, &elements, &region).map_err(pixman_error)?;
        }
        Ok(DrawnFrame { damage: to_rects(&region), fence: None })
    }
}
