//! Spelling of actions in the configuration, and their descriptions in the list of shortcuts.

use std::str::FromStr;

use super::{Action, NoSuchAction, ScreenshotOf};
use crate::shell::layout::op::{Direction, Resize, Side};
use crate::shell::workspaces::Number;

pub(super) const RUN: &str = "run ";
pub(super) const SHELL: &str = "sh ";
pub(super) const FOCUS: &str = "focus ";
pub(super) const MOVE: &str = "move ";
pub(super) const JOIN: &str = "join ";
pub(super) const WIDTH: &str = "width ";
pub(super) const HEIGHT: &str = "height ";
pub(super) const OUTPUT: &str = "output ";
pub(super) const MOVE_TO_OUTPUT: &str = "move-to-output ";
pub(super) const COLUMN_TO_OUTPUT: &str = "column-to-output ";
pub(super) const WORKSPACE: &str = "workspace ";
pub(super) const MOVE_TO_WORKSPACE: &str = "move-to-workspace ";
pub(super) const COLUMN_TO_WORKSPACE: &str = "column-to-workspace ";

/// Actions without an argument: spelling, action, description.
const SINGLE: [(&str, Action, &str); 29] = [
    ("help", Action::Help, "This list"),
    ("terminal", Action::Terminal, "Terminal"),
    ("next-window", Action::NextWindow, "Next window"),
    ("previous-window", Action::PreviousWindow, "Previous window"),
    ("close-window", Action::CloseWindow, "Close window"),
    ("maximise", Action::Maximise, "Maximise window, and back"),
    ("fullscreen", Action::Fullscreen, "Window on the whole screen, and back"),
    ("minimise", Action::Minimise, "Minimise window"),
    ("move-with-pointer", Action::MoveWithPointer, "Window goes with the pointer"),
    ("resize-with-pointer", Action::ResizeWithPointer, "Its nearest edges do"),
    ("tabs", Action::Tabs, "Windows of a column as tabs, and back"),
    ("full-width", Action::FullWidth, "Column as wide as the screen, and back"),
    ("float", Action::Float, "Window floats, and back"),
    ("layout", Action::Layout, "Windows in columns, or floating"),
    ("overview", Action::Overview, "Overview"),
    ("hud", Action::Hud, "Figures of frames, and back"),
    ("shortcuts", Action::Shortcuts, "Shortcuts back from a window that has them"),
    ("next-workspace", Action::NextWorkspace, "Next workspace"),
    ("previous-workspace", Action::PreviousWorkspace, "Previous workspace"),
    ("move-to-next-workspace", Action::MoveToNextWorkspace, "Take window to the next one"),
    ("move-to-previous-workspace", Action::MoveToPreviousWorkspace, "Take window to the previous one"),
    ("next-keyboard-layout", Action::NextKeyboardLayout, "Next keyboard layout"),
    ("previous-keyboard-layout", Action::PreviousKeyboardLayout, "Previous keyboard layout"),
    ("screenshot screen", Action::Screenshot(ScreenshotOf::Screen), "Picture of the screen"),
    ("screenshot window", Action::Screenshot(ScreenshotOf::Window), "Picture of the window"),
    ("screenshot region", Action::Screenshot(ScreenshotOf::Region), "Picture of a part of the screen"),
    ("outputs-off", Action::OutputsOff, "Screens off"),
    ("end-session", Action::EndSession, "End the session"),
    ("none", Action::None, "Nothing"),
];

const DIRECTIONS: [(&str, Direction); 7] = [
    ("left", Direction::Column(Side::Left)),
    ("right", Direction::Column(Side::Right)),
    ("up", Direction::Up),
    ("down", Direction::Down),
    ("first", Direction::First),
    ("last", Direction::Last),
    ("floating", Direction::OtherLayer),
];

/// Spelling and description of an action without an argument.
pub(super) fn single(action: &Action) -> Option<(&'static str, &'static str)> {
    SINGLE.iter().find(|(_, known, _)| known == action).map(|(word, _, about)| (*word, *about))
}

/// Spelling in the configuration.
pub(super) fn of(direction: Direction) -> &'static str {
    DIRECTIONS.iter().find(|(_, known)| *known == direction).map_or("", |(word, _)| word)
}

/// Description of a movement in this direction.
pub(super) fn toward(direction: Direction) -> &'static str {
    match direction {
        Direction::First => "to the first column",
        Direction::Last => "to the last column",
        other => of(other),
    }
}

/// Description of a place in this direction.
pub(super) fn on(direction: Direction) -> &'static str {
    match direction {
        Direction::Column(Side::Left) => "on the left",
        Direction::Column(Side::Right) => "on the right",
        Direction::Up => "above",
        Direction::Down => "below",
        other => of(other),
    }
}

/// Spelling in the configuration.
pub(super) fn size(resize: Resize) -> String {
    match resize {
        Resize::By(percent) => format!("{percent:+}%"),
        Resize::To(percent) => format!("{percent}%"),
        Resize::Next => "next".to_owned(),
    }
}

fn direction(text: &str) -> Result<Direction, NoSuchAction> {
    let found = DIRECTIONS.iter().find(|(word, _)| *word == text.trim());
    found.map(|(_, direction)| *direction).ok_or(NoSuchAction)
}

/// Parses left, right, up or down.
fn side(text: &str) -> Result<Direction, NoSuchAction> {
    let direction = direction(text)?;
    let is_far = matches!(direction, Direction::First | Direction::Last | Direction::OtherLayer);
    if is_far { Err(NoSuchAction) } else { Ok(direction) }
}

fn resize(text: &str) -> Result<Resize, NoSuchAction> {
    let text = text.trim();
    if text == "next" {
        return Ok(Resize::Next);
    }
    let number = text.strip_suffix('%').ok_or(NoSuchAction)?;
    let is_step = number.starts_with(['+', '-']);
    let percent: i8 = number.parse().map_err(|_| NoSuchAction)?;
    match (is_step, u8::try_from(percent)) {
        (true, _) if (-100..=100).contains(&percent) => Ok(Resize::By(percent)),
        (false, Ok(percent @ 1..=100)) => Ok(Resize::To(percent)),
        _ => Err(NoSuchAction),
    }
}

impl FromStr for Action {
    type Err = NoSuchAction;

    fn from_str(text: &str) -> Result<Self, NoSuchAction> {
        if let Some((_, action, _)) = SINGLE.iter().find(|(word, _, _)| *word == text) {
            return Ok(action.clone());
        }
        if let Ok(direction) = side(text) {
            return Ok(Action::Towards(direction));
        }
        let (word, rest) = text.split_once(' ').ok_or(NoSuchAction)?;
        let line = || Some(rest.trim()).filter(|line| !line.is_empty()).map(Into::into).ok_or(NoSuchAction);
        let number = || rest.trim().parse::<Number>().map_err(|_| NoSuchAction);
        match (word, direction(rest)) {
            ("run", _) => rest.parse().map(Action::Run).map_err(|_| NoSuchAction),
            ("sh", _) => line().map(Action::Shell),
            ("focus", direction) => direction.map(Action::Focus),
            ("move", _) => side(rest).map(Action::Move),
            ("join", Ok(Direction::Column(side))) => Ok(Action::Join(side)),
            ("width", _) => resize(rest).map(Action::Width),
            ("height", _) => resize(rest).map(Action::Height),
            ("output", _) => side(rest).map(Action::Output),
            ("move-to-output", _) => side(rest).map(Action::MoveToOutput),
            ("column-to-output", _) => side(rest).map(Action::ColumnToOutput),
            ("workspace", _) => number().map(Action::Workspace),
            ("move-to-workspace", _) => number().map(Action::MoveToWorkspace),
            ("column-to-workspace", _) => number().map(Action::ColumnToWorkspace),
            _ => Err(NoSuchAction),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_and_actions_are_one_to_one() {
        let numbered = Number::all().flat_map(|number| {
            [Action::Workspace(number), Action::MoveToWorkspace(number), Action::ColumnToWorkspace(number)]
        });
        let sides = DIRECTIONS[..4].iter().flat_map(|(_, side)| {
            let outputs = [Action::Output(*side), Action::MoveToOutput(*side), Action::ColumnToOutput(*side)];
            outputs.into_iter().chain([Action::Towards(*side), Action::Move(*side)])
        });
        let sizes = [Resize::By(-10), Resize::By(5), Resize::To(33), Resize::Next];
        let sizes = sizes.into_iter().flat_map(|size| [Action::Width(size), Action::Height(size)]);
        let more = [
            Action::Run("foot -e top".parse().unwrap()),
            Action::Shell("sleep 1; foot".into()),
            Action::Join(Side::Left),
            Action::Focus(Direction::OtherLayer),
        ];
        let single = SINGLE.iter().map(|(_, action, _)| action.clone());
        for action in single.chain(numbered).chain(sides).chain(sizes).chain(more) {
            assert_eq!(action.to_string().parse(), Ok(action.clone()), "{action}");
            assert!(!action.about().is_empty());
        }
    }

    #[test]
    fn what_says_too_little_or_something_else_is_refused() {
        let wrong = [
            "",
            "workspace",
            "workspace 0",
            "workspace 10",
            "move-to-workspace x",
            "Help",
            "run ",
            "run",
            "focus",
            "focus x",
            "move floating",
            "move first",
            "join up",
            "width 0%",
            "width 101%",
            "width +101%",
            "width 5",
            "output first",
            "column-to-workspace 10",
            "column-to-output last",
        ];
        for wrong in wrong {
            assert_eq!(wrong.parse::<Action>(), Err(NoSuchAction), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s)(focus|width|run|move)? ?.{0,20}") {
            let _ = text.parse::<Action>();
        }
    }
}
