//! Who draws in a session: what was asked for, and what came of it.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::Context as _;
use smithay::backend::drm::{DrmDeviceFd, DrmNode};
use smithay::utils::DeviceFd;

use super::{BackendKind, RendererKind};
use crate::protocol::{dmabuf, syncobj};
use crate::render::{RenderError, Renderer, Software};
use crate::state::State;

/// The renderer that a session starts with. With displays of this machine it may move to their device later.
pub(super) fn start(kind: RendererKind, backend: BackendKind) -> Result<Renderer, RenderError> {
    let mut renderer = match kind {
        RendererKind::Auto => Renderer::automatic(Software::OffScreen)?,
        RendererKind::AutoInPlace => Renderer::automatic(Software::InPlace)?,
        RendererKind::Pixman => Renderer::pixman()?,
        RendererKind::Gles => Renderer::gles()?,
        RendererKind::GlesInPlace => Renderer::gles_in_place()?,
    };
    if backend != BackendKind::Drm {
        renderer.find_gpu()?;
    }
    Ok(renderer)
}

/// Says in the log who draws, and why.
pub(super) fn say(renderer: &Renderer) {
    tracing::info!("drawn by {}", renderer.describe());
}

/// Lets programs draw into the memory of the device that draws, or of `lent`, and use its timelines, where that is not said
/// by displays.
///
/// # Errors
/// If `lent` is no device.
pub(super) fn offer_memory(state: &mut State, lent: Option<&Path>) -> anyhow::Result<()> {
    if let Some(path) = lent {
        let number = std::fs::metadata(path).with_context(|| path.display().to_string())?.rdev();
        dmabuf::offer(state, number, &[]);
        let device = open(path).with_context(|| path.display().to_string())?;
        syncobj::offer(state, &device);
    } else if let Some(number) = state.outputs.renderer().and_then(Renderer::node) {
        dmabuf::offer(state, number, &[]);
        let path = DrmNode::from_dev_id(number).ok().and_then(|node| node.dev_path());
        match path.map(|path| open(&path)) {
            Some(Ok(device)) => syncobj::offer(state, &device),
            Some(Err(error)) => {
                tracing::warn!(%error, "no explicit synchronisation: the device that draws cannot be opened")
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
