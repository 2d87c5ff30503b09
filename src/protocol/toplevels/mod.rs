//! Lists of windows, for bars and docks: `zwlr_foreign_toplevel_manager_v1` 3 ([`wlr`]) and `ext_foreign_toplevel_list_v1` 1
//! ([`ext`]).
//!
//! What changed is told once in a turn of the loop, to each listener what it does not know yet. One that does not read for a
//! moment is told the newest when it reads on, and not all that was in between; one that has much to hear, of windows with long
//! titles, is told as much at a time as it can read:
//!
//! ```text
//!   windows ─► Look of each ─┬─► listener: what it was told ≠ Look? ─► events, done
//!                            └─► listener that is behind: later
//! ```

pub mod ext;
pub mod wlr;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};

use crate::guard;
use crate::later;
use crate::revision::Revision;
use crate::shell::{Arrangement, ListRevision, WindowId};
use crate::state::State;

/// Until somebody who was behind is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What is told of a window.
#[derive(Clone, Debug, PartialEq)]
struct Look {
    /// Names this time that it is mapped.
    number: u64,
    /// Advanced when its names change: they may be long, and are not read again for what others do.
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

/// What is the same as before is shared with whoever was told of it.
type Looks = BTreeMap<WindowId, Arc<Look>>;

/// Both globals, and who listens.
#[derive(Debug)]
pub struct Toplevels {
    wlr: wlr::Managers,
    ext: ext::Lists,
    looks: Looks,
    /// What they were made from; `None` while nobody listens.
    basis: Option<ListRevision>,
    /// The last number that was given.
    last: u64,
    /// Somebody was behind, and is looked at again soon.
    waits: bool,
    /// It is time for that.
    looks_again: bool,
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
            looks_again: false,
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
    let basis = Some(shell.listed());
    let looks_again = std::mem::take(&mut state.protocols.toplevels.looks_again);
    if state.protocols.toplevels.basis != basis {
        look(state);
    } else if !looks_again {
        return;
    }
    let State { protocols, display_handle, .. } = state;
    let Toplevels { wlr, ext, looks, basis: known, .. } = &mut protocols.toplevels;
    *known = basis;
    let all_know = wlr.tell(looks, display_handle) & ext.tell(looks, display_handle);
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
        let look = Look {
            number,
            names,
            title,
            app_id,
            output: name.and_then(|name| named.iter().find(|(known, _)| known == name)).map(|(_, it)| (*it).clone()),
            parent: window.parent().filter(|parent| shell.window(*parent).is_some_and(|parent| parent.is_mapped())),
            maximized: matches!(
                window.arrangement(),
                Arrangement::Maximized { .. } | Arrangement::Tiled { is_maximised: true, .. }
            ),
            minimised: shell.is_minimised(window.id),
            fullscreen: matches!(window.arrangement(), Arrangement::Fullscreen { .. }),
            activated: shell.focused() == Some(window.id),
        };
        let same = before.get(&window.id).filter(|before| ***before == look);
        (window.id, same.cloned().unwrap_or_else(|| Arc::new(look)))
    }));
}

/// A turn of the loop comes soon, whatever happens.
fn look_again(state: &mut State) {
    if std::mem::replace(&mut state.protocols.toplevels.waits, true) {
        return;
    }
    let inserted = later::after(&state.loop_handle, LOOK_AGAIN, |state| {
        let toplevels = &mut state.protocols.toplevels;
        (toplevels.waits, toplevels.looks_again) = (false, true);
        None
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
