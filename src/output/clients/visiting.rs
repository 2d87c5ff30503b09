//! `wl_surface.enter`, `leave` and preferred scale for cursor surfaces and drag icons. `shell/visit` does it for
//! windows.

use smithay::output::Output;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Transform};

use crate::output::Outputs;
use crate::output::all;
use crate::shell::ShellRevision;
use crate::shell::{Hand, visit};
use crate::state::State;

/// A surface tree and the output that it has entered.
#[derive(Debug, PartialEq)]
struct Visit {
    root: WlSurface,
    output: Output,
    scale: f64,
    transform: Transform,
    /// [`Shell::changes`](crate::shell::Shell::changes) at that time; after a change the tree may have a new
    /// subsurface.
    changes: ShellRevision,
}

/// The outputs that the cursor and the drag icon last entered.
#[derive(Debug, Default)]
pub(in crate::output) struct Visits {
    cursor: Option<Visit>,
    drag_icon: Option<Visit>,
}

/// Sends enter, leave and scale to the cursor and the drag icon after a change. Called once in a turn.
pub(in crate::output) fn attend(state: &mut State) {
    let cursor = state.cursor_surface().cloned().map(|root| (root, state.pointer_position()));
    let cursor = cursor.and_then(|(root, at)| visit_at(state, root, at));
    let drag_icon = state.surfaces.drag_icon().cloned().map(|root| (root, state.drag_position()));
    let drag_icon = drag_icon.and_then(|(root, at)| visit_at(state, root, at));
    let Outputs { visits, .. } = &mut state.outputs;
    tell(&mut visits.cursor, cursor);
    tell(&mut visits.drag_icon, drag_icon);
}

fn visit_at(state: &State, root: WlSurface, at: Point<f64, Logical>) -> Option<Visit> {
    let (output, _) = all(state).find(|(_, area)| area.to_f64().contains(at)).filter(|_| root.is_alive())?;
    let (scale, transform) = (output.current_scale().fractional_scale(), output.current_transform());
    Some(Visit { root, output: output.clone(), scale, transform, changes: state.shell.changes() })
}

fn tell(known: &mut Option<Visit>, now: Option<Visit>) {
    if *known == now {
        return;
    }
    let before = std::mem::replace(known, now);
    let stays =
        |before: &Visit| known.as_ref().is_some_and(|now| (&now.root, &now.output) == (&before.root, &before.output));
    if let Some(before) = before.filter(|before| !stays(before)) {
        visit::leave_layer(&before.root, &before.output);
    }
    if let Some(now) = known {
        visit::show_on(&now.root, &now.output);
    }
}
