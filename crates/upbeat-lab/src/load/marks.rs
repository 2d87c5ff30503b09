//! Marks that programs write into system traces: a named slice of time for each frame.

use std::collections::HashMap;

use super::capture::{CaptureBuilder, FrameSample};
use super::{LogCapture, LogRequest, TraceError};
use upbeat_timing::time::NANOS_PER_SECOND;

/// Longest valid frame: a longer slice is a pause.
const LONGEST: i64 = 60 * NANOS_PER_SECOND;
/// A mark is not a frame if it is this many times rarer than the most frequent mark. The user can still ask for it by
/// name.
const RARE: usize = 10;

/// The marks of a trace, grouped by program and name.
#[derive(Debug, Default)]
pub struct TraceMarks {
    named: Vec<(String, Vec<MarkSlice>)>,
    places: HashMap<String, usize>,
}

/// Times in nanoseconds of the trace's clock.
#[derive(Clone, Copy, Debug)]
struct MarkSlice {
    begin: i64,
    duration: i64,
}

impl TraceMarks {
    /// Adds a slice, in nanoseconds. Slices that end before they begin or last for more than a minute are left out.
    pub fn add(&mut self, name: &str, begin: i64, duration: i64) {
        if !(0..=LONGEST).contains(&duration) {
            return;
        }
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.named.push((name.to_owned(), Vec::new()));
                self.places.insert(name.to_owned(), self.named.len() - 1);
                self.named.len() - 1
            }
        };
        self.named[place].1.push(MarkSlice { begin, duration });
    }

    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Converts marks to frames: a slice is the time of recording, and the interval of two frames is that of their
    /// beginnings.
    ///
    /// # Errors
    /// If several marks are frequent and none is wanted, or if the wanted mark is missing.
    pub fn finish(
        self,
        format: &'static str,
        path: &str,
        title: String,
        wanted: &LogRequest<'_>,
    ) -> Result<LogCapture, TraceError> {
        let most = self.named.iter().map(|(_, slices)| slices.len()).max().unwrap_or(0);
        let mut gatherer = CaptureBuilder::new(format, wanted.interval);
        for (name, mut slices) in self.named {
            if wanted.process.is_none() && slices.len() * RARE < most {
                continue;
            }
            slices.sort_by_key(|slice| slice.begin);
            let program = gatherer.program(&name);
            let mut before = None;
            for MarkSlice { begin, duration } in slices {
                let apart =
                    before.map(|before| begin.saturating_sub(before)).filter(|apart| (1..=LONGEST).contains(apart));
                before = Some(begin);
                let millis = |nanos: i64| nanos as f64 / 1e6;
                let sample =
                    FrameSample { whole: apart.map(millis), record: Some(millis(duration)), ..FrameSample::default() };
                gatherer.add(program, &sample);
            }
        }
        gatherer.finish(path, title, wanted)
    }
}
