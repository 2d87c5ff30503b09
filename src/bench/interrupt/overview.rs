//! Two windows, and a key that makes the compositor's own overview come and go while it is still on its way.

use std::io;

use serde::{Deserialize, Serialize};
use wayland_client::Connection;
use wayland_client::backend::WaylandError;
use wayland_client::globals::{BindError, registry_queue_init};

use super::player::WARM_UP;
use super::presser::{Press, Presser};
use crate::bench::animations::{BEHIND, FRONT, Globals, OPACITY, Windows, rest};
use crate::bench::process::{Usage, peer_of};
use crate::time::{Instant, Span};

/// How long the windows' appearance may take.
const APPEARANCE: Span = Span::from_seconds(1);
/// How often it is looked whether all was pressed.
const LOOK: Span = Span::from_millis(200);

/// What to press.
#[derive(Clone, Debug, clap::Args)]
pub struct OverviewOptions {
    /// How often
    #[arg(long, default_value_t = 100)]
    pub presses: usize,
    /// The display's refresh rate
    #[arg(long, value_name = "HZ", default_value_t = 60.0)]
    pub refresh: f64,
    /// Seed of the times of the presses
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What was pressed, and what both sides used meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pressed {
    /// When each press was sent.
    pub presses: Vec<Instant>,
    /// CPU time of the compositor.
    pub compositor_cpu_ms: f64,
    /// CPU time of this client.
    pub client_cpu_ms: f64,
}

/// Why nothing was pressed.
#[derive(Debug, thiserror::Error)]
pub enum OverviewError {
    /// No compositor.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(#[from] wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(#[from] wayland_client::globals::GlobalError),
    /// A protocol is missing.
    #[error("the compositor lacks a protocol that the client needs: {0}")]
    Missing(#[from] BindError),
    /// No key can be pressed.
    #[error("the compositor has no virtual keyboard to press")]
    NoKeyboard,
    /// The windows are not there.
    #[error(transparent)]
    Windows(#[from] crate::bench::animations::WindowsError),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Connection(#[from] WaylandError),
    /// What a process used cannot be read.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Opens the windows and presses.
///
/// # Errors
/// If there is no compositor, or it lacks what is needed, or the connection breaks.
pub fn run(options: &OverviewOptions) -> Result<Pressed, OverviewError> {
    let connection = Connection::connect_to_env()?;
    let (list, mut queue) = registry_queue_init::<Windows>(&connection)?;
    let globals = Globals::bind(&list, &queue.handle())?;
    let mut windows = Windows::default();
    let compositor = peer_of(connection.backend().poll_fd())?;
    globals.open(0, (BEHIND, 1.0), &mut windows, &mut queue)?;
    globals.open(1, (FRONT, OPACITY), &mut windows, &mut queue)?;
    rest(&mut windows, &mut queue, APPEARANCE, None)?;
    let usage = || -> io::Result<[Usage; 2]> { Ok([Usage::of(compositor)?, Usage::of(std::process::id())?]) };
    let before = usage()?;
    let interval = Span::from_millihertz((options.refresh * 1_000.0).round() as u32);
    let presser = Presser::start(Press::Key, WARM_UP + options.presses, interval, options.seed)
        .ok_or(OverviewError::NoKeyboard)?;
    while !presser.is_done() {
        rest(&mut windows, &mut queue, LOOK, None)?;
    }
    let after = usage()?;
    let [compositor_cpu_ms, client_cpu_ms] =
        std::array::from_fn(|side| after[side].since(before[side]).cpu.as_millis_f64());
    Ok(Pressed { presses: presser.stop(), compositor_cpu_ms, client_cpu_ms })
}
