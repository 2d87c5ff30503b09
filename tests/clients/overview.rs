//! The overview and the list of shortcuts: all windows are live, both take the input, and each frame fits its display
//! time.

use smithay::utils::{Logical, Rectangle};
use upbeat::backend::headless::OutputOptions;
use upbeat::input::InputEvent;
use upbeat::shell::animation::AnimationStyles;
use upbeat::shell::overview::layout::OverviewLayout;
use upbeat::shell::tiling::{self, TilingMode};
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::time::Span;

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_1, KEY_2, KEY_A, KEY_ENTER, KEY_ESCAPE, KEY_F1, KEY_LEFT,
    KEY_LEFT_SUPER, KEY_O, KEY_RIGHT, OUTPUT, TestToplevel, TestWorld,
};

const SIZE: (i32, i32) = (400, 300);
const LEFT: i32 = (OUTPUT.0 - SIZE.0) / 2;
/// Long enough for several frames.
const DURATION: Span = Span::from_millis(1_000);

fn set_up(mut world: TestWorld) -> TestWorld {
    world.state.outputs.set_background([0.0; 3]);
    world.run_until_idle();
    world
}

fn open(world: &mut TestWorld, title: &str, colour: Xrgb8888Pixel) -> (ClientIndex, TestToplevel) {
    world.open_filled(title, SIZE, colour)
}

/// A red window on the first workspace, which is shown, and a green window on the second.
fn two_workspaces() -> (TestWorld, (ClientIndex, TestToplevel), (ClientIndex, TestToplevel)) {
    let mut world = set_up(TestWorld::rendered());
    let red = open(&mut world, "red", RED);
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    let green = open(&mut world, "green", GREEN);
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    world.run_until_idle();
    (world, red, green)
}

fn toggle(world: &mut TestWorld) {
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
}

fn layout(world: &TestWorld) -> OverviewLayout {
    world.state.shell.overview(world.state.outputs.iter().next().unwrap())
}

fn cell(world: &TestWorld, title: &str) -> Rectangle<f64, Logical> {
    layout(world).window(world.window(title).id).unwrap()
}

fn middle(world: &TestWorld, title: &str) -> (f64, f64) {
    let rect = cell(world, title);
    (rect.loc.x + rect.size.w / 2.0, rect.loc.y + rect.size.h / 2.0)
}

fn shown(world: &TestWorld, title: &str) -> u32 {
    let (x, y) = middle(world, title);
    world.pixel(x as i32, y as i32)
}

#[test]
fn the_overview_shows_the_windows_of_all_workspaces_live() {
    let (mut world, _, (client, window)) = two_workspaces();
    toggle(&mut world);
    world.run_until_idle();
    assert_eq!((shown(&world, "red"), shown(&world, "green")), (RED, GREEN));
    // The hidden window is shown in the overview: its frames are presented and it gets callbacks.
    world.client(client).request_feedback(&window.surface, 7);
    world.client(client).draw(&window.surface, 2, SIZE, BLUE);
    window.surface.commit();
    world.run_until("light", |world| world.client(client).light(2).is_some());
    world.run_until_idle();
    assert_eq!(shown(&world, "green"), BLUE);
    assert!(world.client(client).has_received(ContentEvent::Released(1)));
    toggle(&mut world);
    world.run_until_idle();
    assert_eq!(world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2), RED);
}

#[test]
fn overview_click_activates_window_and_workspace_without_client_events() {
    let (mut world, (red, _), (green, _)) = two_workspaces();
    toggle(&mut world);
    world.run_until_idle();
    for client in [red, green] {
        world.client(client).take_events();
    }
    let (x, y) = middle(&world, "green");
    world.click(x, y);
    world.run_until_idle();
    assert_eq!(world.focused().as_deref(), Some("green"));
    assert_eq!(world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2), GREEN);
    for client in [red, green] {
        let heard = world.client(client).take_events();
        assert!(!heard.iter().any(|event| matches!(event, ClientEvent::Button { .. })), "{heard:?}");
    }
}

#[test]
fn overview_click_beside_windows_activates_the_workspace() {
    let (mut world, ..) = two_workspaces();
    toggle(&mut world);
    let card = layout(&world).cards[1].rect;
    world.click(card.loc.x + 5.0, card.loc.y + 40.0);
    assert_eq!(world.focused().as_deref(), Some("green"));
    assert!(!world.state.shell.overlays().take_input());
}

#[test]
fn overview_keys_select_without_client_events() {
    let (mut world, (red, _), _) = two_workspaces();
    world.client(red).take_events();
    let press = |world: &mut TestWorld, key| world.chord(&[], key);
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
    heard.retain(|event| matches!(event, ClientEvent::Key { key, .. } if !modifiers.contains(key)));
    assert!(heard.is_empty(), "{heard:?}");
}

#[test]
fn selected_window_may_close_in_the_overview() {
    let (mut world, (red, _), _) = two_workspaces();
    toggle(&mut world);
    world.run_until_idle();
    world.kill(red);
    world.run_until_idle();
    world.chord(&[], KEY_ENTER);
    assert!(!world.state.shell.overlays().take_input());
    world.run_until_idle();
}

fn animated(ahead: u8) -> TestWorld {
    let buffers = 3 + usize::from(ahead);
    let mut world =
        TestWorld::rendered_on(OutputOptions { buffers, cursor_plane: Some((64, 64)), ..OutputOptions::default() });
    world.state.outputs.set_frames_ahead(ahead);
    let style = Some(MotionStyle::Easing { duration: DURATION, curve: CubicBezier::LINEAR });
    world.state.shell.set_animations(AnimationStyles { overview: style, help: style, ..AnimationStyles::default() });
    set_up(world)
}

/// Frames of the pixels in `row`, each with the share of the motion at its display time. The motion starts in the frame
/// before the first frame that looks different.
fn record_motion(world: &mut TestWorld, row: i32, begin: impl FnOnce(&mut TestWorld)) -> Vec<(f64, Vec<u32>)> {
    let before: Vec<u32> = (0..OUTPUT.0).map(|x| world.pixel(x, row)).collect();
    let log = world.probe((0, row, OUTPUT.0, 1));
    begin(world);
    world.run_until_idle();
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

fn zooms_rightly(world: &mut TestWorld) {
    open(world, "red", RED);
    world.run_until_idle();
    let to = cell(world, "red");
    let frames = record_motion(world, OUTPUT.1 / 2, toggle);
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
    upbeat::output::schedule_repaint_all(&mut world.state);
    world.run_until_idle();
    let frames = record_motion(&mut world, OUTPUT.1 / 2, |world| world.chord(&[KEY_LEFT_SUPER], KEY_F1));
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
    world.run_until_idle();
    assert_eq!(world.pixel(3, 3), 0x00ff_ffff);
    let heard = world.client(client).take_events();
    assert!(!heard.iter().any(|event| matches!(event, ClientEvent::Key { .. })), "{heard:?}");
    // The same shortcut hides the list.
    for shows in [true, false] {
        world.chord(&[KEY_LEFT_SUPER], KEY_F1);
        assert_eq!(world.state.shell.overlays().help().is_on(), shows);
    }
    world.client(client).take_events();
    world.chord(&[], KEY_A);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. })));
}

#[test]
fn windows_in_the_overview_make_room_gradually_for_one_that_opens() {
    let mut world = set_up(TestWorld::rendered());
    // Slow, so that nothing has settled while the test reads pixels.
    let style = MotionStyle::Easing { duration: Span::from_seconds(30), curve: CubicBezier::LINEAR };
    open(&mut world, "red", RED);
    toggle(&mut world);
    world.run_until_idle();
    let alone = middle(&world, "red");
    world.state.shell.set_animations(AnimationStyles { overview: Some(style), ..AnimationStyles::default() });
    open(&mut world, "green", GREEN);
    world.run_until("the new window", |world| {
        let (x, y) = middle(world, "green");
        world.pixel(x as i32, y as i32) == GREEN
    });
    let (x, y) = middle(&world, "red");
    assert!((x - alone.0).abs() > 50.0, "it is to go elsewhere");
    assert_eq!(world.pixel(alone.0 as i32, alone.1 as i32), RED, "and is still where it was");
    world.state.shell.set_animations(AnimationStyles::default());
    world.run_until_idle();
    world.run_until("its place", |world| world.pixel(x as i32, y as i32) == RED);
}

/// Linux event code of the middle button.
const BUTTON_MIDDLE: u32 = 0x112;
const KEY_DELETE: u32 = 111;

/// The middle of the card of workspace `number`.
fn card(world: &TestWorld, number: u8) -> (f64, f64) {
    let layout = layout(world);
    let rect = layout.all_cards().find(|card| card.number.get() == number).unwrap().rect;
    (rect.loc.x + rect.size.w / 2.0, rect.loc.y + rect.size.h / 2.0)
}

fn workspace_of(world: &TestWorld, title: &str) -> u8 {
    world.state.shell.workspaces().place(world.window(title).id).unwrap().number.get()
}

fn closes(world: &mut TestWorld, client: ClientIndex) -> usize {
    world.settle();
    world.client(client).take_events().iter().filter(|event| matches!(event, ClientEvent::Close)).count()
}

#[test]
fn click_in_the_overview_acts_on_release_where_it_began() {
    let (mut world, ..) = two_workspaces();
    toggle(&mut world);
    let (red, green) = (middle(&world, "red"), middle(&world, "green"));
    let (red_card, green_card) = (layout(&world).cards[0].rect, layout(&world).cards[1].rect);
    world.point(green.0, green.1);
    world.button(BUTTON_LEFT, true);
    assert!(world.state.shell.overlays().overview().is_on(), "a press alone does nothing");
    world.point(green.0 + 5.0, green.1);
    world.button(BUTTON_LEFT, false);
    assert_eq!(world.focused().as_deref(), Some("green"));
    assert!(!world.state.shell.overlays().overview().is_on());
    // From a card to another card.
    toggle(&mut world);
    world.point(red_card.loc.x + 4.0, red.1);
    world.button(BUTTON_LEFT, true);
    world.point(green_card.loc.x + 4.0, red.1);
    world.button(BUTTON_LEFT, false);
    assert!(world.state.shell.overlays().overview().is_on());
    assert_eq!(world.focused().as_deref(), Some("green"));
}

#[test]
fn window_is_dragged_to_another_workspace_under_the_pointer() {
    let (mut world, ..) = two_workspaces();
    toggle(&mut world);
    world.run_until_idle();
    let (red, to) = (middle(&world, "red"), card(&world, 5));
    world.point(red.0, red.1);
    world.button(BUTTON_LEFT, true);
    world.point(to.0, to.1 - 100.0);
    world.run_until_idle();
    // Beside the cursor.
    assert_eq!(world.pixel(to.0 as i32 - 20, to.1 as i32 - 120), RED, "its live picture is under the pointer");
    world.point(to.0, to.1);
    world.button(BUTTON_LEFT, false);
    world.run_until_idle();
    assert_eq!(workspace_of(&world, "red"), 5);
    assert!(world.state.shell.overlays().overview().is_on());
    assert_eq!(shown(&world, "red"), RED, "it lies on its new card");
    assert!(layout(&world).cards.iter().any(|card| card.number.get() == 5));
    // And back, over another window.
    let (red, to) = (middle(&world, "red"), middle(&world, "green"));
    world.point(red.0, red.1);
    world.button(BUTTON_LEFT, true);
    world.point(to.0, to.1);
    world.button(BUTTON_LEFT, false);
    assert_eq!(workspace_of(&world, "red"), 2);
}

#[test]
fn finger_drags_a_window_to_another_workspace_and_a_cancel_leaves_it() {
    let (mut world, ..) = two_workspaces();
    toggle(&mut world);
    world.run_until_idle();
    let touch = |world: &mut TestWorld, cancels: bool| {
        let (from, to, time) = (middle(world, "red"), card(world, 7), world.now());
        world.input(InputEvent::TouchDown { time, slot: 0, position: from.into() });
        world.input(InputEvent::TouchMotion { time, slot: 0, position: to.into() });
        world.input(if cancels { InputEvent::TouchCancel { time } } else { InputEvent::TouchUp { time, slot: 0 } });
    };
    touch(&mut world, true);
    assert_eq!(workspace_of(&world, "red"), 1);
    touch(&mut world, false);
    assert_eq!(workspace_of(&world, "red"), 7);
    assert!(world.state.shell.overlays().overview().is_on());
    let time = world.now();
    let position = middle(&world, "green").into();
    world.input(InputEvent::TouchDown { time, slot: 0, position });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    assert_eq!(world.focused().as_deref(), Some("green"), "a tap chooses");
}

#[test]
fn escape_during_a_drag_in_the_overview_puts_the_window_back() {
    let (mut world, ..) = two_workspaces();
    toggle(&mut world);
    let (red, to) = (middle(&world, "red"), card(&world, 2));
    world.point(red.0, red.1);
    world.button(BUTTON_LEFT, true);
    world.point(to.0, to.1);
    world.chord(&[], KEY_ESCAPE);
    world.button(BUTTON_LEFT, false);
    assert_eq!(workspace_of(&world, "red"), 1);
    assert!(world.state.shell.overlays().overview().is_on());
}

#[test]
fn dragging_a_hidden_window_changes_neither_focus_nor_visible_workspace() {
    let (mut world, ..) = two_workspaces();
    toggle(&mut world);
    let (green, to) = (middle(&world, "green"), card(&world, 3));
    world.point(green.0, green.1);
    world.button(BUTTON_LEFT, true);
    world.point(to.0, to.1);
    world.button(BUTTON_LEFT, false);
    assert_eq!((workspace_of(&world, "green"), world.focused().as_deref()), (3, Some("red")));
    let workspaces = world.state.shell.workspaces();
    let (screen, _) = workspaces.screens().next().unwrap();
    assert_eq!(workspaces.active(screen).get(), 1);
}

#[test]
fn window_is_closed_by_middle_click_button_and_key_in_the_overview() {
    let (mut world, (red, _), (green, _)) = two_workspaces();
    toggle(&mut world);
    world.run_until_idle();
    let at = middle(&world, "green");
    world.point(at.0, at.1);
    world.button(BUTTON_MIDDLE, true);
    assert_eq!(closes(&mut world, green), 0, "not before the release");
    world.button(BUTTON_MIDDLE, false);
    assert_eq!((closes(&mut world, green), closes(&mut world, red)), (1, 0));
    // The button appears under the pointer.
    let id = world.window("red").id;
    let button = layout(&world).close_button(id).unwrap();
    let (x, y) = (button.loc.x + button.size.w / 2.0, button.loc.y + button.size.h / 2.0);
    world.run_until_idle();
    assert_eq!(world.pixel(x as i32 - 8, y as i32), RED);
    world.point(x, y);
    world.run_until_idle();
    assert_ne!(world.pixel(x as i32 - 8, y as i32), RED);
    world.click(x, y);
    assert_eq!((closes(&mut world, red), closes(&mut world, green)), (1, 0));
    world.chord(&[], KEY_DELETE);
    assert_eq!((closes(&mut world, red), closes(&mut world, green)), (1, 0));
    assert!(world.state.shell.overlays().overview().is_on());
}

#[test]
fn window_in_a_strip_is_dragged_to_the_workspace_of_another_output() {
    let mut world = TestWorld::simulated(&[60_000, 60_000]);
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    world.open_filled_at_configured_size("red", RED);
    world.open_filled_at_configured_size("green", GREEN);
    world.run_until_idle();
    toggle(&mut world);
    world.run_until_idle();
    let outputs: Vec<_> = world.state.outputs.iter().cloned().collect();
    let there = world.window("red").id;
    let from = outputs.iter().position(|output| world.state.shell.overview(output).window(there).is_some()).unwrap();
    let to = &outputs[1 - from];
    let centre = |rect: Rectangle<f64, Logical>| (rect.loc.x + rect.size.w / 2.0, rect.loc.y + rect.size.h / 2.0);
    let start = centre(world.state.shell.overview(&outputs[from]).window(there).unwrap());
    let end = centre(world.state.shell.overview(to).cards[0].rect);
    world.point(start.0, start.1);
    world.button(BUTTON_LEFT, true);
    world.point(end.0, end.1);
    world.button(BUTTON_LEFT, false);
    world.run_until_idle();
    let place = world.state.shell.workspaces().place(there).unwrap();
    assert_eq!(world.state.shell.workspaces().name(place.screen), Some(to.name().as_str()));
    assert!(world.state.shell.is_tile(there), "it is a column there");
    // The arrows lead to the other output.
    world.chord(&[], if from == 0 { KEY_LEFT } else { KEY_RIGHT });
    let selected = world.state.shell.overlays().selected().unwrap();
    assert_eq!(selected, world.window("green").id);
}
