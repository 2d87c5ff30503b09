//! The compositor's state: it holds the parts and has no logic. Each part belongs to the module of the same name.
//!
//! Rust cannot hide a field of [`State`] from single modules, so `tests/architecture` checks which modules name it. The
//! fields of each part are private to its module.

use std::sync::Arc;

use calloop::LoopHandle;
use smithay::reexports::wayland_server::DisplayHandle;

use crate::bindings::Bindings;
use crate::deferred_calls::DeferredCalls;
use crate::guard::Rules;
use crate::input::Input;
use crate::output::Outputs;
use crate::protocol::Protocols;
use crate::session::SessionState;
use crate::shell::Shell;
use crate::surface::SurfaceRegistry;
use upbeat_timing::time::{Clock, SessionClock};

/// Everything that lives on the main thread.
#[derive(Debug)]
pub struct State {
    /// Creates globals and finds clients.
    pub display_handle: DisplayHandle,
    /// Adds and removes event sources.
    pub loop_handle: LoopHandle<'static, State>,
    /// Source of the session's time; a test can set it.
    pub clock: SessionClock,
    /// Callbacks for the end of this turn's events.
    pub(crate) deferred_calls: DeferredCalls,
    /// Limits and privileges of clients.
    pub rules: Arc<Rules>,
    /// The state of each Wayland protocol, one field per protocol.
    pub protocols: Protocols,
    /// Windows, popups, stacking, interactive move and resize.
    pub shell: Shell,
    /// Keyboard shortcuts: input runs them, and outputs draw the list of them.
    pub bindings: Bindings,
    /// The seat, its focus and the cursor.
    pub input: Input,
    pub surfaces: SurfaceRegistry,
    /// Outputs and their frames, from the scheduled repaint to light.
    pub outputs: Outputs,
    /// Displays, the command that runs inside, and the end of the session.
    pub session: SessionState,
}

impl State {
    /// A session without outputs or clients; every global is advertised on `display_handle`.
    pub fn new(display_handle: DisplayHandle, loop_handle: LoopHandle<'static, State>) -> Self {
        Self::with_clock(display_handle, loop_handle, SessionClock::default())
    }

    /// As [`new`](Self::new), with a clock that a test moves.
    pub fn with_clock(
        display_handle: DisplayHandle,
        loop_handle: LoopHandle<'static, State>,
        clock: SessionClock,
    ) -> Self {
        let mut protocols = Protocols::new(&display_handle);
        let input = Input::new(&display_handle, protocols.seats());
        let outputs = Outputs::with_loop(&loop_handle, clock.now());
        State {
            display_handle,
            loop_handle,
            clock,
            deferred_calls: DeferredCalls::default(),
            rules: Arc::default(),
            protocols,
            shell: Shell::default(),
            bindings: Bindings::default(),
            input,
            surfaces: SurfaceRegistry::default(),
            outputs,
            session: SessionState::default(),
        }
    }
}
