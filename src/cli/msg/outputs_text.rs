//! The text of `upbeat msg outputs`.

use super::table::{TextTable, millis, printable};
use upbeat_record::ipc::message::{DriverFeatures, OutputInfo, ScanTiming};

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

/// A table of the outputs, and lines about the renderer and the drivers.
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
    format!("{table}{}{}", drawn_by.unwrap_or_default(), drivers.collect::<String>())
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
