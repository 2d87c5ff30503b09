//! The compositor's state: holds the parts, has no logic. Each part belongs to the room that it is named after.
//!
//! Rust cannot hide a field of [`State`] from single rooms: `tests/architecture` checks which rooms name it, and the fields of
//! each part are private to its room.

use std::sync::Arc;

use calloop::LoopHandle;
use smithay::reexports::wayland_server::DisplayHandle;

use crate::bindings::Bindings;
use crate::guard::Rules;
use crate::input::Input;
use crate::later::Later;
use crate::output::Outputs;
use crate::protocol::Protocols;
use crate::session::Session;
use crate::shell::Shell;
use crate::surface::Surfaces;
use upbeat_timing::time::{Clock, SessionClock};

/// Everything that lives on the main thread.
#[derive(Debug)]
pub struct State {
    /// Creates globals and finds clients.
    pub display_handle: DisplayHandle,
    /// Adds and removes event sources.
    pub loop_handle: LoopHandle<'static, State>,
    /// What everything here reads the time from.
    pub clock: SessionClock,
    /// What is done when all that is heard in this turn was heard.
    pub(crate) later: Later,
    /// What clients may have and do.
    pub rules: Arc<Rules>,
    /// What each Wayland protocol remembers, one field per protocol.
    pub protocols: Protocols,
    /// Windows, popups, stacking, interactive move and resize.
    pub shell: Shell,
    /// Keyboard shortcuts: input acts by them, and outputs show them in the list of shortcuts.
    pub bindings: Bindings,
    /// The seat, its focus and the cursor.
    pub input: Input,
    /// Content-update queues.
    pub surfaces: Surfaces,
    /// Outputs, from need to light.
    pub outputs: Outputs,
    /// What runs besides: displays, the command, the way out.
    pub session: Session,
}

impl State {
    /// A session without outputs or clients; every global is advertised on `display_handle`.
    pub fn new(display_handle: DisplayHandle, loop_handle: LoopHandle<'static, State>) -> Self {
        Self::with_clock(display_handle, loop_handle, SessionClock::default())
    }

    /// The same on a clock that a test moves.
    pub fn with_clock(
        display_handle: DisplayHandle,
        loop_handle: LoopHandle<'static, State>,
        clock: SessionClock,
    ) -> Self {
        let mut protocols = Protocols::new(&display_handle);
        let input = Input::new(&display_handle, protocols.seats());
        let outputs = Outputs::heard_by(&loop_handle, clock.now());
        State {
            display_handle,
            loop_handle,
            clock,
            later: Later::default(),
            rules: Arc::default(),
            protocols,
            shell: Shell::default(),
            bindings: Bindings::default(),
            input,
            surfaces: Surfaces::default(),
            outputs,
            session: Session::default(),
        }
    }
}
