//! The interfaces of all globals, from their XML. Bindings are generated from it, and all other interfaces are reached
//! from the globals.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use wayland_backend::protocol::Interface;
use wayland_client::Proxy;
use wayland_client::protocol::*;
use wayland_protocols::ext::background_effect::v1::client::ext_background_effect_manager_v1::ExtBackgroundEffectManagerV1;
use wayland_protocols::ext::data_control::v1::client::ext_data_control_manager_v1::ExtDataControlManagerV1;
use wayland_protocols::ext::foreign_toplevel_list::v1::client::ext_foreign_toplevel_list_v1::ExtForeignToplevelListV1;
use wayland_protocols::ext::idle_notify::v1::client::ext_idle_notifier_v1::ExtIdleNotifierV1;
use wayland_protocols::ext::image_capture_source::v1::client::{
    ext_foreign_toplevel_image_capture_source_manager_v1::ExtForeignToplevelImageCaptureSourceManagerV1,
    ext_output_image_capture_source_manager_v1::ExtOutputImageCaptureSourceManagerV1,
};
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::ExtImageCopyCaptureManagerV1;
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_manager_v1::ExtSessionLockManagerV1;
use wayland_protocols::ext::workspace::v1::client::ext_workspace_manager_v1::ExtWorkspaceManagerV1;
use wayland_protocols::wp::alpha_modifier::v1::client::wp_alpha_modifier_v1::WpAlphaModifierV1;
use wayland_protocols::wp::commit_timing::v1::client::wp_commit_timing_manager_v1::WpCommitTimingManagerV1;
use wayland_protocols::wp::content_type::v1::client::wp_content_type_manager_v1::WpContentTypeManagerV1;
use wayland_protocols::wp::cursor_shape::v1::client::wp_cursor_shape_manager_v1::WpCursorShapeManagerV1;
use wayland_protocols::wp::fifo::v1::client::wp_fifo_manager_v1::WpFifoManagerV1;
use wayland_protocols::wp::fractional_scale::v1::client::wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1;
use wayland_protocols::wp::idle_inhibit::zv1::client::zwp_idle_inhibit_manager_v1::ZwpIdleInhibitManagerV1;
use wayland_protocols::wp::input_timestamps::zv1::client::zwp_input_timestamps_manager_v1::ZwpInputTimestampsManagerV1;
use wayland_protocols::wp::keyboard_shortcuts_inhibit::zv1::client::zwp_keyboard_shortcuts_inhibit_manager_v1::ZwpKeyboardShortcutsInhibitManagerV1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1;
use wayland_protocols::wp::pointer_constraints::zv1::client::zwp_pointer_constraints_v1::ZwpPointerConstraintsV1;
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gestures_v1::ZwpPointerGesturesV1;
use wayland_protocols::wp::pointer_warp::v1::client::wp_pointer_warp_v1::WpPointerWarpV1;
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::wp::primary_selection::zv1::client::zwp_primary_selection_device_manager_v1::ZwpPrimarySelectionDeviceManagerV1;
use wayland_protocols::wp::relative_pointer::zv1::client::zwp_relative_pointer_manager_v1::ZwpRelativePointerManagerV1;
use wayland_protocols::wp::security_context::v1::client::wp_security_context_manager_v1::WpSecurityContextManagerV1;
use wayland_protocols::wp::single_pixel_buffer::v1::client::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;
use wayland_protocols::wp::text_input::zv3::client::zwp_text_input_manager_v3::ZwpTextInputManagerV3;
use wayland_protocols::wp::viewporter::client::wp_viewporter::WpViewporter;
use wayland_protocols::xdg::activation::v1::client::xdg_activation_v1::XdgActivationV1;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::dialog::v1::client::xdg_wm_dialog_v1::XdgWmDialogV1;
use wayland_protocols::xdg::foreign::zv1::client::{
    zxdg_exporter_v1::ZxdgExporterV1, zxdg_importer_v1::ZxdgImporterV1,
};
use wayland_protocols::xdg::foreign::zv2::client::{
    zxdg_exporter_v2::ZxdgExporterV2, zxdg_importer_v2::ZxdgImporterV2,
};
use wayland_protocols::xdg::shell::client::xdg_wm_base::XdgWmBase;
use wayland_protocols::xdg::toplevel_tag::v1::client::xdg_toplevel_tag_manager_v1::XdgToplevelTagManagerV1;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;
use wayland_protocols_misc::server_decoration::client::org_kde_kwin_server_decoration_manager::OrgKdeKwinServerDecorationManager;
use wayland_protocols_misc::zwp_input_method_v2::client::zwp_input_method_manager_v2::ZwpInputMethodManagerV2;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_manager_v1::ZwlrDataControlManagerV1;
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_manager_v1::ZwlrForeignToplevelManagerV1;
use wayland_protocols_wlr::gamma_control::v1::client::zwlr_gamma_control_manager_v1::ZwlrGammaControlManagerV1;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_shell_v1::ZwlrLayerShellV1;
use wayland_protocols_wlr::output_management::v1::client::zwlr_output_manager_v1::ZwlrOutputManagerV1;
use wayland_protocols_wlr::output_power_management::v1::client::zwlr_output_power_manager_v1::ZwlrOutputPowerManagerV1;
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;

use crate::fixture::late_latch::UpbeatLateLatchManagerV1;
use crate::fixture::pacing::UpbeatFramePacingManagerV1;
use crate::fixture::predicted_input::UpbeatPredictedInputManagerV1;
use crate::fixture::scroll::UpbeatScrollManagerV1;

/// Interfaces of globals. Every advertised global must be in this list.
fn globals() -> Vec<&'static Interface> {
    vec![
        wl_compositor::WlCompositor::interface(),
        wl_subcompositor::WlSubcompositor::interface(),
        wl_shm::WlShm::interface(),
        wl_seat::WlSeat::interface(),
        wl_output::WlOutput::interface(),
        wl_data_device_manager::WlDataDeviceManager::interface(),
        XdgWmBase::interface(),
        XdgActivationV1::interface(),
        ZxdgDecorationManagerV1::interface(),
        ZxdgOutputManagerV1::interface(),
        ExtDataControlManagerV1::interface(),
        OrgKdeKwinServerDecorationManager::interface(),
        WpAlphaModifierV1::interface(),
        ExtBackgroundEffectManagerV1::interface(),
        WpContentTypeManagerV1::interface(),
        WpPointerWarpV1::interface(),
        XdgToplevelTagManagerV1::interface(),
        XdgWmDialogV1::interface(),
        ZxdgExporterV1::interface(),
        ZxdgExporterV2::interface(),
        ZxdgImporterV1::interface(),
        ZxdgImporterV2::interface(),
        wl_fixes::WlFixes::interface(),
        ExtSessionLockManagerV1::interface(),
        ExtWorkspaceManagerV1::interface(),
        WpCommitTimingManagerV1::interface(),
        WpCursorShapeManagerV1::interface(),
        WpFifoManagerV1::interface(),
        WpFractionalScaleManagerV1::interface(),
        ZwpIdleInhibitManagerV1::interface(),
        ZwpLinuxDmabufV1::interface(),
        WpLinuxDrmSyncobjManagerV1::interface(),
        ZwpPointerConstraintsV1::interface(),
        ZwpPointerGesturesV1::interface(),
        WpPresentation::interface(),
        ZwpPrimarySelectionDeviceManagerV1::interface(),
        ZwpRelativePointerManagerV1::interface(),
        WpSecurityContextManagerV1::interface(),
        WpSinglePixelBufferManagerV1::interface(),
        ZwpTabletManagerV2::interface(),
        ZwpTextInputManagerV3::interface(),
        ZwpInputMethodManagerV2::interface(),
        WpViewporter::interface(),
        ZwpVirtualKeyboardManagerV1::interface(),
        ZwlrDataControlManagerV1::interface(),
        ZwlrForeignToplevelManagerV1::interface(),
        ExtForeignToplevelListV1::interface(),
        ZwlrOutputManagerV1::interface(),
        ZwlrOutputPowerManagerV1::interface(),
        ExtIdleNotifierV1::interface(),
        ZwpKeyboardShortcutsInhibitManagerV1::interface(),
        ZwlrGammaControlManagerV1::interface(),
        ZwlrLayerShellV1::interface(),
        ZwlrScreencopyManagerV1::interface(),
        ExtImageCopyCaptureManagerV1::interface(),
        ExtOutputImageCaptureSourceManagerV1::interface(),
        ExtForeignToplevelImageCaptureSourceManagerV1::interface(),
        ZwlrVirtualPointerManagerV1::interface(),
        UpbeatFramePacingManagerV1::interface(),
        UpbeatPredictedInputManagerV1::interface(),
        ZwpInputTimestampsManagerV1::interface(),
        UpbeatScrollManagerV1::interface(),
        UpbeatLateLatchManagerV1::interface(),
    ]
}

type InterfacesByName = BTreeMap<&'static str, &'static Interface>;

/// The interface of a global; `None` if it is unknown.
pub fn global(name: &str) -> Option<&'static Interface> {
    static GLOBALS: OnceLock<InterfacesByName> = OnceLock::new();
    let known = || globals().into_iter().map(|interface| (interface.name, interface)).collect();
    GLOBALS.get_or_init(known).get(name).copied()
}

/// An interface that is reachable from a global, by its name.
pub fn called(name: &str) -> Option<&'static Interface> {
    static ALL: OnceLock<InterfacesByName> = OnceLock::new();
    let reached = || {
        let (mut known, mut open) = (InterfacesByName::new(), globals());
        while let Some(interface) = open.pop() {
            if known.insert(interface.name, interface).is_none() {
                let messages = interface.requests.iter().chain(interface.events);
                open.extend(messages.filter_map(|message| message.child_interface));
            }
        }
        known
    };
    ALL.get_or_init(reached).get(name).copied()
}

pub fn display() -> &'static Interface {
    wl_display::WlDisplay::interface()
}

pub fn registry() -> &'static Interface {
    wl_registry::WlRegistry::interface()
}
