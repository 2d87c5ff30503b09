//! The lines of a frame log. `docs/FRAME-LOG.md` describes them for readers of logs; a test compares the page with
//! these types.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::why_late;
use upbeat_timing::id::{OutputId, WindowId};
use upbeat_timing::record::{ClientFrameRecord, FrameRecord};

/// The version of the format. It changes if the meaning of a field changes or a field is removed; new fields do not
/// change it.
pub const VERSION: u32 = 1;

/// One line of a frame log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum LogLine {
    /// The first line: version, clock and unit.
    Header(LogHeader),
    /// The name of an output, before its first frame.
    OutputName {
        /// Number of the output in the other lines.
        output: OutputId,
        /// Name of the output, such as `HEADLESS-1`.
        name: String,
    },
    /// The application id of a window, before its first frame and whenever it changes.
    WindowName {
        /// Number of the window in the other lines.
        window: WindowId,
        /// The application id; may be empty.
        app_id: String,
    },
    /// A frame of an output.
    Output(ExplainedRecord<FrameRecord>),
    /// A frame of a client's surface.
    Client(ExplainedRecord<ClientFrameRecord>),
    /// Records that were left out because the file could not be written fast enough.
    LeftOut {
        /// Number of records since the previous line.
        records: u64,
    },
}

/// The header, which a reader has to check first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogHeader {
    /// Version of the format ([`VERSION`]).
    pub version: u32,
    /// The program that wrote the log, with its version.
    pub program: String,
    /// The clock of all instants.
    pub clock: String,
    /// The unit of all instants and spans.
    pub unit: String,
}

impl Default for LogHeader {
    fn default() -> Self {
        LogHeader {
            version: VERSION,
            program: concat!("upbeat ", env!("CARGO_PKG_VERSION")).to_owned(),
            clock: "CLOCK_MONOTONIC".to_owned(),
            unit: "ns".to_owned(),
        }
    }
}

/// A record and, if it missed its target, a sentence about the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplainedRecord<R> {
    /// The figures of the frame.
    #[serde(flatten)]
    pub record: R,
    /// Why the frame was late, as a sentence; `None` if it was in time.
    pub why: Option<String>,
}

/// The names of outputs and windows, for the sentences about late frames.
#[derive(Debug, Default)]
pub struct LogNames {
    outputs: HashMap<OutputId, String>,
    windows: HashMap<WindowId, String>,
}

impl LogNames {
    /// Sets the name of an output.
    pub fn output(&mut self, output: OutputId, name: String) {
        self.outputs.insert(output, name);
    }

    /// Sets the application id of a window.
    pub fn window(&mut self, window: WindowId, app_id: String) {
        self.windows.insert(window, app_id);
    }

    /// The line for an output's frame.
    pub fn explain_output(&self, record: FrameRecord) -> LogLine {
        let why = match self.outputs.get(&record.output) {
            Some(name) => why_late::output_sentence(&record, name),
            None => why_late::output_sentence(&record, &record.output.to_string()),
        };
        LogLine::Output(ExplainedRecord { record, why })
    }

    /// The line for a client's frame.
    pub fn explain_client(&self, record: ClientFrameRecord) -> LogLine {
        let app_id = record.window.and_then(|window| self.windows.get(&window));
        let why = why_late::client_sentence(&record, app_id.map_or("", String::as_str));
        LogLine::Client(ExplainedRecord { record, why })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use upbeat_timing::record::{FrameOutcome, LostReason, MissReason};
    use upbeat_timing::time::{Instant, Span};

    fn samples() -> Vec<LogLine> {
        let miss = MissReason::DisplayLost { reason: LostReason::Gone };
        let frame = FrameRecord {
            output: OutputId(1),
            submitted: Some(Instant::from_nanos(u64::MAX / 2)),
            compose_cost: Span::from_nanos(-1),
            outcome: FrameOutcome::Lost(LostReason::Gone),
            miss: Some(miss),
            ..Default::default()
        };
        let client = ClientFrameRecord {
            window: Some(WindowId(3)),
            cost_cpu: Some(Span::from_micros(7)),
            miss: Some(MissReason::ClientLate {
                took: Span::from_millis(9),
                budget: Span::from_millis(6),
                cpu: None,
                late_by: Span::from_millis(3),
            }),
            ..Default::default()
        };
        let mut names = LogNames::default();
        names.window(WindowId(3), "foot".to_owned());
        vec![
            LogLine::Header(LogHeader::default()),
            LogLine::OutputName { output: OutputId(1), name: "HEADLESS-1".to_owned() },
            LogLine::WindowName { window: WindowId(3), app_id: "a \"quoted\"\nname".to_owned() },
            names.explain_output(frame),
            names.explain_client(client),
            names.explain_client(ClientFrameRecord::default()),
            LogLine::LeftOut { records: 3 },
        ]
    }

    #[test]
    fn line_is_read_back_as_it_was_written_and_has_no_newline() {
        for line in samples() {
            let text = serde_json::to_string(&line).unwrap();
            assert!(!text.contains('\n'), "{text}");
            assert_eq!(serde_json::from_str::<LogLine>(&text).unwrap(), line, "{text}");
        }
    }

    #[test]
    fn a_missed_frame_carries_its_sentence() {
        let texts: Vec<_> = samples().iter().map(|line| serde_json::to_value(line).unwrap()).collect();
        assert_eq!(texts[3]["why"], "output 1 missed refresh 0: the output was switched off or unplugged.");
        assert_eq!(texts[4]["why"], "window 3 (foot) missed refresh 0: it took 9.0 ms of the 6.0 ms budgeted.");
        assert_eq!(texts[5]["why"], serde_json::Value::Null);
    }

    /// The documentation has a heading for each kind of line, with a table below whose first column lists its fields.
    #[test]
    fn the_documentation_names_every_field_and_no_other() {
        let documentation = include_str!("../../../../docs/FRAME-LOG.md");
        for line in samples() {
            let value = serde_json::to_value(&line).unwrap();
            let written = value.as_object().unwrap();
            let kind = written["type"].as_str().unwrap();
            let (_, section) = documentation
                .split_once(&format!("\n### `{kind}`\n"))
                .unwrap_or_else(|| panic!("docs/FRAME-LOG.md has no section about `{kind}`"));
            let section = section.split("\n##").next().unwrap_or_default();
            let documented: BTreeSet<&str> =
                section.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
            let written: BTreeSet<&str> = written.keys().map(String::as_str).filter(|key| *key != "type").collect();
            assert_eq!(documented, written, "the fields of `{kind}`");
        }
    }
}
