//! A small client that plays one of several roles. It runs in a process of its own (this test binary, started again)
//! and prints its events on its standard output: `shown`, `enter`, `leave`, and the events of its [seat](super::seat).

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use wayland_client::globals::{GlobalList, GlobalListContents, registry_queue_init};
use wayland_client::protocol::{
    wl_buffer::WlBuffer, wl_callback, wl_callback::WlCallback, wl_compositor::WlCompositor, wl_output::WlOutput,
    wl_registry, wl_registry::WlRegistry, wl_seat::WlSeat, wl_shm, wl_shm::WlShm, wl_shm_pool::WlShmPool, wl_surface,
    wl_surface::WlSurface,
};
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, delegate_noop};
use wayland_protocols::xdg::shell::client::{
    xdg_surface, xdg_surface::XdgSurface, xdg_toplevel::XdgToplevel, xdg_wm_base, xdg_wm_base::XdgWmBase,
};

/// Environment variable with the role.
pub const VARIABLE: &str = "UPBEAT_TEST_CLIENT";
/// The window's size and colour.
pub const SIZE: (i32, i32) = (200, 100);
pub const COLOUR: u32 = 0x00_33_66_cc;
/// Frames that `late` draws in time before a frame takes [`PAUSE`].
pub const STEADY_FRAMES: u32 = 30;
/// Longer than two refreshes, but shorter than three: after three a client counts as idle.
pub const PAUSE: Duration = Duration::from_millis(40);
/// Updates that `roleless` commits one by one.
const COMMITS: u32 = 4_000;
/// After this time without a frame, the timing of a 480 Hz output is unknown.
pub const UNKNOWN: Duration = Duration::from_secs(4);
/// Pause between two updates of `roleless`.
const BREATH: Duration = Duration::from_micros(300);

/// Size of a pool of `huge` in bytes.
const MUCH: i32 = 16 << 20;

const BUFFERS: usize = 4;
const BYTES: i32 = SIZE.0 * SIZE.1 * 4;

/// Plays `role` until the compositor is gone or the role ends.
pub fn play(role: &str) {
    // The test harness has begun a line with the name of this test.
    say("");
    let (name, stage) = role.split_once(':').unwrap_or((role, "0"));
    let stage: u32 = stage.parse().unwrap();
    let dies = |at: u32| {
        if name == "dies" && stage == at {
            std::process::abort();
        }
    };
    if name == "opens" {
        (0..stage).for_each(|_| open_and_go());
        return say("done");
    }
    dies(0);
    let (connection, mut queue, mut client) = RoleClient::connect(name);
    dies(1);
    client.surface.commit();
    dies(2);
    while !client.configured {
        if queue.blocking_dispatch(&mut client).is_err() {
            return;
        }
    }
    dies(3);
    client.draw();
    // Send the pending requests; then the client dies with everything half done.
    let _ = connection.flush();
    dies(4);
    match name {
        "flood" => flood(&connection, || {
            client.surface.damage(0, 0, 10, 10);
            client.surface.commit();
        }),
        "deaf" => flood(&connection, || {
            connection.display().sync(&client.handle, ());
        }),
        "huge" => return asks_for_much(&mut queue, &mut client),
        "roleless" => return commits_unseen(&mut queue, &mut client),
        _ => {}
    }
    let mut frames = 0;
    while queue.blocking_dispatch(&mut client).is_ok() {
        if !std::mem::take(&mut client.called_back) || name == "idle" {
            continue;
        }
        frames += 1;
        if frames > 3 {
            dies(5);
        }
        if name == "late" && frames % STEADY_FRAMES == 0 {
            std::thread::sleep(PAUSE);
        }
        if name == "shrinks" {
            rustix::fs::ftruncate(&client.memory, 0).unwrap();
        }
        client.draw();
    }
}

/// A program that connects, shows a window and exits.
fn open_and_go() {
    let (_connection, mut queue, mut client) = RoleClient::connect("opens");
    client.surface.commit();
    while !client.configured {
        queue.blocking_dispatch(&mut client).unwrap();
    }
    client.draw();
    queue.roundtrip(&mut client).unwrap();
}

/// Creates more and more pools, until the compositor refuses to map them.
fn asks_for_much(queue: &mut EventQueue<RoleClient>, client: &mut RoleClient) {
    while queue.roundtrip(client).is_ok() {
        let memory = rustix::fs::memfd_create("much", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&memory, MUCH as u64).unwrap();
        client.shm.create_pool(memory.as_fd(), MUCH, &client.handle, ());
    }
}

/// Destroys the window but keeps its surface, waits, and then commits invisible updates one by one.
fn commits_unseen(queue: &mut EventQueue<RoleClient>, client: &mut RoleClient) {
    while !client.shown {
        queue.blocking_dispatch(client).unwrap();
    }
    let (xdg, toplevel, ..) = &client._objects;
    toplevel.destroy();
    xdg.destroy();
    client.surface.attach(None, 0, 0);
    client.surface.commit();
    queue.roundtrip(client).unwrap();
    std::thread::sleep(UNKNOWN);
    for number in 0..COMMITS {
        client.surface.attach((number % 2 == 0).then_some(&client.buffers[0]), 0, 0);
        client.surface.damage(0, 0, 10, 10);
        client.surface.commit();
        queue.roundtrip(client).unwrap();
        // Pause, because a client that floods is throttled.
        std::thread::sleep(BREATH);
    }
    say("done");
    while queue.blocking_dispatch(client).is_ok() {}
}

/// Sends as fast as the socket accepts it, and reads nothing.
fn flood(connection: &Connection, mut request: impl FnMut()) {
    loop {
        (0..64).for_each(|_| request());
        match connection.flush() {
            Ok(()) => {}
            Err(wayland_client::backend::WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                let backend = connection.backend();
                let _ = poll(&mut [PollFd::new(&backend.poll_fd(), PollFlags::OUT)], None);
            }
            Err(_) => return,
        }
    }
}

pub struct RoleClient {
    handle: QueueHandle<RoleClient>,
    shm: WlShm,
    surface: WlSurface,
    _objects: (XdgSurface, XdgToplevel, Vec<WlOutput>, Option<WlSeat>),
    memory: OwnedFd,
    buffers: Vec<WlBuffer>,
    next: usize,
    configured: bool,
    called_back: bool,
    shown: bool,
}

impl RoleClient {
    fn connect(app_id: &str) -> (Connection, EventQueue<RoleClient>, RoleClient) {
        let connection = Connection::connect_to_env().expect("a compositor");
        let (globals, queue) = registry_queue_init::<RoleClient>(&connection).expect("globals");
        let handle = queue.handle();
        let compositor: WlCompositor = globals.bind(&handle, 4..=6, ()).unwrap();
        let shm: WlShm = globals.bind(&handle, 1..=1, ()).unwrap();
        let base: XdgWmBase = globals.bind(&handle, 1..=5, ()).unwrap();
        let surface = compositor.create_surface(&handle, ());
        let xdg = base.get_xdg_surface(&surface, &handle, ());
        let toplevel = xdg.get_toplevel(&handle, ());
        toplevel.set_app_id(app_id.to_owned());
        toplevel.set_title(app_id.to_owned());
        let (memory, buffers) = buffers(&shm, &handle);
        let outputs = bind_outputs(&globals, &handle);
        let seat = globals.bind(&handle, 5..=8, ()).ok();
        let client = RoleClient {
            handle,
            shm,
            surface,
            _objects: (xdg, toplevel, outputs, seat),
            memory,
            buffers,
            next: 0,
            configured: false,
            called_back: false,
            shown: false,
        };
        (connection, queue, client)
    }

    fn draw(&mut self) {
        self.surface.attach(Some(&self.buffers[self.next]), 0, 0);
        self.next = (self.next + 1) % BUFFERS;
        self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        self.surface.frame(&self.handle, ());
        self.surface.commit();
    }
}

fn bind_outputs(globals: &GlobalList, handle: &QueueHandle<RoleClient>) -> Vec<WlOutput> {
    let all = globals.contents().clone_list();
    let outputs = all.iter().filter(|global| global.interface == WlOutput::interface().name);
    outputs.map(|global| globals.registry().bind(global.name, 1, handle, ())).collect()
}

fn buffers(shm: &WlShm, handle: &QueueHandle<RoleClient>) -> (OwnedFd, Vec<WlBuffer>) {
    let memory = rustix::fs::memfd_create("pixels", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    let pixels: Vec<u8> = COLOUR.to_ne_bytes().repeat((SIZE.0 * SIZE.1) as usize * BUFFERS);
    std::fs::File::from(memory.try_clone().unwrap()).write_all(&pixels).unwrap();
    let pool = shm.create_pool(memory.as_fd(), BYTES * BUFFERS as i32, handle, ());
    let buffer = |number: usize| {
        let offset = BYTES * number as i32;
        pool.create_buffer(offset, SIZE.0, SIZE.1, SIZE.0 * 4, wl_shm::Format::Xrgb8888, handle, ())
    };
    (memory, (0..BUFFERS).map(buffer).collect())
}

pub fn say(word: &str) {
    // The reader of our output may be gone.
    let _ = writeln!(std::io::stdout(), "{word}");
}

impl Dispatch<WlRegistry, GlobalListContents> for RoleClient {
    fn event(
        _: &mut Self,
        registry: &WlRegistry,
        event: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        // An output may be plugged in later.
        if let wl_registry::Event::Global { name, interface, .. } = event
            && interface == WlOutput::interface().name
        {
            registry.bind::<WlOutput, _, _>(name, 1, handle, ());
        }
    }
}

impl Dispatch<WlSurface, ()> for RoleClient {
    fn event(_: &mut Self, _: &WlSurface, event: wl_surface::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        match event {
            wl_surface::Event::Enter { .. } => say("enter"),
            wl_surface::Event::Leave { .. } => say("leave"),
            _ => {}
        }
    }
}

impl Dispatch<WlCallback, ()> for RoleClient {
    fn event(
        client: &mut Self,
        _: &WlCallback,
        event: wl_callback::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            client.called_back = true;
            if !std::mem::replace(&mut client.shown, true) {
                say("shown");
            }
        }
    }
}

impl Dispatch<XdgSurface, ()> for RoleClient {
    fn event(
        client: &mut Self,
        surface: &XdgSurface,
        event: xdg_surface::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            client.configured = true;
        }
    }
}

impl Dispatch<XdgWmBase, ()> for RoleClient {
    fn event(_: &mut Self, base: &XdgWmBase, event: xdg_wm_base::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            base.pong(serial);
        }
    }
}

delegate_noop!(RoleClient: ignore WlCompositor);
delegate_noop!(RoleClient: ignore WlShm);
delegate_noop!(RoleClient: ignore WlShmPool);
delegate_noop!(RoleClient: ignore WlBuffer);
delegate_noop!(RoleClient: ignore WlOutput);
delegate_noop!(RoleClient: ignore XdgToplevel);
