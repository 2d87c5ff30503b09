//! Two windows, and presses that open and close the compositor's own overview during its animation.
//!
//! ```text
//!  key                A          A          A            each press counts
//!                     opens      closes     opens
//!  button, touch      A    ▲     A    ▲     A    ▲       a touch closes the overview; the touch counts
//!                     opens closes opens closes
//! ```

use serde::{Deserialize, Serialize};

use super::device::PressKind;
use super::player::WARM_UP;
use super::presser::Presser;
use crate::animations::{BEHIND, CpuTimeUsed, FRONT, OPACITY, WindowsClient, WindowsError};
use upbeat_timing::time::{Instant, Span};

/// Longest opening animation of the windows.
const APPEARANCE: Span = Span::from_seconds(1);
/// Time between two checks whether all presses were sent.
const LOOK: Span = Span::from_millis(200);

/// Presses to send.
#[derive(Clone, Debug, clap::Args)]
pub struct OverviewOptions {
    /// Kind of press: key, button or touch
    #[arg(long, value_enum, default_value_t)]
    pub press: PressKind,
    /// Number of presses that count
    #[arg(long, default_value_t = 100)]
    pub presses: usize,
    /// The display's refresh rate
    #[arg(long, value_name = "HZ", default_value_t = 60.0)]
    pub refresh: f64,
    /// Seed of the times of the presses
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// All presses, and the CPU time of both processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PressReport {
    /// When each press was sent.
    pub presses: Vec<Instant>,
    /// CPU time during the presses.
    #[serde(flatten)]
    pub used: CpuTimeUsed,
}

/// Why the client could not run.
#[derive(Debug, thiserror::Error)]
pub enum OverviewError {
    /// The session lacks the input device.
    #[error("the compositor has no virtual {0:?}, or no virtual keyboard, to press")]
    NoDevice(PressKind),
    /// The windows could not be opened, or the connection broke.
    #[error(transparent)]
    Windows(#[from] WindowsError),
}

/// Opens the windows and presses.
///
/// # Errors
/// If there is no compositor, or it lacks a protocol, or the connection breaks.
pub fn run(options: &OverviewOptions) -> Result<PressReport, OverviewError> {
    let mut stage = WindowsClient::connect()?;
    stage.open(0, (BEHIND, 1.0))?;
    stage.open(1, (FRONT, OPACITY))?;
    stage.rest(APPEARANCE, None)?;
    let interval = Span::from_millihertz((options.refresh * 1_000.0).round() as u32);
    let (presser, used) = stage.measure(|stage| {
        let before = (options.press != PressKind::Key).then_some(PressKind::Key);
        let presser = Presser::start(options.press, before, WARM_UP + options.presses, interval, options.seed)
            .ok_or(OverviewError::NoDevice(options.press))?;
        while !presser.is_done() {
            stage.rest(LOOK, None)?;
        }
        Ok::<_, OverviewError>(presser)
    })?;
    Ok(PressReport { presses: presser.stop(), used })
}
