//! The overview's workspace cards, window titles and selection mark, all below the windows.

use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use super::{OverlayCache, OverlayColour, OverlayPart, OverlaySheet, Typeface};
use crate::output::geometry;
use crate::scene::Scene;
use crate::shell::Shell;
use crate::shell::overview::layout::{CAPTION, HEADER};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::Instant;

/// Background of a workspace's card.
const CARD: OverlayColour = [1.0, 1.0, 1.0, 0.07];
/// Card of the workspace that is shown when the overview is left.
const ACTIVE_CARD: OverlayColour = [0.55, 0.70, 1.0, 0.16];
/// Card below a dragged window, which goes there if it is released.
const DROP_CARD: OverlayColour = [0.55, 0.70, 1.0, 0.38];
/// Button that closes a window, and its cross.
const CLOSE: OverlayColour = [0.11, 0.13, 0.18, 0.85];
const CROSS: OverlayColour = [1.0, 1.0, 1.0, 1.0];
/// Dims the background behind windows that are shown without cards.
const DIM: OverlayColour = [0.05, 0.06, 0.09, 0.7];
/// Frame around the selected window.
const SELECTION: OverlayColour = [0.45, 0.65, 1.0, 1.0];
/// Width of the frame, in logical pixels.
const SELECTION_WIDTH: f64 = 4.0;
const TITLE: OverlayColour = [0.93, 0.95, 1.0, 0.92];
const NUMBER: OverlayColour = [0.93, 0.95, 1.0, 0.75];
/// Corner radius of cards, in logical pixels.
const RADIUS: f64 = 14.0;
/// Distance from the edge of a card to its number or name, and smallest distance on the small card of an empty workspace.
const INDENT: f64 = 16.0;
const NAME_MARGIN: f64 = 3.0;
/// Progress of the opening animation at which titles appear.
const ARRIVING: f64 = 0.7;
/// Height of text, in logical pixels.
const TEXT: f64 = 16.0;

/// Draws the overview of output `id` as seen at `present`. The scene must have all windows already, so that the
/// overview is below them.
pub fn show(
    shell: &Shell,
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &smithay::output::Output),
    present: Instant,
) {
    let layout = shell.overview_at(output, present);
    let scale = output.current_scale().fractional_scale();
    let share = shell.overlays().overview().at(present);
    // Titles and the selection mark appear when their window has nearly reached its place.
    let arrived = (share - ARRIVING) / (1.0 - ARRIVING);
    let mut sheet = OverlaySheet { scene, kept, output: id, area: geometry(output), scale, opacity: arrived };
    let active = shell.workspaces().screen(&output.name()).map(|screen| shell.workspaces().active(screen));
    let (plain, bold) = (Typeface::new(TEXT * scale, false), Typeface::new(TEXT * scale, true));
    // A dragged window is shown without title and mark.
    let lifted = shell.overlays().lifted().map(|(window, _)| window);
    for (window, rect) in layout.windows.iter().filter(|(window, _)| lifted != Some(*window)) {
        let shown = shell.window(*window);
        let title = shown.and_then(|window| window.title()).unwrap_or_default();
        let below = sheet.rect(Rectangle::new(
            Point::from((rect.loc.x, rect.loc.y + rect.size.h)),
            Size::<f64, Logical>::from((rect.size.w, CAPTION)),
        ));
        let is_selected = shell.overlays().selected() == Some(*window);
        let face = if is_selected { bold } else { plain };
        // If the typeface lacks the title's script, show the application's name instead.
        let title = face.legible(&title).or_else(|| face.legible(&shown?.app_id()?)).unwrap_or_default();
        let title = face.fit(&title, below.size.w);
        let place = |size| centred(below, size) + Point::from((0, (SELECTION_WIDTH / 2.0 * scale) as i32));
        sheet.text(OverlayPart::Title(*window), &title, face, TITLE, place);
    }
    let selected = shell.overlays().selected().filter(|_| lifted.is_none());
    if let Some(rect) = selected.and_then(|window| layout.window(window)) {
        let around = Point::from((SELECTION_WIDTH, SELECTION_WIDTH));
        let size = Size::from((rect.size.w + 2.0 * SELECTION_WIDTH, rect.size.h + 2.0 * SELECTION_WIDTH));
        let (hole, rect) = (sheet.rect(rect), sheet.rect(Rectangle::new(rect.loc - around, size)));
        sheet.frame(OverlayPart::Selection, rect, hole, SELECTION_WIDTH * 1.5, SELECTION);
    }
    sheet.opacity = share;
    if shell.overlays().is_switcher() {
        let all = sheet.rect(geometry(output).to_f64());
        sheet.panel(OverlayPart::OverviewDim, all, 0.0, DIM);
    }
    let goal = shell.overlays().lifted_at().and_then(|point| layout.card_at(point));
    for (index, card) in layout.all_cards().enumerate() {
        let rect = sheet.rect(card.rect);
        let top = Rectangle::new(rect.loc, Size::from((rect.size.w, (HEADER * scale).round() as i32)));
        let is_empty = index >= layout.cards.len();
        let place = |size: Size<i32, Physical>| match is_empty {
            true => centred(rect, size),
            false => Point::from((top.loc.x + (INDENT * scale) as i32, centred(top, size).y)),
        };
        let margin = if is_empty { NAME_MARGIN } else { INDENT };
        let label = super::workspace_label(shell.workspaces(), card.number, bold);
        let label = bold.fit_letters(&label, rect.size.w - (2.0 * margin * scale) as i32);
        sheet.text(OverlayPart::CardName(card.number), &label, bold, NUMBER, place);
        let colour = match () {
            () if goal == Some(card.number) => DROP_CARD,
            () if active == Some(card.number) => ACTIVE_CARD,
            () => CARD,
        };
        sheet.panel(OverlayPart::Card(card.number), rect, RADIUS, colour);
    }
}

/// Draws the button that closes the window under the pointer, once the window has reached its place. Call this before
/// the windows are added, so that it is on top.
pub fn show_close_button(
    shell: &Shell,
    kept: &mut OverlayCache,
    scene: &mut Scene,
    (id, output): (OutputId, &smithay::output::Output),
    present: Instant,
) {
    let Some(window) = shell.overlays().hovered() else { return };
    let Some(rect) = shell.overview_at(output, present).close_button(window) else { return };
    let scale = output.current_scale().fractional_scale();
    let opacity = (shell.overlays().overview().at(present) - ARRIVING) / (1.0 - ARRIVING);
    let mut sheet = OverlaySheet { scene, kept, output: id, area: geometry(output), scale, opacity };
    let rect = sheet.rect(rect);
    let face = Typeface::new(TEXT * scale, true);
    sheet.text(OverlayPart::CloseCross, "\u{d7}", face, CROSS, |size| centred(rect, size));
    sheet.panel(OverlayPart::CloseButton, rect, rect.size.w.into(), CLOSE);
}

/// The top left corner that centres a picture of `size` in `rect`.
fn centred(rect: Rectangle<i32, Physical>, size: Size<i32, Physical>) -> Point<i32, Physical> {
    rect.loc + Point::from(((rect.size.w - size.w) / 2, (rect.size.h - size.h) / 2))
}
