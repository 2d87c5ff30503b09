//! Presses on titles. Titles above columns: the left button and a finger choose a window, the middle button closes it.
//! Title bars of floating windows: a drag moves the window, a double press maximises it, and a cross closes it.

use smithay::utils::{Logical, Point};

use super::drag;
use crate::bindings::BUTTON_LEFT;
use crate::shell::{self, WindowId, arrangement_requests};
use crate::state::State;
use upbeat_timing::time::{Instant, Span};

/// Linux event code of the middle button.
const BUTTON_MIDDLE: u32 = 0x112;
/// Two presses are a double press within this time, as in toolkits, and within so many logical pixels.
const TWICE: Span = Span::from_millis(400);
const NEAR: f64 = 5.0;

/// The last press on a title bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct TitleBarPress {
    window: WindowId,
    time: Instant,
    point: Point<f64, Logical>,
}

/// The place that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TitlePressResult {
    /// No title.
    Elsewhere,
    /// A title; the press is used up.
    Title,
    /// A title bar: a drag of the window may begin.
    Bar(WindowId),
}

/// A button, or a finger as the left one, went down at `point` (global logical coordinates).
pub(super) fn pressed(state: &mut State, time: Instant, point: Point<f64, Logical>, button: u32) -> TitlePressResult {
    if let Some(bar) = state.shell.bar_at(point) {
        return match button {
            BUTTON_LEFT if bar.closes => {
                shell::close(state, bar.window);
                TitlePressResult::Title
            }
            BUTTON_LEFT => bar_pressed(state, TitleBarPress { window: bar.window, time, point }),
            _ => {
                shell::activate(state, Some(bar.window));
                TitlePressResult::Title
            }
        };
    }
    let Some(id) = state.shell.title_at(point) else { return TitlePressResult::Elsewhere };
    match button {
        BUTTON_LEFT => shell::activate(state, Some(id)),
        BUTTON_MIDDLE => shell::close(state, id),
        _ => {}
    }
    TitlePressResult::Title
}

fn bar_pressed(state: &mut State, press: TitleBarPress) -> TitlePressResult {
    shell::activate(state, Some(press.window));
    let is_second = state.input.last_title_press.take().is_some_and(|last| {
        let (x, y) = (press.point.x - last.point.x, press.point.y - last.point.y);
        last.window == press.window && press.time - last.time <= TWICE && x.hypot(y) <= NEAR
    });
    if is_second {
        arrangement_requests::toggle_maximised(state);
        return TitlePressResult::Title;
    }
    state.input.last_title_press = Some(press);
    // Only one drag at a time.
    if drag::may_begin(state) { TitlePressResult::Bar(press.window) } else { TitlePressResult::Title }
}
