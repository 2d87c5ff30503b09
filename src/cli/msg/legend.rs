//! What tables and sentences of answers say, for those who write clients.

use upbeat_record::ipc::message::Response;

/// What the columns of `upbeat msg windows` say.
const WINDOWS_LEGEND: &str = "\
class   draws: when it is called back; gated: it has drawn by then; own-clock: as it likes; queued: ahead, in a queue
slope   how much later its frame comes when it is called back later by one: near 1 it draws then, near 0 before
asked   how it is to be paced (the configuration, `upbeat msg pacing`); paced: how it is, for the reason above
budget  so long before its refresh it is called back; cost, cpu: what its frames took, by the clock and of the CPU (ms)
slack   refreshes that it is given for a frame beyond the first
";

/// What the sentences of `upbeat msg why-late` say.
const WHY_LATE_LEGEND: &str = "\
A frame is late that was not seen in the refresh that it was meant for. \"budgeted\" is what its client had, from its frame
callback to its commit; a client that takes longer now and then is given more (`upbeat msg windows`).
";

/// What the answer says, for those who write clients.
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
    use upbeat_timing::pacing::Class;

    #[test]
    fn every_column_about_pacing_has_its_words() {
        for column in ["class", "slope", "asked", "paced", "budget", "cost", "cpu", "slack"] {
            assert!(WINDOWS_LEGEND.contains(column), "{column}");
        }
        for class in [Class::Draws, Class::Gated, Class::OwnClock, Class::Queued] {
            assert!(WINDOWS_LEGEND.contains(class.word()), "{class}");
        }
        assert_eq!(of(&Response::Windows { windows: Vec::new() }), "", "of nothing nothing is to be said");
    }
}
