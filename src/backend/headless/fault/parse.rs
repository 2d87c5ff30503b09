//! Parser of fault scripts.

use std::str::FromStr;

use super::{FaultKind, FaultScript, FaultTime, ScriptedFault, StampFault};
use crate::backend::headless::limits::check_mode;
use crate::backend::{FrameId, VideoMode};
use upbeat_timing::time::Span;

/// A syntax error in a fault script, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct FaultScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The expected and the actual text.
    pub message: String,
}

impl FromStr for FaultScript {
    type Err = FaultScriptError;

    fn from_str(text: &str) -> Result<Self, FaultScriptError> {
        let mut faults = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let mut words = ScriptWords::new(index + 1, line);
            if words.peek().is_some() {
                faults.push(fault(&mut words)?);
                words.end()?;
            }
        }
        Ok(FaultScript { faults })
    }
}

fn fault(words: &mut ScriptWords<'_>) -> Result<ScriptedFault, FaultScriptError> {
    let when = match words.next("`refresh`, `frame` or `at`")? {
        "refresh" => FaultTime::Refresh(words.number("the number of a refresh")?),
        "frame" => FaultTime::Frame(FrameId(words.number("the number of a frame")?)),
        "at" => FaultTime::At(words.span()?),
        other => return Err(words.wrong("`refresh`, `frame` or `at`", other)),
    };
    let kind = kind(words)?;
    let count = match words.peek() {
        Some("for") => {
            words.next("`for`")?;
            words.count()?
        }
        _ => 1,
    };
    Ok(ScriptedFault { when, kind, count })
}

fn kind(words: &mut ScriptWords<'_>) -> Result<FaultKind, FaultScriptError> {
    const FAULTS: &str = "a fault (`stamp`, `no-sequence`, `hold-flip`, `lose-frame`, `refuse-submit`, \
                          `delay-events`, `power`, `mode` or `unplug`)";
    Ok(match words.next(FAULTS)? {
        "stamp" => FaultKind::Stamp(stamp(words)?),
        "no-sequence" => FaultKind::NoSequence,
        "hold-flip" => FaultKind::HoldFlip,
        "lose-frame" => FaultKind::LoseFrame,
        "refuse-submit" => FaultKind::RefuseSubmit,
        "delay-events" => FaultKind::DelayEvents(words.span()?),
        "power" => match words.next("`on` or `off`")? {
            "on" => FaultKind::Power(true),
            "off" => FaultKind::Power(false),
            other => return Err(words.wrong("`on` or `off`", other)),
        },
        "mode" => FaultKind::Mode(mode(words)?),
        "unplug" => FaultKind::Unplug,
        other => return Err(words.wrong(FAULTS, other)),
    })
}

fn stamp(words: &mut ScriptWords<'_>) -> Result<StampFault, FaultScriptError> {
    const STAMPS: &str = "`early`, `late`, `zero`, `backwards` or `duplicate`";
    Ok(match words.next(STAMPS)? {
        "early" => StampFault::Early(words.span()?),
        "late" => StampFault::Late(words.span()?),
        "zero" => StampFault::Zero,
        "backwards" => StampFault::Backwards(words.span()?),
        "duplicate" => StampFault::Duplicate,
        other => return Err(words.wrong(STAMPS, other)),
    })
}

fn mode(words: &mut ScriptWords<'_>) -> Result<VideoMode, FaultScriptError> {
    const MODE: &str = "a mode such as 1920x1080@59.94";
    let word = words.next(MODE)?;
    let parsed = word.split_once('x').and_then(|(width, rest)| {
        let (height, hertz) = rest.split_once('@')?;
        let millihertz = (hertz.parse::<f64>().ok()? * 1e3).round();
        let refresh = (1.0..=1e9).contains(&millihertz).then_some(millihertz as u32)?;
        Some(VideoMode { width: width.parse().ok()?, height: height.parse().ok()?, refresh })
    });
    let mode = parsed.ok_or_else(|| words.wrong(MODE, word))?;
    check_mode(mode).map_err(|error| words.error(error.to_string()))?;
    Ok(mode)
}

/// The words of one line.
struct ScriptWords<'a> {
    line: usize,
    text: &'a str,
    /// Byte position at which the next word is searched.
    position: usize,
    /// Byte position of the last word.
    last: usize,
}

impl<'a> ScriptWords<'a> {
    fn new(line: usize, text: &'a str) -> Self {
        let text = text.split_once('#').map_or(text, |(text, _)| text);
        ScriptWords { line, text, position: 0, last: 0 }
    }

    /// The next word and its byte position.
    fn find(&self) -> Option<(usize, &'a str)> {
        let rest = &self.text[self.position..];
        let word = rest.trim_start();
        let start = self.position + rest.len() - word.len();
        let word = word.split_whitespace().next()?;
        Some((start, word))
    }

    fn peek(&self) -> Option<&'a str> {
        self.find().map(|(_, word)| word)
    }

    fn next(&mut self, expected: &str) -> Result<&'a str, FaultScriptError> {
        let Some((start, word)) = self.find() else {
            self.last = self.text.trim_end().len();
            return Err(self.error(format!("expected {expected}, found the end of the line")));
        };
        (self.last, self.position) = (start, start + word.len());
        Ok(word)
    }

    fn number(&mut self, expected: &str) -> Result<u64, FaultScriptError> {
        let word = self.next(expected)?;
        word.parse().map_err(|_| self.wrong(expected, word))
    }

    fn count(&mut self) -> Result<u32, FaultScriptError> {
        const COUNT: &str = "how many times, 1 to 4294967295";
        let word = self.next(COUNT)?;
        word.parse().ok().filter(|&count| count > 0).ok_or_else(|| self.wrong(COUNT, word))
    }

    fn span(&mut self) -> Result<Span, FaultScriptError> {
        const SPAN: &str = "a length of time such as 2ms, 300us or 1.5s (an hour at most)";
        const HOUR_NANOS: f64 = 3.6e12;
        let word = self.next(SPAN)?;
        let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        let parsed = units.iter().find_map(|(unit, nanos)| {
            let number: f64 = word.strip_suffix(unit)?.parse().ok()?;
            Some(number * nanos).filter(|nanos| (0.0..=HOUR_NANOS).contains(nanos))
        });
        parsed.map(|nanos| Span::from_nanos(nanos.round() as i64)).ok_or_else(|| self.wrong(SPAN, word))
    }

    fn end(&mut self) -> Result<(), FaultScriptError> {
        match self.find() {
            None => Ok(()),
            Some((start, word)) => {
                self.last = start;
                Err(self.wrong("`for COUNT` or the end of the line", word))
            }
        }
    }

    fn wrong(&self, expected: &str, found: &str) -> FaultScriptError {
        self.error(format!("expected {expected}, found `{found}`"))
    }

    fn error(&self, message: String) -> FaultScriptError {
        FaultScriptError { line: self.line, column: self.text[..self.last].chars().count() + 1, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        text.parse::<FaultScript>().expect_err("it is wrong").to_string()
    }

    #[test]
    fn a_script_means_what_its_documentation_says() {
        let text =
            "\n  # nothing\nrefresh 130  stamp late 300us for 3 # three\nat 4s mode 1280x720@59.94\nframe 3 unplug";
        let fault = |when, kind, count| ScriptedFault { when, kind, count };
        let mode = VideoMode { width: 1280, height: 720, refresh: 59_940 };
        let expected = vec![
            fault(FaultTime::Refresh(130), FaultKind::Stamp(StampFault::Late(Span::from_micros(300))), 3),
            fault(FaultTime::At(Span::from_seconds(4)), FaultKind::Mode(mode), 1),
            fault(FaultTime::Frame(FrameId(3)), FaultKind::Unplug, 1),
        ];
        assert_eq!(text.parse(), Ok(FaultScript { faults: expected }));
        let documented: String = include_str!("mod.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("//! "))
            .filter(|line| ["refresh ", "frame ", "at "].iter().any(|start| line.starts_with(start)))
            .filter(|line| line.contains("  "))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(documented.parse::<FaultScript>().expect("the documented script").faults.len(), 14);
    }

    #[test]
    fn an_error_says_where_and_what_was_expected() {
        assert_eq!(
            error("refresh 1 unplug\nrefesh 12"),
            "line 2, column 1: expected `refresh`, `frame` or `at`, found `refesh`"
        );
        assert_eq!(
            error("refresh 12  stamp sideways"),
            "line 1, column 19: expected `early`, `late`, `zero`, `backwards` or `duplicate`, found `sideways`"
        );
        assert_eq!(
            error("frame 1 stamp late 3"),
            "line 1, column 20: expected a length of time such as 2ms, 300us or 1.5s (an hour at most), found `3`"
        );
        assert_eq!(error("at 1s power # off"), "line 1, column 12: expected `on` or `off`, found the end of the line");
        assert_eq!(
            error("frame 1 unplug now"),
            "line 1, column 16: expected `for COUNT` or the end of the line, found `now`"
        );
        assert_eq!(
            error("frame 1 no-sequence for 0"),
            "line 1, column 25: expected how many times, 1 to 4294967295, found `0`"
        );
        assert_eq!(
            error("frame 1 mode 0x10@60"),
            "line 1, column 14: size 0x10: width and height must lie in 1..=16384"
        );
    }

    proptest! {
        #[test]
        fn parser_never_panics(text in "(refresh|frame|at|stamp|mode|for|[0-9.ex@#äµ \n]|ms|\\PC){0,40}") {
            let _ = text.parse::<FaultScript>();
        }
    }
}
