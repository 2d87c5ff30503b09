//! The Wayland protocols that the compositor speaks: one file per protocol, with its state, its handler and, in the
//! head, how to use it. What a request *means* is decided in the room that it concerns (`shell`, `input`, `surface`,
//! `output`); here it is only checked and passed on.
//!
//! Every number that a client sends passes [`bounds`](crate::bounds) before it reaches arithmetic.
//!
//! Left out on purpose:
//!
//! * `wl_drm`: Mesa takes `zwp_linux_dmabuf_v1` with feedback instead, and it has names of buffers that anybody can guess.
//! * `wp_drm_lease_device_v1`: a lease hands a connector with its planes to a client, and nothing here could keep time there.
//! * colour management (`wp_color_manager_v1`, `wp_color_representation_manager_v1`): everything is composed in sRGB, and
//!   what is promised there could not be kept.
//! * `wp_tearing_control_manager_v1`: no flip is made between two refreshes, so there is nothing that it could allow.
//! * tablet pads (of `zwp_tablet_manager_v2`): a session can be used without.
//! * `zwp_text_input_manager_v1` and `_v2`: toolkits of today speak version 3, and two would type into one field.
//! * desktop-specific shells (`gtk_shell1`, `org_kde_plasma_shell` and the like): each is the private talk of one desktop
//!   with its own programs, and changes with it.

mod alpha_modifier;
mod background_effect;
pub mod client;
pub mod commit_timing;
pub mod compositor;
mod content_type;
pub mod cursor_shape;
pub mod dmabuf;
pub mod estates;
pub mod ext_workspace;
pub mod fifo;
mod film;
mod fixes;
mod floor;
pub mod fractional_scale;
pub mod frame_pacing;
pub mod gamma_control;
pub mod idle_inhibit;
pub mod idle_notify;
pub mod image_copy;
mod input_method;
pub mod input_timestamps;
mod kde_decoration;
pub mod late_latch;
pub mod layer_shell;
pub mod offers;
pub mod output;
pub mod output_management;
pub mod output_power;
pub mod owed;
pub mod pointer_constraints;
pub mod pointer_gestures;
mod pointer_warp;
pub mod predicted_input;
pub mod presentation;
pub mod privileges;
pub mod relative_pointer;
pub mod screencopy;
pub mod scroll;
pub mod seat;
pub mod security_context;
mod seldom;
pub mod selection;
pub mod session_lock;
pub mod shm;
pub mod shortcuts_inhibit;
pub mod single_pixel_buffer;
pub mod subcompositor;
pub mod sweep;
pub mod syncobj;
pub mod tablet;
mod text_input;
pub mod toplevels;
pub mod viewporter;
pub mod virtual_keyboard;
pub mod virtual_pointer;
pub mod xdg_activation;
pub mod xdg_decoration;
mod xdg_dialog;
mod xdg_foreign;
pub mod xdg_output;
pub mod xdg_shell;
mod xdg_toplevel_tag;

use smithay::input::SeatState;
use smithay::reexports::wayland_protocols_misc::server_decoration::server::org_kde_kwin_server_decoration_manager::Mode as DecorationsByDefault;
use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::commit_timing::CommitTimingManagerState;
use smithay::wayland::content_type::ContentTypeState;
use smithay::wayland::cursor_shape::CursorShapeManagerState;
use smithay::wayland::fifo::FifoManagerState;
use smithay::wayland::fractional_scale::FractionalScaleManagerState;
use smithay::wayland::idle_inhibit::IdleInhibitManagerState;
use smithay::wayland::pointer_constraints::PointerConstraintsState;
use smithay::wayland::pointer_gestures::PointerGesturesState;
use smithay::wayland::presentation::PresentationState;
use smithay::wayland::relative_pointer::RelativePointerManagerState;
use smithay::wayland::selection::data_device::DataDeviceState;
use smithay::wayland::selection::primary_selection::PrimarySelectionState;
use smithay::wayland::shell::kde::decoration::KdeDecorationState;
use smithay::wayland::shell::wlr_layer::WlrLayerShellState;
use smithay::wayland::shell::xdg::XdgShellState;
use smithay::wayland::shell::xdg::decoration::XdgDecorationState;
use smithay::wayland::shm::ShmState;
use smithay::wayland::single_pixel_buffer::SinglePixelBufferState;
use smithay::wayland::viewporter::ViewporterState;
use smithay::wayland::xdg_activation::XdgActivationState;

use crate::state::State;

/// What the protocols remember, one field per global.
#[derive(Debug)]
#[expect(missing_docs, reason = "each field is named after its protocol; the file of that name explains it")]
pub struct Protocols {
    pub compositor: compositor::Compositors,
    pub shm: ShmState,
    pub dmabuf: dmabuf::LinuxDmabuf,
    pub explicit_sync: syncobj::ExplicitSync,
    pub output: output::Retired,
    pub xdg_output: xdg_output::XdgOutputs,
    pub seat: SeatState<State>,
    pub xdg_shell: XdgShellState,
    pub layer_shell: WlrLayerShellState,
    pub xdg_decoration: XdgDecorationState,
    pub xdg_activation: XdgActivationState,
    pub tokens: xdg_activation::Tokens,
    pub presentation: PresentationState,
    pub viewporter: ViewporterState,
    pub fractional_scale: FractionalScaleManagerState,
    pub fifo: FifoManagerState,
    pub commit_timing: CommitTimingManagerState,
    pub single_pixel_buffer: SinglePixelBufferState,
    pub data_device: DataDeviceState,
    pub primary_selection: PrimarySelectionState,
    pub selection: selection::Devices,
    pub data_control: selection::data_control::DataControls,
    pub cursor_shape: CursorShapeManagerState,
    pub relative_pointer: RelativePointerManagerState,
    pub pointer_constraints: PointerConstraintsState,
    pub pointer_gestures: PointerGesturesState,
    pub tablet: tablet::TabletManager,
    pub idle_inhibit: idle_inhibit::IdleInhibit,
    pub idle_notify: idle_notify::IdleNotify,
    pub shortcuts_inhibit: shortcuts_inhibit::ShortcutsInhibit,
    pub text_input: text_input::TextInput,
    pub input_method: input_method::InputMethod,
    pub virtual_pointer: virtual_pointer::VirtualPointers,
    pub virtual_keyboard: virtual_keyboard::VirtualKeyboards,
    pub screencopy: screencopy::Screencopy,
    pub image_copy: image_copy::ImageCopy,
    pub gamma_control: gamma_control::GammaControls,
    pub frame_pacing: frame_pacing::FramePacingManager,
    pub predicted_input: predicted_input::PredictedInputManager,
    pub input_timestamps: input_timestamps::InputTimestamps,
    pub scroll: scroll::ScrollManager,
    /// Followers.
    pub late_latch: late_latch::LateLatchManager,
    pub ext_workspace: ext_workspace::ExtWorkspace,
    pub toplevels: toplevels::Toplevels,
    pub output_power: output_power::OutputPower,
    pub output_management: output_management::OutputManagement,
    pub security_context: security_context::SecurityContexts,
    pub alpha_modifier: alpha_modifier::AlphaModifier,
    /// `ext_background_effect_manager_v1`.
    pub background_effect: background_effect::BackgroundEffect,
    pub content_type: ContentTypeState,
    pub xdg_dialog: xdg_dialog::Dialogs,
    pub toplevel_tags: xdg_toplevel_tag::ToplevelTags,
    pub kde_decoration: KdeDecorationState,
    pub foreign: xdg_foreign::Foreign,
    pub pointer_warp: pointer_warp::PointerWarp,
    pub fixes: fixes::Fixes,
    pub session_lock: session_lock::SessionLock,
    pub estates: estates::Estates,
    pub owed: owed::Owed,
}

impl Protocols {
    /// Advertises every global.
    pub fn new(display: &DisplayHandle) -> Self {
        let primary_selection = PrimarySelectionState::new::<State>(display);
        Protocols {
            compositor: compositor::Compositors::new(display),
            shm: shm::new(display),
            dmabuf: dmabuf::LinuxDmabuf::default(),
            explicit_sync: syncobj::ExplicitSync::default(),
            output: output::Retired::default(),
            xdg_output: xdg_output::XdgOutputs::new(display),
            seat: SeatState::new(),
            xdg_shell: xdg_shell::new(display),
            layer_shell: layer_shell::new(display),
            xdg_decoration: XdgDecorationState::new::<State>(display),
            xdg_activation: XdgActivationState::new::<State>(display),
            tokens: xdg_activation::Tokens::default(),
            presentation: presentation::new(display),
            viewporter: ViewporterState::new::<State>(display),
            fractional_scale: FractionalScaleManagerState::new::<State>(display),
            fifo: FifoManagerState::unmanaged::<State>(display),
            commit_timing: CommitTimingManagerState::unmanaged::<State>(display),
            single_pixel_buffer: SinglePixelBufferState::new::<State>(display),
            data_device: DataDeviceState::new::<State>(display),
            data_control: selection::data_control::DataControls::new(display, &primary_selection),
            primary_selection,
            selection: selection::Devices::default(),
            cursor_shape: CursorShapeManagerState::new::<State>(display),
            relative_pointer: RelativePointerManagerState::new::<State>(display),
            pointer_constraints: PointerConstraintsState::new::<State>(display),
            pointer_gestures: PointerGesturesState::new::<State>(display),
            tablet: tablet::TabletManager::new(display),
            idle_inhibit: idle_inhibit::IdleInhibit::new(IdleInhibitManagerState::new::<State>(display)),
            idle_notify: idle_notify::IdleNotify::new(display),
            shortcuts_inhibit: shortcuts_inhibit::ShortcutsInhibit::new(display),
            text_input: text_input::TextInput::new(display),
            input_method: input_method::InputMethod::new(display),
            virtual_pointer: virtual_pointer::VirtualPointers::new(display),
            virtual_keyboard: virtual_keyboard::VirtualKeyboards::new(display),
            screencopy: screencopy::Screencopy::new(display),
            image_copy: image_copy::ImageCopy::new(display),
            gamma_control: gamma_control::GammaControls::new(display),
            frame_pacing: frame_pacing::FramePacingManager::new(display),
            predicted_input: predicted_input::PredictedInputManager::new(display),
            input_timestamps: input_timestamps::InputTimestamps::new(display),
            scroll: scroll::ScrollManager::default(),
            late_latch: late_latch::LateLatchManager::default(),
            ext_workspace: ext_workspace::ExtWorkspace::new(display),
            toplevels: toplevels::Toplevels::new(display),
            output_power: output_power::OutputPower::new(display),
            output_management: output_management::OutputManagement::new(display),
            security_context: security_context::SecurityContexts::new(display),
            alpha_modifier: alpha_modifier::AlphaModifier::new(display),
            background_effect: background_effect::BackgroundEffect::new(display),
            content_type: ContentTypeState::new::<State>(display),
            xdg_dialog: xdg_dialog::Dialogs::new(display),
            toplevel_tags: xdg_toplevel_tag::ToplevelTags::new(display),
            kde_decoration: KdeDecorationState::new::<State>(display, DecorationsByDefault::Client),
            foreign: xdg_foreign::Foreign::new(display),
            pointer_warp: pointer_warp::PointerWarp::new(display),
            fixes: fixes::Fixes::new(display),
            session_lock: session_lock::SessionLock::new(display),
            estates: estates::Estates::default(),
            owed: owed::Owed::default(),
        }
    }
}

/// Tells clients of what changed in the turn that ends, where nobody else does.
pub fn refresh(state: &mut State) {
    gamma_control::refresh(state);
    input_method::refresh(state);
    ext_workspace::refresh(state);
    session_lock::refresh(state);
    toplevels::refresh(state);
    output_power::refresh(state);
    output_management::refresh(state);
    image_copy::refresh(state);
    background_effect::refresh(state);
    offers::cover(&state.display_handle);
}
