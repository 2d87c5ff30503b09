//! The pacing of an example's window: a command-line option, and a key that changes it.

use clap::ValueEnum;
use upbeat_client::{Pacing, PacingInForce, PacingOptions, Reason};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExamplePacing {
    /// Callback at each refresh, for the next refresh
    Vsync,
    /// Callback as late as possible
    JustInTime,
    /// Several frames ahead of the display
    Ahead,
}

impl ExamplePacing {
    /// The next pacing, for the key.
    pub fn next(self) -> Self {
        match self {
            ExamplePacing::Vsync => ExamplePacing::JustInTime,
            ExamplePacing::JustInTime => ExamplePacing::Ahead,
            ExamplePacing::Ahead => ExamplePacing::Vsync,
        }
    }

    /// The options for the compositor. Input is no reason to stop drawing ahead, because everything that the examples
    /// draw is either predicted or needs no input.
    pub fn options(self, ahead_limit: u32) -> PacingOptions {
        let pacing = match self {
            ExamplePacing::Vsync => Pacing::Vsync,
            ExamplePacing::JustInTime => Pacing::JustInTime,
            ExamplePacing::Ahead => Pacing::Ahead,
        };
        PacingOptions { pacing, ahead_limit, stay_ahead: true, ..PacingOptions::default() }
    }
}

/// The pacing in force and its reason, as text.
pub fn pacing_text(effective: PacingInForce) -> String {
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
