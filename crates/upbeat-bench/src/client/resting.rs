//! Windows that do nothing, as of programs that a user has left open. The bench measures their cost for the other
//! clients.
//!
//! One process has all of them, since a process for each would need more memory than the compositor. Each line on stdin
//! opens one more window, for measurements of its cost: in a new client, or, if the line is `beside`, in the client
//! that opened the last window.

use std::io::{BufRead as _, BufReader, Stdin, stdin};
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use wayland_client::globals::registry_queue_init;
use wayland_client::protocol::{
    wl_buffer::WlBuffer, wl_compositor::WlCompositor, wl_shm, wl_shm::WlShm, wl_shm_pool::WlShmPool,
    wl_surface::WlSurface,
};
use wayland_client::{Connection, EventQueue, delegate_noop};
use wayland_protocols::xdg::decoration::zv1::client::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_toplevel_decoration_v1::{Mode, ZxdgToplevelDecorationV1};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::XdgSurface, xdg_toplevel::XdgToplevel, xdg_wm_base::XdgWmBase,
};

use super::connection::require;
use super::error::ClientError;
use crate::dispatch_macros::{answer_pings, track_window};
use crate::report::RunReport;
use upbeat_client::memory::SharedMemory;

/// Size of each window in pixels: about a terminal's.
const SIZE: (usize, usize) = (320, 240);
const COLOUR: u32 = 0xff38_4858;

/// A client's connection and its windows.
struct RestingClient {
    queue: EventQueue<RestingToplevel>,
    window: RestingToplevel,
    connection: Connection,
    compositor: WlCompositor,
    shm: WlShm,
    base: XdgWmBase,
    /// `None` if windows have no decoration.
    decorations: Option<ZxdgDecorationManagerV1>,
    // Kept alive as long as the windows.
    objects: Vec<(WlSurface, XdgSurface, XdgToplevel, WlBuffer)>,
}

/// Properties that all clients of a run share.
struct RestingGroup {
    memory: SharedMemory,
    /// Whether the compositor draws title bars and edges.
    decorated: bool,
}

#[derive(Debug, Default)]
struct RestingToplevel {
    configured: bool,
    closed: bool,
}

impl RestingClient {
    /// Opens windows of a new client, and returns after the compositor has processed their content.
    fn open(group: &RestingGroup, numbers: std::ops::Range<u32>) -> Result<RestingClient, ClientError> {
        let connection = Connection::connect_to_env().map_err(ClientError::Connect)?;
        let (globals, queue) = registry_queue_init::<RestingToplevel>(&connection).map_err(ClientError::Registry)?;
        let handle = queue.handle();
        let compositor: WlCompositor = require(&globals, &handle, 4..=6)?;
        let shm: WlShm = require(&globals, &handle, 1..=1)?;
        let base: XdgWmBase = require(&globals, &handle, 1..=6)?;
        let decorations = group.decorated.then(|| require(&globals, &handle, 1..=1)).transpose()?;
        let (window, objects) = (RestingToplevel::default(), Vec::new());
        let mut resting = RestingClient { queue, window, connection, compositor, shm, base, decorations, objects };
        resting.open_windows(&group.memory, numbers)?;
        Ok(resting)
    }

    /// Opens more windows of this client.
    fn open_windows(&mut self, memory: &SharedMemory, numbers: std::ops::Range<u32>) -> Result<(), ClientError> {
        let RestingClient { queue, window, compositor, shm, base, decorations, objects, .. } = self;
        let handle = queue.handle();
        let pool = shm.create_pool(memory.file().as_fd(), memory.bytes() as i32, &handle, ());
        let (width, height, stride) = (SIZE.0 as i32, SIZE.1 as i32, (SIZE.0 * size_of::<u32>()) as i32);
        for number in numbers {
            let surface = compositor.create_surface(&handle, ());
            let xdg = base.get_xdg_surface(&surface, &handle, ());
            let toplevel = xdg.get_toplevel(&handle, ());
            toplevel.set_app_id(format!("upbeat-resting-{number}"));
            toplevel.set_title(format!("Resting window {number}"));
            if let Some(manager) = decorations {
                manager.get_toplevel_decoration(&toplevel, &handle, ()).set_mode(Mode::ServerSide);
            }
            surface.commit();
            // An earlier window of this client may be configured meanwhile: one roundtrip surely brings this window's
            // configure.
            window.configured = false;
            queue.roundtrip(window)?;
            while !window.configured {
                queue.blocking_dispatch(window)?;
            }
            let buffer = pool.create_buffer(0, width, height, stride, wl_shm::Format::Xrgb8888, &handle, ());
            surface.attach(Some(&buffer), 0, 0);
            surface.damage_buffer(0, 0, width, height);
            surface.commit();
            objects.push((surface, xdg, toplevel, buffer));
        }
        pool.destroy();
        queue.roundtrip(window)?;
        Ok(())
    }

    /// Reads and dispatches events, and flushes the answers.
    fn dispatch(&mut self) -> Result<(), ClientError> {
        if let Some(guard) = self.queue.prepare_read() {
            guard.read()?;
        }
        self.queue.dispatch_pending(&mut self.window)?;
        self.queue.flush()?;
        Ok(())
    }
}

/// Opens `count` windows, `each` of a client, prints `ready` on stdout, and rests until stdin closes. Each line on
/// stdin opens one more window; the answer is `opened`. The compositor decorates the windows if `decorated` is set.
pub(super) fn run_resting(count: u32, each: u32, decorated: bool) -> Result<RunReport, ClientError> {
    let mut memory = SharedMemory::new("upbeat-resting", SIZE.0 * SIZE.1).map_err(|error| {
        let error: std::io::Error = error.into();
        ClientError::SharedMemory(error)
    })?;
    memory.pixels_mut().fill(COLOUR);
    let group = RestingGroup { memory, decorated };
    let firsts = (0..count).step_by(each.max(1) as usize);
    let groups = firsts.map(|first| RestingClient::open(&group, first..count.min(first.saturating_add(each))));
    let mut windows = groups.collect::<Result<Vec<_>, _>>()?;
    println!("ready");
    let mut orders = BufReader::new(stdin());
    let mut number = count;
    while let Some(order) = wait(&mut windows, &mut orders)? {
        match (order, windows.last_mut()) {
            (None, _) => continue,
            (Some(OpenRequest::Beside), Some(last)) => last.open_windows(&group.memory, number..number + 1)?,
            (Some(_), _) => windows.push(RestingClient::open(&group, number..number + 1)?),
        }
        number += 1;
        println!("opened");
    }
    Ok(RunReport { load: "none".into(), kind: "resting".into(), ..RunReport::default() })
}

/// Which client opens one more window.
#[derive(Clone, Copy, Debug)]
enum OpenRequest {
    /// A new client.
    Alone,
    /// The client that was created last.
    Beside,
}

/// Waits for events, which are dispatched, and for a line on stdin; `None` when stdin is closed.
fn wait(
    windows: &mut [RestingClient],
    orders: &mut BufReader<Stdin>,
) -> Result<Option<Option<OpenRequest>>, ClientError> {
    let (spoken, ordered) = {
        let mut descriptors: Vec<_> =
            windows.iter().map(|window| PollFd::new(&window.connection, PollFlags::IN)).collect();
        descriptors.push(PollFd::new(orders.get_ref(), PollFlags::IN));
        poll(&mut descriptors, None)?;
        let mut ready = descriptors.iter().map(|descriptor| !descriptor.revents().is_empty());
        let spoken: Vec<bool> = ready.by_ref().take(windows.len()).collect();
        (spoken, ready.next().unwrap_or(false))
    };
    windows.iter_mut().zip(spoken).filter(|(_, spoken)| *spoken).try_for_each(|(window, _)| window.dispatch())?;
    if !ordered {
        return Ok(Some(None));
    }
    let mut line = String::new();
    let read = orders.read_line(&mut line).ok().filter(|bytes| *bytes > 0);
    Ok(read.map(|_| Some(if line.trim() == "beside" { OpenRequest::Beside } else { OpenRequest::Alone })))
}

answer_pings!(RestingToplevel);
track_window!(RestingToplevel);
delegate_noop!(RestingToplevel: ignore WlBuffer);
delegate_noop!(RestingToplevel: ignore WlCompositor);
delegate_noop!(RestingToplevel: ignore WlShm);
delegate_noop!(RestingToplevel: ignore WlShmPool);
delegate_noop!(RestingToplevel: ignore WlSurface);
delegate_noop!(RestingToplevel: ignore ZxdgDecorationManagerV1);
delegate_noop!(RestingToplevel: ignore ZxdgToplevelDecorationV1);
