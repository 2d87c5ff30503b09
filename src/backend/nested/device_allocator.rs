//! Buffers in the memory of the parent's device: the renderer draws into them, and the parent reads them, without a
//! copy.
//!
//! Their layout is the first one that the renderer can draw into, GBM can allocate and the parent takes.

use std::os::fd::{AsFd as _, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

use drm_fourcc::DrmFormat;
use smithay::backend::allocator::Buffer as _;
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
    /// The format and the modifier that the parent took.
    taken: DrmFormat,
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
    /// The formats that the parent lists.
    read: Vec<DrmFormat>,
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
        Ok(DeviceTrial { device, allocator, layouts, read: read.to_vec() })
    }

    /// The first layout of which the parent takes a buffer that the renderer can draw into. `takes` asks the parent; its
    /// error ends the search. The error says why the last layout was refused.
    pub(super) fn choose(
        mut self,
        renderer: &mut dyn DeviceRenderer,
        mut takes: impl FnMut(&DeviceMemory) -> Result<bool, String>,
        dmabuf: ZwpLinuxDmabufV1,
        sync: Option<WpLinuxDrmSyncobjManagerV1>,
    ) -> Result<DeviceAllocator, String> {
        let mut reason = String::new();
        for layout in std::mem::take(&mut self.layouts) {
            let drawn = self.drawn(&layout, renderer);
            let refused = match drawn {
                Ok((format, memory)) if takes(&memory)? => {
                    let sync = sync.filter(|_| buffer_timeline::is_supported(&self.device));
                    let DeviceTrial { device, allocator, .. } = self;
                    let layout = layout.narrowed(format.modifier);
                    return Ok(DeviceAllocator { device, allocator, layout, taken: format, dmabuf, sync });
                }
                Ok(_) => "the parent refuses it".to_owned(),
                Err(error) => error,
            };
            tracing::debug!(%layout, refused, "buffers of this layout cannot be shared with the parent");
            reason = refused;
        }
        Err(reason)
    }

    /// A buffer of this layout that the renderer can draw into, if the parent lists the modifier that it got.
    fn drawn(
        &mut self,
        layout: &GbmLayout,
        renderer: &mut dyn DeviceRenderer,
    ) -> Result<(DrmFormat, Arc<DeviceMemory>), String> {
        let buffer = layout.allocate(&mut self.allocator, TEST_SIZE)?;
        let (format, memory) = (buffer.format(), Arc::new(memory_of(&buffer)?));
        if !self.read.contains(&format) {
            return Err(format!("GBM chose a modifier that the parent does not list ({format:?})"));
        }
        renderer.try_draw(&memory)?;
        Ok((format, memory))
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
        let format = gbm.format();
        if format != self.taken {
            return Err(format!("GBM chose another modifier than the parent has taken ({format:?})"));
        }
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
