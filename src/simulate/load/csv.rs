//! Frame-time traces as users have them: our own columns, MangoHud, PresentMon and CapFrameX.
//!
//! | format | how it is recognised | record | render |
//! |---|---|---|---|
//! | ours | `frame,cpu_ms,gpu_ms,frame_ms` | `cpu_ms` | `gpu_ms` |
//! | MangoHud | a column `frametime` (after a block that describes the system) | share of `frametime` | rest of `frametime` |
//! | PresentMon 1, OCAT, CapFrameX | `MsBetweenPresents` | share of it | rest of it |
//! | PresentMon 2 | `MsCPUBusy` and `MsGPUBusy` | `MsCPUBusy` | `MsGPUBusy` |
//!
//! Where a log tells only the interval between frames, that interval is the frame's cost, and
//! [`ASSUMED_RECORD_SHARE`] of it is taken to be recording. For a capture that was bound by the GPU this is an upper
//! bound: back-pressure of the queue makes long and short intervals alternate.

use std::path::Path;

use super::{FrameCost, Load};
use crate::time::Span;

/// The part of a frame's cost that is taken to be CPU work where a log does not tell.
pub const ASSUMED_RECORD_SHARE: f64 = 0.4;
/// Nothing on a display takes longer: a larger number is a unit taken for another.
const MOST_MILLISECONDS: f64 = 60_000.0;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or is no text.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line is not what the format asks for.
    #[error("{path}:{line}:{column}: {what}")]
    Malformed {
        /// The file.
        path: String,
        /// Counted from one.
        line: usize,
        /// In characters, counted from one.
        column: usize,
        /// What is wrong.
        what: String,
    },
}

/// Reads a trace for a display of `interval`.
pub fn read(path: &Path, interval: Span) -> Result<Load, TraceError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| TraceError::Unreadable { path: name.clone(), source })?;
    let title = path.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    parse(&text, &name, title, interval)
}

/// Parses the text of a trace; `path` is for messages, `title` for reports.
pub fn parse(text: &str, path: &str, title: String, interval: Span) -> Result<Load, TraceError> {
    let malformed = |line, column, what: String| TraceError::Malformed { path: path.to_owned(), line, column, what };
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let columns = lines.by_ref().find_map(|(_, line)| Columns::recognise(line)).ok_or_else(|| {
        let what = if text.trim().is_empty() {
            "the file is empty".to_owned()
        } else {
            "no header line with `cpu_ms`/`gpu_ms`, `frametime` (MangoHud) or `MsBetweenPresents` (PresentMon)"
                .to_owned()
        };
        malformed(1, 1, what)
    })?;
    let mut frames = Vec::new();
    let mut last_line = 1;
    for (index, line) in lines {
        last_line = index + 1;
        if line.trim().is_empty() {
            continue;
        }
        let row = Row { text: line, separator: columns.separator };
        match columns.cost(&row) {
            Ok(cost) => frames.extend(cost),
            Err(Bad { column, what }) => return Err(malformed(index + 1, column, what)),
        }
    }
    if frames.is_empty() {
        return Err(malformed(last_line, 1, "the header is not followed by any frame".to_owned()));
    }
    Ok(Load { name: title, interval, animation: 0, frames })
}

/// Which columns hold what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    separator: char,
    record: Option<usize>,
    render: Option<usize>,
    /// The interval between frames, used where the two above say nothing.
    whole: Option<usize>,
}

struct Row<'a> {
    text: &'a str,
    separator: char,
}

struct Bad {
    column: usize,
    what: String,
}

impl Columns {
    fn recognise(line: &str) -> Option<Columns> {
        let separator = if line.contains(';') && !line.contains(',') { ';' } else { ',' };
        let names: Vec<String> =
            line.split(separator).map(|name| name.trim().trim_matches('"').to_lowercase()).collect();
        let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
        let columns = Columns {
            separator,
            record: find(&["cpu_ms", "mscpubusy", "cpubusy"]),
            render: find(&["gpu_ms", "msgpubusy", "gpubusy", "msgpuactive", "gpu_active"]),
            whole: find(&["frametime", "frame_ms", "msbetweenpresents", "frametime_ms"]),
        };
        let two_stages = columns.record.is_some() && columns.render.is_some();
        (two_stages || columns.whole.is_some()).then_some(columns)
    }

    /// The cost of the frame in `row`; none where all its columns are empty.
    fn cost(&self, row: &Row<'_>) -> Result<Option<FrameCost>, Bad> {
        let number = |index: Option<usize>| index.map_or(Ok(None), |index| row.number(index));
        let (record, render) = (number(self.record)?, number(self.render)?);
        let span = Span::from_millis_f64;
        let share = ASSUMED_RECORD_SHARE;
        Ok(match (record, render) {
            (Some(record), Some(render)) => Some(FrameCost { record: span(record), render: span(render) }),
            // One stage known: the other is taken to be in the assumed proportion to it.
            (None, Some(render)) => Some(FrameCost { record: span(render * share), render: span(render) }),
            (Some(record), None) => Some(FrameCost { record: span(record), render: span(record * share) }),
            (None, None) => number(self.whole)?
                .map(|whole| FrameCost { record: span(whole * share), render: span(whole * (1.0 - share)) }),
        })
    }
}

impl Row<'_> {
    /// The number in the `index`-th column; none where it is empty or `NA`.
    fn number(&self, index: usize) -> Result<Option<f64>, Bad> {
        let mut column = 1;
        for (at, field) in self.text.split(self.separator).enumerate() {
            if at < index {
                column += field.chars().count() + 1;
                continue;
            }
            let text = field.trim().trim_matches('"');
            if text.is_empty() || text.eq_ignore_ascii_case("na") {
                return Ok(None);
            }
            return match text.parse::<f64>() {
                Ok(number) if (0.0..=MOST_MILLISECONDS).contains(&number) => Ok(Some(number)),
                Ok(number) => Err(Bad { column, what: format!("{number} ms is no time that a frame takes") }),
                Err(_) => Err(Bad { column, what: format!("expected a number of milliseconds, found `{text}`") }),
            };
        }
        Err(Bad { column, what: format!("the line ends before column {}", index + 1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(16);

    fn costs(text: &str) -> Result<Vec<(f64, f64)>, String> {
        parse(text, "trace.csv", "trace".into(), INTERVAL)
            .map(|load| load.frames.iter().map(|f| (f.record.as_millis_f64(), f.render.as_millis_f64())).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn our_own_columns() {
        let text = "frame,cpu_ms,gpu_ms,frame_ms\n0,6.033,6.223,6.403\n1,,5,5\n2,,,10\n";
        assert_eq!(costs(text), Ok(vec![(6.033, 6.223), (2.0, 5.0), (4.0, 6.0)]));
    }

    #[test]
    fn a_mangohud_log_with_its_preamble() {
        let text = "os,cpu,gpu,ram,kernel,driver,cpuscheduler\nDebian,AMD,Radeon,16,6.1,Mesa,schedutil\n\
            fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,\
            gpu_power,ram_used,swap_used,process_rss,elapsed\n\
            60.1,16.6,12,0,55,60,58,1500,800,2.1,30,5.5,0,1.1,1000000\n120,8.3,12,0,55,60,58,1500,800,2.1,30,5.5,0,1.1,2\n";
        assert_eq!(costs(text).map(|frames| frames.len()), Ok(2));
    }

    #[test]
    fn presentmon_of_both_generations() {
        let one = "Application,ProcessID,SwapChainAddress,MsBetweenPresents,MsInPresentAPI\ngame.exe,1,0x0,10,0.2\n";
        assert_eq!(costs(one), Ok(vec![(4.0, 6.0)]));
        let two = "Application,FrameTime,MsCPUBusy,MsGPUBusy\ngame.exe,10,3,9\ngame.exe,10,NA,9\n";
        assert_eq!(costs(two), Ok(vec![(3.0, 9.0), (3.6, 9.0)]));
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        for (text, message) in [
            ("", "trace.csv:1:1: the file is empty"),
            ("frame,cpu_ms,gpu_ms\n", "trace.csv:1:1: the header is not followed by any frame"),
            ("frame,cpu_ms,gpu_ms\n0,1.0,fast\n", "trace.csv:2:7: expected a number of milliseconds, found `fast`"),
            ("frame,cpu_ms,gpu_ms\n0,1,2\n1,-4,2\n", "trace.csv:3:3: -4 ms is no time that a frame takes"),
            ("frame,cpu_ms,gpu_ms\n0,1\n", "trace.csv:2:5: the line ends before column 3"),
        ] {
            assert_eq!(costs(text), Err(message.to_owned()));
        }
        assert!(costs("a,b\n1,2\n").is_err_and(|message| message.starts_with("trace.csv:1:1: no header line")));
    }
}
