//! CapFrameX's captures as JSON: one object with `Info` and `Runs`, each with the columns of PresentMon as arrays.

use std::io::Read;

use serde::Deserialize;

use super::capture::{CaptureBuilder, FrameSample};
use super::{LogCapture, LogRequest, TraceError};

/// Largest valid time of a frame.
const MOST_MILLISECONDS: f64 = 60_000.0;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CapFrameXFile {
    #[serde(default)]
    info: CapFrameXInfo,
    runs: Vec<CapFrameXRun>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct CapFrameXInfo {
    process_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CapFrameXRun {
    capture_data: CapFrameXColumns,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CapFrameXColumns {
    ms_between_presents: Vec<f64>,
    #[serde(default, rename = "MsInPresentAPI")]
    ms_in_present_api: Option<Vec<f64>>,
    #[serde(default)]
    ms_until_render_complete: Option<Vec<f64>>,
    #[serde(default)]
    ms_until_displayed: Option<Vec<f64>>,
    #[serde(default, alias = "CpuActive", alias = "MsCPUBusy")]
    cpu_busy: Option<Vec<f64>>,
    #[serde(default, alias = "GpuActive", alias = "MsGPUBusy", alias = "MsGPUActive")]
    gpu_busy: Option<Vec<f64>>,
}

/// Parses a capture; `path` is for messages, `title` for reports.
///
/// # Errors
/// With the line and column of invalid JSON or of a missing part.
pub fn parse(
    mut reader: impl Read,
    path: &str,
    title: String,
    wanted: &LogRequest<'_>,
) -> Result<LogCapture, TraceError> {
    let malformed = |line, column, what: String| TraceError::Malformed { path: path.to_owned(), line, column, what };
    let mut text = String::new();
    reader.read_to_string(&mut text).map_err(|source| TraceError::Unreadable { path: path.to_owned(), source })?;
    let session: CapFrameXFile = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let what = if text.contains("\"unit\":\"ns\"") && text.contains("\"type\":\"header\"") {
            "this is a frame log: read it with --replay".to_owned()
        } else {
            // serde_json adds line and column to its message; the error reports them already.
            let message = error.to_string();
            format!("not a CapFrameX capture: {}", message.split(" at line ").next().unwrap_or_default())
        };
        malformed(error.line().max(1), error.column().max(1), what)
    })?;
    let mut gatherer = CaptureBuilder::new("CapFrameX", wanted.interval);
    let program = gatherer.program(session.info.process_name.trim());
    for (run, columns) in session.runs.iter().map(|run| &run.capture_data).enumerate() {
        for (frame, whole) in columns.ms_between_presents.iter().enumerate() {
            if !(0.0..=MOST_MILLISECONDS).contains(whole) || (*whole == 0.0 && frame > 0) {
                let what = format!("frame {} of run {}: an interval of {whole} ms", frame + 1, run + 1);
                return Err(malformed(1, 1, what));
            }
            let of = |column: &Option<Vec<f64>>| {
                column.as_ref()?.get(frame).copied().filter(|value| (0.0..=MOST_MILLISECONDS).contains(value))
            };
            let sample = FrameSample {
                whole: Some(*whole).filter(|whole| *whole > 0.0),
                record: of(&columns.cpu_busy),
                render: of(&columns.gpu_busy),
                in_present: of(&columns.ms_in_present_api),
                until_complete: of(&columns.ms_until_render_complete),
                until_displayed: of(&columns.ms_until_displayed),
                gpu_load: None,
            };
            gatherer.add(program, &sample);
        }
    }
    if gatherer.is_empty() {
        return Err(malformed(1, 1, "the capture has no frame".to_owned()));
    }
    gatherer.finish(path, title, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{CaptureWarning, CostOrigin};
    use upbeat_timing::time::Span;

    fn capture(text: &str) -> Result<LogCapture, String> {
        let wanted = LogRequest { interval: Span::from_nanos(16_666_667), process: None };
        parse(text.as_bytes(), "c.json", "c".into(), &wanted).map_err(|error| error.to_string())
    }

    #[test]
    fn a_capture_has_the_stages_that_its_columns_tell() {
        let text = r#"{"Info":{"ProcessName":"game.exe"},"Runs":[{"CaptureData":{"MsBetweenPresents":[0,10,10],
            "MsInPresentAPI":[4,4,4],"MsUntilRenderComplete":[2,2,2],"MsUntilDisplayed":[12,12,12],"Other":[true]}}]}"#;
        let capture = capture(text).unwrap();
        // Presents at 0, 10 and 20; the CPU works from 4 to 10 and from 14 to 20; the GPU is done at 2, 12 and 22.
        let stages: Vec<_> =
            capture.load.frames.iter().map(|f| (f.record.as_millis_f64(), f.render.as_millis_f64())).collect();
        assert_eq!(stages, [(6.0, 8.0), (6.0, 8.0)]);
        assert_eq!((capture.about.record, capture.about.render), (CostOrigin::Derived, CostOrigin::Derived));
        assert_eq!(capture.about.program.as_deref(), Some("game.exe"));
        assert_eq!(capture.about.warnings, [] as [CaptureWarning; 0]);
        assert_eq!(capture.about.recorded.unwrap().present_to_light_ms, 12.0);
    }

    #[test]
    fn invalid_json_is_rejected_with_line_and_column() {
        assert!(capture("{\"Runs\":3}").unwrap_err().starts_with("c.json:1:9: not a CapFrameX capture: invalid type"));
        let zero = "{\"Runs\":[{\"CaptureData\":{\"MsBetweenPresents\":[10,0]}}]}";
        assert_eq!(capture(zero).unwrap_err(), "c.json:1:1: frame 2 of run 1: an interval of 0 ms");
        assert_eq!(capture("{\"Runs\":[]}").unwrap_err(), "c.json:1:1: the capture has no frame");
        let log = "{\"type\":\"header\",\"unit\":\"ns\"}\n{\"type\":\"output\"}\n";
        assert!(capture(log).unwrap_err().ends_with("this is a frame log: read it with --replay"));
    }
}
