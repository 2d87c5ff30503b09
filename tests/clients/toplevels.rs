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

use crate::fixture::client::Data;
use crate::fixture::{ClientIndex, Event, KEY_2, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, OUTPUT, World};

fn note(data: &mut Data, words: impl Into<String>) {
    data.events.push(Event::Told(words.into()));
}

impl Dispatch<ZwlrForeignToplevelManagerV1, ()> for Data {
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
                data.toplevels.push(toplevel);
                note(data, "window");
            }
            zwlr_foreign_toplevel_manager_v1::Event::Finished => note(data, "finished"),
            _ => {}
        }
    }

    event_created_child!(Data, ZwlrForeignToplevelManagerV1, [
        EVT_TOPLEVEL_OPCODE => (ZwlrForeignToplevelHandleV1, ()),
    ]);
}

impl Dispatch<ZwlrForeignToplevelHandleV1, ()> for Data {
    fn event(
        data: &mut Self,
        handle: &ZwlrForeignToplevelHandleV1,
        event: zwlr_foreign_toplevel_handle_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_foreign_toplevel_handle_v1::Event as Said;
        let number = data.toplevels.iter().position(|known| known == handle).map_or(0, |index| index + 1);
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
                let parent = parent.and_then(|parent| data.toplevels.iter().position(|known| *known == parent));
                format!("parent {:?}", parent.map(|index| index + 1))
            }
            Said::Done => "done".to_owned(),
            Said::Closed => "closed".to_owned(),
            _ => return,
        };
        note(data, format!("{number} {words}"));
    }
}

impl Dispatch<ExtForeignToplevelListV1, ()> for Data {
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
                data.listed.push(toplevel);
                note(data, "window");
            }
            ext_foreign_toplevel_list_v1::Event::Finished => note(data, "finished"),
            _ => {}
        }
    }

    event_created_child!(Data, ExtForeignToplevelListV1, [
        EXT_TOPLEVEL => (ExtForeignToplevelHandleV1, ()),
    ]);
}

impl Dispatch<ExtForeignToplevelHandleV1, ()> for Data {
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

fn told(world: &mut World, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let Event::Told(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

/// A bar that has bound the toplevel manager and knows all windows.
fn bar(world: &mut World) -> (ClientIndex, ZwlrForeignToplevelManagerV1) {
    let bar = world.connect();
    let _output = world.client(bar).bind_output();
    world.settle();
    let manager = world.client(bar).bind::<ZwlrForeignToplevelManagerV1>();
    (bar, manager)
}

fn handle(world: &mut World, client: ClientIndex, number: usize) -> ZwlrForeignToplevelHandleV1 {
    world.client(client).data.toplevels[number - 1].clone()
}

#[test]
fn a_bar_hears_of_windows_and_of_what_changes_of_them() {
    let mut world = World::new();
    let (client, first) = world.open("a", 400, 300);
    let (bar, manager) = bar(&mut world);
    let all = ["window", "1 title a", "1 app ", "1 enters", "1 is activated", "1 done"];
    assert_eq!(told(&mut world, bar), all);
    assert_eq!(told(&mut world, bar), [""; 0], "nothing changed");

    first.toplevel.set_title("b".to_owned());
    first.toplevel.set_app_id("org.example".to_owned());
    assert_eq!(told(&mut world, bar), ["1 title b", "1 app org.example", "1 done"]);

    let dialog = world.open_in(client, "d", 100, 100);
    dialog.toplevel.set_parent(Some(&first.toplevel));
    world.settle();
    let heard = told(&mut world, bar);
    let all = ["window", "1 is ", "1 done", "2 title d", "2 app ", "2 enters", "2 is activated", "2 parent Some(1)"];
    assert_eq!((&heard[..8], heard[8].as_str()), (&all.map(str::to_owned)[..], "2 done"));

    // The list contains windows of other workspaces too.
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_2);
    told(&mut world, bar);
    dialog.surface.attach(None, 0, 0);
    dialog.surface.commit();
    assert!(told(&mut world, bar).contains(&"2 closed".to_owned()));
    world.kill(client);
    assert_eq!(told(&mut world, bar), ["1 closed"]);
    manager.stop();
    assert_eq!(told(&mut world, bar), ["finished"]);
    world.open("e", 100, 100);
    assert_eq!(told(&mut world, bar), [""; 0]);
}

#[test]
fn a_window_whose_client_does_not_read_for_a_while_is_not_closed_for_what_a_bar_asks_of_it() {
    let mut world = World::new();
    let (client, _window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    told(&mut world, bar);
    let first = handle(&mut world, bar, 1);
    world.client(client).is_stopped = true;
    for _ in 0..2_000 {
        first.set_maximized();
        first.unset_maximized();
        first.close();
        world.flush();
        world.client(bar).receive();
    }
    world.client(client).is_stopped = false;
    world.settle();
    assert!(!world.client(client).is_gone());
    world.client(client).answer_newest();
    world.settle();
    first.set_maximized();
    world.settle();
    assert_eq!(world.client(client).answer_newest(), Some(OUTPUT), "it gets configures as before");
}

#[test]
fn a_bar_arranges_activates_and_closes_windows() {
    let mut world = World::new();
    let (client, window) = world.open("a", 400, 300);
    let (_, _other) = world.open("b", 200, 200);
    let (bar, _manager) = bar(&mut world);
    told(&mut world, bar);
    let first = handle(&mut world, bar, 1);
    let seat = world.client(bar).globals().seat.clone();
    first.activate(&seat);
    assert_eq!(told(&mut world, bar), ["1 is activated", "1 done", "2 is ", "2 done"]);
    assert_eq!(world.focused().as_deref(), Some("a"));
    first.set_maximized();
    assert_eq!(told(&mut world, bar), ["1 is maximized activated", "1 done"]);
    assert_eq!(world.client(client).answer_newest(), Some(OUTPUT));
    first.set_fullscreen(None);
    assert_eq!(told(&mut world, bar), ["1 is activated fullscreen", "1 done"]);
    first.unset_fullscreen();
    first.unset_maximized();
    assert_eq!(told(&mut world, bar), ["1 is activated", "1 done"]);
    first.set_rectangle(&window_surface(&mut world, bar), 0, 0, 10, 10);
    assert_eq!(told(&mut world, bar), [""; 0]);
    first.set_minimized();
    assert_eq!(told(&mut world, bar), ["1 is minimized", "1 done", "2 is activated", "2 done"]);
    first.unset_minimized();
    assert_eq!(told(&mut world, bar), ["1 is activated", "1 done", "2 is ", "2 done"]);
    first.unset_minimized();
    assert_eq!(told(&mut world, bar), [""; 0], "it is not minimised");
    first.set_minimized();
    told(&mut world, bar);
    first.activate(&seat);
    assert_eq!(told(&mut world, bar), ["1 is activated", "1 done", "2 is ", "2 done"]);
    first.set_minimized();
    told(&mut world, bar);
    first.set_maximized();
    assert_eq!(told(&mut world, bar), ["1 is maximized", "1 done"], "it is shown, and the focus stays");
    first.unset_maximized();
    first.activate(&seat);
    told(&mut world, bar);
    world.client(client).take_events();
    first.close();
    world.settle();
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, Event::Close)));
    drop(window);
    // Requests for a closed window have no effect.
    world.kill(client);
    told(&mut world, bar);
    first.set_maximized();
    first.close();
    first.destroy();
    world.settle();
    assert!(!world.client(bar).is_gone());
}

fn window_surface(world: &mut World, client: ClientIndex) -> wayland_client::protocol::wl_surface::WlSurface {
    world.client(client).surface()
}

#[test]
fn a_window_that_goes_to_another_output_leaves_the_one_that_it_was_on() {
    let mut world = World::new();
    let (_, _window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    told(&mut world, bar);
    world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let surface = world.window("a").surface().clone();
    upbeat::shell::set_location(&mut world.state, &surface, (OUTPUT.0 + 100, 100).into());
    assert_eq!(told(&mut world, bar), ["1 leaves", "1 done"], "it does not know the other output");
}

#[test]
fn names_of_windows_are_listed_without_more() {
    let mut world = World::new();
    let (client, window) = world.open("a", 400, 300);
    let lister = world.connect();
    let list = world.client(lister).bind::<ExtForeignToplevelListV1>();
    let heard = told(&mut world, lister);
    assert_eq!((heard[0].as_str(), &heard[2..]), ("window", &["title a", "app ", "done"].map(str::to_owned)[..]));
    let name = heard[1].clone();
    assert!(name.starts_with("called ") && name.len() <= "called ".len() + 32, "{name}");
    window.toplevel.set_title("b".to_owned());
    window.toplevel.set_maximized();
    assert_eq!(told(&mut world, lister), ["title b", "done"]);
    // A window that is mapped again gets a new handle.
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    assert_eq!(told(&mut world, lister), ["closed"]);
    window.surface.commit();
    world.settle();
    world.client(client).answer_newest();
    world.client(client).show(&window.surface, 400, 300);
    let heard = told(&mut world, lister);
    assert_eq!(heard[0], "window");
    assert_ne!(heard[1], name);
    list.stop();
    assert_eq!(told(&mut world, lister), ["finished"]);
    list.destroy();
    world.settle();
    assert!(!world.client(lister).is_gone());
}

#[test]
fn a_bar_that_reads_nothing_is_told_the_newest_when_it_reads_on() {
    let mut world = World::new();
    let (_, window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    told(&mut world, bar);
    world.client(bar).is_stopped = true;
    for number in 0..4_000 {
        window.toplevel.set_title(format!("{number} {}", "x".repeat(200)));
        world.carry_once();
        upbeat::session::turn::run(&mut world.state);
        world.flush();
    }
    world.client(bar).is_stopped = false;
    world.settle();
    assert!(!world.client(bar).is_gone(), "a bar that pauses is not ended for the events of other clients");
    world.until("the newest title", |world| {
        let newest = format!("1 title 3999 {}", "x".repeat(200));
        told(world, bar).contains(&newest)
    });
}

#[test]
fn a_rectangle_without_sense_is_an_error() {
    let mut world = World::new();
    let (_, _window) = world.open("a", 400, 300);
    let (bar, _manager) = bar(&mut world);
    told(&mut world, bar);
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
fn whoever_lists_windows_with_long_titles_hears_of_them_as_it_reads_and_is_not_thrown_out() {
    let mut world = World::new();
    for _ in 0..TITLED / OF_ONE {
        let client = world.connect();
        (0..OF_ONE).for_each(|_| _ = world.open_in(client, &"t".repeat(TITLE), 10, 10));
    }
    assert_eq!(world.state.shell.windows().count(), TITLED);
    let (bar, _manager) = bar(&mut world);
    let lister = world.connect();
    let _list = world.client(lister).bind::<ExtForeignToplevelListV1>();
    let mut titles = [0; 2];
    world.until("all titles", |world| {
        for (listener, titles) in [bar, lister].into_iter().zip(&mut titles) {
            assert!(!world.client(listener).is_gone());
            *titles += told(world, listener).iter().filter(|words| words.contains("title t")).count();
        }
        titles == [TITLED; 2]
    });
    assert_eq!(told(&mut world, bar), [""; 0]);
}

#[test]
fn handles_are_told_on_after_their_list_was_stopped() {
    let mut world = World::new();
    let (client, window) = world.open("a", 400, 300);
    let (bar, manager) = bar(&mut world);
    let lister = world.connect();
    let list = world.client(lister).bind::<ExtForeignToplevelListV1>();
    told(&mut world, bar);
    told(&mut world, lister);
    manager.stop();
    list.stop();
    assert_eq!(told(&mut world, bar), ["finished"]);
    assert_eq!(told(&mut world, lister), ["finished"]);
    list.destroy();
    let other = world.open_in(client, "new", 100, 100);
    assert_eq!(told(&mut world, bar), ["1 is ", "1 done"], "no new window");
    assert_eq!(told(&mut world, lister), [""; 0]);
    window.toplevel.set_title("b".to_owned());
    assert_eq!(told(&mut world, bar), ["1 title b", "1 done"]);
    assert_eq!(told(&mut world, lister), ["title b", "done"]);
    handle(&mut world, bar, 1).set_maximized();
    assert_eq!(told(&mut world, bar), ["1 is maximized", "1 done"], "and they act");
    other.toplevel.destroy();
    world.kill(client);
    assert_eq!(told(&mut world, bar), ["1 closed"]);
    assert_eq!(told(&mut world, lister), ["closed"]);
}
