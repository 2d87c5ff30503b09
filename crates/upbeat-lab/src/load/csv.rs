//! Reads frame-time logs as CSV: our own columns, MangoHud, PresentMon, OCAT, CapFrameX, FrameView.
//!
//! | format | recognised by | used columns |
//! |---|---|---|
//! | ours | `cpu_ms` or `gpu_ms` | these, `frame_ms` |
//! | MangoHud | `frametime`, after lines that describe the system | this, `gpu_load` (its `cpu_load` is of all cores, so it says nothing of one thread) |
//! | PresentMon 1, OCAT, CapFrameX, FrameView | `MsBetweenPresents` | this, `MsInPresentAPI`, `MsUntilRenderComplete` or `MsRenderPresentLatency`, `MsUntilDisplayed` |
//! | PresentMon 2 | `MsCPUBusy` and `MsGPUBusy`, or `CPUBusy` and `GPUBusy` | these, `FrameTime`, `DisplayLatency` |
//!
//! `Application` and `ProcessID` distinguish programs. A quoted field may contain commas. With semicolons between
//! fields a number may have a decimal comma. `capture` computes costs from the columns.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::BufRead;

use super::capture::{CaptureBuilder, FrameSample};
use super::{Load, LogCapture, LogRequest, TraceError};

/// Largest valid time of a frame: a larger number is in another unit.
const MOST_MILLISECONDS: f64 = 60_000.0;
/// Longest valid line in bytes: a file with a longer line is no log.
const LONGEST_LINE: usize = 1 << 20;

/// Parses a log; `path` is for messages, `title` for reports.
///
/// # Errors
/// With the line and column of an invalid field.
pub fn parse(
    mut reader: impl BufRead,
    path: &str,
    title: String,
    wanted: &LogRequest<'_>,
) -> Result<LogCapture, TraceError> {
    let malformed = |line, column, what: String| TraceError::Malformed { path: path.to_owned(), line, column, what };
    let unreadable = |source| TraceError::Unreadable { path: path.to_owned(), source };
    let (mut text, mut number, mut is_empty) = (Vec::new(), 0, true);
    let mut columns = None;
    let mut gatherer = CaptureBuilder::new("", wanted.interval);
    while read_line(&mut reader, &mut text).map_err(unreadable)? {
        number += 1;
        let is_whole = text.last() == Some(&b'\n');
        let line = std::str::from_utf8(&text)
            .map_err(|error| malformed(number, error.valid_up_to() + 1, "the text is not UTF-8".to_owned()))?;
        if line.len() >= LONGEST_LINE {
            return Err(malformed(number, 1, "the line is longer than a megabyte: this is not a log".to_owned()));
        }
        let line = line.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
        if line.trim().is_empty() {
            continue;
        }
        is_empty = false;
        let Some(columns) = &columns else {
            columns = CsvColumns::recognise(line);
            if let Some(columns) = &columns {
                gatherer = CaptureBuilder::new(columns.format(), wanted.interval);
            }
            continue;
        };
        match columns.sample(line, &mut gatherer) {
            Ok(()) => {}
            // The logger was stopped in the middle of a line.
            Err(_) if !is_whole => gatherer.cut_off(number),
            Err(InvalidField { column, what }) => return Err(malformed(number, column, what)),
        }
    }
    if is_empty {
        return Err(malformed(1, 1, "the file is empty".to_owned()));
    }
    if columns.is_none() {
        let known = "`cpu_ms` and `gpu_ms`, `frametime` (MangoHud), `MsBetweenPresents` (PresentMon 1, FrameView) or \
                     `MsCPUBusy` and `MsGPUBusy` (PresentMon 2)";
        return Err(malformed(1, 1, format!("no line names known columns: {known}")));
    }
    if gatherer.is_empty() {
        return Err(malformed(number, 1, "the header is not followed by any frame".to_owned()));
    }
    gatherer.finish(path, title, wanted)
}

/// The frames of a load in our own columns, as [`parse`] reads them.
pub fn render(load: &Load) -> String {
    let mut text = String::from("frame,cpu_ms,gpu_ms\n");
    for (number, frame) in load.frames.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{number},{:.3},{:.3}", frame.record.as_millis_f64(), frame.render.as_millis_f64());
    }
    text
}

/// Reads the next line into `text`; false at the end. Stops at [`LONGEST_LINE`], so that an endless line ends the
/// parsing.
fn read_line(reader: &mut impl BufRead, text: &mut Vec<u8>) -> std::io::Result<bool> {
    use std::io::Read;
    text.clear();
    Ok(reader.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', text)? > 0)
}

/// Names of the used columns, in the order of [`FrameSample`]; then the columns that distinguish programs.
const FIELDS: [&[&str]; 9] = [
    &["frametime", "frame_ms", "msbetweenpresents", "frametime_ms", "msbetweenappstart"],
    &["cpu_ms", "mscpubusy", "cpubusy"],
    &["gpu_ms", "msgpubusy", "gpubusy", "msgpuactive", "gpu_active"],
    &["msinpresentapi"],
    &["msuntilrendercomplete", "msrenderpresentlatency"],
    &["msuntildisplayed", "displaylatency"],
    &["gpu_load"],
    &["application", "process", "processname"],
    &["processid"],
];
const WHOLE: usize = 0;
const LOAD: usize = 6;
const NAME: usize = 7;
const ID: usize = 8;

/// Meaning of each column.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CsvColumns {
    separator: u8,
    /// For each column up to the last used one: its index in [`FIELDS`].
    kinds: Vec<Option<usize>>,
    format: &'static str,
}

#[derive(Debug)]
struct InvalidField {
    column: usize,
    what: String,
}

impl CsvColumns {
    fn recognise(line: &str) -> Option<CsvColumns> {
        let separator = if line.contains(';') && !line.contains(',') { b';' } else { b',' };
        let names: Vec<String> = split(line, separator).map(|(_, name)| name.trim().to_lowercase()).collect();
        let places = FIELDS.map(|wanted| names.iter().position(|name| wanted.contains(&name.as_str())));
        let has = |name: &str| names.iter().any(|other| other == name);
        let format = if has("cpu_ms") || has("gpu_ms") {
            "plain columns"
        } else if has("msrenderpresentlatency") {
            "FrameView"
        } else if places[1].is_some() || places[2].is_some() {
            "PresentMon 2"
        } else if has("msbetweenpresents") {
            "PresentMon 1"
        } else {
            "MangoHud"
        };
        let is_log = places[WHOLE].is_some() || has("gpu_ms") || (places[1].is_some() && places[2].is_some());
        let last = places.iter().flatten().copied().max().unwrap_or(0);
        let kinds = (0..=last).map(|place| places.iter().position(|wanted| *wanted == Some(place))).collect();
        is_log.then_some(CsvColumns { separator, kinds, format })
    }

    const fn format(&self) -> &'static str {
        self.format
    }

    /// Adds the frame in `line` to `gatherer`.
    fn sample(&self, line: &str, gatherer: &mut CaptureBuilder) -> Result<(), InvalidField> {
        let mut numbers = [None; NAME];
        let (mut name, mut id) = (None, None);
        let (mut seen, mut end) = (0, 0);
        // Count characters only for an error, because counting in every field is slow.
        let column = |at: usize| line[..at].chars().count() + 1;
        for (kind, (at, field)) in self.kinds.iter().zip(split(line, self.separator)) {
            (seen, end) = (seen + 1, at);
            let Some(kind) = *kind else { continue };
            match kind {
                NAME => name = Some(field),
                ID => id = Some(field),
                _ => {
                    let bad = |what| InvalidField { column: column(at), what };
                    numbers[kind] = number(&field, self.separator, kind).map_err(bad)?;
                }
            }
        }
        if seen < self.kinds.len() {
            let end = line.chars().count().max(column(end));
            return Err(InvalidField {
                column: end,
                what: format!("the line ends before column {}", self.kinds.len()),
            });
        }
        let [whole, record, render, in_present, until_complete, until_displayed, gpu_load] = numbers;
        let program = match (name, id) {
            (None, None) => gatherer.program(""),
            (Some(name), None) => gatherer.program(name.trim()),
            (None, Some(id)) => gatherer.program(&format!("({})", id.trim())),
            (Some(name), Some(id)) => gatherer.program(&format!("{} ({})", name.trim(), id.trim())),
        };
        let sample = FrameSample { whole, record, render, in_present, until_complete, until_displayed, gpu_load };
        gatherer.add(program, &sample);
        Ok(())
    }
}

/// The fields of a line, and the byte at which each starts.
fn split(line: &str, separator: u8) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let (field, after) = match text.trim_start().strip_prefix('"') {
            Some(quoted) => unquote(quoted, separator),
            None => {
                let (field, after) = cut(text, separator);
                (Cow::Borrowed(field), after)
            }
        };
        rest = after;
        Some((line.len() - text.len(), field))
    })
}

/// The text before the first `separator` (ASCII), and the text after it. Fields are short, so a plain search is the
/// fastest.
fn cut(text: &str, separator: u8) -> (&str, Option<&str>) {
    match text.bytes().position(|byte| byte == separator) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// A quoted field: its text, and the text after it.
fn unquote(quoted: &str, separator: u8) -> (Cow<'_, str>, Option<&str>) {
    let mut field = String::new();
    let mut chars = quoted.char_indices().peekable();
    let mut end = quoted.len();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' if chars.peek().is_some_and(|(_, next)| *next == '"') => {
                field.push('"');
                chars.next();
            }
            '"' => {
                end = at + 1;
                break;
            }
            _ => field.push(char),
        }
    }
    (Cow::Owned(field), cut(&quoted[end..], separator).1)
}

/// The number in a field; `None` if it is empty or `NA`.
fn number(field: &str, separator: u8, kind: usize) -> Result<Option<f64>, String> {
    let text = field.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("na") {
        return Ok(None);
    }
    let parsed = if separator == b';' && text.contains(',') { text.replace(',', ".").parse() } else { text.parse() };
    match parsed {
        Ok(0.0) if kind == WHOLE => Err("an interval of 0 ms: two frames are not shown at once".to_owned()),
        Ok(load) if kind == LOAD => Ok(Some(load).filter(|load| (0.0..=100.0).contains(load))),
        Ok(number) if (0.0..=MOST_MILLISECONDS).contains(&number) => Ok(Some(number)),
        Ok(number) => Err(format!("{number} ms is not a valid frame time")),
        Err(_) => Err(format!("expected a number of milliseconds, found `{text}`")),
    }
}

#[cfg(test)]
mod tests;
