//! Contexts of OpenGL ES on the devices that there are. All of it is called on the thread that is to draw: drivers take
//! their time.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use smithay::backend::allocator::gbm::GbmDevice;
use smithay::backend::egl::EGLDevice;
use smithay::reexports::drm::Device;

use super::gles::GlesPainter;
use super::hardware::{self, Facts, Unfit};
use super::{RenderError, Software, gles_error};
use crate::log_noise::probing;

/// Where the kernel has devices' nodes.
const NODES: &str = "/dev/dri";
/// What the nodes for drawing are called, before their number.
const RENDER_NODE: &str = "renderD";

/// Whether there is any device that could draw in hardware. Found out without a driver: loading one takes memory that a
/// machine without a GPU better keeps.
pub(super) fn is_there() -> bool {
    let Ok(nodes) = std::fs::read_dir(NODES) else { return false };
    nodes.flatten().any(|node| node.file_name().as_encoded_bytes().starts_with(RENDER_NODE.as_bytes()))
}

/// The driver of virtual machines' displays.
const VIRTUAL: &str = "virtio_gpu";
/// `DRM_IOCTL_VIRTGPU_GETPARAM` of its interface (`drm/virtgpu_drm.h`).
const GET_PARAMETER: libc::Ioctl = 0xc010_6443_u32 as libc::Ioctl;
/// `VIRTGPU_PARAM_3D_FEATURES`: the host draws for the guest.
const HOST_DRAWS: u64 = 1;

/// `struct drm_virtgpu_getparam`.
#[repr(C)]
struct GetParameter {
    parameter: u64,
    /// Where the answer goes, a C `int`.
    value: u64,
}

struct Node<'a>(BorrowedFd<'a>);

impl AsFd for Node<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0
    }
}

impl Device for Node<'_> {}

/// Why nothing but the CPU can be behind a device, if its kernel driver says so. Asked before OpenGL, whose driver for the
/// CPU takes half a second and fifty megabytes to say the same.
fn software_by_kernel(device: BorrowedFd<'_>) -> Option<String> {
    let driver = Node(device).get_driver().ok()?;
    let name = driver.name().to_string_lossy().into_owned();
    (name == VIRTUAL && !host_draws(device)).then(|| format!("the host of {name} draws for nobody"))
}

fn host_draws(device: BorrowedFd<'_>) -> bool {
    let mut answer: libc::c_int = 0;
    let mut question = GetParameter { parameter: HOST_DRAWS, value: (&raw mut answer) as u64 };
    #[expect(unsafe_code, reason = "there is no other way to ask a driver of its own things")]
    // SAFETY: the kernel reads the question, and writes an `int` where its value says, both of which outlive the call.
    let asked = unsafe { libc::ioctl(device.as_raw_fd(), GET_PARAMETER, &raw mut question) };
    asked == 0 && answer != 0
}

impl GlesPainter {
    /// Off screen, on the first device that draws in hardware; `software`: or on any that is a device at all. An error
    /// says of each device why it does not draw.
    pub(super) fn on_gpu(software: Software) -> Result<Self, RenderError> {
        let devices = probing(EGLDevice::enumerate).map_err(gles_error)?;
        let candidates = devices.filter_map(|device| {
            let path = probing(|| node_of(&device))?;
            Some(Self::candidate(device, &path, software))
        });
        hardware::choose(candidates).map_err(RenderError::Gles)
    }

    fn candidate(device: EGLDevice, path: &Path, software: Software) -> Result<(Facts, Self), Unfit> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let node = std::fs::metadata(path).map(|node| std::os::unix::fs::MetadataExt::rdev(&node)).ok();
        let is_software = probing(|| device.is_software());
        if software == Software::OffScreen
            && let Some(reason) = File::open(path).ok().and_then(|file| software_by_kernel(file.as_fd()))
        {
            return Err(Unfit::Failed { device: name, reason });
        }
        match probing(|| Self::on(device, None, node)) {
            Ok(painter) if software == Software::InPlace => Ok((Facts { device: name, ..Facts::default() }, painter)),
            Ok(mut painter) => Ok((Facts { device: name, renderer: painter.name(), is_software }, painter)),
            Err(error) => Err(Unfit::Failed { device: name, reason: error.to_string() }),
        }
    }

    /// Off screen: with a GPU where there is one, else on the software device, which every machine with Mesa has.
    pub(super) fn off_screen() -> Result<Self, RenderError> {
        if is_there()
            && let Ok(painter) = Self::on_gpu(Software::OffScreen)
        {
            return Ok(painter);
        }
        let device = probing(EGLDevice::enumerate)
            .map_err(gles_error)?
            .find(|device| probing(|| device.is_software()))
            .ok_or_else(|| RenderError::Gles("there is no software EGL device; is Mesa installed?".to_owned()))?;
        Self::on(device, None, None)
    }

    /// On a display device, `number` of its kind, through GBM; with a GPU's driver, unless `software` may do so, too.
    pub(super) fn on_display(device: OwnedFd, number: u64, software: Software) -> Result<Self, RenderError> {
        if software == Software::OffScreen
            && let Some(reason) = software_by_kernel(device.as_fd())
        {
            return Err(RenderError::Gles(reason));
        }
        let device = GbmDevice::new(device).map_err(|error| RenderError::Gles(format!("GBM: {error}")))?;
        let mut painter = probing(|| Self::on(device, Some(number), Some(number)))?;
        let renderer = painter.name();
        let facts = Facts { renderer, is_software: painter.is_software(), ..Facts::default() };
        if software == Software::OffScreen && !facts.is_hardware() {
            return Err(RenderError::Gles(format!("its driver draws with the CPU ({})", facts.renderer)));
        }
        if !painter.draws_into_others() {
            return Err(RenderError::Gles("its driver draws into no memory of others".to_owned()));
        }
        Ok(painter)
    }
}

/// The node of a device for drawing, or the one that it has; none for what is no device.
fn node_of(device: &EGLDevice) -> Option<PathBuf> {
    device.render_device_path().or_else(|_| device.drm_device_path()).ok()
}
