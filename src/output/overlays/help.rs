//! The list of shortcuts, above all else.

use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{Colour, DIM, HEADING, Kept, PANEL, Page, Part, Sheet, TEXT, Type};
use crate::bindings::{Action, Bindings, Held};
use crate::output::geometry;
use crate::scene::{Picture, Scene};
use crate::shell::Shell;
use crate::time::Instant;
use crate::timing::id::OutputId;

const CAP: Colour = [1.0, 1.0, 1.0, 0.10];
const KEY: Colour = [0.66, 0.80, 1.0, 1.0];
const HINT: Colour = [0.88, 0.90, 0.95, 0.6];
/// Lengths in logical pixels: the height of text, of a line, around everything, beside a key's name, between columns.
const TEXT_HEIGHT: f64 = 16.0;
const HEADING_HEIGHT: f64 = 24.0;
const LINE: f64 = 28.0;
/// Of a line where there are more than fit below each other.
const DENSE_LINE: f64 = 22.0;
const MARGIN: f64 = 32.0;
const CAP_MARGIN: f64 = 8.0;
const COLUMN_GAP: f64 = 20.0;
/// How round the corners of the panel and of keys are.
const RADIUS: f64 = 16.0;
const CAP_RADIUS: f64 = 6.0;
const TITLE: &str = "Shortcuts";
const CLOSES: &str = "any key closes this list";

/// Four keys that mean four directions, as they are named together.
const ARROWS: [&str; 4] = ["Left", "Right", "Up", "Down"];
const LETTERS: [&str; 4] = ["H", "J", "K", "L"];

/// Keys, and what they do.
type Line = (String, String);

/// The keys of all four directions, if `keys` are those of one.
fn all_four(keys: &str) -> Option<String> {
    let held = |words: [&str; 4]| words.iter().find_map(|word| keys.strip_suffix(word)).map(str::to_owned);
    let arrows = held(ARROWS).map(|held| format!("{held}arrows"));
    arrows.or_else(|| held(LETTERS).filter(|held| held.ends_with('+')).map(|held| format!("{held}H J K L")))
}

/// What the list says. Those for the nine workspaces are one line each.
fn lines(bindings: &Bindings) -> Vec<Line> {
    let mut bound: Vec<_> = bindings.in_force().filter(|(_, bound)| bound.action != Action::None).collect();
    bound.sort_by_key(|(chord, bound)| (&bound.action, **chord));
    let mut lines: Vec<Line> = Vec::new();
    for (chord, bound) in bound {
        let action = &bound.action;
        let keys = chord.name(bindings.modifier);
        let row = |number: u8, about: &str| {
            let Some(held) = keys.strip_suffix(&number.to_string()) else { return (keys.clone(), bound.about()) };
            (format!("{held}1..9"), about.to_owned())
        };
        let line = match action {
            Action::Workspace(number) => row(number.get(), "Workspace 1 to 9"),
            Action::MoveToWorkspace(number) => row(number.get(), "Window to workspace 1 to 9"),
            Action::ColumnToWorkspace(number) => row(number.get(), "Column to workspace 1 to 9"),
            // They are labelled.
            Action::Run(_) if chord.held == Held::default() => continue,
            _ if bound.about.is_none() && action.about_all_sides().is_some() => {
                let all = all_four(&keys).zip(action.about_all_sides());
                all.map_or((keys, bound.about()), |(keys, about)| (keys, about.to_owned()))
            }
            _ => (keys, bound.about()),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Where things are on the panel, in physical pixels.
struct Plan {
    lines: Vec<Line>,
    face: Type,
    heading: Type,
    line: i32,
    margin: i32,
    cap_margin: i32,
    keys_width: i32,
    gap: i32,
    /// How many lines lie below each other, and how far columns are apart.
    rows: usize,
    column: i32,
    size: Size<i32, smithay::utils::Physical>,
}

impl Plan {
    /// In as many columns as it takes on a screen of that height.
    fn new(lines: Vec<Line>, scale: f64, height: i32) -> Self {
        let pixels = |length: f64| (length * scale).round() as i32;
        let (face, heading) = (Type::new(TEXT_HEIGHT * scale, false), Type::new(HEADING_HEIGHT * scale, true));
        let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| face.width(text)).max().unwrap_or(0);
        let (margin, cap_margin, gap) = (pixels(MARGIN), pixels(CAP_MARGIN), pixels(COLUMN_GAP));
        let count = i32::try_from(lines.len()).unwrap_or(i32::MAX).max(1);
        // A heading with a line's room below it, and a hint after another one.
        let fits = |line: i32| ((height - 2 * margin) / line - 3).max(1);
        let line = if fits(pixels(LINE)) >= count { pixels(LINE) } else { pixels(DENSE_LINE) };
        let columns = (count - 1) / fits(line) + 1;
        let rows = (count - 1) / columns + 1;
        let keys_width = widest(&mut lines.iter().map(|(keys, _)| keys)) + 2 * cap_margin;
        let about_width = widest(&mut lines.iter().map(|(_, about)| about));
        let column = keys_width + gap + about_width + margin;
        let size = Size::from((margin + columns * column, 2 * margin + (rows + 3) * line));
        let rows = usize::try_from(rows).unwrap_or(1);
        Plan { lines, face, heading, line, margin, cap_margin, keys_width, gap, rows, column, size }
    }

    /// The left edge of a line.
    fn left(&self, index: usize) -> i32 {
        self.margin + i32::try_from(index / self.rows).unwrap_or(i32::MAX) * self.column
    }

    /// The top of a line's text.
    fn row(&self, index: usize) -> i32 {
        let above = i32::try_from(index % self.rows).unwrap_or(i32::MAX) * self.line;
        self.margin + self.line * 3 / 2 + above + (self.line - self.face.height()) / 2
    }

    fn draw(&self) -> Picture {
        let mut page = Page::new(self.size);
        page.write((self.margin, self.margin).into(), TITLE, self.heading, HEADING);
        for (index, (keys, about)) in self.lines.iter().enumerate() {
            let top = self.row(index);
            let left = self.left(index);
            page.write((left + self.cap_margin, top).into(), keys, self.face, KEY);
            page.write((left + self.keys_width + self.gap, top).into(), about, self.face, TEXT);
        }
        let bottom = self.size.h - self.margin - self.face.height();
        page.write((self.margin, bottom).into(), CLOSES, self.face, HINT);
        page.finish()
    }
}

/// Draws the list into a scene that has nothing yet, as seen at `present`.
pub fn show(
    shell: &Shell,
    bindings: &Bindings,
    kept: &mut Kept,
    scene: &mut Scene,
    (id, output): (OutputId, &Output),
    present: Instant,
) {
    let here = shell.workspaces.screen(&output.name());
    if here.is_none() || shell.overlays.help_on != here {
        return;
    }
    let scale = output.current_scale().fractional_scale();
    let area = geometry(output);
    let screen = scene.size;
    let opacity = shell.overlays.help.at(present);
    let mut sheet = Sheet { scene, kept, output: id, area, scale, opacity };
    let plan = Plan::new(lines(bindings), scale, screen.h);
    let corner = Point::from(((screen.w - plan.size.w).max(0) / 2, (screen.h - plan.size.h).max(0) / 2));
    let says = (format!("{:?}", plan.lines), plan.face, [0; 4]);
    let known = sheet.kept.texts.get(&(id, Part::Keys)).filter(|known| known.says == says);
    let picture = known.map_or_else(|| plan.draw(), |known| known.picture.clone());
    sheet.kept.texts.insert((id, Part::Keys), super::Text { says, picture: picture.clone() });
    sheet.picture(Part::Keys, corner, picture);
    let cap_height = plan.line - (4.0 * scale).round() as i32;
    for (index, (keys, _)) in plan.lines.iter().enumerate() {
        let top = corner.y + plan.row(index) - (cap_height - plan.face.height()) / 2;
        let size = Size::from((plan.face.width(keys) + 2 * plan.cap_margin, cap_height));
        let rect = Rectangle::new(Point::from((corner.x + plan.left(index), top)), size);
        sheet.panel(Part::KeyCap(index), rect, CAP_RADIUS, CAP);
    }
    sheet.panel(Part::Panel, Rectangle::new(corner, plan.size), RADIUS, PANEL);
    let all: Rectangle<f64, Logical> = area.to_f64();
    let all = sheet.rect(all);
    sheet.panel(Part::Dim, all, 0.0, DIM);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_default_shortcuts_fits_on_a_small_screen() {
        let lines = lines(&Bindings::default());
        let says = |keys: &str| lines.iter().any(|(known, _)| known == keys);
        assert!(says("Super+arrows") && says("Super+Shift+H J K L") && says("Super+1..9") && says("Super+Alt+L"));
        let plan = Plan::new(lines, 1.0, 720);
        assert!(plan.size.w <= 1280 && plan.size.h <= 720, "{:?}", plan.size);
        let last = plan.lines.len() - 1;
        assert!(plan.left(last) < plan.size.w && plan.row(last) + plan.line < plan.size.h);
    }
}
