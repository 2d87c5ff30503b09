//! Two windows, and presses that make the compositor's own overview come and go while it is still on its way.
//!
//! ```text
//!  key                A          A          A            each is a press that counts
//!                     comes      goes       comes
//!  button, touch      A    ▲     A    ▲     A    ▲       the overview goes when it is touched; that counts
//!                     comes goes comes goes
//! ```

use serde::{Deserialize, Serialize};

use super::device::Press;
use super::player::WARM_UP;
use super::presser::Presser;
use crate::animations::{BEHIND, FRONT, OPACITY, Stage, Used, WindowsError};
use upbeat_timing::time::{Instant, Span};

/// How long the windows' appearance may take.
const APPEARANCE: Span = Span::from_seconds(1);
/// How often it is looked whether all was pressed.
const LOOK: Span = Span::from_millis(200);

/// What to press.
#[derive(Clone, Debug, clap::Args)]
pub struct OverviewOptions {
    /// What is pressed
    #[arg(long, value_enum, default_value_t)]
    pub press: Press,
    /// How often
    #[arg(long, default_value_t = 100)]
    pub presses: usize,
    /// The display's refresh rate
    #[arg(long, value_name = "HZ", default_value_t = 60.0)]
    pub refresh: f64,
    /// Seed of the times of the presses
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What was pressed, and what both sides used meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pressed {
    /// When each press was sent.
    pub presses: Vec<Instant>,
    /// What both sides used meanwhile.
    #[serde(flatten)]
    pub used: Used,
}

/// Why nothing was pressed.
#[derive(Debug, thiserror::Error)]
pub enum OverviewError {
    /// It cannot be pressed.
    #[error("the compositor has no virtual {0:?}, or no virtual keyboard, to press")]
    NoDevice(Press),
    /// There are no windows, or they are there no more.
    #[error(transparent)]
    Windows(#[from] WindowsError),
}

/// Opens the windows and presses.
///
/// # Errors
/// If there is no compositor, or it lacks what is needed, or the connection breaks.
pub fn run(options: &OverviewOptions) -> Result<Pressed, OverviewError> {
    let mut stage = Stage::connect()?;
    stage.open(0, (BEHIND, 1.0))?;
    stage.open(1, (FRONT, OPACITY))?;
    stage.rest(APPEARANCE, None)?;
    let interval = Span::from_millihertz((options.refresh * 1_000.0).round() as u32);
    let (presser, used) = stage.measure(|stage| {
        let before = (options.press != Press::Key).then_some(Press::Key);
        let presser = Presser::start(options.press, before, WARM_UP + options.presses, interval, options.seed)
            .ok_or(OverviewError::NoDevice(options.press))?;
        while !presser.is_done() {
            stage.rest(LOOK, None)?;
        }
        Ok::<_, OverviewError>(presser)
    })?;
    Ok(Pressed { presses: presser.stop(), used })
}
