//! Actions of keyboard shortcuts, and their spelling in the configuration.

mod spelling;

use std::fmt;
use std::sync::Arc;

use super::{CommandLine, suggestions};
use crate::shell::layout::op::{Direction, HorizontalSide, Resize};
use crate::shell::workspaces::WorkspaceReference;

/// An action that a shortcut runs. The list of shortcuts shows the variants in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShortcutAction {
    /// Shows or hides the list of shortcuts.
    Help,
    /// Runs the configured terminal.
    Terminal,
    /// Runs a program with its arguments.
    Run(CommandLine),
    /// Has a shell run a line.
    Shell(Arc<str>),
    /// Focuses the next window of the switcher.
    NextWindow,
    /// Focuses the previous window of the switcher.
    PreviousWindow,
    /// Asks the focused window to close.
    CloseWindow,
    /// Maximises the focused window, or restores its size.
    Maximise,
    /// Makes the focused window fullscreen, or restores its size.
    Fullscreen,
    /// Hides the focused window until the user selects it again.
    Minimise,
    /// Moves the window under the pointer with the pointer until the button is released.
    MoveWithPointer,
    /// Moves the window edges nearest to the pointer with the pointer until the button is released.
    ResizeWithPointer,
    /// On a strip, focuses the window in this direction. A floating window fills that half of the screen, or the whole
    /// screen (up), or gets its own size back (down).
    Towards(Direction),
    /// Focuses the window in this direction.
    Focus(Direction),
    /// Moves the focused window in this direction: a tiled window swaps places, a floating window moves by one step.
    Move(Direction),
    /// The focused window joins the column on this side, or leaves its own column towards this side.
    Join(HorizontalSide),
    /// Shows the windows of the focused column as tabs, or below each other again.
    Tabs,
    /// Changes the width of the focused column, or of the focused window while it floats.
    Width(Resize),
    /// Changes the height of the focused window.
    Height(Resize),
    /// Makes the focused column as wide as the screen, or restores its width.
    FullWidth,
    /// Makes the focused window float above the columns, or puts it back among them.
    Float,
    /// Switches the workspace between columns in a strip and floating windows.
    Layout,
    /// Shows all windows of all workspaces, or leaves the overview.
    Overview,
    /// Shows or hides frame statistics.
    Hud,
    /// Ends the shortcut inhibitor of the focused window, or grants it again.
    Shortcuts,
    /// Shows a workspace.
    Workspace(WorkspaceReference),
    /// Shows the next workspace.
    NextWorkspace,
    /// Shows the previous workspace.
    PreviousWorkspace,
    /// Moves the focused window to a workspace.
    MoveToWorkspace(WorkspaceReference),
    /// Moves the focused column to a workspace.
    ColumnToWorkspace(WorkspaceReference),
    /// Shows the next workspace and moves the focused window to it.
    MoveToNextWorkspace,
    /// Shows the previous workspace and moves the focused window to it.
    MoveToPreviousWorkspace,
    /// Focuses the output in this direction.
    Output(Direction),
    /// Moves the focused window, with the focus, to the output in this direction.
    MoveToOutput(Direction),
    /// Moves the focused column, with the focus, to the output in this direction.
    ColumnToOutput(Direction),
    /// Selects the next keyboard layout.
    NextKeyboardLayout,
    /// Selects the previous keyboard layout.
    PreviousKeyboardLayout,
    /// Takes a screenshot and saves it.
    Screenshot(ScreenshotOf),
    /// Turns all outputs off until the next input event.
    OutputsOff,
    /// Keeps outputs as they are when the device is turned, or lets them turn again.
    RotationLock,
    /// Switches to another virtual terminal.
    SwitchTerminal(u32),
    /// Ends the session after the user has confirmed it.
    EndSession,
    /// Does nothing: disables a default shortcut.
    None,
}

/// The subject of a screenshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScreenshotOf {
    /// The screen with the pointer.
    Screen,
    /// The window with the focus, alone.
    Window,
    /// A part of the screen that the user picks.
    Region,
}

/// The configuration names an unknown action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the action of a shortcut: \"help\", \"terminal\", \"run PROGRAM\", \"sh LINE\", \"next-window\", \"previous-window\", \
     \"close-window\", \"maximise\", \"fullscreen\", \"minimise\", \"move-with-pointer\", \"resize-with-pointer\", \"left\", \"right\", \
     \"up\", \"down\", \"focus WHERE\", \"move WHERE\", \"join left\", \"join right\", \"tabs\", \"width SIZE\", \
     \"height SIZE\", \"full-width\", \"float\", \"layout\", \"overview\", \"hud\", \"shortcuts\", \"workspace N\", \
     \"next-workspace\", \"previous-workspace\", \"move-to-workspace N\", \"column-to-workspace N\", \"move-to-next-workspace\", \
     \"move-to-previous-workspace\", \"output WHERE\", \"move-to-output WHERE\", \"column-to-output WHERE\", \"next-keyboard-layout\", \
     \"previous-keyboard-layout\", \"screenshot screen\", \"screenshot window\", \"screenshot region\", \"outputs-off\", \"rotation-lock\", \"end-session\" or \"none\", with N from 1 to 9 or the name of a workspace, left, right, up, down, \
     first or last for WHERE, and 50%, +10%, -10% or next for SIZE"
)]
pub struct ParseActionError;

impl ShortcutAction {
    /// Parses the spelling of an action. The error is a sentence for the user, with the most similar action.
    pub fn from_words(text: &str) -> Result<Self, String> {
        let arguments = || spelling::arguments_of(text.split(' ').next().unwrap_or_default());
        text.parse().map_err(|error: ParseActionError| {
            suggestions::action_hint(text, arguments(), spelling::all()).unwrap_or_else(|| error.to_string())
        })
    }

    /// The spelling of every action. Where an argument is a program, a size or a number, it is an example.
    pub fn all_spellings() -> impl Iterator<Item = String> {
        spelling::all()
    }

    /// Description for the list of shortcuts.
    pub fn description(&self) -> String {
        match self {
            ShortcutAction::Run(line) => format!("Run {}", line.program()),
            ShortcutAction::Shell(line) => format!("Run {line}"),
            ShortcutAction::Focus(Direction::OtherLayer) => "Focus to floating windows, and back".to_owned(),
            ShortcutAction::Focus(direction) => format!("Focus {}", spelling::describe_movement(*direction)),
            ShortcutAction::Towards(Direction::Up) => {
                "Focus up; while floating: window on the whole screen, and back".to_owned()
            }
            ShortcutAction::Towards(Direction::Down) => "Focus down; while floating: window as it was".to_owned(),
            ShortcutAction::Towards(direction) => {
                format!("Focus {0}; while floating: window to the {0} half", spelling::direction_spelling(*direction))
            }
            ShortcutAction::Move(direction) => format!("Move window {}", spelling::describe_movement(*direction)),
            ShortcutAction::Join(side) => {
                format!("Into the column on the {}, or out", spelling::direction_spelling(Direction::Column(*side)))
            }
            ShortcutAction::Width(Resize::Next) => "Next width of column or floating window".to_owned(),
            ShortcutAction::Height(Resize::Next) => {
                "Window as high as others leave room; floating: next height".to_owned()
            }
            ShortcutAction::Width(resize) => {
                format!("Width {} of column or floating window", spelling::resize_spelling(*resize))
            }
            ShortcutAction::Height(resize) => format!("Window height {}", spelling::resize_spelling(*resize)),
            ShortcutAction::Output(direction) => format!("Screen {}", spelling::describe_position(*direction)),
            ShortcutAction::MoveToOutput(direction) => {
                format!("Take window to the screen {}", spelling::describe_position(*direction))
            }
            ShortcutAction::ColumnToOutput(direction) => {
                format!("Take column to the screen {}", spelling::describe_position(*direction))
            }
            ShortcutAction::Workspace(to) => format!("Workspace {to}"),
            ShortcutAction::MoveToWorkspace(to) => format!("Window to workspace {to}"),
            ShortcutAction::ColumnToWorkspace(to) => format!("Column to workspace {to}"),
            ShortcutAction::SwitchTerminal(number) => format!("Virtual terminal {number}"),
            _ => spelling::argumentless(self).map_or("", |(_, about)| about).to_owned(),
        }
    }
}

impl ShortcutAction {
    /// The workspace that the action shows, or sends windows to.
    pub const fn workspace(&self) -> Option<&WorkspaceReference> {
        match self {
            ShortcutAction::Workspace(to)
            | ShortcutAction::MoveToWorkspace(to)
            | ShortcutAction::ColumnToWorkspace(to) => Some(to),
            _ => None,
        }
    }

    /// Description that covers all four directions at once, for actions with a direction.
    pub const fn description_for_all_directions(&self) -> Option<&'static str> {
        match self {
            ShortcutAction::Towards(_) => Some("Focus that way; floating: half or whole"),
            ShortcutAction::Focus(Direction::First | Direction::Last | Direction::OtherLayer) => None,
            ShortcutAction::Focus(_) => Some("Focus that way"),
            ShortcutAction::Move(_) => Some("Move window that way"),
            ShortcutAction::Output(_) => Some("Screen that way"),
            ShortcutAction::MoveToOutput(_) => Some("Take window to the screen that way"),
            ShortcutAction::ColumnToOutput(_) => Some("Take column to the screen that way"),
            _ => None,
        }
    }
}

impl fmt::Display for ShortcutAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShortcutAction::Run(line) => write!(f, "{}{line}", spelling::RUN),
            ShortcutAction::Shell(line) => write!(f, "{}{line}", spelling::SHELL),
            ShortcutAction::Towards(direction) => f.write_str(spelling::direction_spelling(*direction)),
            ShortcutAction::Focus(direction) => {
                write!(f, "{}{}", spelling::FOCUS, spelling::direction_spelling(*direction))
            }
            ShortcutAction::Move(direction) => {
                write!(f, "{}{}", spelling::MOVE, spelling::direction_spelling(*direction))
            }
            ShortcutAction::Join(side) => {
                write!(f, "{}{}", spelling::JOIN, spelling::direction_spelling(Direction::Column(*side)))
            }
            ShortcutAction::Width(resize) => write!(f, "{}{}", spelling::WIDTH, spelling::resize_spelling(*resize)),
            ShortcutAction::Height(resize) => write!(f, "{}{}", spelling::HEIGHT, spelling::resize_spelling(*resize)),
            ShortcutAction::Output(direction) => {
                write!(f, "{}{}", spelling::OUTPUT, spelling::direction_spelling(*direction))
            }
            ShortcutAction::MoveToOutput(direction) => {
                write!(f, "{}{}", spelling::MOVE_TO_OUTPUT, spelling::direction_spelling(*direction))
            }
            ShortcutAction::ColumnToOutput(direction) => {
                write!(f, "{}{}", spelling::COLUMN_TO_OUTPUT, spelling::direction_spelling(*direction))
            }
            ShortcutAction::Workspace(to) => write!(f, "{}{to}", spelling::WORKSPACE),
            ShortcutAction::MoveToWorkspace(to) => write!(f, "{}{to}", spelling::MOVE_TO_WORKSPACE),
            ShortcutAction::ColumnToWorkspace(to) => write!(f, "{}{to}", spelling::COLUMN_TO_WORKSPACE),
            // Not accepted in the configuration, because every keymap has keys for it.
            ShortcutAction::SwitchTerminal(number) => write!(f, "terminal {number}"),
            _ => f.write_str(spelling::argumentless(self).map_or("", |(word, _)| word)),
        }
    }
}
