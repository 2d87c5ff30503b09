//! The performance HUD above all windows: where the time of the last frames went, which were missed and why, and how
//! windows are paced.
//!
//! ```text
//!   TEST-1 60 Hz: drawn 0.4 ms, to light 8.1 ms, this 0.2 ms
//!   │        ▂▂▂▂▂│▂▂▂▂▂▂▂    a column for each frame, from the latch up: CPU drawing, GPU drawing, hand-over, waiting
//!   └─────────────────────    as high as two refreshes; the whole column is red where the frame was missed
//!   foot: just-in-time, draws, input to light 9.2 ms
//! ```
//!
//! The HUD is redrawn only in frames that are composed anyway, and shows the frames before. It causes no frame by
//! itself, so it stays unchanged while the screen does.

use smithay::output::Output;
use smithay::utils::{Physical, Point, Rectangle, Size};

use super::{CachedText, OverlayCache, OverlayColour, OverlayPart, OverlaySheet, PaintPage, Typeface};
use crate::output::geometry;
use crate::scene::{EffectKind, EffectPicture, Scene};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Span;

/// Number of frames shown.
pub const FRAMES: usize = 240;
/// Most windows, and most miss reasons, that are listed; then the most lines of a reason.
pub const WORDS: usize = 3;
const FOLDED: usize = 2;
/// Lines below the columns.
const LINES: usize = WORDS + WORDS * FOLDED;
const BEHIND: OverlayColour = [0.04, 0.05, 0.08, 0.85];
const TEXT: OverlayColour = [0.93, 0.95, 1.0, 1.0];
const MISSED: OverlayColour = [0.85, 0.25, 0.25, 1.0];
const DEADLINE: OverlayColour = [1.0, 1.0, 1.0, 0.35];
/// Colours of a frame's stages: drawn by the CPU, by the GPU, handed over, waits for its refresh.
const STAGES: [OverlayColour; 4] =
    [[0.36, 0.62, 1.0, 1.0], [0.72, 0.48, 1.0, 1.0], [0.40, 0.80, 0.55, 1.0], [0.30, 0.34, 0.42, 1.0]];
/// Lengths in logical pixels: of a column, of two refreshes, of a line, of text, around everything, from the edge of
/// the screen.
const COLUMN: f64 = 2.0;
const HEIGHT: f64 = 80.0;
const LINE: f64 = 20.0;
const TEXT_HEIGHT: f64 = 16.0;
const MARGIN: f64 = 8.0;
const OFF: f64 = 12.0;
/// Height of the columns in refreshes.
const REFRESHES: f64 = 2.0;

/// A frame's column in the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameColumn {
    /// Duration of each stage, in refreshes.
    pub stages: [f64; 4],
    /// Whether the frame missed its refresh.
    pub missed: bool,
}

/// Content of the HUD.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HudFigures {
    pub frames: Vec<FrameColumn>,
    /// The first line stands above the columns.
    pub lines: Vec<String>,
}

/// A duration in milliseconds, formatted for users.
pub fn milliseconds(span: Span) -> String {
    format!("{:.1} ms", span.as_millis_f64())
}

fn size(scale: f64) -> Size<i32, Physical> {
    let physical = |length: f64| (length * scale).round() as i32;
    let width = FRAMES as i32 * physical(COLUMN).max(1) + 2 * physical(MARGIN);
    (width, physical(HEIGHT) + (LINES as i32 + 1) * physical(LINE) + 2 * physical(MARGIN)).into()
}

fn draw(figures: &HudFigures, scale: f64) -> EffectPicture {
    let physical = |length: f64| (length * scale).round() as i32;
    let size = size(scale);
    let (margin, line, column, height) =
        (physical(MARGIN), physical(LINE), physical(COLUMN).max(1), physical(HEIGHT).max(1));
    let face = Typeface::new(TEXT_HEIGHT * scale, false);
    let mut page = PaintPage::new(size);
    page.fill(Rectangle::from_size(size), BEHIND);
    let bottom = margin + line + height;
    let pixels = |refreshes: f64| (refreshes / REFRESHES * f64::from(height)).round() as i32;
    for (index, frame) in (0..).zip(&figures.frames) {
        let left = margin + index * column;
        if frame.missed {
            page.fill(Rectangle::new((left, bottom - height).into(), (column, height).into()), MISSED);
        }
        let mut from = 0.0;
        for (length, colour) in frame.stages.iter().zip(STAGES) {
            let (low, high) = (pixels(from).min(height), pixels(from + length).min(height));
            page.fill(Rectangle::new((left, bottom - high).into(), (column, high - low).into()), colour);
            from += length;
        }
    }
    let deadline = bottom - pixels(1.0);
    page.fill(Rectangle::new((margin, deadline).into(), (size.w - 2 * margin, 1).into()), DEADLINE);
    let width = size.w - 2 * margin;
    let (heading, others) =
        figures.lines.split_first().map_or(("", &[][..]), |(first, others)| (first.as_str(), others));
    let folded = others.iter().flat_map(|text| fold(&face.legible(text).unwrap_or_default(), face, width));
    let rows = std::iter::once(face.fit(&face.legible(heading).unwrap_or_default(), width)).chain(folded);
    for (row, text) in (0..).zip(rows.take(LINES + 1)) {
        let top = if row == 0 { margin } else { bottom + (row - 1) * line + (line - face.height()) / 2 };
        page.write(Point::from((margin, top)), &text, face, TEXT);
    }
    page.finish()
}

/// Breaks a sentence into lines of at most `width`, and cuts it after [`FOLDED`] lines.
fn fold(text: &str, face: Typeface, width: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let may_grow = lines.len() == FOLDED;
        match lines.last_mut() {
            Some(line) if may_grow || face.width(line) + face.width(" ") + face.width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            // Continuation lines are indented.
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| face.fit(line, width)).collect()
}

/// Adds the HUD as last drawn. Call this before the windows are added. `figures` is called only for the first picture.
pub fn show(
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &Output),
    figures: impl FnOnce() -> HudFigures,
) {
    let scale = output.current_scale().fractional_scale();
    let (area, size) = (geometry(output), size(scale));
    let is_known = kept.texts.get(&(id, OverlayPart::Hud)).is_some_and(|known| known.picture.image().width == size.w);
    if !is_known {
        keep(kept, id, draw(&figures(), scale));
    }
    let Some(picture) = kept.texts.get(&(id, OverlayPart::Hud)).map(|known| known.picture.clone()) else { return };
    let screen = scene.size;
    let mut sheet = OverlaySheet { scene, kept, output: id, area, scale, opacity: 1.0 };
    let off = sheet.physical(OFF);
    sheet.picture(OverlayPart::Hud, Point::from(((screen.w - size.w - off).max(0), off)), picture);
}

/// Redraws the HUD of a scene that is about to be composed, if it has one.
pub fn renew(
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &Output),
    figures: impl FnOnce() -> HudFigures,
) {
    let Some(name) = kept.names.get(&(id, OverlayPart::Hud)).cloned() else { return };
    let Some(effect) = scene.effects.iter_mut().find(|effect| effect.id == name) else { return };
    if let EffectKind::Picture { picture, .. } = &mut effect.kind {
        *picture = draw(&figures(), output.current_scale().fractional_scale());
        let picture = picture.clone();
        keep(kept, id, picture);
    }
}

fn keep(kept: &mut OverlayCache, id: OutputId, picture: EffectPicture) {
    let says = (String::new(), Typeface::new(TEXT_HEIGHT, false), [0; 4]);
    kept.texts.insert((id, OverlayPart::Hud), CachedText { says, picture });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_has_two_lines_and_no_more() {
        let face = Typeface::new(16.0, false);
        let width = face.width("0123456789");
        assert_eq!(fold("short", face, width), ["short"]);
        assert_eq!(fold("one two three", face, width), ["one two", "  three"]);
        assert_eq!(fold("one two three four five six", face, width), ["one two", "  three.."]);
        assert_eq!(fold("", face, width), [""]);
    }

    #[test]
    fn a_frame_is_a_column_of_its_stages_and_red_where_it_was_missed() {
        let frame = FrameColumn { stages: [0.25, 0.25, 0.0, 0.5], missed: false };
        let missed = FrameColumn { missed: true, ..frame };
        let figures = HudFigures { frames: vec![frame, missed], lines: vec!["TEST-1".to_owned(), "foot".to_owned()] };
        for scale in [1.0, 1.5, 2.0] {
            let picture = draw(&figures, scale);
            let image = picture.image();
            assert_eq!((image.width, image.height), (size(scale).w, size(scale).h));
            let physical = |length: f64| (length * scale).round() as i32;
            let at = |column: i32, refreshes: f64| {
                let x = physical(MARGIN) + column * physical(COLUMN);
                let y = physical(MARGIN) + physical(LINE) + physical(HEIGHT)
                    - (refreshes / REFRESHES * f64::from(physical(HEIGHT))) as i32;
                image.pixels[(y * image.width + x) as usize]
            };
            let stages = [at(0, 0.1), at(0, 0.4), at(0, 0.8)];
            assert!(stages[0] != stages[1] && stages[1] != stages[2], "{stages:x?}");
            assert_eq!([at(1, 0.1), at(1, 0.4), at(1, 0.8)], stages);
            assert_ne!(at(1, 1.5), at(0, 1.5), "the part above is red");
            assert_eq!(at(2, 1.5), at(0, 1.5), "there is no third one");
        }
    }
}
