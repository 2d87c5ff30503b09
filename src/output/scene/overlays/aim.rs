//! Marks where a dragged window would go if it were dropped now.

use smithay::output::Output;

use super::{OverlayCache, OverlayColour, OverlayPart, OverlaySheet};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use upbeat_timing::id::OutputId;

/// Light and translucent, so that the windows below stay visible.
const COLOUR: OverlayColour = [0.55, 0.66, 0.90, 0.35];
/// Lengths in logical pixels: the margin around the mark, the radius of its corners.
const MARGIN: f64 = 8.0;
const RADIUS: f64 = 10.0;

/// Draws the mark if it is on this output.
pub fn show(shell: &Shell, kept: &mut OverlayCache, scene: &mut Scene, (id, output): (OutputId, &Output)) {
    let Some(rect) = shell.snap_preview().map(|aim| aim.rect()).filter(|rect| geometry(output).overlaps(*rect)) else {
        return;
    };
    let scale = output.current_scale().fractional_scale();
    let mut sheet = OverlaySheet { scene, kept, output: id, area: geometry(output), scale, opacity: 1.0 };
    let mut rect = rect.to_f64();
    rect.loc += (MARGIN, MARGIN).into();
    rect.size.w = (rect.size.w - 2.0 * MARGIN).max(1.0);
    rect.size.h = (rect.size.h - 2.0 * MARGIN).max(1.0);
    let rect = sheet.rect(rect);
    sheet.panel(OverlayPart::Aim, rect, RADIUS, COLOUR);
}
