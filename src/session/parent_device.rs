//! Chooses the device that a nested session draws on: the parent's, because the parent then reads the frames without a
//! copy.
//!
//! ```text
//!   the parent reads device memory ─► a context on its device draws ─► both take a layout ─► frames are shared
//!          └──── no ──────────────────────────┴── no ──────────────────────┴── no ─► frames are copied
//! ```

use super::parent_backend::ParentBackend;
use super::renderer::RendererDrawer;
use crate::backend::drm::open_node;
use crate::backend::nested::NestedBackend;
use crate::render::{ContextResult, RenderError, Renderer, SLOW};

/// Moves `renderer` to the device of `parent` if it can draw there, otherwise to another GPU if there is one. Waits for
/// drivers and for the parent.
pub(super) fn choose(renderer: &mut Renderer, parent: &mut ParentBackend) -> Result<(), RenderError> {
    if !renderer.wants_device() {
        return Ok(());
    }
    let shared = match parent.as_wayland().filter(|parent| parent.reads_device_memory()) {
        Some(parent) => share_device(renderer, parent)?,
        None => Err("the parent takes no buffers of a GPU".to_owned()),
    };
    match shared {
        Ok(layout) => tracing::info!(layout, "the parent reads the frames where they are drawn"),
        Err(reason) => {
            tracing::debug!(reason, "frames are copied for the parent");
            renderer.find_gpu()?;
        }
    }
    Ok(())
}

/// Draws on the parent's device, into buffers that the parent reads. Returns their layout. The inner error is a sentence.
fn share_device(renderer: &mut Renderer, parent: &mut NestedBackend) -> Result<Result<String, String>, RenderError> {
    let mut number = parent.device();
    if number.is_none() {
        // The parent does not name its device. It may read the driver's own layouts wrongly if it is another one.
        if has_several_devices() {
            return Ok(Err("the parent does not name its device, and there are several".to_owned()));
        }
        renderer.find_gpu()?;
        number = renderer.node();
    }
    let Some(number) = number else { return Ok(Err("there is no device to draw on".to_owned())) };
    let node = renderer.draws_on();
    if let Err(reason) = move_to(renderer, number) {
        return Ok(Err(reason));
    }
    let shared = match open_node(number, node) {
        Ok(file) => parent.use_device(number, file, &mut RendererDrawer(renderer.targets())),
        Err(error) => Err(format!("the device cannot be opened: {error}")),
    };
    if let Err(reason) = &shared {
        tracing::warn!(reason, "frames are copied for the parent");
        // It draws off screen again, where Pixman can replace it.
        renderer.device_removed(number)?;
    }
    Ok(shared)
}

/// Whether there is more than one device to draw on.
fn has_several_devices() -> bool {
    let nodes = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    nodes.filter(|node| node.file_name().as_encoded_bytes().starts_with(b"renderD")).nth(1).is_some()
}

/// Moves the renderer to device `number`, if it draws there. The error is a sentence.
fn move_to(renderer: &mut Renderer, number: u64) -> Result<(), String> {
    let node = renderer.draws_on();
    let pending = renderer.try_device(move || open_node(number, node), number, None);
    let (pending, reason) = match pending.map_err(|error| error.to_string())?.outcome(renderer.patience()) {
        ContextResult::Proven(proven) => {
            renderer.adopt(proven);
            return Ok(());
        }
        ContextResult::Failed(pending, reason) => (pending, reason),
        ContextResult::Pending(pending) => (pending, SLOW.to_owned()),
    };
    renderer.give_up(pending, reason.clone());
    Err(reason)
}
