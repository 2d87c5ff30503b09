//! The session's lock: what is seen, who has the seat, and who unlocks, whatever a locker and everybody else does.

use crate::fixture::client::Data;
use crate::fixture::content::{BLUE, Colour, GREEN, Heard, RED};
use crate::fixture::{
    BUTTON_LEFT, ClientIndex, Event, KEY_A, KEY_ENTER, KEY_F1, KEY_LEFT_ALT, KEY_LEFT_SUPER, KEY_O, KEY_TAB, OUTPUT,
    World,
};
use upbeat::input::InputEvent;
use upbeat::output::{hotplug, power};
use upbeat::shell::lock::machine::LONGEST_WAIT;
use upbeat::time::Span;
use wayland_client::protocol::wl_output::WlOutput;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle};
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_manager_v1::{self, ExtSessionLockManagerV1};
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_surface_v1::{self, ExtSessionLockSurfaceV1};
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_v1::{self, ExtSessionLockV1};

impl Dispatch<ExtSessionLockManagerV1, ()> for Data {
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

impl Dispatch<ExtSessionLockV1, ()> for Data {
    fn event(
        data: &mut Self,
        _: &ExtSessionLockV1,
        event: ext_session_lock_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        data.events.push(Event::Told(match event {
            ext_session_lock_v1::Event::Locked => "locked".to_owned(),
            _ => "finished".to_owned(),
        }));
    }
}

/// Whether a surface acknowledges what it is told.
struct Acknowledges(bool);

impl Dispatch<ExtSessionLockSurfaceV1, Acknowledges> for Data {
    fn event(
        data: &mut Self,
        object: &ExtSessionLockSurfaceV1,
        event: ext_session_lock_surface_v1::Event,
        acknowledges: &Acknowledges,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let ext_session_lock_surface_v1::Event::Configure { serial, width, height } = event else { return };
        if acknowledges.0 {
            object.ack_configure(serial);
        }
        data.events.push(Event::Told(format!("{width}x{height}")));
    }
}

fn told(world: &mut World, client: ClientIndex) -> Vec<String> {
    world.settle();
    let told = |event| if let Event::Told(what) = event { Some(what) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

fn was_told(world: &mut World, client: ClientIndex, what: &str) -> bool {
    world.client(client).data.events.iter().any(|event| matches!(event, Event::Told(told) if told == what))
}

/// A surface of a locker.
pub struct Pane {
    surface: WlSurface,
    object: ExtSessionLockSurfaceV1,
}

/// A client that wants the session locked.
pub struct Locker {
    pub client: ClientIndex,
    lock: ExtSessionLockV1,
    panes: Vec<Pane>,
}

impl Locker {
    pub fn ask(world: &mut World) -> Self {
        let client = world.connect();
        let lock = ask_again(world, client);
        Locker { client, lock, panes: Vec::new() }
    }

    /// A surface for the output in place `place`, counted from 0, that acknowledges what it is told.
    fn pane(&mut self, world: &mut World, place: usize) -> &Pane {
        let output = outputs(world, self.client)[place].clone();
        let client = world.client(self.client);
        let surface = client.surface();
        let object = self.lock.get_lock_surface(&surface, &output, &client.handle(), Acknowledges(true));
        self.panes.push(Pane { surface, object });
        world.settle();
        self.panes.last().unwrap()
    }

    fn draw(&self, world: &mut World, place: usize, number: u32, size: (i32, i32), colour: Colour) {
        let surface = self.panes[place].surface.clone();
        world.client(self.client).draw(&surface, number, size, colour);
        surface.commit();
        world.settle();
    }

    /// Locks a session with one output, which shows one colour from then on.
    pub fn lock(world: &mut World, colour: Colour) -> Self {
        let mut locker = Self::ask(world);
        locker.pane(world, 0);
        locker.draw(world, 0, 1, OUTPUT, colour);
        locker.wait(world);
        locker
    }

    pub fn wait(&self, world: &mut World) {
        let client = self.client;
        world.until("the lock", |world| was_told(world, client, "locked"));
        world.settle();
    }

    pub fn unlock(self, world: &mut World) {
        self.lock.unlock_and_destroy();
        world.settle();
        world.rest();
    }
}

fn ask_again(world: &mut World, client: ClientIndex) -> ExtSessionLockV1 {
    let client = world.client(client);
    client.bind::<ExtSessionLockManagerV1>().lock(&client.handle(), ())
}

fn outputs(world: &mut World, client: ClientIndex) -> Vec<WlOutput> {
    let names: Vec<u32> = {
        let globals = &world.client(client).data.globals;
        globals.iter().filter(|(_, interface, _)| interface == "wl_output").map(|(name, _, _)| *name).collect()
    };
    names.into_iter().map(|name| world.client(client).bind_named(name)).collect()
}

/// A session that shows a green window, and its client.
fn with_a_window() -> (World, ClientIndex, crate::fixture::Toplevel) {
    let mut world = World::lit();
    let (client, window) = world.open_filled("a", (400, 300), GREEN);
    world.rest();
    assert_eq!(middle(&world), GREEN);
    (world, client, window)
}

fn middle(world: &World) -> Colour {
    world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2)
}

fn has_green(world: &World) -> bool {
    world.picture().pixels.iter().any(|pixel| pixel & 0x00ff_ffff == GREEN)
}

/// Whether nothing else is seen, but for the cursor.
fn shows_only(world: &World, colour: Colour) -> bool {
    world.picture().pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff != colour).count() < 2_000
}

/// [`shows_only`], but for the outermost pixels: what is enlarged fades there.
fn shows_only_inside(world: &World, colour: Colour) -> bool {
    let width = OUTPUT.0 as usize;
    let picture = world.picture();
    let rows = picture.pixels.chunks(width).skip(1).take(OUTPUT.1 as usize - 2);
    let inside = rows.flat_map(|row| &row[1..width - 1]);
    inside.filter(|pixel| **pixel & 0x00ff_ffff != colour).count() < 2_000
}

#[track_caller]
fn ended_with(world: &mut World, client: ClientIndex, interface: &str, code: u32) {
    world.settle();
    assert_eq!(world.client(client).error, Some((interface.to_owned(), code)));
}

#[test]
fn no_window_is_seen_from_the_moment_on_at_which_the_locker_is_told() {
    let (mut world, client, window) = with_a_window();
    let seen = world.probe((OUTPUT.0 / 2, OUTPUT.1 / 2, 1, 1));
    let mut locker = Locker::ask(&mut world);
    locker.pane(&mut world, 0);
    // It asked, and has nothing to show.
    world.rest();
    assert_eq!(middle(&world), GREEN);
    locker.draw(&mut world, 0, 1, OUTPUT, BLUE);
    for number in 2..30 {
        // The window draws on, as fast as it can.
        world.client(client).draw(&window.surface, number, (400, 300), if number % 2 == 0 { RED } else { GREEN });
        window.surface.commit();
        world.turn();
    }
    locker.wait(&mut world);
    assert_eq!(middle(&world), BLUE, "the lock is on screen when its locker is told");
    for number in 30..60 {
        world.client(client).draw(&window.surface, number, (400, 300), if number % 2 == 0 { RED } else { GREEN });
        window.surface.commit();
        let until = world.now() + Span::from_millis(5);
        world.until("time", |world| world.now() >= until);
    }
    let colours: Vec<Colour> = std::iter::from_fn(|| seen.pop()).map(|sample| sample.pixels[0] & 0x00ff_ffff).collect();
    let first = colours.iter().position(|colour| *colour == BLUE).unwrap();
    assert!(colours[first..].iter().all(|colour| *colour == BLUE), "{colours:x?}");
    locker.unlock(&mut world);
    assert!(matches!(middle(&world), RED | GREEN));
}

#[test]
fn who_draws_nothing_is_granted_black_after_a_second() {
    let (mut world, client, _) = with_a_window();
    let locker = Locker::ask(&mut world);
    world.settle();
    world.client(client).take_events();
    let begun = world.now();
    // What is typed meanwhile is nobody's.
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    locker.wait(&mut world);
    let waited = world.now() - begun;
    assert!(waited >= LONGEST_WAIT && waited < LONGEST_WAIT + Span::from_millis(50), "{waited}");
    assert!(shows_only(&world, 0));
    assert!(!world.client(client).take_events().iter().any(|event| matches!(event, Event::Key { .. })));
}

#[test]
fn a_session_without_a_window_or_a_picture_of_its_own_is_locked_too() {
    let mut world = World::lit();
    world.state.outputs.background = [0.0; 3];
    world.rest();
    let locker = Locker::ask(&mut world);
    locker.wait(&mut world);
}

/// What a client heard of input.
fn heard(world: &mut World, client: ClientIndex) -> Vec<&'static str> {
    let events = world.client(client).take_events();
    let word = |event: &Event| match event {
        Event::Key { .. } => Some("key"),
        Event::Button { .. } => Some("button"),
        Event::PointerMotion { .. } | Event::PointerEnter { .. } => Some("pointer"),
        Event::Scroll { .. } => Some("scroll"),
        Event::TouchDown { .. } | Event::TouchMotion { .. } | Event::TouchUp => Some("touch"),
        _ => None,
    };
    let mut words: Vec<_> = events.iter().filter_map(word).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn do_everything(world: &mut World) {
    let (x, y) = (f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    world.click(x, y);
    world.point(x + 9.0, y);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    let time = world.now();
    let vertical = upbeat::input::Scroll { distance: 15.0, v120: Some(120), ..Default::default() };
    world.input(InputEvent::Axis { time, source: Default::default(), horizontal: Default::default(), vertical });
    world.input(InputEvent::TouchDown { time, slot: 0, position: (x, y).into() });
    world.input(InputEvent::TouchMotion { time, slot: 0, position: (x, y + 50.0).into() });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    world.input(InputEvent::TouchFrame { time });
}

#[test]
fn input_is_the_lockers_alone() {
    let (mut world, client, _) = with_a_window();
    do_everything(&mut world);
    let all = ["button", "key", "pointer", "scroll", "touch"];
    assert_eq!(heard(&mut world, client), all);
    let locker = Locker::lock(&mut world, BLUE);
    world.client(client).take_events();
    world.client(locker.client).take_events();
    do_everything(&mut world);
    assert_eq!(heard(&mut world, locker.client), all);
    assert_eq!(heard(&mut world, client), Vec::<&str>::new());
    assert_eq!(world.focused().as_deref(), Some("a"), "who has the focus when it is unlocked");
    locker.unlock(&mut world);
    world.client(client).take_events();
    do_everything(&mut world);
    assert_eq!(heard(&mut world, client), all);
}

#[test]
fn what_is_held_when_the_session_is_locked_is_let_go_and_its_release_is_nobodys() {
    let (mut world, client, window) = with_a_window();
    world.point(f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    window.toplevel._move(&world.client(client).globals().seat, serial);
    world.settle();
    assert!(world.state.shell.drag().is_some());
    let before = world.window("a").rect();
    let locker = Locker::lock(&mut world, BLUE);
    assert!(world.state.shell.drag().is_none());
    world.client(locker.client).take_events();
    world.point(10.0, 10.0);
    world.button(BUTTON_LEFT, false);
    assert_eq!(heard(&mut world, locker.client), ["pointer"]);
    assert_eq!(world.window("a").rect(), before);
    // A press of then starts nothing now.
    window.toplevel._move(&world.client(client).globals().seat, serial);
    world.settle();
    assert!(world.state.shell.drag().is_none());
}

#[test]
fn shortcuts_do_not_work_but_those_that_are_marked() {
    let (mut world, client, _) = with_a_window();
    world.open_in(client, "b", 200, 100);
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    let locker = Locker::lock(&mut world, BLUE);
    assert!(!world.state.shell.overlays.take_input(), "the overview is gone");
    for (held, key) in [(KEY_LEFT_SUPER, KEY_O), (KEY_LEFT_SUPER, KEY_F1), (KEY_LEFT_ALT, KEY_TAB)] {
        world.client(locker.client).take_events();
        world.chord(&[held], key);
        assert_eq!(heard(&mut world, locker.client), ["key"]);
    }
    assert!(!world.state.shell.overlays.take_input());
    assert_eq!(world.focused().as_deref(), Some("b"));
    let switch = world.state.input.bindings.keys.keys().find(|chord| chord.to_string() == "Alt+Tab").copied().unwrap();
    world.state.input.bindings.when_locked.insert(switch);
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    assert_eq!(world.focused().as_deref(), Some("a"));
    world.client(client).take_events();
    world.key(KEY_ENTER, true);
    assert_eq!(heard(&mut world, client), Vec::<&str>::new(), "the keyboard stays with the locker");
}

#[test]
fn a_locker_that_dies_leaves_the_session_locked_and_another_one_takes_over() {
    let (mut world, client, window) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    // One that has the focus, and is taken apart later than the lock.
    let its = world.client(locker.client);
    its.globals().seat.get_keyboard(&its.handle(), ());
    world.settle();
    world.kill(locker.client);
    world.rest();
    let picture = world.picture();
    let lit = picture.pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff != 0).count();
    assert!(lit > 500, "it is said on the screen: {lit} pixels");
    assert!(!has_green(&world) && middle(&world) != BLUE);
    world.client(client).draw(&window.surface, 2, (400, 300), GREEN);
    window.surface.commit();
    world.client(client).take_events();
    do_everything(&mut world);
    assert_eq!(heard(&mut world, client), Vec::<&str>::new());
    world.rest();
    assert!(!has_green(&world));

    let next = Locker::lock(&mut world, RED);
    world.rest();
    assert!(shows_only(&world, RED));
    next.unlock(&mut world);
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn a_locker_that_dies_before_it_is_granted_leaves_the_session_locked() {
    let (mut world, ..) = with_a_window();
    let mut locker = Locker::ask(&mut world);
    locker.pane(&mut world, 0);
    world.kill(locker.client);
    world.rest();
    assert!(!has_green(&world));
    Locker::lock(&mut world, RED).unlock(&mut world);
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn one_that_gives_up_before_it_is_granted_leaves_it_open_and_later_it_cannot() {
    let (mut world, client, _) = with_a_window();
    let locker = Locker::ask(&mut world);
    locker.lock.destroy();
    world.rest();
    world.client(client).take_events();
    do_everything(&mut world);
    assert_eq!(heard(&mut world, client).len(), 5);

    let locker = Locker::lock(&mut world, BLUE);
    locker.lock.destroy();
    ended_with(&mut world, locker.client, "ext_session_lock_v1", ext_session_lock_v1::Error::InvalidDestroy as u32);
    world.rest();
    assert!(!has_green(&world));
    // Another one has it, does not want it after all, and has not been told: that opens nothing either.
    let mut other = Locker::ask(&mut world);
    other.pane(&mut world, 0);
    other.lock.destroy();
    world.rest();
    assert!(!has_green(&world));
}

#[test]
fn who_was_refused_or_not_told_yet_cannot_unlock() {
    let (mut world, ..) = with_a_window();
    let mut first = Locker::ask(&mut world);
    first.pane(&mut world, 0);
    let mut refused = Locker::ask(&mut world);
    assert_eq!(told(&mut world, refused.client), ["finished"]);
    refused.pane(&mut world, 0);
    assert_eq!(told(&mut world, refused.client), Vec::<String>::new(), "there is nothing that it could show");
    refused.lock.unlock_and_destroy();
    let invalid = ext_session_lock_v1::Error::InvalidUnlock as u32;
    ended_with(&mut world, refused.client, "ext_session_lock_v1", invalid);
    first.draw(&mut world, 0, 1, OUTPUT, BLUE);
    first.wait(&mut world);
    // One who is told of a lock that another has is not the one who has it.
    let refused = Locker::ask(&mut world);
    refused.lock.unlock_and_destroy();
    ended_with(&mut world, refused.client, "ext_session_lock_v1", invalid);
    world.rest();
    assert_eq!(middle(&world), BLUE);
    // Nor is a second object of its own.
    let again = ask_again(&mut world, first.client);
    again.destroy();
    world.rest();
    assert_eq!(middle(&world), BLUE);
    first.unlock(&mut world);

    let early = Locker::ask(&mut world);
    early.lock.unlock_and_destroy();
    ended_with(&mut world, early.client, "ext_session_lock_v1", invalid);
    world.rest();
    assert!(!has_green(&world));
}

#[test]
fn a_surface_of_a_lock_is_a_lock_surface_alone_and_as_large_as_it_was_told() {
    use ext_session_lock_surface_v1::Error;
    use ext_session_lock_v1::Error as LockError;
    type Act = fn(&mut World, &mut Locker);
    let attacks: [(&str, u32, Act); 8] = [
        ("ext_session_lock_v1", LockError::Role as u32, |world, locker| {
            let window = world.client(locker.client).toplevel("b");
            let output = world.client(locker.client).bind_output();
            let handle = world.client(locker.client).handle();
            locker.lock.get_lock_surface(&window.surface, &output, &handle, Acknowledges(true));
        }),
        ("ext_session_lock_v1", LockError::DuplicateOutput as u32, |world, locker| {
            locker.pane(world, 0);
            locker.pane(world, 0);
        }),
        ("ext_session_lock_v1", LockError::AlreadyConstructed as u32, |world, locker| {
            let client = world.client(locker.client);
            let (surface, output) = (client.surface(), client.bind_output());
            client.show(&surface, 10, 10);
            locker.lock.get_lock_surface(&surface, &output, &client.handle(), Acknowledges(true));
        }),
        ("ext_session_lock_surface_v1", Error::CommitBeforeFirstAck as u32, |world, locker| {
            let client = world.client(locker.client);
            let (surface, output) = (client.surface(), client.bind_output());
            locker.lock.get_lock_surface(&surface, &output, &client.handle(), Acknowledges(false));
            client.show(&surface, OUTPUT.0, OUTPUT.1);
        }),
        ("ext_session_lock_surface_v1", Error::NullBuffer as u32, |world, locker| {
            locker.pane(world, 0).surface.commit();
        }),
        ("ext_session_lock_surface_v1", Error::NullBuffer as u32, |world, locker| {
            locker.pane(world, 0);
            locker.draw(world, 0, 1, OUTPUT, BLUE);
            locker.panes[0].surface.attach(None, 0, 0);
            locker.panes[0].surface.commit();
        }),
        ("ext_session_lock_surface_v1", Error::DimensionsMismatch as u32, |world, locker| {
            locker.pane(world, 0);
            locker.draw(world, 0, 1, (OUTPUT.0, OUTPUT.1 - 1), BLUE);
        }),
        ("ext_session_lock_surface_v1", Error::InvalidSerial as u32, |world, locker| {
            locker.pane(world, 0).object.ack_configure(4_000_000_000);
        }),
    ];
    for (interface, code, act) in attacks {
        let (mut world, ..) = with_a_window();
        let mut locker = Locker::ask(&mut world);
        act(&mut world, &mut locker);
        ended_with(&mut world, locker.client, interface, code);
        world.rest();
        assert!(!has_green(&world), "{interface} {code}: it was asked for, and stays");
    }
}

#[test]
fn what_a_locker_takes_away_is_black() {
    let (mut world, ..) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    locker.panes[0].object.destroy();
    world.rest();
    assert_eq!(middle(&world), 0);
    locker.panes[0].surface.destroy();
    world.rest();
    assert!(shows_only(&world, 0));
    locker.unlock(&mut world);
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn outputs_that_come_while_it_is_locked_start_black_and_those_that_go_hold_nothing_up() {
    let (mut world, ..) = with_a_window();
    let mut locker = Locker::lock(&mut world, BLUE);
    world.unplug("TEST-1");
    world.plug("TEST-1", 60_000);
    let seen = world.probe((OUTPUT.0 / 2, OUTPUT.1 / 2, 1, 1));
    world.rest();
    let colours: Vec<Colour> = std::iter::from_fn(|| seen.pop()).map(|sample| sample.pixels[0] & 0x00ff_ffff).collect();
    assert!(colours.iter().all(|colour| *colour == 0), "{colours:x?}");
    world.client(locker.client).take_events();
    let place = outputs(&mut world, locker.client).len() - 1;
    locker.pane(&mut world, place);
    assert_eq!(told(&mut world, locker.client), ["1280x720"]);
    locker.draw(&mut world, 1, 2, OUTPUT, RED);
    world.rest();
    assert_eq!(middle(&world), RED);
    locker.unlock(&mut world);
    assert_eq!(middle(&world), GREEN);

    // One that goes while the locker is expected to draw for it, and one that is dark.
    world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.rest();
    let mut locker = Locker::ask(&mut world);
    let place = outputs(&mut world, locker.client).len() - 2;
    locker.pane(&mut world, place);
    locker.draw(&mut world, 0, 1, OUTPUT, BLUE);
    let begun = world.now();
    world.unplug("TEST-2");
    locker.wait(&mut world);
    assert!(world.now() - begun < LONGEST_WAIT / 2);
    locker.unlock(&mut world);
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    power::set(&mut world.state, id, false);
    let locker = Locker::ask(&mut world);
    locker.wait(&mut world);
    power::set(&mut world.state, id, true);
    world.rest();
    assert!(shows_only(&world, 0));
}

#[test]
fn an_output_that_changes_its_size_is_said_and_what_was_drawn_for_the_old_one_is_no_error() {
    let (mut world, ..) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    world.client(locker.client).take_events();
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::arrange(&mut world.state, id, None, 2.0);
    assert_eq!(told(&mut world, locker.client), ["640x360"]);
    // The acknowledgement counts from the next commit on.
    world.rest();
    locker.draw(&mut world, 0, 2, (OUTPUT.0 / 2, OUTPUT.1 / 2), RED);
    world.rest();
    assert!(world.client(locker.client).error.is_none());
    assert!(shows_only_inside(&world, RED));
}

#[test]
fn pictures_that_are_taken_meanwhile_show_the_lock() {
    let (mut world, ..) = with_a_window();
    let camera = world.connect();
    let mut locker = Locker::ask(&mut world);
    locker.pane(&mut world, 0);
    locker.draw(&mut world, 0, 1, OUTPUT, BLUE);
    // It is granted, and what is on screen is older.
    assert!(world.state.shell.lock.covers() && middle(&world) == GREEN);
    for pass in 0..2 {
        let client = world.client(camera);
        let (buffer, output) = (client.buffer(OUTPUT.0, OUTPUT.1), client.bind_output());
        client.globals().screencopy.capture_output(0, &output, &client.handle(), ()).copy(&buffer);
        let taken = |world: &mut World| {
            world.client(camera).data.events.iter().filter(|event| matches!(event, Event::Captured)).count()
        };
        world.until("a picture", |world| taken(world) > pass);
        assert_eq!(middle(&world), BLUE, "it was taken when the lock was on screen");
    }
}

#[test]
fn nobody_takes_keyboard_or_pointer_from_the_locker() {
    let (mut world, client, window) = with_a_window();
    world.click(f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    let serial = world.client(client).press_serial();
    let locker = Locker::lock(&mut world, BLUE);
    // A menu that grabs with a press of before.
    let positioner = world.client(client).positioner(0, 0, 50, 50);
    let popup = world.client(client).popup(&window.xdg, &positioner);
    popup.popup.grab(&world.client(client).globals().seat, serial);
    popup.surface.commit();
    world.settle();
    world.client(client).answer_newest();
    world.client(client).show(&popup.surface, 50, 50);
    // A window more, which is given the focus.
    world.open_in(client, "b", 100, 100);
    world.client(client).take_events();
    world.client(locker.client).take_events();
    do_everything(&mut world);
    assert_eq!(heard(&mut world, client), Vec::<&str>::new());
    assert_eq!(heard(&mut world, locker.client).len(), 5);
    // The locker's own windows are no part of its lock.
    world.open_filled("of the locker", (400, 300), GREEN);
    world.open_in(locker.client, "own", 400, 300);
    world.rest();
    assert_eq!(middle(&world), BLUE);
}

#[test]
fn the_lock_is_drawn_and_paced_like_a_window() {
    let (mut world, ..) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    for number in 2..10 {
        locker.draw(&mut world, 0, number, OUTPUT, if number % 2 == 0 { RED } else { BLUE });
        world.until("light", |world| world.client(locker.client).light(number).is_some());
        let client = locker.client;
        world.until("a callback", |world| world.client(client).heard(Heard::Called(number)));
    }
    let lights: Vec<u64> = (2..10).map(|number| world.client(locker.client).light(number).unwrap().1).collect();
    assert!(lights.windows(2).all(|pair| pair[1] - pair[0] <= 2), "{lights:?}");
    let (surface, sub) = world.client(locker.client).subsurface(&locker.panes[0].surface);
    sub.set_position(-20, OUTPUT.1 - 20);
    world.client(locker.client).draw(&surface, 10, (60, 60), GREEN);
    surface.commit();
    locker.draw(&mut world, 0, 11, OUTPUT, BLUE);
    world.rest();
    assert_eq!((world.pixel(10, OUTPUT.1 - 5), world.pixel(45, OUTPUT.1 - 5)), (GREEN, BLUE));
    assert!(surface.id() != locker.panes[0].surface.id());
}
