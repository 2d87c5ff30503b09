//! Reads frame costs from a frame log, as `upbeat --frame-log` writes it.
//!
//! The parser is lenient: it skips unknown lines and fields, and an incomplete last line. It refuses logs that it would
//! misread: of another version or unit, or with an invalid interval.

use std::path::Path;

use serde_json::Value;

use super::{FrameCost, Load, TraceError};
use crate::tally::Summary;
use upbeat_timing::time::{Instant, Span};

/// A surface's recorded frames: their figures, and their costs for a replay.
#[derive(Clone, Debug)]
pub struct RecordedSurface {
    /// The costs as one stage, because a log does not distinguish the client's stages.
    pub load: Load,
    /// Callback to light in milliseconds, as recorded.
    pub callback_to_light: Summary,
    /// Refreshes without a new frame while the client kept drawing.
    pub drops: u64,
    /// From the first to the last light.
    pub duration: Span,
    /// The pacing of most frames.
    pub pacing: String,
    /// The client draws before its callback, as EGL programs do, so the log does not contain the cost of that part.
    pub gated: bool,
    /// Time to compose each frame; empty if the log does not tell.
    pub compose: Vec<Span>,
    /// From the display's deadline to its refresh; `None` if the log does not tell.
    pub lead: Option<Span>,
    /// The last line was incomplete and is left out.
    pub cut_off: bool,
}

impl RecordedSurface {
    pub fn drops_per_second(&self) -> f64 {
        self.drops as f64 / self.duration.as_seconds_f64().max(1e-9)
    }
}

/// After this many refreshes without a frame the client has paused: these are no drops.
const PAUSE_REFRESHES: u64 = 30;

/// The supported version of the format.
const VERSION: i64 = 1;
/// Valid refresh intervals; the upper end is also the largest cost of a frame.
const INTERVALS: std::ops::RangeInclusive<Span> = Span::from_micros(100)..=Span::from_seconds(10);
const MOST_COST: Span = Span::from_seconds(60);

/// Reads the surface with the most frames from a log.
pub fn read(path: &Path) -> Result<RecordedSurface, TraceError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| TraceError::Unreadable { path: name.clone(), source })?;
    parse(&text, &name)
}

/// A client frame in a log.
#[derive(Clone, Debug)]
struct ClientFrameEntry {
    surface: u64,
    /// `None` for a frame without a callback: it was drawn ahead.
    cost: Option<Span>,
    callback: Option<Instant>,
    light: Option<Instant>,
    interval: Option<Span>,
    pacing: String,
    gated: bool,
}

/// Parses the text of a log.
pub fn parse(text: &str, path: &str) -> Result<RecordedSurface, TraceError> {
    let malformed = |line, column, what: String| TraceError::Malformed { path: path.to_owned(), line, column, what };
    let mut entries: Vec<ClientFrameEntry> = Vec::new();
    let mut interval = None;
    let (mut compose, mut lead) = (Vec::new(), None);
    let ends_whole = text.ends_with('\n');
    let mut cut_off = false;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    while let Some((index, line)) = lines.next() {
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            // The writer was stopped in the middle of a line.
            Err(_) if lines.peek().is_none() && !ends_whole && index > 0 => {
                cut_off = true;
                break;
            }
            Err(error) => return Err(malformed(index + 1, error.column().max(1), "not a JSON object".to_owned())),
        };
        check_supported(&value).map_err(|what| malformed(index + 1, 1, what))?;
        match value.get("type").and_then(Value::as_str) {
            Some("client" | "client_frame") => entries.push(entry(&value)),
            Some("output" | "output_frame") => {
                interval = interval.or_else(|| span(&value, &["interval", "interval_ns"]));
                compose.extend(compose_cost(&value));
                lead = lead.or_else(|| Some(instant(&value, &["present"])? - instant(&value, &["submit_by"])?));
            }
            Some(_) => {}
            None => return Err(malformed(index + 1, 1, "the line has no `type`".to_owned())),
        }
    }
    let busiest = busiest(&entries);
    entries.retain(|entry| Some(entry.surface) == busiest);
    let intervals = entries.iter().filter_map(|entry| entry.interval).filter(|interval| *interval > Span::ZERO).max();
    let interval = intervals.or(interval).unwrap_or(Span::from_nanos(16_666_667));
    if entries.iter().all(|entry| entry.cost.is_none()) {
        return Err(malformed(1, 1, "the log has no client frame with a cost".to_owned()));
    }
    Ok(RecordedSurface { compose, lead, cut_off, ..recorded(&entries, interval, path) })
}

/// Rejects a line that would be misread, or that would make a replay endless.
fn check_supported(value: &Value) -> Result<(), String> {
    if value.get("type").and_then(Value::as_str) == Some("header") {
        let version = number(value, &["version"]).unwrap_or(VERSION);
        if version != VERSION {
            return Err(format!("version {version} of the format; this reads version {VERSION}"));
        }
        if let Some(unit) = value.get("unit").and_then(Value::as_str).filter(|unit| *unit != "ns") {
            return Err(format!("its unit is `{unit}`; this reads `ns`"));
        }
    }
    let interval = span(value, &["interval", "interval_ns"]).filter(|interval| !INTERVALS.contains(interval));
    if let Some(interval) = interval {
        return Err(format!("invalid refresh interval: {} ns", interval.as_nanos()));
    }
    match span(value, &["cost_wall", "cost_ns"]) {
        Some(cost) if cost > MOST_COST => Err(format!("invalid frame cost: {:.0} s", cost.as_seconds_f64())),
        _ => Ok(()),
    }
}

/// Time to compose and submit a frame, from its latch on.
fn compose_cost(value: &Value) -> Option<Span> {
    let latched = instant(value, &["latched"])?;
    let done = instant(value, &["submitted", "composed"])?;
    Some((done - latched).max(Span::ZERO)).filter(|_| value.get("submitted").is_some_and(|at| !at.is_null()))
}

fn busiest(entries: &[ClientFrameEntry]) -> Option<u64> {
    let count = |surface: u64| entries.iter().filter(|entry| entry.surface == surface).count();
    let mut surfaces: Vec<u64> = entries.iter().map(|entry| entry.surface).collect();
    surfaces.sort_unstable();
    surfaces.dedup();
    surfaces.into_iter().max_by_key(|surface| count(*surface))
}

fn number(value: &Value, names: &[&str]) -> Option<i64> {
    names.iter().find_map(|name| value.get(name)?.as_i64())
}

fn span(value: &Value, names: &[&str]) -> Option<Span> {
    number(value, names).map(Span::from_nanos)
}

fn instant(value: &Value, names: &[&str]) -> Option<Instant> {
    number(value, names).filter(|nanos| *nanos > 0).map(|nanos| Instant::from_nanos(nanos as u64))
}

fn entry(value: &Value) -> ClientFrameEntry {
    let callback = instant(value, &["callback_sent", "callback_ns", "callback_scheduled"]);
    let ready = instant(value, &["ready", "ready_ns", "committed", "commit_ns"]);
    let cost = span(value, &["cost_wall", "cost_ns"]).or_else(|| Some(ready? - callback?));
    ClientFrameEntry {
        surface: number(value, &["surface"]).unwrap_or(0) as u64,
        cost: cost.map(|cost| cost.max(Span::ZERO).min(MOST_COST)),
        callback,
        light: instant(value, &["presented", "present_ns"]),
        interval: span(value, &["interval", "interval_ns"]),
        pacing: value.get("pacing").and_then(Value::as_str).unwrap_or("unknown").to_owned(),
        gated: value.get("class").and_then(Value::as_str) == Some("gated"),
    }
}

fn recorded(entries: &[ClientFrameEntry], interval: Span, path: &str) -> RecordedSurface {
    let costs = entries.iter().filter_map(|entry| entry.cost);
    let frames = costs.map(|record| FrameCost { record, render: Span::ZERO }).collect();
    let mut latencies: Vec<f32> =
        entries.iter().filter_map(|entry| Some((entry.light? - entry.callback?).as_millis_f64() as f32)).collect();
    let mut lights: Vec<Instant> = entries.iter().filter_map(|entry| entry.light).collect();
    lights.sort_unstable();
    let (mut drops, mut duration) = (0, Span::ZERO);
    for pair in lights.windows(2) {
        let gap = pair[1] - pair[0];
        let refreshes = ((gap + interval / 2).as_nanos().max(0) / interval.as_nanos().max(1)) as u64;
        if refreshes <= PAUSE_REFRESHES {
            drops += refreshes.saturating_sub(1);
            duration += gap;
        }
    }
    let mut pacings: Vec<&str> = entries.iter().map(|entry| entry.pacing.as_str()).collect();
    pacings.sort_unstable();
    let pacing = pacings.chunk_by(|a, b| a == b).max_by_key(|chunk| chunk.len()).map_or("unknown", |chunk| chunk[0]);
    RecordedSurface {
        load: Load { name: path.to_owned(), interval, animation: 0, frames },
        callback_to_light: Summary::of(&mut latencies),
        drops,
        duration,
        pacing: pacing.to_owned(),
        gated: 2 * entries.iter().filter(|entry| entry.gated).count() > entries.len(),
        compose: Vec::new(),
        lead: None,
        cut_off: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_surface_of_a_log_is_read_with_its_drops() {
        let mut text = String::from("{\"type\":\"header\",\"version\":1}\n");
        let mut refresh = 0_u64;
        for frame in 0..20_u64 {
            refresh += if frame == 10 { 3 } else { 1 };
            let (callback, light) =
                (1_000_000_000 + refresh * 10_000_000 - 6_000_000, 1_000_000_000 + refresh * 10_000_000);
            text += &format!(
                "{{\"type\":\"client\",\"surface\":7,\"interval\":10000000,\"callback_sent\":{callback},\
                 \"cost_wall\":2000000,\"presented\":{light},\"pacing\":\"just-in-time\",\"new\":1}}\n"
            );
        }
        text += "{\"type\":\"client_frame\",\"surface\":8,\"callback_ns\":5,\"ready_ns\":9}\n{\"type\":\"later\"}\n";
        let recorded = parse(&text, "log").unwrap();
        assert_eq!((recorded.load.frames.len(), recorded.drops), (20, 2));
        assert_eq!(recorded.load.frames[0].total(), Span::from_millis(2));
        assert!((recorded.callback_to_light.p50 - 6.0).abs() < 1e-6);
        assert_eq!(recorded.pacing, "just-in-time");
    }

    /// Frames drawn ahead have no cost in a log, and their lines may be out of order. They still count as shown.
    #[test]
    fn frames_without_a_callback_are_no_drops() {
        let line = |refresh: u64| {
            let cost = if refresh.is_multiple_of(3) { ",\"cost_wall\":2000000" } else { "" };
            let light = 1_000_000_000 + refresh * 10_000_000;
            format!("{{\"type\":\"client\",\"surface\":7,\"interval\":10000000,\"presented\":{light}{cost}}}\n")
        };
        let text: String = [0, 2, 1, 3, 4, 6, 5, 9].into_iter().map(line).collect();
        let recorded = parse(&text, "log").unwrap();
        assert_eq!((recorded.load.frames.len(), recorded.drops), (4, 2));
    }

    #[test]
    fn unsupported_logs_are_rejected_and_an_incomplete_last_line_is_skipped() {
        let frame = "{\"type\":\"client\",\"surface\":7,\"cost_wall\":2000000}\n";
        let cut = parse(&format!("{frame}{frame}{{\"type\":\"cli"), "log").unwrap();
        assert_eq!((cut.load.frames.len(), cut.cut_off), (2, true));
        let error = |text: &str| parse(&format!("{text}\n{frame}"), "log").unwrap_err().to_string();
        assert_eq!(error(r#"{"type":"header","version":2}"#), "log:1:1: version 2 of the format; this reads version 1");
        assert_eq!(error(r#"{"type":"header","version":1,"unit":"ms"}"#), "log:1:1: its unit is `ms`; this reads `ns`");
        let nothing = r#"{"type":"client","surface":1,"interval":0,"cost_wall":5}"#;
        assert_eq!(error(nothing), "log:1:1: invalid refresh interval: 0 ns");
        let ages = r#"{"type":"client","surface":1,"cost_wall":9000000000000}"#;
        assert_eq!(error(ages), "log:1:1: invalid frame cost: 9000 s");
    }

    #[test]
    fn a_broken_log_names_the_line_and_the_column() {
        let error = |text: &str| parse(text, "log").unwrap_err().to_string();
        assert_eq!(error("{\"type\":\"header\"}\n{\"type\": oops}\n"), "log:2:10: not a JSON object");
        assert_eq!(error("{}\n"), "log:1:1: the line has no `type`");
        assert_eq!(error(""), "log:1:1: the log has no client frame with a cost");
    }
}
