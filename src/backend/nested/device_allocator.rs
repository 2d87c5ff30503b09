//! Buffers in the memory of the parent's device: the renderer draws into them, and the parent reads them, without a
//! copy.
//!
//! Their layout is the first one that the renderer can draw into, GBM can allocate and the parent takes.

use std::os::fd::{AsFd as _, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

use drm_fourcc::DrmFormat;
use smithay::backend::allocator::gbm::{GbmAllocator, GbmBuffer, GbmBufferFlags, GbmDevice};
use wayland_client::QueueHandle;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::{Flags, ZwpLinuxBufferParamsV1};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1;

use super::buffer_timeline::{self, BufferTimeline};
use super::parent::ParentState;
use super::parent_device::ParentDevice;
use super::pool::BufferTag;
use crate::backend::DeviceRenderer;
use crate::backend::gbm_layout::{GbmLayout, layouts, memory_of};
use crate::backend::plane::DeviceMemory;

/// Width and height of the buffer that tests a layout.
const TEST_SIZE: (i32, i32) = (256, 256);

/// Allocates the buffers of all windows.
#[derive(Debug)]
pub(super) struct DeviceAllocator {
    device: ParentDevice,
    allocator: GbmAllocator<ParentDevice>,
    layout: GbmLayout,
    dmabuf: ZwpLinuxDmabufV1,
    /// `None`: the parent waits for the fences that the memory itself has.
    sync: Option<WpLinuxDrmSyncobjManagerV1>,
}

/// The memory of one buffer.
#[derive(Debug)]
pub(super) struct ParentMemory {
    pub gbm: Arc<GbmBuffer>,
    /// For the renderer.
    pub memory: Arc<DeviceMemory>,
}

/// The device whose layouts are tried.
pub(super) struct DeviceTrial {
    device: ParentDevice,
    allocator: GbmAllocator<ParentDevice>,
    layouts: Vec<GbmLayout>,
}

impl DeviceTrial {
    /// The layouts that the parent lists (`read`) and the renderer can draw on `device`, whose number is `number`. The
    /// error is a sentence.
    pub(super) fn new(
        device: OwnedFd,
        number: u64,
        read: &[DrmFormat],
        renderer: &dyn DeviceRenderer,
    ) -> Result<Self, String> {
        let device = ParentDevice::new(device);
        let gbm = GbmDevice::new(device.clone()).map_err(|error| format!("GBM: {error}"))?;
        let allocator = GbmAllocator::new(gbm, GbmBufferFlags::RENDERING);
        let layouts = layouts(read, &renderer.formats(number));
        let layouts: Vec<_> = layouts.into_iter().filter(|layout| layout.is_listed(read)).collect();
        if layouts.is_empty() {
            return Err("the parent reads no format that can be rendered".to_owned());
        }
        Ok(DeviceTrial { device, allocator, layouts })
    }

    /// The first layout of which `accepts` takes a buffer that the renderer can draw into. The error says why the last
    /// one was refused.
    pub(super) fn choose(
        mut self,
        renderer: &mut dyn DeviceRenderer,
        mut accepts: impl FnMut(&DeviceMemory) -> Result<(), String>,
        dmabuf: ZwpLinuxDmabufV1,
        sync: Option<WpLinuxDrmSyncobjManagerV1>,
    ) -> Result<DeviceAllocator, String> {
        let mut reason = String::new();
        for layout in self.layouts {
            let tested = layout.allocate(&mut self.allocator, TEST_SIZE).and_then(|buffer| {
                let memory = Arc::new(memory_of(&buffer)?);
                renderer.try_draw(&memory)?;
                accepts(&memory)
            });
            match tested {
                Ok(()) => {
                    let sync = sync.filter(|_| buffer_timeline::is_supported(&self.device));
                    let DeviceTrial { device, allocator, .. } = self;
                    return Ok(DeviceAllocator { device, allocator, layout, dmabuf, sync });
                }
                Err(error) => {
                    tracing::debug!(%layout, error, "buffers of this layout cannot be shared with the parent");
                    reason = error;
                }
            }
        }
        Err(reason)
    }
}

impl DeviceAllocator {
    /// The layout of its buffers, for messages.
    pub(super) const fn layout(&self) -> &GbmLayout {
        &self.layout
    }

    /// The parent's object for explicit synchronisation, if it is used.
    pub(super) const fn sync(&self) -> Option<&WpLinuxDrmSyncobjManagerV1> {
        self.sync.as_ref()
    }

    /// A buffer of `size` pixels. The error is a sentence.
    pub(super) fn allocate(&self, size: (i32, i32)) -> Result<ParentMemory, String> {
        let gbm = self.layout.allocate(&mut self.allocator.clone(), size)?;
        let memory = Arc::new(memory_of(&gbm)?);
        Ok(ParentMemory { gbm: Arc::new(gbm), memory })
    }

    /// The parent's object for a buffer. Its layout was tested, so the parent takes it.
    pub(super) fn share(&self, memory: &DeviceMemory, tag: BufferTag, handle: &QueueHandle<ParentState>) -> WlBuffer {
        let parameters = parameters(&self.dmabuf, memory, handle);
        let (width, height) = (memory.width.cast_signed(), memory.height.cast_signed());
        let buffer = parameters.create_immed(width, height, memory.format, Flags::empty(), handle, tag);
        parameters.destroy();
        buffer
    }

    /// A timeline for a buffer; `None` without explicit synchronisation.
    pub(super) fn timeline(&self, handle: &QueueHandle<ParentState>) -> std::io::Result<Option<BufferTimeline>> {
        self.sync.as_ref().map(|manager| BufferTimeline::new(&self.device, manager, handle)).transpose()
    }
}

/// Describes a buffer to the parent.
pub(super) fn parameters(
    dmabuf: &ZwpLinuxDmabufV1,
    memory: &DeviceMemory,
    handle: &QueueHandle<ParentState>,
) -> ZwpLinuxBufferParamsV1 {
    let parameters = dmabuf.create_params(handle, ());
    let (high, low) = ((memory.modifier >> 32) as u32, memory.modifier as u32);
    for (index, part) in (0..).zip(&memory.parts) {
        parameters.add(part.descriptor.as_fd(), index, part.offset, part.stride, high, low);
    }
    parameters
}

/// The allocator as windows share it.
pub(super) type SharedAllocator = Rc<DeviceAllocator>;
