//! Who draws title bars.

use wayland_client::WEnum;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_toplevel_decoration_v1::Mode;

use crate::fixture::{Event, World};

/// What a window that is shown already is told that asks for a decoration, and for `wish` in the same breath.
fn answers(wish: Option<Mode>) -> Vec<String> {
    let mut world = World::new();
    let (a, window) = world.open("a", 200, 100);
    world.client(a).take_events();
    let client = world.client(a);
    let manager: ZxdgDecorationManagerV1 = client.bind();
    let decoration = manager.get_toplevel_decoration(&window.toplevel, &client.handle(), ());
    wish.into_iter().for_each(|wish| decoration.set_mode(wish));
    world.settle();
    let events = world.client(a).take_events().into_iter();
    events.filter_map(|event| if let Event::Told(mode) = event { Some(mode) } else { None }).collect()
}

/// SDL 2 takes the first answer for that to its wish, and shows no window if it is another.
#[test]
fn a_wish_in_the_same_breath_gets_the_only_answer() {
    assert_eq!(answers(Some(Mode::ServerSide)), [format!("{:?}", WEnum::Value(Mode::ServerSide))]);
    assert_eq!(answers(Some(Mode::ClientSide)), [format!("{:?}", WEnum::Value(Mode::ClientSide))]);
}

#[test]
fn who_does_not_say_what_it_wishes_is_told_to_draw_its_own() {
    assert_eq!(answers(None), [format!("{:?}", WEnum::Value(Mode::ClientSide))]);
}
