//! Workspaces with a name: shortcuts, rules, outputs, and changes of the list of names.

use upbeat::shell::tiling::{self, TilingMode};
use upbeat::shell::workspace_actions;
use upbeat::shell::workspaces::WorkspaceId;
use upbeat_timing::time::Span;

use crate::fixture::simulated::nothing;
use crate::fixture::{KEY_1, KEY_LEFT_SUPER, KEY_O, OUTPUT, TestWorld};

/// A session with the workspaces `mail` and `my music`.
fn world() -> TestWorld {
    let mut world = TestWorld::new();
    world.name_workspaces(&["mail", "my music"]);
    world
}

fn act(world: &mut TestWorld, action: &str) {
    upbeat::input::actions::run(&mut world.state, &action.parse().unwrap());
    world.settle();
    world.turn();
}

/// The output and the workspace of a window.
fn place(world: &TestWorld, title: &str) -> (String, String) {
    let workspaces = world.state.shell.workspaces();
    let place = workspaces.place(world.window(title).id).unwrap();
    (workspaces.name(place.screen).unwrap().to_owned(), workspaces.label(place.number))
}

/// The workspace of a window.
fn label(world: &TestWorld, title: &str) -> String {
    place(world, title).1
}

/// The visible workspace of an output.
fn visible(world: &TestWorld, output: &str) -> String {
    let workspaces = world.state.shell.workspaces();
    workspaces.label(workspaces.active(workspaces.screen(output).unwrap()))
}

fn is_visible(world: &TestWorld, title: &str) -> bool {
    world.state.shell.is_visible(world.window(title).id)
}

#[test]
fn window_is_sent_to_a_name_and_shown_there() {
    let mut world = world();
    world.open("a", 100, 100);
    world.open("b", 100, 100);
    act(&mut world, "move-to-workspace my music");
    assert_eq!((label(&world, "b").as_str(), world.focused().as_deref()), ("my music", Some("a")));
    act(&mut world, "workspace my music");
    assert_eq!((visible(&world, "TEST-1").as_str(), world.focused().as_deref()), ("my music", Some("b")));
    act(&mut world, "workspace 1");
    assert_eq!(world.focused().as_deref(), Some("a"));
    // A name that a reload has removed since the shortcut was made.
    act(&mut world, "workspace post");
    act(&mut world, "move-to-workspace post");
    assert_eq!((visible(&world, "TEST-1").as_str(), label(&world, "a").as_str()), ("1", "1"));
}

#[test]
fn names_follow_9_and_the_last_name_is_the_end() {
    let mut world = world();
    world.open("a", 100, 100);
    act(&mut world, "workspace 9");
    for expected in ["mail", "my music", "my music"] {
        act(&mut world, "next-workspace");
        assert_eq!(visible(&world, "TEST-1"), expected);
    }
    act(&mut world, "previous-workspace");
    act(&mut world, "previous-workspace");
    assert_eq!(visible(&world, "TEST-1"), "9");
    act(&mut world, "workspace 1");
    act(&mut world, "move-to-workspace 9");
    act(&mut world, "workspace 9");
    act(&mut world, "move-to-next-workspace");
    assert_eq!((label(&world, "a").as_str(), world.focused().as_deref()), ("mail", Some("a")));
}

#[test]
fn without_names_9_is_the_last_workspace() {
    let mut world = TestWorld::new();
    act(&mut world, "workspace 9");
    act(&mut world, "next-workspace");
    assert_eq!(visible(&world, "TEST-1"), "9");
}

/// Two outputs, with the window `far` on `mail` of the second, and the focus on the first.
fn with_mail_on_the_second_output() -> TestWorld {
    let mut world = world();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.point(f64::from(OUTPUT.0) + 100.0, 100.0);
    world.open("far", 100, 100);
    act(&mut world, "move-to-workspace mail");
    assert_eq!(place(&world, "far"), ("TEST-2".to_owned(), "mail".to_owned()));
    world.point(100.0, 100.0);
    world.open("near", 100, 100);
    world
}

#[test]
fn name_is_shown_on_the_output_that_has_its_windows() {
    let mut world = with_mail_on_the_second_output();
    act(&mut world, "workspace mail");
    assert_eq!((visible(&world, "TEST-1").as_str(), visible(&world, "TEST-2").as_str()), ("1", "mail"));
    assert_eq!(world.focused().as_deref(), Some("far"));
    // It is visible already: its output gets the focus.
    act(&mut world, "output left");
    assert_eq!(world.focused().as_deref(), Some("near"));
    act(&mut world, "workspace mail");
    assert_eq!((visible(&world, "TEST-1").as_str(), world.focused().as_deref()), ("1", Some("far")));
    // An empty workspace is shown on the output with the focus.
    act(&mut world, "output left");
    act(&mut world, "workspace my music");
    assert_eq!((visible(&world, "TEST-1").as_str(), visible(&world, "TEST-2").as_str()), ("my music", "mail"));
}

#[test]
fn window_is_sent_where_the_windows_of_the_name_are() {
    let mut world = with_mail_on_the_second_output();
    act(&mut world, "move-to-workspace mail");
    assert_eq!(place(&world, "near"), ("TEST-2".to_owned(), "mail".to_owned()));
    assert!(!is_visible(&world, "near") && world.window("near").rect().loc.x >= OUTPUT.0);
}

#[test]
fn rule_opens_windows_on_a_name() {
    let mut world = with_mail_on_the_second_output();
    let mut open = |title: &str, rules: &str| {
        let config: upbeat::config::Config = toml::from_str(rules).unwrap();
        world.state.outputs.rules_mut().set_apps(config.apps);
        world.state.outputs.rules_mut().set_windows(config.windows);
        world.open(title, 100, 100);
        place(&world, title)
    };
    let on = |output: &str, label: &str| (output.to_owned(), label.to_owned());
    let music = "[[app]]\napp-id = '*'\nworkspace = 'my music'";
    assert_eq!(open("a", music), on("TEST-1", "my music"));
    assert_eq!(open("b", "[[window]]\nworkspace = 'mail'"), on("TEST-2", "mail"), "where its windows are");
    let fixed = "[[window]]\nworkspace = 'mail'\noutput = 'TEST-1'";
    assert_eq!(open("c", fixed), on("TEST-1", "mail"), "the rule names the output");
    assert_eq!(open("d", "[[window]]\nworkspace = 'post'"), on("TEST-1", "1"), "a name that a reload has removed");
    assert_eq!(world.focused().as_deref(), Some("d"));
}

#[test]
fn rule_for_a_name_that_an_empty_output_shows_follows_its_windows() {
    let mut world = with_mail_on_the_second_output();
    let workspaces = world.state.shell.workspaces();
    let (screen, number) = (workspaces.screen("TEST-1").unwrap(), workspaces.find(&"mail".parse().unwrap()).unwrap());
    workspace_actions::switch(&mut world.state, WorkspaceId { screen, number });
    assert_eq!(visible(&world, "TEST-1"), "mail");
    let config: upbeat::config::Config = toml::from_str("[[window]]\nworkspace = 'mail'").unwrap();
    world.state.outputs.rules_mut().set_windows(config.windows);
    world.open("new", 100, 100);
    assert_eq!(place(&world, "new"), ("TEST-2".to_owned(), "mail".to_owned()));
}

#[test]
fn windows_stay_with_their_name_when_the_list_changes() {
    let mut world = world();
    for (title, workspace) in [("mailer", "mail"), ("player", "my music"), ("plain", "3")] {
        world.open(title, 100, 100);
        act(&mut world, &format!("move-to-workspace {workspace}"));
    }
    act(&mut world, "workspace my music");
    world.name_workspaces(&["chat", "my music", "mail"]);
    let labels = |world: &TestWorld| ["mailer", "player", "plain"].map(|title| label(world, title));
    assert_eq!(labels(&world), ["mail", "my music", "3"]);
    assert_eq!((visible(&world, "TEST-1").as_str(), world.focused().as_deref()), ("my music", Some("player")));
    // A hidden workspace is gone: its windows are on the visible one, and the focus stays.
    world.name_workspaces(&["my music"]);
    assert_eq!(labels(&world), ["my music", "my music", "3"]);
    assert!(is_visible(&world, "mailer") && world.focused().as_deref() == Some("player"));
    // The visible one is gone: workspace 1 is visible, with its windows.
    act(&mut world, "workspace 1");
    world.open("first", 100, 100);
    act(&mut world, "workspace my music");
    act(&mut world, "previous-workspace");
    act(&mut world, "next-workspace");
    assert_eq!(world.focused().as_deref(), Some("player"));
    world.name_workspaces(&[]);
    assert_eq!(labels(&world), ["1", "1", "3"]);
    assert_eq!((visible(&world, "TEST-1").as_str(), world.focused().as_deref()), ("1", Some("player")));
    assert!(is_visible(&world, "first"));
}

#[test]
fn another_number_of_the_visible_workspace_is_no_switch() {
    let mut world = TestWorld::simulated(&[60_000]);
    world.name_workspaces(&["mail", "my music"]);
    world.state.shell.enable_workspace_indicators(true);
    let run = |world: &mut TestWorld, millis| world.run_for(Span::from_millis(millis), &mut nothing);
    run(&mut world, 100);
    act(&mut world, "workspace my music");
    run(&mut world, 3_000);
    let is_shown = |world: &TestWorld| {
        let (shell, now) = (&world.state.shell, world.now());
        shell.workspaces().screens().any(|(screen, _)| shell.overlays().indicators().opacity(screen, now).is_some())
    };
    assert!(!is_shown(&world));
    world.name_workspaces(&["my music"]);
    run(&mut world, 100);
    let frames = world.output(0).statistics().cadence.frames.total();
    run(&mut world, 500);
    assert!(!is_shown(&world));
    assert_eq!(world.output(0).statistics().cadence.frames.total(), frames, "no workspace slides");
    act(&mut world, "workspace 1");
    run(&mut world, 500);
    assert!(is_shown(&world), "a switch is shown as before");
}

#[test]
fn workspace_1_gets_the_focus_if_the_visible_name_was_empty() {
    let mut world = world();
    world.open("first", 100, 100);
    act(&mut world, "workspace mail");
    assert_eq!(world.focused(), None);
    world.name_workspaces(&["my music"]);
    assert_eq!((visible(&world, "TEST-1").as_str(), world.focused().as_deref()), ("1", Some("first")));
}

#[test]
fn windows_of_a_name_return_with_their_output() {
    let mut world = with_mail_on_the_second_output();
    let corner = world.window("far").rect().loc;
    world.unplug("TEST-2");
    assert_eq!(place(&world, "far"), ("TEST-1".to_owned(), "mail".to_owned()));
    // Meanwhile the list changes.
    world.name_workspaces(&["chat", "mail"]);
    assert_eq!(place(&world, "far"), ("TEST-1".to_owned(), "mail".to_owned()));
    act(&mut world, "workspace mail");
    assert_eq!(world.focused().as_deref(), Some("far"));
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    assert_eq!(
        (place(&world, "far"), world.window("far").rect().loc),
        (("TEST-2".to_owned(), "mail".to_owned()), corner)
    );
    // Unplugged again, and its name is gone: it comes back to the workspace that its output shows.
    act(&mut world, "workspace mail");
    act(&mut world, "workspace 2");
    world.unplug("TEST-2");
    world.name_workspaces(&["chat"]);
    assert_eq!(place(&world, "far").0, "TEST-1");
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    assert_eq!(place(&world, "far"), ("TEST-2".to_owned(), visible(&world, "TEST-2")));
    assert!(is_visible(&world, "far"));
}

#[test]
fn list_changes_while_the_overview_is_open() {
    let mut world = world();
    world.open("a", 100, 100);
    act(&mut world, "move-to-workspace my music");
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    world.name_workspaces(&["my music"]);
    world.turn();
    world.name_workspaces(&[]);
    world.turn();
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    assert_eq!((label(&world, "a").as_str(), world.focused().as_deref()), ("1", Some("a")));
}

#[test]
fn columns_follow_their_name_and_join_the_visible_strip_when_it_is_gone() {
    let mut world = world();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    for title in ["a", "b", "c", "d"] {
        world.open_at_configured_size(title);
        world.turn();
    }
    // On `mail`: the column `a|b`, then `c`.
    for title in ["a", "b", "c"] {
        let id = world.window(title).id;
        upbeat::shell::activate(&mut world.state, Some(id));
        world.turn();
        act(&mut world, "move-to-workspace mail");
    }
    act(&mut world, "workspace mail");
    act(&mut world, "focus first");
    act(&mut world, "join right");
    let rect = |world: &TestWorld, title: &str| world.window(title).rect();
    let before = ["a", "b", "c"].map(|title| rect(&world, title));
    assert_eq!(before[0].loc.x, before[1].loc.x, "a and b share a column");
    world.name_workspaces(&["my music", "mail"]);
    world.turn();
    assert_eq!(["a", "b", "c"].map(|title| rect(&world, title)), before);
    act(&mut world, "workspace 1");
    world.name_workspaces(&[]);
    world.turn();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|title| rect(&world, title));
    assert!(a.loc.x == b.loc.x && d.loc.x < a.loc.x && a.loc.x < c.loc.x, "{d:?} {a:?} {b:?} {c:?}");
    assert_eq!((label(&world, "c").as_str(), world.focused().as_deref()), ("1", Some("d")));
    act(&mut world, "focus last");
    assert_eq!(world.focused().as_deref(), Some("c"));
}

#[test]
fn layout_that_the_user_chose_for_a_name_follows_it() {
    let mut world = world();
    act(&mut world, "workspace my music");
    act(&mut world, "layout");
    world.open_at_configured_size("a");
    world.turn();
    let area = world.window("a").rect();
    assert!(world.state.shell.is_tile(world.window("a").id));
    world.name_workspaces(&["my music"]);
    world.turn();
    assert!(world.state.shell.is_tile(world.window("a").id) && world.window("a").rect() == area);
    // Its windows float on workspace 1, which does not have columns.
    world.name_workspaces(&[]);
    world.turn();
    assert!(!world.state.shell.is_tile(world.window("a").id) && is_visible(&world, "a"));
}
