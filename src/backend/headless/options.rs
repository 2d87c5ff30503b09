//! What kind of panel a virtual output pretends to be.

use super::blanking;
use super::fault::FaultScript;
use crate::backend::Mode;
use crate::time::{Instant, Span};

/// The largest width and height that a virtual output takes, in pixels.
pub const LARGEST_SIZE: i32 = 16_384;
/// The slowest and the fastest rate that it takes, in millihertz.
pub const RATES: std::ops::RangeInclusive<u32> = 1_000..=1_000_000;
/// One buffer on screen, one waiting, one being composed.
pub const FEWEST_BUFFERS: usize = 3;
/// More make the buffers older and nothing faster.
pub const MOST_BUFFERS: usize = 8;

/// The properties of a virtual output; [`Default`] is an ordinary panel at a fixed rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// When refresh number 0 starts; `None`: when the output is made.
    pub epoch: Option<Instant>,
    /// By how much a frame must be complete before the vblank; `None`: the mode's vertical blanking, at least 0.5 ms.
    pub submit_lead: Option<Span>,
    /// The shortest and longest refresh interval, for a panel with variable refresh. The mode's rate is ignored then.
    pub variable_refresh: Option<(Span, Span)>,
    /// How many buffers there are: 3 or more.
    pub buffers: usize,
    /// The largest image of the cursor plane (width, height in pixels); `None`: no such plane.
    pub cursor_plane: Option<(u32, u32)>,
    /// Whether a rectangle of the buffer on screen may be rewritten.
    pub front_buffer: bool,
    /// Whether a submitted frame can be withdrawn. KMS cannot, so by default neither can this.
    pub can_withdraw: bool,
    /// How many submitted frames may wait behind the one that flips next, each for its own refresh: what a presenter in
    /// front of a real device holds.
    pub queue: usize,
    /// How many entries each channel of the gamma table has; `None`: no table. What is set is kept, and shown as it is.
    pub gamma: Option<u32>,
    /// What goes wrong, and when.
    pub faults: FaultScript,
}

impl Default for OutputOptions {
    fn default() -> Self {
        OutputOptions {
            epoch: None,
            submit_lead: None,
            variable_refresh: None,
            buffers: FEWEST_BUFFERS,
            cursor_plane: None,
            front_buffer: false,
            can_withdraw: false,
            queue: 0,
            gamma: None,
            faults: FaultScript::default(),
        }
    }
}

/// What is wrong with a mode or an option.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionsError {
    /// The size is out of range.
    #[error("size {0}x{1}: width and height must lie in 1..={LARGEST_SIZE}")]
    Size(i32, i32),
    /// The rate is out of range.
    #[error("refresh rate {0} mHz: must lie in 1000..=1000000")]
    Rate(u32),
    /// The range of variable refresh is empty, backwards or out of range.
    #[error("variable refresh {shortest} to {longest}: must be ascending and lie in 1 ms to 1 s")]
    VariableRefresh {
        /// The shortest interval asked for.
        shortest: Span,
        /// The longest interval asked for.
        longest: Span,
    },
    /// Too few or too many buffers.
    #[error("{0} buffers: must lie in {FEWEST_BUFFERS}..={MOST_BUFFERS}")]
    Buffers(usize),
    /// The submit lead is negative or longer than a second.
    #[error("submit lead {0}: must lie in 0 to 1 s")]
    SubmitLead(Span),
}

impl OutputOptions {
    /// Checks them together with the mode that they are for.
    pub fn validate(&self, mode: Mode) -> Result<(), OptionsError> {
        let sizes = 1..=LARGEST_SIZE;
        if !sizes.contains(&mode.width) || !sizes.contains(&mode.height) {
            return Err(OptionsError::Size(mode.width, mode.height));
        }
        if !RATES.contains(&mode.refresh) {
            return Err(OptionsError::Rate(mode.refresh));
        }
        if let Some((shortest, longest)) = self.variable_refresh
            && (shortest < Span::from_millis(1) || longest < shortest || longest > Span::from_seconds(1))
        {
            return Err(OptionsError::VariableRefresh { shortest, longest });
        }
        if !(FEWEST_BUFFERS..=MOST_BUFFERS).contains(&self.buffers) {
            return Err(OptionsError::Buffers(self.buffers));
        }
        match self.submit_lead {
            Some(lead) if lead.is_negative() || lead > Span::from_seconds(1) => Err(OptionsError::SubmitLead(lead)),
            _ => Ok(()),
        }
    }

    /// The shortest and the longest refresh interval in `mode`.
    pub fn intervals(&self, mode: Mode) -> (Span, Span) {
        self.variable_refresh.unwrap_or((mode.interval(), mode.interval()))
    }

    /// The submit lead in `mode`.
    pub fn lead(&self, mode: Mode) -> Span {
        self.submit_lead.unwrap_or_else(|| blanking::default_submit_lead(mode))
    }
}
