//! Options, errors and state of the scroll client.

use std::io;

use serde::{Deserialize, Serialize};
use wayland_client::globals::BindError;
use wayland_client::protocol::{wl_pointer, wl_touch};

use super::course::ScrollInput;
use upbeat_client::ScrollError;
use upbeat_lab::strokes::StrokeError;
use upbeat_timing::time::Instant;

/// How the document is moved
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScrollMode {
    /// By the compositor, with `upbeat_scroll_v1`
    View,
    /// By the client, which commits a viewport for each refresh
    Viewport,
    /// By the client, which renders each frame
    Frames,
}

impl ScrollMode {
    /// The value on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ScrollMode::View => "view",
            ScrollMode::Viewport => "viewport",
            ScrollMode::Frames => "frames",
        }
    }
}

/// Input and rendering of the client.
#[derive(Clone, Debug, clap::Args)]
pub struct PageOptions {
    /// Way to scroll
    #[arg(long, value_enum)]
    pub mode: ScrollMode,
    /// Input: a speed in pixels per second, `wheel`, `touch=FILE` or `touchpad=FILE`
    #[arg(long, allow_hyphen_values = true)]
    pub input: ScrollInput,
    /// How long to scroll, in seconds
    #[arg(long, default_value_t = 10.0)]
    pub seconds: f64,
    /// Seconds of rest after each second at a constant speed
    #[arg(long, default_value_t = 0.0)]
    pub pause: f64,
    /// Time to render one window, in milliseconds
    #[arg(long, default_value_t = 4.0)]
    pub cost: f64,
    /// Distance from the view's near edge to the end of the content rendered ahead, in lengths of the view. A
    /// compositor that moves the view uses its own setting
    #[arg(long, default_value_t = 2.0)]
    pub n: f64,
    /// Whether to predict the fingers' position
    #[arg(long, action = clap::ArgAction::Set, default_value_t = true)]
    pub predicts: bool,
    /// Whether to scroll left and right instead of up and down
    #[arg(long, action = clap::ArgAction::Set, default_value_t = false)]
    pub across: bool,
}

/// Why the client could not run.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// No compositor could be reached.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(#[from] wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(#[from] wayland_client::globals::GlobalError),
    /// The compositor lacks a protocol.
    #[error("the compositor lacks a protocol that scrolling needs: {0}")]
    Missing(#[from] BindError),
    /// The compositor supports no way to scroll.
    #[error(transparent)]
    Scroll(#[from] ScrollError),
    /// The compositor does not move views.
    #[error("the compositor has no upbeat_scroll_v1: [scroll] views = false")]
    NoViews,
    #[error("the connection broke: {0}")]
    Dispatch(#[from] wayland_client::DispatchError),
    #[error("the connection broke: {0}")]
    Connection(#[from] wayland_client::backend::WaylandError),
    /// No memory, or `poll` failed.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] StrokeError),
    /// The session's private socket cannot be used for input.
    #[error("the session has no private socket to play input with, or it was lost")]
    NoFinger,
    /// No frame came on screen.
    #[error("the document was not shown within ten seconds")]
    NeverShown,
}

/// State of the client. `dispatch` updates it from events; [`run`] acts.
#[derive(Debug, Default)]
pub(super) struct ScrollClient {
    pub configured: bool,
    pub closed: bool,
    pub size: (i32, i32),
    pub released: Vec<usize>,
    pub pointer: Vec<wl_pointer::Event>,
    pub touch: Vec<wl_touch::Event>,
    /// Presentation time of the first screen, once reported.
    pub first_light: Option<Instant>,
    /// The first screen was presented, or was replaced before that.
    pub is_first_over: bool,
}
