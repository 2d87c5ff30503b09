//! Compares a lit monitor with its connector as a scan finds it: a monitor may have been exchanged for another one, and
//! the link to it may have failed. In both cases the output is set up anew, like after a replug.
//!
//! ```text
//!   hotplug event ─► scan ─┬─► the same EDID, link good ─► stays lit
//!                          ├─► another EDID             ─► unplugged, and plugged in as another monitor
//!                          └─► link bad                 ─► unplugged, and lit by a new modeset; a few times at most
//! ```

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smithay::reexports::drm::control::{Device, connector};

use super::edid;
use super::property::Properties;
use upbeat_record::faults::{self, Fault};
use upbeat_timing::time::{Instant, Span};

/// Value of the connector property `link-status` after the training of a link has failed, for example DisplayPort's
/// (`DRM_MODE_LINK_STATUS_BAD` in the kernel's `drm_mode.h`). The driver then expects a modeset, and may have removed
/// modes that the link cannot carry.
const BAD: u64 = 1;
/// How often in a row an output is set up anew because of its link. Drivers reduce the link's rate with each failure,
/// which takes fewer steps than this.
const MOST_RETRAININGS: u32 = 5;
/// How long a link must be good before its failures are forgotten: drivers report a failure up to seconds after the
/// modeset.
const GOOD_FOR: Span = Span::from_millis(10_000);

/// The monitor of a lit output.
#[derive(Clone, Debug, Default)]
pub(super) struct LitMonitor {
    edid: Option<Vec<u8>>,
    /// How often it was set up anew in a row because its link had failed.
    retrainings: u32,
    set_up: Instant,
    /// Whether its CRTC is on. Until a modeset, and while it is off, the link's state is an old one.
    is_lit: Arc<AtomicBool>,
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
    ///
    /// `is_lit`: whether its CRTC is on, kept up to date by its presenter.
    pub fn new(
        edid: Option<Vec<u8>>,
        is_lit: Arc<AtomicBool>,
        earlier: Option<(LitMonitor, MonitorChange)>,
        now: Instant,
    ) -> Self {
        let retrainings = match earlier {
            Some((before, MonitorChange::LinkFailed)) => before.retrainings + 1,
            _ => 0,
        };
        LitMonitor { edid, retrainings, set_up: now, is_lit }
    }

    /// Compares it with its connector; `None`: the output stays as it is.
    pub fn compare(&mut self, found: &FoundMonitor, now: Instant) -> Option<MonitorChange> {
        if self.is_exchanged(found.edid.as_deref()) {
            return Some(MonitorChange::Exchanged);
        }
        if !self.is_lit.load(Ordering::Relaxed) {
            return None;
        }
        if !found.is_link_bad {
            if now - self.set_up >= GOOD_FOR {
                self.retrainings = 0;
            }
            return None;
        }
        (self.retrainings < MOST_RETRAININGS).then_some(MonitorChange::LinkFailed)
    }

    /// Whether `found` is the EDID of another monitor. An EDID that cannot be read says nothing: some switches between
    /// monitors take it away for a moment. The same monitor may have another EDID, for example with other modes: a
    /// virtual machine's changes with its window. So identities are compared where there are any.
    fn is_exchanged(&self, found: Option<&[u8]>) -> bool {
        let Some(found) = found else { return false };
        let identify = |edid: Option<&[u8]>| edid.and_then(edid::identify);
        match (identify(self.edid.as_deref()), identify(Some(found))) {
            (None, None) => self.edid.as_deref() != Some(found),
            (known, found) => known != found,
        }
    }

    /// Whether its link is given up, as it failed too often.
    pub const fn is_given_up(&self) -> bool {
        self.retrainings >= MOST_RETRAININGS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An EDID without an identity, or of the monitor with this serial number.
    fn edid(serial: Option<u8>, other: u8) -> Vec<u8> {
        let mut bytes = vec![0; edid::BLOCK];
        if let Some(serial) = serial {
            bytes[..edid::HEADER.len()].copy_from_slice(&edid::HEADER);
            bytes[12] = serial;
        }
        bytes[126] = other;
        bytes
    }

    fn found(edid: Option<Vec<u8>>, is_link_bad: bool) -> FoundMonitor {
        FoundMonitor { edid, is_link_bad }
    }

    fn lit(edid: Option<Vec<u8>>) -> LitMonitor {
        LitMonitor::new(edid, Arc::new(true.into()), None, Instant::ZERO)
    }

    fn seconds(count: i64) -> Instant {
        Instant::ZERO + Span::from_millis(1_000) * count
    }

    #[test]
    fn only_another_identity_is_another_monitor() {
        let change = |known: Option<Vec<u8>>, now: Option<Vec<u8>>| lit(known).compare(&found(now, false), seconds(1));
        let exchanged = Some(MonitorChange::Exchanged);
        assert_eq!(change(Some(edid(Some(1), 0)), Some(edid(Some(1), 0))), None);
        assert_eq!(change(Some(edid(Some(1), 0)), Some(edid(Some(1), 9))), None, "other modes of the same monitor");
        assert_eq!(change(Some(edid(Some(1), 0)), Some(edid(Some(2), 0))), exchanged);
        assert_eq!(change(Some(edid(Some(1), 0)), None), None, "an EDID that is missing for a moment");
        assert_eq!(change(None, None), None);
        assert_eq!(change(None, Some(edid(Some(2), 0))), exchanged, "it is known now");
        assert_eq!(change(Some(edid(None, 1)), Some(edid(None, 2))), exchanged, "without identities each byte counts");
        assert_eq!(change(Some(edid(None, 1)), Some(edid(None, 1))), None);
    }

    #[test]
    fn failed_link_is_retrained_a_few_times_in_a_row() {
        let bad = || found(Some(edid(Some(1), 0)), true);
        let good = || found(Some(edid(Some(1), 0)), false);
        let mut monitor = lit(bad().edid);
        for _ in 0..MOST_RETRAININGS {
            // A good moment between two failures does not count.
            assert_eq!(monitor.compare(&good(), seconds(1)), None);
            let change = monitor.compare(&bad(), seconds(2)).expect("its link is retrained");
            assert_eq!(change, MonitorChange::LinkFailed);
            monitor = LitMonitor::new(bad().edid, Arc::new(true.into()), Some((monitor, change)), Instant::ZERO);
        }
        assert_eq!(monitor.compare(&bad(), seconds(3)), None);
        assert!(monitor.is_given_up());
        // After a time with a good link it has all its trials again.
        assert_eq!(monitor.compare(&good(), seconds(11)), None);
        assert_eq!(monitor.compare(&bad(), seconds(12)), Some(MonitorChange::LinkFailed));
    }

    #[test]
    fn link_of_a_dark_crtc_says_nothing() {
        let is_lit = Arc::new(AtomicBool::new(false));
        let mut monitor = LitMonitor::new(None, is_lit.clone(), None, Instant::ZERO);
        assert_eq!(monitor.compare(&found(None, true), seconds(1)), None);
        is_lit.store(true, Ordering::Relaxed);
        assert_eq!(monitor.compare(&found(None, true), seconds(1)), Some(MonitorChange::LinkFailed));
    }
}
