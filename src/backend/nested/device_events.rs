//! Event handlers for the parent's objects that describe its device and the buffers there.

use std::fs::File;

use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::{Connection, Dispatch, QueueHandle, delegate_noop, event_created_child};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::ZwpLinuxBufferParamsV1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1;

use super::event::WindowId;
use super::parent::ParentState;
use super::pool::BufferTag;

/// A buffer that was created as a test belongs to no window.
const NO_WINDOW: WindowId = WindowId(0);

delegate_noop!(ParentState: WpLinuxDrmSyncobjManagerV1);
delegate_noop!(ParentState: WpLinuxDrmSyncobjSurfaceV1);
delegate_noop!(ParentState: WpLinuxDrmSyncobjTimelineV1);

impl Dispatch<ZwpLinuxDmabufV1, ()> for ParentState {
    fn event(
        parent: &mut Self,
        _: &ZwpLinuxDmabufV1,
        event: zwp_linux_dmabuf_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        // Sent only in versions without feedback.
        if let zwp_linux_dmabuf_v1::Event::Modifier { format, modifier_hi, modifier_lo } = event {
            parent.formats.list(format, modifier_hi, modifier_lo);
        }
    }
}

impl Dispatch<ZwpLinuxDmabufFeedbackV1, ()> for ParentState {
    fn event(
        parent: &mut Self,
        _: &ZwpLinuxDmabufFeedbackV1,
        event: zwp_linux_dmabuf_feedback_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwp_linux_dmabuf_feedback_v1::Event;
        let formats = &mut parent.formats;
        match event {
            Event::FormatTable { fd, size } => formats.table(&File::from(fd), size),
            Event::MainDevice { device } => formats.main_device(&device),
            Event::TrancheTargetDevice { device } => formats.tranche_device(&device),
            Event::TrancheFormats { indices } => formats.tranche_formats(&indices),
            Event::TrancheDone => formats.tranche_done(),
            Event::Done => formats.done(),
            _ => {}
        }
    }
}

impl Dispatch<ZwpLinuxBufferParamsV1, ()> for ParentState {
    fn event(
        parent: &mut Self,
        _: &ZwpLinuxBufferParamsV1,
        event: zwp_linux_buffer_params_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwp_linux_buffer_params_v1::Event::Created { buffer } => {
                buffer.destroy();
                parent.tested = Some(true);
            }
            zwp_linux_buffer_params_v1::Event::Failed => parent.tested = Some(false),
            _ => {}
        }
    }

    event_created_child!(ParentState, ZwpLinuxBufferParamsV1, [
        zwp_linux_buffer_params_v1::EVT_CREATED_OPCODE => (WlBuffer, BufferTag::outside_pools(NO_WINDOW)),
    ]);
}
