//! Notices, above all windows, at the top of the focused output.

use smithay::output::Output;
use smithay::utils::{Physical, Point, Rectangle, Size};

use super::{OverlayCache, OverlayColour, OverlayPart, OverlaySheet, Typeface};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use crate::shell::notices::EndedClientNotice;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Instant;

const PANEL: OverlayColour = [0.20, 0.11, 0.12, 0.96];
/// Background of notices that report no failure.
const CALM_PANEL: OverlayColour = [0.11, 0.13, 0.18, 0.96];
const HEADING: OverlayColour = [1.0, 1.0, 1.0, 1.0];
const TEXT: OverlayColour = [0.95, 0.88, 0.88, 1.0];
/// Lengths in logical pixels: the height of text, of a line, around it, between notices, and from the top of the
/// output.
const TEXT_HEIGHT: f64 = 16.0;
const LINE: f64 = 26.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 10.0;
const TOP: f64 = 24.0;
/// Radius of corners in logical pixels.
const RADIUS: f64 = 12.0;
/// Most lines of a notice; longer text is cut.
const MOST_LINES: usize = 4;
/// Share of the output's width that notices leave free.
const FREE_SHARE: f64 = 0.1;

fn heading(notice: &EndedClientNotice) -> String {
    let program = if notice.ended.program.is_empty() { "A program" } else { &notice.ended.program };
    match notice.times {
        1 => format!("{program} was ended"),
        times => format!("{program} was ended {times} times"),
    }
}

/// Heading of an error in the configuration.
const MISTAKE: &str = "The configuration is wrong; the previous settings stay in force";
/// The same heading if no earlier configuration was loaded.
const NO_CONFIGURATION: &str = "The configuration is wrong; the built-in defaults are in force";

/// Breaks a text into lines of at most `letters` letters; the last line may be longer.
fn lines(text: &str, letters: usize) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() && lines.len() < MOST_LINES {
        let end = rest.char_indices().nth(letters).map_or(rest.len(), |(end, _)| end);
        // The caller cuts the last line when it draws it.
        let is_last = end == rest.len() || lines.len() + 1 == MOST_LINES;
        let at = if is_last {
            rest.len()
        } else if rest[end..].starts_with(' ') {
            end
        } else {
            rest[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end)
        };
        let (line, after) = rest.split_at(at);
        lines.push(line.to_owned());
        rest = after.trim_start();
    }
    lines
}

fn reason(notice: &EndedClientNotice) -> String {
    format!("Reason: {}", notice.ended.reason)
}

/// Draws the notices as seen at `present`. Call this before the windows are added, so that they are on top.
pub fn show(
    shell: &Shell,
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &Output),
    present: Instant,
) {
    let notices = shell.overlays().notices();
    let here = shell.workspaces().screen(&output.name());
    if here.is_none() || notices.screen != here {
        return;
    }
    let scale = output.current_scale().fractional_scale();
    let screen = scene.size;
    let mut sheet =
        OverlaySheet { scene, kept, output: id, area: geometry(output), scale, opacity: notices.shown.at(present) };
    let (bold, plain) = (Typeface::new(TEXT_HEIGHT * scale, true), Typeface::new(TEXT_HEIGHT * scale, false));
    let (line, margin) = (sheet.physical(LINE), sheet.physical(MARGIN));
    let widest = (f64::from(screen.w) * (1.0 - FREE_SHARE)) as i32 - 2 * margin;
    let letters = usize::try_from(widest / plain.width("m").max(1)).unwrap_or(0).max(1);
    let above = if notices.on_defaults { NO_CONFIGURATION } else { MISTAKE };
    let mistake = notices.config_error().map(|text| (above.to_owned(), lines(text, letters), PANEL));
    let ended = notices.seen().map(|notice| (heading(notice), vec![reason(notice)], PANEL));
    let results = notices.messages().map(|message| {
        let panel = if message.is_failure { PANEL } else { CALM_PANEL };
        (message.heading.clone(), lines(&message.text, letters), panel)
    });
    let mut top = sheet.physical(TOP);
    for (place, (heading, texts, colour)) in mistake.into_iter().chain(results).chain(ended).enumerate() {
        let write = |face: Typeface, text: String| face.fit(&face.legible(&text).unwrap_or(text), widest);
        let heading = write(bold, heading);
        let texts: Vec<String> = texts.into_iter().map(|text| write(plain, text)).collect();
        let width = texts.iter().map(|text| plain.width(text)).fold(bold.width(&heading), i32::max) + 2 * margin;
        let count = 1 + i32::try_from(texts.len()).unwrap_or(0);
        let size = Size::<i32, Physical>::from((width, count * line + 2 * margin - (line - plain.height())));
        let panel = Rectangle::new(Point::from(((screen.w - width) / 2, top)), size);
        let at = panel.loc + Point::from((margin, margin));
        sheet.text(OverlayPart::NoticeHeading(place), &heading, bold, HEADING, |_| at);
        for (row, text) in (1..).zip(&texts) {
            sheet.text(OverlayPart::NoticeText(place, row), text, plain, TEXT, |_| at + Point::from((0, row * line)));
        }
        sheet.panel(OverlayPart::Notice(place), panel, RADIUS, colour);
        top += size.h + sheet.physical(GAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_have_lines_that_fit_and_not_too_many() {
        assert_eq!(lines("a sentence that is long", 10), ["a sentence", "that is", "long"]);
        assert_eq!(lines("/one/word/that/is/long", 10), ["/one/word/", "that/is/lo", "ng"]);
        assert_eq!(lines("", 10), [""; 0]);
        let long = lines(&"word ".repeat(100), 5);
        assert_eq!((long.len(), long[0].as_str()), (MOST_LINES, "word"));
    }
}
