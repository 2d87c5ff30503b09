//! `upbeat msg`: ask a running session, or tell it something.

mod input;
mod print;
mod table;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};

use crate::config::OutputMode;
use crate::ipc::message::{Request, Response, Target};
use crate::ipc::workspaces::WorkspaceOrder;
use crate::ipc::{Client, find_socket};
use crate::shell::workspaces::Number;
use crate::timing::id::WindowId;
use crate::timing::pacing::PacingWish;

/// How many missed frames `why-late` tells of unless told otherwise.
const MISSES_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The session's private socket [default: that of the session this runs in].
    #[arg(long = "socket", id = "private-socket", global = true, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Print the answer as JSON.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    message: Message,
}

#[derive(Debug, Subcommand)]
enum Message {
    /// Who answers.
    Version,
    /// All outputs: mode, pacing, budgets.
    Outputs,
    /// All windows: class, pacing and the reason for it, costs.
    Windows,
    /// Everybody who is connected: what each has, and how much one may have.
    Clients,
    /// Workspaces that are seen or have windows.
    Workspaces,
    /// Show a workspace (1 to 9), or put a window there.
    Workspace {
        /// Its number.
        number: Number,
        /// Of this output [default: that of the window, or the focused one].
        #[arg(long)]
        output: Option<String>,
        /// Put this window there.
        #[arg(long, value_name = "NUMBER")]
        window: Option<u32>,
    },
    /// Frames, drops, hitches and latencies of every output and window.
    Stats,
    /// One sentence for each frame that missed its refresh.
    WhyLate {
        #[command(flatten)]
        of: Option<Of>,
        /// Tell of at most N frames, the newest.
        #[arg(long, short = 'n', value_name = "N", default_value_t = MISSES_SHOWN)]
        limit: usize,
    },
    /// Write what an output shows to a PNG file.
    Screenshot {
        /// The file.
        file: PathBuf,
        /// The output's name [default: the focused one].
        #[arg(long)]
        output: Option<String>,
    },
    /// Write a frame log from now on, or end the one that is being written.
    Record {
        /// The file; it is emptied first.
        #[arg(required_unless_present = "stop")]
        file: Option<PathBuf>,
        /// End the log.
        #[arg(long, conflicts_with = "file")]
        stop: bool,
    },
    /// Pace an output (by its name) or a window (by its number) differently.
    Pacing {
        /// Such as HEADLESS-1, or 3.
        target: String,
        /// vsync, vsync-late, just-in-time, ahead or auto.
        pacing: PacingWish,
    },
    /// Plug in, unplug or change an output.
    #[command(subcommand)]
    Output(OutputMessage),
    /// Act as an input device.
    #[command(subcommand)]
    Input(input::Message),
    /// Read the configuration again.
    Reload,
    /// End the session.
    Quit,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Of {
    /// Of this output only.
    #[arg(long)]
    output: Option<String>,
    /// Of this window only.
    #[arg(long, value_name = "NUMBER")]
    window: Option<u32>,
}

#[derive(Debug, Subcommand)]
enum OutputMessage {
    /// Plug in a virtual output.
    Add {
        /// Such as 1920x1080@60.
        mode: OutputMode,
    },
    /// Unplug a virtual output.
    Remove {
        /// Its name.
        output: String,
    },
    /// Change the mode of an output.
    Mode {
        /// Its name.
        output: String,
        /// Such as 1920x1080@60.
        mode: OutputMode,
    },
    /// Switch an output on.
    On {
        /// Its name.
        output: String,
    },
    /// Switch an output off.
    Off {
        /// Its name.
        output: String,
    },
}

impl Arguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let path = match self.socket {
            Some(path) => path,
            None => find_socket(|name| env::var_os(name))?,
        };
        let request = self.message.request()?;
        let response = Client::connect(&path)?.ask(request)?;
        if self.json {
            print::json(&response)?;
        } else if response != Response::Done {
            print::text(&response)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Message {
    fn request(self) -> anyhow::Result<Request> {
        Ok(match self {
            Message::Version => Request::Version,
            Message::Outputs => Request::Outputs,
            Message::Windows => Request::Windows,
            Message::Clients => Request::Clients,
            Message::Workspaces => Request::Workspaces,
            Message::Workspace { number, output, window } => {
                Request::Workspace(WorkspaceOrder { output, number, window: window.map(WindowId) })
            }
            Message::Stats => Request::Stats,
            Message::WhyLate { of, limit } => Request::WhyLate { target: of.and_then(Of::target), limit },
            Message::Screenshot { file, output } => Request::Screenshot { output, path: absolute(&file)? },
            Message::Record { file, .. } => Request::Record { path: file.map(|file| absolute(&file)).transpose()? },
            Message::Pacing { target, pacing } => Request::SetPacing { target: pacing_target(&target), pacing },
            Message::Output(message) => message.request(),
            Message::Input(message) => Request::Input { events: message.events()? },
            Message::Reload => Request::Reload,
            Message::Quit => Request::Quit,
        })
    }
}

impl OutputMessage {
    fn request(self) -> Request {
        match self {
            OutputMessage::Add { mode } => Request::AddOutput { mode },
            OutputMessage::Remove { output } => Request::RemoveOutput { output },
            OutputMessage::Mode { output, mode } => Request::SetMode { output, mode },
            OutputMessage::On { output } => Request::SetPower { output, on: true },
            OutputMessage::Off { output } => Request::SetPower { output, on: false },
        }
    }
}

impl Of {
    fn target(self) -> Option<Target> {
        self.output.map(Target::Output).or(self.window.map(|number| Target::Window(WindowId(number))))
    }
}

/// A number is a window's, anything else an output's name.
fn pacing_target(text: &str) -> Target {
    match text.parse() {
        Ok(number) => Target::Window(WindowId(number)),
        Err(_) => Target::Output(text.to_owned()),
    }
}

/// The session has a working directory of its own: it is told the whole path.
fn absolute(file: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(file).with_context(|| format!("cannot tell the absolute path of {}", file.display()))
}
