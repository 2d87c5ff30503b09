//! The list of shortcuts, above all else.

use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{Colour, Kept, Page, Part, Sheet, Type};
use crate::bindings::{Action, Bindings};
use crate::output::geometry;
use crate::scene::{Picture, Scene};
use crate::shell::Shell;
use crate::time::Instant;
use crate::timing::id::OutputId;

const DIM: Colour = [0.0, 0.0, 0.0, 0.45];
const PANEL: Colour = [0.11, 0.13, 0.18, 1.0];
const CAP: Colour = [1.0, 1.0, 1.0, 0.10];
const HEADING: Colour = [1.0, 1.0, 1.0, 1.0];
const KEY: Colour = [0.66, 0.80, 1.0, 1.0];
const TEXT: Colour = [0.88, 0.90, 0.95, 1.0];
const HINT: Colour = [0.88, 0.90, 0.95, 0.6];
/// Lengths in logical pixels: the height of text, of a line, around everything, beside a key's name, between columns.
const TEXT_HEIGHT: f64 = 16.0;
const HEADING_HEIGHT: f64 = 24.0;
const LINE: f64 = 28.0;
const MARGIN: f64 = 32.0;
const CAP_MARGIN: f64 = 8.0;
const COLUMN_GAP: f64 = 20.0;
/// How round the corners of the panel and of keys are.
const RADIUS: f64 = 16.0;
const CAP_RADIUS: f64 = 6.0;
const TITLE: &str = "Shortcuts";
const CLOSES: &str = "any key closes this list";

/// Keys, and what they do.
type Line = (String, String);

/// What the list says. Those for the nine workspaces are one line each.
fn lines(bindings: &Bindings) -> Vec<Line> {
    let mut bound: Vec<_> = bindings.keys.iter().filter(|(_, action)| **action != Action::None).collect();
    bound.sort_by_key(|(chord, action)| (**action, **chord));
    let mut lines: Vec<Line> = Vec::new();
    for (chord, action) in bound {
        let keys = chord.name(bindings.modifier);
        let row = |number: u8, about: &str| {
            let Some(held) = keys.strip_suffix(&number.to_string()) else { return (keys.clone(), action.about()) };
            (format!("{held}1..9"), about.to_owned())
        };
        let line = match action {
            Action::Workspace(number) => row(number.get(), "Workspace 1 to 9"),
            Action::MoveToWorkspace(number) => row(number.get(), "Window to workspace 1 to 9"),
            _ => (keys, action.about()),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let held = bindings.modifier_name();
    lines.push((format!("{held}+left button"), "Move window".to_owned()));
    lines.push((format!("{held}+right button"), "Resize window".to_owned()));
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
    size: Size<i32, smithay::utils::Physical>,
}

impl Plan {
    fn new(lines: Vec<Line>, scale: f64) -> Self {
        let pixels = |length: f64| (length * scale).round() as i32;
        let (face, heading) = (Type::new(TEXT_HEIGHT * scale, false), Type::new(HEADING_HEIGHT * scale, true));
        let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| face.width(text)).max().unwrap_or(0);
        let (line, margin, cap_margin, gap) = (pixels(LINE), pixels(MARGIN), pixels(CAP_MARGIN), pixels(COLUMN_GAP));
        let keys_width = widest(&mut lines.iter().map(|(keys, _)| keys)) + 2 * cap_margin;
        let about_width = widest(&mut lines.iter().map(|(_, about)| about));
        let rows = i32::try_from(lines.len()).unwrap_or(i32::MAX);
        // A heading with a line's room below it, and a hint after another one.
        let height = 2 * margin + (rows + 3) * line;
        let size = Size::from((2 * margin + keys_width + gap + about_width, height));
        Plan { lines, face, heading, line, margin, cap_margin, keys_width, gap, size }
    }

    /// The top of a line's text.
    fn row(&self, index: usize) -> i32 {
        let above = i32::try_from(index).unwrap_or(i32::MAX) * self.line;
        self.margin + self.line * 3 / 2 + above + (self.line - self.face.height()) / 2
    }

    fn draw(&self) -> Picture {
        let mut page = Page::new(self.size);
        page.write((self.margin, self.margin).into(), TITLE, self.heading, HEADING);
        for (index, (keys, about)) in self.lines.iter().enumerate() {
            let top = self.row(index);
            page.write((self.margin + self.cap_margin, top).into(), keys, self.face, KEY);
            page.write((self.margin + self.keys_width + self.gap, top).into(), about, self.face, TEXT);
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
    let plan = Plan::new(lines(bindings), scale);
    let corner = Point::from(((screen.w - plan.size.w) / 2, (screen.h - plan.size.h).max(0) / 2));
    let says = (format!("{:?}", plan.lines), plan.face, [0; 4]);
    let known = sheet.kept.texts.get(&(id, Part::Keys)).filter(|known| known.says == says);
    let picture = known.map_or_else(|| plan.draw(), |known| known.picture.clone());
    sheet.kept.texts.insert((id, Part::Keys), super::Text { says, picture: picture.clone() });
    sheet.picture(Part::Keys, corner, picture);
    let cap_height = plan.line - (4.0 * scale).round() as i32;
    for (index, (keys, _)) in plan.lines.iter().enumerate() {
        let top = corner.y + plan.row(index) - (cap_height - plan.face.height()) / 2;
        let size = Size::from((plan.face.width(keys) + 2 * plan.cap_margin, cap_height));
        let rect = Rectangle::new(Point::from((corner.x + plan.margin, top)), size);
        sheet.panel(Part::KeyCap(index), rect, CAP_RADIUS, CAP);
    }
    sheet.panel(Part::Panel, Rectangle::new(corner, plan.size), RADIUS, PANEL);
    let all: Rectangle<f64, Logical> = area.to_f64();
    let all = sheet.rect(all);
    sheet.panel(Part::Dim, all, 0.0, DIM);
}
