//! The animation client: one window at rest, and another that opens, is maximised, restored and closed.

use std::io;

use serde::{Deserialize, Serialize};
use wayland_client::backend::WaylandError;
use wayland_client::globals::{BindError, GlobalList, registry_queue_init};
use wayland_client::protocol::{wl_compositor::WlCompositor, wl_surface::WlSurface};
use wayland_client::{Connection, EventQueue, QueueHandle};
use wayland_protocols::wp::single_pixel_buffer::v1::client::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1;
use wayland_protocols::wp::viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::XdgSurface, xdg_toplevel::XdgToplevel, xdg_wm_base::XdgWmBase,
};

use crate::process::{ProcessUsage, peer_pid};
use crate::wait::wait;
use upbeat_timing::time::{Clock as _, MonotonicClock, Span};

/// Size of the window at rest: opaque, and so large that the moving window lies above it.
pub(crate) const BEHIND: (i32, i32) = (480, 360);
/// Size of the moving window before it is maximised.
pub(crate) const FRONT: (i32, i32) = (400, 300);
/// Opacity of the moving window, so that its blurred background is visible.
pub(crate) const OPACITY: f64 = 0.6;

/// Windows and their animations.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct WindowsOptions {
    /// How often a window opens, is maximised, restored and closed
    #[arg(long, default_value_t = 20)]
    pub rounds: u32,
    /// From one change to the next, in milliseconds: longer than any animation
    #[arg(long, value_name = "MS", default_value_t = 900)]
    pub pause: u32,
}

/// CPU time of both processes during the run, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CpuTimeUsed {
    /// The compositor, including all its threads.
    pub compositor_cpu_ms: f64,
    pub client_cpu_ms: f64,
}

/// Why the client could not run.
#[derive(Debug, thiserror::Error)]
pub enum WindowsError {
    /// No compositor could be reached.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(#[from] wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(#[from] wayland_client::globals::GlobalError),
    /// The compositor lacks a protocol.
    #[error("the compositor lacks a protocol that the client needs: {0}")]
    Missing(#[from] BindError),
    #[error("the connection broke: {0}")]
    Dispatch(#[from] wayland_client::DispatchError),
    #[error("the connection broke: {0}")]
    Connection(#[from] WaylandError),
    /// `poll` failed, or the CPU time of a process cannot be read.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// State of the client; `dispatch` updates it from events.
#[derive(Debug, Default)]
pub(super) struct WindowsState {
    /// Configure events since the last look: the window's number, width and height (0: the client may choose).
    pub(super) configured: Vec<(usize, i32, i32)>,
    /// The size in the last `xdg_toplevel.configure`.
    pub(super) size: (i32, i32),
}

/// Globals that a window needs.
struct WindowGlobals {
    compositor: WlCompositor,
    base: XdgWmBase,
    pixels: WpSinglePixelBufferManagerV1,
    viewporter: WpViewporter,
    handle: QueueHandle<WindowsState>,
}

pub(crate) struct ColourWindow {
    surface: WlSurface,
    xdg: XdgSurface,
    toplevel: XdgToplevel,
    viewport: WpViewport,
}

impl WindowGlobals {
    fn bind(globals: &GlobalList, handle: &QueueHandle<WindowsState>) -> Result<WindowGlobals, BindError> {
        Ok(WindowGlobals {
            compositor: globals.bind(handle, 4..=6, ())?,
            base: globals.bind(handle, 1..=6, ())?,
            pixels: globals.bind(handle, 1..=1, ())?,
            viewporter: globals.bind(handle, 1..=1, ())?,
            handle: handle.clone(),
        })
    }
}

/// The client's connection, and the compositor's process.
pub(crate) struct WindowsClient {
    globals: WindowGlobals,
    windows: WindowsState,
    queue: EventQueue<WindowsState>,
    /// Process id of the compositor.
    compositor: u32,
}

impl WindowsClient {
    /// Connects to the compositor that the environment names.
    pub(crate) fn connect() -> Result<WindowsClient, WindowsError> {
        let connection = Connection::connect_to_env()?;
        let (list, queue) = registry_queue_init::<WindowsState>(&connection)?;
        let globals = WindowGlobals::bind(&list, &queue.handle())?;
        let compositor = peer_pid(connection.backend().poll_fd())?;
        Ok(WindowsClient { globals, windows: WindowsState::default(), queue, compositor })
    }

    /// Opens a window of one colour, and commits its content after the first configure.
    pub(crate) fn open(
        &mut self,
        number: usize,
        (size, opacity): ((i32, i32), f64),
    ) -> Result<ColourWindow, WindowsError> {
        let WindowsClient { globals, windows, queue, .. } = self;
        let surface = globals.compositor.create_surface(&globals.handle, ());
        let xdg = globals.base.get_xdg_surface(&surface, &globals.handle, number);
        let toplevel = xdg.get_toplevel(&globals.handle, ());
        toplevel.set_app_id("upbeat-windows".to_owned());
        let viewport = globals.viewporter.get_viewport(&surface, &globals.handle, ());
        surface.commit();
        while !windows.configured.iter().any(|(of, ..)| *of == number) {
            queue.blocking_dispatch(windows)?;
        }
        windows.configured.clear();
        // Wayland buffers have premultiplied alpha.
        let channel = |share: f64| (share * opacity * f64::from(u32::MAX)) as u32;
        let (red, green, blue, alpha) = (channel(0.4), channel(0.6), channel(0.9), channel(1.0));
        let pixel = globals.pixels.create_u32_rgba_buffer(red, green, blue, alpha, &globals.handle, ());
        viewport.set_destination(size.0, size.1);
        surface.attach(Some(&pixel), 0, 0);
        surface.damage_buffer(0, 0, 1, 1);
        surface.commit();
        Ok(ColourWindow { surface, xdg, toplevel, viewport })
    }

    /// Waits for `pause` and only answers configures of `window`.
    pub(crate) fn rest(&mut self, pause: Span, window: Option<&ColourWindow>) -> Result<(), WindowsError> {
        let WindowsClient { windows, queue, .. } = self;
        let until = MonotonicClock.now() + pause;
        while MonotonicClock.now() < until {
            wait::<_, WindowsError>(queue, windows, Some(until))?;
            let newest = windows.configured.drain(..).next_back();
            if let (Some((_, width, height)), Some(window)) = (newest, window) {
                let size = if width > 0 && height > 0 { (width, height) } else { FRONT };
                window.viewport.set_destination(size.0, size.1);
                window.surface.commit();
            }
        }
        Ok(())
    }

    /// The result of `act`, and the CPU time of both processes meanwhile.
    pub(crate) fn measure<A, E: From<WindowsError>>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<A, E>,
    ) -> Result<(A, CpuTimeUsed), E> {
        let before = self.usage()?;
        let done = act(self)?;
        let after = self.usage()?;
        let [compositor_cpu_ms, client_cpu_ms] =
            std::array::from_fn(|side| after[side].since(before[side]).cpu.as_millis_f64());
        Ok((done, CpuTimeUsed { compositor_cpu_ms, client_cpu_ms }))
    }

    fn usage(&self) -> Result<[ProcessUsage; 2], WindowsError> {
        Ok([ProcessUsage::of(self.compositor)?, ProcessUsage::of(std::process::id())?])
    }
}

impl ColourWindow {
    fn close(self) {
        self.viewport.destroy();
        self.toplevel.destroy();
        self.xdg.destroy();
        self.surface.destroy();
    }
}

/// Opens, maximises, restores and closes windows; returns the CPU time of both processes.
///
/// # Errors
/// If there is no compositor, or it lacks a protocol, or the connection breaks.
pub fn run(options: &WindowsOptions) -> Result<CpuTimeUsed, WindowsError> {
    let mut stage = WindowsClient::connect()?;
    let pause = Span::from_millis(options.pause.into());
    stage.open(0, (BEHIND, 1.0))?;
    stage.rest(pause, None)?;
    let ((), used) = stage.measure(|stage| {
        for round in 1..=options.rounds as usize {
            let window = stage.open(round, (FRONT, OPACITY))?;
            stage.rest(pause, Some(&window))?;
            window.toplevel.set_maximized();
            stage.rest(pause, Some(&window))?;
            window.toplevel.unset_maximized();
            stage.rest(pause, Some(&window))?;
            window.close();
            stage.rest(pause, None)?;
        }
        Ok::<_, WindowsError>(())
    })?;
    Ok(used)
}
