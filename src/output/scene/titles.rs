//! Draws the titles above columns and the title bars of windows. They are redrawn when their text or look changes, and
//! kept with the visible window below them. Changes are looked for at most once in a turn, and only if the inputs have
//! changed.

use smithay::utils::{Physical, Point, Rectangle, Size};

use crate::output::scene::overlays::paint::{OverlayColour, PaintPage, Typeface};
use crate::scene::{EffectPicture, RoundedRect};
use crate::shell::effects::WindowEffects;
use crate::shell::tiling::TITLES;
use crate::shell::titles::{BELOW, RenderedTitles, TabState, TitlesContent};
use crate::shell::{ListRevision, WindowId};
use crate::state::State;

/// Colours of titles, by the state of their window; then the colour of text.
const BEHIND: OverlayColour = [0.14, 0.16, 0.22, 1.0];
const SEEN: OverlayColour = [0.24, 0.28, 0.37, 1.0];
const FOCUSED: OverlayColour = [0.25, 0.40, 0.66, 1.0];
const URGENT: OverlayColour = [0.62, 0.36, 0.12, 1.0];
const TEXT: OverlayColour = [0.93, 0.95, 1.0, 1.0];
/// Lengths in logical pixels: the height of text, its distance from the left edge, the space between titles.
const TEXT_HEIGHT: f64 = 16.0;
const INDENT: f64 = 8.0;
const BETWEEN: f64 = 2.0;
/// Size and stroke width of the close button's cross, as shares of the title's height.
const CROSS: f64 = 0.36;
const STROKE: f64 = 0.06;

/// The inputs of titles: the window list with titles and focus, and the effects around windows.
type TitleInputs = (ListRevision, WindowEffects);

/// The inputs of the titles last drawn.
#[derive(Debug, Default)]
pub(in crate::output) struct TitleCache {
    basis: Option<TitleInputs>,
    /// Windows with a title above them.
    carriers: Vec<WindowId>,
}

/// Redraws changed titles and removes unused ones.
pub fn update(state: &mut State) {
    let basis = |state: &State| {
        let shell = &state.shell;
        (shell.listed(), state.outputs.effects(shell))
    };
    if state.outputs.titles.basis == Some(basis(state)) {
        return;
    }
    let mut changed = Vec::new();
    let mut carriers = Vec::new();
    let bars = state.shell.windows_with_title_bar().map(|id| (id, vec![id]));
    let bars: Vec<_> = bars.collect();
    for (seen, windows) in state.shell.tabbed().into_iter().chain(bars) {
        let Some(says) = says(state, seen, &windows) else { continue };
        carriers.push(seen);
        if state.shell.titles(seen).is_none_or(|titles| titles.content != says) {
            changed.push((seen, Some(says)));
        }
    }
    let before = std::mem::take(&mut state.outputs.titles.carriers);
    changed.extend(before.into_iter().filter(|id| !carriers.contains(id)).map(|id| (id, None)));
    let is_other = !changed.is_empty();
    for (id, says) in changed {
        let titles = says.map(|says| RenderedTitles { picture: draw(&says), content: says });
        state.shell.set_titles(id, titles);
    }
    state.outputs.titles = TitleCache { basis: Some(basis(state)), carriers };
    if is_other {
        crate::output::schedule_window_repaint(state);
    }
}

fn says(state: &State, seen: WindowId, windows: &[WindowId]) -> Option<TitlesContent> {
    let shell = &state.shell;
    let place = shell.workspaces().place(seen)?;
    let name = shell.workspaces().name(place.screen)?;
    let output = state.outputs.iter().find(|output| output.name() == name)?;
    let scale = output.current_scale().fractional_scale();
    let physical = |length: i32| (f64::from(length) * scale).round() as i32;
    let is_bar = !shell.is_tile(seen);
    let window = shell.window(seen)?;
    let size = (physical(window.rect().size.w), physical(if is_bar { TITLES } else { TITLES - BELOW }));
    let usual = state.outputs.effects(shell).corner_radius;
    let radius = if is_bar { window.corner_radius().unwrap_or(usual) * scale } else { 0.0 };
    let radius = (radius.round() as i32).min(size.0 / 2).min(size.1);
    Some(TitlesContent { radius, ..shell.titles_of_column(seen, windows, scale, size) })
}

fn draw(says: &TitlesContent) -> EffectPicture {
    let size = Size::<i32, Physical>::from(says.size);
    let mut page = PaintPage::new(size);
    let physical = |length: f64| (length * says.scale).round() as i32;
    let face = Typeface::new(TEXT_HEIGHT * says.scale, false);
    let (indent, between) = (physical(INDENT), physical(BETWEEN));
    let count = i32::try_from(says.tabs.len()).unwrap_or(i32::MAX).max(1);
    let edge = |index: i32| (i64::from(size.w) * i64::from(index) / i64::from(count)) as i32;
    for (index, tab) in (0..).zip(&says.tabs) {
        let (left, right) = (edge(index), edge(index + 1));
        let gap = if index + 1 < count { between } else { 0 };
        let colour = match tab.look {
            TabState::Behind => BEHIND,
            TabState::Seen => SEEN,
            TabState::Focused => FOCUSED,
            TabState::Urgent => URGENT,
        };
        let room = (right - left - gap).max(1);
        let cross = if says.closes { size.h.min(room) } else { 0 };
        page.fill(Rectangle::new((left, 0).into(), (room, size.h).into()), colour);
        let title = Some(&tab.title).filter(|title| !title.is_empty()).and_then(|title| face.legible(title));
        let title = title.or_else(|| face.legible(&tab.app_id)).unwrap_or_default();
        let title = face.fit(&title, room - 2 * indent - cross);
        page.write(Point::from((left + indent, (size.h - face.height()) / 2)), &title, face, TEXT);
    }
    if says.closes {
        cross(&mut page, size);
    }
    // The window continues below, and its lower corners are its own, so only the upper corners are rounded here.
    let with_window = Size::from((size.w, size.h + 2 * says.radius));
    page.cut(RoundedRect { rect: Rectangle::from_size(with_window), radius: says.radius });
    page.finish()
}

/// Draws the close button's cross at the right end.
fn cross(page: &mut PaintPage, size: Size<i32, Physical>) {
    let share = |share: f64| (f64::from(size.h) * share).round() as i32;
    let (length, stroke) = (share(CROSS), share(STROKE).max(1));
    let corner = Point::<i32, Physical>::from((size.w - size.h + (size.h - length) / 2, (size.h - length) / 2));
    for step in 0..=(length - stroke).max(0) {
        for x in [step, length - stroke - step] {
            page.fill(Rectangle::new(corner + Point::from((x, step)), (stroke, stroke).into()), TEXT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::titles::WindowTab;

    #[test]
    fn tabs_share_the_width_and_long_titles_are_cut() {
        let tab = |number, look| WindowTab {
            window: WindowId(number),
            title: "a long title ".repeat(9),
            app_id: String::new(),
            look,
        };
        let tabs = vec![tab(1, TabState::Behind), tab(2, TabState::Focused), tab(3, TabState::Urgent)];
        for (size, scale) in [((300, 24), 1.0), ((450, 36), 1.5), ((1, 1), 1.0), ((7, 24), 2.0)] {
            let picture = draw(&TitlesContent { tabs: tabs.clone(), closes: size.0 != 300, size, scale, radius: 0 });
            let image = picture.image();
            assert_eq!((image.width, image.height), size);
            if size.0 > 100 {
                let at = |share: i32| image.pixels[(image.width * share / 300 + image.width) as usize];
                let colours = [at(3), at(103), at(203)];
                assert!(colours.iter().all(|pixel| pixel >> 24 == 0xff) && colours[0] != colours[1]);
                assert_ne!(colours[1], colours[2]);
            }
        }
    }
}
