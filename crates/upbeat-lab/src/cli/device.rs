//! Command-line options of the input device for interaction policies.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::bail;

use super::SimulateArgs;
use crate::runner::SimulatedInputDevice;
use crate::strokes;
use upbeat_timing::time::Span;

/// Valid event rates in hertz.
const RATES: std::ops::RangeInclusive<f64> = 1.0..=20_000.0;
/// Default event rate in hertz.
const USUAL_RATE: f64 = 125.0;

/// Source of the input events.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum InputSource {
    /// A device with this event rate in hertz.
    Rate(f64),
    Recorded(PathBuf),
}

impl FromStr for InputSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| InputSource::Recorded(text.into()), InputSource::Rate))
    }
}

impl SimulateArgs {
    /// Times of recorded events since the first; empty without a recording.
    pub(super) fn recorded(&self) -> anyhow::Result<Vec<Span>> {
        let Some(InputSource::Recorded(path)) = &self.input else { return Ok(Vec::new()) };
        let recording = match strokes::read(path) {
            Ok(recording) => recording,
            Err(strokes::StrokeError::Unreadable { path, source }) => {
                bail!("--input {path}: not a rate in Hz, and the recording cannot be read: {source}")
            }
            Err(error) => return Err(error.into()),
        };
        Ok(recording.moments())
    }

    /// The device; its events come at the times in `recorded`, if any.
    pub(super) fn device<'a>(&self, recorded: &'a [Span]) -> anyhow::Result<SimulatedInputDevice<'a>> {
        let rate = match (&self.input, recorded) {
            (Some(InputSource::Rate(rate)), _) => *rate,
            // The mean distance of the events, if there are two.
            (_, [.., last]) if *last > Span::ZERO => (recorded.len() - 1) as f64 / last.as_seconds_f64(),
            _ => USUAL_RATE,
        };
        if recorded.is_empty() && !RATES.contains(&rate) {
            bail!("--input {rate}: devices report 1 to 20000 times a second");
        }
        let millis = |option: &str, value: f64| {
            if !(0.0..=1_000.0).contains(&value) {
                bail!("{option} {value}: expected 0 to 1000 ms");
            }
            Ok(Span::from_millis_f64(value))
        };
        Ok(SimulatedInputDevice {
            input_interval: Span::from_millis_f64(1_000.0 / rate.clamp(*RATES.start(), *RATES.end())),
            recorded,
            touch: millis("--touch", self.touch.unwrap_or(1.0))?,
            output: millis("--output", self.output.unwrap_or(2.0))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_rate_and_any_other_text_a_file() {
        let input = |text: &str| text.parse::<InputSource>().unwrap();
        assert_eq!(input("240"), InputSource::Rate(240.0));
        assert_eq!(input("touch.csv"), InputSource::Recorded("touch.csv".into()));
    }
}
