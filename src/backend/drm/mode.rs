//! Video modes: the choice of a monitor's mode, and its timings.

use smithay::output::Mode as WaylandMode;
use smithay::reexports::drm::control::{Mode as DrmMode, ModeTypeFlags};

use super::DrmError;
use crate::backend::{Beam, ScanDirection, VideoMode};
use upbeat_timing::time::Span;

/// Rates that differ by less than this (mHz) count as equal: 59.94 Hz is sold as 60.
const SAME_RATE: u32 = 500;

/// The configured mode of a monitor; all `None` means the monitor's preferred mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredMode {
    /// Width and height in pixels.
    pub size: Option<(i32, i32)>,
    /// Refresh rate in mHz; the fastest, if the rate may vary.
    pub refresh: Option<u32>,
    /// The slowest rate in mHz, if the rate may vary.
    pub slowest: Option<u32>,
}

/// Converts a DRM mode.
pub(super) fn mode_of(mode: DrmMode) -> VideoMode {
    let wayland = WaylandMode::from(mode);
    VideoMode { width: wayland.size.w, height: wayland.size.h, refresh: wayland.refresh.max(1).unsigned_abs() }
}

/// Vertical blanking: from the end of the last visible line to the start of the first. A commit must come at least this
/// long before its refresh.
pub(super) fn blanking(mode: DrmMode) -> Span {
    let (_, visible) = mode.size();
    let (_, _, total) = mode.vsync();
    let (visible, total) = (i64::from(visible), i64::from(total).max(1));
    mode_of(mode).interval().scale((total - visible).max(0), total)
}

/// How a mode is scanned: from the top, with its own blanking. `present` is the start of line 0, as DRM stamps it.
pub(super) fn scan_of(mode: DrmMode) -> Beam {
    let VideoMode { width, height, refresh } = mode_of(mode);
    let active = Span::from_millihertz(refresh) - blanking(mode);
    Beam { width, height, direction: ScanDirection::Down, active }
}

/// The time that a driver needs before the blanking starts, to program the registers or to wake a thread for it. If a
/// driver needs more, the output's machine learns it from frames that were committed in time and still missed.
pub const DRIVER_MARGIN: Span = Span::from_micros(500);

/// How long before its refresh a frame must be committed.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommitLead {
    /// The time of the invisible lines.
    pub blanking: Span,
}

impl CommitLead {
    /// The lead in this mode. A display without a beam has no blanking.
    pub fn of(mode: DrmMode, has_beam: bool) -> Self {
        CommitLead { blanking: if has_beam { blanking(mode) } else { Span::ZERO } }
    }

    /// The whole lead, with the guessed driver margin.
    pub fn whole(self) -> Span {
        self.blanking + DRIVER_MARGIN
    }
}

/// Converts the modes without duplicates, the preferred modes first.
pub(super) fn by_preference(modes: &[DrmMode]) -> Vec<VideoMode> {
    let is_preferred = |mode: &&DrmMode| mode.mode_type().contains(ModeTypeFlags::PREFERRED);
    let (first, others): (Vec<&DrmMode>, Vec<&DrmMode>) = modes.iter().partition(is_preferred);
    let mut all: Vec<VideoMode> = Vec::new();
    for mode in first.into_iter().chain(others).map(|mode: &DrmMode| mode_of(*mode)) {
        if !all.contains(&mode) {
            all.push(mode);
        }
    }
    all
}

/// The mode of `modes` that is nearest to the wish: exactly its size, with the nearest rate.
pub(super) fn choose(name: &str, modes: &[DrmMode], wish: ConfiguredMode) -> Result<DrmMode, DrmError> {
    let preferred = modes.iter().find(|mode| mode.mode_type().contains(ModeTypeFlags::PREFERRED)).or(modes.first());
    let preferred = *preferred.ok_or_else(|| DrmError::NoMode { name: name.to_owned() })?;
    let size = wish.size.unwrap_or((mode_of(preferred).width, mode_of(preferred).height));
    let fits = |mode: &&DrmMode| (mode_of(**mode).width, mode_of(**mode).height) == size;
    let rate = |mode: &DrmMode| mode_of(*mode).refresh;
    let found = match wish.refresh {
        None if wish.size.is_none() => Some(preferred),
        None => modes.iter().filter(fits).max_by_key(|mode| rate(mode)).copied(),
        Some(wanted) => modes
            .iter()
            .filter(fits)
            .min_by_key(|mode| rate(mode).abs_diff(wanted))
            .filter(|mode| rate(mode).abs_diff(wanted) <= SAME_RATE)
            .copied(),
    };
    found.ok_or_else(|| DrmError::UnknownMode {
        name: name.to_owned(),
        wanted: describe(size, wish.refresh),
        available: list(modes),
    })
}

fn describe((width, height): (i32, i32), refresh: Option<u32>) -> String {
    match refresh {
        Some(refresh) => format!("{width}x{height}@{}", hertz(refresh)),
        None => format!("{width}x{height}"),
    }
}

fn list(modes: &[DrmMode]) -> String {
    let one = |mode: &DrmMode| {
        let VideoMode { width, height, refresh } = mode_of(*mode);
        describe((width, height), Some(refresh))
    };
    let mut all: Vec<String> = modes.iter().map(one).collect();
    all.dedup();
    all.join(", ")
}

fn hertz(millihertz: u32) -> String {
    let text = format!("{:.3}", f64::from(millihertz) / 1e3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drm_ffi::drm_mode_modeinfo;

    fn mode(width: u16, height: u16, hz: u32, preferred: bool) -> DrmMode {
        let (htotal, vtotal) = (width + 160, height + 40);
        DrmMode::from(drm_mode_modeinfo {
            clock: u32::from(htotal) * u32::from(vtotal) * hz / 1000,
            hdisplay: width,
            htotal,
            vdisplay: height,
            vtotal,
            vrefresh: hz,
            type_: if preferred { ModeTypeFlags::PREFERRED.bits() } else { 0 },
            ..drm_mode_modeinfo::default()
        })
    }

    fn chosen(wish: ConfiguredMode) -> Result<(i32, i32, u32), String> {
        let modes = [mode(1280, 720, 60, false), mode(1920, 1080, 60, true), mode(1920, 1080, 144, false)];
        let mode = choose("DP-1", &modes, wish).map_err(|error| error.to_string())?;
        Ok((mode_of(mode).width, mode_of(mode).height, mode_of(mode).refresh.div_ceil(1000)))
    }

    #[test]
    fn without_a_wish_it_is_the_preferred_one() {
        assert_eq!(chosen(ConfiguredMode::default()), Ok((1920, 1080, 60)));
    }

    #[test]
    fn a_size_takes_its_fastest_rate_and_a_rate_the_preferred_size() {
        assert_eq!(
            chosen(ConfiguredMode { size: Some((1920, 1080)), refresh: None, slowest: None }),
            Ok((1920, 1080, 144))
        );
        assert_eq!(chosen(ConfiguredMode { size: None, refresh: Some(143_900), slowest: None }), Ok((1920, 1080, 144)));
    }

    #[test]
    fn a_mode_that_the_monitor_lacks_is_named_with_those_it_has() {
        let error =
            chosen(ConfiguredMode { size: Some((800, 600)), refresh: Some(75_000), slowest: None }).unwrap_err();
        assert!(error.contains("DP-1") && error.contains("800x600@75") && error.contains("1280x720@"), "{error}");
    }

    #[test]
    fn blanking_is_the_share_of_the_invisible_lines() {
        let mode = mode(1920, 1080, 60, true);
        let share = blanking(mode).as_nanos() as f64 / mode_of(mode).interval().as_nanos() as f64;
        assert!((share - 40.0 / 1120.0).abs() < 1e-4, "{share}");
    }
}
