//! Configuration rules for windows: where and how they open, and their look.

use upbeat::config::Config;
use upbeat::shell::resize::Edges;
use upbeat::shell::tiling::{self, TilingMode};
use wayland_protocols::xdg::shell::client::xdg_toplevel::State;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{ClientEvent, ClientIndex, OUTPUT, TestWorld};

fn world(rules: &str) -> TestWorld {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.state.outputs.rules_mut().set_windows(toml::from_str::<Config>(rules).unwrap().windows);
    world
}

fn place(world: &TestWorld, title: &str) -> (String, u8) {
    let workspaces = world.state.shell.workspaces();
    let place = workspaces.place(world.window(title).id).unwrap();
    (workspaces.name(place.screen).unwrap().to_owned(), place.number.get())
}

#[test]
fn windows_open_where_a_rule_says_and_without_the_focus() {
    let mut world = world(
        "[[window]]\ntitle = '/^away/'\noutput = '*-2'\nworkspace = 3\n[[window]]\ntitle = 'shy'\nfocused = false\n\
         [[window]]\ntitle = 'film'\nfullscreen = true",
    );
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.open("first", 300, 200);
    world.open("away at work", 300, 200);
    assert_eq!(place(&world, "away at work"), ("TEST-2".to_owned(), 3));
    world.open("shy", 300, 200);
    assert_eq!((place(&world, "shy").1, world.focused().as_deref()), (1, Some("first")));
    let (client, _film) = world.open("film", 300, 200);
    let is_asked = |event: &ClientEvent| matches!(event, ClientEvent::ToplevelConfigure { states, .. } if states.contains(&(State::Fullscreen as u32)));
    assert!(world.client(client).take_events().iter().any(is_asked));
}

#[test]
fn rule_sets_floating_and_column_width() {
    let mut world = world("[[window]]\ntitle = 'above'\nfloating = true\n[[window]]\ntitle = 'third'\nwidth = 33");
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let client = world.connect();
    let _window = world.client(client).toplevel("third");
    world.settle();
    let (width, height) = world.client(client).ack_newest_configure().unwrap();
    assert_eq!((width, height), ((OUTPUT.0 - 8) * 330 / 1000 - 8, OUTPUT.1 - 16), "it gets its size before it draws");
    world.client(client).commit_buffer(&_window.surface, width, height);
    world.settle();
    world.turn();
    assert_eq!(world.window("third").rect().size.w, width);
    world.open("above", 300, 200);
    world.turn();
    assert_eq!(world.window("above").rect().size, (300, 200).into());
}

#[test]
fn window_with_a_late_title_floats_by_its_rule() {
    let mut world = world("[[window]]\ntitle = 'above'\nfloating = true");
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let client = world.connect();
    let window = world.client(client).toplevel("nameless");
    world.settle();
    let (width, height) = world.client(client).ack_newest_configure().unwrap();
    window.toplevel.set_title("above".to_owned());
    world.client(client).commit_buffer(&window.surface, width, height);
    world.settle();
    world.turn();
    let is_tiled = |event: &ClientEvent| matches!(event, ClientEvent::ToplevelConfigure { states, .. } if states.contains(&(State::TiledLeft as u32)));
    let newest = world
        .client(client)
        .take_events()
        .into_iter()
        .rev()
        .find(|event| matches!(event, ClientEvent::ToplevelConfigure { .. }));
    assert!(newest.is_some_and(|event| !is_tiled(&event)), "its states have no tiled edge");
    world.client(client).commit_buffer(&window.surface, 300, 200);
    world.settle();
    world.turn();
    assert_eq!(world.window("above").rect().size, (300, 200).into());
}

#[test]
fn rule_look_follows_title_and_focus_and_ends_with_the_rule() {
    let mut world = world("[[window]]\nis-focused = false\nopacity = 0.5\n[[window]]\ntitle = 'clear *'\nopacity = 1");
    let (_, red) = world.open_filled("red", (300, 200), RED);
    world.run_until_idle();
    let middle = (OUTPUT.0 / 2, OUTPUT.1 / 2);
    assert_eq!(world.pixel(middle.0, middle.1), RED);
    world.open_filled("green", (100, 80), GREEN);
    world.move_window("green", (0, 0));
    world.run_until_idle();
    let half = world.pixel(middle.0, middle.1);
    assert!((0x7e_0000..=0x81_0000).contains(&half), "{half:06x}");
    red.toplevel.set_title("clear red".to_owned());
    world.settle();
    world.run_until_idle();
    assert_eq!(world.pixel(middle.0, middle.1), RED);
}

#[test]
fn retitled_windows_cost_a_limited_number_of_rule_checks_in_a_turn() {
    let others =
        (0..599).map(|number| format!("[[window]]\ntitle = 'other {number}'\nopacity = 0.5\n")).collect::<String>();
    let mut world = world(&format!("{others}[[window]]\ntitle = 'secret*'\ncapture = false"));
    let client = world.connect();
    let windows: Vec<_> = (0..3).map(|number| world.open_in(client, &number.to_string(), 50, 50)).collect();
    world.run_until_idle();
    let kept_out =
        |world: &TestWorld| world.state.shell.windows().filter(|window| window.is_hidden_from_capture()).count();
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
    world.run_until_idle();
    assert_eq!(kept_out(&world), 2);
    // A window that was closed in the meantime costs no turn.
    windows[1].toplevel.set_title("secret, and gone".to_owned());
    windows[0].toplevel.set_title("secret".to_owned());
    world.settle();
    windows[1].toplevel.destroy();
    world.settle();
    assert_eq!(kept_out(&world), 1, "before the turn");
    upbeat::session::turn::run(&mut world.state);
    assert_eq!(kept_out(&world), 2);
}

/// Newest size in the configures that the client has not acknowledged.
fn configured_size(world: &mut TestWorld, client: ClientIndex) -> Option<(i32, i32)> {
    let events = world.client(client).take_events().into_iter().rev();
    events.into_iter().find_map(|event| match event {
        ClientEvent::ToplevelConfigure { width, height, .. } => Some((width, height)).filter(|size| *size != (0, 0)),
        _ => None,
    })
}

/// Saves a configuration with these rules.
fn save(world: &mut TestWorld, rules: &str) {
    world.state.outputs.rules_mut().set_windows(toml::from_str::<Config>(rules).unwrap().windows);
    world.state.outputs.rules_mut().mark_all_stale();
    world.run_until_idle();
}

#[test]
fn a_floating_window_is_asked_for_a_size_within_the_limits_of_a_rule() {
    let mut world = world("[[window]]\ntitle = 'small'\nmin-width = 400\nmax-height = 150");
    let (client, window) = world.open("small", 300, 200);
    assert_eq!(configured_size(&mut world, client), Some((400, 150)));
    world.client(client).commit_buffer(&window.surface, 400, 150);
    world.settle();
    let (other, _free) = world.open("free", 300, 200);
    assert_eq!(configured_size(&mut world, other), None, "no rule is for it");
    save(&mut world, "[[window]]\ntitle = 'small'\nmin-width = 500");
    assert_eq!(configured_size(&mut world, client), Some((500, 150)), "rules that are saved count for open windows");
    save(&mut world, "");
    assert_eq!(configured_size(&mut world, client), None, "without a rule any size is fine");
}

#[test]
fn a_resize_ends_at_the_limits_of_a_rule_and_of_the_client() {
    let mut world = world("[[window]]\ntitle = 'kept'\nmin-width = 250\nmax-width = 350\nmin-height = 900");
    let client = world.connect();
    let window = world.client(client).toplevel("kept");
    window.toplevel.set_max_size(0, 220);
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&window.surface, 300, 220);
    world.settle();
    assert_eq!(configured_size(&mut world, client), None, "its own limit counts before that of a rule");
    let id = world.window("kept").id;
    let rect = world.window("kept").rect();
    let grab = (f64::from(rect.loc.x + rect.size.w), f64::from(rect.loc.y + 10));
    for (by, width) in [(300.0, 350), (-300.0, 250)] {
        world.point(grab.0, grab.1);
        let edges = Edges { right: true, ..Edges::default() };
        assert!(upbeat::shell::drag::begin_resize(&mut world.state, id, edges, grab.into()));
        world.state.shell.latch_grabs((grab.0 + by, grab.1).into());
        upbeat::shell::drag::end(&mut world.state);
        world.settle();
        assert_eq!(configured_size(&mut world, client), Some((width, 220)));
        world.client(client).ack_newest_configure();
    }
}

#[test]
fn a_column_is_as_wide_as_the_smallest_size_of_a_rule() {
    let mut world = world("[[window]]\ntitle = 'wide'\nwidth = 20\nmin-width = 400");
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let client = world.connect();
    let _window = world.client(client).toplevel("wide");
    world.settle();
    let (width, _) = world.client(client).ack_newest_configure().unwrap();
    assert!(width >= 400, "{width}");
}

#[test]
fn looks_follow_fullscreen_maximised_and_floating() {
    let mut world = world(
        "[[window]]\nis-fullscreen = true\ncapture = false\n[[window]]\nis-maximised = true\nopacity = 0\n\
         [[window]]\nis-floating = false\ncapture = false",
    );
    let (client, window) = world.open_filled("red", (300, 200), RED);
    world.run_until_idle();
    let middle = (OUTPUT.0 / 2, OUTPUT.1 / 2);
    let follow = |world: &mut TestWorld| {
        world.settle();
        let (width, height) = world.client(client).ack_newest_configure().unwrap();
        world.client(client).draw(&window.surface, 1, (width.max(300), height.max(200)), RED);
        window.surface.commit();
        world.settle();
        world.run_until_idle();
        (world.pixel(middle.0, middle.1) == RED, world.window("red").is_hidden_from_capture())
    };
    assert!(world.window("red").is_mapped());
    window.toplevel.set_maximized();
    assert_eq!(follow(&mut world), (false, false));
    window.toplevel.unset_maximized();
    assert_eq!(follow(&mut world), (true, false));
    window.toplevel.set_fullscreen(None);
    assert_eq!(follow(&mut world), (true, true));
    window.toplevel.unset_fullscreen();
    assert_eq!(follow(&mut world), (true, false));
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    world.turn();
    assert!(follow(&mut world).1, "a window of a column");
}
