//! Toplevel lists: a bar lists windows, and closes, activates and arranges them.

use wayland_client::{Connection, Dispatch, QueueHandle, event_created_child};
use wayland_protocols::ext::foreign_toplevel_list::v1::client::{
    ext_foreign_toplevel_handle_v1::{self, ExtForeignToplevelHandleV1},
    ext_foreign_toplevel_list_v1::{self, EVT_TOPLEVEL_OPCODE as EXT_TOPLEVEL, ExtForeignToplevelListV1},
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::{
    zwlr_foreign_toplevel_handle_v1::{self, ZwlrForeignToplevelHandleV1},
    zwlr_foreign_toplevel_manager_v1::{self, EVT_TOPLEVEL_OPCODE, ZwlrForeignToplevelManagerV1},
};

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientEvent, ClientIndex, KEY_2, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, OUTPUT, TestWorld};

fn note(data: &mut TestClientState, words: impl Into<String>) {
    data.events.push(ClientEvent::InWords(words.into()));
}

impl Dispatch<ZwlrForeignToplevelManagerV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwlrForeignToplevelManagerV1,
        event: zwlr_foreign_toplevel_manager_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwlr_foreign_toplevel_manager_v1::Event::Toplevel { toplevel } => {
                data.wlr_toplevels.push(toplevel);
                note(data, "window");
            }
            zwlr_foreign_toplevel_manager_v1::Event::Finished => note(data, "finished"),
            _ => {}
        }
    }

    event_created_child!(TestClientState, ZwlrForeignToplevelManagerV1, [
        EVT_TOPLEVEL_OPCODE => (ZwlrForeignToplevelHandleV1, ()),
    ]);
}

impl Dispatch<ZwlrForeignToplevelHandleV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        handle: &ZwlrForeignToplevelHandleV1,
        event: zwlr_foreign_toplevel_handle_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_foreign_toplevel_handle_v1::Event as Said;
        let number = data.wlr_toplevels.iter().position(|known| known == handle).map_or(0, |index| index + 1);
        let words = match event {
            Said::Title { title } => format!("title {title}"),
            Said::AppId { app_id } => format!("app {app_id}"),
            Said::OutputEnter { .. } => "enters".to_owned(),
            Said::OutputLeave { .. } => "leaves".to_owned(),
            Said::State { state } => {
                let flags = state.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
                let names = ["maximized", "minimized", "activated", "fullscreen"];
                let flags: Vec<_> = flags.map(|flag| names[flag as usize]).collect();
                format!("is {}", flags.join(" "))
            }
            Said::Parent { parent } => {
                let parent = parent.and_then(|parent| data.wlr_toplevels.iter().position(|known| *known == parent));
                format!("parent {:?}", parent.map(|index| index + 1))
            }
            Said::Done => "done".to_owned(),
            Said::Closed => "closed".to_owned(),
            _ => return,
        };
        note(data, format!("{number} {words}"));
    }
}

impl Dispatch<ExtForeignToplevelListV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ExtForeignToplevelListV1,
        event: ext_foreign_toplevel_list_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            ext_foreign_toplevel_list_v1::Event::Toplevel { toplevel } => {
                data.ext_toplevels.push(toplevel);
                note(data, "window");
            }
            ext_foreign_toplevel_list_v1::Event::Finished => note(data, "finished"),
            _ => {}
        }
    }

    event_created_child!(TestClientState, ExtForeignToplevelListV1, [
        EXT_TOPLEVEL => (ExtForeignToplevelHandleV1, ()),
    ]);
}

impl Dispatch<ExtForeignToplevelHandleV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ExtForeignToplevelHandleV1,
        event: ext_foreign_toplevel_handle_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use ext_foreign_toplevel_handle_v1::Event as Said;
        let words = match event {
            Said::Identifier { identifier } => format!("called {identifier}"),
            Said::Title { title } => format!("title {title}"),
            Said::AppId { app_id } => format!("app {app_id}"),
            Said::Done => "done".to_owned(),
            Said::Closed => "closed".to_owned(),
            _ => return,
        };
        note(data, words);
    }
}

fn toplevel_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

/// A bar that has bound the toplevel manager and knows all windows.
fn bar(world: &mut TestWorld) -> (ClientIndex, ZwlrForeignToplevelManagerV1) {
    let bar = world.connect();
    let _output = world.client(bar).bind_output();
    world.settle();
    let manager = world.client(bar).bind::<ZwlrForeignToplevelManagerV1>();
    (bar, manager)
}

fn handle(world: &mut TestWorld, client: ClientIndex, number: usize) -> ZwlrForeignToplevelHandleV1 {
    world.client(client).data.wlr_toplevels[number - 1].clone()
}

#[test]
fn bar_receives_windows_and_their_changes() {
    let mut world = TestWorld::new();
    let (client, first) = world.open("a", 400, 300);
    let (bar, manager) = bar(&mut world);
    let all = ["window", "1 title a", "1 app ", "1 enters", "1 is activated", "1 done"];
    assert_eq!(toplevel_events(&mut world, bar), all);
    assert_eq!(toplevel_events(&mut world, bar), [""; 0], "nothing changed");

    first.toplevel.set_title("b".to_owned());
    first.toplevel.set_app_id("org.example".to_owned());
    assert_eq!(toplevel_events(&mut world, bar), ["1 title b", "1 app org.example", "1 done"]);

    let dialog = world.open_in(client, "d", 100, 100);
    dialog.toplevel.set_parent(Some(&first.toplevel));
    world.settle();
    let heard = toplevel_events(&mut world, bar);
    let all = ["window", "1 is ", "1 done", "2 title d", "2 app ", "2 enters", "2 is activated", "2 parent Some(1)"];
    assert_eq!((&heard[..8], heard[8].as_str()), (&all.map(str::to_owned)[..], "2 done"));

    // The list contains windows of other workspaces too.
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_2);
    toplevel_events(&mut world, bar);
    dialog.surface.attach(None, 0, 0);
    dialog.surface.commit();
    assert!(toplevel_events(&mut world, bar).contains(&"2 closed".to_owned()));
    world.kill(client);
    assert_eq!(toplevel_events(&mut world, bar), ["1 closed"]);
    manager.stop();
    assert_eq!(toplevel_events(&mut world, bar), ["finished"]);
    world.open("e", 100, 100);
    assert_eq!(toplevel_events(&mut world, bar), [""; 0]);
}

#[test]
fn requests_of_a_bar_do_not_end_a_paused_client() {
    let mut world = TestWorld::new();
    let (client, _window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    toplevel_events(&mut world, bar);
    let first = handle(&mut world, bar, 1);
    world.client(client).is_stalled = true;
    for _ in 0..2_000 {
        first.set_maximized();
        first.unset_maximized();
        first.close();
        world.flush();
        world.client(bar).receive();
    }
    world.client(client).is_stalled = false;
    world.settle();
    assert!(!world.client(client).is_disconnected());
    world.client(client).ack_newest_configure();
    world.settle();
    first.set_maximized();
    world.settle();
    assert_eq!(world.client(client).ack_newest_configure(), Some(OUTPUT), "it gets configures as before");
}

#[test]
fn a_bar_arranges_activates_and_closes_windows() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let (_, _other) = world.open("b", 200, 200);
    let (bar, _manager) = bar(&mut world);
    toplevel_events(&mut world, bar);
    let first = handle(&mut world, bar, 1);
    let seat = world.client(bar).globals().seat.clone();
    first.activate(&seat);
    assert_eq!(toplevel_events(&mut world, bar), ["1 is activated", "1 done", "2 is ", "2 done"]);
    assert_eq!(world.focused().as_deref(), Some("a"));
    first.set_maximized();
    assert_eq!(toplevel_events(&mut world, bar), ["1 is maximized activated", "1 done"]);
    assert_eq!(world.client(client).ack_newest_configure(), Some(OUTPUT));
    first.set_fullscreen(None);
    assert_eq!(toplevel_events(&mut world, bar), ["1 is activated fullscreen", "1 done"]);
    first.unset_fullscreen();
    first.unset_maximized();
    assert_eq!(toplevel_events(&mut world, bar), ["1 is activated", "1 done"]);
    first.set_rectangle(&window_surface(&mut world, bar), 0, 0, 10, 10);
    assert_eq!(toplevel_events(&mut world, bar), [""; 0]);
    first.set_minimized();
    assert_eq!(toplevel_events(&mut world, bar), ["1 is minimized", "1 done", "2 is activated", "2 done"]);
    first.unset_minimized();
    assert_eq!(toplevel_events(&mut world, bar), ["1 is activated", "1 done", "2 is ", "2 done"]);
    first.unset_minimized();
    assert_eq!(toplevel_events(&mut world, bar), [""; 0], "it is not minimised");
    first.set_minimized();
    toplevel_events(&mut world, bar);
    first.activate(&seat);
    assert_eq!(toplevel_events(&mut world, bar), ["1 is activated", "1 done", "2 is ", "2 done"]);
    first.set_minimized();
    toplevel_events(&mut world, bar);
    first.set_maximized();
    assert_eq!(toplevel_events(&mut world, bar), ["1 is maximized", "1 done"], "it is shown, and the focus stays");
    first.unset_maximized();
    first.activate(&seat);
    toplevel_events(&mut world, bar);
    world.client(client).take_events();
    first.close();
    world.settle();
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Close)));
    drop(window);
    // Requests for a closed window have no effect.
    world.kill(client);
    toplevel_events(&mut world, bar);
    first.set_maximized();
    first.close();
    first.destroy();
    world.settle();
    assert!(!world.client(bar).is_disconnected());
}

fn window_surface(world: &mut TestWorld, client: ClientIndex) -> wayland_client::protocol::wl_surface::WlSurface {
    world.client(client).surface()
}

#[test]
fn a_window_that_goes_to_another_output_leaves_the_one_that_it_was_on() {
    let mut world = TestWorld::new();
    let (_, _window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    toplevel_events(&mut world, bar);
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let surface = world.window("a").surface().clone();
    upbeat::shell::set_location(&mut world.state, &surface, (OUTPUT.0 + 100, 100).into());
    assert_eq!(toplevel_events(&mut world, bar), ["1 leaves", "1 done"], "it does not know the other output");
}

#[test]
fn ext_foreign_toplevel_list_sends_titles_and_app_ids() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let lister = world.connect();
    let list = world.client(lister).bind::<ExtForeignToplevelListV1>();
    let heard = toplevel_events(&mut world, lister);
    assert_eq!((heard[0].as_str(), &heard[2..]), ("window", &["title a", "app ", "done"].map(str::to_owned)[..]));
    let name = heard[1].clone();
    assert!(name.starts_with("called ") && name.len() <= "called ".len() + 32, "{name}");
    window.toplevel.set_title("b".to_owned());
    window.toplevel.set_maximized();
    assert_eq!(toplevel_events(&mut world, lister), ["title b", "done"]);
    // A window that is mapped again gets a new handle.
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    assert_eq!(toplevel_events(&mut world, lister), ["closed"]);
    window.surface.commit();
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&window.surface, 400, 300);
    let heard = toplevel_events(&mut world, lister);
    assert_eq!(heard[0], "window");
    assert_ne!(heard[1], name);
    list.stop();
    assert_eq!(toplevel_events(&mut world, lister), ["finished"]);
    list.destroy();
    world.settle();
    assert!(!world.client(lister).is_disconnected());
}

#[test]
fn paused_bar_receives_the_newest_state_when_it_reads_again() {
    let mut world = TestWorld::new();
    let (_, window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    toplevel_events(&mut world, bar);
    world.client(bar).is_stalled = true;
    for number in 0..4_000 {
        window.toplevel.set_title(format!("{number} {}", "x".repeat(200)));
        world.deliver_once();
        upbeat::session::turn::run(&mut world.state);
        world.flush();
    }
    world.client(bar).is_stalled = false;
    world.settle();
    assert!(!world.client(bar).is_disconnected(), "a bar that pauses is not ended for the events of other clients");
    world.run_until("the newest title", |world| {
        let newest = format!("1 title 3999 {}", "x".repeat(200));
        toplevel_events(world, bar).contains(&newest)
    });
}

#[test]
fn invalid_rectangle_is_an_error() {
    let mut world = TestWorld::new();
    let (_, _window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    toplevel_events(&mut world, bar);
    let surface = window_surface(&mut world, bar);
    handle(&mut world, bar, 1).set_rectangle(&surface, 0, 0, -1, 5);
    world.settle();
    assert_eq!(world.client(bar).error, Some(("zwlr_foreign_toplevel_handle_v1".to_owned(), 0)));
}

/// Number of windows (of several programs) whose titles together are twice as long as a socket can hold.
const TITLED: usize = 100;
const OF_ONE: usize = 10;
const TITLE: usize = 4_000;

#[test]
fn long_window_list_is_sent_as_the_client_reads() {
    let mut world = TestWorld::new();
    for _ in 0..TITLED / OF_ONE {
        let client = world.connect();
        (0..OF_ONE).for_each(|_| _ = world.open_in(client, &"t".repeat(TITLE), 10, 10));
    }
    assert_eq!(world.state.shell.windows().count(), TITLED);
    let (bar, _manager) = bar(&mut world);
    let lister = world.connect();
    let _list = world.client(lister).bind::<ExtForeignToplevelListV1>();
    let mut titles = [0; 2];
    world.run_until("all titles", |world| {
        for (listener, titles) in [bar, lister].into_iter().zip(&mut titles) {
            assert!(!world.client(listener).is_disconnected());
            *titles += toplevel_events(world, listener).iter().filter(|words| words.contains("title t")).count();
        }
        titles == [TITLED; 2]
    });
    assert_eq!(toplevel_events(&mut world, bar), [""; 0]);
}

#[test]
fn handles_receive_events_after_their_list_was_stopped() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let (bar, manager) = bar(&mut world);
    let lister = world.connect();
    let list = world.client(lister).bind::<ExtForeignToplevelListV1>();
    toplevel_events(&mut world, bar);
    toplevel_events(&mut world, lister);
    manager.stop();
    list.stop();
    assert_eq!(toplevel_events(&mut world, bar), ["finished"]);
    assert_eq!(toplevel_events(&mut world, lister), ["finished"]);
    list.destroy();
    let other = world.open_in(client, "new", 100, 100);
    assert_eq!(toplevel_events(&mut world, bar), ["1 is ", "1 done"], "no new window");
    assert_eq!(toplevel_events(&mut world, lister), [""; 0]);
    window.toplevel.set_title("b".to_owned());
    assert_eq!(toplevel_events(&mut world, bar), ["1 title b", "1 done"]);
    assert_eq!(toplevel_events(&mut world, lister), ["title b", "done"]);
    handle(&mut world, bar, 1).set_maximized();
    assert_eq!(toplevel_events(&mut world, bar), ["1 is maximized", "1 done"], "and they act");
    other.toplevel.destroy();
    world.kill(client);
    assert_eq!(toplevel_events(&mut world, bar), ["1 closed"]);
    assert_eq!(toplevel_events(&mut world, lister), ["closed"]);
}
