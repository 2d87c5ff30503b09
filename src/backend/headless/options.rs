//! The properties of a virtual output's panel.

use super::blanking;
use super::fault::FaultScript;
use super::limits::{FEWEST_BUFFERS, MOST_BUFFERS, MOST_OVERLAYS, OptionsError, check_mode};
use crate::backend::{EdidIdentity, VideoMode};
use upbeat_timing::time::{Instant, Span};

/// The properties of a virtual output; [`Default`] is an ordinary panel with a fixed rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// When refresh number 0 starts; `None`: when the output is created.
    pub epoch: Option<Instant>,
    /// How long before the vblank a frame must be complete; `None`: the mode's vertical blanking, at least 0.5 ms.
    pub submit_lead: Option<Span>,
    /// The shortest and longest refresh interval of a panel with variable refresh. The mode's rate is then ignored.
    pub variable_refresh: Option<(Span, Span)>,
    /// The number of buffers: 3 or more.
    pub buffers: usize,
    /// The monitor's maker, model and serial number; `None`: the output reports none.
    pub identity: Option<EdidIdentity>,
    /// Width and height of the visible area in millimetres; `None`: the output reports no size.
    pub millimetres: Option<(u32, u32)>,
    /// The largest image of the cursor plane (width, height in pixels); `None` for no cursor plane.
    pub cursor_plane: Option<(u32, u32)>,
    /// How many overlay planes show clients' buffers, at most [`MOST_OVERLAYS`]. They take buffers in shared memory.
    pub overlays: u32,
    /// Whether a rectangle of the buffer on screen may be rewritten.
    pub front_buffer: bool,
    /// Whether a thread reads shared memory, on the monotonic clock. Otherwise it is read when the output is
    /// dispatched.
    pub sampler_thread: bool,
    /// Whether a submitted frame can be withdrawn. The default is false, since KMS cannot do it.
    pub can_withdraw: bool,
    /// How many submitted frames may wait behind the next flip, each for its own refresh, as in the presenter of a
    /// real device.
    pub queue: usize,
    /// Entries per channel of the gamma table; `None` for no table. A ramp is stored, but does not change the image.
    pub gamma: Option<u32>,
    /// The scripted faults of this output.
    pub faults: FaultScript,
}

impl Default for OutputOptions {
    fn default() -> Self {
        OutputOptions {
            epoch: None,
            submit_lead: None,
            variable_refresh: None,
            buffers: FEWEST_BUFFERS,
            identity: None,
            millimetres: None,
            cursor_plane: None,
            overlays: 0,
            front_buffer: false,
            sampler_thread: false,
            can_withdraw: false,
            queue: 0,
            gamma: None,
            faults: FaultScript::default(),
        }
    }
}

impl OutputOptions {
    /// Checks the options together with the mode.
    pub fn validate(&self, mode: VideoMode) -> Result<(), OptionsError> {
        check_mode(mode)?;
        if let Some((shortest, longest)) = self.variable_refresh
            && (shortest < Span::from_millis(1) || longest < shortest || longest > Span::from_seconds(1))
        {
            return Err(OptionsError::VariableRefresh { shortest, longest });
        }
        if !(FEWEST_BUFFERS..=MOST_BUFFERS).contains(&self.buffers) {
            return Err(OptionsError::Buffers(self.buffers));
        }
        if self.overlays > MOST_OVERLAYS {
            return Err(OptionsError::Overlays(self.overlays));
        }
        match self.submit_lead {
            Some(lead) if lead.is_negative() || lead > Span::from_seconds(1) => Err(OptionsError::SubmitLead(lead)),
            _ => Ok(()),
        }
    }

    /// The shortest and the longest refresh interval in `mode`.
    pub fn intervals(&self, mode: VideoMode) -> (Span, Span) {
        self.variable_refresh.unwrap_or((mode.interval(), mode.interval()))
    }

    /// The submit lead in `mode`.
    pub fn lead(&self, mode: VideoMode) -> Span {
        self.submit_lead.unwrap_or_else(|| blanking::default_submit_lead(mode))
    }
}
