//! `upbeat msg`: ask a running session, or tell it something.

mod input;
mod legend;
mod print;
mod table;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};

use crate::config::OutputMode;
use crate::shell::workspaces::Number;
use upbeat_record::ipc::message::event::News;
use upbeat_record::ipc::message::layouts::LayoutWish;
use upbeat_record::ipc::message::{Answer, Question, Request, Response, Target, WorkspaceOrder};
use upbeat_record::ipc::{Client, find_socket};
use upbeat_timing::id::WindowId;
use upbeat_timing::pacing::PacingWish;

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
    /// Everything that happens from now on, a line of JSON each: first how all is, then each change in order.
    Events,
    /// What is said on the private socket, as a JSON Schema.
    Schema,
    /// What is pinned to outputs: bars, wallpapers, launchers.
    Layers,
    /// The layouts of the keyboard, or use another one: next, previous or a number.
    Layout {
        /// Which one to use.
        layout: Option<LayoutWish>,
    },
    /// Do what a shortcut does.
    Act {
        /// As in [keys] of the configuration, such as maximise, or workspace 3.
        #[arg(required = true)]
        action: Vec<String>,
    },
    /// Give a window the focus, and show it.
    Focus {
        /// Its number.
        window: u32,
    },
    /// Ask a window to close.
    Close {
        /// Its number.
        window: u32,
    },
    /// Let the user click a window, and print its number; Escape goes back.
    PickWindow,
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
    /// Show an output at another scale.
    Scale {
        /// Its name.
        output: String,
        /// Physical pixels per logical pixel, such as 1.25.
        scale: f64,
    },
    /// Put an output elsewhere (logical pixels).
    #[command(allow_negative_numbers = true)]
    Position {
        /// Its name.
        output: String,
        /// Left edge.
        x: i32,
        /// Top edge.
        y: i32,
    },
    /// Show an output turned: normal, 90, 180, 270, flipped, flipped-90, flipped-180 or flipped-270.
    Transform {
        /// Its name.
        output: String,
        /// How.
        transform: String,
    },
    /// Let the rate of an output vary with its frames, or not.
    Vrr {
        /// Its name.
        output: String,
        /// Whether it varies.
        #[arg(value_parser = on_or_off, action = clap::ArgAction::Set, value_name = "on|off")]
        on: bool,
        /// The lowest rate in Hz [default: 48].
        #[arg(long, value_name = "HZ")]
        slowest: Option<f64>,
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
        if let Message::Schema = self.message {
            return print::schema(&schema());
        }
        let path = match self.socket {
            Some(path) => path,
            None => find_socket(|name| env::var_os(name))?,
        };
        if let Message::Events = self.message {
            return print::events(Client::connect(&path)?.follow()?);
        }
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
            Message::Events => Request::Events,
            Message::Schema => anyhow::bail!("nobody has to be asked for that"),
            Message::Layers => Request::Layers,
            Message::Layout { layout: None } => Request::Keyboard,
            Message::Layout { layout: Some(layout) } => Request::SetLayout { layout },
            Message::Act { action } => Request::Act { action: action.join(" ") },
            Message::Focus { window } => Request::Focus { window: WindowId(window) },
            Message::Close { window } => Request::Close { window: WindowId(window) },
            Message::PickWindow => Request::PickWindow,
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
            OutputMessage::Scale { output, scale } => Request::SetScale { output, scale },
            OutputMessage::Position { output, x, y } => Request::SetPosition { output, x, y },
            OutputMessage::Transform { output, transform } => Request::SetTransform { output, transform },
            OutputMessage::Vrr { output, on, slowest } => Request::SetVrr { output, on, slowest },
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

/// What both sides say, as a JSON Schema: `question`, `answer` and `news` are the kinds of lines.
fn schema() -> schemars::Schema {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Lines {
        /// A line to the session.
        question: Question,
        /// The line that answers it.
        answer: Answer,
        /// A line to those who asked for events.
        news: News,
    }
    schemars::schema_for!(Lines)
}

fn on_or_off(text: &str) -> Result<bool, &'static str> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_all_that_is_said() {
        let text = serde_json::to_string(&schema()).unwrap();
        for word in ["why-late", "window-closed", "pick-window", "set-vrr", "submit_lead", "Physical pixels per"] {
            assert!(text.contains(word), "{word} is not in the schema");
        }
    }

    #[test]
    fn the_documentation_has_every_question_and_every_event() {
        let (page, schema) = (include_str!("../../../docs/messages.md"), serde_json::to_value(schema()).unwrap());
        let mut count = 0;
        for part in ["Request", "Event"] {
            for kind in schema["$defs"][part]["oneOf"].as_array().unwrap() {
                let kind = kind["properties"]["kind"]["const"].as_str().unwrap();
                assert!(page.contains(&format!("`{kind}`")), "{part} {kind} is not in docs/messages.md");
                count += 1;
            }
        }
        assert!(count > 35, "only {count} kinds were found");
    }
}
