//! The text on a locked screen after its lock client has gone.

use smithay::output::Output;
use smithay::utils::{Physical, Point, Size};

use super::{OverlayCache, OverlayColour, OverlayPart, OverlaySheet, Typeface};
use crate::output::geometry;
use crate::scene::Scene;
use upbeat_timing::id::OutputId;

const HEADING: OverlayColour = [0.95, 0.95, 0.97, 1.0];
const TEXT: OverlayColour = [0.68, 0.70, 0.76, 1.0];
/// Heights of text and of a line, in logical pixels.
const HEADING_HEIGHT: f64 = 28.0;
const TEXT_HEIGHT: f64 = 16.0;
const LINE: f64 = 28.0;
/// Share of the output's width that text leaves free.
const FREE_SHARE: f64 = 0.1;

const SAYS: [&str; 3] = [
    "Locked",
    "The program that locked the screen has ended.",
    "Start a screen locker in this session to unlock it, for instance from a text console (Ctrl+Alt+F2).",
];

/// Draws the text in the middle of an output.
pub fn show(kept: &mut OverlayCache, scene: &mut Scene, (id, output): (OutputId, &Output)) {
    let scale = output.current_scale().fractional_scale();
    let screen = scene.size;
    let mut sheet = OverlaySheet { scene, kept, output: id, area: geometry(output), scale, opacity: 1.0 };
    let widest = (f64::from(screen.w) * (1.0 - FREE_SHARE)) as i32;
    let (bold, plain) = (Typeface::new(HEADING_HEIGHT * scale, true), Typeface::new(TEXT_HEIGHT * scale, false));
    let line = sheet.physical(LINE);
    let mut top = screen.h / 2 - 2 * line;
    for (row, text) in SAYS.into_iter().enumerate() {
        let (face, colour) = if row == 0 { (bold, HEADING) } else { (plain, TEXT) };
        let text = face.fit(text, widest);
        let middle = |size: Size<i32, Physical>| Point::from(((screen.w - size.w) / 2, top));
        sheet.text(OverlayPart::Locked(row), &text, face, colour, middle);
        top += if row == 0 { 2 * line } else { line };
    }
}
