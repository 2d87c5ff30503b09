//! The row of workspaces that an output shows for a moment after a switch.

use smithay::output::Output;
use smithay::utils::{Physical, Point, Rectangle, Size};

use super::{HEADING, OverlayCache, OverlayColour, OverlayPart, OverlaySheet, TEXT, Typeface};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use crate::shell::workspaces::WorkspaceNumber;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Instant;

/// Background of the row: nearly opaque, so that the numbers can be read on any window.
const ROW: OverlayColour = [0.17, 0.20, 0.27, 0.92];
/// Cell of the visible workspace.
const ACTIVE: OverlayColour = [0.27, 0.41, 0.70, 1.0];
/// Number of a workspace without windows.
const EMPTY: OverlayColour = [0.88, 0.90, 0.95, 0.35];
/// Number of a workspace with an urgent window.
const URGENT: OverlayColour = [1.0, 0.64, 0.30, 1.0];
/// Lengths in logical pixels: the height of text, the side of a cell, the gap between cells and around them, and the
/// distance from the lower edge of the output.
const TEXT_HEIGHT: f64 = 20.0;
const CELL: f64 = 40.0;
const GAP: f64 = 6.0;
const BOTTOM: f64 = 56.0;
/// Radius of corners, in logical pixels.
const RADIUS: f64 = 12.0;
const CELL_RADIUS: f64 = 8.0;
/// Largest share of the output's width that the row covers: its cells are narrower on a small output.
const LARGEST_SHARE: f64 = 0.9;

/// Draws the indicator as seen at `present`. Returns whether it is visible. Call this before the windows are added, so
/// that it is on top.
pub fn show(
    shell: &Shell,
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &Output),
    present: Instant,
) -> bool {
    let screen = shell.workspaces().screen(&output.name());
    let opacity = screen.and_then(|screen| shell.overlays().indicators().opacity(screen, present));
    let row = shell.workspaces().rows().into_iter().find(|row| Some(row.screen) == screen);
    let (Some(opacity), Some(row)) = (opacity, row) else { return false };
    let scale = output.current_scale().fractional_scale();
    let size = scene.size;
    let mut sheet = OverlaySheet { scene, kept, output: id, area: geometry(output), scale, opacity };
    let (bold, plain) = (Typeface::new(TEXT_HEIGHT * scale, true), Typeface::new(TEXT_HEIGHT * scale, false));
    let count = WorkspaceNumber::all().count() as i32;
    let (gap, height) = (sheet.physical(GAP), sheet.physical(CELL));
    let room = (f64::from(size.w) * LARGEST_SHARE) as i32;
    let width = height.min((room - gap) / count - gap).max(1);
    let whole = Size::<i32, Physical>::from((count * (width + gap) + gap, height + 2 * gap));
    let bottom = sheet.physical(BOTTOM).min(size.h / 8);
    let panel = Rectangle::new(Point::from(((size.w - whole.w) / 2, size.h - bottom - whole.h)), whole);
    for (place, number) in (0..).zip(WorkspaceNumber::all()) {
        let corner = panel.loc + Point::from((gap + place * (width + gap), gap));
        let is_active = number == row.active;
        let (face, colour) = match () {
            () if is_active => (bold, HEADING),
            () if row.is_urgent(number) => (bold, URGENT),
            () if row.is_occupied(number) => (plain, TEXT),
            () => (plain, EMPTY),
        };
        sheet.text(OverlayPart::IndicatorNumber(number), &number.to_string(), face, colour, |text| {
            corner + Point::from(((width - text.w) / 2, (height - text.h) / 2))
        });
        if is_active {
            let cell = Rectangle::new(corner, Size::from((width, height)));
            sheet.panel(OverlayPart::IndicatorCell, cell, CELL_RADIUS, ACTIVE);
        }
    }
    sheet.panel(OverlayPart::IndicatorRow, panel, RADIUS, ROW);
    true
}
