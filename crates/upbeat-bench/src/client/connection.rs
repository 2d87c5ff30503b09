//! The probe's Wayland connection: its globals, its window, and the state that events update.

use rustix::time::{ClockId, clock_gettime};
use wayland_client::globals::{GlobalList, registry_queue_init};
use wayland_client::protocol::{
    wl_callback::WlCallback, wl_compositor::WlCompositor, wl_output::WlOutput, wl_pointer::WlPointer, wl_seat::WlSeat,
    wl_shm::WlShm, wl_surface::WlSurface,
};
use wayland_client::{Connection, EventQueue, Proxy, QueueHandle};
use wayland_protocols::wp::fifo::v1::client::{wp_fifo_manager_v1::WpFifoManagerV1, wp_fifo_v1::WpFifoV1};
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_toplevel_decoration_v1::Mode;
use wayland_protocols::xdg::shell::client::{
    xdg_surface::XdgSurface, xdg_toplevel::XdgToplevel, xdg_wm_base::XdgWmBase,
};

use super::buffers::{BufferAllocation, ClientBuffers, PATCH};
use super::error::ClientError;
use super::gpu::{self, SimulatedGpu};
use super::injector::PointerInjector;
use super::journal::{FrameJournal, ProbeFrame};
use super::options::{ClientOptions, FloodKind};
use super::personality::ProbeKind;
use crate::block_code::BlockCode;
use upbeat_timing::time::{Clock, Instant, NANOS_PER_SECOND, Span};

/// The clock that the compositor stamps presented frames with (`wp_presentation.clock_id`).
#[derive(Clone, Copy, Debug)]
pub(super) struct PresentationClock(ClockId);

impl PresentationClock {
    /// The clock with this number of `clock_gettime(2)`; `None` when the probe cannot read it.
    pub(super) fn from_raw(id: u32) -> Option<Self> {
        let known = [ClockId::Monotonic, ClockId::Realtime, ClockId::MonotonicRaw, ClockId::Boottime];
        known.into_iter().find(|clock| *clock as u32 == id).map(PresentationClock)
    }
}

impl Clock for PresentationClock {
    fn now(&self) -> Instant {
        let time = clock_gettime(self.0);
        Instant::from_nanos(time.tv_sec as u64 * NANOS_PER_SECOND as u64 + time.tv_nsec as u64)
    }
}

#[derive(Debug)]
pub(super) struct ProbeWindow {
    pub(super) surface: WlSurface,
    // Kept alive, because a dropped handle does not destroy its object but leaves no way to do so later.
    pub(super) _xdg_surface: XdgSurface,
    pub(super) _toplevel: XdgToplevel,
    pub(super) fifo: Option<WpFifoV1>,
}

/// State of the probe. `dispatch` updates it from events; the session reads it and acts.
#[derive(Debug)]
pub(super) struct ProbeClient {
    pub(super) window: ProbeWindow,
    pub(super) presentation: WpPresentation,
    pub(super) buffers: ClientBuffers,
    /// The GPU that finishes frames after their commit, and the timeline point of the newest frame in each buffer.
    gpu: Option<(SimulatedGpu, Vec<u64>)>,
    /// A window behind the measured one: it draws only a patch, as a terminal or a clock does.
    pub(super) is_companion: bool,
    pub(super) journal: FrameJournal,
    pub(super) clock: PresentationClock,
    /// Number of the compositor's presentation clock, if the probe cannot read that clock.
    pub(super) unknown_clock: Option<u32>,
    pub(super) configured: bool,
    pub(super) closed: bool,
    /// The frame callback that was requested and is not done.
    pub(super) awaited_callback: Option<WlCallback>,
    /// When the last frame callback was done, until a frame uses it.
    pub(super) callback_at: Option<Instant>,
    /// A frame that is drawn and not committed.
    pub(super) drawn: Option<UncommittedFrame>,
    pub(super) mode_refresh: Option<Span>,
    pub(super) pointer: Option<WlPointer>,
    /// Moves the pointer; `None` without input.
    pub(super) hand: Option<PointerInjector>,
    /// Newest event number that the window has received.
    pub(super) newest_event: u32,
    /// Callbacks without a free buffer: some programs end then.
    pub(super) starved: u64,
}

/// A frame between drawing and commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct UncommittedFrame {
    pub(super) buffer: usize,
    pub(super) start: Instant,
    pub(super) cost: Span,
    /// The GPU's part of the cost.
    pub(super) on_gpu: Span,
    pub(super) event: u32,
}

impl ProbeClient {
    /// Connects, binds the globals that `options` need, creates the window (without content) and waits for its first
    /// configure.
    pub(super) fn connect(
        options: &ClientOptions,
    ) -> Result<(Connection, EventQueue<ProbeClient>, ProbeClient), ClientError> {
        let connection = Connection::connect_to_env().map_err(ClientError::Connect)?;
        let (globals, mut queue) = registry_queue_init::<ProbeClient>(&connection).map_err(ClientError::Registry)?;
        let handle = queue.handle();
        let mut client = ProbeClient::bind(options, &globals, &handle)?;
        client.window.surface.commit();
        while !client.configured {
            queue.blocking_dispatch(&mut client)?;
        }
        // A second roundtrip, for the events of the bound globals: clock, modes and seat.
        queue.roundtrip(&mut client)?;
        match client.unknown_clock {
            Some(id) => Err(ClientError::Clock { id }),
            None => Ok((connection, queue, client)),
        }
    }

    /// One commit of a client that floods.
    pub(super) fn flood(&mut self, flood: FloodKind) {
        if flood == FloodKind::Frames {
            self.window.surface.attach(Some(self.buffers.hold(0)), 0, 0);
            self.window.surface.damage_buffer(0, 0, PATCH.0, PATCH.1);
        }
        self.window.surface.commit();
    }

    fn bind(
        options: &ClientOptions,
        globals: &GlobalList,
        handle: &QueueHandle<ProbeClient>,
    ) -> Result<ProbeClient, ClientError> {
        let compositor: WlCompositor = require(globals, handle, 4..=6)?;
        let shm: WlShm = require(globals, handle, 1..=1)?;
        let wm_base: XdgWmBase = require(globals, handle, 1..=6)?;
        let presentation: WpPresentation = require(globals, handle, 1..=2)?;
        let fifo_manager: Option<WpFifoManagerV1> =
            if options.kind == ProbeKind::Fifo { Some(require(globals, handle, 1..=1)?) } else { None };
        let _: Option<WlSeat> = globals.bind(handle, 1..=5, ()).ok();
        let _: Option<WlOutput> = globals.bind(handle, 1..=2, ()).ok();

        let surface = compositor.create_surface(handle, ());
        let xdg_surface = wm_base.get_xdg_surface(&surface, handle, ());
        let toplevel = xdg_surface.get_toplevel(handle, ());
        toplevel.set_app_id(options.app_id.clone());
        toplevel.set_title("Upbeat latency probe".to_owned());
        if options.leave_decoration {
            let manager: ZxdgDecorationManagerV1 = require(globals, handle, 1..=1)?;
            manager.get_toplevel_decoration(&toplevel, handle, ()).set_mode(Mode::ServerSide);
        }
        let fifo = fifo_manager.map(|manager| manager.get_fifo(&surface, handle, ()));
        let count = (options.buffers as usize, making(options));
        let (buffers, gpu) = if options.gpu > 0.0 {
            Self::on_gpu(options, globals, &surface, handle)?
        } else {
            let shared = ClientBuffers::new(&shm, options.size.0, count, handle);
            (shared.map_err(|error| ClientError::SharedMemory(error.into()))?, None)
        };
        Ok(ProbeClient {
            window: ProbeWindow { surface, _xdg_surface: xdg_surface, _toplevel: toplevel, fifo },
            presentation,
            buffers,
            gpu: gpu.map(|gpu| (gpu, vec![0; count.0])),
            is_companion: options.companion.is_some(),
            journal: FrameJournal::with_capacity(64 * 1024),
            clock: PresentationClock(ClockId::Monotonic),
            unknown_clock: None,
            configured: false,
            closed: false,
            awaited_callback: None,
            callback_at: None,
            drawn: None,
            mode_refresh: None,
            pointer: None,
            hand: None,
            newest_event: 0,
            starved: 0,
        })
    }

    /// Buffers and timelines of a client that draws on a GPU.
    fn on_gpu(
        options: &ClientOptions,
        globals: &GlobalList,
        surface: &WlSurface,
        handle: &QueueHandle<ProbeClient>,
    ) -> Result<(ClientBuffers, Option<SimulatedGpu>), ClientError> {
        let (dmabuf, manager) = (require(globals, handle, 3..=4)?, require(globals, handle, 1..=1)?);
        let failed = |source| ClientError::Device { device: options.device.clone(), source };
        let device = gpu::open(&options.device).map_err(failed)?;
        let count = (options.buffers as usize, making(options));
        let buffers = ClientBuffers::of_device((dmabuf, &device), count, handle).map_err(failed)?;
        let gpu = SimulatedGpu::new(&manager, surface, &device, handle).map_err(failed)?;
        Ok((buffers, Some(gpu)))
    }

    /// Index of a buffer that the compositor no longer uses.
    pub(super) fn free_buffer(&self) -> Option<usize> {
        let is_done = |index: &usize| match &self.gpu {
            Some((gpu, points)) => gpu.is_released(points[*index]),
            None => true,
        };
        self.buffers.free_index().filter(is_done)
    }

    /// Draws a frame into a free buffer. It has cost `cost` since `start`, will cost the GPU `on_gpu` after the commit,
    /// and answers to `event`.
    pub(super) fn draw(&mut self, start: Instant, (cost, on_gpu): (Span, Span), event: u32) {
        let Some(buffer) = self.free_buffer() else { return };
        let frame = self.journal.len() as u32 + 1;
        if self.is_companion {
            self.buffers.draw_patch(buffer, frame);
        } else {
            self.buffers.draw(buffer, BlockCode { frame, event });
        }
        self.drawn = Some(UncommittedFrame { buffer, start, cost, on_gpu, event });
    }

    /// Commits the drawn frame in the way of this kind of client.
    pub(super) fn commit(&mut self, kind: ProbeKind, handle: &QueueHandle<ProbeClient>) {
        let Some(drawn) = self.drawn.take() else { return };
        let surface = &self.window.surface;
        surface.attach(Some(self.buffers.hold(drawn.buffer)), 0, 0);
        let (width, height) = if self.is_companion { PATCH } else { (i32::MAX, i32::MAX) };
        surface.damage_buffer(0, 0, width, height);
        if kind.asks_for_callbacks() {
            self.awaited_callback = Some(surface.frame(handle, ()));
        }
        if let Some(fifo) = &self.window.fifo {
            fifo.wait_barrier();
            fifo.set_barrier();
        }
        let index = self.journal.committed(ProbeFrame {
            callback: self.callback_at.take(),
            start: drawn.start,
            commit: self.clock.now(),
            cost: drawn.cost,
            event: drawn.event,
            outcome: Default::default(),
        });
        self.presentation.feedback(surface, handle, index);
        if let Some((gpu, points)) = &mut self.gpu {
            points[drawn.buffer] = gpu.begin(drawn.on_gpu);
        }
        surface.commit();
    }

    /// Whether presentation times and input times can be compared, because both are on the monotonic clock.
    pub(super) fn stamps_monotonic(&self) -> bool {
        self.clock.0 as u32 == ClockId::Monotonic as u32
    }
}

const fn making(options: &ClientOptions) -> BufferAllocation {
    if options.on_demand { BufferAllocation::OnDemand } else { BufferAllocation::AtOnce }
}

pub(super) fn require<I, State>(
    globals: &GlobalList,
    handle: &QueueHandle<State>,
    versions: std::ops::RangeInclusive<u32>,
) -> Result<I, ClientError>
where
    I: Proxy + 'static,
    State: wayland_client::Dispatch<I, ()> + 'static,
{
    let least = *versions.start();
    globals.bind(handle, versions, ()).map_err(|_| ClientError::Missing { interface: I::interface().name, least })
}
