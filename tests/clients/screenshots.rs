//! Screenshots by shortcut: saved to a file, and offered as the clipboard selection.

use std::fs;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use upbeat::bindings::{ScreenshotOf, ShortcutAction};
use upbeat::config::Config;
use upbeat::input::{InputEvent, actions};
use upbeat::session::reload;
use upbeat::shell::notices::ResultNotice;

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_A, KEY_ESCAPE, OUTPUT, TestWorld};
use crate::lock::Locker;

const BLACK: u32 = 0;

/// A session whose screenshots go to a folder that does not exist yet.
fn world() -> (TestWorld, TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let shots = folder.path().join("pictures/shots");
    let world = world_with(&folder, &shots);
    (world, folder, shots)
}

fn world_with(folder: &TempDir, shots: &Path) -> TestWorld {
    let config = folder.path().join("config.toml");
    fs::write(&config, format!("[screenshots]\nfolder = {:?}\n", shots.to_str().unwrap())).unwrap();
    let mut world = TestWorld::rendered();
    let handle = world.state.loop_handle.clone();
    reload::start(&handle, &mut world.state, Some(config), None).unwrap();
    world.run_until_idle();
    world
}

fn take(world: &mut TestWorld, of: ScreenshotOf) {
    actions::run(&mut world.state, &ShortcutAction::Screenshot(of));
}

fn message(world: &TestWorld) -> Option<&ResultNotice> {
    let notices = world.state.shell.overlays().notices();
    notices.messages().next().filter(|_| notices.shown.is_on())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Path of the newest file, after its notice was shown.
fn saved(world: &mut TestWorld, shots: &Path, count: usize) -> PathBuf {
    world.run_until("a screenshot", |world| files(shots).len() == count && message(world).is_some());
    let text = message(world).unwrap().text.clone();
    world.run_until("its notice", |world| {
        message(world).is_some_and(|it| Path::new(&it.text).exists() || it.text != text)
    });
    PathBuf::from(&message(world).unwrap().text)
}

/// Size and pixels (`RRGGBB`) of a PNG file.
fn pixels(path: &Path) -> ((u32, u32), Vec<u32>) {
    let mut reader = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    let pixel = |bytes: &[u8]| u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
    ((reader.info().width, reader.info().height), bytes.chunks(3).map(pixel).collect())
}

/// PNG data that the focused client reads from the selection.
fn pasted(world: &mut TestWorld, client: ClientIndex) -> Vec<u8> {
    let offered = |event| if let ClientEvent::Selection(offer) = event { Some(offer) } else { None };
    let offer = world.client(client).take_events().into_iter().rev().find_map(offered).flatten();
    let (mut reader, writer) = std::io::pipe().unwrap();
    offer.expect("an offer").receive("image/png".to_owned(), writer.as_fd());
    world.settle();
    drop(writer);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn screenshot_is_saved_to_a_new_file_and_can_be_pasted() {
    let (mut world, _folder, shots) = world();
    let (client, _window) = world.open_filled("red", OUTPUT, RED);
    world.run_until_idle();
    world.client(client).take_events();
    take(&mut world, ScreenshotOf::Screen);
    let path = saved(&mut world, &shots, 1);
    assert!(!message(&world).unwrap().is_failure);
    let (size, seen) = pixels(&path);
    assert_eq!(size, (OUTPUT.0 as u32, OUTPUT.1 as u32));
    assert!(seen.iter().all(|pixel| *pixel == RED), "and no cursor");
    world.run_until_idle();
    let bytes = pasted(&mut world, client);
    assert_eq!(bytes, fs::read(&path).unwrap());
    take(&mut world, ScreenshotOf::Screen);
    world.run_until("another", |_| files(&shots).len() == 2);
    assert_eq!(fs::read(&path).unwrap(), bytes, "the first is as it was");
}

#[test]
fn screenshot_shows_the_output_that_has_the_focus() {
    let (mut world, _folder, shots) = world();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.open_filled("red", OUTPUT, RED);
    world.open_filled("green", OUTPUT, GREEN);
    world.move_window("green", (OUTPUT.0, 0));
    let green = world.window("green").id;
    upbeat::shell::activate(&mut world.state, Some(green));
    world.point(100.0, 100.0);
    world.run_until_idle();
    assert_eq!(world.focused().as_deref(), Some("green"), "the pointer is on the other output");
    take(&mut world, ScreenshotOf::Screen);
    let path = saved(&mut world, &shots, 1);
    assert!(pixels(&path).1.iter().all(|pixel| *pixel == GREEN));
}

#[test]
fn window_screenshot_shows_the_window_alone_and_is_black_if_a_rule_excludes_it() {
    let (mut world, _folder, shots) = world();
    world.open_filled("green", (200, 100), GREEN);
    world.open_filled("red", (300, 200), RED);
    world.move_window("green", (100, 100));
    world.move_window("red", (50, 50));
    let (green, red) = (world.window("green").id, world.window("red").id);
    upbeat::shell::activate(&mut world.state, Some(green));
    world.run_until_idle();
    take(&mut world, ScreenshotOf::Window);
    let path = saved(&mut world, &shots, 1);
    assert!(pixels(&path) == ((200, 100), vec![GREEN; 200 * 100]));
    upbeat::shell::activate(&mut world.state, Some(red));
    let rules = toml::from_str::<Config>("[[window]]\ntitle = 'red'\ncapture = false").unwrap().windows;
    world.state.outputs.rules_mut().set_windows(rules);
    world.state.outputs.rules_mut().mark_all_stale();
    world.run_until_idle();
    take(&mut world, ScreenshotOf::Window);
    world.run_until("another", |_| files(&shots).len() == 2);
    let other = files(&shots).into_iter().find(|other| *other != path).unwrap();
    world.run_until("all of it", |world| message(world).is_some_and(|it| Path::new(&it.text) == other));
    assert!(pixels(&other) == ((300, 200), vec![BLACK; 300 * 200]));
}

#[test]
fn screenshot_without_a_writable_folder_shows_a_notice_and_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let shots = folder.path().join("file/shots");
    fs::write(folder.path().join("file"), "").unwrap();
    let mut world = world_with(&folder, &shots);
    let (client, _window) = world.open_filled("red", (300, 200), RED);
    world.run_until_idle();
    world.client(client).take_events();
    take(&mut world, ScreenshotOf::Screen);
    world.run_until("a notice", |world| message(world).is_some());
    let said = message(&world).unwrap().clone();
    assert!(said.is_failure && said.text.starts_with(shots.to_str().unwrap()), "{said:?}");
    world.run_until_idle();
    assert_eq!(&pasted(&mut world, client)[1..4], b"PNG");
}

#[test]
fn a_region_is_picked_with_the_pointer_or_a_finger_and_is_not_dimmed() {
    let (mut world, _folder, shots) = world();
    world.open_filled("red", OUTPUT, RED);
    world.run_until_idle();
    take(&mut world, ScreenshotOf::Region);
    world.run_until_idle();
    assert_ne!(world.pixel(300, 200), RED, "dimmed");
    world.point(200.0, 180.0);
    world.button(BUTTON_LEFT, true);
    world.point(100.0, 100.0);
    world.run_until_idle();
    assert_eq!((world.pixel(150, 150) == RED, world.pixel(300, 200) == RED), (true, false));
    world.button(BUTTON_LEFT, false);
    let path = saved(&mut world, &shots, 1);
    assert!(pixels(&path) == ((100, 80), vec![RED; 100 * 80]), "without the cursor at its corner");
    world.run_until_idle();
    take(&mut world, ScreenshotOf::Region);
    world.run_until_idle();
    let time = world.now();
    world.input(InputEvent::TouchDown { time, slot: 0, position: (100.0, 300.0).into() });
    world.input(InputEvent::TouchMotion { time, slot: 0, position: (150.0, 320.0).into() });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    world.run_until("another", |_| files(&shots).len() == 2);
    let other = files(&shots).into_iter().find(|other| *other != path).unwrap();
    world.run_until("all of it", |world| message(world).is_some_and(|it| Path::new(&it.text) == other));
    assert!(pixels(&other) == ((50, 20), vec![RED; 50 * 20]));
}

#[test]
fn cancelled_touch_picks_no_region_and_another_device_can() {
    let (mut world, _folder, shots) = world();
    world.open_filled("red", OUTPUT, RED);
    take(&mut world, ScreenshotOf::Region);
    let time = world.now();
    world.input(InputEvent::TouchDown { time, slot: 0, position: (10.0, 10.0).into() });
    world.input(InputEvent::TouchMotion { time, slot: 0, position: (90.0, 90.0).into() });
    world.input(InputEvent::TouchCancel { time });
    world.run_until_idle();
    assert!(files(&shots).is_empty() && world.state.shell.overlays().region().area().is_none());
    world.point(200.0, 180.0);
    world.button(BUTTON_LEFT, true);
    world.point(240.0, 210.0);
    world.button(BUTTON_LEFT, false);
    let path = saved(&mut world, &shots, 1);
    assert_eq!(pixels(&path).0, (40, 30));
}

#[test]
fn cancelled_region_saves_no_screenshot_and_sends_no_events() {
    let (mut world, _folder, shots) = world();
    let (client, _window) = world.open_filled("red", OUTPUT, RED);
    world.run_until_idle();
    let is_on = |world: &TestWorld| world.state.shell.overlays().region().is_on();
    world.point(100.0, 100.0);
    take(&mut world, ScreenshotOf::Region);
    world.run_until_idle();
    world.client(client).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(is_on(&world));
    world.click(100.0, 100.0);
    assert!(!is_on(&world));
    take(&mut world, ScreenshotOf::Region);
    world.button(BUTTON_LEFT, true);
    world.point(200.0, 200.0);
    world.key(KEY_ESCAPE, true);
    world.key(KEY_ESCAPE, false);
    assert!(!is_on(&world));
    world.button(BUTTON_LEFT, false);
    world.run_until_idle();
    let is_input = |event: &ClientEvent| matches!(event, ClientEvent::Key { .. } | ClientEvent::Button { .. });
    assert!(!world.client(client).take_events().iter().any(is_input));
    assert_eq!(world.pixel(300, 200), RED, "nothing is dimmed");
    assert!(files(&shots).is_empty() && message(&world).is_none());
}

#[test]
fn a_locked_session_takes_no_picture() {
    let (mut world, _folder, shots) = world();
    world.open_filled("red", OUTPUT, RED);
    take(&mut world, ScreenshotOf::Region);
    let _locker = Locker::lock(&mut world, BLUE);
    world.run_until_idle();
    for of in [ScreenshotOf::Screen, ScreenshotOf::Window, ScreenshotOf::Region] {
        take(&mut world, of);
    }
    assert!(!world.state.shell.overlays().region().is_on());
    world.run_until_idle();
    assert!(files(&shots).is_empty() && message(&world).is_none());
}
