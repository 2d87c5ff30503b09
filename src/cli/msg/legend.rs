//! Explains the columns and sentences of answers.

use upbeat_record::ipc::message::Response;

/// The columns of `upbeat msg outputs`.
const OUTPUTS_LEGEND: &str = "\
mode         size in pixels, and refresh rate in Hz; two rates are the range of a variable rate
at           upper left corner, in logical pixels of the space that all outputs share
scale        pixels per logical pixel; guessed: from the size of the monitor, because none is configured
turned       rotation and reflection of the picture; on: whether the display is on
asked        pacing that was requested (configuration, `upbeat msg pacing`); paced: pacing in use
interval     measured time from one refresh to the next (ms)
submit lead  time before a refresh at which the display must have the frame (ms)
compose      time before that which is kept for drawing the frame (ms)
scanned      order in which the display shows the lines of a frame
monitor      maker, model and serial number, for the configuration
";

/// The columns of `upbeat msg windows`.
const WINDOWS_LEGEND: &str = "\
window  number, as for `upbeat msg focus`; app: application id, as for rules
output  output that paces it; workspace: number of its workspace
class   draws: after its frame callback; gated: before it, and the callback releases the frame; own-clock: by a timer
        of its own; queued: ahead of time, into a queue
slope   how much later its frame comes if its callback comes 1 later: near 1 it draws after the callback, near 0 before
asked   pacing that was requested (configuration, `upbeat msg pacing`); paced: pacing in use, for the reason above
budget  time from its callback to the deadline of its frame; cost, cpu: wall-clock and CPU time of its frames (ms), the
        median (p50) and the time that one frame in a hundred exceeds (p99)
slack   further refreshes that it is given for a frame
state   focused; urgent: it asks for attention; hidden: no part of it is visible; its place on its workspace; its
        content type and its tag
";

/// The columns of `upbeat msg workspaces`.
const WORKSPACES_LEGEND: &str = "\
workspace  number or name of the workspace on its output
seen       whether the output shows it; urgent: one of its windows asks for attention
layout     strip: windows lie in columns; floating: they lie where they are put
windows    numbers of its windows, the topmost first
";

/// The columns of `upbeat msg layers`.
const LAYERS_LEGEND: &str = "\
namespace  name that the client has set, as for rules; pid: its process
output     output that the surface is on
level      background and bottom lie below windows, top and overlay above them
at, size   rectangle in logical pixels of the space that all outputs share
";

/// The columns of `upbeat msg clients`.
const CLIENTS_LEGEND: &str = "\
pid      process of the client; program: name of its program
sandbox  sandbox that it runs in, if any
objects  number of its protocol objects
limits   the three resources in which it came closest to its limits: the largest number so far, and the limit. A client
         that exceeds a limit is disconnected.
";

/// The columns of `upbeat msg stats`.
const STATS_LEGEND: &str = "\
fps         frames shown per second, over the last ten seconds
drops       refreshes without new content that was due: per second (drops/s), and since the output or window appeared
hitches/s   times per second that the picture stood still for more than 1.26 refreshes
late        late frames because of: the client; the compositor; the display; a choice of the compositor (by choice)
p50, p99    half of the frames, and 99 of 100 frames, took at most this long; max: the longest; frames: their number
compose     time to draw a frame; woke late: delay of the compositor's timer; latch→light: from the choice of the content
            to the display
input→light, callback→light, commit→light: from an input event, a frame callback or a commit to the display
";

/// The sentences of `upbeat msg why-late`.
const WHY_LATE_LEGEND: &str = "\
A frame is late if it was not shown in the refresh that it was meant for. \"budgeted\" is the time that its client had,
from its frame callback to its commit. A client that sometimes takes longer is given more (`upbeat msg windows`).
";

/// The explanation of `response`; empty if it needs none.
pub(super) fn of(response: &Response) -> String {
    let (has_rows, legend) = match response {
        Response::Outputs { outputs, .. } => (!outputs.is_empty(), OUTPUTS_LEGEND),
        Response::Windows { windows } => (!windows.is_empty(), WINDOWS_LEGEND),
        Response::Workspaces { workspaces } => (!workspaces.is_empty(), WORKSPACES_LEGEND),
        Response::Layers { layers } => (!layers.is_empty(), LAYERS_LEGEND),
        Response::Clients { clients, .. } => (!clients.is_empty(), CLIENTS_LEGEND),
        Response::Stats { outputs, windows } => (!outputs.is_empty() || !windows.is_empty(), STATS_LEGEND),
        Response::WhyLate { misses } => (!misses.is_empty(), WHY_LATE_LEGEND),
        _ => (false, ""),
    };
    if has_rows { format!("\n{legend}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::super::outputs_text::OUTPUT_COLUMNS;
    use super::super::print::{CADENCE_COLUMNS, CLIENT_COLUMNS, LAYER_COLUMNS, LENGTH_COLUMNS, WORKSPACE_COLUMNS};
    use super::super::windows_text::WINDOW_COLUMNS;
    use super::*;
    use upbeat_timing::pacing::ClientClass;

    #[test]
    fn every_column_is_explained() {
        let tables: [(&[&str], &str); 7] = [
            (&OUTPUT_COLUMNS, OUTPUTS_LEGEND),
            (&WINDOW_COLUMNS, WINDOWS_LEGEND),
            (&WORKSPACE_COLUMNS, WORKSPACES_LEGEND),
            (&LAYER_COLUMNS, LAYERS_LEGEND),
            (&CLIENT_COLUMNS, CLIENTS_LEGEND),
            (&CADENCE_COLUMNS, STATS_LEGEND),
            (&LENGTH_COLUMNS, STATS_LEGEND),
        ];
        for (columns, legend) in tables {
            for column in columns.iter().flat_map(|column| column.split([' ', ':'])).filter(|word| !word.is_empty()) {
                // The unit of a table stands above its names.
                assert!(column == "milliseconds" || legend.contains(column), "{column} is missing in:\n{legend}");
            }
        }
    }

    #[test]
    fn every_class_has_its_words() {
        for class in [ClientClass::Draws, ClientClass::Gated, ClientClass::OwnClock, ClientClass::Queued] {
            assert!(WINDOWS_LEGEND.contains(class.word()), "{class}");
        }
        assert_eq!(of(&Response::Windows { windows: Vec::new() }), "", "of nothing nothing is to be said");
    }
}
