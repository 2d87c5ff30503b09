//! Output transforms: position of content on the panel, touch positions, and events to clients.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use upbeat::backend::PixelBuffer;
use upbeat::backend::headless::OutputOptions;
use upbeat::input::InputEvent;
use upbeat::output::hotplug::{self, Placement};
use upbeat::output::place_on_panel;
use upbeat::output_transform::OutputTransform;
use upbeat::render::Renderer;
use upbeat::shell::effects::{ShadowStyle, WindowEffects};
use wayland_client::protocol::wl_output::Transform;
use wayland_client::protocol::wl_shm::Format;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::layers::Layer;
use crate::fixture::{ClientEvent, ClientIndex, OUTPUT, TestToplevel, TestWorld, gles};
use crate::rendering::{DamageStage, LEVELS, TransformedScene, damage_is_complete, differing};

const WHITE: Xrgb8888Pixel = 0x00ff_ffff;
/// Colours of the upright picture's quarters: top left, top right, bottom left, bottom right.
const QUARTERS: [Xrgb8888Pixel; 4] = [RED, GREEN, BLUE, WHITE];

/// The quarters at the panel's corners, for each `wl_output.transform`: first mirrored, then rotated anticlockwise.
const ON_PANEL: [(&str, [Xrgb8888Pixel; 4]); 8] = [
    ("normal", [RED, GREEN, BLUE, WHITE]),
    ("90", [GREEN, WHITE, RED, BLUE]),
    ("180", [WHITE, BLUE, GREEN, RED]),
    ("270", [BLUE, RED, WHITE, GREEN]),
    ("flipped", [GREEN, RED, WHITE, BLUE]),
    ("flipped-90", [RED, BLUE, GREEN, WHITE]),
    ("flipped-180", [BLUE, WHITE, RED, GREEN]),
    ("flipped-270", [WHITE, GREEN, BLUE, RED]),
];

/// Centres of the panel's quarters, as shares of its width and height.
const CORNERS: [(f64, f64); 4] = [(0.125, 0.125), (0.875, 0.125), (0.125, 0.875), (0.875, 0.875)];

pub fn placement(turn: OutputTransform, scale: f64) -> Placement {
    Placement { position: Some((0, 0)), scale: Some(scale), turn: Some(turn), ..Placement::default() }
}

pub fn turned(renderer: Renderer, turn: OutputTransform, scale: f64) -> TestWorld {
    TestWorld::rendered_with_placement(renderer, placement(turn, scale), OutputOptions::default())
}

/// A picture with four coloured quarters.
fn quarters(world: &mut TestWorld, client: ClientIndex, (width, height): (i32, i32)) -> Vec<u32> {
    let colour = |at: i32| {
        let (x, y) = (at % width, at / width);
        QUARTERS[usize::from(x >= width / 2) + 2 * usize::from(y >= height / 2)]
    };
    world.client(client).take_events();
    (0..width * height).map(colour).collect()
}

/// A window that fills the output, with coloured quarters.
fn filled(world: &mut TestWorld) -> (ClientIndex, TestToplevel, (i32, i32)) {
    let (client, window) = world.open("a", 100, 100);
    window.toplevel.set_fullscreen(None);
    world.settle();
    let size = redrawn(world, client, &window);
    (client, window, size)
}

/// Draws the quarters in the size that the window was asked for. Returns the size.
fn redrawn(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel) -> (i32, i32) {
    let size = world.client(client).ack_newest_configure().expect("it was asked for a size");
    let pixels = quarters(world, client, size);
    let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, size.0, size.1, &pixels);
    window.surface.attach(Some(&picture), 0, 0);
    window.surface.damage_buffer(0, 0, size.0, size.1);
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    size
}

fn at(picture: &PixelBuffer, (x, y): (f64, f64)) -> Xrgb8888Pixel {
    let pixel = |share: f64, side: i32| (share * f64::from(side)) as i32;
    let place = pixel(y, picture.height) * picture.width + pixel(x, picture.width);
    picture.pixels[place as usize] & 0x00ff_ffff
}

/// Touches the panel at a point, and returns the colour of the window's quarter there.
fn touched(world: &mut TestWorld, client: ClientIndex, size: (i32, i32), share: (f64, f64)) -> Xrgb8888Pixel {
    let position = place_on_panel(world.state.outputs.iter().next().unwrap(), share);
    let time = world.now();
    world.client(client).take_events();
    world.input(InputEvent::TouchDown { time, slot: 0, position });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    let down = |event| if let ClientEvent::TouchDown { x, y, .. } = event { Some((x, y)) } else { None };
    let (x, y) = world.client(client).take_events().into_iter().find_map(down).expect("it was touched");
    QUARTERS[usize::from(x >= f64::from(size.0 / 2)) + 2 * usize::from(y >= f64::from(size.1 / 2))]
}

/// Checks with each transform and scale: content lies on the panel where the protocol says, and a touch hits it there.
#[track_caller]
fn assert_positions(renderer: impl Fn() -> Option<Renderer>, name: &str) {
    for (turn, expected) in ON_PANEL {
        for scale in [1.0, 1.5, 2.0] {
            let Some(renderer) = renderer() else { return };
            let turn: OutputTransform = turn.parse().unwrap();
            let mut world = turned(renderer, turn, scale);
            let (client, _window, size) = filled(&mut world);
            let upright = if turn.swaps_sides() { (OUTPUT.1, OUTPUT.0) } else { OUTPUT };
            let logical = |side: i32| (f64::from(side) / scale).round() as i32;
            assert_eq!(size, (logical(upright.0), logical(upright.1)), "{turn} at {scale}");
            let panel = world.picture();
            assert_eq!((panel.width, panel.height), OUTPUT);
            save_picture(&panel, &format!("turned-{name}-{turn}-{scale}"));
            assert_eq!(CORNERS.map(|corner| at(&panel, corner)), expected, "{turn} at {scale}");
            let hit = CORNERS.map(|corner| touched(&mut world, client, size, corner));
            assert_eq!(hit, expected, "{turn} at {scale}: the quarter that a touch hits");
        }
    }
}

/// Saves a picture for inspection, if that is asked for.
fn save_picture(picture: &PixelBuffer, name: &str) {
    let Ok(folder) = std::env::var("UPBEAT_KEEP_PICTURES") else { return };
    let file = std::fs::File::create(format!("{folder}/{name}.png")).unwrap();
    let mut encoder = png::Encoder::new(file, picture.width as u32, picture.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    let rgb: Vec<u8> = picture.pixels.iter().flat_map(|pixel| pixel.to_be_bytes()[1..].to_vec()).collect();
    encoder.write_header().unwrap().write_image_data(&rgb).unwrap();
}

#[test]
fn transformed_content_and_touch_positions_match_the_protocol() {
    assert_positions(|| Renderer::pixman().ok(), "pixman");
}

#[test]
fn transformed_content_and_touch_positions_match_the_protocol_with_gles() {
    assert_positions(gles, "gles");
}

/// A scene with all buffer transformations of a client, and the compositor's shadows, corners and cursor.
pub fn render_everything(renderer: Renderer, turn: OutputTransform, scale: f64) -> PixelBuffer {
    let mut scene = TransformedScene::shown(turned(renderer, turn, scale));
    let shadow = Some(ShadowStyle { reach: 20.0, opacity: 0.5 });
    scene.world.state.shell.set_effects(WindowEffects { shadow, corner_radius: 12.0, ..WindowEffects::default() });
    // This position is visible with each transform.
    scene.world.move_window("window", (60, 50));
    scene.fill();
    scene.world.point(200.0, 90.0);
    scene.world.run_until_idle();
    scene.world.picture()
}

fn turn_picture(picture: &PixelBuffer, turn: OutputTransform) -> PixelBuffer {
    let (width, height) = (picture.width, picture.height);
    let pixels = turn.pixels(&picture.pixels, (width, height));
    let (width, height) = if turn.swaps_sides() { (height, width) } else { (width, height) };
    PixelBuffer { width, height, pixels }
}

/// The upright top left square of a panel's picture, which is the same for each width of the output.
fn square(panel: &PixelBuffer, turn: OutputTransform) -> PixelBuffer {
    let upright = turn_picture(panel, turn.inverse());
    let side = upright.width.min(upright.height);
    let row = |y: i32| upright.pixels[(y * upright.width) as usize..][..side as usize].iter().copied();
    PixelBuffer { width: side, height: side, pixels: (0..side).flat_map(row).collect() }
}

#[test]
fn transformed_output_equals_the_rotated_upright_picture() {
    let upright =
        square(&render_everything(Renderer::pixman().unwrap(), OutputTransform::NORMAL, 1.0), OutputTransform::NORMAL);
    for turn in OutputTransform::ALL {
        let panel = render_everything(Renderer::pixman().unwrap(), turn, 1.0);
        save_picture(&panel, &format!("everything-pixman-{turn}"));
        let seen = square(&panel, turn);
        let other = seen.pixels.iter().zip(&upright.pixels).filter(|(a, b)| a != b).count();
        assert_eq!(other, 0, "{turn}");
    }
}

#[test]
fn gles_matches_pixman_for_each_output_transform() {
    for turn in OutputTransform::ALL {
        let Some(gles) = gles() else { return };
        let pictures = [Renderer::pixman().unwrap(), gles].map(|renderer| render_everything(renderer, turn, 1.0));
        save_picture(&pictures[1], &format!("everything-gles-{turn}"));
        // Scales are whole numbers, so that pixels differ by rounding only.
        assert_eq!(differing(&pictures[0], &pictures[1], LEVELS), 0, "{turn}");
    }
}

#[test]
fn buffer_transforms_are_shown_upright() {
    let size = (96, 64);
    for (renderer, output) in [(false, "normal"), (false, "90"), (true, "normal"), (true, "flipped-270")] {
        let output: OutputTransform = output.parse().unwrap();
        for buffer in OutputTransform::ALL {
            let made = if renderer { gles() } else { Renderer::pixman().ok() };
            let Some(renderer) = made else { return };
            let mut world = turned(renderer, output, 1.0);
            let (client, window) = world.open("a", 10, 10);
            let pixels = buffer.pixels(&quarters(&mut world, client, size), size);
            let (width, height) = if buffer.swaps_sides() { (size.1, size.0) } else { size };
            let transform =
                Transform::try_from(OutputTransform::ALL.iter().position(|turn| *turn == buffer).unwrap() as u32);
            let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, width, height, &pixels);
            window.surface.set_buffer_transform(transform.unwrap());
            window.surface.attach(Some(&picture), 0, 0);
            // Damage in surface coordinates, which has to be transformed too.
            window.surface.damage(0, 0, size.0, size.1);
            window.surface.commit();
            world.settle();
            world.move_window("a", (40, 30));
            world.run_until_idle();
            let seen = turn_picture(&world.picture(), output.inverse());
            let pixel = |x: i32, y: i32| seen.pixels[((y + 30) * seen.width + x + 40) as usize] & 0x00ff_ffff;
            let corners = [(8, 8), (88, 8), (8, 56), (88, 56)].map(|(x, y)| pixel(x, y));
            assert_eq!(corners, QUARTERS, "{buffer} on {output}");
            // Damage of a part of the buffer is found at its transformed place.
            let mut changed = buffer.inverse().pixels(&pixels, (width, height));
            (0..8).for_each(|place| changed[(place / 4 * size.0 + place % 4) as usize] = 0x0012_3456);
            let changed = buffer.pixels(&changed, size);
            let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, width, height, &changed);
            window.surface.attach(Some(&picture), 0, 0);
            window.surface.damage(0, 0, 4, 2);
            window.surface.commit();
            world.settle();
            world.run_until_idle();
            let seen = turn_picture(&world.picture(), output.inverse());
            let pixel = |x: i32, y: i32| seen.pixels[((y + 30) * seen.width + x + 40) as usize] & 0x00ff_ffff;
            assert_eq!((pixel(1, 1), pixel(5, 3)), (0x0012_3456, RED), "{buffer} on {output}: a part");
        }
    }
}

#[test]
fn viewport_source_applies_after_the_buffer_transform() {
    for buffer in OutputTransform::ALL {
        let mut world = TestWorld::rendered();
        let (client, window) = world.open("a", 10, 10);
        let size = (96, 64);
        let pixels = buffer.pixels(&quarters(&mut world, client, size), size);
        let (width, height) = if buffer.swaps_sides() { (size.1, size.0) } else { size };
        let transform =
            Transform::try_from(OutputTransform::ALL.iter().position(|turn| *turn == buffer).unwrap() as u32);
        let client = world.client(client);
        let picture = client.buffer_of_pixels(0, Format::Xrgb8888, width, height, &pixels);
        let viewport = client.globals().viewporter.get_viewport(&window.surface, &client.handle(), ());
        // The bottom left quarter.
        viewport.set_source(0.0, 32.0, 48.0, 32.0);
        viewport.set_destination(48, 32);
        window.surface.set_buffer_transform(transform.unwrap());
        window.surface.attach(Some(&picture), 0, 0);
        window.surface.damage_buffer(0, 0, width, height);
        window.surface.commit();
        world.settle();
        world.move_window("a", (40, 30));
        world.run_until_idle();
        let corners = [(42, 32), (85, 32), (42, 59), (85, 59)].map(|(x, y)| world.pixel(x, y));
        assert_eq!(corners, [BLUE; 4], "{buffer}");
    }
}

#[test]
fn random_changes_on_turned_panels_leave_nothing_stale() {
    for (turn, scale) in [("90", 1.0), ("flipped-90", 1.5), ("180", 2.0), ("flipped-270", 1.0)] {
        let turn: OutputTransform = turn.parse().unwrap();
        let stage = || DamageStage::shown(turned(Renderer::pixman().unwrap(), turn, scale));
        damage_is_complete(stage, scale, 3);
    }
}

#[test]
fn cursor_plane_matches_composition_for_each_transform() {
    for (number, turn) in OutputTransform::ALL.into_iter().enumerate() {
        // One scale for each transform.
        let scale = [1.0, 1.5, 2.0][number % 3];
        let picture = |cursor_plane| {
            let options = OutputOptions { cursor_plane, ..OutputOptions::default() };
            let renderer = Renderer::pixman().unwrap();
            let mut world = TestWorld::rendered_with_placement(renderer, placement(turn, scale), options);
            world.point(91.0, 43.0);
            world.run_until_idle();
            let output = world.state.outputs.states().next().unwrap();
            output.display().screenshot(true).unwrap()
        };
        let (on_plane, composed) = (picture(Some((64, 64))), picture(None));
        let background = composed.pixels[0];
        assert!(composed.pixels.iter().any(|pixel| *pixel != background), "it is seen");
        assert_eq!(differing(&on_plane, &composed, 1), 0, "{turn} at {scale}");
    }
}

#[test]
fn layout_follows_a_transform_change() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    let output = world.client(client).bind_output();
    let bar = world.client(client).layer(Layer::Top, Some(&output));
    bar.layer.set_anchor(Anchor::Top | Anchor::Left | Anchor::Right);
    bar.layer.set_size(0, 30);
    bar.layer.set_exclusive_zone(30);
    bar.surface.commit();
    world.settle();
    let size = world.client(client).ack_layer_configure(&bar).unwrap();
    assert_eq!(size, (OUTPUT.0 as u32, 30));
    world.client(client).draw(&bar.surface, 1, (OUTPUT.0, 30), BLUE);
    bar.surface.commit();
    let (owner, window) = world.open("a", 100, 100);
    window.toplevel.set_maximized();
    world.settle();
    assert_eq!(world.client(owner).ack_newest_configure(), Some((OUTPUT.0, OUTPUT.1 - 30)));
    world.client(owner).draw(&window.surface, 2, (OUTPUT.0, OUTPUT.1 - 30), RED);
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    world.client(client).data.output_heads.transforms.clear();

    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::set_transform(&mut world.state, id, "90".parse().unwrap());
    world.settle();
    assert_eq!(world.client(client).data.output_heads.transforms, [Transform::_90], "the output says so");
    assert_eq!(
        world.client(owner).data.preferred_transforms.last(),
        Some(&Transform::_90),
        "and the surfaces get its preferred transform"
    );
    assert_eq!(world.client(client).ack_layer_configure(&bar), Some((OUTPUT.1 as u32, 30)));
    assert_eq!(world.client(owner).ack_newest_configure(), Some((OUTPUT.1, OUTPUT.0 - 30)));
    world.client(client).draw(&bar.surface, 3, (OUTPUT.1, 30), BLUE);
    bar.surface.commit();
    world.client(owner).draw(&window.surface, 4, (OUTPUT.1, OUTPUT.0 - 30), RED);
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    // With an anticlockwise rotation, the top of the picture lies on the left of the panel.
    let panel = world.picture();
    let pixel = |x: i32, y: i32| panel.pixels[(y * panel.width + x) as usize] & 0x00ff_ffff;
    let edges = [pixel(0, 0), pixel(29, OUTPUT.1 - 1), pixel(30, 0), pixel(OUTPUT.0 - 1, OUTPUT.1 - 1)];
    assert_eq!(edges, [BLUE, BLUE, RED, RED]);
    // No pixel is left of the old transform, apart from the cursor above.
    let count = |colour: Xrgb8888Pixel| panel.pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff == colour).count();
    let (bar, window) = ((30 * OUTPUT.1) as usize, ((OUTPUT.0 - 30) * OUTPUT.1) as usize);
    let cursor = bar + window - count(BLUE) - count(RED);
    assert!(cursor < 24 * 24 && count(RED) + cursor >= window, "{cursor} pixels are of something else");
}

/// As when the sensor of a tablet turns its panel.
#[test]
fn touch_hits_the_visible_quarter_after_each_turn_at_run_time() {
    let mut world = turned(Renderer::pixman().unwrap(), OutputTransform::NORMAL, 1.0);
    let (client, window, _) = filled(&mut world);
    let id = world.state.outputs.states().next().unwrap().id();
    for turn in ["90", "180", "270", "normal", "270"] {
        hotplug::set_transform(&mut world.state, id, turn.parse().unwrap());
        world.settle();
        let size = redrawn(&mut world, client, &window);
        let (_, expected) = ON_PANEL.into_iter().find(|(name, _)| *name == turn).unwrap();
        let panel = world.picture();
        assert_eq!(CORNERS.map(|corner| at(&panel, corner)), expected, "{turn}");
        assert_eq!(CORNERS.map(|corner| touched(&mut world, client, size, corner)), expected, "{turn}: a touch");
    }
}

#[test]
fn touch_hits_the_visible_quarter_on_transformed_outputs() {
    let mut runner = TestRunner::new(Config { cases: 4, failure_persistence: None, ..Config::default() });
    let turns = prop::sample::select(OutputTransform::ALL.to_vec());
    runner
        .run(&(turns, 0.0..0.2_f64, 0.0..0.2_f64), |(turn, across, down)| {
            let mut world = turned(Renderer::pixman().unwrap(), turn, 1.0);
            let (client, _window, size) = filled(&mut world);
            // At each point of the panel, a touch hits the quarter of the pixel there.
            for corner in CORNERS {
                let share = ((corner.0 + across - 0.1).clamp(0.01, 0.99), (corner.1 + down - 0.1).clamp(0.01, 0.99));
                let seen = at(&world.picture(), share);
                prop_assert_eq!(touched(&mut world, client, size, share), seen, "{} at {:?}", turn, share);
            }
            Ok(())
        })
        .unwrap();
}
