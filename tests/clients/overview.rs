//! The overview and the list of shortcuts: all windows are live, both take the input, and each frame fits its display
//! time.

use smithay::utils::{Logical, Rectangle};
use upbeat::backend::headless::OutputOptions;
use upbeat::shell::animation::Animations;
use upbeat::shell::overview::layout::Layout;
use upbeat_timing::motion::Style;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::time::Span;

use crate::fixture::content::{BLUE, Colour, GREEN, Heard, RED};
use crate::fixture::{
    ClientIndex, Event, KEY_1, KEY_2, KEY_A, KEY_ENTER, KEY_ESCAPE, KEY_F1, KEY_LEFT, KEY_LEFT_SUPER, KEY_O, KEY_RIGHT,
    OUTPUT, Toplevel, World,
};

const SIZE: (i32, i32) = (400, 300);
const LEFT: i32 = (OUTPUT.0 - SIZE.0) / 2;
/// Long enough for several frames.
const DURATION: Span = Span::from_millis(1_000);

fn set_up(mut world: World) -> World {
    world.state.outputs.set_background([0.0; 3]);
    world.rest();
    world
}

fn open(world: &mut World, title: &str, colour: Colour) -> (ClientIndex, Toplevel) {
    world.open_filled(title, SIZE, colour)
}

/// A red window on the first workspace, which is shown, and a green window on the second.
fn two_workspaces() -> (World, (ClientIndex, Toplevel), (ClientIndex, Toplevel)) {
    let mut world = set_up(World::lit());
    let red = open(&mut world, "red", RED);
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    let green = open(&mut world, "green", GREEN);
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    world.rest();
    (world, red, green)
}

fn toggle(world: &mut World) {
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
}

fn layout(world: &World) -> Layout {
    world.state.shell.overview(world.state.outputs.iter().next().unwrap())
}

fn cell(world: &World, title: &str) -> Rectangle<f64, Logical> {
    layout(world).window(world.window(title).id).unwrap()
}

fn middle(world: &World, title: &str) -> (f64, f64) {
    let rect = cell(world, title);
    (rect.loc.x + rect.size.w / 2.0, rect.loc.y + rect.size.h / 2.0)
}

fn shown(world: &World, title: &str) -> u32 {
    let (x, y) = middle(world, title);
    world.pixel(x as i32, y as i32)
}

#[test]
fn the_overview_shows_the_windows_of_all_workspaces_live() {
    let (mut world, _, (client, window)) = two_workspaces();
    toggle(&mut world);
    world.rest();
    assert_eq!((shown(&world, "red"), shown(&world, "green")), (RED, GREEN));
    // The hidden window is shown in the overview: its frames are presented and it gets callbacks.
    world.client(client).ask(&window.surface, 7);
    world.client(client).draw(&window.surface, 2, SIZE, BLUE);
    window.surface.commit();
    world.until("light", |world| world.client(client).light(2).is_some());
    world.rest();
    assert_eq!(shown(&world, "green"), BLUE);
    assert!(world.client(client).heard(Heard::Released(1)));
    toggle(&mut world);
    world.rest();
    assert_eq!(world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2), RED);
}

#[test]
fn a_click_takes_a_window_and_its_workspace_and_no_client_hears_of_it() {
    let (mut world, (red, _), (green, _)) = two_workspaces();
    toggle(&mut world);
    world.rest();
    for client in [red, green] {
        world.client(client).take_events();
    }
    let (x, y) = middle(&world, "green");
    world.click(x, y);
    world.rest();
    assert_eq!(world.focused().as_deref(), Some("green"));
    assert_eq!(world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2), GREEN);
    for client in [red, green] {
        let heard = world.client(client).take_events();
        assert!(!heard.iter().any(|event| matches!(event, Event::Button { .. })), "{heard:?}");
    }
}

#[test]
fn a_click_beside_the_windows_takes_the_workspace() {
    let (mut world, ..) = two_workspaces();
    toggle(&mut world);
    let card = layout(&world).cards[1].rect;
    world.click(card.loc.x + 5.0, card.loc.y + 40.0);
    assert_eq!(world.focused().as_deref(), Some("green"));
    assert!(!world.state.shell.overlays().take_input());
}

#[test]
fn keys_choose_in_the_overview_and_no_client_hears_of_them() {
    let (mut world, (red, _), _) = two_workspaces();
    world.client(red).take_events();
    let press = |world: &mut World, key| world.chord(&[], key);
    toggle(&mut world);
    press(&mut world, KEY_RIGHT);
    press(&mut world, KEY_A);
    press(&mut world, KEY_ESCAPE);
    assert_eq!(world.focused().as_deref(), Some("red"), "nothing was taken");
    toggle(&mut world);
    press(&mut world, KEY_RIGHT);
    press(&mut world, KEY_LEFT);
    press(&mut world, KEY_RIGHT);
    press(&mut world, KEY_ENTER);
    assert_eq!(world.focused().as_deref(), Some("green"));
    let (mut heard, modifiers) = (world.client(red).take_events(), [KEY_LEFT_SUPER]);
    heard.retain(|event| matches!(event, Event::Key { key, .. } if !modifiers.contains(key)));
    assert!(heard.is_empty(), "{heard:?}");
}

#[test]
fn the_window_that_is_selected_may_go_away() {
    let (mut world, (red, _), _) = two_workspaces();
    toggle(&mut world);
    world.rest();
    world.kill(red);
    world.rest();
    world.chord(&[], KEY_ENTER);
    assert!(!world.state.shell.overlays().take_input());
    world.rest();
}

fn animated(ahead: u8) -> World {
    let buffers = 3 + usize::from(ahead);
    let mut world = World::lit_on(OutputOptions { buffers, cursor_plane: Some((64, 64)), ..OutputOptions::default() });
    world.state.outputs.set_frames_ahead(ahead);
    let style = Some(Style::Easing { duration: DURATION, curve: CubicBezier::LINEAR });
    world.state.shell.set_animations(Animations { overview: style, help: style, ..Animations::default() });
    set_up(world)
}

/// Frames of the pixels in `row`, each with the share of the motion at its display time. The motion starts in the frame
/// before the first frame that looks different.
fn course(world: &mut World, row: i32, begin: impl FnOnce(&mut World)) -> Vec<(f64, Vec<u32>)> {
    let before: Vec<u32> = (0..OUTPUT.0).map(|x| world.pixel(x, row)).collect();
    let log = world.probe((0, row, OUTPUT.0, 1));
    begin(world);
    world.rest();
    let output = world.state.outputs.states().next().unwrap();
    let frames: Vec<_> = std::iter::from_fn(|| log.pop())
        .filter_map(|sample| {
            let record = output.records().iter().find(|record| record.sequence == Some(sample.refresh.sequence))?;
            Some((*record, sample.pixels.iter().map(|pixel| pixel & 0x00ff_ffff).collect::<Vec<u32>>()))
        })
        .collect();
    let first = frames.iter().position(|(_, pixels)| *pixels != before).unwrap();
    let start = frames[first].0.present - frames[first].0.interval;
    let share =
        |present: upbeat_timing::time::Instant| present.since(start).as_seconds_f64() / DURATION.as_seconds_f64();
    frames.into_iter().skip(first).map(|(record, pixels)| (share(record.present).clamp(0.0, 1.0), pixels)).collect()
}

fn zooms_rightly(world: &mut World) {
    open(world, "red", RED);
    world.rest();
    let to = cell(world, "red");
    let frames = course(world, OUTPUT.1 / 2, toggle);
    assert!(frames.len() > 5, "only {} frames", frames.len());
    for (share, pixels) in &frames {
        let left = pixels.iter().position(|pixel| *pixel == RED).unwrap() as f64;
        let expected = f64::from(LEFT) + (to.loc.x - f64::from(LEFT)) * share;
        assert!((left - expected).abs() <= 2.0, "{left}, not {expected}, at {share}");
    }
    let (x, y) = (to.loc.x.round() as i32, OUTPUT.1 / 2);
    assert_eq!((world.pixel(x, y), world.pixel(x + 2, y)), (RED, RED), "it ends where it belongs");
}

#[test]
fn every_frame_of_the_zoom_represents_its_own_display_time() {
    zooms_rightly(&mut animated(0));
    let mut world = animated(4);
    zooms_rightly(&mut world);
    let output = world.state.outputs.states().next().unwrap();
    let ahead = output.records().iter().filter(|record| record.pacing == Pacing::Ahead && record.presented.is_some());
    assert!(ahead.count() > 5, "they were not rendered ahead");
}

#[test]
fn the_list_of_shortcuts_fades_in_and_any_key_closes_it() {
    let mut world = animated(4);
    let (client, _window) = open(&mut world, "blue", BLUE);
    world.state.outputs.set_background([1.0; 3]);
    upbeat::output::need_all(&mut world.state);
    world.rest();
    let frames = course(&mut world, OUTPUT.1 / 2, |world| world.chord(&[KEY_LEFT_SUPER], KEY_F1));
    assert!(frames.len() > 5, "only {} frames", frames.len());
    for (share, pixels) in &frames {
        // Beside the list, white is dimmed by 45 %.
        let level = f64::from(pixels[3] & 0xff);
        assert!((level - 255.0 * (1.0 - 0.45 * share)).abs() <= 3.0, "{level} at {share}");
    }
    let picture = world.picture();
    let bright = picture.pixels.iter().filter(|pixel| *pixel & 0xff > 0xd0 && *pixel & 0xff00 > 0xd000).count();
    assert!(bright > 500, "there is text: {bright} pixels");
    world.client(client).take_events();
    world.chord(&[], KEY_A);
    world.rest();
    assert_eq!(world.pixel(3, 3), 0x00ff_ffff);
    let heard = world.client(client).take_events();
    assert!(!heard.iter().any(|event| matches!(event, Event::Key { .. })), "{heard:?}");
    // The same shortcut hides the list.
    for shows in [true, false] {
        world.chord(&[KEY_LEFT_SUPER], KEY_F1);
        assert_eq!(world.state.shell.overlays().help().is_on(), shows);
    }
    world.client(client).take_events();
    world.chord(&[], KEY_A);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, Event::Key { .. })));
}

#[test]
fn windows_in_the_overview_make_room_gradually_for_one_that_opens() {
    let mut world = set_up(World::lit());
    // Slow, so that nothing has settled while the test reads pixels.
    let style = Style::Easing { duration: Span::from_seconds(30), curve: CubicBezier::LINEAR };
    open(&mut world, "red", RED);
    toggle(&mut world);
    world.rest();
    let alone = middle(&world, "red");
    world.state.shell.set_animations(Animations { overview: Some(style), ..Animations::default() });
    open(&mut world, "green", GREEN);
    world.until("the new window", |world| {
        let (x, y) = middle(world, "green");
        world.pixel(x as i32, y as i32) == GREEN
    });
    let (x, y) = middle(&world, "red");
    assert!((x - alone.0).abs() > 50.0, "it is to go elsewhere");
    assert_eq!(world.pixel(alone.0 as i32, alone.1 as i32), RED, "and is still where it was");
    world.state.shell.set_animations(Animations::default());
    world.rest();
    world.until("its place", |world| world.pixel(x as i32, y as i32) == RED);
}
