//! Windows and drag icons on overlay planes: while the user moves them, each frame has the place of the last event before
//! its submission, and the picture below stays whole.

use upbeat::input::drag::{self, DragSource};
use upbeat::input::{InputEvent, KeyboardId};
use upbeat::render::Renderer;
use upbeat::scene::OnPlane;
use upbeat_timing::time::Span;
use wayland_client::protocol::wl_shm::Format;

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{BUTTON_LEFT, ClientIndex, KEY_A, REFRESH, TestToplevel, TestWorld, gles};
use crate::newest_input::LateDevices;
use crate::overlay_planes::{SIZE, assert_like_full_redraw, planes, with_overlays};

/// Where the window is, and where the pointer holds it.
const CORNER: (i32, i32) = (100, 80);
const HELD: (f64, f64) = (200.0, 150.0);
/// How far the pointer moves before the latch, and after it.
const EARLY: (i32, i32) = (10, 0);
const LATE: (i32, i32) = (60, 40);

struct DraggedPlaneStage {
    world: TestWorld,
    devices: LateDevices,
    client: ClientIndex,
    window: TestToplevel,
}

impl DraggedPlaneStage {
    /// A red window on a plane, which nothing holds yet.
    fn new(overlays: u32) -> Self {
        Self::drawn_by(Renderer::pixman().unwrap(), overlays)
    }

    fn drawn_by(renderer: Renderer, overlays: u32) -> Self {
        let mut world = TestWorld::rendered_at(REFRESH, with_overlays(overlays), renderer);
        let (client, window) = world.open_filled("dragged", SIZE, RED);
        world.move_window("dragged", CORNER);
        world.point(HELD.0, HELD.1);
        world.run_until_idle();
        let devices = LateDevices::of(&mut world);
        DraggedPlaneStage { world, devices, client, window }
    }

    /// A window of one colour at `corner`, half as bright if it is `translucent`.
    fn open(&mut self, title: &str, corner: (i32, i32), side: i32, translucent: bool) -> (ClientIndex, TestToplevel) {
        let (client, window) = self.world.open_filled(title, (side, side), GREEN);
        self.world.move_window(title, corner);
        if translucent {
            commit_translucent(&mut self.world, client, &window, side, 2);
        }
        self.world.run_until_idle();
        (client, window)
    }

    fn hold(&mut self, source: DragSource) {
        let id = self.world.window("dragged").id;
        drag::begin_move(&mut self.world.state, id, source);
        self.world.run_until_idle();
    }

    /// The pointer moves before the latch, and once more before the submission. Runs until that frame is on screen.
    fn move_late(&mut self) {
        let before = self.world.output(0).presented();
        self.world.point(HELD.0 + f64::from(EARLY.0), HELD.1 + f64::from(EARLY.1));
        self.devices.point(&self.world, (HELD.0 + f64::from(LATE.0), HELD.1 + f64::from(LATE.1)));
        self.world.run_until("the next frame", |world| world.output(0).presented() > before);
    }

    /// The place of the window on screen, in the scene and in pixels.
    #[track_caller]
    fn assert_window_moved_by(&self, distance: (i32, i32)) {
        let (x, y) = (CORNER.0 + distance.0, CORNER.1 + distance.1);
        let scene = self.world.output(0).on_screen();
        let layer = scene.layers.iter().find(|layer| layer.target.size == SIZE.into()).unwrap();
        assert_eq!((layer.target.loc.x, layer.target.loc.y), (x, y), "the scene on screen");
        assert_eq!((layer.origin.x, layer.origin.y), (f64::from(x), f64::from(y)), "hit-testing");
        let [inside, outside] = [(x, y), (x - 1, y)].map(|(x, y)| self.world.pixel(x, y));
        assert!(inside == RED && outside != RED, "the picture: {inside:x}, {outside:x}");
    }

    /// When all has settled, the window is where the pointer is, and the picture equals a full redraw.
    #[track_caller]
    fn assert_settles(&mut self) {
        self.world.run_until_idle();
        self.assert_window_moved_by(LATE);
        assert_like_full_redraw(&mut self.world);
    }
}

fn commit_translucent(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, side: i32, number: u32) {
    let pixels = vec![0x8000_0000 | number; (side * side) as usize];
    let buffer = world.client(client).buffer_of_pixels(number, Format::Argb8888, side, side, &pixels);
    window.surface.attach(Some(&buffer), 0, 0);
    window.surface.damage_buffer(0, 0, side, side);
    world.client(client).request_feedback(&window.surface, number);
    window.surface.commit();
    world.settle();
}

fn is_on_plane(stage: &DraggedPlaneStage) -> bool {
    planes(&stage.world).contains(&Some(OnPlane::Overlay))
}

#[test]
fn plane_of_a_dragged_window_has_the_place_of_the_last_event_before_the_submission() {
    let mut stage = DraggedPlaneStage::new(1);
    stage.hold(DragSource::Pointer);
    stage.move_late();
    assert!(is_on_plane(&stage));
    stage.assert_window_moved_by(LATE);
    stage.assert_settles();
}

#[test]
fn plane_of_a_window_dragged_by_a_finger_has_the_place_of_the_last_event_before_the_submission() {
    let mut stage = DraggedPlaneStage::new(1);
    let time = stage.world.now();
    stage.world.input(InputEvent::TouchDown { time, slot: 3, position: HELD.into() });
    stage.hold(DragSource::Touch(3));
    let before = stage.world.output(0).presented();
    let at = |(x, y): (i32, i32)| (HELD.0 + f64::from(x), HELD.1 + f64::from(y)).into();
    let time = stage.world.now();
    stage.world.input(InputEvent::TouchMotion { time, slot: 3, position: at(EARLY) });
    stage.devices.push(InputEvent::TouchMotion { time, slot: 3, position: at(LATE) });
    stage.world.run_until("the next frame", |world| world.output(0).presented() > before);
    stage.assert_window_moved_by(LATE);
    stage.assert_settles();
}

#[test]
fn plane_of_a_dragged_window_moves_while_another_window_is_drawn() {
    let mut stage = DraggedPlaneStage::new(1);
    let (client, other) = stage.open("drawn", (900, 500), 64, true);
    stage.hold(DragSource::Pointer);
    commit_translucent(&mut stage.world, client, &other, 64, 7);
    stage.move_late();
    assert!(stage.world.client(client).light(7).is_some(), "the same frame shows the drawn window");
    stage.assert_window_moved_by(LATE);
    stage.assert_settles();
}

#[test]
fn plane_of_a_dragged_window_moves_while_the_render_thread_draws() {
    let Some(renderer) = gles() else { return };
    let mut stage = DraggedPlaneStage::drawn_by(renderer, 1);
    let (client, other) = stage.open("drawn", (900, 500), 64, true);
    stage.hold(DragSource::Pointer);
    stage.world.drawing_takes(Span::from_millis(3));
    stage.world.point(HELD.0 + f64::from(EARLY.0), HELD.1 + f64::from(EARLY.1));
    commit_translucent(&mut stage.world, client, &other, 64, 7);
    stage.world.run_until("drawing", |world| world.output(0).is_drawing());
    let before = stage.world.output(0).presented();
    stage.world.point(HELD.0 + f64::from(LATE.0), HELD.1 + f64::from(LATE.1));
    stage.world.run_until("the next frame", |world| world.output(0).presented() > before);
    assert!(stage.world.client(client).light(7).is_some(), "the same frame shows the drawn window");
    stage.assert_window_moved_by(LATE);
}

#[test]
fn window_without_a_plane_has_the_place_of_the_latch() {
    let mut stage = DraggedPlaneStage::new(0);
    stage.hold(DragSource::Pointer);
    stage.move_late();
    assert!(!is_on_plane(&stage));
    stage.assert_window_moved_by(EARLY);
    stage.assert_settles();
}

#[test]
fn window_with_a_composed_part_has_the_place_of_the_latch() {
    let mut stage = DraggedPlaneStage::new(1);
    let client = stage.client;
    let (child, subsurface) = stage.world.client(client).subsurface(&stage.window.surface);
    // Beside the window, and translucent.
    subsurface.set_position(SIZE.0 + 5, 0);
    let pixels = vec![0x8000_0080; 32 * 32];
    let buffer = stage.world.client(client).buffer_of_pixels(9, Format::Argb8888, 32, 32, &pixels);
    child.attach(Some(&buffer), 0, 0);
    child.damage_buffer(0, 0, 32, 32);
    child.commit();
    stage.window.surface.commit();
    stage.world.settle();
    stage.world.run_until_idle();
    stage.hold(DragSource::Pointer);
    assert!(is_on_plane(&stage), "the window itself is on a plane");
    stage.move_late();
    stage.assert_window_moved_by(EARLY);
    stage.assert_settles();
}

#[test]
fn dragged_window_uncovers_nothing_that_was_not_drawn() {
    let mut stage = DraggedPlaneStage::new(1);
    // It is hidden below the dragged window, and the late event uncovers it.
    stage.open("hidden", (CORNER.0 + 20, CORNER.1 + 10), 30, false);
    let id = stage.world.window("dragged").id;
    upbeat::shell::activate(&mut stage.world.state, Some(id));
    stage.world.run_until_idle();
    assert_eq!(stage.world.pixel(CORNER.0 + 25, CORNER.1 + 15), RED);
    stage.hold(DragSource::Pointer);
    stage.move_late();
    let uncovered = stage.world.pixel(CORNER.0 + 25, CORNER.1 + 15);
    assert!([RED, GREEN].contains(&uncovered), "{uncovered:x}");
    stage.assert_settles();
    assert_eq!(stage.world.pixel(CORNER.0 + 25, CORNER.1 + 15), GREEN);
}

#[test]
fn dragged_plane_is_never_above_a_composed_window_that_covers_it() {
    let mut stage = DraggedPlaneStage::new(1);
    let right = CORNER.0 + SIZE.0 + EARLY.0;
    // The window reaches it with the late event only.
    stage.open("above", (right + 5, CORNER.1), 100, true);
    stage.hold(DragSource::Pointer);
    stage.move_late();
    assert_ne!(stage.world.pixel(right + 10, CORNER.1 + 50), RED, "the translucent window is above");
    stage.assert_settles();
    assert_ne!(stage.world.pixel(right + 10, CORNER.1 + 50), RED);
}

#[test]
fn dragged_window_passes_below_the_plane_of_a_window_above() {
    let mut stage = DraggedPlaneStage::new(2);
    let right = CORNER.0 + SIZE.0 + EARLY.0;
    stage.open("above", (right + 5, CORNER.1), 100, false);
    assert_eq!(planes(&stage.world), [Some(OnPlane::Overlay); 2]);
    stage.hold(DragSource::Pointer);
    stage.move_late();
    stage.assert_window_moved_by(LATE);
    assert_eq!(stage.world.pixel(right + 10, CORNER.1 + 50), GREEN);
    stage.assert_settles();
    assert_eq!(stage.world.pixel(right + 10, CORNER.1 + 50), GREEN);
}

#[test]
fn drag_icon_on_a_plane_has_the_place_of_the_last_event_before_the_submission() {
    const ICON: i32 = 24;
    let mut stage = DraggedPlaneStage::new(2);
    let (client, world) = (stage.client, &mut stage.world);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let icon = world.client(client).surface();
    {
        let client = world.client(client);
        let globals = client.globals();
        let source = globals.data_devices.create_data_source(&client.handle(), ());
        globals.data_device.start_drag(Some(&source), &stage.window.surface, Some(&icon), serial);
    }
    world.client(client).draw(&icon, 2, (ICON, ICON), BLUE);
    icon.commit();
    world.settle();
    world.run_until_idle();
    let scene = world.output(0).on_screen().clone();
    let layer = scene.layers.iter().find(|layer| layer.target.size == (ICON, ICON).into()).unwrap();
    assert_eq!(layer.plane, Some(OnPlane::Overlay));
    stage.move_late();
    let layer_place = |stage: &DraggedPlaneStage| {
        let scene = stage.world.output(0).on_screen();
        scene.layers.iter().find(|layer| layer.target.size == (ICON, ICON).into()).unwrap().target.loc
    };
    let wanted = (HELD.0 as i32 + LATE.0, HELD.1 as i32 + LATE.1);
    assert_eq!(layer_place(&stage), wanted.into());
    let corner: Xrgb8888Pixel = stage.world.pixel(wanted.0 + ICON - 1, wanted.1 + ICON - 1);
    assert_eq!(corner, BLUE);
    stage.world.run_until_idle();
    assert_eq!(layer_place(&stage), wanted.into());
}

#[test]
fn window_that_is_released_or_closed_before_the_submission_disturbs_nothing() {
    for closes in [false, true] {
        let mut stage = DraggedPlaneStage::new(1);
        stage.hold(DragSource::Pointer);
        let time = stage.world.now();
        stage.world.button(BUTTON_LEFT, true);
        stage.world.point(HELD.0 + f64::from(EARLY.0), HELD.1);
        stage.devices.point(&stage.world, (HELD.0 + f64::from(LATE.0), HELD.1 + f64::from(LATE.1)));
        stage.devices.push(InputEvent::Button { time, button: BUTTON_LEFT, pressed: false });
        stage.devices.push(InputEvent::Key { time, keyboard: KeyboardId::Session, key: KEY_A, pressed: true });
        if closes {
            let client = stage.client;
            stage.world.kill(client);
            stage.world.run_until_idle();
            assert_ne!(stage.world.pixel(CORNER.0 + 200, CORNER.1 + 200), RED);
        } else {
            stage.assert_settles();
        }
    }
}
