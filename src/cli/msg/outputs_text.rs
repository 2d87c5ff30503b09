//! The text of `upbeat msg outputs`.

use super::table::{TextTable, millis, printable};
use upbeat_record::ipc::message::{DisabledOutput, DriverFeatures, OutputInfo, OutputRotation, ScanTiming};

/// Headings of the table. A heading that starts with a space is that of a right-aligned column.
pub(super) const OUTPUT_COLUMNS: [&str; 13] = [
    "output",
    "mode",
    "at",
    " scale",
    "turned",
    "on",
    "asked",
    "paced",
    " interval",
    " submit lead",
    " compose",
    "scanned",
    "monitor",
];

/// A table of the outputs, and lines about the renderer, the rotation and the drivers.
pub(super) fn outputs_text(outputs: &[OutputInfo]) -> String {
    let mut table = TextTable::new(&OUTPUT_COLUMNS);
    for output in outputs {
        table.row(vec![
            output.name.clone(),
            output.mode.to_string(),
            format!("{},{}", output.geometry.x, output.geometry.y),
            format!("{}{}", output.scale, if output.scale_is_guessed { " (guessed)" } else { "" }),
            printable(&output.transform),
            if output.on { "yes" } else { "no" }.to_owned(),
            output.wish.to_string(),
            output.pacing.to_string(),
            millis(output.interval),
            millis(output.submit_lead),
            millis(output.compose_budget),
            output.scan.map_or_else(|| "unknown".to_owned(), scan_text),
            output.monitor.as_deref().map(printable).unwrap_or_default(),
        ]);
    }
    // One renderer draws for all outputs.
    let drawn_by = outputs.first().map(|output| format!("\ndrawn by {}\n", printable(&output.drawn_by)));
    let drivers = outputs.iter().filter_map(|output| Some(driver_text(&output.name, output.driver.as_ref()?)));
    let rotations = outputs.iter().filter_map(|output| Some(rotation_text(&output.name, output.rotation.as_ref()?)));
    format!("{table}{}{}{}", drawn_by.unwrap_or_default(), rotations.collect::<String>(), drivers.collect::<String>())
}

/// The outputs that are not part of the layout, a line each.
pub(super) fn disabled_text(disabled: &[DisabledOutput]) -> String {
    let line = |output: &DisabledOutput| {
        let monitor = output.monitor.as_deref().map(|monitor| format!(", {}", printable(monitor))).unwrap_or_default();
        format!("{} is disabled ({}{monitor})\n", output.name, output.mode)
    };
    disabled.iter().map(line).collect()
}

/// How one output turns with the device, in a line.
fn rotation_text(output: &str, rotation: &OutputRotation) -> String {
    let turns = if rotation.locked { "does not turn with the device (rotation lock)" } else { "turns with the device" };
    let device = rotation.orientation.as_deref().map_or_else(|| "not known".to_owned(), printable);
    format!("{output} {turns}; orientation of the device: {device}\n")
}

/// The features of one output's driver, in a line.
fn driver_text(output: &str, driver: &DriverFeatures) -> String {
    let flips = match (driver.async_atomic_flips, driver.async_legacy_flips) {
        (true, true) => "atomic and legacy",
        (true, false) => "atomic",
        (false, true) => "legacy",
        (false, false) => "none",
    };
    let planes = match &driver.async_planes {
        Some(planes) if planes.is_empty() => " (on no plane)".to_owned(),
        Some(planes) => format!(" (on {})", planes.join(", ")),
        None => String::new(),
    };
    let cursor = match driver.cursor_moves {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not tried, a cursor was on screen",
    };
    let dirtyfb = match driver.needs_dirtyfb {
        Some(true) => "needed",
        Some(false) => "not needed",
        None => "unclear",
    };
    let name = printable(&driver.name);
    format!(
        "{output}, driver {name}: asynchronous flips: {flips}{planes}; legacy cursor moves: {cursor}; DIRTYFB: {dirtyfb}\n"
    )
}

/// Direction and speed of the scan-out, such as `720 lines down, 22.2 µs each`.
fn scan_text(scan: ScanTiming) -> String {
    let micros = scan.line_time.as_nanos() as f64 / 1_000.0;
    format!("{} lines {}, {micros:.1} µs each", scan.lines, scan.direction.word())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use upbeat_record::ipc::message::OutputMode;

    #[test]
    fn rotation_is_one_line_an_output() {
        let free = OutputRotation { locked: false, orientation: None };
        let locked = OutputRotation { locked: true, orientation: Some("left-up".to_owned()) };
        expect![[r#"
            DSI-1 turns with the device; orientation of the device: not known
            eDP-1 does not turn with the device (rotation lock); orientation of the device: left-up
        "#]]
        .assert_eq(&(rotation_text("DSI-1", &free) + &rotation_text("eDP-1", &locked)));
    }

    #[test]
    fn disabled_outputs_are_one_line_each() {
        let mode: OutputMode = "1280x720@60".parse().unwrap();
        let disabled = |name: &str, monitor: Option<&str>| DisabledOutput {
            name: name.to_owned(),
            mode,
            monitor: monitor.map(str::to_owned),
            enabled: false,
        };
        expect![[r#"
            DP-1 is disabled (1280x720@60, DEL U2720Q)
            HEADLESS-1 is disabled (1280x720@60)
        "#]]
        .assert_eq(&disabled_text(&[disabled("DP-1", Some("DEL U2720Q")), disabled("HEADLESS-1", None)]));
    }

    #[test]
    fn driver_features_are_one_line_an_output() {
        let unable = DriverFeatures { name: "virtio_gpu".to_owned(), needs_dirtyfb: Some(true), ..Default::default() };
        let able = DriverFeatures {
            name: "i915".to_owned(),
            async_atomic_flips: true,
            async_legacy_flips: true,
            async_planes: Some(vec!["primary-31".to_owned(), "overlay-40".to_owned()]),
            cursor_moves: Some(true),
            needs_dirtyfb: Some(false),
        };
        expect![[r#"
            Virtual-1, driver virtio_gpu: asynchronous flips: none; legacy cursor moves: not tried, a cursor was on screen; DIRTYFB: needed
            DP-1, driver i915: asynchronous flips: atomic and legacy (on primary-31, overlay-40); legacy cursor moves: yes; DIRTYFB: not needed
        "#]]
        .assert_eq(&(driver_text("Virtual-1", &unable) + &driver_text("DP-1", &able)));
    }
}
