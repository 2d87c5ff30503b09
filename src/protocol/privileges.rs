//! Which clients may bind which global.
//!
//! A global that lets a client see or control other clients is privileged. It is offered as the
//! [configuration](crate::config::clients) allows, and never to a sandboxed client
//! ([`security_context`](super::security_context)). Each global must be in one of the two lists, or a test fails.

use smithay::reexports::wayland_server::{Client, Resource};

use crate::guard::{self, Privilege};

/// Globals that let a client see other clients, or act in their place or the user's.
pub const PRIVILEGED: &[(&str, Privilege)] = &[
    ("zwlr_screencopy_manager_v1", Privilege::Capture),
    ("ext_image_copy_capture_manager_v1", Privilege::Capture),
    ("ext_output_image_capture_source_manager_v1", Privilege::Capture),
    ("ext_foreign_toplevel_image_capture_source_manager_v1", Privilege::Capture),
    ("zwp_virtual_keyboard_manager_v1", Privilege::VirtualInput),
    ("zwlr_virtual_pointer_manager_v1", Privilege::VirtualInput),
    ("zwp_input_method_manager_v2", Privilege::VirtualInput),
    ("zwlr_layer_shell_v1", Privilege::Layers),
    ("zwlr_gamma_control_manager_v1", Privilege::Gamma),
    ("ext_workspace_manager_v1", Privilege::Workspaces),
    ("zwlr_data_control_manager_v1", Privilege::Selections),
    ("ext_data_control_manager_v1", Privilege::Selections),
    ("ext_session_lock_manager_v1", Privilege::Lock),
    ("zwlr_output_manager_v1", Privilege::Outputs),
    ("zwlr_output_power_manager_v1", Privilege::Outputs),
    ("zwlr_foreign_toplevel_manager_v1", Privilege::Toplevels),
    ("ext_foreign_toplevel_list_v1", Privilege::Toplevels),
    // A sandbox within a sandbox could escape from the outer one.
    ("wp_security_context_manager_v1", Privilege::Sandboxes),
];

/// Globals that concern only a client's own surfaces and the input meant for it.
pub const FOR_EVERYBODY: &[&str] = &[
    "wl_compositor",
    "wl_subcompositor",
    "wl_shm",
    "wl_output",
    "wl_seat",
    "wl_data_device_manager",
    "xdg_wm_base",
    "xdg_activation_v1",
    "zxdg_decoration_manager_v1",
    "zxdg_output_manager_v1",
    "zwp_linux_dmabuf_v1",
    "wp_linux_drm_syncobj_manager_v1",
    "wp_presentation",
    "wp_viewporter",
    "wp_fractional_scale_manager_v1",
    "wp_fifo_manager_v1",
    "wp_commit_timing_manager_v1",
    "wp_single_pixel_buffer_manager_v1",
    "wp_cursor_shape_manager_v1",
    "zwp_primary_selection_device_manager_v1",
    "zwp_relative_pointer_manager_v1",
    "zwp_pointer_constraints_v1",
    "zwp_pointer_gestures_v1",
    "zwp_tablet_manager_v2",
    "zwp_idle_inhibit_manager_v1",
    // That the user is away is no secret: players and messengers announce it.
    "ext_idle_notifier_v1",
    // Works only while the client has the keyboard, and the user can take the shortcuts back.
    "zwp_keyboard_shortcuts_inhibit_manager_v1",
    // Its text goes only to the input method.
    "zwp_text_input_manager_v3",
    "wp_alpha_modifier_v1",
    // The client does not see the blurred pixels.
    "ext_background_effect_manager_v1",
    "wp_content_type_manager_v1",
    "wp_pointer_warp_v1",
    "xdg_wm_dialog_v1",
    "xdg_toplevel_tag_manager_v1",
    "org_kde_kwin_server_decoration_manager",
    // Only clients that were given a handle can use it: by it, portals place file choosers above windows of sandboxed
    // clients.
    "zxdg_exporter_v1",
    "zxdg_importer_v1",
    "zxdg_exporter_v2",
    "zxdg_importer_v2",
    "wl_fixes",
    "zwp_input_timestamps_manager_v1",
    "upbeat_frame_pacing_manager_v1",
    // It predicts the same devices whose events the client gets anyway.
    "upbeat_predicted_input_manager_v1",
    "upbeat_scroll_manager_v1",
    "upbeat_late_latch_manager_v1",
];

/// Whether the global `G` is offered to `client`. A global in neither list is hidden from sandboxed clients.
pub fn may_bind<G: Resource>(client: &Client) -> bool {
    let name = G::interface().name;
    if let Some((_, privilege)) = PRIVILEGED.iter().find(|(privileged, _)| *privileged == name) {
        return guard::has(client, *privilege);
    }
    guard::sandbox(client).is_none() || FOR_EVERYBODY.contains(&name)
}
