//! Frames with much damage, drawn by several threads. Each draws horizontal bands of the frame, and takes the next band
//! when it has finished one.
//!
//! ```text
//!   frame     band 0  ████████  main thread
//!             band 1  ████████  thread 1
//!             band 2  ████████  thread 1, because it was faster
//!             band 3  ████████  main thread
//! ```
//!
//! A band has the same pixels as without bands, because pixman computes each row by itself: the position in a source
//! follows from the row's number, and threads do not write to each other's rows.
//!
//! Pixman changes an image while it reads it (transform, filter), so each thread has its own image of a client's
//! memory. Images of our own (shadows, corners, the cursor) are small. They are shared, and a lock lets one thread at a
//! time read them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use smithay::backend::renderer::pixman::{PixmanRenderer, PixmanTexture};
use smithay::backend::renderer::{Bind as _, BufferType, Color32F, ImportAll as _, buffer_type};
use smithay::reexports::pixman::{FormatCode, Image};
use smithay::utils::{Physical, Rectangle, Size};

use super::band_threads::{BandThreads, available};
use super::damage::{self, DamageRegion};
use super::element::{LayerElement, LayerFill, SceneElement};
use super::{RenderError, pixman_error};

/// Damaged pixels from which a frame is divided: an eighth of 1080p. Below, waking a thread (about 50 µs) takes a large
/// part of the time that it saves.
const LEAST_DAMAGE: u64 = 1920 * 1080 / 8;
/// Bands per thread, so that a thread that is kept from running leaves little to wait for.
const BANDS_PER_THREAD: usize = 4;
/// Fewer rows are not worth a comparison of all elements with the band.
const LEAST_ROWS: i32 = 32;

/// When a frame is divided, and among how many threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct BandPlan {
    /// Including the calling thread.
    pub threads: usize,
    /// Damaged pixels from which a frame is divided.
    pub least: u64,
}

/// Divides large frames among threads, which are started for the first of them.
pub(super) struct Bands {
    plan: BandPlan,
    threads: Option<BandThreads>,
}

impl From<BandPlan> for Bands {
    fn from(plan: BandPlan) -> Self {
        Bands { plan, threads: None }
    }
}

impl Default for Bands {
    fn default() -> Self {
        BandPlan { threads: available(), least: LEAST_DAMAGE }.into()
    }
}

/// Memory of a frame of 32-bit pixels.
pub(super) struct FrameMemory<'a> {
    pixels: &'a mut [u32],
    size: (usize, usize),
    /// Pixels per row of the memory.
    stride: usize,
}

impl<'a> FrameMemory<'a> {
    /// `size` (width, height) and `stride` in pixels; the rows must lie within `pixels`.
    pub fn new(pixels: &'a mut [u32], size: (usize, usize), stride: usize) -> Self {
        debug_assert!(size.0 <= stride && stride * size.1 <= pixels.len());
        FrameMemory { pixels, size, stride }
    }

    /// The whole frame as an image, which must be dropped before the memory.
    pub fn image(&mut self) -> Result<Image<'static, 'static>, RenderError> {
        self.shared().image()
    }

    fn shared(&mut self) -> SharedMemory {
        SharedMemory { start: self.pixels.as_mut_ptr(), size: self.size, stride: self.stride }
    }
}

/// Memory of a frame that several threads draw into, each into its own bands.
#[derive(Clone, Copy)]
struct SharedMemory {
    start: *mut u32,
    size: (usize, usize),
    stride: usize,
}

// SAFETY: the threads write to different rows, and read only rows that they write to: an image of this memory is a
// target and never a source, and each drawing is clipped to the thread's band.
#[expect(unsafe_code, reason = "a pointer is not `Sync` by itself")]
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    #[expect(unsafe_code, reason = "pixman takes the address of the pixels")]
    fn image(&self) -> Result<Image<'static, 'static>, RenderError> {
        let ((width, height), bytes) = (self.size, self.stride * size_of::<u32>());
        // SAFETY: `FrameMemory` borrows the pixels mutably for longer than the image lives (both are dropped in the
        // function that draws the frame); it holds `height` rows of `bytes` bytes, aligned as `u32`.
        let image = unsafe { Image::from_raw_mut(FormatCode::X8R8G8B8, width, height, self.start, bytes, false) };
        image.map_err(|_| RenderError::Pixman("the buffer cannot be drawn into".to_owned()))
    }
}

impl Bands {
    /// Draws the elements (topmost first) within `region`, in coordinates of the panel of this size. Returns `false`
    /// if the frame is not worth dividing: then nothing was drawn.
    pub fn draw(
        &mut self,
        memory: &mut FrameMemory<'_>,
        frame: (Size<i32, Physical>, Color32F),
        elements: &[SceneElement<'_, PixmanTexture>],
        region: &[Rectangle<i32, Physical>],
    ) -> Result<bool, RenderError> {
        let BandPlan { threads, least } = self.plan;
        if threads < 2 || area(region) < least {
            return Ok(false);
        }
        let bands = divide(region, threads * BANDS_PER_THREAD);
        let others = threads.min(bands.len()) - 1;
        if others == 0 {
            return Ok(false);
        }
        let memory = memory.shared();
        let (next, drawn) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let failure = Mutex::new(None);
        let work = || {
            let painted = draw_bands(&memory, frame, elements, || bands.get(next.fetch_add(1, Ordering::Relaxed)));
            match painted {
                Ok(count) => drop(drawn.fetch_add(count, Ordering::Relaxed)),
                Err(error) => drop(failure.lock().unwrap_or_else(PoisonError::into_inner).insert(error)),
            }
        };
        self.threads.get_or_insert_with(|| BandThreads::start(threads - 1)).share(others, &work);
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None if drawn.into_inner() < bands.len() => Err(pixman_error("a part of the frame was not drawn")),
            None => Ok(true),
        }
    }
}

/// Draws bands until `next` has none left. Returns their number.
fn draw_bands<'a>(
    memory: &SharedMemory,
    frame: (Size<i32, Physical>, Color32F),
    elements: &[SceneElement<'_, PixmanTexture>],
    next: impl Fn() -> Option<&'a DamageRegion>,
) -> Result<usize, RenderError> {
    let Some(first) = next() else { return Ok(0) };
    let mut renderer = PixmanRenderer::new().map_err(pixman_error)?;
    let elements: Vec<_> = elements.iter().map(|element| with_own_image(&mut renderer, element)).collect();
    let mut image = memory.image()?;
    let mut target = renderer.bind(&mut image).map_err(pixman_error)?;
    let mut count = 0;
    for band in std::iter::once(first).chain(std::iter::from_fn(next)) {
        damage::draw(&mut renderer, &mut target, frame, &elements, band).map_err(pixman_error)?;
        count += 1;
    }
    Ok(count)
}

/// The same element; a client's shared memory gets an image of its own.
fn with_own_image<'a>(
    renderer: &mut PixmanRenderer,
    element: &SceneElement<'a, PixmanTexture>,
) -> SceneElement<'a, PixmanTexture> {
    let mut element = element.clone();
    if let SceneElement::Layer(LayerElement { layer, fill, .. }) = &mut element
        && let LayerFill::Texture(texture) | LayerFill::Cornered { texture, .. } = fill
        && let Some(buffer) = &layer.buffer
        && matches!(buffer_type(buffer), Some(BufferType::Shm))
        && let Some(Ok(own)) = renderer.import_buffer(buffer, None, &[])
    {
        *texture = own;
    }
    element
}

fn area(region: &[Rectangle<i32, Physical>]) -> u64 {
    region.iter().map(|rect| u64::from(rect.size.w.unsigned_abs()) * u64::from(rect.size.h.unsigned_abs())).sum()
}

/// Divides a region into at most `most` bands of about equal height, without bands that are empty.
fn divide(region: &[Rectangle<i32, Physical>], most: usize) -> Vec<DamageRegion> {
    let Some(around) = region.iter().copied().reduce(Rectangle::merge) else { return Vec::new() };
    let most = i32::try_from(most.max(1)).unwrap_or(i32::MAX);
    let count = (around.size.h / LEAST_ROWS).clamp(1, most);
    let edge = |number: i32| (i64::from(around.size.h) * i64::from(number) / i64::from(count)) as i32;
    let band = |number: i32| -> DamageRegion {
        let (top, bottom) = (edge(number), edge(number + 1));
        let band = Rectangle::new((around.loc.x, around.loc.y + top).into(), Size::from((around.size.w, bottom - top)));
        region.iter().filter_map(|rect| rect.intersection(band)).filter(|rect| !rect.is_empty()).collect()
    };
    (0..count).map(band).filter(|band| !band.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bands_cover_the_region_once(
            corners in prop::collection::vec((0..300, 0..300, 1..200, 1..200), 0..5),
            most in 0..20_usize,
        ) {
            let rects = corners.into_iter().map(|(x, y, w, h)| Rectangle::new((x, y).into(), Size::from((w, h))));
            let region = rects.fold(DamageRegion::new(), |mut known, rect: Rectangle<i32, Physical>| {
                let new = rect.subtract_rects(known.iter().copied());
                known.extend(new);
                known
            });
            let bands = divide(&region, most);
            prop_assert!(bands.len() <= most.max(1));
            prop_assert_eq!(bands.iter().map(|band| area(band)).sum::<u64>(), area(&region));
            let rows = |band: &DamageRegion| {
                let around = band.iter().copied().reduce(Rectangle::merge).unwrap_or_default();
                (around.loc.y, around.loc.y + around.size.h)
            };
            for pair in bands.windows(2) {
                prop_assert!(rows(&pair[0]).1 <= rows(&pair[1]).0, "two bands share a row");
            }
            for rect in bands.iter().flatten() {
                prop_assert!(region.iter().any(|whole| whole.contains_rect(*rect)));
            }
        }
    }
}
