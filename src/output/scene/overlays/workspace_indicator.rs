//! The row of workspaces that an output shows for a moment after a switch: numbers, then names.

use smithay::output::Output;
use smithay::utils::{Physical, Point, Rectangle, Size};

use super::{HEADING, OverlayCache, OverlayColour, OverlayPart, OverlaySheet, TEXT, Typeface};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use crate::shell::workspaces::{WorkspaceNumber, Workspaces};
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
/// Width of the longest name, in cells: longer names are shortened.
const LONGEST_NAME: i32 = 6;
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
    let (gap, height) = (sheet.physical(GAP), sheet.physical(CELL));
    let room = (f64::from(size.w) * LARGEST_SHARE) as i32;
    let (cells, width) = IndicatorCell::row(shell.workspaces(), row.active, (bold, plain), (gap, height, room));
    let whole = Size::<i32, Physical>::from((width, height + 2 * gap));
    let bottom = sheet.physical(BOTTOM).min(size.h / 8);
    let panel = Rectangle::new(Point::from(((size.w - whole.w) / 2, size.h - bottom - whole.h)), whole);
    let mut corner = panel.loc + Point::from((gap, gap));
    for IndicatorCell { number, label, width } in cells {
        let is_active = number == row.active;
        let (face, colour) = match () {
            () if is_active => (bold, HEADING),
            () if row.is_urgent(number) => (bold, URGENT),
            () if row.is_occupied(number) => (plain, TEXT),
            () => (plain, EMPTY),
        };
        sheet.text(OverlayPart::IndicatorNumber(number), &label, face, colour, |text| {
            corner + Point::from(((width - text.w) / 2, (height - text.h) / 2))
        });
        if is_active {
            let cell = Rectangle::new(corner, Size::from((width, height)));
            sheet.panel(OverlayPart::IndicatorCell, cell, CELL_RADIUS, ACTIVE);
        }
        corner.x += width + gap;
    }
    sheet.panel(OverlayPart::IndicatorRow, panel, RADIUS, ROW);
    true
}

/// A workspace in the row.
#[derive(Clone, Debug, PartialEq)]
struct IndicatorCell {
    number: WorkspaceNumber,
    /// Its name, shortened if it is long, or its number.
    label: String,
    /// In physical pixels.
    width: i32,
}

impl IndicatorCell {
    /// The cells of the row and its width, with lengths in physical pixels: the `gap` between cells, the `side` of a
    /// cell with a number, and the `room` for the row. A cell with a name is as wide as the name. Without names the
    /// cells are narrower if the room is small; with names the row has only the workspaces near the active one.
    fn row(
        workspaces: &Workspaces,
        active: WorkspaceNumber,
        (bold, plain): (Typeface, Typeface),
        (gap, side, room): (i32, i32, i32),
    ) -> (Vec<IndicatorCell>, i32) {
        let count = workspaces.numbers().count() as i32;
        let has_names = !workspaces.names().is_empty();
        let narrow = if has_names { side } else { side.min((room - gap) / count - gap).max(1) };
        let margins = side / 2;
        let longest = (LONGEST_NAME * side).min(room - 2 * gap - margins);
        let cell = |number: WorkspaceNumber| {
            let label = bold.fit(&super::workspace_label(workspaces, number, bold), longest);
            let text = bold.width(&label).max(plain.width(&label));
            let width = if workspaces.name_of(number).is_some() { side.max(text + margins) } else { narrow };
            IndicatorCell { number, label, width }
        };
        let cells: Vec<IndicatorCell> = workspaces.numbers().map(cell).collect();
        let cells = if has_names { near(&cells, active, gap, room) } else { cells };
        let whole = gap + cells.iter().map(|cell| cell.width + gap).sum::<i32>();
        (cells, whole)
    }
}

/// The active cell and as many beside it as the room has place for, on both sides in turn.
fn near(cells: &[IndicatorCell], active: WorkspaceNumber, gap: i32, room: i32) -> Vec<IndicatorCell> {
    let start = cells.iter().position(|cell| cell.number == active).unwrap_or(0);
    let (mut first, mut end) = (start, (start + 1).min(cells.len()));
    let mut left = room - gap - cells.get(start).map_or(0, |cell| cell.width + gap);
    loop {
        let before = (first, end);
        if let Some(next) = cells.get(end).filter(|next| next.width + gap <= left) {
            left -= next.width + gap;
            end += 1;
        }
        if let Some(previous) = first.checked_sub(1).map(|at| &cells[at]).filter(|cell| cell.width + gap <= left) {
            left -= previous.width + gap;
            first -= 1;
        }
        if before == (first, end) {
            return cells[first..end].to_vec();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of the row, in a room of this width at scale 1.
    fn labels(names: &[&str], active: u8, room: i32) -> Vec<String> {
        let mut workspaces = Workspaces::default();
        workspaces.rename(names.iter().map(|name| name.parse().unwrap()).collect());
        let faces = (Typeface::new(TEXT_HEIGHT, true), Typeface::new(TEXT_HEIGHT, false));
        let lengths = (GAP as i32, CELL as i32, room);
        let (cells, width) = IndicatorCell::row(&workspaces, active.try_into().unwrap(), faces, lengths);
        assert!(width <= room, "{width} > {room}: {cells:?}");
        for cell in &cells {
            assert!(faces.0.width(&cell.label) <= cell.width, "{cell:?}");
        }
        cells.into_iter().map(|cell| cell.label).collect()
    }

    #[test]
    fn names_follow_the_numbers_and_long_ones_are_shortened() {
        assert_eq!(labels(&[], 1, 1152).join(" "), "1 2 3 4 5 6 7 8 9");
        assert_eq!(labels(&[], 1, 200).len(), 9, "narrower cells");
        assert_eq!(labels(&["mail", "music"], 3, 1152).join(" "), "1 2 3 4 5 6 7 8 9 mail music");
        let long = labels(&["a name of thirty-two characters!"], 10, 1152).pop().unwrap();
        assert!(long.starts_with("a name of") && long.ends_with("..") && long.len() < 30, "{long}");
        assert_eq!(labels(&["東京"], 1, 1152).last().map(String::as_str), Some("10"), "no letters of that script");
    }

    #[test]
    fn row_that_is_too_wide_has_the_workspaces_near_the_active_one() {
        let names: Vec<String> = (1..=16).map(|index| format!("workspace {index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (active, shown) in [(1, "1"), (12, "workspace 3"), (25, "workspace 16")] {
            for room in [300, 640, 1152] {
                let row = labels(&names, active, room);
                assert!(row.iter().any(|label| label == shown), "{row:?} in {room}");
            }
        }
        assert!(labels(&names, 12, 1152).len() > 5);
        assert_eq!(labels(&names, 12, 3_840).len(), 25);
    }
}
