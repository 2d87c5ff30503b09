//! A width or height of a window, in logical pixels.

use serde::{Deserialize, Serialize};

use super::ValueError;

/// Four times as wide as the widest screens.
const LONGEST: i64 = 32_768;

/// A width or a height: 1 to 32768 logical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct WindowLength(i32);

impl WindowLength {
    pub const fn pixels(self) -> i32 {
        self.0
    }
}

impl TryFrom<i64> for WindowLength {
    type Error = ValueError;

    fn try_from(length: i64) -> Result<Self, ValueError> {
        let wrong = ValueError("expected 1 to 32768 pixels, such as 640");
        i32::try_from(length).ok().filter(|_| (1..=LONGEST).contains(&length)).map(WindowLength).ok_or(wrong)
    }
}

impl From<WindowLength> for i64 {
    fn from(length: WindowLength) -> i64 {
        length.0.into()
    }
}
