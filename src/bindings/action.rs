//! Actions of keyboard shortcuts, and their spelling in the configuration.

mod words;

use std::fmt;
use std::sync::Arc;

use super::CommandLine;
use crate::shell::layout::op::{Direction, Resize, Side};
use crate::shell::workspaces::Number;

/// An action that a shortcut runs. The list of shortcuts shows the variants in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
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
    Join(Side),
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
    Workspace(Number),
    /// Shows the next workspace.
    NextWorkspace,
    /// Shows the previous workspace.
    PreviousWorkspace,
    /// Moves the focused window to a workspace.
    MoveToWorkspace(Number),
    /// Moves the focused column to a workspace.
    ColumnToWorkspace(Number),
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
     \"previous-keyboard-layout\", \"screenshot screen\", \"screenshot window\", \"screenshot region\", \"outputs-off\", \"end-session\" or \"none\", with N from 1 to 9, left, right, up, down, \
     first or last for WHERE, and 50%, +10%, -10% or next for SIZE"
)]
pub struct NoSuchAction;

impl Action {
    /// Description for the list of shortcuts.
    pub fn about(&self) -> String {
        match self {
            Action::Run(line) => format!("Run {}", line.program()),
            Action::Shell(line) => format!("Run {line}"),
            Action::Focus(Direction::OtherLayer) => "Focus to floating windows, and back".to_owned(),
            Action::Focus(direction) => format!("Focus {}", words::toward(*direction)),
            Action::Towards(Direction::Up) => {
                "Focus up; while floating: window on the whole screen, and back".to_owned()
            }
            Action::Towards(Direction::Down) => "Focus down; while floating: window as it was".to_owned(),
            Action::Towards(direction) => {
                format!("Focus {0}; while floating: window to the {0} half", words::of(*direction))
            }
            Action::Move(direction) => format!("Move window {}", words::toward(*direction)),
            Action::Join(side) => {
                format!("Into the column on the {}, or out", words::of(Direction::Column(*side)))
            }
            Action::Width(Resize::Next) => "Next width of column or floating window".to_owned(),
            Action::Height(Resize::Next) => "Window as high as others leave room; floating: next height".to_owned(),
            Action::Width(resize) => format!("Width {} of column or floating window", words::size(*resize)),
            Action::Height(resize) => format!("Window height {}", words::size(*resize)),
            Action::Output(direction) => format!("Screen {}", words::on(*direction)),
            Action::MoveToOutput(direction) => format!("Take window to the screen {}", words::on(*direction)),
            Action::ColumnToOutput(direction) => format!("Take column to the screen {}", words::on(*direction)),
            Action::Workspace(number) => format!("Workspace {number}"),
            Action::MoveToWorkspace(number) => format!("Window to workspace {number}"),
            Action::ColumnToWorkspace(number) => format!("Column to workspace {number}"),
            Action::SwitchTerminal(number) => format!("Virtual terminal {number}"),
            _ => words::single(self).map_or("", |(_, about)| about).to_owned(),
        }
    }
}

impl Action {
    /// Description that covers all four directions at once, for actions with a direction.
    pub const fn about_all_sides(&self) -> Option<&'static str> {
        match self {
            Action::Towards(_) => Some("Focus that way; floating: half or whole"),
            Action::Focus(Direction::First | Direction::Last | Direction::OtherLayer) => None,
            Action::Focus(_) => Some("Focus that way"),
            Action::Move(_) => Some("Move window that way"),
            Action::Output(_) => Some("Screen that way"),
            Action::MoveToOutput(_) => Some("Take window to the screen that way"),
            Action::ColumnToOutput(_) => Some("Take column to the screen that way"),
            _ => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Run(line) => write!(f, "{}{line}", words::RUN),
            Action::Shell(line) => write!(f, "{}{line}", words::SHELL),
            Action::Towards(direction) => f.write_str(words::of(*direction)),
            Action::Focus(direction) => write!(f, "{}{}", words::FOCUS, words::of(*direction)),
            Action::Move(direction) => write!(f, "{}{}", words::MOVE, words::of(*direction)),
            Action::Join(side) => write!(f, "{}{}", words::JOIN, words::of(Direction::Column(*side))),
            Action::Width(resize) => write!(f, "{}{}", words::WIDTH, words::size(*resize)),
            Action::Height(resize) => write!(f, "{}{}", words::HEIGHT, words::size(*resize)),
            Action::Output(direction) => write!(f, "{}{}", words::OUTPUT, words::of(*direction)),
            Action::MoveToOutput(direction) => write!(f, "{}{}", words::MOVE_TO_OUTPUT, words::of(*direction)),
            Action::ColumnToOutput(direction) => write!(f, "{}{}", words::COLUMN_TO_OUTPUT, words::of(*direction)),
            Action::Workspace(number) => write!(f, "{}{number}", words::WORKSPACE),
            Action::MoveToWorkspace(number) => write!(f, "{}{number}", words::MOVE_TO_WORKSPACE),
            Action::ColumnToWorkspace(number) => write!(f, "{}{number}", words::COLUMN_TO_WORKSPACE),
            // Not accepted in the configuration, because every keymap has keys for it.
            Action::SwitchTerminal(number) => write!(f, "terminal {number}"),
            _ => f.write_str(words::single(self).map_or("", |(word, _)| word)),
        }
    }
}
