//! Spelling of actions in the configuration, and their descriptions in the list of shortcuts.

use std::str::FromStr;

use super::{ParseActionError, ScreenshotOf, ShortcutAction};
use crate::shell::layout::op::{Direction, HorizontalSide, Resize};
use crate::shell::workspaces::WorkspaceReference;

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
const SINGLE: [(&str, ShortcutAction, &str); 30] = [
    ("help", ShortcutAction::Help, "This list"),
    ("terminal", ShortcutAction::Terminal, "Terminal"),
    ("next-window", ShortcutAction::NextWindow, "Next window"),
    ("previous-window", ShortcutAction::PreviousWindow, "Previous window"),
    ("close-window", ShortcutAction::CloseWindow, "Close window"),
    ("maximise", ShortcutAction::Maximise, "Maximise window, and back"),
    ("fullscreen", ShortcutAction::Fullscreen, "Window on the whole screen, and back"),
    ("minimise", ShortcutAction::Minimise, "Minimise window"),
    ("move-with-pointer", ShortcutAction::MoveWithPointer, "Window goes with the pointer"),
    ("resize-with-pointer", ShortcutAction::ResizeWithPointer, "Its nearest edges do"),
    ("tabs", ShortcutAction::Tabs, "Windows of a column as tabs, and back"),
    ("full-width", ShortcutAction::FullWidth, "Column as wide as the screen, and back"),
    ("float", ShortcutAction::Float, "Window floats, and back"),
    ("layout", ShortcutAction::Layout, "Windows in columns, or floating"),
    ("overview", ShortcutAction::Overview, "Overview"),
    ("hud", ShortcutAction::Hud, "Figures of frames, and back"),
    ("shortcuts", ShortcutAction::Shortcuts, "Shortcuts back from a window that has them"),
    ("next-workspace", ShortcutAction::NextWorkspace, "Next workspace"),
    ("previous-workspace", ShortcutAction::PreviousWorkspace, "Previous workspace"),
    ("move-to-next-workspace", ShortcutAction::MoveToNextWorkspace, "Take window to the next one"),
    ("move-to-previous-workspace", ShortcutAction::MoveToPreviousWorkspace, "Take window to the previous one"),
    ("next-keyboard-layout", ShortcutAction::NextKeyboardLayout, "Next keyboard layout"),
    ("previous-keyboard-layout", ShortcutAction::PreviousKeyboardLayout, "Previous keyboard layout"),
    ("screenshot screen", ShortcutAction::Screenshot(ScreenshotOf::Screen), "Picture of the screen"),
    ("screenshot window", ShortcutAction::Screenshot(ScreenshotOf::Window), "Picture of the window"),
    ("screenshot region", ShortcutAction::Screenshot(ScreenshotOf::Region), "Picture of a part of the screen"),
    ("outputs-off", ShortcutAction::OutputsOff, "Screens off"),
    ("rotation-lock", ShortcutAction::RotationLock, "Screen does not turn with the device, and back"),
    ("end-session", ShortcutAction::EndSession, "End the session"),
    ("none", ShortcutAction::None, "Nothing"),
];

const DIRECTIONS: [(&str, Direction); 7] = [
    ("left", Direction::Column(HorizontalSide::Left)),
    ("right", Direction::Column(HorizontalSide::Right)),
    ("up", Direction::Up),
    ("down", Direction::Down),
    ("first", Direction::First),
    ("last", Direction::Last),
    ("floating", Direction::OtherLayer),
];

/// Every action with an argument: its word, and words for the argument. Programs, sizes and numbers are examples.
const WITH_ARGUMENT: [(&str, &[&str]); 13] = [
    (RUN, &["foot"]),
    (SHELL, &["sleep 1; foot"]),
    (FOCUS, &["left", "right", "up", "down", "first", "last", "floating"]),
    (MOVE, &SIDES),
    (JOIN, &["left", "right"]),
    (WIDTH, &SIZES),
    (HEIGHT, &SIZES),
    (OUTPUT, &SIDES),
    (MOVE_TO_OUTPUT, &SIDES),
    (COLUMN_TO_OUTPUT, &SIDES),
    (WORKSPACE, &NUMBERS),
    (MOVE_TO_WORKSPACE, &NUMBERS),
    (COLUMN_TO_WORKSPACE, &NUMBERS),
];
const SIDES: [&str; 4] = ["left", "right", "up", "down"];
const SIZES: [&str; 4] = ["next", "50%", "+10%", "-10%"];
const NUMBERS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The spelling of every action, with the arguments of [`WITH_ARGUMENT`].
pub(super) fn all() -> impl Iterator<Item = String> {
    let single = SINGLE.iter().map(|(word, ..)| (*word).to_owned());
    let with = |(word, arguments): &(&'static str, &'static [&str])| {
        let word = *word;
        arguments.iter().map(move |argument| format!("{word}{argument}"))
    };
    single.chain(SIDES.into_iter().map(str::to_owned)).chain(WITH_ARGUMENT.iter().flat_map(with))
}

/// The arguments of the action that begins with `word`, if it needs one.
pub(super) fn arguments_of(word: &str) -> Option<&'static [&'static str]> {
    WITH_ARGUMENT.iter().find(|(known, _)| known.trim_end() == word).map(|(_, arguments)| *arguments)
}

/// Spelling and description of an action without an argument.
pub(super) fn argumentless(action: &ShortcutAction) -> Option<(&'static str, &'static str)> {
    SINGLE.iter().find(|(_, known, _)| known == action).map(|(word, _, about)| (*word, *about))
}

/// Spelling in the configuration.
pub(super) fn direction_spelling(direction: Direction) -> &'static str {
    DIRECTIONS.iter().find(|(_, known)| *known == direction).map_or("", |(word, _)| word)
}

/// Description of a movement in this direction.
pub(super) fn describe_movement(direction: Direction) -> &'static str {
    match direction {
        Direction::First => "to the first column",
        Direction::Last => "to the last column",
        other => direction_spelling(other),
    }
}

/// Description of a place in this direction.
pub(super) fn describe_position(direction: Direction) -> &'static str {
    match direction {
        Direction::Column(HorizontalSide::Left) => "on the left",
        Direction::Column(HorizontalSide::Right) => "on the right",
        Direction::Up => "above",
        Direction::Down => "below",
        other => direction_spelling(other),
    }
}

/// Spelling in the configuration.
pub(super) fn resize_spelling(resize: Resize) -> String {
    match resize {
        Resize::By(percent) => format!("{percent:+}%"),
        Resize::To(percent) => format!("{percent}%"),
        Resize::Next => "next".to_owned(),
    }
}

fn direction(text: &str) -> Result<Direction, ParseActionError> {
    let found = DIRECTIONS.iter().find(|(word, _)| *word == text.trim());
    found.map(|(_, direction)| *direction).ok_or(ParseActionError)
}

/// Parses left, right, up or down.
fn side(text: &str) -> Result<Direction, ParseActionError> {
    let direction = direction(text)?;
    let is_far = matches!(direction, Direction::First | Direction::Last | Direction::OtherLayer);
    if is_far { Err(ParseActionError) } else { Ok(direction) }
}

fn resize(text: &str) -> Result<Resize, ParseActionError> {
    let text = text.trim();
    if text == "next" {
        return Ok(Resize::Next);
    }
    let number = text.strip_suffix('%').ok_or(ParseActionError)?;
    let is_step = number.starts_with(['+', '-']);
    let percent: i8 = number.parse().map_err(|_| ParseActionError)?;
    match (is_step, u8::try_from(percent)) {
        (true, _) if (-100..=100).contains(&percent) => Ok(Resize::By(percent)),
        (false, Ok(percent @ 1..=100)) => Ok(Resize::To(percent)),
        _ => Err(ParseActionError),
    }
}

impl FromStr for ShortcutAction {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, ParseActionError> {
        if let Some((_, action, _)) = SINGLE.iter().find(|(word, _, _)| *word == text) {
            return Ok(action.clone());
        }
        if let Ok(direction) = side(text) {
            return Ok(ShortcutAction::Towards(direction));
        }
        let (word, rest) = text.split_once(' ').ok_or(ParseActionError)?;
        // Only actions of the table, so that no action is left out of it.
        arguments_of(word).ok_or(ParseActionError)?;
        let line = || Some(rest.trim()).filter(|line| !line.is_empty()).map(Into::into).ok_or(ParseActionError);
        let workspace = || rest.trim().parse::<WorkspaceReference>().map_err(|_| ParseActionError);
        match (word, direction(rest)) {
            ("run", _) => rest.parse().map(ShortcutAction::Run).map_err(|_| ParseActionError),
            ("sh", _) => line().map(ShortcutAction::Shell),
            ("focus", direction) => direction.map(ShortcutAction::Focus),
            ("move", _) => side(rest).map(ShortcutAction::Move),
            ("join", Ok(Direction::Column(side))) => Ok(ShortcutAction::Join(side)),
            ("width", _) => resize(rest).map(ShortcutAction::Width),
            ("height", _) => resize(rest).map(ShortcutAction::Height),
            ("output", _) => side(rest).map(ShortcutAction::Output),
            ("move-to-output", _) => side(rest).map(ShortcutAction::MoveToOutput),
            ("column-to-output", _) => side(rest).map(ShortcutAction::ColumnToOutput),
            ("workspace", _) => workspace().map(ShortcutAction::Workspace),
            ("move-to-workspace", _) => workspace().map(ShortcutAction::MoveToWorkspace),
            ("column-to-workspace", _) => workspace().map(ShortcutAction::ColumnToWorkspace),
            _ => Err(ParseActionError),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_and_actions_are_one_to_one() {
        for spelling in all() {
            let action: ShortcutAction = spelling.parse().unwrap_or_else(|_| panic!("{spelling}"));
            assert_eq!(action.to_string(), spelling);
            assert_eq!(spelling.parse(), Ok(action.clone()), "{spelling}");
            assert!(!action.description().is_empty());
        }
    }

    #[test]
    fn names_of_workspaces_are_read_back_as_they_were_written() {
        for workspace in ["mail", "my mail", "next"] {
            for word in [WORKSPACE, MOVE_TO_WORKSPACE, COLUMN_TO_WORKSPACE] {
                let spelling = format!("{word}{workspace}");
                let action: ShortcutAction = spelling.parse().unwrap();
                assert_eq!(action.to_string(), spelling);
                assert!(action.description().contains(workspace), "{}", action.description());
            }
        }
    }

    #[test]
    fn sizes_are_read_back_as_they_were_written() {
        for size in [Resize::By(-10), Resize::By(5), Resize::To(33), Resize::Next] {
            for action in [ShortcutAction::Width(size), ShortcutAction::Height(size)] {
                assert_eq!(action.to_string().parse(), Ok(action.clone()), "{action}");
            }
        }
    }

    #[test]
    fn incomplete_or_unknown_action_is_rejected() {
        let wrong = [
            "",
            "workspace",
            "workspace 0",
            "workspace 10",
            "move-to-workspace -1",
            "workspace a\u{7}",
            "workspace a name of more than 32 characters",
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
            assert_eq!(wrong.parse::<ShortcutAction>(), Err(ParseActionError), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s)(focus|width|run|move)? ?.{0,20}") {
            let _ = text.parse::<ShortcutAction>();
        }
    }
}
