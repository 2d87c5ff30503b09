//! Rules for windows: where and how they open, and how they look.

use upbeat::config::Config;
use upbeat::shell::strips::{self, Mode};
use wayland_protocols::xdg::shell::client::xdg_toplevel::State;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{Event, OUTPUT, World};

fn world(rules: &str) -> World {
    let mut world = World::lit();
    world.state.outputs.background = [0.0; 3];
    world.state.outputs.rules.windows = toml::from_str::<Config>(rules).unwrap().windows;
    world
}

fn place(world: &World, title: &str) -> (String, u8) {
    let workspaces = &world.state.shell.workspaces;
    let place = workspaces.place(world.window(title).id).unwrap();
    (workspaces.name(place.screen).unwrap().to_owned(), place.number.get())
}

#[test]
fn windows_open_where_a_rule_says_and_without_the_focus() {
    let mut world = world(
        "[[window]]\ntitle = '/^away/'\noutput = '*-2'\nworkspace = 3\n[[window]]\ntitle = 'shy'\nfocused = false\n\
         [[window]]\ntitle = 'film'\nfullscreen = true",
    );
    world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.open("first", 300, 200);
    world.open("away at work", 300, 200);
    assert_eq!(place(&world, "away at work"), ("TEST-2".to_owned(), 3));
    world.open("shy", 300, 200);
    assert_eq!((place(&world, "shy").1, world.focused().as_deref()), (1, Some("first")));
    let (client, _film) = world.open("film", 300, 200);
    let is_asked = |event: &Event| matches!(event, Event::ToplevelConfigure { states, .. } if states.contains(&(State::Fullscreen as u32)));
    assert!(world.client(client).take_events().iter().any(is_asked));
}

#[test]
fn a_rule_says_who_floats_and_how_wide_a_column_is() {
    let mut world = world("[[window]]\ntitle = 'above'\nfloating = true\n[[window]]\ntitle = 'third'\nwidth = 33");
    strips::set_mode(&mut world.state, Mode::Strip);
    let client = world.connect();
    let _window = world.client(client).toplevel("third");
    world.settle();
    let (width, height) = world.client(client).answer_newest().unwrap();
    assert_eq!((width, height), ((OUTPUT.0 - 8) * 330 / 1000 - 8, OUTPUT.1 - 16), "it is told before it draws");
    world.client(client).show(&_window.surface, width, height);
    world.settle();
    world.turn();
    assert_eq!(world.window("third").rect().size.w, width);
    world.open("above", 300, 200);
    world.turn();
    assert_eq!(world.window("above").rect().size, (300, 200).into());
}

#[test]
fn a_window_that_says_its_title_after_it_asked_for_its_size_floats_by_it() {
    let mut world = world("[[window]]\ntitle = 'above'\nfloating = true");
    strips::set_mode(&mut world.state, Mode::Strip);
    let client = world.connect();
    let window = world.client(client).toplevel("nameless");
    world.settle();
    let (width, height) = world.client(client).answer_newest().unwrap();
    window.toplevel.set_title("above".to_owned());
    world.client(client).show(&window.surface, width, height);
    world.settle();
    world.turn();
    let is_tiled = |event: &Event| matches!(event, Event::ToplevelConfigure { states, .. } if states.contains(&(State::TiledLeft as u32)));
    let newest = world
        .client(client)
        .take_events()
        .into_iter()
        .rev()
        .find(|event| matches!(event, Event::ToplevelConfigure { .. }));
    assert!(newest.is_some_and(|event| !is_tiled(&event)), "it is told that it is no tile");
    world.client(client).show(&window.surface, 300, 200);
    world.settle();
    world.turn();
    assert_eq!(world.window("above").rect().size, (300, 200).into());
}

#[test]
fn looks_follow_title_and_focus_and_are_as_before_without_a_rule() {
    let mut world = world("[[window]]\nis-focused = false\nopacity = 0.5\n[[window]]\ntitle = 'clear *'\nopacity = 1");
    let (_, red) = world.open_filled("red", (300, 200), RED);
    world.rest();
    let middle = (OUTPUT.0 / 2, OUTPUT.1 / 2);
    assert_eq!(world.pixel(middle.0, middle.1), RED);
    world.open_filled("green", (100, 80), GREEN);
    world.put("green", (0, 0));
    world.rest();
    let half = world.pixel(middle.0, middle.1);
    assert!((0x7e_0000..=0x81_0000).contains(&half), "{half:06x}");
    red.toplevel.set_title("clear red".to_owned());
    world.settle();
    world.rest();
    assert_eq!(world.pixel(middle.0, middle.1), RED);
}

#[test]
fn windows_that_are_called_something_else_cost_so_many_rules_in_a_turn_however_often_they_are() {
    let others =
        (0..599).map(|number| format!("[[window]]\ntitle = 'other {number}'\nopacity = 0.5\n")).collect::<String>();
    let mut world = world(&format!("{others}[[window]]\ntitle = 'secret*'\ncapture = false"));
    let client = world.connect();
    let windows: Vec<_> = (0..3).map(|number| world.open_in(client, &number.to_string(), 50, 50)).collect();
    world.rest();
    let kept_out = |world: &World| world.state.shell.windows().filter(|window| window.is_kept_out()).count();
    assert_eq!(kept_out(&world), 0);
    for _ in 0..20 {
        for (number, window) in windows.iter().enumerate() {
            window.toplevel.set_title(format!("public {number}"));
            window.toplevel.set_title(format!("secret {number}"));
        }
    }
    world.settle();
    assert_eq!(kept_out(&world), 0, "before the turn");
    let turns = (1..=3).map(|_| {
        upbeat::session::turn::run(&mut world.state);
        kept_out(&world)
    });
    assert_eq!(turns.collect::<Vec<_>>(), [1, 2, 3], "a thousand rules in a turn");
    windows[0].toplevel.set_title("public".to_owned());
    world.rest();
    assert_eq!(kept_out(&world), 2);
}
