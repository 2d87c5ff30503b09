//! Clients that stop reading for a while (in a debugger, or swapped out) are not disconnected, however many events the
//! actions of other clients cause for them.

use wayland_protocols::wp::text_input::zv3::client::zwp_text_input_v3::ChangeCause;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_shell_v1::Layer;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::KeyboardInteractivity;

use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;

use crate::fixture::content::RED;
use crate::fixture::{ClientEvent, ClientIndex, KEY_A, TestWorld};
use crate::recordings::RecordingClient;
use crate::text;

/// Number of turns that cause an event each: as many small messages fill a socket several times.
const TURNS: usize = 2_000;

/// One turn of the loop, without waiting for any client.
pub fn turn(world: &mut TestWorld) {
    world.deliver_once();
    upbeat::session::turn::run(&mut world.state);
    world.flush();
}

/// `innocent` reads nothing while `happens` runs in each of [`TURNS`] turns, and it stays connected.
#[track_caller]
fn stays_connected_while(world: &mut TestWorld, innocent: ClientIndex, mut happens: impl FnMut(&mut TestWorld, usize)) {
    world.settle();
    world.client(innocent).is_stalled = true;
    for number in 0..TURNS {
        happens(world, number);
        turn(world);
    }
    world.client(innocent).is_stalled = false;
    world.settle();
    assert!(!world.client(innocent).is_disconnected(), "{}", world.client(innocent).error_message());
}

#[test]
fn stalled_client_survives_repeated_keyboard_focus_changes() {
    let mut world = TestWorld::new();
    let (innocent, _) = world.open("innocent", 200, 100);
    let panel = world.connect();
    let pinned = world.map_layer(panel, Layer::Top, RED, |layer| layer.set_size(100, 20));
    stays_connected_while(&mut world, innocent, |_, number| {
        let keyboard = [KeyboardInteractivity::Exclusive, KeyboardInteractivity::None][number % 2];
        pinned.layer.set_keyboard_interactivity(keyboard);
        pinned.surface.commit();
    });
    assert_eq!(world.focused().as_deref(), Some("innocent"));
}

#[test]
fn stalled_client_survives_repeated_mapping_of_another_window() {
    let mut world = TestWorld::new();
    let (innocent, _) = world.open("innocent", 200, 100);
    let other = world.connect();
    let window = world.open_in(other, "other", 50, 50);
    let mut is_there = true;
    stays_connected_while(&mut world, innocent, |world, _| {
        world.client(other).receive();
        if is_there {
            window.surface.attach(None, 0, 0);
            window.surface.commit();
            window.surface.commit();
            is_there = false;
        } else if world.client(other).ack_newest_configure().is_some() {
            world.client(other).commit_buffer(&window.surface, 50, 50);
            is_there = true;
        }
    });
}

/// Commits of a text field, each answered by `done`: more than fits into a socket, even in batches.
const ANSWERED: usize = 20_000;

#[test]
fn stalled_client_gets_done_for_the_newest_commit_of_its_text_field() {
    let mut world = TestWorld::new();
    let (client, _) = world.open("field", 200, 100);
    let field = text::field(&mut world, client, "");
    world.settle();
    field.enable();
    field.commit();
    let last = 1 + ANSWERED;
    world.client(client).is_stalled = true;
    for _ in 0..ANSWERED {
        field.set_cursor_rectangle(1, 2, 3, 4);
        field.commit();
        turn(&mut world);
    }
    world.client(client).is_stalled = false;
    world.settle();
    let told = text::text_events(&mut world, client);
    assert!(told.len() < ANSWERED, "the socket had room for {} of {last} answers", told.len());
    assert_eq!(told.last(), Some(&format!("done {last}")), "the serial is stale");
}

/// Keys typed while a client reads nothing: half as many again as fit into a socket of the kernel's default size.
const TYPED: usize = 200;

#[test]
fn stalled_client_gets_every_typed_key() {
    let mut world = TestWorld::new();
    let (client, _) = world.open("editor", 200, 100);
    world.client(client).take_events();
    world.client(client).is_stalled = true;
    for _ in 0..TYPED {
        for pressed in [true, false] {
            world.key(KEY_A, pressed);
            turn(&mut world);
        }
    }
    world.client(client).is_stalled = false;
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{}", world.client(client).error_message());
    let keys = world
        .client(client)
        .take_events()
        .iter()
        .filter(|it| matches!(it, ClientEvent::Key { key: KEY_A, .. }))
        .count();
    assert_eq!(keys, 2 * TYPED);
}

#[test]
fn stalled_input_method_survives_text_field_updates() {
    let mut world = TestWorld::new();
    let types = world.connect();
    let _method = text::method(&mut world, types);
    let (client, _) = world.open("field", 200, 100);
    let field = text::field(&mut world, client, "");
    world.settle();
    field.enable();
    field.commit();
    stays_connected_while(&mut world, types, |_, number| {
        field.set_surrounding_text(format!("{number:a>2000}"), 0, 0);
        field.set_text_change_cause(ChangeCause::Other);
        field.commit();
    });
}

#[test]
fn stalled_client_survives_composed_text_and_gets_later_text() {
    let mut world = TestWorld::new();
    let types = world.connect();
    let method = text::method(&mut world, types);
    let (client, _) = world.open("field", 200, 100);
    let field = text::field(&mut world, client, "");
    world.settle();
    field.enable();
    field.commit();
    world.settle();
    // The input method has received `done` for the enabled field.
    let serial = text::text_events(&mut world, types).iter().filter(|said| *said == "done").count() as u32;
    text::text_events(&mut world, client);
    stays_connected_while(&mut world, client, |_, number| {
        method.set_preedit_string("にほん".to_owned(), 0, 3);
        method.commit_string(format!("{number:a>200}"));
        method.commit(serial);
    });
    let heard = text::text_events(&mut world, client).iter().filter(|said| said.starts_with("commit")).count();
    assert!((1..TURNS).contains(&heard), "{heard} texts arrived until the socket was full");
    method.commit_string("at last".to_owned());
    method.commit(serial);
    world.settle();
    let heard = text::text_events(&mut world, client);
    assert!(heard.contains(&"commit at last".to_owned()), "{heard:?}");
}

#[test]
fn stalled_capture_client_survives_repeated_resizes_of_its_window() {
    let mut world = TestWorld::new();
    let (other, window) = world.open("changes", 200, 100);
    let camera = RecordingClient::new(&mut world);
    let source = camera.window(&mut world, 0);
    let _session = camera.session(&mut world, &source, Options::empty());
    stays_connected_while(&mut world, camera.client, |world, number| {
        world.client(other).commit_buffer(&window.surface, 100 + (number % 2) as i32, 100);
    });
}

#[test]
fn stalled_cursor_capture_client_survives_pointer_motion() {
    let mut world = TestWorld::new();
    let (_, _) = world.open("still", 200, 100);
    let camera = RecordingClient::new(&mut world);
    let source = camera.window(&mut world, 0);
    let (manager, client) = (camera.manager.clone(), camera.client);
    let pointer = world.client(client).globals().pointer().clone();
    manager.create_pointer_cursor_session(&source, &pointer, &world.client(client).handle(), ());
    let corner = world.window("still").rect().loc.to_f64();
    stays_connected_while(&mut world, client, |world, number| {
        let time = world.now();
        let position = (corner.x + (number % 100) as f64, corner.y + 50.0).into();
        upbeat::input::handle(&mut world.state, upbeat::input::InputEvent::PointerPosition { time, position });
    });
}
