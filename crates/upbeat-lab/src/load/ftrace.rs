//! Reads frame marks from Linux's ftrace as text (`/sys/kernel/tracing/trace`, `trace-cmd report`). Programs write them
//! to `trace_marker`.
//!
//! ```text
//!             game-1234    [001] ...1.  5000.016700: tracing_mark_write: B|1234|frame
//!             game-1234    [001] ...1.  5000.024100: tracing_mark_write: E|1234
//! ```
//! `B|process|name` begins a slice and `E` ends the newest slice of its thread, as in Android's atrace. The outermost
//! slices of a thread count as its frames; frames are grouped by their name.

use std::collections::HashMap;
use std::io::BufRead;

use super::marks::TraceMarks;
use super::{LogCapture, LogRequest, TraceError};
use upbeat_timing::time::NANOS_PER_SECOND;

/// The kernel's prefix of a mark.
const MARK: &str = "tracing_mark_write: ";
/// Longest valid line in bytes: a file with a longer line is no trace.
const LONGEST_LINE: u64 = 1 << 20;
/// Deepest nesting of slices that is tracked.
const DEEPEST: usize = 64;
/// Largest valid time in seconds since boot: no machine runs for longer.
const LATEST: f64 = 1e9;

/// Whether a file with this beginning is a trace.
pub fn is_trace(start: &[u8]) -> bool {
    start.starts_with(b"# tracer:") || start.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}

/// Open slices of a thread.
#[derive(Default)]
struct ThreadSlices {
    /// Name and start of the outermost slice.
    outermost: Option<(String, i64)>,
    depth: usize,
}

/// Parses a trace; `path` is for messages, `title` for reports.
///
/// # Errors
/// With the line of an invalid mark; also if there is no mark.
pub fn parse(
    mut reader: impl BufRead,
    path: &str,
    title: String,
    wanted: &LogRequest<'_>,
) -> Result<LogCapture, TraceError> {
    use std::io::Read;
    let malformed =
        |line, what: &str| TraceError::Malformed { path: path.to_owned(), line, column: 1, what: what.to_owned() };
    let (mut threads, mut marks) = (HashMap::<String, ThreadSlices>::new(), TraceMarks::default());
    let (mut bytes, mut number) = (Vec::new(), 0);
    loop {
        bytes.clear();
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        if read.map_err(|source| TraceError::Unreadable { path: path.to_owned(), source })? == 0 {
            break;
        }
        number += 1;
        if bytes.len() as u64 == LONGEST_LINE {
            return Err(malformed(number, "the line is longer than a megabyte: this is not a trace"));
        }
        let line = String::from_utf8_lossy(&bytes);
        let Some((head, mark)) = line.split_once(MARK) else { continue };
        let Some((task, thread, at)) = head_of(head) else {
            // The writer was stopped in the middle of a line.
            if !bytes.ends_with(b"\n") {
                break;
            }
            return Err(malformed(number, "there is no thread and no time before the mark"));
        };
        let thread = threads.entry(thread.to_owned()).or_default();
        let mut fields = mark.trim_end().splitn(3, '|');
        match fields.next() {
            Some("B") => {
                let (process, name) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
                if thread.depth == 0 {
                    thread.outermost = Some((format!("{task}: {name} ({process})"), at));
                }
                thread.depth = (thread.depth + 1).min(DEEPEST);
            }
            Some("E") => {
                thread.depth = thread.depth.saturating_sub(1);
                if let Some((name, begin)) = thread.outermost.take_if(|_| thread.depth == 0) {
                    marks.add(&name, begin, at.saturating_sub(begin));
                }
            }
            // Counters, and slices that span threads.
            _ => {}
        }
    }
    if marks.is_empty() {
        return Err(malformed(
            number.max(1),
            "no thread has marked a slice (`B|process|name` and `E` in trace_marker)",
        ));
    }
    marks.finish("ftrace marks", path, title, wanted)
}

/// The task's name, its thread, and the time in nanoseconds, from the text before a mark.
fn head_of(head: &str) -> Option<(&str, &str, i64)> {
    let (task, rest) = head.split_once(" [")?;
    // `game-1234`, or `game-1234 ( 1200)` with the process.
    let task = task.split_once(" (").map_or(task, |(task, _)| task).trim();
    let (name, thread) = task.rsplit_once('-')?;
    let seconds = rest.split_whitespace().filter_map(|word| word.strip_suffix(':')?.parse::<f64>().ok()).next_back()?;
    (0.0..=LATEST).contains(&seconds).then_some((name, thread, (seconds * NANOS_PER_SECOND as f64).round() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::time::Span;

    const TRACE: &str = include_str!("../../../../tests/data/frames/ftrace.txt");

    fn costs(text: &str, process: Option<&str>) -> Result<Vec<f64>, String> {
        let wanted = LogRequest { interval: Span::from_nanos(16_666_667), process };
        let capture =
            parse(text.as_bytes(), "trace.txt", "trace".into(), &wanted).map_err(|error| error.to_string())?;
        Ok(capture.load.frames.iter().map(|frame| frame.record.as_millis_f64()).collect())
    }

    #[test]
    fn the_outermost_slices_of_a_thread_are_its_frames() {
        // Computed by hand: 5000.016700 to .024100, .033400 to .042800 (with a slice inside), .050000 to .080500.
        assert_eq!(costs(TRACE, Some("game: frame")), Ok(vec![7.4, 9.4, 30.5]));
        assert_eq!(costs(TRACE, Some("1300")), Ok(vec![1.0, 1.0]));
        let several = costs(TRACE, None).unwrap_err();
        assert!(several.contains("game: frame (1234) (3 frames), my-shell: paint (1300) (2 frames)"), "{several}");
    }

    #[test]
    fn trace_cmd_output_is_read_and_other_text_is_rejected() {
        let text = "game-1234  [001]  1.000000: print: tracing_mark_write: B|1|f\n\
                    game-1234  [001]  1.002000: print: tracing_mark_write: E\n game-12";
        assert_eq!(costs(text, None), Ok(vec![2.0]));
        assert!(costs("# tracer: nop\n", None).unwrap_err().contains("trace.txt:1:1: no thread has marked"));
        assert!(costs("tracing_mark_write: B|1|f\n", None).unwrap_err().contains("there is no thread and no time"));
        // The end of a slice that began before the trace, and a clock that goes back.
        let odd = "a-1 [0] 2.0: tracing_mark_write: E\na-1 [0] 3.0: tracing_mark_write: B|1|f\na-1 [0] 2.5: tracing_mark_write: E\n";
        assert!(costs(odd, None).unwrap_err().contains("no thread has marked"));
    }
}
