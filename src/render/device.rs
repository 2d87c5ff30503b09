//! Creates OpenGL ES contexts on the available devices. Call these functions on the thread that will draw, because
//! drivers may block.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use smithay::backend::allocator::gbm::GbmDevice;
use smithay::reexports::drm::Device;

use super::egl_device::EglDevice;
use super::gles::GlesPainter;
use super::hardware::{self, DeviceFacts, RejectedDevice};
use super::{RenderError, SoftwareDriver};
use crate::log_filter::probing;

/// Directory of the kernel's DRM device nodes.
const NODES: &str = "/dev/dri";
/// Name of render nodes, before their number.
const RENDER_NODE: &str = "renderD";
/// Nodes of drivers that draw without one: NVIDIA's in containers, and Windows' GPU below Linux.
const OTHER_NODES: [&str; 2] = ["/dev/nvidiactl", "/dev/dxg"];

/// Whether the machine has a device that may draw. Checked without a driver, because loading a driver would waste memory
/// on a machine without a GPU.
pub(super) fn is_there() -> bool {
    if OTHER_NODES.iter().any(|node| Path::new(node).exists()) {
        return true;
    }
    let Ok(nodes) = std::fs::read_dir(NODES) else { return false };
    nodes.flatten().any(|node| node.file_name().as_encoded_bytes().starts_with(RENDER_NODE.as_bytes()))
}

/// The driver of virtual machines' displays.
const VIRTUAL: &str = "virtio_gpu";
/// `DRM_IOCTL_VIRTGPU_GETPARAM` of its interface (`drm/virtgpu_drm.h`).
const GET_PARAMETER: libc::Ioctl = 0xc010_6443_u32 as libc::Ioctl;
/// `VIRTGPU_PARAM_3D_FEATURES`: the host draws for the guest.
const HOST_DRAWS: u64 = 1;

/// `struct drm_virtgpu_getparam` of the kernel.
#[repr(C)]
struct GetParameter {
    parameter: u64,
    /// Address of a C `int` for the result.
    value: u64,
}

struct DeviceDescriptor<'a>(BorrowedFd<'a>);

impl AsFd for DeviceDescriptor<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0
    }
}

impl Device for DeviceDescriptor<'_> {}

/// Why the device is known to have no GPU, according to its kernel driver. Checked before OpenGL is loaded, whose
/// software driver would need half a second and fifty megabytes to report the same.
fn software_by_kernel(device: BorrowedFd<'_>) -> Option<String> {
    let driver = DeviceDescriptor(device).get_driver().ok()?;
    let name = driver.name().to_string_lossy().into_owned();
    (name == VIRTUAL && !host_draws(device)).then(|| format!("the host of {name} does not offer 3D rendering"))
}

fn host_draws(device: BorrowedFd<'_>) -> bool {
    let mut answer: libc::c_int = 0;
    let mut question = GetParameter { parameter: HOST_DRAWS, value: (&raw mut answer) as u64 };
    #[expect(unsafe_code, reason = "ioctls of a single driver have no safe wrapper")]
    // SAFETY: the kernel reads `question` and writes an `int` to the address in its `value`; both outlive the call.
    let asked = unsafe { libc::ioctl(device.as_raw_fd(), GET_PARAMETER, &raw mut question) };
    asked == 0 && answer != 0
}

impl GlesPainter {
    /// Off screen, on the first device with a GPU. With [`SoftwareDriver::InPlace`] any device will do. The error lists
    /// for each device why it was rejected.
    pub(super) fn on_gpu(software: SoftwareDriver) -> Result<Self, RenderError> {
        let devices = probing(EglDevice::list)?.into_iter().enumerate();
        let candidates = devices.filter_map(|(number, device)| {
            let path = probing(|| device.node());
            // Mesa's software device has no node. The drivers of GPUs may have none.
            let is_candidate = path.is_some() || !device.is_software();
            is_candidate.then(|| Self::candidate(device, number, path.as_deref(), software))
        });
        hardware::choose(candidates).map_err(RenderError::Gles)
    }

    fn candidate(
        device: EglDevice,
        number: usize,
        path: Option<&Path>,
        software: SoftwareDriver,
    ) -> Result<(DeviceFacts, Self), RejectedDevice> {
        let name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| format!("EGL device {number}"));
        let node = path.and_then(|path| std::fs::metadata(path).ok());
        let node = node.map(|node| std::os::unix::fs::MetadataExt::rdev(&node));
        let is_software = probing(|| device.is_software());
        if software == SoftwareDriver::OffScreen
            && let Some(reason) =
                path.and_then(|path| File::open(path).ok()).and_then(|file| software_by_kernel(file.as_fd()))
        {
            return Err(RejectedDevice::Failed { device: name, reason });
        }
        match probing(|| Self::on(device, None, node)) {
            Ok(painter) if software == SoftwareDriver::InPlace => {
                Ok((DeviceFacts { device: name, ..DeviceFacts::default() }, painter))
            }
            Ok(mut painter) => Ok((DeviceFacts { device: name, renderer: painter.name(), is_software }, painter)),
            Err(error) => Err(RejectedDevice::Failed { device: name, reason: error.to_string() }),
        }
    }

    /// Off screen: with a GPU if there is one, otherwise on the software device, which every machine with Mesa has.
    pub(super) fn off_screen() -> Result<Self, RenderError> {
        if is_there()
            && let Ok(painter) = Self::on_gpu(SoftwareDriver::OffScreen)
        {
            return Ok(painter);
        }
        let device = probing(EglDevice::list)?
            .into_iter()
            .find(|device| probing(|| device.is_software()))
            .ok_or_else(|| RenderError::Gles("there is no software EGL device; is Mesa installed?".to_owned()))?;
        Self::on(device, None, None)
    }

    /// On display device `number`, through GBM. Only with [`SoftwareDriver::InPlace`] may its driver draw with the CPU.
    pub(super) fn on_display(device: OwnedFd, number: u64, software: SoftwareDriver) -> Result<Self, RenderError> {
        if software == SoftwareDriver::OffScreen
            && let Some(reason) = software_by_kernel(device.as_fd())
        {
            return Err(RenderError::Gles(reason));
        }
        let device = GbmDevice::new(device).map_err(|error| RenderError::Gles(format!("GBM: {error}")))?;
        let mut painter = probing(|| Self::on(device, Some(number), Some(number)))?;
        let renderer = painter.name();
        let facts = DeviceFacts { renderer, is_software: painter.is_software(), ..DeviceFacts::default() };
        if software == SoftwareDriver::OffScreen && !facts.is_hardware() {
            return Err(RenderError::Gles(format!("its driver draws with the CPU ({})", facts.renderer)));
        }
        if !painter.draws_into_others() {
            return Err(RenderError::Gles("its driver cannot draw into imported buffers".to_owned()));
        }
        Ok(painter)
    }
}
