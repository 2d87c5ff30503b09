//! Reads a frame log, for programs that draw or count its contents.
//!
//! The first line gives version, unit and clock. Other versions, units or clocks are refused, because the numbers would
//! be misread. Lines of unknown types are skipped, as the format allows. A last line that is cut off is ignored: its
//! writer was stopped.

use std::io::{self, BufRead};

use super::line::{LogHeader, LogLine, VERSION};

/// Upper bound of a line's length in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// The types of lines that this reader knows.
const TYPES: [&str; 6] = ["header", "output-name", "window-name", "output", "client", "left-out"];

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// A line is not part of a frame log.
    #[error("{line}:{column}: {what}")]
    Malformed {
        /// Line number, counted from one.
        line: usize,
        /// Column in bytes, counted from one.
        column: usize,
        /// The mistake, as a sentence.
        what: String,
    },
}

/// The lines of a log, one after the other.
#[derive(Debug)]
pub struct LogReader<R> {
    lines: R,
    text: Vec<u8>,
    number: usize,
    cut_off: bool,
}

impl<R: BufRead> LogReader<R> {
    /// Reads and checks the header.
    ///
    /// # Errors
    /// There is no header, or it has another version, unit or clock.
    pub fn new(lines: R) -> Result<Self, LogError> {
        let mut reader = LogReader { lines, text: Vec::new(), number: 0, cut_off: false };
        match reader.next_line()? {
            Some(LogLine::Header(header)) => reader.check(&header)?,
            _ => return Err(reader.malformed(1, "the first line is not the header of a frame log".to_owned())),
        }
        Ok(reader)
    }

    fn check(&self, header: &LogHeader) -> Result<(), LogError> {
        let expected = LogHeader::default();
        if header.version != VERSION {
            let what = format!("version {} of the format; this reads version {VERSION}", header.version);
            return Err(self.malformed(1, what));
        }
        for (name, found, expected) in
            [("unit", &header.unit, &expected.unit), ("clock", &header.clock, &expected.clock)]
        {
            if found != expected {
                return Err(self.malformed(1, format!("its {name} is `{found}`; this reads `{expected}`")));
            }
        }
        Ok(())
    }

    /// The next line of a known type; `None` after the last line.
    ///
    /// # Errors
    /// The file cannot be read, or the line is not part of a frame log.
    pub fn next_line(&mut self) -> Result<Option<LogLine>, LogError> {
        loop {
            self.text.clear();
            let limited = &mut io::Read::take(&mut self.lines, LONGEST_LINE as u64);
            if limited.read_until(b'\n', &mut self.text)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.text.trim_ascii().is_empty() {
                continue;
            }
            match parse(&self.text) {
                Ok(Some(line)) => return Ok(Some(line)),
                Ok(None) => {}
                Err(_) if self.number > 1 && self.text.last() != Some(&b'\n') && self.text.len() < LONGEST_LINE => {
                    self.cut_off = true;
                    return Ok(None);
                }
                Err(error) => {
                    // serde_json appends the position to its message, but the error has it already.
                    let what = error.to_string();
                    let what = what.split(" at line ").next().unwrap_or_default().to_owned();
                    return Err(self.malformed(error.column().max(1), what));
                }
            }
        }
    }

    /// Number of the line that was read last, counted from one.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Whether the last line was cut off and therefore left out.
    pub const fn cut_off(&self) -> bool {
        self.cut_off
    }

    fn malformed(&self, column: usize, what: String) -> LogError {
        LogError::Malformed { line: self.number.max(1), column, what }
    }
}

/// Parses a line; `None` if its type is unknown.
fn parse(text: &[u8]) -> Result<Option<LogLine>, serde_json::Error> {
    #[derive(serde::Deserialize)]
    struct LineType<'a> {
        #[serde(rename = "type", borrow)]
        kind: std::borrow::Cow<'a, str>,
    }
    let LineType { kind } = serde_json::from_slice(text)?;
    if TYPES.contains(&kind.as_ref()) { serde_json::from_slice(text).map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::line::ExplainedRecord;
    use upbeat_timing::record::{ClientFrameRecord, FrameRecord};

    fn text(lines: &[LogLine]) -> String {
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
    }

    fn log() -> Vec<LogLine> {
        vec![
            LogLine::Header(LogHeader::default()),
            LogLine::Output(ExplainedRecord { record: FrameRecord::default(), why: None }),
            LogLine::Client(ExplainedRecord { record: ClientFrameRecord::default(), why: None }),
        ]
    }

    fn read(text: &str) -> Result<(Vec<LogLine>, bool), String> {
        let mut reader = LogReader::new(text.as_bytes()).map_err(|error| error.to_string())?;
        let mut lines = vec![LogLine::Header(LogHeader::default())];
        while let Some(line) = reader.next_line().map_err(|error| error.to_string())? {
            lines.push(line);
        }
        Ok((lines, reader.cut_off()))
    }

    #[test]
    fn log_is_read_back_and_unknown_lines_are_skipped() {
        assert_eq!(read(&text(&log())), Ok((log(), false)));
        let later = text(&log()).replacen(
            "{\"type\":\"client\"",
            "{\"type\":\"comet\",\"tail\":[1]}\n\n{\"type\":\"client\"",
            1,
        );
        assert_eq!(read(&later), Ok((log(), false)));
    }

    #[test]
    fn a_line_that_is_cut_off_is_lost_and_the_log_is_not() {
        let text = text(&log());
        assert_eq!(read(&text[..text.len() - 9]), Ok((log()[..2].to_vec(), true)));
    }

    #[test]
    fn another_version_unit_or_file_is_refused_with_its_line() {
        let header = |change: fn(&mut LogHeader)| {
            let mut header = LogHeader::default();
            change(&mut header);
            read(&text(&[LogLine::Header(header)])).unwrap_err()
        };
        assert_eq!(header(|header| header.version = 2), "1:1: version 2 of the format; this reads version 1");
        assert_eq!(header(|header| header.unit = "ms".into()), "1:1: its unit is `ms`; this reads `ns`");
        assert!(read("").unwrap_err().contains("not the header") && read("{\"type\":\"output\"}\n").is_err());
        let broken = text(&log()[..1]) + "{\"type\": oops}\n{}\n";
        assert_eq!(read(&broken).unwrap_err(), "2:10: expected value");
    }
}
