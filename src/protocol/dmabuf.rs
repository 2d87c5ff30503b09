//! `zwp_linux_dmabuf_v1` 5: buffers in the memory of a device.
//!
//! Offered in a session on displays, once the first display device is there and the renderer can read such buffers. The
//! feedback's first tranche names what planes can scan out: a buffer of that kind may reach the screen without being
//! copied (`output/planes.rs`). What a client passes is read once when it passes it, so that a buffer that cannot be
//! composed is refused and never accepted and left out.
//!
//! A buffer whose content some device has yet to finish holds the commit that attaches it: its own fences are waited for
//! like explicit ones (`surface/fence.rs`).

use std::os::fd::AsFd;

use drm_fourcc::{DrmFormat, DrmModifier};
use smithay::backend::allocator::Buffer as _;
use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::reexports::wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_feedback_v1::TrancheFlags;
use smithay::wayland::dmabuf::{DmabufFeedbackBuilder, DmabufGlobal, DmabufHandler, DmabufState, ImportNotifier};

use crate::backend::plane::{DeviceMemory, MemoryPart};
use crate::state::State;
use crate::surface::memories::Memories;

/// The global, and the buffers that there are.
#[derive(Debug)]
pub struct LinuxDmabuf {
    state: DmabufState,
    global: Option<DmabufGlobal>,
    /// What planes can be told of them.
    pub memories: Memories,
}

impl Default for LinuxDmabuf {
    fn default() -> Self {
        let memories = Memories::default();
        LinuxDmabuf { state: DmabufState::new(), global: None, memories }
    }
}

/// Offers the global, unless it is there already. `device`: the device whose planes can show `scanout`.
pub fn offer(state: &mut State, device: libc::dev_t, scanout: &[DrmFormat]) {
    let Some(renderer) = &state.outputs.renderer else { return };
    let formats = renderer.dmabuf_formats();
    let dmabuf = &mut state.protocols.dmabuf;
    if dmabuf.global.is_some() || formats.is_empty() {
        return;
    }
    let shown: Vec<DrmFormat> = formats
        .iter()
        .copied()
        .filter(|format| {
            let unnamed = DrmFormat { modifier: DrmModifier::Invalid, ..*format };
            scanout.contains(format) || format.modifier == DrmModifier::Linear && scanout.contains(&unnamed)
        })
        .collect();
    let feedback = DmabufFeedbackBuilder::new(device, formats)
        .add_preference_tranche(device, Some(TrancheFlags::Scanout), shown)
        .build();
    match feedback {
        Ok(feedback) => {
            let display = &state.display_handle;
            dmabuf.global = Some(dmabuf.state.create_global_with_default_feedback::<State>(display, &feedback));
        }
        Err(error) => tracing::error!(%error, "buffers in the memory of devices are not offered"),
    }
}

/// Why a buffer is not taken.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("its rows do not lie within its memory")]
    Bounds,
    #[error("its memory cannot be had: {0}")]
    Memory(#[from] std::io::Error),
    #[error("the renderer cannot read it: {0}")]
    Renderer(String),
}

/// Checks what a client says of its memory; everything later relies on it.
fn memory_of(dmabuf: &Dmabuf) -> Result<DeviceMemory, Refusal> {
    let size = dmabuf.size();
    let mut parts = Vec::new();
    for ((descriptor, offset), stride) in dmabuf.handles().zip(dmabuf.offsets()).zip(dmabuf.strides()) {
        let length = rustix::fs::seek(descriptor, rustix::fs::SeekFrom::End(0)).map_err(std::io::Error::from)?;
        let rows = u64::from(size.h.unsigned_abs());
        // Parts after the first have fewer rows in some formats: then only their start is known to lie within.
        let needed = if parts.is_empty() { u64::from(stride) * rows } else { u64::from(stride) };
        if u64::from(offset) + needed > length {
            return Err(Refusal::Bounds);
        }
        let descriptor = descriptor.as_fd().try_clone_to_owned()?;
        parts.push(MemoryPart { descriptor, offset, stride });
    }
    let format = dmabuf.format();
    let (width, height) = (size.w.unsigned_abs(), size.h.unsigned_abs());
    Ok(DeviceMemory { width, height, format: format.code as u32, modifier: format.modifier.into(), parts })
}

fn import(state: &mut State, dmabuf: &Dmabuf) -> Result<(), Refusal> {
    let memory = memory_of(dmabuf)?;
    if let Some(renderer) = &mut state.outputs.renderer {
        renderer.import_dmabuf(dmabuf).map_err(|error| Refusal::Renderer(error.to_string()))?;
    }
    // A plane would show it upside down.
    if !dmabuf.y_inverted() {
        state.protocols.dmabuf.memories.insert(dmabuf, memory);
    }
    Ok(())
}

impl DmabufHandler for State {
    fn dmabuf_state(&mut self) -> &mut DmabufState {
        &mut self.protocols.dmabuf.state
    }

    fn dmabuf_imported(&mut self, _global: &DmabufGlobal, dmabuf: Dmabuf, notifier: ImportNotifier) {
        self.protocols.dmabuf.memories.forget_gone();
        match import(self, &dmabuf) {
            Ok(()) => drop(notifier.successful::<State>()),
            Err(error) => {
                tracing::info!(%error, "a client's buffer is refused");
                notifier.failed();
            }
        }
    }
}

/// A client destroyed `buffer`. The screen may show it for a while.
pub(super) fn destroyed(state: &mut State) {
    state.protocols.dmabuf.memories.forget_gone();
}

smithay::delegate_dmabuf!(State);
