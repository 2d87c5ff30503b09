//! How the window is paced: an option, and a key that changes it.

use clap::ValueEnum;
use upbeat_client::{Effective, Pacing, PacingOptions, Reason};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Told at each refresh to draw for the next
    Vsync,
    /// Told as late as it fits
    JustInTime,
    /// Several frames ahead of the display
    Ahead,
}

impl Mode {
    /// What the key makes of it.
    pub fn next(self) -> Self {
        match self {
            Mode::Vsync => Mode::JustInTime,
            Mode::JustInTime => Mode::Ahead,
            Mode::Ahead => Mode::Vsync,
        }
    }

    /// What the compositor is asked for. All that the examples draw is either predicted or needs no input, so that
    /// input is no reason to stop drawing ahead.
    pub fn options(self, ahead_limit: u32) -> PacingOptions {
        let pacing = match self {
            Mode::Vsync => Pacing::Vsync,
            Mode::JustInTime => Pacing::JustInTime,
            Mode::Ahead => Pacing::Ahead,
        };
        PacingOptions { pacing, ahead_limit, stay_ahead: true, ..PacingOptions::default() }
    }
}

/// What is in force, in words.
pub fn words(effective: Effective) -> String {
    let pacing = match effective.pacing {
        Pacing::Vsync => "vsync".to_owned(),
        Pacing::JustInTime => "just in time".to_owned(),
        Pacing::Ahead => format!("{} ahead", effective.ahead),
        _ => "automatic".to_owned(),
    };
    let why = match effective.reason {
        None => "predicted: no upbeat_frame_pacing_v1",
        Some(Reason::Client) => "as asked for",
        Some(Reason::InteractiveInput) => "because of input",
        Some(Reason::NoBuffer) => "for want of buffers",
        Some(Reason::Hidden) => "hidden",
        Some(Reason::Automatic) => "the compositor's choice",
        Some(_) => "a rule of the compositor",
    };
    format!("{pacing} ({why})")
}
