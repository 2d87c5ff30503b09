//! The Wayland protocols of the compositor, one file each, with its state, its handler and an introduction. The
//! handlers check requests and pass them on. The module concerned (`shell`, `input`, `surface`, `output`) decides what
//! a request *means*.
//!
//! Every number from a client passes [`bounds`](crate::bounds) before it is used in arithmetic.
//!
//! Left out on purpose:
//!
//! * `wl_drm`: Mesa uses `zwp_linux_dmabuf_v1` with feedback instead, and any client can guess the names of its
//!   buffers.
//! * `wp_drm_lease_device_v1`: a lease gives a connector with its planes to a client, so frames there could not be
//!   timed here.
//! * colour management (`wp_color_manager_v1`, `wp_color_representation_manager_v1`): everything is composed in sRGB,
//!   so its promises could not be kept.
//! * `wp_tearing_control_manager_v1`: no flip is made between two refreshes, so there is nothing that it could allow.
//! * tablet pads (of `zwp_tablet_manager_v2`): a session can be used without.
//! * `zwp_text_input_manager_v1` and `_v2`: today's toolkits use version 3, and two versions would type into the same
//!   field.
//! * desktop-specific shells (`gtk_shell1`, `org_kde_plasma_shell` and the like): each is private to one desktop and
//!   its own programs, and changes with it.

mod alpha_modifier;
mod background_effect;
mod capture_formats;
pub mod client;
pub mod commit_timing;
pub mod compositor;
mod content_type;
pub mod cursor_shape;
pub mod deferred_destroy;
mod dispatch_guard;
pub mod dmabuf;
pub mod ext_workspace;
pub mod fifo;
mod fixes;
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
pub mod offer_guard;
pub mod output;
pub mod output_management;
pub mod output_power;
pub mod panic_cleanup;
pub mod pointer_constraints;
pub mod pointer_gestures;
mod pointer_warp;
pub mod postponed_retry;
pub mod predicted_input;
pub mod presentation;
pub mod privileges;
pub mod relative_pointer;
mod request_rate_limit;
pub mod screencopy;
pub mod scroll;
pub mod seat;
pub mod security_context;
pub mod selection;
pub mod session_lock;
pub mod shm;
pub mod shortcuts_inhibit;
pub mod single_pixel_buffer;
pub mod subcompositor;
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
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
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

/// State of the protocols, one field per global. A field that begins with `_` only keeps its global alive.
#[derive(Debug)]
pub struct Protocols {
    compositor: compositor::Compositors,
    shm: ShmState,
    dmabuf: dmabuf::LinuxDmabuf,
    explicit_sync: syncobj::ExplicitSync,
    output: output::RetiredGlobals,
    xdg_output: xdg_output::XdgOutputs,
    seat: SeatState<State>,
    xdg_shell: XdgShellState,
    layer_shell: WlrLayerShellState,
    _xdg_decoration: XdgDecorationState,
    xdg_activation: XdgActivationState,
    tokens: xdg_activation::KeptActivationTokens,
    _presentation: PresentationState,
    _viewporter: ViewporterState,
    _fractional_scale: FractionalScaleManagerState,
    _fifo: FifoManagerState,
    _commit_timing: CommitTimingManagerState,
    _single_pixel_buffer: SinglePixelBufferState,
    data_device: DataDeviceState,
    primary_selection: PrimarySelectionState,
    selection: selection::SelectionDevices,
    data_control: selection::data_control::DataControls,
    _cursor_shape: CursorShapeManagerState,
    _relative_pointer: RelativePointerManagerState,
    _pointer_constraints: PointerConstraintsState,
    _pointer_gestures: PointerGesturesState,
    _tablet: tablet::TabletManager,
    idle_inhibit: idle_inhibit::IdleInhibit,
    idle_notify: idle_notify::IdleNotify,
    _shortcuts_inhibit: shortcuts_inhibit::ShortcutsInhibit,
    _text_input: text_input::TextInput,
    _input_method: input_method::InputMethod,
    _virtual_pointer: virtual_pointer::VirtualPointers,
    virtual_keyboard: virtual_keyboard::VirtualKeyboards,
    _screencopy: screencopy::Screencopy,
    image_copy: image_copy::ImageCopy,
    gamma_control: gamma_control::GammaControls,
    _frame_pacing: frame_pacing::FramePacingManager,
    _predicted_input: predicted_input::PredictedInputManager,
    input_timestamps: input_timestamps::InputTimestamps,
    scroll: scroll::ScrollManager,
    late_latch: late_latch::LateLatchManager,
    ext_workspace: ext_workspace::ExtWorkspace,
    toplevels: toplevels::Toplevels,
    output_power: output_power::OutputPower,
    output_management: output_management::OutputManagement,
    security_context: security_context::SecurityContexts,
    _alpha_modifier: alpha_modifier::AlphaModifier,
    background_effect: background_effect::BackgroundEffect,
    _content_type: ContentTypeState,
    xdg_dialog: xdg_dialog::Dialogs,
    _toplevel_tags: xdg_toplevel_tag::ToplevelTags,
    kde_decoration: KdeDecorationState,
    foreign: xdg_foreign::ForeignWindows,
    _pointer_warp: pointer_warp::PointerWarp,
    _fixes: fixes::Fixes,
    session_lock: session_lock::SessionLock,
    deferred_destroy: deferred_destroy::DeferredDestroy,
    postponed_retry: postponed_retry::PostponedRetry,
}

impl Protocols {
    pub fn new(display: &DisplayHandle) -> Self {
        let primary_selection = PrimarySelectionState::new::<State>(display);
        Protocols {
            compositor: compositor::Compositors::new(display),
            shm: shm::new(display),
            dmabuf: dmabuf::LinuxDmabuf::default(),
            explicit_sync: syncobj::ExplicitSync::default(),
            output: output::RetiredGlobals::default(),
            xdg_output: xdg_output::XdgOutputs::new(display),
            seat: SeatState::new(),
            xdg_shell: xdg_shell::new(display),
            layer_shell: layer_shell::new(display),
            _xdg_decoration: XdgDecorationState::new::<State>(display),
            xdg_activation: XdgActivationState::new::<State>(display),
            tokens: xdg_activation::KeptActivationTokens::default(),
            _presentation: presentation::new(display),
            _viewporter: ViewporterState::new::<State>(display),
            _fractional_scale: FractionalScaleManagerState::new::<State>(display),
            _fifo: FifoManagerState::unmanaged::<State>(display),
            _commit_timing: CommitTimingManagerState::unmanaged::<State>(display),
            _single_pixel_buffer: SinglePixelBufferState::new::<State>(display),
            data_device: DataDeviceState::new::<State>(display),
            data_control: selection::data_control::DataControls::new(display, &primary_selection),
            primary_selection,
            selection: selection::SelectionDevices::default(),
            _cursor_shape: CursorShapeManagerState::new::<State>(display),
            _relative_pointer: RelativePointerManagerState::new::<State>(display),
            _pointer_constraints: PointerConstraintsState::new::<State>(display),
            _pointer_gestures: PointerGesturesState::new::<State>(display),
            _tablet: tablet::TabletManager::new(display),
            idle_inhibit: idle_inhibit::IdleInhibit::new(IdleInhibitManagerState::new::<State>(display)),
            idle_notify: idle_notify::IdleNotify::new(display),
            _shortcuts_inhibit: shortcuts_inhibit::ShortcutsInhibit::new(display),
            _text_input: text_input::TextInput::new(display),
            _input_method: input_method::InputMethod::new(display),
            _virtual_pointer: virtual_pointer::VirtualPointers::new(display),
            virtual_keyboard: virtual_keyboard::VirtualKeyboards::new(display),
            _screencopy: screencopy::Screencopy::new(display),
            image_copy: image_copy::ImageCopy::new(display),
            gamma_control: gamma_control::GammaControls::new(display),
            _frame_pacing: frame_pacing::FramePacingManager::new(display),
            _predicted_input: predicted_input::PredictedInputManager::new(display),
            input_timestamps: input_timestamps::InputTimestamps::new(display),
            scroll: scroll::ScrollManager::default(),
            late_latch: late_latch::LateLatchManager::default(),
            ext_workspace: ext_workspace::ExtWorkspace::new(display),
            toplevels: toplevels::Toplevels::new(display),
            output_power: output_power::OutputPower::new(display),
            output_management: output_management::OutputManagement::new(display),
            security_context: security_context::SecurityContexts::new(display),
            _alpha_modifier: alpha_modifier::AlphaModifier::new(display),
            background_effect: background_effect::BackgroundEffect::new(display),
            _content_type: ContentTypeState::new::<State>(display),
            xdg_dialog: xdg_dialog::Dialogs::new(display),
            _toplevel_tags: xdg_toplevel_tag::ToplevelTags::new(display),
            kde_decoration: KdeDecorationState::new::<State>(display, DecorationsByDefault::Client),
            foreign: xdg_foreign::ForeignWindows::new(display),
            _pointer_warp: pointer_warp::PointerWarp::new(display),
            _fixes: fixes::Fixes::new(display),
            session_lock: session_lock::SessionLock::new(display),
            deferred_destroy: deferred_destroy::DeferredDestroy::default(),
            postponed_retry: postponed_retry::PostponedRetry::default(),
        }
    }

    /// Smithay's seats, to add one.
    pub(crate) fn seats(&mut self) -> &mut SeatState<State> {
        &mut self.seat
    }

    /// How many destroy callbacks of clients that are gone are queued.
    pub fn deferred_ends(&self) -> usize {
        self.deferred_destroy.pending_count()
    }

    /// Sets how many destroyed objects in a turn are handled at once. Tests that look for faults set a low number.
    pub fn defer_ends_after(&mut self, ends: u32) {
        self.deferred_destroy.at_once = ends;
    }

    /// Forgets all activation tokens.
    pub fn forget_activation_tokens(&mut self) {
        self.xdg_activation.retain_tokens(|_, _| false);
    }

    /// The surfaces that keep outputs on while they are visible.
    pub fn idle_inhibitors(&self) -> impl Iterator<Item = &WlSurface> {
        self.idle_inhibit.surfaces()
    }

    /// How many clients get input times in nanoseconds.
    pub fn input_timestamp_clients(&self) -> usize {
        self.input_timestamps.clients()
    }

    /// Whether keys of a virtual keyboard wait for its keymap.
    pub fn virtual_keyboards_wait(&self) -> bool {
        self.virtual_keyboard.is_waiting()
    }
}

/// Sends this turn's changes, for the protocols that do not send them at once.
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
    offer_guard::guard_new_offers(&state.display_handle);
}
