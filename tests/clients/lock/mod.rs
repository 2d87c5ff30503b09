//! Session lock: visible content, input focus and unlocking, even with faulty lockers and clients.

mod granting;
mod input;
mod outputs;
mod unlocking;

use crate::fixture::client::TestClientState;
use crate::fixture::content::{GREEN, Xrgb8888Pixel};
use crate::fixture::{ClientEvent, ClientIndex, KEY_A, OUTPUT, TestWorld};
use upbeat::input::InputEvent;
use wayland_client::protocol::wl_output::WlOutput;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_manager_v1::{self, ExtSessionLockManagerV1};
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_surface_v1::{self, ExtSessionLockSurfaceV1};
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_v1::{self, ExtSessionLockV1};

impl Dispatch<ExtSessionLockManagerV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &ExtSessionLockManagerV1,
        _: ext_session_lock_manager_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<ExtSessionLockV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ExtSessionLockV1,
        event: ext_session_lock_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        data.events.push(ClientEvent::InWords(match event {
            ext_session_lock_v1::Event::Locked => "locked".to_owned(),
            _ => "finished".to_owned(),
        }));
    }
}

/// Whether a lock surface acknowledges its configures.
struct AcknowledgesLockSize(bool);

impl Dispatch<ExtSessionLockSurfaceV1, AcknowledgesLockSize> for TestClientState {
    fn event(
        data: &mut Self,
        object: &ExtSessionLockSurfaceV1,
        event: ext_session_lock_surface_v1::Event,
        acknowledges: &AcknowledgesLockSize,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let ext_session_lock_surface_v1::Event::Configure { serial, width, height } = event else { return };
        if acknowledges.0 {
            object.ack_configure(serial);
        }
        data.events.push(ClientEvent::InWords(format!("{width}x{height}")));
    }
}

fn lock_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.settle();
    let told = |event| if let ClientEvent::InWords(what) = event { Some(what) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

fn was_told(world: &mut TestWorld, client: ClientIndex, what: &str) -> bool {
    world.client(client).data.events.iter().any(|event| matches!(event, ClientEvent::InWords(told) if told == what))
}

/// A lock surface of a [`Locker`].
pub struct LockPane {
    surface: WlSurface,
    object: ExtSessionLockSurfaceV1,
}

/// A client that asks for the session lock.
pub struct Locker {
    pub client: ClientIndex,
    lock: ExtSessionLockV1,
    panes: Vec<LockPane>,
}

impl Locker {
    pub fn ask(world: &mut TestWorld) -> Self {
        let client = world.connect();
        let lock = ask_again(world, client);
        Locker { client, lock, panes: Vec::new() }
    }

    /// Creates a lock surface that acknowledges its configures, for the output at index `place` (from 0).
    fn pane(&mut self, world: &mut TestWorld, place: usize) -> &LockPane {
        let output = outputs(world, self.client)[place].clone();
        let client = world.client(self.client);
        let surface = client.surface();
        let object = self.lock.get_lock_surface(&surface, &output, &client.handle(), AcknowledgesLockSize(true));
        self.panes.push(LockPane { surface, object });
        world.settle();
        self.panes.last().unwrap()
    }

    fn draw(&self, world: &mut TestWorld, place: usize, number: u32, size: (i32, i32), colour: Xrgb8888Pixel) {
        let surface = self.panes[place].surface.clone();
        world.client(self.client).draw(&surface, number, size, colour);
        surface.commit();
        world.settle();
    }

    /// Locks a session with one output, which shows one colour from then on.
    pub fn lock(world: &mut TestWorld, colour: Xrgb8888Pixel) -> Self {
        let mut locker = Self::ask(world);
        locker.pane(world, 0);
        locker.draw(world, 0, 1, OUTPUT, colour);
        locker.wait(world);
        locker
    }

    pub fn wait(&self, world: &mut TestWorld) {
        let client = self.client;
        world.run_until("the lock", |world| was_told(world, client, "locked"));
        world.settle();
    }

    pub fn unlock(self, world: &mut TestWorld) {
        self.request_unlock(world);
        world.run_until_idle();
    }

    /// Unlocks, and does not wait until the session is idle.
    pub fn request_unlock(self, world: &mut TestWorld) {
        self.lock.unlock_and_destroy();
        world.settle();
    }
}

fn ask_again(world: &mut TestWorld, client: ClientIndex) -> ExtSessionLockV1 {
    let client = world.client(client);
    client.bind::<ExtSessionLockManagerV1>().lock(&client.handle(), ())
}

fn outputs(world: &mut TestWorld, client: ClientIndex) -> Vec<WlOutput> {
    let names: Vec<u32> = {
        let globals = &world.client(client).data.globals;
        globals.iter().filter(|(_, interface, _)| interface == "wl_output").map(|(name, _, _)| *name).collect()
    };
    names.into_iter().map(|name| world.client(client).bind_named(name)).collect()
}

/// A session that shows a green window, and the window's client.
fn with_a_window() -> (TestWorld, ClientIndex, crate::fixture::TestToplevel) {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", (400, 300), GREEN);
    world.run_until_idle();
    assert_eq!(middle(&world), GREEN);
    (world, client, window)
}

fn middle(world: &TestWorld) -> Xrgb8888Pixel {
    world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2)
}

fn has_green(world: &TestWorld) -> bool {
    world.picture().pixels.iter().any(|pixel| pixel & 0x00ff_ffff == GREEN)
}

/// Whether the screen shows this colour only, apart from the cursor.
fn shows_only(world: &TestWorld, colour: Xrgb8888Pixel) -> bool {
    world.picture().pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff != colour).count() < 2_000
}

/// Like [`shows_only`], but without the outermost pixels, because enlarged content fades there.
fn shows_only_inside(world: &TestWorld, colour: Xrgb8888Pixel) -> bool {
    let width = OUTPUT.0 as usize;
    let picture = world.picture();
    let rows = picture.pixels.chunks(width).skip(1).take(OUTPUT.1 as usize - 2);
    let inside = rows.flat_map(|row| &row[1..width - 1]);
    inside.filter(|pixel| **pixel & 0x00ff_ffff != colour).count() < 2_000
}

#[track_caller]
fn ended_with(world: &mut TestWorld, client: ClientIndex, interface: &str, code: u32) {
    world.settle();
    assert_eq!(world.client(client).error, Some((interface.to_owned(), code)));
}

/// Kinds of input events that the client received.
fn input_kinds(world: &mut TestWorld, client: ClientIndex) -> Vec<&'static str> {
    let events = world.client(client).take_events();
    let word = |event: &ClientEvent| match event {
        ClientEvent::Key { .. } => Some("key"),
        ClientEvent::Button { .. } => Some("button"),
        ClientEvent::PointerMotion { .. } | ClientEvent::PointerEnter { .. } => Some("pointer"),
        ClientEvent::Scroll { .. } => Some("scroll"),
        ClientEvent::TouchDown { .. } | ClientEvent::TouchMotion { .. } | ClientEvent::TouchUp => Some("touch"),
        _ => None,
    };
    let mut words: Vec<_> = events.iter().filter_map(word).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn do_everything(world: &mut TestWorld) {
    let (x, y) = (f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    world.click(x, y);
    world.point(x + 9.0, y);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    let time = world.now();
    let vertical = upbeat::input::ScrollAxis { distance: 15.0, v120: Some(120), ..Default::default() };
    world.input(InputEvent::Axis { time, source: Default::default(), horizontal: Default::default(), vertical });
    world.input(InputEvent::TouchDown { time, slot: 0, position: (x, y).into() });
    world.input(InputEvent::TouchMotion { time, slot: 0, position: (x, y + 50.0).into() });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    world.input(InputEvent::TouchFrame { time });
}
