//! The dialog that asks whether to end the session, above all windows.

use smithay::output::Output;
use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use super::{DIM, HEADING, OverlayCache, OverlayColour, OverlayPart, OverlaySheet, PANEL, TEXT, Typeface};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use crate::shell::end_session_question::{EndSessionAnswer, QuestionLayout};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Instant;

const BUTTON: OverlayColour = [1.0, 1.0, 1.0, 0.10];
const SELECTED: OverlayColour = [0.45, 0.65, 1.0, 0.45];
/// Lengths in logical pixels: the height of text, from the top of the panel to the heading and from there to the text.
const TEXT_HEIGHT: f64 = 16.0;
const HEADING_HEIGHT: f64 = 20.0;
const TOP: f64 = 24.0;
const LINE: f64 = 34.0;
/// Corner radii in logical pixels.
const RADIUS: f64 = 16.0;
const BUTTON_RADIUS: f64 = 8.0;
const ASKS: &str = "End the session?";
const SAYS: &str = "Its programs end with it.";
const END: &str = "End (Enter)";
const STAY: &str = "Stay (Escape)";

/// Draws the dialog as seen at `present`. Call this before the windows are added, so that it is on top.
pub fn show(
    shell: &Shell,
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &Output),
    present: Instant,
) {
    let question = shell.overlays().question();
    let here = shell.workspaces().screen(&output.name());
    if here.is_none() || question.on != here {
        return;
    }
    let scale = output.current_scale().fractional_scale();
    let area = geometry(output);
    let places = QuestionLayout::on(area.to_f64());
    let mut sheet = OverlaySheet { scene, kept, output: id, area, scale, opacity: question.shown.at(present) };
    let (bold, plain) = (Typeface::new(HEADING_HEIGHT * scale, true), Typeface::new(TEXT_HEIGHT * scale, false));
    let panel = sheet.rect(places.panel);
    let line = |rect: Rectangle<i32, Physical>, top: i32| {
        move |size: Size<i32, Physical>| rect.loc + Point::from(((rect.size.w - size.w) / 2, top))
    };
    let (top, below) = (sheet.physical(TOP), sheet.physical(TOP + LINE));
    sheet.text(OverlayPart::Question(0), &bold.fit(ASKS, panel.size.w), bold, HEADING, line(panel, top));
    sheet.text(OverlayPart::Question(1), &plain.fit(SAYS, panel.size.w), plain, TEXT, line(panel, below));
    for (index, (button, says, answer)) in
        [(places.end, END, EndSessionAnswer::End), (places.stay, STAY, EndSessionAnswer::Stay)].into_iter().enumerate()
    {
        let rect: Rectangle<f64, Logical> = button;
        let rect = sheet.rect(rect);
        let middle = |size: Size<i32, Physical>| {
            rect.loc + Point::from(((rect.size.w - size.w) / 2, (rect.size.h - size.h) / 2))
        };
        sheet.text(OverlayPart::Answer(index), &plain.fit(says, rect.size.w), plain, HEADING, middle);
        let colour = if question.selected == answer { SELECTED } else { BUTTON };
        sheet.panel(OverlayPart::Button(index), rect, BUTTON_RADIUS, colour);
    }
    sheet.panel(OverlayPart::QuestionPanel, panel, RADIUS, PANEL);
    let all = sheet.rect(area.to_f64());
    sheet.panel(OverlayPart::QuestionDim, all, 0.0, DIM);
}
