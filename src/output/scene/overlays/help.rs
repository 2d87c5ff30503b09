//! The list of keyboard shortcuts, above all windows.

use smithay::output::Output;
use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use super::{DIM, HEADING, OverlayCache, OverlayColour, OverlayPart, OverlaySheet, PANEL, PaintPage, TEXT, Typeface};
use crate::bindings::{Bindings, HeldModifiers, ShortcutAction};
use crate::output::geometry;
use crate::scene::{EffectPicture, Scene};
use crate::shell::Shell;
use crate::shell::workspaces::WorkspaceReference;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Instant;

const CAP: OverlayColour = [1.0, 1.0, 1.0, 0.10];
const KEY: OverlayColour = [0.66, 0.80, 1.0, 1.0];
const HINT: OverlayColour = [0.88, 0.90, 0.95, 0.6];
/// Lengths in logical pixels: the height of text, of a line, around everything, beside a key's name, between columns.
const TEXT_HEIGHT: f64 = 16.0;
const HEADING_HEIGHT: f64 = 24.0;
const LINE: f64 = 28.0;
/// Line height in a list of several columns.
const DENSE_LINE: f64 = 22.0;
const MARGIN: f64 = 32.0;
const CAP_MARGIN: f64 = 8.0;
const COLUMN_GAP: f64 = 20.0;
/// Corner radii of the panel and of keys.
const RADIUS: f64 = 16.0;
const CAP_RADIUS: f64 = 6.0;
const TITLE: &str = "Shortcuts";
const CLOSES: &str = "any key closes this list";
/// Text scales for a screen that is too small for the list: the first that fits is used.
const SHARES: [f64; 5] = [1.0, 0.85, 0.75, 0.65, 0.5];

/// Four keys for four directions, listed together as arrow keys.
const ARROWS: [&str; 4] = ["Left", "Right", "Up", "Down"];
const LETTERS: [&str; 4] = ["H", "J", "K", "L"];

/// Keys, and their action.
type ShortcutLine = (String, String);

/// The name for all four direction keys, if `keys` are the keys of one direction.
fn all_four(keys: &str) -> Option<String> {
    let held = |words: [&str; 4]| words.iter().find_map(|word| keys.strip_suffix(word)).map(str::to_owned);
    let arrows = held(ARROWS).map(|held| if held.ends_with('+') { format!("{held}arrows") } else { held });
    arrows.or_else(|| held(LETTERS).filter(|held| held.ends_with('+')).map(|held| format!("{held}H J K L")))
}

/// The lines of the list. The shortcuts for the nine workspaces share one line for each action.
fn lines(bindings: &Bindings) -> Vec<ShortcutLine> {
    let mut bound: Vec<_> = bindings.effective().filter(|(_, bound)| bound.action != ShortcutAction::None).collect();
    bound.sort_by_key(|(chord, bound)| (&bound.action, **chord));
    let mut lines: Vec<ShortcutLine> = Vec::new();
    for (chord, bound) in bound {
        let action = &bound.action;
        let keys = chord.name(bindings.modifier);
        let row = |to: &WorkspaceReference, about: &str| match (to, keys.strip_suffix(&to.to_string())) {
            (WorkspaceReference::Number(_), Some(held)) => (format!("{held}1..9"), about.to_owned()),
            _ => (keys.clone(), bound.description()),
        };
        let line = match action {
            ShortcutAction::Workspace(to) => row(to, "Workspace 1 to 9"),
            ShortcutAction::MoveToWorkspace(to) => row(to, "Window to workspace 1 to 9"),
            ShortcutAction::ColumnToWorkspace(to) => row(to, "Column to workspace 1 to 9"),
            // Keys without a modifier, such as media keys, are labelled on the keyboard.
            ShortcutAction::Run(_) if chord.held == HeldModifiers::default() => continue,
            _ if bound.about.is_none() && action.description_for_all_directions().is_some() => {
                let all = all_four(&keys).zip(action.description_for_all_directions());
                all.map_or((keys, bound.description()), |(keys, about)| (keys, about.to_owned()))
            }
            _ => (keys, bound.description()),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Layout of the panel, in physical pixels.
struct HelpLayout {
    lines: Vec<ShortcutLine>,
    face: Typeface,
    heading: Typeface,
    line: i32,
    margin: i32,
    cap_margin: i32,
    /// Lines in each column.
    rows: usize,
    columns: Vec<HelpColumn>,
    size: Size<i32, Physical>,
}

/// A column of lines: the positions of the keys and of their actions.
struct HelpColumn {
    left: i32,
    about: i32,
}

impl HelpLayout {
    /// At the output's scale, or smaller so that the list fits on the screen.
    fn new(lines: &[ShortcutLine], scale: f64, screen: Size<i32, Physical>) -> Self {
        let plans = SHARES.map(|share| scale * share).into_iter().map(|scale| Self::in_columns(lines, scale, screen.h));
        let mut plans = plans.peekable();
        loop {
            match plans.next() {
                Some(plan) if plans.peek().is_none() || plan.size.w <= screen.w && plan.size.h <= screen.h => {
                    return plan;
                }
                _ => {}
            }
        }
    }

    /// With as many columns as needed on a screen of that height.
    fn in_columns(lines: &[ShortcutLine], scale: f64, height: i32) -> Self {
        let pixels = |length: f64| (length * scale).round() as i32;
        let (face, heading) = (Typeface::new(TEXT_HEIGHT * scale, false), Typeface::new(HEADING_HEIGHT * scale, true));
        let (margin, cap_margin, gap) = (pixels(MARGIN), pixels(CAP_MARGIN), pixels(COLUMN_GAP));
        let count = i32::try_from(lines.len()).unwrap_or(i32::MAX).max(1);
        // The heading takes two lines, and the hint below the list another.
        let fits = |line: i32| ((height - 2 * margin) / line - 3).max(1);
        let line = if fits(pixels(LINE)) >= count { pixels(LINE) } else { pixels(DENSE_LINE) };
        let columns = (count - 1) / fits(line) + 1;
        let rows = (count - 1) / columns + 1;
        let below = usize::try_from(rows).unwrap_or(1);
        let mut right = margin;
        let columns = lines.chunks(below).map(|lines| {
            let widest =
                |of: fn(&ShortcutLine) -> &String| lines.iter().map(|line| face.width(of(line))).max().unwrap_or(0);
            let left = right;
            let about = left + widest(|(keys, _)| keys) + 2 * cap_margin + gap;
            right = about + widest(|(_, about)| about) + margin;
            HelpColumn { left, about }
        });
        let columns = columns.collect();
        let size = Size::from((right, 2 * margin + (rows + 3) * line));
        HelpLayout { lines: lines.to_vec(), face, heading, line, margin, cap_margin, rows: below, columns, size }
    }

    fn column(&self, index: usize) -> Option<&HelpColumn> {
        self.columns.get(index / self.rows)
    }

    /// The top of a line's text.
    fn row(&self, index: usize) -> i32 {
        let above = i32::try_from(index % self.rows).unwrap_or(i32::MAX) * self.line;
        self.margin + self.line * 3 / 2 + above + (self.line - self.face.height()) / 2
    }

    fn draw(&self) -> EffectPicture {
        let mut page = PaintPage::new(self.size);
        page.write((self.margin, self.margin).into(), TITLE, self.heading, HEADING);
        for (index, (keys, about)) in self.lines.iter().enumerate() {
            let top = self.row(index);
            let Some(column) = self.column(index) else { continue };
            page.write((column.left + self.cap_margin, top).into(), keys, self.face, KEY);
            page.write((column.about, top).into(), about, self.face, TEXT);
        }
        let bottom = self.size.h - self.margin - self.face.height();
        page.write((self.margin, bottom).into(), CLOSES, self.face, HINT);
        page.finish()
    }
}

/// Draws the list as seen at `present`. Call this before the windows are added, so that the list is on top.
pub fn show(
    shell: &Shell,
    bindings: &Bindings,
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &Output),
    present: Instant,
) {
    let here = shell.workspaces().screen(&output.name());
    if here.is_none() || shell.overlays().help_on() != here {
        return;
    }
    let scale = output.current_scale().fractional_scale();
    let area = geometry(output);
    let screen = scene.size;
    let opacity = shell.overlays().help().at(present);
    let mut sheet = OverlaySheet { scene, kept, output: id, area, scale, opacity };
    let plan = HelpLayout::new(&lines(bindings), scale, screen);
    let corner = Point::from(((screen.w - plan.size.w).max(0) / 2, (screen.h - plan.size.h).max(0) / 2));
    let says = (format!("{:?}", plan.lines), plan.face, [0; 4]);
    let known = sheet.kept.texts.get(&(id, OverlayPart::Keys)).filter(|known| known.says == says);
    let picture = known.map_or_else(|| plan.draw(), |known| known.picture.clone());
    sheet.kept.texts.insert((id, OverlayPart::Keys), super::CachedText { says, picture: picture.clone() });
    sheet.picture(OverlayPart::Keys, corner, picture);
    let cap_height = plan.line - (4.0 * scale).round() as i32;
    for (index, (keys, _)) in plan.lines.iter().enumerate() {
        let top = corner.y + plan.row(index) - (cap_height - plan.face.height()) / 2;
        let size = Size::from((plan.face.width(keys) + 2 * plan.cap_margin, cap_height));
        let left = plan.column(index).map_or(0, |column| column.left);
        let rect = Rectangle::new(Point::from((corner.x + left, top)), size);
        sheet.panel(OverlayPart::KeyCap(index), rect, CAP_RADIUS, CAP);
    }
    sheet.panel(OverlayPart::Panel, Rectangle::new(corner, plan.size), RADIUS, PANEL);
    let all: Rectangle<f64, Logical> = area.to_f64();
    let all = sheet.rect(all);
    sheet.panel(OverlayPart::Dim, all, 0.0, DIM);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_default_shortcuts_fits_on_a_small_screen() {
        let lines = lines(&Bindings::default());
        let says = |keys: &str| lines.iter().any(|(known, _)| known == keys);
        assert!(says("Super+arrows") && says("Super+Shift+H J K L") && says("Super+1..9") && says("Super+Alt+L"));
        assert!(says("Super+Wheel"), "{lines:?}");
        // A small window, a laptop with large text, a phone upright and on its side.
        let screens =
            [(1.0, (1280, 720)), (1.5, (1600, 1000)), (2.0, (1920, 1080)), (2.0, (720, 1440)), (2.0, (1440, 720))];
        for (scale, screen) in screens {
            let plan = HelpLayout::new(&lines, scale, screen.into());
            assert!(plan.size.w <= screen.0 && plan.size.h <= screen.1, "{scale} {screen:?} {:?}", plan.size);
            let last = plan.lines.len() - 1;
            assert!(plan.column(last).unwrap().about < plan.size.w && plan.row(last) + plan.line < plan.size.h);
        }
        let usual = HelpLayout::new(&lines, 1.0, (2560, 1440).into());
        assert_eq!(
            (usual.face, usual.heading),
            (Typeface::new(TEXT_HEIGHT, false), Typeface::new(HEADING_HEIGHT, true))
        );
    }
}
