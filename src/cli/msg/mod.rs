//! `upbeat msg`: query or control a running session.

mod input;
mod legend;
mod outputs_text;
mod print;
mod schema;
mod table;
mod windows_text;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};

use crate::config::OutputMode;
use crate::shell::workspaces::{ParseWorkspaceError, WorkspaceReference};
use upbeat_record::ipc::message::layouts::LayoutWish;
use upbeat_record::ipc::message::{OutputOrWindow, Request, Response, VirtualMonitor, WorkspaceOrder};
use upbeat_record::ipc::{IpcClient, find_socket};
use upbeat_timing::id::WindowId;
use upbeat_timing::pacing::PacingWish;

/// How many missed frames `why-late` prints by default.
const MISSES_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(super) struct MsgArguments {
    /// The session's private socket [default: that of the session this runs in].
    #[arg(long = "socket", id = "private-socket", global = true, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Print the answer as JSON.
    #[arg(long, global = true)]
    json: bool,

    /// Explain the columns of tables, also where the output is no terminal.
    #[arg(long, global = true)]
    legend: bool,

    #[command(subcommand)]
    message: MsgCommand,
}

#[derive(Debug, Subcommand)]
enum MsgCommand {
    /// The running session's version.
    Version,
    /// All outputs: mode, pacing, budgets.
    Outputs,
    /// All windows: class, pacing and the reason for it, costs.
    Windows,
    /// Connected clients: how much each uses, and its limits.
    Clients,
    /// Workspaces that are visible or have windows.
    Workspaces,
    /// Show a workspace, or put a window there.
    Workspace {
        /// Number of the workspace (1 to 9), or its name.
        #[arg(required = true)]
        workspace: Vec<String>,
        /// Name of its output [default: the window's output, or the focused one].
        #[arg(long)]
        output: Option<String>,
        /// Put this window there.
        #[arg(long, value_name = "NUMBER")]
        window: Option<u32>,
    },
    /// Print all events from now on, a line of JSON each: first the current state, then each change in order.
    Events,
    /// The messages of the private socket, as a JSON Schema.
    Schema,
    /// Layer surfaces: bars, wallpapers, launchers.
    Layers,
    /// List the layouts of the keyboard, or switch to another: next, previous or a number.
    Layout {
        /// The layout to switch to.
        layout: Option<LayoutWish>,
    },
    /// Run the action of a shortcut.
    Act {
        /// As in [keys] of the configuration, such as maximise, or workspace 3.
        #[arg(required = true, allow_hyphen_values = true)]
        action: Vec<String>,
    },
    /// Give a window the focus, and show it.
    Focus {
        /// Number of the window.
        window: u32,
    },
    /// Ask a window to close.
    Close {
        /// Number of the window.
        window: u32,
    },
    /// Let the user click a window, and print its number; Escape cancels.
    PickWindow,
    /// Frames, drops, hitches and latencies of every output and window.
    Stats,
    /// One sentence for each frame that missed its refresh.
    WhyLate {
        #[command(flatten)]
        of: Option<StatsTarget>,
        /// Print at most the newest N frames.
        #[arg(long, short = 'n', value_name = "N", default_value_t = MISSES_SHOWN)]
        limit: usize,
    },
    /// Write a screenshot of an output to a PNG file.
    Screenshot {
        /// File to write to.
        file: PathBuf,
        /// The output's name [default: the focused one].
        #[arg(long)]
        output: Option<String>,
    },
    /// Start writing a frame log, or stop.
    Record {
        /// File to write to; it is emptied first.
        #[arg(required_unless_present = "stop")]
        file: Option<PathBuf>,
        /// Stop writing the log.
        #[arg(long, conflicts_with = "file")]
        stop: bool,
    },
    /// Set the pacing of an output (by its name) or a window (by its number).
    Pacing {
        /// Name of an output, such as HEADLESS-1, or number of a window, such as 3.
        target: String,
        /// vsync, vsync-late, just-in-time, ahead or auto.
        pacing: PacingWish,
    },
    /// Plug in, unplug or change an output.
    #[command(subcommand)]
    Output(OutputMessage),
    /// Act as an input device.
    #[command(subcommand)]
    Input(input::InputMessage),
    /// Read the configuration again.
    Reload,
    /// End the session.
    Quit,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct StatsTarget {
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
        /// Size and rate, such as 1920x1080@60.
        mode: OutputMode,
        /// Name of its connector, such as DP-1 [default: the next free HEADLESS- name].
        #[arg(long, value_name = "NAME")]
        connector: Option<String>,
        /// Maker of the monitor that it seems to be.
        #[arg(long, requires = "model")]
        make: Option<String>,
        /// Product name of this monitor.
        #[arg(long, requires = "make")]
        model: Option<String>,
        /// Serial number of this monitor.
        #[arg(long, requires = "make")]
        serial: Option<String>,
    },
    /// Unplug a virtual output.
    Remove {
        /// Name of the output.
        output: String,
    },
    /// Change the mode of an output.
    Mode {
        /// Name of the output.
        output: String,
        /// Size and rate, such as 1920x1080@60.
        mode: OutputMode,
    },
    /// Set the scale of an output.
    Scale {
        /// Name of the output.
        output: String,
        /// Physical pixels per logical pixel, such as 1.25.
        #[arg(value_parser = finite_number)]
        scale: f64,
    },
    /// Set the position of an output (logical pixels).
    #[command(allow_negative_numbers = true)]
    Position {
        /// Name of the output.
        output: String,
        /// Position of the left edge.
        x: i32,
        /// Position of the top edge.
        y: i32,
    },
    /// Set the transform of an output: normal, 90, 180, 270, flipped, flipped-90, flipped-180 or flipped-270.
    Transform {
        /// Name of the output.
        output: String,
        /// One of the eight transforms.
        transform: String,
    },
    /// Switch the variable refresh rate of an output on or off.
    Vrr {
        /// Name of the output.
        output: String,
        /// Either on or off.
        #[arg(value_parser = on_or_off, action = clap::ArgAction::Set, value_name = "on|off")]
        on: bool,
        /// The lowest rate in Hz [default: that of the last variable rate, or 48].
        #[arg(long, value_name = "HZ", value_parser = finite_number)]
        slowest: Option<f64>,
    },
    /// Switch an output on.
    On {
        /// Name of the output.
        output: String,
    },
    /// Switch an output off.
    Off {
        /// Name of the output.
        output: String,
    },
}

impl MsgArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if let MsgCommand::Schema = self.message {
            return print::schema(&schema::schema());
        }
        let path = match self.socket {
            Some(path) => path,
            None => find_socket(|name| env::var_os(name))?,
        };
        if let MsgCommand::Events = self.message {
            return print::events(IpcClient::connect(&path)?.subscribe()?);
        }
        let request = self.message.request()?;
        let response = IpcClient::connect(&path)?.request(request)?;
        if self.json {
            print::json(&response)?;
        } else if response != Response::Done {
            print::text(&response, self.legend)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl MsgCommand {
    fn request(self) -> anyhow::Result<Request> {
        Ok(match self {
            MsgCommand::Version => Request::Version,
            MsgCommand::Outputs => Request::Outputs,
            MsgCommand::Windows => Request::Windows,
            MsgCommand::Clients => Request::Clients,
            MsgCommand::Workspaces => Request::Workspaces,
            MsgCommand::Workspace { workspace, output, window } => {
                let reference = workspace.join(" ").parse().map_err(|error: ParseWorkspaceError| anyhow!(error))?;
                let (number, name) = match reference {
                    WorkspaceReference::Number(number) => (Some(number), None),
                    WorkspaceReference::Name(name) => (None, Some(name.to_string())),
                };
                Request::Workspace(WorkspaceOrder { output, number, name, window: window.map(WindowId) })
            }
            MsgCommand::Events => Request::Events,
            MsgCommand::Schema => anyhow::bail!("the schema is printed without a session"),
            MsgCommand::Layers => Request::Layers,
            MsgCommand::Layout { layout: None } => Request::Keyboard,
            MsgCommand::Layout { layout: Some(layout) } => Request::SetLayout { layout },
            MsgCommand::Act { action } => Request::Act { action: action.join(" ") },
            MsgCommand::Focus { window } => Request::Focus { window: WindowId(window) },
            MsgCommand::Close { window } => Request::Close { window: WindowId(window) },
            MsgCommand::PickWindow => Request::PickWindow,
            MsgCommand::Stats => Request::Stats,
            MsgCommand::WhyLate { of, limit } => Request::WhyLate { target: of.and_then(StatsTarget::target), limit },
            MsgCommand::Screenshot { file, output } => Request::Screenshot { output, path: absolute(&file)? },
            MsgCommand::Record { file, .. } => Request::Record { path: file.map(|file| absolute(&file)).transpose()? },
            MsgCommand::Pacing { target, pacing } => Request::SetPacing { target: pacing_target(&target), pacing },
            MsgCommand::Output(message) => message.request(),
            MsgCommand::Input(message) => Request::Input { events: message.events()? },
            MsgCommand::Reload => Request::Reload,
            MsgCommand::Quit => Request::Quit,
        })
    }
}

impl OutputMessage {
    fn request(self) -> Request {
        match self {
            OutputMessage::Add { mode, connector, make, model, serial } => {
                let monitor = make.zip(model).map(|(make, model)| VirtualMonitor { make, model, serial });
                Request::AddOutput { mode, connector, monitor }
            }
            OutputMessage::Remove { output } => Request::RemoveOutput { output },
            OutputMessage::Mode { output, mode } => Request::SetMode { output, mode },
            OutputMessage::Scale { output, scale } => Request::SetScale { output, scale },
            OutputMessage::Position { output, x, y } => Request::SetPosition { output, x, y },
            OutputMessage::Transform { output, transform } => Request::SetTransform { output, transform },
            OutputMessage::Vrr { output, on, slowest } => Request::SetVrr { output, on, slowest },
            OutputMessage::On { output } => Request::SetPower { output, on: true },
            OutputMessage::Off { output } => Request::SetPower { output, on: false },
        }
    }
}

impl StatsTarget {
    fn target(self) -> Option<OutputOrWindow> {
        self.output.map(OutputOrWindow::Output).or(self.window.map(|number| OutputOrWindow::Window(WindowId(number))))
    }
}

/// A number that a message can hold: JSON has no infinite numbers.
fn finite_number(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or("expected a number, such as 1.25")
}

fn on_or_off(text: &str) -> Result<bool, &'static str> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off"),
    }
}

/// A number means a window; any other text is the name of an output.
fn pacing_target(text: &str) -> OutputOrWindow {
    match text.parse() {
        Ok(number) => OutputOrWindow::Window(WindowId(number)),
        Err(_) => OutputOrWindow::Output(text.to_owned()),
    }
}

/// The absolute path of `file`, because the session has another working directory.
fn absolute(file: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(file).with_context(|| format!("cannot tell the absolute path of {}", file.display()))
}
