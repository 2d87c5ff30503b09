//! Explains the columns and sentences of answers, for developers of clients.

use upbeat_record::ipc::message::Response;

/// The columns of `upbeat msg windows`.
const WINDOWS_LEGEND: &str = "\
class   draws: after its frame callback; gated: before it, and the callback releases the frame; own-clock: by a timer
        of its own; queued: ahead of time, into a queue
slope   how much later its frame comes if its callback comes 1 later: near 1 it draws after the callback, near 0 before
asked   pacing that was requested (configuration, `upbeat msg pacing`); paced: pacing in use, for the reason above
budget  time from its callback to the deadline of its frame; cost, cpu: wall-clock and CPU time of its frames (ms)
slack   further refreshes that it is given for a frame
";

/// The sentences of `upbeat msg why-late`.
const WHY_LATE_LEGEND: &str = "\
A frame is late if it was not shown in the refresh that it was meant for. \"budgeted\" is the time that its client had,
from its frame callback to its commit. A client that sometimes takes longer is given more (`upbeat msg windows`).
";

/// The explanation of `response`; empty if it needs none.
pub(super) fn of(response: &Response) -> String {
    match response {
        Response::Windows { windows } if !windows.is_empty() => format!("\n{WINDOWS_LEGEND}"),
        Response::WhyLate { misses } if !misses.is_empty() => format!("\n{WHY_LATE_LEGEND}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::pacing::ClientClass;

    #[test]
    fn every_column_about_pacing_has_its_words() {
        for column in ["class", "slope", "asked", "paced", "budget", "cost", "cpu", "slack"] {
            assert!(WINDOWS_LEGEND.contains(column), "{column}");
        }
        for class in [ClientClass::Draws, ClientClass::Gated, ClientClass::OwnClock, ClientClass::Queued] {
            assert!(WINDOWS_LEGEND.contains(class.word()), "{class}");
        }
        assert_eq!(of(&Response::Windows { windows: Vec::new() }), "", "of nothing nothing is to be said");
    }
}
