//! Chooses the device that a nested session draws on: the parent's, because the parent then reads the frames without a
//! copy.
//!
//! ```text
//!   the parent names a device ─► a context there draws ─► a layout of buffers that both take ─► frames are shared
//!          └──── no ─────────────────┴── no ─► any other GPU, or the CPU ─► frames are copied ◄─┘ no
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
    let moved = match parent.as_wayland() {
        Some(parent) => move_to_device_of(renderer, parent),
        None => Err("an X server gets no buffers of a GPU".to_owned()),
    };
    match moved {
        Ok(layout) => {
            tracing::info!(layout, "the parent reads the frames where they are drawn");
            Ok(())
        }
        Err(reason) => {
            tracing::debug!(reason, "frames are copied for the parent");
            renderer.find_gpu()
        }
    }
}

/// Returns the layout of the buffers. The error is a sentence.
fn move_to_device_of(renderer: &mut Renderer, parent: &mut NestedBackend) -> Result<String, String> {
    let number = parent.device().ok_or("the parent takes no buffers of a GPU")?;
    let node = renderer.draws_on();
    let open = move || open_node(number, node);
    let pending = renderer.try_device(open, number, None).map_err(|error| error.to_string())?;
    match pending.outcome(renderer.patience()) {
        ContextResult::Proven(proven) => renderer.adopt(proven),
        ContextResult::Failed(pending, reason) => {
            renderer.give_up(pending, reason.clone());
            return Err(reason);
        }
        ContextResult::Pending(pending) => {
            renderer.give_up(pending, SLOW.to_owned());
            return Err(SLOW.to_owned());
        }
    }
    let file = open().map_err(|error| format!("its device cannot be opened: {error}"))?;
    let shared = parent.use_device(file, &mut RendererDrawer(renderer.targets()));
    shared.inspect_err(|reason| tracing::warn!(reason, "frames are copied for the parent"))
}
