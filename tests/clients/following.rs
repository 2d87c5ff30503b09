//! Windows follow their outputs, and never lie exactly on each other or out of reach.

use proptest::prelude::*;
use smithay::utils::{Logical, Rectangle};
use upbeat::output::hotplug;
use upbeat::shell::workspaces::{WorkspaceId, WorkspaceNumber};
use upbeat::shell::{ShellOutputs as _, WindowArrangement, geometry, placement, workspace_actions};
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::{Anchor, ZwlrLayerSurfaceV1};

use crate::fixture::layers::{Layer, TestLayerSurface};
use crate::fixture::{ClientIndex, KEY_LEFT, KEY_LEFT_SUPER, KEY_RIGHT, OUTPUT, TestToplevel, TestWorld};

/// Height of the title bar that a client draws above its window geometry.
const DRAWN_TITLE: i32 = 35;
/// Part of a window that must stay in reach along each axis.
const REACHABLE: i32 = 48;
/// Height of the bar at the top of an output.
const BAR: i32 = 30;

fn corner(world: &TestWorld, title: &str) -> (i32, i32) {
    let rect = world.window(title).rect();
    (rect.loc.x, rect.loc.y)
}

fn rect(world: &TestWorld, title: &str) -> (i32, i32, i32, i32) {
    let rect = world.window(title).rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

fn top_bar(layer: &ZwlrLayerSurfaceV1) {
    layer.set_anchor(Anchor::Top | Anchor::Left | Anchor::Right);
    layer.set_size(0, BAR as u32);
    layer.set_exclusive_zone(BAR);
}

fn remove_layer(world: &mut TestWorld, layer: &TestLayerSurface) {
    layer.layer.destroy();
    layer.surface.destroy();
    world.settle();
}

/// Acknowledges the newest configure, if there is any, and draws in its size. Returns that size.
fn answer(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel) -> Option<(i32, i32)> {
    let size = world.client(client).ack_newest_configure()?;
    if size != (0, 0) {
        world.client(client).commit_buffer(&window.surface, size.0, size.1);
    }
    world.settle();
    Some(size)
}

/// Opens a window whose client draws its title bar above the geometry, and declares only its content as geometry.
fn open_with_drawn_title(world: &mut TestWorld, title: &str, (width, height): (i32, i32)) {
    let client = world.connect();
    let window = world.client(client).toplevel(title);
    world.settle();
    world.client(client).ack_newest_configure();
    let (bar, place) = world.client(client).subsurface(&window.surface);
    place.set_position(0, -DRAWN_TITLE);
    world.client(client).commit_buffer(&bar, width, DRAWN_TITLE);
    window.xdg.set_window_geometry(0, 0, width, height);
    world.client(client).commit_buffer(&window.surface, width, height);
    world.settle();
}

#[test]
fn title_bar_drawn_above_the_geometry_is_on_the_screen() {
    let mut world = TestWorld::new();
    for place in 0..4 {
        // Too large to lie beside each other: they go into the corners.
        open_with_drawn_title(&mut world, &place.to_string(), (700, 500));
    }
    for place in 0..4 {
        let (_, top) = corner(&world, &place.to_string());
        assert!(top >= DRAWN_TITLE, "the title bar of window {place} begins at {}", top - DRAWN_TITLE);
    }
}

#[test]
fn windows_of_an_unplugged_output_lie_in_the_same_part_of_another_one_and_return() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let places = [("left", (OUTPUT.0 + 20, 100)), ("right", (OUTPUT.0 + 700, 100)), ("lower", (OUTPUT.0 + 700, 400))];
    for (title, place) in places {
        world.open(title, 300, 200);
        world.move_window(title, place);
        let id = world.window(title).id;
        let screen = world.state.shell.workspaces().screen("TEST-2").unwrap();
        let number = WorkspaceNumber::FIRST;
        upbeat::shell::send_to(&mut world.state, id, WorkspaceId { screen, number });
        world.move_window(title, place);
    }
    world.unplug("TEST-2");
    assert_eq!(places.map(|(title, _)| corner(&world, title)), [(20, 100), (700, 100), (700, 400)]);
    // The output returns at another place.
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 200));
    let back = places.map(|(_, (x, y))| (x, y + 200));
    assert_eq!(places.map(|(title, _)| corner(&world, title)), back);
}

#[test]
fn windows_that_an_output_change_would_put_on_each_other_lie_apart() {
    let mut world = TestWorld::new();
    let titles = ["one", "two", "three"];
    for (title, place) in titles.iter().zip([(900, 400), (950, 450), (970, 500)]) {
        world.open(title, 300, 200);
        world.move_window(title, place);
    }
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::arrange(&mut world.state, id, None, 2.0);
    let mut corners = titles.map(|title| corner(&world, title));
    for (x, y) in corners {
        assert!(x + 300 <= 640 && y + 200 <= 360, "{corners:?}");
    }
    corners.sort_unstable();
    assert!(corners[0] != corners[1] && corners[1] != corners[2], "{corners:?}");
    hotplug::arrange(&mut world.state, id, None, 1.0);
    assert_eq!(titles.map(|title| corner(&world, title)), [(900, 400), (950, 450), (970, 500)]);
}

#[test]
fn moved_output_takes_its_windows_along_and_the_pointer_stays_on_an_output() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.open("a", 300, 200);
    world.move_window("a", (OUTPUT.0 + 200, 100));
    let screen = world.state.shell.workspaces().screen("TEST-2").unwrap();
    let id = world.window("a").id;
    upbeat::shell::send_to(&mut world.state, id, WorkspaceId { screen, number: WorkspaceNumber::FIRST });
    world.move_window("a", (OUTPUT.0 + 200, 100));
    world.point(f64::from(OUTPUT.0 + 300), 150.0);
    let output = hotplug::by_name(&world.state, "TEST-2").unwrap();
    hotplug::arrange(&mut world.state, output, Some((0, OUTPUT.1)), 1.0);
    assert_eq!(corner(&world, "a"), (200, OUTPUT.1 + 100));
    let pointer = upbeat::input::pointer_position(&world.state);
    assert!(pointer.x < f64::from(OUTPUT.0), "{pointer:?} lies on no output");
}

#[test]
fn bar_that_starts_later_covers_no_title_and_halves_keep_their_share() {
    let mut world = TestWorld::new();
    let (half_client, half) = world.open("half", 400, 300);
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    assert_eq!(answer(&mut world, half_client, &half), Some((640, 720)));
    world.open("top", 300, 200);
    world.move_window("top", (800, 5));
    let bars = world.connect();
    let bar = world.map_layer(bars, Layer::Top, 0, top_bar);
    assert_eq!(corner(&world, "top"), (800, BAR));
    assert_eq!(answer(&mut world, half_client, &half), Some((640, 720 - BAR)));
    assert_eq!(rect(&world, "half"), (0, BAR, 640, 720 - BAR));
    remove_layer(&mut world, &bar);
    assert_eq!(corner(&world, "top"), (800, 5));
    assert_eq!(answer(&mut world, half_client, &half), Some((640, 720)));
}

#[test]
fn restored_and_sent_windows_do_not_hide_another_window_of_the_same_place() {
    let mut world = TestWorld::new();
    let size = (500, 400);
    let (first_client, first) = world.open("first", size.0, size.1);
    let centre = corner(&world, "first");
    first.toplevel.set_maximized();
    world.settle();
    answer(&mut world, first_client, &first);
    let (second_client, _) = world.open("second", size.0, size.1);
    world.move_window("second", centre);
    first.toplevel.unset_maximized();
    world.settle();
    answer(&mut world, first_client, &first);
    assert_ne!(corner(&world, "first"), centre, "restored from maximised");

    world.kill(second_client);
    world.move_window("first", centre);
    first.toplevel.set_minimized();
    world.settle();
    world.open("beside", size.0, size.1);
    assert_ne!(corner(&world, "beside"), centre, "the place of a minimised window is taken");
    let id = world.window("first").id;
    upbeat::shell::activate(&mut world.state, Some(id));
    world.settle();
    assert_eq!(corner(&world, "first"), centre, "it comes back to where it lay");

    let screen = workspace_actions::current_screen(&world.state).unwrap();
    workspace_actions::switch(&mut world.state, WorkspaceId { screen, number: WorkspaceNumber::try_from(2).unwrap() });
    world.open("third", size.0, size.1);
    assert_eq!(corner(&world, "third"), centre);
    let id = world.window("third").id;
    upbeat::shell::send_to(&mut world.state, id, WorkspaceId { screen, number: WorkspaceNumber::FIRST });
    assert_ne!(corner(&world, "third"), centre, "sent to another workspace");
}

/// Name of the output that has a window's workspace.
fn output_of(world: &TestWorld, title: &str) -> String {
    let place = world.state.shell.workspaces().place(world.window(title).id).unwrap();
    world.state.shell.workspaces().name(place.screen).unwrap().to_owned()
}

/// Sends a window to the first workspace of an output.
fn send(world: &mut TestWorld, title: &str, output: &str) {
    let screen = world.state.shell.workspaces().screen(output).unwrap();
    let id = world.window(title).id;
    upbeat::shell::send_to(&mut world.state, id, WorkspaceId { screen, number: WorkspaceNumber::FIRST });
}

#[test]
fn dialog_opens_on_the_output_of_its_parent() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, parent) = world.open("parent", 400, 300);
    send(&mut world, "parent", "TEST-2");
    world.point(100.0, 100.0);
    let dialog = world.client(client).toplevel("dialog");
    dialog.toplevel.set_parent(Some(&parent.toplevel));
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&dialog.surface, 200, 100);
    world.settle();
    assert_eq!(output_of(&world, "dialog"), "TEST-2");
    assert!(corner(&world, "dialog").0 >= OUTPUT.0, "{:?}", corner(&world, "dialog"));
}

#[test]
fn half_of_a_screen_stays_on_its_output_when_its_scale_changes() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, half) = world.open("half", 400, 300);
    let before = rect(&world, "half");
    world.chord(&[KEY_LEFT_SUPER], KEY_RIGHT);
    answer(&mut world, client, &half);
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::arrange(&mut world.state, id, None, 2.0);
    assert_eq!(output_of(&world, "half"), "TEST-1");
    world.settle();
    assert_eq!(answer(&mut world, client, &half), Some((320, 360)));
    assert_eq!(rect(&world, "half"), (320, 0, 320, 360));
    hotplug::arrange(&mut world.state, id, None, 1.0);
    world.settle();
    answer(&mut world, client, &half);
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    answer(&mut world, client, &half);
    assert_eq!(rect(&world, "half"), before, "it has its place from before the snap");
}

#[test]
fn windows_that_open_without_an_output_are_placed_on_the_next_one() {
    let mut world = TestWorld::new();
    world.unplug("TEST-1");
    world.open("one", 300, 200);
    world.open("two", 300, 200);
    world.plug_in("TEST-1", 60_000);
    let corners = [corner(&world, "one"), corner(&world, "two")];
    assert!(corners[0] != corners[1] && corners.iter().all(|(x, y)| *x > 0 && *y > 0), "{corners:?}");
}

#[test]
fn fullscreen_window_returns_with_its_output() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, window) = world.open("a", 400, 300);
    send(&mut world, "a", "TEST-2");
    window.toplevel.set_fullscreen(None);
    world.settle();
    answer(&mut world, client, &window);
    for position in [(OUTPUT.0, 0), (0, OUTPUT.1)] {
        world.unplug("TEST-2");
        assert_eq!(rect(&world, "a"), (0, 0, OUTPUT.0, OUTPUT.1));
        world.plug_in_at("TEST-2", 60_000, position);
        answer(&mut world, client, &window);
        assert_eq!(rect(&world, "a"), (position.0, position.1, OUTPUT.0, OUTPUT.1));
        assert_eq!(output_of(&world, "a"), "TEST-2");
    }
}

#[derive(Clone, Debug)]
enum OutputAction {
    Open { width: i32, height: i32 },
    Move { window: usize, name: usize, corner: (i32, i32) },
    Maximise { window: usize },
    Fullscreen { window: usize },
    Plug { name: usize, position: Option<(i32, i32)> },
    Unplug { name: usize },
    Scale { name: usize, scale: f64 },
    Size { name: usize, size: (i32, i32) },
    Position { name: usize, position: (i32, i32) },
    Bar(bool),
    Pointer(f64, f64),
}

const NAMES: [&str; 3] = ["TEST-1", "TEST-2", "TEST-3"];

fn action() -> impl Strategy<Value = OutputAction> {
    let (name, window) = (0..NAMES.len(), 0..8_usize);
    let point = || (-1000..3000_i32, -500..1500_i32);
    // Positions that a user enters: beside and below each other.
    let position = prop_oneof![Just((0, 0)), Just((1280, 0)), Just((0, 720)), Just((2560, 100))];
    prop_oneof![
        3 => (50..1500, 50..900).prop_map(|(width, height)| OutputAction::Open { width, height }),
        2 => (window.clone(), name.clone(), point())
            .prop_map(|(window, name, corner)| OutputAction::Move { window, name, corner }),
        1 => window.clone().prop_map(|window| OutputAction::Maximise { window }),
        1 => window.prop_map(|window| OutputAction::Fullscreen { window }),
        2 => (name.clone(), prop::option::of(position.clone())).prop_map(|(name, position)| OutputAction::Plug { name, position }),
        2 => name.clone().prop_map(|name| OutputAction::Unplug { name }),
        2 => (name.clone(), prop_oneof![Just(1.0), Just(1.5), Just(2.0)])
            .prop_map(|(name, scale)| OutputAction::Scale { name, scale }),
        2 => (name.clone(), prop_oneof![Just((1280, 720)), Just((640, 480)), Just((1920, 1080))])
            .prop_map(|(name, size)| OutputAction::Size { name, size }),
        1 => (name, position).prop_map(|(name, position)| OutputAction::Position { name, position }),
        2 => any::<bool>().prop_map(OutputAction::Bar),
        1 => (0.0..3000.0, 0.0..1500.0).prop_map(|(x, y)| OutputAction::Pointer(x, y)),
    ]
}

struct OutputWalk {
    world: TestWorld,
    windows: Vec<(ClientIndex, TestToplevel, String)>,
    bars: Vec<(ClientIndex, TestLayerSurface)>,
}

impl OutputWalk {
    fn new() -> Self {
        OutputWalk { world: TestWorld::new(), windows: Vec::new(), bars: Vec::new() }
    }

    fn apply(&mut self, action: &OutputAction) {
        let world = &mut self.world;
        let count = self.windows.len().max(1);
        match *action {
            OutputAction::Open { width, height } if self.windows.len() < 8 => {
                let title = format!("window {}", self.windows.len());
                let (client, window) = world.open(&title, width, height);
                self.windows.push((client, window, title));
            }
            OutputAction::Move { window, name, corner } => {
                let Some((.., title)) = self.windows.get(window % count) else { return };
                let output = world.state.outputs().find(|output| output.name() == NAMES[name]);
                let Some(usable) = output.map(|output| world.state.shell.layers().usable(output)) else { return };
                let size = world.window(title).rect().size;
                // The user drags it to a place on an output where there is room.
                if size.w <= usable.size.w && size.h <= usable.size.h {
                    let corner = placement::keep_inside(Rectangle::new(corner.into(), size), usable);
                    world.move_window(title, (corner.x, corner.y));
                }
            }
            OutputAction::Maximise { window } => {
                let Some((_, window, _)) = self.windows.get(window % count) else { return };
                window.toplevel.set_maximized();
            }
            OutputAction::Fullscreen { window } => {
                let Some((_, window, _)) = self.windows.get(window % count) else { return };
                window.toplevel.set_fullscreen(None);
            }
            OutputAction::Plug { name, position } => {
                let name = NAMES[name];
                if hotplug::by_name(&world.state, name).is_none() {
                    match position {
                        Some(position) => world.plug_in_at(name, 60_000, position),
                        None => world.plug_in_unplaced(name, 60_000),
                    }
                }
            }
            OutputAction::Unplug { name } => {
                if world.state.outputs().count() > 1 && hotplug::by_name(&world.state, NAMES[name]).is_some() {
                    world.unplug(NAMES[name]);
                }
            }
            OutputAction::Scale { name, scale } => {
                if let Some(id) = hotplug::by_name(&world.state, NAMES[name]) {
                    hotplug::arrange(&mut world.state, id, None, scale);
                }
            }
            OutputAction::Size { name, size } => {
                if hotplug::by_name(&world.state, NAMES[name]).is_some() {
                    world.set_size(NAMES[name], size);
                }
            }
            OutputAction::Position { name, position } => {
                if let Some(id) = hotplug::by_name(&world.state, NAMES[name]) {
                    let output = world.state.outputs().find(|output| output.name() == NAMES[name]);
                    let scale = output.map_or(1.0, |output| output.current_scale().fractional_scale());
                    hotplug::arrange(&mut world.state, id, Some(position), scale);
                }
            }
            OutputAction::Bar(true) => {
                let client = world.connect();
                let bar = world.client(client).layer(Layer::Top, None);
                top_bar(&bar.layer);
                bar.surface.commit();
                world.settle();
                if world.client(client).layer_events(&bar).len() == 1 {
                    self.bars.push((client, bar));
                }
            }
            OutputAction::Bar(false) => {
                if let Some((_, bar)) = self.bars.pop() {
                    remove_layer(world, &bar);
                }
            }
            OutputAction::Pointer(x, y) => world.point(x, y),
            OutputAction::Open { .. } => {}
        }
        world.settle();
        for (client, window, _) in &self.windows {
            if let Some((width, height)) = world.client(*client).ack_newest_configure()
                && (width, height) != (0, 0)
            {
                world.client(*client).commit_buffer(&window.surface, width, height);
            }
        }
        world.settle();
    }

    fn check(&self) {
        let world = &self.world;
        let areas: Vec<Rectangle<i32, Logical>> = world.state.output_areas().map(|(_, area)| area).collect();
        let pointer = upbeat::input::pointer_position(&world.state);
        assert!(areas.iter().any(|area| area.to_f64().contains(pointer)), "the pointer lies at {pointer:?}: {areas:?}");
        for window in world.state.shell.windows() {
            let place = world.state.shell.workspaces().place(window.id).unwrap();
            let name = world.state.shell.workspaces().name(place.screen).unwrap();
            let (output, area) = world.state.output_areas().find(|(output, _)| output.name() == name).unwrap();
            let usable = world.state.shell.layers().usable(output);
            assert!(area.contains_rect(usable), "{usable:?} of {area:?}");
            match window.arrangement() {
                WindowArrangement::Maximized { area } => assert_eq!(*area, usable, "{name}"),
                WindowArrangement::Fullscreen { output, area } => assert_eq!(*area, geometry(output)),
                WindowArrangement::Floating => {
                    let rect = window.rect();
                    let seen = rect.intersection(usable).unwrap_or_default().size;
                    let least = |length: i32, room: i32| REACHABLE.min(length).min(room);
                    assert!(
                        seen.w >= least(rect.size.w, usable.size.w) && rect.loc.y >= usable.loc.y,
                        "window {:?} at {rect:?} is out of reach on {name}, {usable:?}",
                        window.title(),
                    );
                }
                WindowArrangement::Tiled { .. } => {}
            }
        }
    }

    /// Outputs without a configured position overlap no other, and have one on their left.
    fn check_layout(&self) {
        let outputs: Vec<_> = self.world.state.outputs.states().collect();
        for output in outputs.iter().filter(|output| !output.is_placed()) {
            let area = geometry(output.output());
            let others = outputs.iter().filter(|other| other.id() != output.id());
            let others: Vec<_> = others.map(|other| geometry(other.output())).collect();
            assert!(!others.iter().any(|other| other.overlaps(area)), "{area:?} overlaps one of {others:?}");
            let across = Rectangle::new((area.loc.x - 1, area.loc.y).into(), (area.size.w + 2, area.size.h).into());
            let down = Rectangle::new((area.loc.x, area.loc.y - 1).into(), (area.size.w, area.size.h + 2).into());
            let is_beside = others.iter().any(|other| other.overlaps(across) || other.overlaps(down));
            assert!(is_beside || others.is_empty(), "the pointer cannot cross from {area:?} to {others:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn after_random_changes_of_outputs_all_windows_and_the_pointer_are_in_reach(
        actions in prop::collection::vec(action(), 1..30),
    ) {
        let mut walk = OutputWalk::new();
        for action in &actions {
            walk.apply(action);
            walk.check();
            walk.check_layout();
        }
    }
}
