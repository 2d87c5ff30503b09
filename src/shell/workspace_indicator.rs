//! Workspace indicator: a row of workspace numbers that an output shows for a second after another workspace became
//! visible on it.
//!
//! ```text
//!   switch     latch k         latch k + 1 s
//!     └───────────┴ fades in ───── rests ─────┴ fades out
//!                                  the scene is reused
//! ```
//!
//! A switch is found at the latch, so it does not matter whether a key, a swipe or a client caused it.

use super::Shell;
use super::animation::{AnimatedToggle, FrameTimes};
use super::workspaces::{ScreenId, WorkspaceNumber, Workspaces};
use crate::shell::ShellOutputs;
use crate::state::State;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::time::{Clock, Instant, Span};

/// Time for which the indicator is shown after the last switch: long enough to find the marked number in a row.
const SHOWN_FOR: Span = Span::from_seconds(1);

/// The indicators of all outputs. By default there are none: they are enabled in the configuration.
#[derive(Debug, Default)]
pub struct WorkspaceIndicators {
    enabled: bool,
    list: Vec<OutputIndicator>,
}

/// The indicator of one output.
#[derive(Debug)]
struct OutputIndicator {
    screen: ScreenId,
    /// Visible workspace at the last latch.
    last_active: WorkspaceNumber,
    shown: AnimatedToggle,
    /// Time at which the indicator fades out.
    until: Option<Instant>,
}

impl WorkspaceIndicators {
    /// Shows indicators for switches since the last latch, unless the overview shows the workspaces already, and starts
    /// or ends their fades.
    pub(super) fn update(
        &mut self,
        style: Option<MotionStyle>,
        shown: FrameTimes,
        workspaces: &Workspaces,
        in_overview: bool,
    ) {
        if !self.enabled {
            return;
        }
        self.list.retain(|indicator| workspaces.screens().any(|(screen, _)| screen == indicator.screen));
        for (screen, _) in workspaces.screens() {
            let active = workspaces.active(screen);
            let Some(indicator) = self.list.iter_mut().find(|indicator| indicator.screen == screen) else {
                let shown = AnimatedToggle::default();
                self.list.push(OutputIndicator { screen, last_active: active, shown, until: None });
                continue;
            };
            let is_switch = std::mem::replace(&mut indicator.last_active, active) != active;
            if in_overview {
                indicator.until = None;
                indicator.shown.set(false);
            } else if is_switch {
                indicator.until = Some(shown.present + SHOWN_FOR);
                indicator.shown.set(true);
            }
            indicator.shown.update(style, shown);
        }
    }

    /// Hides the indicators whose time is over. Returns whether there are any.
    fn hide_due(&mut self, now: Instant) -> bool {
        let due = self.list.iter_mut().filter(|indicator| indicator.until.is_some_and(|until| until <= now));
        due.fold(false, |_, indicator| {
            indicator.until = None;
            indicator.shown.set(false);
            true
        })
    }

    /// Earliest time at which an indicator fades out.
    pub fn until(&self) -> Option<Instant> {
        self.list.iter().filter_map(|indicator| indicator.until).min()
    }

    /// Opacity of the indicator of `screen` in the frame presented at `present`; `None` if it is hidden.
    pub fn opacity(&self, screen: ScreenId, present: Instant) -> Option<f64> {
        let indicator = self.list.iter().find(|indicator| indicator.screen == screen)?;
        indicator.shown.is_seen(present).then(|| indicator.shown.at(present))
    }

    /// Whether the indicator of `screen` fades after the frame presented at `present`.
    pub(super) fn moves_after(&self, screen: ScreenId, present: Instant) -> bool {
        self.list.iter().any(|indicator| indicator.screen == screen && indicator.shown.moves_after(present))
    }

    /// Whether no indicator fades after the frame presented at `present`.
    pub(super) fn are_still(&self, present: Instant) -> bool {
        !self.list.iter().any(|indicator| indicator.shown.moves_after(present))
    }

    /// Called when workspaces have new numbers, which is no switch: hides all indicators.
    pub(super) fn forget(&mut self) {
        self.list.clear();
    }

    /// Ends all fades at once.
    pub(super) fn finish(&mut self) {
        self.list.iter_mut().for_each(|indicator| indicator.shown.finish());
    }
}

impl Shell {
    /// Shows or hides indicators from now on.
    pub fn enable_workspace_indicators(&mut self, enabled: bool) {
        let indicators = &mut self.overlays.indicators;
        if std::mem::replace(&mut indicators.enabled, enabled) != enabled {
            indicators.list.clear();
            self.note_change();
        }
    }
}

/// Hides the indicators whose time is over.
pub fn update(state: &mut State) {
    if state.shell.overlays.indicators.until().is_none() {
        return;
    }
    let now = state.clock.now();
    if state.shell.overlays.indicators.hide_due(now) {
        state.shell.note_change();
        state.schedule_repaint_all();
    }
}
