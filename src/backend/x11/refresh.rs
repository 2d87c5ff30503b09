//! The refresh rate of the server's screen, from the RandR extension.

use x11rb::protocol::randr::{ConnectionExt as _, ModeFlag, ModeInfo};
use x11rb::protocol::xproto::Window;
use x11rb::rust_connection::RustConnection;

/// The rate if the server states none: a screen in memory has no refreshes.
pub(super) const USUAL_MILLIHERTZ: u32 = 60_000;
/// The plausible rates of a monitor; any other rate is ignored.
const BELIEVED_MILLIHERTZ: std::ops::RangeInclusive<u32> = 10_000..=1_000_000;
/// The first version of RandR with a primary monitor.
const RANDR: (u32, u32) = (1, 3);

/// The rate, in mHz, of the primary monitor, else of the first active monitor, else the usual rate.
pub(super) fn of_screen(connection: &RustConnection, root: Window) -> u32 {
    ask(connection, root).unwrap_or(USUAL_MILLIHERTZ)
}

fn ask(connection: &RustConnection, root: Window) -> Option<u32> {
    connection.randr_query_version(RANDR.0, RANDR.1).ok()?.reply().ok()?;
    let resources = connection.randr_get_screen_resources_current(root).ok()?.reply().ok()?;
    let stamp = resources.config_timestamp;
    let primary = connection.randr_get_output_primary(root).ok()?.reply().ok()?.output;
    let primary = connection.randr_get_output_info(primary, stamp).ok()?.reply().ok().map(|output| output.crtc);
    let crtcs = primary.into_iter().chain(resources.crtcs);
    let mode_of = |crtc| Some(connection.randr_get_crtc_info(crtc, stamp).ok()?.reply().ok()?.mode);
    let mode = crtcs.filter(|crtc| *crtc != 0).filter_map(mode_of).find(|mode| *mode != 0)?;
    rate(resources.modes.iter().find(|known| known.id == mode)?)
}

/// The rate of a mode in mHz: its pixel clock divided by its total pixels, including the blanking.
fn rate(mode: &ModeInfo) -> Option<u32> {
    let flags = mode.mode_flags;
    let lines = match () {
        () if flags.contains(ModeFlag::DOUBLE_SCAN) => u64::from(mode.vtotal) * 2,
        () if flags.contains(ModeFlag::INTERLACE) => u64::from(mode.vtotal).div_ceil(2),
        () => u64::from(mode.vtotal),
    };
    let rate = (u64::from(mode.dot_clock) * 1_000).checked_div(u64::from(mode.htotal) * lines)?;
    u32::try_from(rate).ok().filter(|rate| BELIEVED_MILLIHERTZ.contains(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(dot_clock: u32, htotal: u16, vtotal: u16) -> ModeInfo {
        ModeInfo { dot_clock, htotal, vtotal, ..ModeInfo::default() }
    }

    #[test]
    fn the_rate_is_that_of_the_timing() {
        assert_eq!(rate(&mode(148_500_000, 2200, 1125)), Some(60_000));
        assert_eq!(rate(&mode(533_250_000, 2000, 1850)), Some(144_121));
        let interlaced = ModeInfo { mode_flags: ModeFlag::INTERLACE, ..mode(74_250_000, 2200, 1125) };
        assert_eq!(rate(&interlaced), Some(59_946), "fields, not frames");
    }

    #[test]
    fn a_server_without_a_monitor_says_nothing() {
        assert_eq!(rate(&mode(0, 0, 0)), None);
        assert_eq!(rate(&mode(0, 1024, 768)), None);
        assert_eq!(rate(&mode(u32::MAX, 1, 1)), None);
    }
}
