//! Compares a lit monitor with its connector as a scan finds it: a monitor may have been exchanged for another one, and
//! the link to it may have failed. In both cases the output is set up anew, like after a replug.
//!
//! ```text
//!   hotplug event ─► scan ─┬─► the same EDID, link good ─► stays lit
//!                          ├─► another EDID             ─► unplugged, and plugged in as another monitor
//!                          └─► link bad                 ─► unplugged, and lit by a new modeset; a few times at most
//! ```

use std::fmt;

use smithay::reexports::drm::control::{Device, connector};

use super::edid;
use super::property::Properties;
use upbeat_record::faults::{self, Fault};

/// Value of the connector property `link-status` after the training of a link has failed, for example DisplayPort's
/// (`DRM_MODE_LINK_STATUS_BAD` in the kernel's `drm_mode.h`). The driver then expects a modeset, and may have removed
/// modes that the link cannot carry.
const BAD: u64 = 1;
/// How often in a row an output is set up anew because of its link. Drivers reduce the link's rate with each failure,
/// which takes fewer steps than this.
const MOST_RETRAININGS: u32 = 5;

/// The monitor of a lit output.
#[derive(Clone, Debug, Default)]
pub(super) struct LitMonitor {
    edid: Option<Vec<u8>>,
    /// How often it was set up anew in a row because its link had failed.
    retrainings: u32,
}

/// Why an output is set up anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MonitorChange {
    Exchanged,
    LinkFailed,
}

impl fmt::Display for MonitorChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MonitorChange::Exchanged => "another monitor is on its connector",
            MonitorChange::LinkFailed => "the link to its monitor has failed",
        })
    }
}

/// A connector as a scan finds it.
#[derive(Debug, Default)]
pub(super) struct FoundMonitor {
    pub edid: Option<Vec<u8>>,
    pub is_link_bad: bool,
}

impl FoundMonitor {
    /// Reads a connector that has a monitor. Call it on the worker.
    pub fn read(device: &impl Device, connector: connector::Handle) -> Self {
        let link = Properties::of(device, connector).ok().and_then(|properties| properties.value("link-status"));
        let mut edid = edid::read(device, connector);
        if faults::check(Fault::Edid).is_err() {
            edid = Some(edid.unwrap_or_default().into_iter().rev().chain([1]).collect());
        }
        let is_link_bad = link == Some(BAD) || faults::check(Fault::Link).is_err();
        FoundMonitor { edid, is_link_bad }
    }
}

impl LitMonitor {
    /// A monitor that is set up. `earlier`: this connector's monitor before, and why it is set up anew.
    pub fn new(edid: Option<Vec<u8>>, earlier: Option<(LitMonitor, MonitorChange)>) -> Self {
        let retrainings = match earlier {
            Some((before, MonitorChange::LinkFailed)) => before.retrainings + 1,
            _ => 0,
        };
        LitMonitor { edid, retrainings }
    }

    /// Compares it with its connector; `None`: the output stays as it is. An EDID that cannot be read says nothing: some
    /// switches between monitors take it away for a moment.
    pub fn compare(&mut self, found: &FoundMonitor) -> Option<MonitorChange> {
        if found.edid.is_some() && found.edid != self.edid {
            return Some(MonitorChange::Exchanged);
        }
        if !found.is_link_bad {
            self.retrainings = 0;
            return None;
        }
        (self.retrainings < MOST_RETRAININGS).then_some(MonitorChange::LinkFailed)
    }

    /// Whether its link is given up, as it failed too often.
    pub const fn is_given_up(&self) -> bool {
        self.retrainings >= MOST_RETRAININGS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(edid: Option<u8>, is_link_bad: bool) -> FoundMonitor {
        FoundMonitor { edid: edid.map(|byte| vec![byte; 128]), is_link_bad }
    }

    fn lit(edid: Option<u8>) -> LitMonitor {
        LitMonitor::new(found(edid, false).edid, None)
    }

    #[test]
    fn only_another_edid_is_another_monitor() {
        assert_eq!(lit(Some(1)).compare(&found(Some(1), false)), None);
        assert_eq!(lit(Some(1)).compare(&found(None, false)), None, "an EDID that is missing for a moment");
        assert_eq!(lit(None).compare(&found(None, false)), None);
        assert_eq!(lit(Some(1)).compare(&found(Some(2), false)), Some(MonitorChange::Exchanged));
        assert_eq!(lit(None).compare(&found(Some(2), false)), Some(MonitorChange::Exchanged), "its EDID is known now");
        assert_eq!(
            lit(Some(1)).compare(&found(Some(2), true)),
            Some(MonitorChange::Exchanged),
            "with a link of its own"
        );
    }

    #[test]
    fn failed_link_is_retrained_a_few_times_in_a_row() {
        let mut monitor = lit(Some(1));
        for _ in 0..MOST_RETRAININGS {
            let change = monitor.compare(&found(Some(1), true)).expect("its link is retrained");
            assert_eq!(change, MonitorChange::LinkFailed);
            monitor = LitMonitor::new(monitor.edid.clone(), Some((monitor, change)));
        }
        assert_eq!(monitor.compare(&found(Some(1), true)), None);
        assert!(monitor.is_given_up());
        // After a time with a good link it has all its trials again.
        assert_eq!(monitor.compare(&found(Some(1), false)), None);
        assert_eq!(monitor.compare(&found(Some(1), true)), Some(MonitorChange::LinkFailed));
    }
}
