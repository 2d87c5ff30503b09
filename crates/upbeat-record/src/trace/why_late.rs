//! Explains each late frame in a sentence, with its evidence.
//!
//! The reason and its figures come from the records ([`MissReason`]); this module adds the window or output and the
//! refresh:
//!
//! ```text
//! window 3 (foot) missed refresh 1234: it took 9.1 ms of the 6.2 ms budgeted, 8.9 ms of it CPU.
//! HEADLESS-1 missed refresh 1240: the compositor woke 2.3 ms late; in the 41.0 ms before this was seen a timer was
//! up to 0.10 ms late, the compositor waited 2.2 ms for a CPU, the host took 0 µs.
//! ```

use upbeat_timing::record::{ClientFrameRecord, FrameRecord, Interference, MissReason};

/// The sentence about an output's frame; `None` if it met its target. `output` is the output's name, such as
/// `HEADLESS-1`.
pub fn output_sentence(record: &FrameRecord, output: &str) -> Option<String> {
    record.miss.map(|miss| sentence(output, record.target.0, &miss, record.interference.as_ref()))
}

/// The sentence about a client's frame; `None` if it met its target. `app_id` may be empty.
pub fn client_sentence(record: &ClientFrameRecord, app_id: &str) -> Option<String> {
    let miss = record.miss?;
    let who = match record.window {
        Some(window) => window.to_string(),
        None => record.surface.to_string(),
    };
    let who = if app_id.is_empty() { who } else { format!("{who} ({app_id})") };
    Some(sentence(&who, record.target.0, &miss, record.interference.as_ref()))
}

fn sentence(who: &str, refresh: u64, miss: &MissReason, interference: Option<&Interference>) -> String {
    match interference {
        Some(interference) => format!("{who} missed refresh {refresh}: {miss}; {interference}."),
        None => format!("{who} missed refresh {refresh}: {miss}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::id::{SurfaceId, WindowId};
    use upbeat_timing::target::RefreshIndex;
    use upbeat_timing::time::Span;

    #[test]
    fn missed_frame_is_one_sentence_with_window_refresh_and_reason() {
        let ms = Span::from_millis_f64;
        let miss = MissReason::ClientLate { took: ms(9.1), budget: ms(6.2), cpu: Some(ms(8.9)), late_by: ms(2.9) };
        let mut record = ClientFrameRecord {
            surface: SurfaceId(7),
            window: Some(WindowId(3)),
            target: RefreshIndex(1234),
            miss: Some(miss),
            ..Default::default()
        };
        assert_eq!(
            client_sentence(&record, "foot").unwrap(),
            "window 3 (foot) missed refresh 1234: it took 9.1 ms of the 6.2 ms budgeted, 8.9 ms of it CPU."
        );
        record.window = None;
        assert!(client_sentence(&record, "").unwrap().starts_with("surface 7 missed refresh 1234: "));
        record.miss = None;
        assert_eq!(client_sentence(&record, "foot"), None);
    }

    #[test]
    fn an_output_is_called_by_its_name() {
        let record = FrameRecord {
            target: RefreshIndex(9),
            miss: Some(MissReason::WokeLate { by: Span::from_micros(2_300) }),
            ..Default::default()
        };
        let sentence = output_sentence(&record, "HEADLESS-1").unwrap();
        assert_eq!(sentence, "HEADLESS-1 missed refresh 9: the compositor woke 2.3 ms late.");
    }

    #[test]
    fn sentence_includes_the_interference() {
        let interference = Interference {
            over: Span::from_millis(41),
            timer: Span::from_micros(100),
            waited: Some(Span::from_micros(2_200)),
            stolen: Some(Span::from_millis(10)),
        };
        let record = FrameRecord {
            target: RefreshIndex(9),
            miss: Some(MissReason::WokeLate { by: Span::from_micros(2_300) }),
            interference: Some(interference),
            ..Default::default()
        };
        let sentence = output_sentence(&record, "HEADLESS-1").unwrap();
        assert_eq!(
            sentence,
            "HEADLESS-1 missed refresh 9: the compositor woke 2.3 ms late; in the 41.0 ms before this was seen a timer \
             was up to 0.10 ms late, the compositor waited 2.2 ms for a CPU, the host took 10.0 ms."
        );
    }
}
