//! Limits of a client: how many objects and other resources of each kind it may have.
//!
//! The limits keep a faulty or malicious client from slowing down other clients noticeably. They are far above real
//! use: the most demanding known programs stay below a tenth of them.

/// Defines the kinds: name, limit, plural for messages, and the interfaces whose objects count.
macro_rules! kinds {
    ($($(#[$reason:meta])* $kind:ident = $most:literal, $words:literal: [$($interface:literal),*];)*) => {
        /// A kind of limited resource.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[$reason])* $kind,)*
        }

        impl Kind {
            pub const ALL: &[Kind] = &[$(Kind::$kind),*];

            /// A client's limit, unless the user sets another ([`Rules`](super::Rules)).
            pub const fn most(self) -> u32 {
                match self {
                    $(Kind::$kind => $most,)*
                }
            }

            /// Plural, as used in messages.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Kind::$kind => $words,)*
                }
            }

            /// The kind of objects of this interface.
            pub fn of_interface(interface: &str) -> Kind {
                match interface {
                    $($($interface => Kind::$kind,)*)*
                    _ => Kind::Others,
                }
            }
        }
    };
}

kinds! {
    /// A terminal that serves 80 windows and draws their frames itself has 720. Each takes some KB and is visited in
    /// each frame.
    Surfaces = 8_192, "surfaces": ["wl_surface"];
    /// As many as surfaces, because toolkits with many surfaces use them as subsurfaces.
    Subsurfaces = 8_192, "subsurfaces": ["wl_subsurface"];
    /// Windows of one program, on all workspaces: that terminal has 80. Placement and layout visit all of them.
    Windows = 1_024, "windows": ["xdg_toplevel"];
    /// Bars, wallpapers, notifications: a desktop made of widgets has twenty. A change of one places all of its output
    /// anew.
    Layers = 256, "layer surfaces": ["zwlr_layer_surface_v1"];
    /// Menus that are open at once, with their submenus: about ten. Each is placed anew in a frame.
    Popups = 128, "popups": ["xdg_popup", "zwp_input_popup_surface_v2"];
    /// Used once to place a popup, then destroyed.
    Positioners = 1_024, "positioners": ["xdg_positioner"];
    /// Shared memory for buffers, each with a descriptor and a mapping: a browser has about 100.
    Pools = 2_048, "memory pools": ["wl_shm_pool"];
    /// A browser with 30 tabs has about 400; each keeps its memory mapped.
    Buffers = 8_192, "buffers": ["wl_buffer"];
    /// Dmabuf parameters whose buffer was not created yet.
    BufferParams = 1_024, "buffer descriptions": ["zwp_linux_buffer_params_v1"];
    /// Frame callbacks and `wl_display.sync` callbacks; a hidden window has one frame callback open.
    Callbacks = 16_384, "callbacks": ["wl_callback"];
    /// A client that asks for them has one for each frame that is not shown yet.
    Feedbacks = 16_384, "presentation feedbacks": ["wp_presentation_feedback"];
    /// Used once to set an input or opaque region, then destroyed.
    Regions = 4_096, "regions": ["wl_region"];
    /// Each library in a program may bind one, and few destroy it.
    Registries = 4_096, "registries": ["wl_registry"];
    /// Pointers, keyboards, touch devices and their extension objects, and text inputs and input methods. Each gets
    /// every event, so a motion costs as many times more. Toolkits have one of each kind; a program with five toolkits
    /// has 40.
    Devices = 512, "input devices": [
        "wl_pointer", "wl_keyboard", "wl_touch", "zwp_relative_pointer_v1", "zwp_pointer_gesture_swipe_v1",
        "zwp_pointer_gesture_pinch_v1", "zwp_pointer_gesture_hold_v1", "zwp_tablet_seat_v2", "wp_cursor_shape_device_v1",
        "wl_data_device", "zwp_primary_selection_device_v1", "zwlr_data_control_device_v1", "ext_data_control_device_v1",
        "zwp_input_timestamps_v1", "zwp_text_input_v3", "zwp_input_method_v2", "zwp_input_method_keyboard_grab_v2"];
    /// Requests to lock or confine the pointer: games have one for each window.
    Constraints = 512, "pointer constraints": ["zwp_locked_pointer_v1", "zwp_confined_pointer_v1"];
    /// Selections and drags that the client offers: one of each is in force.
    Sources = 1_024, "data sources": [
        "wl_data_source", "zwp_primary_selection_source_v1", "zwlr_data_control_source_v1", "ext_data_control_source_v1"];
    /// Offers of other clients' data. A client that never destroys one gets a new one with each focus: enough for a
    /// day.
    Offers = 16_384, "data offers": [
        "wl_data_offer", "zwp_primary_selection_offer_v1", "zwlr_data_control_offer_v1", "ext_data_control_offer_v1"];
    /// A launcher creates one for each program that it starts. Qt 6.4 destroys none, and creates two with each click
    /// that raises one of its windows: enough for a thousand such clicks a day for two weeks. Only the newest tokens
    /// stay valid (`protocol/xdg_activation`).
    ActivationTokens = 32_768, "activation tokens": ["xdg_activation_token_v1"];
    /// Surfaces that keep the screen on: one for each video.
    IdleInhibitors = 256, "idle inhibitors": ["zwp_idle_inhibitor_v1"];
    /// Requests to be told when the user is idle: a power manager has one for each step.
    IdleNotifications = 256, "idle notifications": ["ext_idle_notification_v1"];
    /// Surfaces that get our shortcuts while they have the keyboard: a remote desktop has one for each window.
    ShortcutInhibitors = 256, "shortcut inhibitors": ["zwp_keyboard_shortcuts_inhibitor_v1"];
    /// A locker has one lock, and a lock surface for each output.
    Locks = 64, "locks and their surfaces": ["ext_session_lock_v1", "ext_session_lock_surface_v1"];
    /// Screenshots that were requested: recorders have one or two for each output. One is taken in each refresh.
    Captures = 64, "captures": ["zwlr_screencopy_frame_v1", "ext_image_copy_capture_frame_v1"];
    /// Capture sessions and sources: two for each recorded output or window, with its cursor. Each is visited in each
    /// turn.
    Recordings = 256, "recordings": [
        "ext_image_capture_source_v1", "ext_image_copy_capture_session_v1", "ext_image_copy_capture_cursor_session_v1"];
    /// Surfaces with frame pacing, which learn the refresh that each frame is for.
    Paced = 1_024, "frame pacing objects": ["upbeat_frame_pacing_v1"];
    /// Surfaces that get predicted input positions: a drawing program has one for each sheet.
    Predicted = 1_024, "predicted input objects": ["upbeat_predicted_input_v1"];
    /// Scroll views, and 64 contents in each. All are visited in each frame of a view that moves.
    Scrolled = 2_048, "scroll views and contents": ["upbeat_scroll_view_v1", "upbeat_scroll_content_v1"];
    /// Surfaces that follow the pointer: each is placed anew in each frame in which the pointer moved.
    Followers = 256, "followers": ["upbeat_follower_v1"];
    /// Surfaces whose buffer is written while it is scanned out, ahead of the beam: a drawing program has one for each
    /// sheet. The visible region of each is computed in each turn.
    FrontBuffers = 16, "front buffers": ["upbeat_front_buffer_v1"];
    /// An on-screen keyboard has one.
    VirtualDevices = 64, "virtual devices": ["zwp_virtual_keyboard_v1", "zwlr_virtual_pointer_v1"];
    /// A client has one for each output, and another each time that the output is plugged in again.
    Outputs = 1_024, "outputs": ["wl_output", "zxdg_output_v1", "zwlr_output_power_v1"];
    /// Updates that wait for a fence, a barrier, a time or a target: a player that queues ahead has tens.
    WaitingUpdates = 1_024, "updates that wait": [];
    /// Keys of a virtual keyboard that wait until the keymap before them is compiled, some milliseconds: enough for a
    /// text of 8 000 letters that is typed at once.
    WaitingKeys = 16_384, "keys that wait": [];
    /// Keymaps that wait for the keymap before them, each with a descriptor, and with keys between them: a client that
    /// types letters missing from every keymap sends a keymap for each.
    WaitingKeymaps = 256, "keymaps that wait": [];
    /// Files that are kept open for a client: dmabuf planes (two for each, because the descriptor is duplicated for the
    /// display), fences that are waited for, keymaps that wait, sockets of sandboxes. Of the 400 buffers of a browser
    /// with 30 tabs most share their memory or have one plane. Never more than half of the system's limit.
    Descriptors = 4_096, "descriptors": [];
    /// Exported and imported windows: a portal has one for each dialog.
    Foreign = 1_024, "windows known across programs": [
        "zxdg_exported_v1", "zxdg_imported_v1", "zxdg_exported_v2", "zxdg_imported_v2"];
    /// Windows of other clients that were announced to a bar and that it has not destroyed since they closed: 64
    /// programs with as many windows as they may have.
    ToplevelHandles = 65_536, "windows in a list": ["zwlr_foreign_toplevel_handle_v1", "ext_foreign_toplevel_handle_v1"];
    /// Objects that announce every window, output or workspace: a bar has one of each for each of its parts. All get
    /// each change.
    Listeners = 128, "listeners to what all have": [
        "zwlr_foreign_toplevel_manager_v1", "ext_foreign_toplevel_list_v1", "ext_workspace_manager_v1",
        "zwlr_output_manager_v1"];
    /// Objects of all other interfaces.
    Others = 32_768, "other objects": [];
}

impl Kind {
    /// Whether these are Wayland objects; the code that keeps the resource counts all other kinds.
    pub const fn is_of_objects(self) -> bool {
        !matches!(self, Kind::WaitingUpdates | Kind::WaitingKeys | Kind::WaitingKeymaps | Kind::Descriptors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interface_has_its_kind() {
        assert_eq!(Kind::of_interface("wl_surface"), Kind::Surfaces);
        assert_eq!(Kind::of_interface("wl_touch"), Kind::Devices);
        assert_eq!(Kind::of_interface("something_v9"), Kind::Others);
    }
}
