//! What the client is asked to play, why it cannot, and what it hears.

use std::io;

use serde::{Deserialize, Serialize};
use wayland_client::globals::BindError;
use wayland_client::protocol::{wl_pointer, wl_touch};

use super::course::ScrollInput;
use upbeat_client::ScrollError;
use upbeat_lab::strokes::StrokeError;

/// Who moves the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScrollMode {
    /// The compositor, by `upbeat_scroll_v1`.
    View,
    /// The client, which commits a viewport for each refresh.
    Viewport,
    /// The client, which renders each frame.
    Frames,
}

impl ScrollMode {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ScrollMode::View => "view",
            ScrollMode::Viewport => "viewport",
            ScrollMode::Frames => "frames",
        }
    }
}

/// What to play.
#[derive(Clone, Debug, clap::Args)]
pub struct PageOptions {
    /// Who moves the document
    #[arg(long, value_enum)]
    pub mode: ScrollMode,
    /// What scrolls: a speed in pixels per second, `wheel`, `touch=FILE` or `touchpad=FILE`
    #[arg(long, allow_hyphen_values = true)]
    pub input: ScrollInput,
    /// For how long
    #[arg(long, default_value_t = 10.0)]
    pub seconds: f64,
    /// Seconds of rest after each second at a constant speed
    #[arg(long, default_value_t = 0.0)]
    pub pause: f64,
    /// What rendering one window takes, in milliseconds
    #[arg(long, default_value_t = 4.0)]
    pub cost: f64,
    /// Lengths of the view from its near edge to the end of what is rendered ahead. A compositor that moves the view has
    /// its own
    #[arg(long, default_value_t = 2.0)]
    pub n: f64,
    /// Whether it is shown where the fingers will be
    #[arg(long, action = clap::ArgAction::Set, default_value_t = true)]
    pub predicts: bool,
    /// Whether it goes left and right instead of up and down
    #[arg(long, action = clap::ArgAction::Set, default_value_t = false)]
    pub across: bool,
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// No compositor.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(#[from] wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(#[from] wayland_client::globals::GlobalError),
    /// A protocol is missing.
    #[error("the compositor lacks a protocol that scrolling needs: {0}")]
    Missing(#[from] BindError),
    /// There is no way to scroll.
    #[error(transparent)]
    Scroll(#[from] ScrollError),
    /// The compositor does not move views.
    #[error("the compositor has no upbeat_scroll_v1: [scroll] views = false")]
    NoViews,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Dispatch(#[from] wayland_client::DispatchError),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Connection(#[from] wayland_client::backend::WaylandError),
    /// No memory, or waiting failed.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] StrokeError),
    /// Input cannot be played.
    #[error("the session has no private socket to play input with, or it was lost")]
    NoFinger,
    /// Nothing came on screen.
    #[error("the document was not shown within ten seconds")]
    NeverShown,
}

/// What the client knows. Events change it (`dispatch`); [`run`] acts.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub configured: bool,
    pub closed: bool,
    pub size: (i32, i32),
    pub released: Vec<usize>,
    pub pointer: Vec<wl_pointer::Event>,
    pub touch: Vec<wl_touch::Event>,
}
