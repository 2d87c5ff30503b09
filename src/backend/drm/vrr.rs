//! Variable refresh rate: whether it is enabled, and its range of rates.
//!
//! It is enabled if the configuration asks for a range of rates, the driver reports that the monitor supports it
//! (`vrr_capable`) and the CRTC has the property (`VRR_ENABLED`). The fastest rate is the mode's. The slowest is the
//! configured or the monitor's own, whichever is faster: below that the driver repeats frames by itself.

use super::atomic::AtomicCrtc;
use super::edid::{BLOCK, DESCRIPTOR, DESCRIPTORS, HEADER};
use crate::backend::VideoMode;
use upbeat_timing::time::Span;

/// Millihertz in a hertz.
const MILLI: u32 = 1_000;

/// The shortest and the longest interval between two refreshes.
pub(super) type IntervalRange = (Span, Span);

/// The rates that a monitor states.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VariableRates {
    /// The monitor and the CRTC support variable refresh.
    capable: bool,
    /// The monitor's slowest rate, in mHz.
    slowest: Option<u32>,
}

impl VariableRates {
    /// The rates of the monitor with this EDID.
    pub fn of(edid: Option<&[u8]>, atomic: Option<&AtomicCrtc>) -> Self {
        let Some(atomic) = atomic else { return VariableRates::default() };
        let capable = atomic.has_vrr() && atomic.connector().value("vrr_capable") == Some(1);
        VariableRates { capable, slowest: edid.and_then(slowest_rate) }
    }

    /// Whether the rate can vary between `slowest` (mHz) and the rate of `mode`; the error gives the reason.
    pub fn check(self, mode: VideoMode, slowest: u32) -> Result<(), String> {
        if !self.capable {
            return Err("the monitor or its driver has a fixed rate".to_owned());
        }
        let lowest = slowest.max(self.slowest.unwrap_or(0));
        let hertz = |rate: u32| f64::from(rate) / f64::from(MILLI);
        range(mode, slowest, self.slowest).map(|_| ()).ok_or_else(|| {
            format!("its rate cannot vary between {} Hz and the mode's {} Hz", hertz(lowest), hertz(mode.refresh))
        })
    }

    /// The range in `mode`, if `slowest` (mHz) is configured and supported.
    pub fn range(self, name: &str, mode: VideoMode, slowest: Option<u32>) -> Option<IntervalRange> {
        let range = slowest.and_then(|slowest| range(mode, slowest, self.slowest)).filter(|_| self.capable);
        if range.is_none() && slowest.is_some() {
            tracing::warn!(output = name, "the monitor has no such range of rates: its rate is fixed");
        }
        range
    }
}

/// The intervals between `mode` and the faster of `wanted` (mHz) and the monitor's own slowest rate.
fn range(mode: VideoMode, wanted: u32, monitor: Option<u32>) -> Option<IntervalRange> {
    let slowest = wanted.max(monitor.unwrap_or(0));
    (slowest > 0 && slowest < mode.refresh).then(|| (mode.interval(), Span::from_millihertz(slowest)))
}

/// First bytes of a display range limits descriptor (VESA E-EDID 1.4, table 3.26).
const LIMITS: [u8; 4] = [0, 0, 0, 0xfd];
/// Flags: both vertical rates are offset by 255 Hz.
const BOTH_OFFSET: u8 = 0b11;
const OFFSET: u32 = 255;

/// The slowest vertical rate in an EDID, in mHz; `None` if there is none, or the bytes are no EDID.
pub fn slowest_rate(edid: &[u8]) -> Option<u32> {
    let block = edid.get(..BLOCK)?;
    let sum = block.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    if !block.starts_with(&HEADER) || sum != 0 {
        return None;
    }
    let limits = block[DESCRIPTORS].chunks_exact(DESCRIPTOR).find(|descriptor| descriptor.starts_with(&LIMITS))?;
    let offset = if limits[4] & BOTH_OFFSET == BOTH_OFFSET { OFFSET } else { 0 };
    Some((u32::from(limits[5]) + offset) * MILLI).filter(|rate| *rate > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODE: VideoMode = VideoMode { width: 2560, height: 1440, refresh: 144_000 };

    /// A base block with this as its second descriptor, and a correct checksum.
    fn edid(descriptor: &[u8]) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        block[..8].copy_from_slice(&HEADER);
        block[DESCRIPTORS.start + DESCRIPTOR..][..descriptor.len()].copy_from_slice(descriptor);
        let sum = block.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        block[BLOCK - 1] = 0_u8.wrapping_sub(sum);
        block
    }

    #[test]
    fn a_monitor_names_its_slowest_rate() {
        assert_eq!(slowest_rate(&edid(&[0, 0, 0, 0xfd, 0, 48, 144])), Some(48_000));
        assert_eq!(slowest_rate(&edid(&[0, 0, 0, 0xfd, 0b11, 1, 105])), Some(256_000));
        assert_eq!(slowest_rate(&edid(&[0, 0, 0, 0xfd, 0b10, 48, 105])), Some(48_000), "the fastest alone is higher");
    }

    #[test]
    fn bytes_that_are_no_edid_have_no_slowest_rate() {
        let mut broken = edid(&[0, 0, 0, 0xfd, 0, 48, 144]);
        broken[70] ^= 1;
        assert_eq!(slowest_rate(&broken), None, "the checksum");
        assert_eq!(slowest_rate(&edid(&[0, 0, 0, 0xfc, 0, 48, 144])), None, "its name is no range");
        assert_eq!(slowest_rate(&edid(&[0, 0, 0, 0xfd])), None, "no rate");
        assert_eq!(slowest_rate(&[0; 60]), None);
        assert_eq!(slowest_rate(&[]), None);
    }

    #[test]
    fn the_range_lies_within_what_the_monitor_does() {
        let spans = |slowest| Some((MODE.interval(), Span::from_millihertz(slowest)));
        assert_eq!(range(MODE, 30_000, Some(48_000)), spans(48_000));
        assert_eq!(range(MODE, 60_000, Some(48_000)), spans(60_000));
        assert_eq!(range(MODE, 60_000, None), spans(60_000), "the monitor states no limit");
    }

    #[test]
    fn a_fixed_rate_is_refused_with_the_reason() {
        let fixed = VariableRates { capable: false, slowest: Some(48_000) };
        assert_eq!(fixed.check(MODE, 48_000), Err("the monitor or its driver has a fixed rate".to_owned()));
        let varies = VariableRates { capable: true, slowest: Some(60_000) };
        assert_eq!(varies.check(MODE, 48_000), Ok(()));
        let slow = VideoMode { refresh: 59_940, ..MODE };
        let reason = "its rate cannot vary between 60 Hz and the mode's 59.94 Hz";
        assert_eq!(varies.check(slow, 48_000), Err(reason.to_owned()));
    }

    #[test]
    fn a_range_of_one_rate_is_none() {
        assert_eq!(range(MODE, 144_000, None), None);
        assert_eq!(range(MODE, 40_000, Some(144_000)), None);
        assert_eq!(range(MODE, 0, None), None);
    }
}
