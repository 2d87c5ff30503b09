//! How much of what one client may have.
//!
//! The bounds keep a client that goes wrong, or means harm, from costing the others what can be felt. They are far above
//! what programs have: the hungriest that are known stay below a tenth.

/// Makes the list of what is counted: its name, the bound, what one of them is called, and the interfaces of its objects.
macro_rules! kinds {
    ($($(#[$reason:meta])* $kind:ident = $most:literal, $words:literal: [$($interface:literal),*];)*) => {
        /// Something that a client has a number of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[$reason])* $kind,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Kind] = &[$(Kind::$kind),*];

            /// How many of them one client may have, unless the user says otherwise ([`Rules`](super::Rules)).
            pub const fn most(self) -> u32 {
                match self {
                    $(Kind::$kind => $most,)*
                }
            }

            /// What they are called.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Kind::$kind => $words,)*
                }
            }

            /// What objects of this interface count as.
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
    /// A terminal that serves 80 windows and draws their frames itself has 720. Each costs some KB and a look a frame.
    Surfaces = 8_192, "surfaces": ["wl_surface"];
    /// As many as surfaces: nearly all of those that toolkits have many of are subsurfaces.
    Subsurfaces = 8_192, "subsurfaces": ["wl_subsurface"];
    /// Windows of one program, on all workspaces: 80 of that terminal. Placing and arranging look at all of them.
    Windows = 1_024, "windows": ["xdg_toplevel"];
    /// Bars, wallpapers, notifications: a desktop made of widgets has twenty. All of an output are placed when one changes.
    Layers = 256, "layer surfaces": ["zwlr_layer_surface_v1"];
    /// Menus that are open at once, with their submenus: about ten. Each is placed anew in a frame.
    Popups = 128, "popups": ["xdg_popup", "zwp_input_popup_surface_v2"];
    /// Descriptions of where popups go: used once and thrown away.
    Positioners = 1_024, "positioners": ["xdg_positioner"];
    /// Pieces of memory that pictures lie in, each a descriptor and a mapping: a browser has about 100.
    Pools = 2_048, "memory pools": ["wl_shm_pool"];
    /// Pictures: a browser with 30 tabs has about 400; each keeps its memory mapped.
    Buffers = 8_192, "buffers": ["wl_buffer"];
    /// Buffers in a device's memory that are being described.
    BufferParams = 1_024, "buffer descriptions": ["zwp_linux_buffer_params_v1"];
    /// Questions for the next frame or for the end of what was said; a window that is not seen has one open.
    Callbacks = 16_384, "callbacks": ["wl_callback"];
    /// Frames whose fate a client wants to hear: one a frame that is on its way.
    Feedbacks = 16_384, "presentation feedbacks": ["wp_presentation_feedback"];
    /// Descriptions of parts of surfaces: used once and thrown away.
    Regions = 4_096, "regions": ["wl_region"];
    /// Looks at the list of globals: libraries that a program loads have one each, and few give them back.
    Registries = 4_096, "registries": ["wl_registry"];
    /// Pointers, keyboards, touch screens and what is attached to them: each hears every event, so that a motion costs
    /// as many times more. Toolkits have one of each kind; a program with five toolkits has 40. Fields of text and input methods
    /// are such, too.
    Devices = 512, "input devices": [
        "wl_pointer", "wl_keyboard", "wl_touch", "zwp_relative_pointer_v1", "zwp_pointer_gesture_swipe_v1",
        "zwp_pointer_gesture_pinch_v1", "zwp_pointer_gesture_hold_v1", "zwp_tablet_seat_v2", "wp_cursor_shape_device_v1",
        "wl_data_device", "zwp_primary_selection_device_v1", "zwlr_data_control_device_v1", "ext_data_control_device_v1",
        "zwp_input_timestamps_v1", "zwp_text_input_v3", "zwp_input_method_v2", "zwp_input_method_keyboard_grab_v2"];
    /// Wishes to lock or confine the pointer: games have one a window.
    Constraints = 512, "pointer constraints": ["zwp_locked_pointer_v1", "zwp_confined_pointer_v1"];
    /// Selections and drags that are offered to others: one each is in force.
    Sources = 1_024, "data sources": [
        "wl_data_source", "zwp_primary_selection_source_v1", "zwlr_data_control_source_v1", "ext_data_control_source_v1"];
    /// What was offered by others. A client that gives none back gets one with each focus: a day of that.
    Offers = 16_384, "data offers": [
        "wl_data_offer", "zwp_primary_selection_offer_v1", "zwlr_data_control_offer_v1", "ext_data_control_offer_v1"];
    /// Requests for a token to hand the focus on: a launcher has one a program that starts. Qt 6.4 gives none back, and makes
    /// two with each click that raises one of its windows: a thousand such clicks a day for two weeks. Of what they stand
    /// for the newest few are kept (`protocol/xdg_activation`).
    ActivationTokens = 32_768, "activation tokens": ["xdg_activation_token_v1"];
    /// Surfaces that keep the screen lit: one a video.
    IdleInhibitors = 256, "idle inhibitors": ["zwp_idle_inhibitor_v1"];
    /// Who wants to be told that nobody does anything: a manager of power has one a step.
    IdleNotifications = 256, "idle notifications": ["ext_idle_notification_v1"];
    /// Surfaces that want our shortcuts while they have the keyboard: a remote desktop has one a window.
    ShortcutInhibitors = 256, "shortcut inhibitors": ["zwp_keyboard_shortcuts_inhibitor_v1"];
    /// Locks of the session, and their surfaces: a locker has one, with a surface an output.
    Locks = 64, "locks and their surfaces": ["ext_session_lock_v1", "ext_session_lock_surface_v1"];
    /// Pictures of the screen that are asked for: recorders have one or two an output; one a refresh is taken.
    Captures = 64, "captures": ["zwlr_screencopy_frame_v1", "ext_image_copy_capture_frame_v1"];
    /// Recordings, and what they are of: two an output or window, each with its cursor. Each is looked at in every turn.
    Recordings = 256, "recordings": [
        "ext_image_capture_source_v1", "ext_image_copy_capture_session_v1", "ext_image_copy_capture_cursor_session_v1"];
    /// Surfaces that are told which refresh each frame is for.
    Paced = 1_024, "frame pacing objects": ["upbeat_frame_pacing_v1"];
    /// Surfaces that are told where devices will be: a program that draws has one a sheet.
    Predicted = 1_024, "predicted input objects": ["upbeat_predicted_input_v1"];
    /// Views that are scrolled, and what is in them: 64 contents each, and they are looked at in every frame of one that moves.
    Scrolled = 2_048, "scroll views and contents": ["upbeat_scroll_view_v1", "upbeat_scroll_content_v1"];
    /// Surfaces that follow the pointer: each is placed anew in every frame in which that moved.
    Followers = 256, "followers": ["upbeat_follower_v1"];
    /// Surfaces that are written to ahead of the beam: a program that draws has one a sheet. What is seen of each is looked at in
    /// every turn.
    FrontBuffers = 16, "front buffers": ["upbeat_front_buffer_v1"];
    /// Played keyboards and pointers: a keyboard on the screen has one.
    VirtualDevices = 64, "virtual devices": ["zwp_virtual_keyboard_v1", "zwlr_virtual_pointer_v1"];
    /// Outputs as a client sees them: one an output, and again when it is plugged in again.
    Outputs = 1_024, "outputs": ["wl_output", "zxdg_output_v1", "zwlr_output_power_v1"];
    /// Updates that wait for a fence, a barrier, a time or a target: a player that queues ahead has tens.
    WaitingUpdates = 1_024, "updates that wait": [];
    /// Keys of a virtual keyboard that wait for the keymap before them to be compiled, some milliseconds: a text of 8 000
    /// letters that is typed at once.
    WaitingKeys = 16_384, "keys that wait": [];
    /// Keymaps that wait for the one before them, each a descriptor, with keys between them: who types letters that no
    /// keymap has sends one for each.
    WaitingKeymaps = 256, "keymaps that wait": [];
    /// Files that are kept open for a client, by whatever they came: memory (two for each part of a device's buffer, which
    /// is duplicated for whoever shows it), fences that are waited for, keymaps that wait, sockets of sandboxes. Of the 400
    /// pictures of a browser with 30 tabs most share their memory or have one part. Never more than half of what the system
    /// allows.
    Descriptors = 4_096, "descriptors": [];
    /// Windows that others know, and windows of others: a portal has one a dialog.
    Foreign = 1_024, "windows known across programs": [
        "zxdg_exported_v1", "zxdg_imported_v1", "zxdg_exported_v2", "zxdg_imported_v2"];
    /// Windows of others that a bar was told of, and that it has not given back since they closed: 64 programs with as many
    /// windows as they may have.
    ToplevelHandles = 65_536, "windows in a list": ["zwlr_foreign_toplevel_handle_v1", "ext_foreign_toplevel_handle_v1"];
    /// Who hears of every window, output or workspace: a bar has one of each for each of its parts. All are told of a change.
    Listeners = 128, "listeners to what all have": [
        "zwlr_foreign_toplevel_manager_v1", "ext_foreign_toplevel_list_v1", "ext_workspace_manager_v1",
        "zwlr_output_manager_v1"];
    /// Everything that has no line of its own.
    Others = 32_768, "other objects": [];
}

impl Kind {
    /// Whether they are objects; others are counted by whoever keeps them.
    pub const fn is_of_objects(self) -> bool {
        !matches!(self, Kind::WaitingUpdates | Kind::WaitingKeys | Kind::WaitingKeymaps | Kind::Descriptors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_count_as_what_they_are() {
        assert_eq!(Kind::of_interface("wl_surface"), Kind::Surfaces);
        assert_eq!(Kind::of_interface("wl_touch"), Kind::Devices);
        assert_eq!(Kind::of_interface("something_v9"), Kind::Others);
    }
}
