//! Starts the renderer of a session, and offers clients the memory of the device that draws.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use drm_fourcc::DrmFormat;
use smithay::backend::drm::{DrmDeviceFd, DrmNode, NodeType};
use smithay::utils::DeviceFd;

use super::{BackendKind, RendererKind};
use crate::backend::DeviceRenderer;
use crate::backend::plane::DeviceMemory;
use crate::protocol::{dmabuf, syncobj};
use crate::render::{RenderError, RenderTargets, Renderer, SoftwareDriver};
use crate::state::State;

/// The `tracing` target of these lines, which are shown by default.
pub const LOG_TARGET: &str = module_path!();

/// Creates the renderer that a session starts with. In a DRM session it may move to a display device
/// later, in a nested session to the parent's device.
pub(super) fn start(kind: RendererKind, backend: BackendKind) -> Result<Renderer, RenderError> {
    let mut renderer = match kind {
        RendererKind::Auto => Renderer::automatic(SoftwareDriver::OffScreen)?,
        RendererKind::AutoInPlace => Renderer::automatic(SoftwareDriver::InPlace)?,
        RendererKind::Pixman => Renderer::pixman()?,
        RendererKind::Gles => Renderer::gles()?,
        RendererKind::GlesInPlace => Renderer::gles_in_place()?,
    };
    // Displays and parents determine the device.
    if backend == BackendKind::Headless {
        renderer.find_gpu()?;
    }
    Ok(renderer)
}

/// The renderer, as backends see it; `None`: there is none, or it draws with the CPU.
pub(super) struct RendererDrawer(pub Option<RenderTargets>);

impl DeviceRenderer for RendererDrawer {
    fn formats(&self, device: u64) -> Vec<DrmFormat> {
        self.0.as_ref().map_or(Vec::new(), |targets| targets.formats(device))
    }

    fn is_cpu(&self) -> bool {
        self.0.is_none()
    }

    fn try_draw(&mut self, memory: &Arc<DeviceMemory>) -> Result<(), String> {
        let targets = self.0.as_ref().ok_or("there is no renderer")?;
        targets.try_draw(memory).map_err(|error| error.to_string())
    }
}

/// Logs the renderer in use and the reason.
pub(super) fn log_renderer(renderer: &Renderer) {
    tracing::info!("drawn by {}", renderer.describe());
}

/// Offers clients linux-dmabuf and explicit synchronisation on the device `lent`, or else on the device that draws. For
/// sessions in which the displays do not offer this.
///
/// # Errors
/// `lent` is not a DRM device.
pub(super) fn offer_memory(state: &mut State, lent: Option<&Path>) -> anyhow::Result<()> {
    if let Some(path) = lent {
        let number = std::fs::metadata(path).with_context(|| path.display().to_string())?.rdev();
        dmabuf::offer(state, number, &[]);
        let device = open(path).with_context(|| path.display().to_string())?;
        syncobj::offer(state, &device);
    } else if let Some(number) = state.outputs.renderer().and_then(Renderer::node) {
        dmabuf::offer(state, number, &[]);
        // A primary node could become the DRM master while no other process is.
        let node = DrmNode::from_dev_id(number).ok();
        let path = node.and_then(|node| node.dev_path_with_type(NodeType::Render).or_else(|| node.dev_path()));
        match path.map(|path| open(&path)) {
            Some(Ok(device)) => syncobj::offer(state, &device),
            Some(Err(error)) => {
                tracing::warn!(%error, "no explicit synchronisation: cannot open the device that draws")
            }
            None => {}
        }
    }
    Ok(())
}

fn open(path: &Path) -> std::io::Result<DrmDeviceFd> {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
    Ok(DrmDeviceFd::new(DeviceFd::from(OwnedFd::from(file))))
}
