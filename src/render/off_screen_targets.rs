//! Off-screen frames of OpenGL ES. Each buffer of a display has a target on the GPU, and gets the pixels of its damage
//! if the display reads them. Otherwise the picture stays in its target until it is read.
//!
//! ```text
//!   draw ─┬─► the display needs the pixels:  copy of the damage ─► the buffer's memory
//!         └─► it does not:                   the target keeps them ─► a snapshot reads a part, later or never
//! ```

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smithay::backend::allocator::Fourcc;
use smithay::backend::egl::fence::EGLFence;
use smithay::backend::renderer::damage::OutputDamageTracker;
use smithay::backend::renderer::gles::{
    Capability, GlesMapping, GlesRenderbuffer, GlesRenderer, GlesTarget, GlesTexture,
};
use smithay::backend::renderer::{Bind as _, ExportMem as _, Offscreen as _};
use smithay::utils::{Buffer as BufferCoords, Rectangle, Size};

use super::element::SceneElement;
use super::{DrawnFrame, RenderError, background, gles_error, to_rects};
use crate::backend::kept::KeptPixels;
use crate::backend::overlay::intersection;
use crate::backend::{PixelBuffer, PixelRect, ScreenSnapshot};
use crate::scene::Scene;

/// Identifies a picture in a target. While a copy of it lives, nothing is drawn over the picture.
#[derive(Debug)]
pub(super) struct PictureKey;

/// Reads a part of a kept picture from another thread; blocks until the GPU has copied it.
pub(super) type PictureReader = Arc<dyn Fn(&Arc<PictureKey>, PixelRect) -> Result<Vec<u32>, RenderError> + Send + Sync>;

/// The most targets of one output without readers: more than any display has buffers. Displays may replace buffers,
/// whose targets are then never used again.
const MOST_TARGETS: usize = 8;

/// The off-screen targets of one output, the one used last at the end.
#[derive(Debug, Default)]
pub(super) struct OffScreenTargets(Vec<SlotTarget>);

#[derive(Debug)]
struct SlotTarget {
    /// The display's buffer; `None`: the buffer has another target now, and snapshots still read this one.
    slot: Option<usize>,
    picture: Arc<PictureKey>,
    target: GlesRenderbuffer,
    /// The buffer's memory held the picture after the last frame.
    is_copied: bool,
}

impl OffScreenTargets {
    /// The target of a display's buffer, and whether it holds the buffer's last frame. A picture that may still be read
    /// stays, and the buffer gets a new target.
    fn of(
        &mut self,
        renderer: &mut GlesRenderer,
        slot: usize,
        size: Size<i32, BufferCoords>,
    ) -> Result<(&mut SlotTarget, bool), RenderError> {
        let is_read = |target: &SlotTarget| Arc::strong_count(&target.picture) > 1;
        for target in &mut self.0 {
            if target.slot == Some(slot) && (target.target.size() != size || is_read(target)) {
                target.slot = None;
            }
        }
        self.0.retain(|target| target.slot.is_some() || is_read(target));
        let known = self.0.iter().position(|target| target.slot == Some(slot)).map(|index| self.0.remove(index));
        let is_known = known.is_some();
        let target = match known {
            Some(known) => known,
            None => {
                let target = renderer.create_buffer(Fourcc::Xbgr8888, size).map_err(gles_error)?;
                SlotTarget { slot: Some(slot), picture: Arc::new(PictureKey), target, is_copied: false }
            }
        };
        let unread = self.0.iter().filter(|target| !is_read(target)).count();
        if unread >= MOST_TARGETS
            && let Some(oldest) = self.0.iter().position(|target| !is_read(target))
        {
            self.0.remove(oldest);
        }
        self.0.push(target);
        let index = self.0.len() - 1;
        Ok((&mut self.0[index], is_known))
    }

    /// Whether pictures may still be read.
    pub fn are_read(&self) -> bool {
        self.0.iter().any(|target| Arc::strong_count(&target.picture) > 1)
    }

    /// The target that holds this picture.
    pub fn of_picture(&mut self, picture: &Arc<PictureKey>) -> Option<&mut GlesRenderbuffer> {
        self.0.iter_mut().find(|target| Arc::ptr_eq(&target.picture, picture)).map(|target| &mut target.target)
    }
}

/// A frame to be drawn off screen.
pub(super) struct OffScreenJob<'a> {
    pub scene: &'a Scene,
    pub elements: &'a [SceneElement<'a, GlesTexture>],
    /// Index of the display's buffer.
    pub slot: usize,
    /// How many frames ago the buffer's content was drawn; 0 if unknown.
    pub age: usize,
    /// The driver copies pixels with blue first.
    pub blue_first: bool,
}

impl OffScreenJob<'_> {
    /// Draws, and copies the damage into the buffer's memory.
    pub fn draw_and_copy(
        &self,
        renderer: &mut GlesRenderer,
        memory: &mut PixelBuffer,
        (targets, tracker): (&mut OffScreenTargets, &mut OutputDamageTracker),
        read_back: &mut u64,
    ) -> Result<DrawnFrame, RenderError> {
        let size = Size::from((memory.width, memory.height));
        let (of_slot, is_known) = targets.of(renderer, self.slot, size)?;
        let age = if is_known { self.age } else { 0 };
        let mut target = renderer.bind(&mut of_slot.target).map_err(gles_error)?;
        let drawn = tracker.render_output(renderer, &mut target, age, self.elements, background(self.scene));
        let drawn = drawn.map_err(|error| RenderError::Gles(error.to_string()))?;
        let damage = drawn.damage.map(|damage| to_rects(damage)).unwrap_or_default();
        let holds_last = std::mem::replace(&mut of_slot.is_copied, true) && age > 0;
        let whole = PixelRect { x: 0, y: 0, width: memory.width, height: memory.height };
        let changed = if holds_last { around(&damage) } else { Some(whole) };
        let changed = changed.map(|changed| intersection(changed, whole));
        if let Some(changed) = changed.filter(|changed| area(*changed) > 0) {
            let copied = copy_to(renderer, &mut target, memory, (changed, self.blue_first));
            of_slot.is_copied = copied.is_ok();
            copied?;
            *read_back += area(changed);
        }
        Ok(DrawnFrame { damage, fence: None })
    }

    /// Draws, and keeps the picture in its target. Returns when the GPU is done.
    pub fn draw_and_keep(
        &self,
        renderer: &mut GlesRenderer,
        memory: &mut PixelBuffer,
        (targets, tracker): (&mut OffScreenTargets, &mut OutputDamageTracker),
        reader: &PictureReader,
    ) -> Result<(DrawnFrame, KeptPixels), RenderError> {
        let (width, height) = (memory.width, memory.height);
        let (of_slot, is_known) = targets.of(renderer, self.slot, Size::from((width, height)))?;
        let age = if is_known { self.age } else { 0 };
        let mut target = renderer.bind(&mut of_slot.target).map_err(gles_error)?;
        let drawn = tracker.render_output(renderer, &mut target, age, self.elements, background(self.scene));
        let drawn = drawn.map_err(|error| RenderError::Gles(error.to_string()))?;
        let damage = drawn.damage.map(|damage| to_rects(damage)).unwrap_or_default();
        // The display shows no frame before it is complete, and a frame with a fence could not queue there.
        drawn
            .sync
            .wait()
            .map_err(|_| RenderError::Gles("waiting for the drawing to end was interrupted".to_owned()))?;
        of_slot.is_copied = false;
        let (picture, reader) = (of_slot.picture.clone(), reader.clone());
        let read = move |rect| {
            let read = reader(&picture, rect);
            read.inspect_err(|error| tracing::debug!(%error, "a picture on the GPU cannot be read")).ok()
        };
        let known = Mutex::new(KnownParts::default());
        let picture = ScreenSnapshot::new(width, height, move |rect, pixels| {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.read(rect, (width, height), &read, pixels)
        });
        Ok((DrawnFrame { damage, fence: None }, KeptPixels { memory: std::mem::take(memory), picture }))
    }
}

/// What was read of a kept picture. Captures read a picture in strips: from the second read on, all of it is copied
/// once, since each copy may wait for a frame that is being drawn.
#[derive(Default)]
struct KnownParts {
    was_read: bool,
    whole: Option<ScreenSnapshot>,
}

impl KnownParts {
    fn read(
        &mut self,
        rect: PixelRect,
        (width, height): (i32, i32),
        copy: impl Fn(PixelRect) -> Option<Vec<u32>>,
        pixels: &mut Vec<u32>,
    ) -> bool {
        if !std::mem::replace(&mut self.was_read, true) {
            let part = copy(rect);
            return part.map(|part| *pixels = part).is_some();
        }
        if self.whole.is_none() {
            let whole = copy(PixelRect { x: 0, y: 0, width, height });
            self.whole = whole.map(|pixels| ScreenSnapshot::copied(PixelBuffer { width, height, pixels }));
        }
        self.whole.as_ref().is_some_and(|whole| whole.read(rect, pixels))
    }
}

/// A part of a picture that the GPU copies into memory that the CPU can read.
pub(super) struct GpuCopy {
    mapping: GlesMapping,
    /// Red comes first in memory; otherwise blue, as in our buffers.
    is_red_first: bool,
    fence: Option<OwnedFd>,
}

impl GpuCopy {
    /// Starts to copy. `blue_first`: the driver can, as it is in our channel order.
    pub fn start(
        renderer: &mut GlesRenderer,
        target: &mut GlesTarget<'_>,
        rect: PixelRect,
        blue_first: bool,
    ) -> Result<Self, RenderError> {
        let region = Rectangle::new((rect.x, rect.y).into(), (rect.width, rect.height).into());
        let order = if blue_first { Fourcc::Argb8888 } else { Fourcc::Xbgr8888 };
        let mapping = renderer.copy_framebuffer(target, region, order).map_err(gles_error)?;
        Ok(GpuCopy { mapping, is_red_first: !blue_first, fence: fence_of_copy(renderer) })
    }

    /// Waits until the copy is done, at most for `longest`. Without a fence the wait is in [`append_to`](Self::append_to).
    pub fn wait(&self, longest: Duration) {
        if let (Some(fence), Ok(longest)) = (&self.fence, Timespec::try_from(longest)) {
            // After an error or a signal, mapping the copy waits.
            let _ = poll(&mut [PollFd::new(fence, PollFlags::IN)], Some(&longest));
        }
    }

    /// Appends its pixels, rows from the top.
    pub fn append_to(&self, renderer: &mut GlesRenderer, pixels: &mut Vec<u32>) -> Result<(), RenderError> {
        let bytes = renderer.map_texture(&self.mapping).map_err(gles_error)?;
        let order: fn([u8; 4]) -> u32 = if self.is_red_first {
            |[r, g, b, _]: [u8; 4]| u32::from_be_bytes([0, r, g, b])
        } else {
            u32::from_le_bytes
        };
        pixels.extend(bytes.as_chunks().0.iter().map(|pixel| order(*pixel)));
        Ok(())
    }
}

/// Signals when the GPU has done all work until now; `None` if it cannot tell.
fn fence_of_copy(renderer: &mut GlesRenderer) -> Option<OwnedFd> {
    if !renderer.capabilities().contains(&Capability::ExportFence) {
        return None;
    }
    let fence = EGLFence::create(renderer.egl_context().display()).ok()?;
    #[expect(unsafe_code, reason = "OpenGL is a C interface")]
    // SAFETY: the context is current in the closure, and the call has no arguments.
    renderer.with_context(|gl| unsafe { gl.Flush() }).ok()?;
    fence.export().ok()
}

/// Copies a part of the target to the same place of `memory`.
fn copy_to(
    renderer: &mut GlesRenderer,
    target: &mut GlesTarget<'_>,
    memory: &mut PixelBuffer,
    (part, blue_first): (PixelRect, bool),
) -> Result<(), RenderError> {
    let copy = GpuCopy::start(renderer, target, part, blue_first)?;
    let mut pixels = Vec::with_capacity(area(part) as usize);
    copy.append_to(renderer, &mut pixels)?;
    let (width, left) = (part.width.unsigned_abs() as usize, part.x.unsigned_abs() as usize);
    let stride = memory.width.unsigned_abs() as usize;
    let rows = memory.pixels.chunks_exact_mut(stride.max(1)).skip(part.y.unsigned_abs() as usize);
    for (row, from) in rows.zip(pixels.chunks_exact(width.max(1))) {
        row[left..left + width].copy_from_slice(from);
    }
    Ok(())
}

/// The smallest rectangle around all of them; `None` if there is none.
fn around(rects: &[PixelRect]) -> Option<PixelRect> {
    rects.iter().copied().reduce(|a, b| {
        let (x, y) = (a.x.min(b.x), a.y.min(b.y));
        let (right, bottom) = ((a.x + a.width).max(b.x + b.width), (a.y + a.height).max(b.y + b.height));
        PixelRect { x, y, width: right - x, height: bottom - y }
    })
}

/// Number of pixels.
pub(super) fn area(rect: PixelRect) -> u64 {
    u64::from(rect.width.unsigned_abs()) * u64::from(rect.height.unsigned_abs())
}
