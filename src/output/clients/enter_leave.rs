//! `wl_surface.enter`, `leave` and preferred scale for cursor surfaces and drag icons. `shell/surface_outputs` does it
//! for windows.

use smithay::output::Output;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Transform};

use crate::output::Outputs;
use crate::output::all;
use crate::shell::ShellRevision;
use crate::shell::{ShellSeat, surface_outputs};
use crate::state::State;

/// A surface tree and the output that it has entered.
#[derive(Debug, PartialEq)]
struct EnteredOutput {
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
pub(in crate::output) struct EnteredOutputs {
    cursor: Option<EnteredOutput>,
    drag_icon: Option<EnteredOutput>,
}

/// Sends enter, leave and scale to the cursor and the drag icon after a change. Called once in a turn.
pub(in crate::output) fn update(state: &mut State) {
    let cursor = state.cursor_surface().cloned().map(|root| (root, state.pointer_position()));
    let cursor = cursor.and_then(|(root, at)| visit_at(state, root, at));
    let drag_icon = state.surfaces.drag_icon().cloned().map(|root| (root, state.drag_position()));
    let drag_icon = drag_icon.and_then(|(root, at)| visit_at(state, root, at));
    let Outputs { entered_outputs: visits, .. } = &mut state.outputs;
    send_enter_leave(&mut visits.cursor, cursor);
    send_enter_leave(&mut visits.drag_icon, drag_icon);
}

fn visit_at(state: &State, root: WlSurface, at: Point<f64, Logical>) -> Option<EnteredOutput> {
    let (output, _) = all(state).find(|(_, area)| area.to_f64().contains(at)).filter(|_| root.is_alive())?;
    let (scale, transform) = (output.current_scale().fractional_scale(), output.current_transform());
    Some(EnteredOutput { root, output: output.clone(), scale, transform, changes: state.shell.changes() })
}

fn send_enter_leave(known: &mut Option<EnteredOutput>, now: Option<EnteredOutput>) {
    if *known == now {
        return;
    }
    let before = std::mem::replace(known, now);
    let stays = |before: &EnteredOutput| {
        known.as_ref().is_some_and(|now| (&now.root, &now.output) == (&before.root, &before.output))
    };
    if let Some(before) = before.filter(|before| !stays(before)) {
        surface_outputs::send_leave(&before.root, &before.output);
    }
    if let Some(now) = known {
        surface_outputs::send_enter(&now.root, &now.output);
    }
}
