//! `zwp_linux_dmabuf_v1` 5: buffers in the memory of a device.
//!
//! Offered where there is a device whose memory the renderer can read: the first display device in a session on
//! displays, else the rendering device. The feedback's first tranche has the formats that planes can scan out, so that
//! such a buffer may reach the screen without a copy (`output/scene/planes.rs`). A surface gets the feedback of the
//! output that it is on (`surface/scanout_feedback.rs`); the default feedback is that of the first output. The renderer
//! imports each buffer first, so that a buffer that cannot be composed is refused instead of accepted and not drawn:
//!
//! ```text
//!   create ──────► renderer ┊ its thread imports it ┊ ─► created, or failed
//!   create_immed ► renderer ┊          …            ┊ ─► commits that waited for it are applied, or protocol error
//! ```
//!
//! No thread blocks meanwhile. A commit whose buffer is still being imported waits as it would for a fence
//! ([`DeviceBuffers::import_test_fence`](crate::surface::device_buffers::DeviceBuffers::import_test_fence)).
//!
//! A buffer that some device is still rendering to holds back the commit that attaches it: the buffer's implicit fences
//! are waited for like explicit ones (`surface/fence.rs`).

mod imports;

use std::os::fd::AsFd;
use std::sync::Arc;

use drm_fourcc::{DrmFormat, DrmModifier};
use smithay::backend::allocator::Buffer as _;
use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::reexports::wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_feedback_v1::TrancheFlags;
use smithay::reexports::wayland_protocols::wp::linux_dmabuf::zv1::server::{
    zwp_linux_buffer_params_v1::{self, ZwpLinuxBufferParamsV1},
    zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1,
    zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1,
};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle};
use smithay::wayland::dmabuf::{
    DmabufData, DmabufFeedback, DmabufFeedbackBuilder, DmabufFeedbackData, DmabufGlobal, DmabufGlobalData,
    DmabufHandler, DmabufParamsData, DmabufState, ImportNotifier,
};

use super::dispatch_guard::delegate;
use crate::backend::plane::{DeviceMemory, MemoryPart};
use crate::guard::{self, Handlers, Kind};
use crate::state::State;
use crate::surface::buffer_release::OwnerThread;
use crate::surface::scanout_feedback;
use imports::{DmabufImportRequest, DmabufRefusal, PendingDmabufImport, PendingDmabufImports};

/// Descriptors for each plane of a buffer: the client's, and a duplicate for the display ([`DeviceMemory`]).
const COPIES: usize = 2;

/// The global, and the buffers that are being imported.
#[derive(Debug)]
pub struct LinuxDmabuf {
    state: DmabufState,
    global: Option<DmabufGlobal>,
    /// The main device of the default feedback, and the formats that the renderer could read when the global was
    /// offered.
    main: Option<(libc::dev_t, Vec<DrmFormat>)>,
    imports: PendingDmabufImports,
}

impl Default for LinuxDmabuf {
    fn default() -> Self {
        LinuxDmabuf { state: DmabufState::new(), global: None, main: None, imports: PendingDmabufImports::default() }
    }
}

impl LinuxDmabuf {
    /// The main device, if the renderer can read this format and modifier.
    pub fn device_for(&self, modifier: DrmModifier, code: drm_fourcc::DrmFourcc) -> Option<libc::dev_t> {
        let (device, formats) = self.main.as_ref().filter(|_| self.global.is_some())?;
        formats.contains(&DrmFormat { code, modifier }).then_some(*device)
    }
}

/// Offers the global, unless it is offered already. `scanout`: formats that the planes of `device` can show. Returns
/// the feedback for surfaces on its outputs.
pub fn offer(state: &mut State, device: libc::dev_t, scanout: &[DrmFormat]) -> Option<DmabufFeedback> {
    let formats = state.outputs.renderer()?.dmabuf_formats();
    offer_formats(state, device, formats, scanout)
}

/// As [`offer`], for a renderer that can read `formats`.
pub fn offer_formats(
    state: &mut State,
    device: libc::dev_t,
    formats: Vec<DrmFormat>,
    scanout: &[DrmFormat],
) -> Option<DmabufFeedback> {
    if formats.is_empty() {
        return None;
    }
    let (main, readable) = state.protocols.dmabuf.main.get_or_insert((device, formats)).clone();
    let feedback = match feedback(main, readable, device, scanout) {
        Ok(feedback) => feedback,
        Err(error) => {
            tracing::error!(%error, "zwp_linux_dmabuf_v1 is not offered");
            return None;
        }
    };
    if state.protocols.dmabuf.global.is_none() {
        PendingDmabufImports::receive_results(state);
        drop_released_buffers_here(state);
        let State { display_handle: display, protocols, .. } = state;
        let dmabuf = &mut protocols.dmabuf;
        dmabuf.global = Some(dmabuf.state.create_global_with_default_feedback::<State>(display, &feedback));
    }
    Some(feedback)
}

/// Feedback for clients that render on `main`. The renderer reads `readable`; planes of `device` show `scanout`.
fn feedback(
    main: libc::dev_t,
    readable: Vec<DrmFormat>,
    device: libc::dev_t,
    scanout: &[DrmFormat],
) -> std::io::Result<DmabufFeedback> {
    let is_shown = |format: &DrmFormat| {
        let unnamed = DrmFormat { modifier: DrmModifier::Invalid, ..*format };
        let is_linear = format.modifier == DrmModifier::Linear;
        // Between two devices only linear buffers can be shared, because each device has tiled layouts of its own.
        (main == device || is_linear) && (scanout.contains(format) || is_linear && scanout.contains(&unnamed))
    };
    let shown: Vec<DrmFormat> = readable.iter().copied().filter(is_shown).collect();
    let builder = DmabufFeedbackBuilder::new(main, readable);
    builder.add_preference_tranche(device, Some(TrancheFlags::Scanout), shown).build()
}

/// Makes buffers that other threads release be dropped on this thread.
fn drop_released_buffers_here(state: &mut State) {
    let (home, returned) = OwnerThread::this_thread();
    match state.loop_handle.insert_source(returned, |event, (), _| drop(event)) {
        Ok(_) => state.surfaces.device_buffers_mut().release_on(home),
        Err(error) => {
            tracing::error!(%error, "direct scan-out of clients' buffers is off");
            state.surfaces.device_buffers_mut().set_on_planes(false);
        }
    }
}

/// Checks the sizes that the client gave for its memory, because all later code relies on them.
fn memory_of(dmabuf: &Dmabuf) -> Result<DeviceMemory, DmabufRefusal> {
    let size = dmabuf.size();
    let mut parts = Vec::new();
    for ((descriptor, offset), stride) in dmabuf.handles().zip(dmabuf.offsets()).zip(dmabuf.strides()) {
        let length = rustix::fs::seek(descriptor, rustix::fs::SeekFrom::End(0)).map_err(std::io::Error::from)?;
        let rows = u64::from(size.h.unsigned_abs());
        // Later planes have fewer rows in some formats, so only their first row is checked.
        let needed = if parts.is_empty() { u64::from(stride) * rows } else { u64::from(stride) };
        if u64::from(offset) + needed > length {
            return Err(DmabufRefusal::Bounds);
        }
        let descriptor = descriptor.as_fd().try_clone_to_owned()?;
        parts.push(MemoryPart { descriptor, offset, stride });
    }
    let format = dmabuf.format();
    let (width, height) = (size.w.unsigned_abs(), size.h.unsigned_abs());
    Ok(DeviceMemory { width, height, format: format.code as u32, modifier: format.modifier.into(), parts })
}

impl DmabufHandler for State {
    fn dmabuf_state(&mut self) -> &mut DmabufState {
        &mut self.protocols.dmabuf.state
    }

    fn new_surface_feedback(&mut self, surface: &WlSurface, _global: &DmabufGlobal) -> Option<DmabufFeedback> {
        let output = self.surfaces.get(surface)?.output()?;
        scanout_feedback::of(self.outputs.by_id(output)?.output())
    }

    fn dmabuf_imported(&mut self, _global: &DmabufGlobal, dmabuf: Dmabuf, notifier: ImportNotifier) {
        destroyed(self);
        let Some(request) = self.protocols.dmabuf.imports.request.take() else { return notifier.failed() };
        match memory_of(&dmabuf) {
            Ok(memory) => imports::begin(self, PendingDmabufImport { request, notifier, dmabuf, memory }),
            Err(refusal) => request.refuse(notifier, &refusal),
        }
    }
}

/// Forgets buffers that are destroyed, and imports of clients that are gone. The screen may still show such a buffer.
pub(super) fn destroyed(state: &mut State) {
    let State { protocols, surfaces, display_handle, .. } = state;
    let (imports, memories) = (&mut protocols.dmabuf.imports, surfaces.device_buffers_mut());
    memories.forget_gone();
    imports.forget_gone(memories, |client| display_handle.backend_handle().get_client_data(client).is_ok());
}

/// Forwards to Smithay and remembers the request, because Smithay's notifier tells neither whether the object still
/// exists nor which request it is about to answer.
impl Dispatch<ZwpLinuxBufferParamsV1, DmabufParamsData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        params: &ZwpLinuxBufferParamsV1,
        request: zwp_linux_buffer_params_v1::Request,
        data: &DmabufParamsData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use zwp_linux_buffer_params_v1::Request::{Add, CreateImmed};
        if matches!(request, Add { .. }) {
            let held = (0..COPIES).filter_map(|_| guard::hold(display, client, Kind::Descriptors));
            guard::share(params, &held.map(Arc::new).collect());
        }
        let is_immediate = matches!(request, CreateImmed { .. });
        let shares = guard::shares_of(params);
        if is_immediate {
            guard::share_newest(Kind::Buffers, &shares);
        }
        state.protocols.dmabuf.imports.request = Some(DmabufImportRequest::new(params, client, is_immediate, shares));
        <DmabufState as Dispatch<_, _, State>>::request(state, client, params, request, data, display, init);
    }
}

delegate!(global ZwpLinuxDmabufV1: DmabufGlobalData => DmabufState);
delegate!(ZwpLinuxDmabufV1: DmabufData => DmabufState);
delegate!(WlBuffer: Dmabuf => DmabufState);
delegate!(ZwpLinuxDmabufFeedbackV1: DmabufFeedbackData => DmabufState);
