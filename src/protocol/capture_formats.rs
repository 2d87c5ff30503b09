//! Client buffers for captures: the formats to announce, and whether a buffer matches the announcement.

use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::backend::allocator::{Buffer as _, Fourcc, Modifier};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::wayland::dmabuf::get_dmabuf;
use smithay::wayland::shm::{fourcc_to_shm_format, with_buffer_contents};

use crate::output::capture::{CapturePixelFormat, CaptureTarget};
use crate::state::State;

/// Bytes of a pixel in each of these formats.
const BYTES_PER_PIXEL: i32 = 4;

/// Formats for captures of opaque content.
pub const OPAQUE: &[Format] = &[Format::Xrgb8888, Format::Argb8888, Format::Xbgr8888, Format::Abgr8888];

/// Formats for captures of cursors.
pub const TRANSLUCENT: &[Format] = &[Format::Argb8888, Format::Abgr8888];

/// The device that clients may allocate capture buffers on, if any. The buffers must be linear, because the CPU writes
/// them.
pub fn device(state: &State) -> Option<libc::dev_t> {
    state.protocols.dmabuf.device_for(Modifier::Linear, Fourcc::Xrgb8888)
}

/// Why a buffer cannot be captured into, as an error text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitBuffer {
    /// Its size or format differs from the announcement.
    #[error("{0}")]
    Wrong(String),
    /// Its size and format match, but only devices can write its memory layout.
    #[error("{0}")]
    Unwritable(String),
}

impl UnfitBuffer {
    /// The error for a destroyed buffer.
    pub fn gone() -> Self {
        UnfitBuffer::Wrong("the buffer is gone".to_owned())
    }
}

/// `buffer` as the target of a capture of `size` in one of `formats`.
///
/// # Errors
/// Why the buffer cannot be captured into.
pub fn of(buffer: &WlBuffer, size: (i32, i32), formats: &[Format]) -> Result<CaptureTarget, UnfitBuffer> {
    if let Ok(dmabuf) = get_dmabuf(buffer) {
        let dmabuf = dmabuf.clone();
        let layout = layout_of_device(&dmabuf, size, formats)?;
        return Ok(CaptureTarget { buffer: buffer.clone(), layout, dmabuf: Some(dmabuf) });
    }
    let layout = with_buffer_contents(buffer, |_, _, data| {
        let (width, height) = size;
        let fits = (data.width, data.height) == size && data.stride >= width * BYTES_PER_PIXEL;
        if fits && formats.contains(&data.format) {
            return Ok(layout(data.format));
        }
        Err(UnfitBuffer::Wrong(format!(
            "the buffer is {}x{} with a stride of {} and format {:?}, but {width}x{height} in one of {formats:?} was announced",
            data.width, data.height, data.stride, data.format
        )))
    });
    let layout = layout
        .unwrap_or_else(|error| Err(UnfitBuffer::Wrong(format!("the buffer is not in shared memory: {error}"))))?;
    Ok(CaptureTarget { buffer: buffer.clone(), layout, dmabuf: None })
}

const fn layout(format: Format) -> CapturePixelFormat {
    CapturePixelFormat {
        swapped: matches!(format, Format::Xbgr8888 | Format::Abgr8888),
        alpha: matches!(format, Format::Argb8888 | Format::Abgr8888),
    }
}

fn layout_of_device(dmabuf: &Dmabuf, size: (i32, i32), formats: &[Format]) -> Result<CapturePixelFormat, UnfitBuffer> {
    let (has, (width, height)) = (dmabuf.format(), size);
    let known = fourcc_to_shm_format(has.code).filter(|format| formats.contains(format));
    let is_as_large = (dmabuf.size().w, dmabuf.size().h) == size;
    let Some(format) = known.filter(|_| is_as_large) else {
        let own = dmabuf.size();
        return Err(UnfitBuffer::Wrong(format!(
            "the buffer is {}x{} with format {has:?}, but {width}x{height} in one of {formats:?} was announced",
            own.w, own.h
        )));
    };
    let is_linear = has.modifier == Modifier::Linear && dmabuf.num_planes() == 1 && !dmabuf.y_inverted();
    let stride = dmabuf.strides().next().unwrap_or(0);
    let has_room = i64::from(stride) >= i64::from(width) * i64::from(BYTES_PER_PIXEL);
    if is_linear && has_room {
        return Ok(layout(format));
    }
    Err(UnfitBuffer::Unwritable(format!("the buffer is not linear: {has:?}, a stride of {stride}")))
}
