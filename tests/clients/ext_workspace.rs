//! `ext_workspace_v1`: a bar lists the workspaces and switches between them.

use wayland_client::{Connection, Dispatch, QueueHandle, WEnum, event_created_child};
use wayland_protocols::ext::workspace::v1::client::{
    ext_workspace_group_handle_v1::{self, ExtWorkspaceGroupHandleV1},
    ext_workspace_handle_v1::{self, ExtWorkspaceHandleV1},
    ext_workspace_manager_v1::{self, EVT_WORKSPACE_GROUP_OPCODE, EVT_WORKSPACE_OPCODE, ExtWorkspaceManagerV1},
};

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientEvent, ClientIndex, KEY_2, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, OUTPUT, TestWorld};

impl Dispatch<ExtWorkspaceManagerV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ExtWorkspaceManagerV1,
        event: ext_workspace_manager_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use ext_workspace_manager_v1::Event as Said;
        match event {
            Said::WorkspaceGroup { .. } => data.events.push(ClientEvent::InWords("group".to_owned())),
            Said::Workspace { workspace } => data.workspaces.push(workspace),
            Said::Done => data.events.push(ClientEvent::InWords("done".to_owned())),
            Said::Finished => data.events.push(ClientEvent::InWords("finished".to_owned())),
            _ => {}
        }
    }

    event_created_child!(TestClientState, ExtWorkspaceManagerV1, [
        EVT_WORKSPACE_GROUP_OPCODE => (ExtWorkspaceGroupHandleV1, ()),
        EVT_WORKSPACE_OPCODE => (ExtWorkspaceHandleV1, ()),
    ]);
}

impl Dispatch<ExtWorkspaceGroupHandleV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ExtWorkspaceGroupHandleV1,
        event: ext_workspace_group_handle_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            ext_workspace_group_handle_v1::Event::OutputEnter { .. } => {
                data.events.push(ClientEvent::InWords("on an output".to_owned()))
            }
            ext_workspace_group_handle_v1::Event::Removed => {
                data.events.push(ClientEvent::InWords("group removed".to_owned()))
            }
            _ => {}
        }
    }
}

impl Dispatch<ExtWorkspaceHandleV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        handle: &ExtWorkspaceHandleV1,
        event: ext_workspace_handle_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let number = data.workspaces.iter().position(|known| known == handle).map_or(0, |index| index + 1);
        match event {
            ext_workspace_handle_v1::Event::State { state } => {
                let state = match state {
                    WEnum::Value(state) => state.bits(),
                    WEnum::Unknown(bits) => bits,
                };
                let word = ["there", "active", "urgent", "", "hidden"][state as usize];
                data.events.push(ClientEvent::InWords(format!("{number} {word}")));
            }
            ext_workspace_handle_v1::Event::Name { name } => data.workspace_names.push(name),
            ext_workspace_handle_v1::Event::Coordinates { coordinates } => {
                let place = u32::from_ne_bytes(coordinates.try_into().unwrap());
                // Every workspace has its coordinates at first.
                if data.workspace_places.insert(number, place).is_some() {
                    data.events.push(ClientEvent::InWords(format!("{number} at {place}")));
                }
            }
            ext_workspace_handle_v1::Event::Removed => {
                data.events.push(ClientEvent::InWords(format!("{number} removed")))
            }
            _ => {}
        }
    }
}

fn words_since_last_call(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

#[test]
fn bar_gets_workspaces_and_switches_them_on_commit() {
    let mut world = TestWorld::new();
    let bar = world.connect();
    let _output = world.client(bar).bind_output();
    let manager = world.client(bar).bind::<ExtWorkspaceManagerV1>();
    let heard = words_since_last_call(&mut world, bar);
    let states: Vec<String> = (2..=9).map(|number| format!("{number} hidden")).collect();
    assert_eq!(heard[..3], ["group", "on an output", "1 active"]);
    assert_eq!((&heard[3..11], &heard[11..]), (&states[..], &["done".to_owned()][..]));
    assert_eq!(words_since_last_call(&mut world, bar), [""; 0], "nothing changed");

    world.open("a", 100, 100);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_2);
    assert_eq!(words_since_last_call(&mut world, bar), ["2 there", "done"]);

    let second = world.client(bar).workspace(2);
    second.activate();
    assert_eq!(words_since_last_call(&mut world, bar), [""; 0], "no switch before the commit");
    manager.commit();
    world.settle();
    assert_eq!(world.focused().as_deref(), Some("a"));
    assert_eq!(words_since_last_call(&mut world, bar), ["1 hidden", "2 active", "done"]);

    manager.stop();
    assert_eq!(words_since_last_call(&mut world, bar), ["finished"]);
    second.activate();
    assert_eq!(words_since_last_call(&mut world, bar), [""; 0]);
    assert!(!world.client(bar).is_disconnected());
}

#[test]
fn reload_of_names_adds_and_removes_workspaces_and_keeps_the_handles_of_others() {
    let mut world = TestWorld::new();
    world.name_workspaces(&["mail", "music"]);
    let bar = world.connect();
    let manager = world.client(bar).bind::<ExtWorkspaceManagerV1>();
    let heard = words_since_last_call(&mut world, bar);
    assert_eq!((heard.len(), &heard[10..]), (13, &["10 hidden", "11 hidden", "done"].map(str::to_owned)[..]));
    assert_eq!(world.client(bar).names_of_workspaces(), "1 2 3 4 5 6 7 8 9 mail music");
    // Another order: the same handles at other places.
    world.name_workspaces(&["music", "mail"]);
    assert_eq!(words_since_last_call(&mut world, bar), ["10 at 10", "11 at 9", "done"]);
    world.client(bar).workspace(11).activate();
    // The request is of the name, even if its number changes before the commit.
    world.name_workspaces(&["chat", "music"]);
    assert_eq!(words_since_last_call(&mut world, bar), ["10 removed", "11 at 10", "12 hidden", "done"]);
    manager.commit();
    world.settle();
    assert_eq!(words_since_last_call(&mut world, bar), ["1 hidden", "11 active", "done"]);
    let workspaces = world.state.shell.workspaces();
    let (screen, _) = workspaces.screens().next().unwrap();
    assert_eq!(workspaces.label(workspaces.active(screen)), "music");
    // The visible one is gone, and the client uses a handle that was removed.
    world.name_workspaces(&[]);
    world.client(bar).workspace(10).activate();
    manager.commit();
    assert_eq!(words_since_last_call(&mut world, bar), ["1 active", "11 removed", "12 removed", "done"]);
    assert!(!world.client(bar).is_disconnected());
}

#[test]
fn workspace_group_follows_its_output_and_late_requests_are_ignored() {
    let mut world = TestWorld::new();
    let bar = world.connect();
    let manager = world.client(bar).bind::<ExtWorkspaceManagerV1>();
    words_since_last_call(&mut world, bar);
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let heard = words_since_last_call(&mut world, bar);
    assert_eq!((heard[0].as_str(), heard.last().map(String::as_str), heard.len()), ("group", Some("done"), 11));
    world.unplug("TEST-2");
    let heard = words_since_last_call(&mut world, bar);
    assert_eq!((heard[0].as_str(), &heard[9..]), ("10 removed", &["group removed".to_owned(), "done".to_owned()][..]));
    world.client(bar).workspace(12).activate();
    world.client(bar).workspace(13).destroy();
    manager.commit();
    assert_eq!(words_since_last_call(&mut world, bar), [""; 0]);
    assert!(!world.client(bar).is_disconnected());
    world.kill(bar);
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    world.turn();
}
