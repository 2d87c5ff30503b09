//! What a shortcut does, and its words in the configuration.

use std::fmt;
use std::str::FromStr;

use crate::shell::workspaces::Number;

/// What a shortcut does. The order is that in which they are listed for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Shows or hides the list of shortcuts.
    Help,
    /// Runs the configured terminal.
    Terminal,
    /// Focuses the next window of the switcher.
    NextWindow,
    /// Focuses the previous one.
    PreviousWindow,
    /// Asks the focused window to close.
    CloseWindow,
    /// Lets the focused window fill what windows may, or be as large as before.
    Maximise,
    /// Lets it have all of its output, or be as large as before.
    Fullscreen,
    /// Shows all windows of all workspaces, or what was seen before.
    Overview,
    /// Takes the shortcuts back from a window that has them for itself, or gives them to it again.
    Shortcuts,
    /// Shows a workspace.
    Workspace(Number),
    /// Shows the next workspace.
    NextWorkspace,
    /// Shows the previous one.
    PreviousWorkspace,
    /// Puts the focused window on a workspace.
    MoveToWorkspace(Number),
    /// Takes the focused window along to the next workspace.
    MoveToNextWorkspace,
    /// Takes it along to the previous one.
    MoveToPreviousWorkspace,
    /// Asks for another virtual terminal.
    SwitchTerminal(u32),
    /// Ends the session.
    EndSession,
    /// Nothing: takes a default shortcut away.
    None,
}

/// There is no such action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected what a shortcut does: \"help\", \"terminal\", \"next-window\", \"previous-window\", \"close-window\", \
     \"maximise\", \"fullscreen\", \"overview\", \"shortcuts\", \"workspace N\", \"next-workspace\", \"previous-workspace\", \"move-to-workspace N\", \
     \"move-to-next-workspace\", \"move-to-previous-workspace\", \"end-session\" or \"none\", with N from 1 to 9"
)]
pub struct NoSuchAction;

/// Those without a number.
const WORDS: [(&str, Action, &str); 15] = [
    ("help", Action::Help, "This list"),
    ("terminal", Action::Terminal, "Terminal"),
    ("next-window", Action::NextWindow, "Next window"),
    ("previous-window", Action::PreviousWindow, "Previous window"),
    ("close-window", Action::CloseWindow, "Close window"),
    ("maximise", Action::Maximise, "Maximise window, and back"),
    ("fullscreen", Action::Fullscreen, "Window on the whole screen, and back"),
    ("overview", Action::Overview, "Overview"),
    ("shortcuts", Action::Shortcuts, "Shortcuts back from a window that has them"),
    ("next-workspace", Action::NextWorkspace, "Next workspace"),
    ("previous-workspace", Action::PreviousWorkspace, "Previous workspace"),
    ("move-to-next-workspace", Action::MoveToNextWorkspace, "Take window to the next one"),
    ("move-to-previous-workspace", Action::MoveToPreviousWorkspace, "Take window to the previous one"),
    ("end-session", Action::EndSession, "End the session"),
    ("none", Action::None, "Nothing"),
];
const WORKSPACE: &str = "workspace ";
const MOVE_TO_WORKSPACE: &str = "move-to-workspace ";

impl Action {
    /// What it does, for people.
    pub fn about(self) -> String {
        match self {
            Action::Workspace(number) => format!("Workspace {number}"),
            Action::MoveToWorkspace(number) => format!("Window to workspace {number}"),
            Action::SwitchTerminal(number) => format!("Virtual terminal {number}"),
            _ => WORDS.iter().find(|(_, action, _)| *action == self).map_or("", |(_, _, about)| about).to_owned(),
        }
    }
}

impl FromStr for Action {
    type Err = NoSuchAction;

    fn from_str(text: &str) -> Result<Self, NoSuchAction> {
        if let Some((_, action, _)) = WORDS.iter().find(|(word, _, _)| *word == text) {
            return Ok(*action);
        }
        let number = |text: &str| text.trim().parse::<Number>().map_err(|_| NoSuchAction);
        if let Some(text) = text.strip_prefix(MOVE_TO_WORKSPACE) {
            return number(text).map(Action::MoveToWorkspace);
        }
        number(text.strip_prefix(WORKSPACE).ok_or(NoSuchAction)?).map(Action::Workspace)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Workspace(number) => write!(f, "{WORKSPACE}{number}"),
            Action::MoveToWorkspace(number) => write!(f, "{MOVE_TO_WORKSPACE}{number}"),
            // Not for the configuration: every keymap has keys for it.
            Action::SwitchTerminal(number) => write!(f, "terminal {number}"),
            _ => f.write_str(WORDS.iter().find(|(_, action, _)| action == self).map_or("", |(word, _, _)| word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_actions_are_one_to_one() {
        let numbered = Number::all().flat_map(|number| [Action::Workspace(number), Action::MoveToWorkspace(number)]);
        for action in WORDS.iter().map(|(_, action, _)| *action).chain(numbered) {
            assert_eq!(action.to_string().parse(), Ok(action));
            assert!(!action.about().is_empty());
        }
        for wrong in ["", "workspace", "workspace 0", "workspace 10", "move-to-workspace x", "Help"] {
            assert_eq!(wrong.parse::<Action>(), Err(NoSuchAction), "{wrong}");
        }
    }
}
