//! Notices, above all else, at the top of the output that has the focus.

use smithay::output::Output;
use smithay::utils::{Physical, Point, Rectangle, Size};

use super::{Colour, Kept, Part, Sheet, Type};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use crate::shell::notices::Notice;
use crate::time::Instant;
use crate::timing::id::OutputId;

const PANEL: Colour = [0.20, 0.11, 0.12, 0.96];
const HEADING: Colour = [1.0, 1.0, 1.0, 1.0];
const TEXT: Colour = [0.95, 0.88, 0.88, 1.0];
/// Lengths in logical pixels: the height of text, of a line, around it, between notices, and from the top of the output.
const TEXT_HEIGHT: f64 = 16.0;
const LINE: f64 = 26.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 10.0;
const TOP: f64 = 24.0;
/// How round the corners are.
const RADIUS: f64 = 12.0;
/// Notices leave at least so much of the output's width free.
const FREE_SHARE: f64 = 0.1;

fn heading(notice: &Notice) -> String {
    let program = if notice.ended.program.is_empty() { "A program" } else { &notice.ended.program };
    match notice.times {
        1 => format!("{program} was ended"),
        times => format!("{program} was ended {times} times"),
    }
}

fn reason(notice: &Notice) -> String {
    format!("Reason: {}", notice.ended.reason)
}

/// Draws them into a scene that has nothing yet, as seen at `present`.
pub fn show(shell: &Shell, kept: &mut Kept, scene: &mut Scene, (id, output): (OutputId, &Output), present: Instant) {
    let notices = &shell.overlays.notices;
    let here = shell.workspaces.screen(&output.name());
    if here.is_none() || notices.on != here {
        return;
    }
    let scale = output.current_scale().fractional_scale();
    let screen = scene.size;
    let mut sheet =
        Sheet { scene, kept, output: id, area: geometry(output), scale, opacity: notices.shown.at(present) };
    let (bold, plain) = (Type::new(TEXT_HEIGHT * scale, true), Type::new(TEXT_HEIGHT * scale, false));
    let (line, margin) = (sheet.physical(LINE), sheet.physical(MARGIN));
    let widest = (f64::from(screen.w) * (1.0 - FREE_SHARE)) as i32 - 2 * margin;
    let mut top = sheet.physical(TOP);
    for (place, notice) in notices.seen().enumerate() {
        let write = |face: Type, text: String| face.fit(&face.legible(&text).unwrap_or(text), widest);
        let (heading, reason) = (write(bold, heading(notice)), write(plain, reason(notice)));
        let width = bold.width(&heading).max(plain.width(&reason)) + 2 * margin;
        let size = Size::<i32, Physical>::from((width, 2 * line + 2 * margin - (line - plain.height())));
        let panel = Rectangle::new(Point::from(((screen.w - width) / 2, top)), size);
        let at = panel.loc + Point::from((margin, margin));
        sheet.text(Part::NoticeHeading(place), &heading, bold, HEADING, |_| at);
        sheet.text(Part::NoticeReason(place), &reason, plain, TEXT, |_| at + Point::from((0, line)));
        sheet.panel(Part::Notice(place), panel, RADIUS, PANEL);
        top += size.h + sheet.physical(GAP);
    }
}
