//! The hint on an empty desktop until a window is opened: which key lists the shortcuts, and which opens a terminal.

use smithay::output::Output;
use smithay::utils::Point;

use super::{OverlayCache, OverlayColour, OverlayPart, OverlaySheet, Typeface};
use crate::bindings::{Bindings, ShortcutAction};
use crate::output::geometry;
use crate::scene::Scene;
use upbeat_timing::id::OutputId;

const TEXT: OverlayColour = [0.88, 0.90, 0.95, 0.75];
/// Lengths in logical pixels: the height of text, and of a line.
const TEXT_HEIGHT: f64 = 20.0;
const LINE: f64 = 34.0;

/// The lines of the hint, for each of its actions with a shortcut.
fn lines(bindings: &Bindings) -> Vec<String> {
    let key = |wanted: &ShortcutAction| {
        let mut bound = bindings.effective().filter(|(_, bound)| bound.action == *wanted);
        bound.next().map(|(chord, _)| chord.name(bindings.modifier))
    };
    let actions = [(ShortcutAction::Help, "shows what keys do"), (ShortcutAction::Terminal, "opens a terminal")];
    actions.iter().filter_map(|(action, does)| Some(format!("{} {does}", key(action)?))).collect()
}

/// Draws the hint above the layer surfaces below windows, and below everything else.
pub fn show(bindings: &Bindings, kept: &mut OverlayCache, scene: &mut Scene, (id, output): (OutputId, &Output)) {
    let scale = output.current_scale().fractional_scale();
    let screen = scene.size;
    let mut sheet = OverlaySheet { scene, kept, output: id, area: geometry(output), scale, opacity: 1.0 };
    let face = Typeface::new(TEXT_HEIGHT * scale, false);
    let lines = lines(bindings);
    let line = sheet.physical(LINE);
    let count = i32::try_from(lines.len()).unwrap_or(0);
    let top = (screen.h - count * line) / 2;
    for (row, text) in (0..).zip(&lines) {
        let text = face.fit(text, screen.w);
        sheet.text(OverlayPart::Hint(row), &text, face, TEXT, |size| {
            Point::from(((screen.w - size.w) / 2, top + row * line))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_names_bound_keys_and_leaves_out_unbound_actions() {
        let mut bindings = Bindings::default();
        assert_eq!(lines(&bindings), ["Super+F1 shows what keys do", "Super+Return opens a terminal"]);
        bindings.keys.retain(|_, bound| bound.action != ShortcutAction::Terminal);
        assert_eq!(lines(&bindings), ["Super+F1 shows what keys do"]);
    }
}
