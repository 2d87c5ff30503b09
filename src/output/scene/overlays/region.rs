//! Dims the screen outside the region that the user is selecting for a screenshot.

use smithay::output::Output;
use smithay::utils::Rectangle;

use super::{DIM, OverlayCache, OverlayPart, OverlaySheet};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use upbeat_timing::id::OutputId;

/// Dims the screen. Call this before the layers below are added.
pub fn show(shell: &Shell, kept: &mut OverlayCache, scene: &mut Scene, (id, output): (OutputId, &Output)) {
    let (area, scale) = (geometry(output), output.current_scale().fractional_scale());
    let mut sheet = OverlaySheet { scene, kept, output: id, area, scale, opacity: 1.0 };
    let all = sheet.rect(area.to_f64());
    let picked = shell.overlays().region().area().filter(|picked| area.to_f64().overlaps(*picked));
    let hole = picked.map_or(Rectangle::default(), |picked| sheet.rect(picked));
    sheet.frame(OverlayPart::RegionDim, all, hole, 0.0, DIM);
}
