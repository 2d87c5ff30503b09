//! What a shortcut does, and its words in the configuration.

mod words;

use std::fmt;
use std::sync::Arc;

use super::CommandLine;
use crate::shell::layout::op::{Direction, Resize, Side};
use crate::shell::workspaces::Number;

/// What a shortcut does. The order is that in which they are listed for people.
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
    /// Focuses the previous one.
    PreviousWindow,
    /// Asks the focused window to close.
    CloseWindow,
    /// Lets the focused window fill what windows may, or be as large as before.
    Maximise,
    /// Lets it have all of its output, or be as large as before.
    Fullscreen,
    /// It is not seen until it is wanted again.
    Minimise,
    /// The window under the pointer goes along with it, until a button is let go.
    MoveWithPointer,
    /// The edges of the window under the pointer that lie next to it do.
    ResizeWithPointer,
    /// The focus moves there on a strip; elsewhere the focused window gets that half of the screen, all of it (up), or its
    /// own size back (down).
    Towards(Direction),
    /// The focus moves there.
    Focus(Direction),
    /// The focused window moves there: among columns it changes places, while it floats it moves by a step.
    Move(Direction),
    /// It joins the column on that side, or leaves its own towards it.
    Join(Side),
    /// One window of its column is seen at a time, or all are.
    Tabs,
    /// Its column, or the window itself while it floats, gets another width.
    Width(Resize),
    /// It gets another height.
    Height(Resize),
    /// Its column is as wide as the screen, or as before.
    FullWidth,
    /// It floats above the columns, or is back among them.
    Float,
    /// The workspace is a strip, or its windows float.
    Layout,
    /// Shows all windows of all workspaces, or what was seen before.
    Overview,
    /// Shows or hides figures of frames.
    Hud,
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
    /// Puts its column on a workspace.
    ColumnToWorkspace(Number),
    /// Takes the focused window along to the next workspace.
    MoveToNextWorkspace,
    /// Takes it along to the previous one.
    MoveToPreviousWorkspace,
    /// The focus goes to the output there.
    Output(Direction),
    /// Takes the focused window along to it.
    MoveToOutput(Direction),
    /// Takes its column along to it.
    ColumnToOutput(Direction),
    /// The next layout of the keyboard.
    NextKeyboardLayout,
    /// The one before.
    PreviousKeyboardLayout,
    /// Takes a picture and keeps it.
    Screenshot(ScreenshotOf),
    /// All outputs are off, until somebody does something.
    OutputsOff,
    /// Asks for another virtual terminal.
    SwitchTerminal(u32),
    /// Ends the session, once that was asked and answered.
    EndSession,
    /// Nothing: takes a default shortcut away.
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

/// There is no such action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected what a shortcut does: \"help\", \"terminal\", \"run PROGRAM\", \"sh LINE\", \"next-window\", \"previous-window\", \
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
    /// What it does, for people.
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
    /// What it does on all four sides, for people, if it is one that has a side.
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
            // Not for the configuration: every keymap has keys for it.
            Action::SwitchTerminal(number) => write!(f, "terminal {number}"),
            _ => f.write_str(words::single(self).map_or("", |(word, _)| word)),
        }
    }
}
