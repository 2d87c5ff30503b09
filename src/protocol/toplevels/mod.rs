//! Lists of windows, for bars and docks: `zwlr_foreign_toplevel_manager_v1` 3 ([`wlr`]) and
//! `ext_foreign_toplevel_list_v1` 1 ([`ext`]).
//!
//! Changes are sent once in a turn of the loop, to each client the difference to the state that it was sent last. A
//! client that does not read for a moment gets the newest state when it has read on, without the states in between. A
//! client with much to read, such as many windows with long titles, gets as much at a time as it can read:
//!
//! ```text
//!   windows ─► ToplevelState of each ─┬─► listener: state sent last ≠ ToplevelState? ─► events, done
//!                                     └─► listener that is behind: later
//! ```

pub mod ext;
pub mod wlr;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};

use crate::deferred_calls;
use crate::guard;
use crate::revision::Revision;
use crate::shell::{ListRevision, WindowArrangement, WindowId};
use crate::state::State;

/// Time until the next try for a client that is behind.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// State of a window as it is sent to clients.
#[derive(Clone, Debug, PartialEq)]
struct ToplevelState {
    /// Identifies one mapping of the window: it gets a new number when it is mapped again.
    number: u64,
    /// Revision of title and app id. These may be long, so they are only read again when they have changed.
    names: Revision,
    title: Arc<str>,
    app_id: Arc<str>,
    output: Option<Output>,
    parent: Option<WindowId>,
    maximized: bool,
    minimised: bool,
    fullscreen: bool,
    activated: bool,
}

/// States that did not change are shared with the clients that were sent them.
type ToplevelStates = BTreeMap<WindowId, Arc<ToplevelState>>;

/// Both globals, and the state of all windows.
#[derive(Debug)]
pub struct Toplevels {
    wlr: wlr::WlrToplevelManagers,
    ext: ext::ExtToplevelLists,
    looks: ToplevelStates,
    /// The revision that the states were made from; `None` while no client listens.
    basis: Option<ListRevision>,
    /// The last number that was assigned.
    last: u64,
    /// A client is behind, and the timer for the next try runs.
    waits: bool,
    /// The timer has fired.
    looks_again: bool,
}

impl Toplevels {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        Toplevels {
            wlr: wlr::WlrToplevelManagers::new(display),
            ext: ext::ExtToplevelLists::new(display),
            looks: ToplevelStates::new(),
            basis: None,
            last: 0,
            waits: false,
            looks_again: false,
        }
    }

    fn has_listeners(&self) -> bool {
        !self.wlr.is_empty() || !self.ext.is_empty()
    }
}

/// Sends all changes since the last call.
pub(super) fn refresh(state: &mut State) {
    if !state.protocols.toplevels.has_listeners() {
        state.protocols.toplevels.basis = None;
        return;
    }
    let shell = &state.shell;
    let basis = Some(shell.listed());
    let looks_again = std::mem::take(&mut state.protocols.toplevels.looks_again);
    if state.protocols.toplevels.basis != basis {
        update_states(state);
    } else if !looks_again {
        return;
    }
    let State { protocols, display_handle, .. } = state;
    let Toplevels { wlr, ext, looks, basis: known, .. } = &mut protocols.toplevels;
    *known = basis;
    let all_know = wlr.send_changes(looks, display_handle) & ext.send_changes(looks, display_handle);
    if !all_know {
        schedule_retry(state);
    }
}

/// Sends `output_enter` for a `wl_output` that a client has just bound.
pub(super) fn output_bound(state: &State, output: &Output, object: &WlOutput) {
    state.protocols.toplevels.wlr.output_bound(output, object);
}

/// Updates the states of all windows.
fn update_states(state: &mut State) {
    let State { protocols, shell, outputs, .. } = state;
    let Toplevels { looks, last, .. } = &mut protocols.toplevels;
    let before = std::mem::take(looks);
    let named: Vec<(String, &Output)> = outputs.iter().map(|output| (output.name(), output)).collect();
    looks.extend(shell.windows().map(|window| {
        let names = window.names();
        let known = before.get(&window.id).filter(|before| before.names == names);
        let text = |text: Option<String>| Arc::<str>::from(text.unwrap_or_default());
        let (title, app_id) = match known {
            Some(known) => (known.title.clone(), known.app_id.clone()),
            None => (text(window.title()), text(window.app_id())),
        };
        let number = before.get(&window.id).map_or_else(
            || {
                *last += 1;
                *last
            },
            |look| look.number,
        );
        let name = shell.workspaces().place(window.id).and_then(|place| shell.workspaces().name(place.screen));
        let look = ToplevelState {
            number,
            names,
            title,
            app_id,
            output: name.and_then(|name| named.iter().find(|(known, _)| known == name)).map(|(_, it)| (*it).clone()),
            parent: window.parent().filter(|parent| shell.window(*parent).is_some_and(|parent| parent.is_mapped())),
            maximized: matches!(
                window.arrangement(),
                WindowArrangement::Maximized { .. } | WindowArrangement::Tiled { is_maximised: true, .. }
            ),
            minimised: shell.is_minimised(window.id),
            fullscreen: matches!(window.arrangement(), WindowArrangement::Fullscreen { .. }),
            activated: shell.focused() == Some(window.id),
        };
        let same = before.get(&window.id).filter(|before| ***before == look);
        (window.id, same.cloned().unwrap_or_else(|| Arc::new(look)))
    }));
}

/// Starts the timer for the next try, unless it runs.
fn schedule_retry(state: &mut State) {
    if std::mem::replace(&mut state.protocols.toplevels.waits, true) {
        return;
    }
    let inserted = deferred_calls::add_timer(&state.loop_handle, LOOK_AGAIN, |state| {
        let toplevels = &mut state.protocols.toplevels;
        (toplevels.waits, toplevels.looks_again) = (false, true);
        None
    });
    if let Err(error) = inserted {
        tracing::warn!(%error, "a list of windows may be sent late");
        state.protocols.toplevels.waits = false;
    }
}

/// Whether the client of `object` has much unread.
fn is_behind(object: &impl Resource) -> bool {
    let client = object.client();
    client.is_some_and(|client| guard::account(&client).is_some_and(|account| account.is_behind()))
}
