//! GBM buffers: their layouts, their memory as the renderer takes it, and their pixels.

use std::fmt;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use smithay::backend::allocator::Buffer as _;
use smithay::backend::allocator::dmabuf::AsDmabuf;
use smithay::backend::allocator::gbm::{GbmAllocator, GbmBuffer, GbmBufferFlags};

use super::PixelBuffer;
use super::plane::{DeviceMemory, MemoryPart};

/// Eight bits a channel, preferably without alpha: nothing lies below the picture that it could blend with.
const CODES: [DrmFourcc; 4] = [DrmFourcc::Xrgb8888, DrmFourcc::Argb8888, DrmFourcc::Xbgr8888, DrmFourcc::Abgr8888];

/// The format of the buffers, with its possible modifiers.
#[derive(Clone, Debug)]
pub(super) struct GbmLayout {
    code: DrmFourcc,
    /// Any of these; [`DrmModifier::Invalid`] leaves the choice to the driver.
    modifiers: Vec<DrmModifier>,
}

impl GbmLayout {
    /// Allocates a buffer of this layout that a GPU can draw into and a display can scan out. The error is a sentence.
    pub(super) fn allocate<D: AsFd + 'static>(
        &self,
        allocator: &mut GbmAllocator<D>,
        (width, height): (i32, i32),
    ) -> Result<GbmBuffer, String> {
        let (width, height) = (width.unsigned_abs(), height.unsigned_abs());
        let usage = usage(&self.modifiers);
        let made = allocator.create_buffer_with_flags(width, height, self.code, &self.modifiers, usage);
        made.map_err(|error| format!("GBM cannot allocate {self}: {error}"))
    }

    /// With no modifier but this one.
    pub(super) fn narrowed(self, modifier: DrmModifier) -> Self {
        GbmLayout { modifiers: vec![modifier], ..self }
    }

    /// Whether its format is listed with all of its modifiers.
    pub(super) fn is_listed(&self, listed: &[DrmFormat]) -> bool {
        let code = self.code;
        self.modifiers.iter().all(|modifier| listed.contains(&DrmFormat { code, modifier: *modifier }))
    }
}

/// The usage flags for GBM.
fn usage(modifiers: &[DrmModifier]) -> GbmBufferFlags {
    let usage = GbmBufferFlags::SCANOUT | GbmBufferFlags::RENDERING;
    // For a GBM without modifiers this flag means the same.
    if modifiers == [DrmModifier::Linear] { usage | GbmBufferFlags::LINEAR } else { usage }
}

/// A buffer's memory, for the renderer. The error is a sentence.
pub(super) fn memory_of(buffer: &GbmBuffer) -> Result<DeviceMemory, String> {
    let shared = buffer.export().map_err(|error| format!("it cannot be shared: {error}"))?;
    let layout = shared.offsets().zip(shared.strides());
    let parts = shared.handles().zip(layout).map(|(descriptor, (offset, stride))| {
        let descriptor = descriptor.try_clone_to_owned()?;
        Ok(MemoryPart { descriptor, offset, stride })
    });
    let parts: std::io::Result<Vec<_>> = parts.collect();
    let size = buffer.size();
    Ok(DeviceMemory {
        width: size.w.unsigned_abs(),
        height: size.h.unsigned_abs(),
        format: buffer.format().code as u32,
        modifier: buffer.format().modifier.into(),
        parts: parts.map_err(|error| format!("it cannot be shared: {error}"))?,
    })
}

/// The layouts that can be rendered and shown, the best first: the modifiers that both sides list, then linear, then
/// the driver's own choice.
pub(super) fn layouts(shown: &[DrmFormat], drawn: &[DrmFormat]) -> Vec<GbmLayout> {
    let mut layouts = Vec::new();
    for code in CODES {
        let of = |formats: &[DrmFormat]| -> Vec<DrmModifier> {
            formats.iter().filter(|format| format.code == code).map(|format| format.modifier).collect()
        };
        let (shown, drawn) = (of(shown), of(drawn));
        if shown.is_empty() || drawn.is_empty() {
            continue;
        }
        let unnamed = DrmModifier::Invalid;
        let both = drawn.iter().copied().filter(|modifier| *modifier != unnamed && shown.contains(modifier));
        let named: Vec<_> = both.collect();
        let linear =
            drawn.contains(&DrmModifier::Linear) && (shown.contains(&DrmModifier::Linear) || shown.contains(&unnamed));
        let mut push = |modifiers: Vec<DrmModifier>| layouts.push(GbmLayout { code, modifiers });
        if !named.is_empty() && named != [DrmModifier::Linear] {
            push(named);
        }
        if linear {
            push(vec![DrmModifier::Linear]);
        }
        if drawn.contains(&unnamed) {
            push(vec![unnamed]);
        }
    }
    layouts
}

/// Copies a GBM buffer. The driver converts a tiled layout.
pub(super) fn read_gbm(buffer: &GbmBuffer, (width, height): (i32, i32)) -> Option<PixelBuffer> {
    let (columns, rows) = (width.unsigned_abs(), height.unsigned_abs());
    // Mappings of one device share a context, and two threads may read at the same time.
    static READING: Mutex<()> = Mutex::new(());
    let _reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
    let swapped = matches!(buffer.format().code, DrmFourcc::Xbgr8888 | DrmFourcc::Abgr8888);
    let read = buffer.map(0, 0, columns, rows, |mapped| {
        let rows = mapped.buffer().chunks_exact((mapped.stride() as usize).max(1)).take(rows as usize);
        let pixels = rows.flat_map(|row| row.chunks_exact(4).take(columns as usize)).map(|pixel| {
            let [first, second, third, _] = [pixel[0], pixel[1], pixel[2], pixel[3]];
            let (blue, green, red) = if swapped { (third, second, first) } else { (first, second, third) };
            u32::from_be_bytes([0, red, green, blue])
        });
        PixelBuffer { width, height, pixels: pixels.collect() }
    });
    read.inspect_err(|error| tracing::debug!(%error, "a buffer of the GPU cannot be read")).ok()
}

impl fmt::Display for GbmLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = match self.modifiers.as_slice() {
            [DrmModifier::Invalid] => "with the driver's own layout",
            [DrmModifier::Linear] => "with the linear layout",
            _ => "with a modifier that both sides list",
        };
        write!(f, "{} {layout}", self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILED: DrmModifier = DrmModifier::I915_x_tiled;

    fn formats(code: DrmFourcc, modifiers: &[DrmModifier]) -> Vec<DrmFormat> {
        modifiers.iter().map(|modifier| DrmFormat { code, modifier: *modifier }).collect()
    }

    fn tried(shown: &[DrmFormat], drawn: &[DrmFormat]) -> Vec<(DrmFourcc, Vec<DrmModifier>)> {
        layouts(shown, drawn).into_iter().map(|layout| (layout.code, layout.modifiers)).collect()
    }

    #[test]
    fn a_layout_that_both_sides_name_comes_before_rows() {
        let shown = formats(DrmFourcc::Xrgb8888, &[DrmModifier::Linear, TILED]);
        let drawn = formats(DrmFourcc::Xrgb8888, &[TILED, DrmModifier::Linear, DrmModifier::Invalid]);
        let expected = [vec![TILED, DrmModifier::Linear], vec![DrmModifier::Linear], vec![DrmModifier::Invalid]];
        assert_eq!(tried(&shown, &drawn), expected.map(|modifiers| (DrmFourcc::Xrgb8888, modifiers)));
    }

    #[test]
    fn a_driver_without_modifiers_chooses_by_itself() {
        let none = formats(DrmFourcc::Xrgb8888, &[DrmModifier::Invalid]);
        assert_eq!(tried(&none, &none), [(DrmFourcc::Xrgb8888, vec![DrmModifier::Invalid])]);
    }

    #[test]
    fn rows_are_all_that_another_devices_gpu_may_draw_into() {
        let shown = formats(DrmFourcc::Argb8888, &[DrmModifier::Invalid]);
        let drawn = formats(DrmFourcc::Argb8888, &[DrmModifier::Linear]);
        assert_eq!(tried(&shown, &drawn), [(DrmFourcc::Argb8888, vec![DrmModifier::Linear])]);
    }

    #[test]
    fn a_format_that_only_one_side_knows_is_not_tried() {
        let shown = formats(DrmFourcc::Xrgb8888, &[DrmModifier::Linear]);
        let drawn = formats(DrmFourcc::Abgr8888, &[DrmModifier::Linear]);
        assert!(tried(&shown, &drawn).is_empty());
    }
}
