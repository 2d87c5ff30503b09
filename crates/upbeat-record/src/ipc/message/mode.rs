//! The mode of an output in the form that users write: `1920x1080@60`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The largest width and height in pixels: the limit of a buffer that all renderers support.
pub const LARGEST_SIDE: u32 = 16_384;

/// The highest refresh rate, in millihertz.
pub const HIGHEST_REFRESH: u32 = 1_000_000;

/// The refresh rate of a mode without a rate, in millihertz.
pub const DEFAULT_REFRESH: u32 = 60_000;

/// The refresh rate of an output, in millihertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshRate {
    /// A fixed rate, in millihertz.
    Fixed(u32),
    /// A variable rate (VRR), which follows the content within a range.
    Variable {
        /// The lowest rate in millihertz.
        slowest: u32,
        /// The highest rate in millihertz.
        fastest: u32,
    },
}

impl RefreshRate {
    /// The highest rate in millihertz: the rate that is announced to clients.
    pub const fn fastest(self) -> u32 {
        match self {
            RefreshRate::Fixed(rate) | RefreshRate::Variable { fastest: rate, .. } => rate,
        }
    }
}

/// A size in pixels and a refresh rate.
///
/// ```
/// use upbeat_record::ipc::message::{OutputMode, RefreshRate};
/// let mode: OutputMode = "1920x1080@59.94".parse()?;
/// assert_eq!((mode.width, mode.height, mode.refresh), (1920, 1080, RefreshRate::Fixed(59_940)));
/// let variable: OutputMode = "2560x1440@48-144".parse()?;
/// assert_eq!(variable.refresh, RefreshRate::Variable { slowest: 48_000, fastest: 144_000 });
/// # Ok::<(), upbeat_record::ipc::message::ModeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct OutputMode {
    /// Width in physical pixels, at least 1.
    pub width: u32,
    /// Height in physical pixels, at least 1.
    pub height: u32,
    /// Refresh rate: fixed or variable.
    pub refresh: RefreshRate,
}

impl Default for OutputMode {
    fn default() -> Self {
        OutputMode { width: 1280, height: 720, refresh: RefreshRate::Fixed(DEFAULT_REFRESH) }
    }
}

/// Why a text is not a mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    /// The text does not have the form of a mode.
    #[error(
        "expected WIDTHxHEIGHT@HZ, such as 1920x1080@60, 2560x1440@59.94 or, for a variable rate, 2560x1440@48-144"
    )]
    Form,
    /// The width or height is zero or too large.
    #[error("a width and height from 1 to {LARGEST_SIDE} pixels were expected")]
    Size,
    /// The rate is zero or too high, or the range is not from a lower to a higher rate.
    #[error("a refresh rate above 0 and up to 1000 Hz was expected, or a range from a lower to a higher rate")]
    Rate,
}

impl FromStr for OutputMode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        let (size, rate) = match text.split_once('@') {
            Some((size, rate)) => (size, Some(rate)),
            None => (text, None),
        };
        let (width, height) = size.split_once('x').ok_or(ModeError::Form)?;
        let side = |text: &str| text.parse::<u32>().map_err(|_| ModeError::Form);
        let (width, height) = (side(width)?, side(height)?);
        if !(1..=LARGEST_SIDE).contains(&width) || !(1..=LARGEST_SIDE).contains(&height) {
            return Err(ModeError::Size);
        }
        let refresh = match rate.map(|rate| rate.strip_suffix("Hz").unwrap_or(rate)) {
            None => RefreshRate::Fixed(DEFAULT_REFRESH),
            Some(rate) => match rate.split_once('-') {
                None => RefreshRate::Fixed(millihertz(rate)?),
                Some((slowest, fastest)) => variable(millihertz(slowest)?, millihertz(fastest)?)?,
            },
        };
        Ok(OutputMode { width, height, refresh })
    }
}

fn variable(slowest: u32, fastest: u32) -> Result<RefreshRate, ModeError> {
    if slowest < fastest { Ok(RefreshRate::Variable { slowest, fastest }) } else { Err(ModeError::Rate) }
}

fn millihertz(text: &str) -> Result<u32, ModeError> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let hertz: f64 = text.parse().ok().filter(|_| plain).ok_or(ModeError::Form)?;
    let millihertz = (hertz * 1_000.0).round();
    if (1.0..=f64::from(HIGHEST_REFRESH)).contains(&millihertz) { Ok(millihertz as u32) } else { Err(ModeError::Rate) }
}

impl fmt::Display for OutputMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hertz = |rate: u32| f64::from(rate) / 1e3;
        match self.refresh {
            RefreshRate::Fixed(rate) => write!(f, "{}x{}@{}", self.width, self.height, hertz(rate)),
            RefreshRate::Variable { slowest, fastest } => {
                write!(f, "{}x{}@{}-{}", self.width, self.height, hertz(slowest), hertz(fastest))
            }
        }
    }
}

impl TryFrom<String> for OutputMode {
    type Error = ModeError;

    fn try_from(text: String) -> Result<Self, ModeError> {
        text.parse()
    }
}

impl From<OutputMode> for String {
    fn from(mode: OutputMode) -> String {
        mode.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bad_modes_are_refused_with_what_was_expected() {
        for (text, error) in [
            ("", ModeError::Form),
            ("1920", ModeError::Form),
            ("1920x", ModeError::Form),
            ("1920x1080@", ModeError::Form),
            ("1920x1080@fast", ModeError::Form),
            ("1920x1080@nan", ModeError::Form),
            ("1920x1080@6e1", ModeError::Form),
            ("-5x7", ModeError::Form),
            ("0x1080", ModeError::Size),
            ("16385x1", ModeError::Size),
            ("1920x1080@0", ModeError::Rate),
            ("1920x1080@1000.1", ModeError::Rate),
            ("1920x1080@144-48", ModeError::Rate),
        ] {
            assert_eq!(text.parse::<OutputMode>(), Err(error), "{text}");
        }
        assert_eq!("640x480".parse::<OutputMode>().unwrap().refresh, RefreshRate::Fixed(60_000));
        assert_eq!("640x480@75Hz".parse::<OutputMode>().unwrap().refresh, RefreshRate::Fixed(75_000));
    }

    proptest! {
        #[test]
        fn a_mode_is_read_back_as_it_was_written(
            width in 1..=LARGEST_SIDE,
            height in 1..=LARGEST_SIDE,
            rates in (1..=HIGHEST_REFRESH, 1..=HIGHEST_REFRESH),
        ) {
            let (slowest, fastest) = (rates.0.min(rates.1), rates.0.max(rates.1));
            let variable = RefreshRate::Variable { slowest, fastest };
            let refresh = if slowest == fastest { RefreshRate::Fixed(slowest) } else { variable };
            let mode = OutputMode { width, height, refresh };
            prop_assert_eq!(mode.to_string().parse(), Ok(mode));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = text.parse::<OutputMode>();
        }
    }
}
