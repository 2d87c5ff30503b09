//! Imports clients' dma-bufs as framebuffers that planes can show.

use std::os::fd::AsFd;

use drm_fourcc::{DrmFourcc, DrmModifier};
use smithay::backend::allocator::format::get_opaque;
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::buffer::{Handle, PlanarBuffer};
use smithay::reexports::drm::control::{Device, FbCmd2Flags, framebuffer};

use crate::backend::plane::DeviceMemory;

/// The largest number of memory planes of a framebuffer.
const MOST_PARTS: usize = 4;

/// The same format without alpha, for a plane that must not blend.
pub(super) fn opaque_format(code: u32) -> Option<DrmFourcc> {
    let format = DrmFourcc::try_from(code).ok()?;
    Some(get_opaque(format).unwrap_or(format))
}

/// Creates a framebuffer for `memory` that ignores its alpha. Call it on the worker: the memory may belong to another
/// device, and the import then waits for that device.
pub(super) fn import(device: &DrmDeviceFd, memory: &DeviceMemory) -> std::io::Result<framebuffer::Handle> {
    let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidInput);
    let format = opaque_format(memory.format).ok_or_else(invalid)?;
    let has_modifier = DrmModifier::from(memory.modifier) != DrmModifier::Invalid;
    if !has_modifier || memory.parts.is_empty() || memory.parts.len() > MOST_PARTS {
        return Err(invalid());
    }
    let mut handles = [None; MOST_PARTS];
    let mut imported = Ok(());
    for (handle, part) in handles.iter_mut().zip(&memory.parts) {
        match device.prime_fd_to_buffer(part.descriptor.as_fd()) {
            Ok(found) => *handle = Some(found),
            Err(error) => imported = Err(error),
        }
    }
    let framebuffer =
        imported.and_then(|()| add(device, &FramebufferLayout { memory, format, handles, modifier: true }));
    // The framebuffer holds its own reference to the memory, so close the handles. Importing the same memory twice
    // returns the same handle: close it once.
    for (index, handle) in handles.iter().enumerate() {
        if let Some(handle) = handle.filter(|_| !handles[..index].contains(handle)) {
            let _ = device.close_buffer(handle);
        }
    }
    framebuffer
}

/// A buffer without a modifier has an unknown layout, because the driver that drew it may have tiled it. Drivers
/// without modifiers take it as linear.
fn add(device: &DrmDeviceFd, layout: &FramebufferLayout<'_>) -> std::io::Result<framebuffer::Handle> {
    let explicit = device.add_planar_framebuffer(layout, FbCmd2Flags::MODIFIERS);
    if explicit.is_err() && layout.modifier() == Some(DrmModifier::Linear) {
        return device.add_planar_framebuffer(&FramebufferLayout { modifier: false, ..*layout }, FbCmd2Flags::empty());
    }
    explicit
}

#[derive(Clone, Copy)]
struct FramebufferLayout<'a> {
    memory: &'a DeviceMemory,
    format: DrmFourcc,
    handles: [Option<Handle>; MOST_PARTS],
    /// Whether to pass the modifier to the kernel.
    modifier: bool,
}

impl FramebufferLayout<'_> {
    fn of_parts(&self, value: impl Fn(&crate::backend::plane::MemoryPart) -> u32) -> [u32; MOST_PARTS] {
        let mut values = [0; MOST_PARTS];
        values.iter_mut().zip(&self.memory.parts).for_each(|(slot, part)| *slot = value(part));
        values
    }
}

impl PlanarBuffer for FramebufferLayout<'_> {
    fn size(&self) -> (u32, u32) {
        (self.memory.width, self.memory.height)
    }

    fn format(&self) -> DrmFourcc {
        self.format
    }

    fn modifier(&self) -> Option<DrmModifier> {
        self.modifier.then(|| DrmModifier::from(self.memory.modifier))
    }

    fn pitches(&self) -> [u32; MOST_PARTS] {
        self.of_parts(|part| part.stride)
    }

    fn handles(&self) -> [Option<Handle>; MOST_PARTS] {
        self.handles
    }

    fn offsets(&self) -> [u32; MOST_PARTS] {
        self.of_parts(|part| part.offset)
    }
}
