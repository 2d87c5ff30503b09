//! Globals that a program in a sandbox (`wp_security_context_v1`) is offered, and its windows' claim to the focus.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::security_context::v1::client::{
    wp_security_context_manager_v1::{self, WpSecurityContextManagerV1},
    wp_security_context_v1::{self, WpSecurityContextV1},
};
use wayland_protocols::xdg::activation::v1::client::xdg_activation_v1::XdgActivationV1;
use wayland_protocols::xdg::shell::client::xdg_wm_base::XdgWmBase;

use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1;

use crate::fixture::client::TestClientState;
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, KEY_1, KEY_A, KEY_F, KEY_LEFT_SUPER, TestWorld};
use crate::text::{field, grab, method};
use crate::urgency::token;
use crate::virtual_devices::{give_keymap, keymap, strokes, virtual_keyboard};
use upbeat::config::Config;
use upbeat::guard::{self, Privilege};
use upbeat::protocol::privileges::{FOR_EVERYBODY, PRIVILEGED};
use upbeat_timing::time::Span;

impl Dispatch<WpSecurityContextManagerV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &WpSecurityContextManagerV1,
        _: wp_security_context_manager_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<WpSecurityContextV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &WpSecurityContextV1,
        _: wp_security_context_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

fn offered(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.client(client).data.globals.iter().map(|(_, interface, _)| interface.clone()).collect()
}

/// Commits a security context with this listening socket and this close descriptor. Returns the sandbox engine's
/// client.
fn sandbox(world: &mut TestWorld, listener: impl AsFd, close: impl AsFd) -> ClientIndex {
    let engine = world.connect();
    let client = world.client(engine);
    let manager = client.bind::<WpSecurityContextManagerV1>();
    let context = manager.create_listener(listener.as_fd(), close.as_fd(), &client.handle(), ());
    context.set_sandbox_engine("org.example".to_owned());
    context.set_app_id("game".to_owned());
    context.commit();
    context.destroy();
    world.settle();
    engine
}

#[test]
fn each_global_is_classed_as_safe_or_privileged() {
    let mut world = TestWorld::new();
    upbeat::protocol::scroll::offer(&mut world.state, true);
    let client = world.connect();
    for interface in offered(&mut world, client) {
        let privileged = PRIVILEGED.iter().any(|(name, _)| *name == interface);
        let halves = [privileged, FOR_EVERYBODY.contains(&interface.as_str())];
        assert!(halves[0] != halves[1], "{interface} is in both halves of src/protocol/privileges.rs, or in neither");
    }
}

#[test]
fn sandboxed_program_is_offered_no_privileged_global() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inside");
    let (keep, close) = rustix::pipe::pipe().map(|(read, write)| (write, read)).unwrap();
    let mut world = TestWorld::new();
    sandbox(&mut world, UnixListener::bind(&path).unwrap(), close);
    let inside = world.connect_stream(UnixStream::connect(&path).unwrap());
    let offered = offered(&mut world, inside);
    assert!(offered.contains(&"wl_compositor".to_owned()), "{offered:?}");
    for (interface, _) in PRIVILEGED {
        assert!(!offered.iter().any(|other| other == interface), "{interface}");
    }
    // The program knows the number of the global from elsewhere.
    let manager = world.connect();
    let globals = world.client(manager).data.globals.clone();
    world.client(inside).data.globals = globals;
    world.client(inside).bind::<WpSecurityContextManagerV1>();
    world.settle();
    assert!(world.client(inside).is_disconnected(), "it bound a global that it was not offered");
    // The sandbox ends.
    drop(keep);
    world.settle();
    assert!(UnixStream::connect(&path).is_err());
}

#[test]
fn security_context_with_invalid_descriptors_is_harmless() {
    let mut world = TestWorld::new();
    let good = world.connect();
    let (read, write) = rustix::pipe::pipe().unwrap();
    rustix::io::write(&write, b"x").unwrap();
    let (one, other) = UnixStream::pair().unwrap();
    drop(other);
    let file = tempfile::tempfile().unwrap();
    sandbox(&mut world, &read, &one);
    sandbox(&mut world, &one, &file);
    sandbox(&mut world, &file, &write);
    world.settle();
    world.turn();
    assert!(!world.client(good).is_disconnected());
}

#[test]
fn globals_withheld_by_configuration_are_offered_to_no_client() {
    let mut world = TestWorld::new();
    let before = world.connect();
    let globals = world.client(before).data.globals.clone();
    world.state.rules.grant(Privilege::VirtualInput, false);
    let client = world.connect_bare();
    let offers = offered(&mut world, client);
    let missing: Vec<_> = PRIVILEGED.iter().filter(|(name, _)| !offers.contains(&(*name).to_owned())).collect();
    assert!(
        missing.len() == 3 && missing.iter().all(|(_, privilege)| *privilege == Privilege::VirtualInput),
        "{missing:?}"
    );
    world.client(client).data.globals = globals;
    world.client(client).bind::<ZwpVirtualKeyboardManagerV1>();
    world.settle();
    assert!(world.client(client).is_disconnected(), "it bound a global that it was not offered");
}

/// Opens a window for a client that sees only the globals of a sandbox.
fn open_inside(world: &mut TestWorld, client: ClientIndex, title: &str) {
    open_activated(world, client, title, None);
}

/// The same, with the activation token that the program was started with.
fn open_activated(world: &mut TestWorld, client: ClientIndex, title: &str, token: Option<String>) {
    let inside = world.client(client);
    let handle = inside.handle();
    let surface = inside.bind::<WlCompositor>().create_surface(&handle, ());
    let toplevel = inside.bind::<XdgWmBase>().get_xdg_surface(&surface, &handle, ()).get_toplevel(&handle, ());
    toplevel.set_title(title.to_owned());
    if let Some(token) = token {
        inside.bind::<XdgActivationV1>().activate(token, &surface);
    }
    surface.commit();
    world.settle();
    let inside = world.client(client);
    inside.ack_newest_configure();
    let memory = tempfile::tempfile().unwrap();
    memory.set_len(4).unwrap();
    let pool = inside.bind::<WlShm>().create_pool(memory.as_fd(), 4, &handle, ());
    surface.attach(Some(&pool.create_buffer(0, 1, 1, 4, Format::Xrgb8888, &handle, ())), 0, 0);
    surface.commit();
    world.settle();
}

#[test]
fn sandboxed_window_does_not_take_the_focus_while_the_user_types() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inside");
    let (_keep, close) = rustix::pipe::pipe().map(|(read, write)| (write, read)).unwrap();
    let mut world = TestWorld::simulated(&[60_000]);
    sandbox(&mut world, UnixListener::bind(&path).unwrap(), close);
    world.open("letter", 200, 100);
    let inside = world.connect_stream(UnixStream::connect(&path).unwrap());
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    open_inside(&mut world, inside, "game");
    assert_eq!(world.focused(), Some("letter".to_owned()));
    let game = world.window("game").id;
    assert!(world.state.shell.workspaces().is_urgent(game), "it is marked as urgent");
    // A user who is not typing has started the program.
    world.run_for(Span::from_millis(600), &mut nothing);
    open_inside(&mut world, inside, "another");
    assert_eq!(world.focused(), Some("another".to_owned()));
    // A program outside the sandbox gets the focus at once.
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    world.open("outside", 50, 40);
    assert_eq!(world.focused(), Some("outside".to_owned()));
}

/// A world with a window "letter" and its client, and a client in a sandbox; both end when the last value is dropped.
fn with_a_sandbox() -> (TestWorld, ClientIndex, ClientIndex, impl Sized) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inside");
    let (keep, close) = rustix::pipe::pipe().map(|(read, write)| (write, read)).unwrap();
    let mut world = TestWorld::simulated(&[60_000]);
    sandbox(&mut world, UnixListener::bind(&path).unwrap(), close);
    let (letter, _) = world.open("letter", 200, 100);
    let inside = world.connect_stream(UnixStream::connect(&path).unwrap());
    (world, letter, inside, (directory, keep))
}

#[test]
fn modifiers_and_shortcuts_do_not_count_as_typing() {
    let (mut world, _, inside, _keep) = with_a_sandbox();
    world.key(KEY_LEFT_SUPER, true);
    world.key(KEY_LEFT_SUPER, false);
    open_inside(&mut world, inside, "first");
    assert_eq!(world.focused().as_deref(), Some("first"));
    let id = world.window("letter").id;
    upbeat::shell::activate(&mut world.state, Some(id));
    // A letter, and then a shortcut that may have started the program.
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    open_inside(&mut world, inside, "second");
    assert_eq!(world.focused().as_deref(), Some("second"));
}

#[test]
fn window_that_was_activated_before_it_has_content_gets_the_focus() {
    let (mut world, letter, inside, _keep) = with_a_sandbox();
    world.key(KEY_A, true);
    world.settle();
    let serial = world.client(letter).press_serial();
    let made = token(&mut world, letter, Some(serial));
    open_activated(&mut world, inside, "started", Some(made));
    assert_eq!(world.focused().as_deref(), Some("started"));
    // A token without a user action counts as no token.
    let id = world.window("letter").id;
    upbeat::shell::activate(&mut world.state, Some(id));
    world.key(KEY_F, true);
    let made = token(&mut world, letter, None);
    open_activated(&mut world, inside, "uninvited", Some(made));
    assert_eq!(world.focused().as_deref(), Some("letter"));
}

#[test]
fn focus_rule_wins_over_a_typing_user() {
    let (mut world, _, inside, _keep) = with_a_sandbox();
    let rules = "[[window]]\ntitle = 'wanted'\nfocused = true";
    world.state.outputs.rules_mut().set_windows(toml::from_str::<Config>(rules).unwrap().windows);
    world.key(KEY_A, true);
    open_inside(&mut world, inside, "other");
    assert_eq!(world.focused().as_deref(), Some("letter"));
    open_inside(&mut world, inside, "wanted");
    assert_eq!(world.focused().as_deref(), Some("wanted"));
}

#[test]
fn typing_through_an_input_method_counts_as_typing() {
    let (mut world, letter, inside, _keep) = with_a_sandbox();
    let field = field(&mut world, letter, "");
    let typist = world.connect();
    let method = method(&mut world, typist);
    field.enable();
    field.commit();
    world.settle();
    let keyboard = virtual_keyboard(&mut world, typist);
    let _grab = grab(&mut world, typist, &method);
    world.settle();
    world.turn();
    world.settle();
    world.client(letter).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    world.settle();
    assert!(strokes(world.client(letter).take_events()).is_empty(), "they go to the input method");
    open_inside(&mut world, inside, "in between");
    assert_eq!(world.focused().as_deref(), Some("letter"));
    // Keys that the input method sends count as typing too, for example after keys for its candidate window.
    world.run_for(Span::from_millis(600), &mut nothing);
    give_keymap(&keyboard, &keymap("us"));
    keyboard.key(0, KEY_A, 1);
    world.settle();
    assert_eq!(strokes(world.client(letter).take_events()), [(KEY_A, true)]);
    open_inside(&mut world, inside, "after it");
    assert_eq!(world.focused().as_deref(), Some("letter"));
}

/// Whether clients can connect to the socket of a sandbox with this close descriptor, after the sandbox engine
/// disconnected.
fn accepts_connections(world: &mut TestWorld, close: impl AsFd) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inside");
    let engine = sandbox(world, UnixListener::bind(&path).unwrap(), close);
    world.kill(engine);
    let before = guard::all(&world.state.display_handle).len();
    let Ok(_inside) = UnixStream::connect(path) else { return false };
    world.settle();
    guard::all(&world.state.display_handle).len() > before
}

#[test]
fn security_context_without_a_working_close_descriptor_accepts_no_connections() {
    let mut world = TestWorld::new();
    let (closed, _open) = UnixStream::pair().unwrap();
    assert!(accepts_connections(&mut world, closed));
    let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    assert!(!accepts_connections(&mut world, event));
    let (unconnected, _open) = UnixDatagram::pair().unwrap();
    assert!(!accepts_connections(&mut world, unconnected));
    let directory = tempfile::tempdir().unwrap();
    assert!(!accepts_connections(&mut world, UnixListener::bind(directory.path().join("other")).unwrap()));
    // The engine keeps the socket open: connections are refused all the same.
    let path = directory.path().join("refused");
    let kept = UnixListener::bind(&path).unwrap();
    sandbox(&mut world, &kept, tempfile::tempfile().unwrap());
    assert!(UnixStream::connect(&path).is_err());
}

#[test]
fn number_of_security_contexts_is_limited_and_freed_again() {
    let mut world = TestWorld::new();
    let ends: Vec<_> = (0..32).map(|_| UnixStream::pair().unwrap()).collect();
    assert!(ends.iter().all(|(close, _)| accepts_connections(&mut world, close)));
    let (close, _open) = UnixStream::pair().unwrap();
    assert!(!accepts_connections(&mut world, &close));
    // The engine keeps the socket open: connections are refused, because they would otherwise wait for ever.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("refused");
    let kept = UnixListener::bind(&path).unwrap();
    sandbox(&mut world, &kept, &close);
    assert!(UnixStream::connect(&path).is_err());
    drop(ends);
    world.settle();
    assert!(accepts_connections(&mut world, &close));
}

#[test]
fn wrong_listen_descriptor_is_invalid_listen_fd() {
    let (read, write) = rustix::pipe::pipe().unwrap();
    let (stream, _other) = UnixStream::pair().unwrap();
    let (datagram, _other) = UnixDatagram::pair().unwrap();
    let file = tempfile::tempfile().unwrap();
    let code = wp_security_context_manager_v1::Error::InvalidListenFd as u32;
    let wrong: [&dyn AsFd; 4] = [&write, &stream, &datagram, &file];
    for listener in wrong {
        let mut world = TestWorld::new();
        let engine = sandbox(&mut world, listener.as_fd(), &read);
        let error = world.client(engine).error.clone();
        assert_eq!(error, Some(("wp_security_context_manager_v1".to_owned(), code)));
    }
}
