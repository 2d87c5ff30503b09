//! Lists of windows, for bars and docks: `zwlr_foreign_toplevel_manager_v1` 3 ([`wlr`]) and `ext_foreign_toplevel_list_v1` 1
//! ([`ext`]).
//!
//! What changed is told once in a turn of the loop, to each listener what it does not know yet. One that does not read for a
//! moment is told the newest when it reads on, and not all that was in between:
//!
//! ```text
//!   windows ─► Look of each ─┬─► listener: what it was told ≠ Look? ─► events, done
//!                            └─► listener that is behind: later
//! ```

pub mod ext;
pub mod wlr;

use std::collections::BTreeMap;
use std::time::Duration;

use calloop::timer::{TimeoutAction, Timer};
use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};

use crate::guard;
use crate::shell::{Arrangement, WindowId};
use crate::state::State;

/// Until somebody who was behind is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What is told of a window.
#[derive(Clone, Debug, PartialEq)]
struct Look {
    /// Names this time that it is mapped.
    number: u64,
    title: String,
    app_id: String,
    output: Option<Output>,
    parent: Option<WindowId>,
    maximized: bool,
    fullscreen: bool,
    activated: bool,
}

type Looks = BTreeMap<WindowId, Look>;

/// What looks follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Basis {
    changes: (u64, u64),
    names: u64,
    focused: Option<WindowId>,
}

/// Both globals, and who listens.
#[derive(Debug)]
pub struct Toplevels {
    wlr: wlr::Managers,
    ext: ext::Lists,
    looks: Looks,
    /// What they were made from; `None` while nobody listens.
    basis: Option<Basis>,
    /// The last number that was given.
    last: u64,
    /// Somebody was behind, and is looked at again soon.
    waits: bool,
}

impl Toplevels {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        Toplevels {
            wlr: wlr::Managers::new(display),
            ext: ext::Lists::new(display),
            looks: Looks::new(),
            basis: None,
            last: 0,
            waits: false,
        }
    }

    fn are_heard(&self) -> bool {
        !self.wlr.is_empty() || !self.ext.is_empty()
    }
}

/// Tells of everything that changed since the last call.
pub(super) fn refresh(state: &mut State) {
    if !state.protocols.toplevels.are_heard() {
        state.protocols.toplevels.basis = None;
        return;
    }
    let shell = &state.shell;
    let basis = Basis { changes: shell.changes(), names: shell.names(), focused: shell.focused() };
    if state.protocols.toplevels.basis == Some(basis) {
        return;
    }
    look(state);
    let State { protocols, display_handle, .. } = state;
    let Toplevels { wlr, ext, looks, .. } = &mut protocols.toplevels;
    let all_know = wlr.tell(looks, display_handle) & ext.tell(looks, display_handle);
    protocols.toplevels.basis = all_know.then_some(basis);
    if !all_know {
        look_again(state);
    }
}

/// A client bound another `wl_output`.
pub(super) fn output_bound(state: &State, output: &Output, object: &WlOutput) {
    state.protocols.toplevels.wlr.output_bound(output, object);
}

/// Finds out what there is to tell.
fn look(state: &mut State) {
    let State { protocols, shell, outputs, .. } = state;
    let Toplevels { looks, last, .. } = &mut protocols.toplevels;
    let before = std::mem::take(looks);
    looks.extend(shell.windows().map(|window| {
        let number = before.get(&window.id).map_or_else(
            || {
                *last += 1;
                *last
            },
            |look| look.number,
        );
        let name = shell.workspaces.place(window.id).and_then(|place| shell.workspaces.name(place.screen));
        let look = Look {
            number,
            title: window.title().unwrap_or_default(),
            app_id: window.app_id().unwrap_or_default(),
            output: name.and_then(|name| outputs.iter().find(|output| output.name() == name)).cloned(),
            parent: window.parent().filter(|parent| shell.window(*parent).is_some_and(|parent| parent.is_mapped())),
            maximized: matches!(window.arrangement(), Arrangement::Maximized { .. }),
            fullscreen: matches!(window.arrangement(), Arrangement::Fullscreen { .. }),
            activated: shell.focused() == Some(window.id),
        };
        (window.id, look)
    }));
}

/// A turn of the loop comes soon, whatever happens.
fn look_again(state: &mut State) {
    if std::mem::replace(&mut state.protocols.toplevels.waits, true) {
        return;
    }
    let timer = Timer::from_duration(LOOK_AGAIN);
    let inserted = state.loop_handle.insert_source(timer, |_, (), state| {
        state.protocols.toplevels.waits = false;
        TimeoutAction::Drop
    });
    if let Err(error) = inserted {
        tracing::warn!(%error, "a list of windows may be told late");
        state.protocols.toplevels.waits = false;
    }
}

/// Whether the client of `object` has not read much of what it was told.
fn is_behind(object: &impl Resource) -> bool {
    let client = object.client();
    client.is_some_and(|client| guard::account(&client).is_some_and(|account| account.is_behind()))
}
