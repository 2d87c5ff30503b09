//! `ext_background_effect`: the background behind a region of a surface is blurred, if the renderer can blur.

use upbeat::render::Renderer;
use upbeat::shell::effects::WindowEffects;
use wayland_client::protocol::wl_region::WlRegion;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum};
use wayland_protocols::ext::background_effect::v1::client::{
    ext_background_effect_manager_v1::{self, Capability, ExtBackgroundEffectManagerV1},
    ext_background_effect_surface_v1::ExtBackgroundEffectSurfaceV1,
};
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

use crate::fixture::client::TestClientState;
use crate::fixture::content::RED;
use crate::fixture::dispatch::silent;
use crate::fixture::layers::Layer;
use crate::fixture::{ClientEvent, ClientIndex, TestWorld, gles};

silent!(ExtBackgroundEffectSurfaceV1);

impl Dispatch<ExtBackgroundEffectManagerV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ExtBackgroundEffectManagerV1,
        event: ext_background_effect_manager_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let ext_background_effect_manager_v1::Event::Capabilities { flags: WEnum::Value(flags) } = event {
            data.events.push(ClientEvent::InWords(format!("blurs: {}", flags.contains(Capability::Blur))));
        }
    }
}

fn words_since_last_call(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

fn set_blur(world: &mut TestWorld, passes: u8) {
    world.state.shell.set_effects(WindowEffects { blur: passes, ..WindowEffects::default() });
}

/// Pixels of black and white stripes, four pixels wide each.
fn stripes_of(width: i32, height: i32) -> Vec<u32> {
    (0..width * height).map(|at| if at % width / 4 % 2 == 0 { 0 } else { 0x00ff_ffff }).collect()
}

fn striped(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface, (width, height): (i32, i32)) {
    let pixels = stripes_of(width, height);
    let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, width, height, &pixels);
    surface.attach(Some(&picture), 0, 0);
    surface.damage_buffer(0, 0, width, height);
    surface.commit();
}

/// Draws a translucent surface.
fn glass(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface, (width, height): (i32, i32)) {
    let pixels = vec![0x1010_1010; (width * height) as usize];
    let picture = world.client(client).buffer_of_pixels(0, Format::Argb8888, width, height, &pixels);
    surface.attach(Some(&picture), 0, 0);
    surface.damage_buffer(0, 0, width, height);
}

fn region(world: &mut TestWorld, client: ClientIndex, rects: &[(i32, i32, i32, i32)]) -> WlRegion {
    let client = world.client(client);
    let region = client.globals().compositor.create_region(&client.handle(), ());
    rects.iter().for_each(|(x, y, width, height)| region.add(*x, *y, *width, *height));
    region
}

/// The difference between the darkest and the brightest green level in these columns of a row.
fn contrast(world: &TestWorld, row: i32, columns: std::ops::Range<i32>) -> u32 {
    let level = |x| world.pixel(x, row) >> 8 & 0xff;
    let levels: Vec<u32> = columns.map(level).collect();
    levels.iter().max().unwrap() - levels.iter().min().unwrap()
}

/// Blurred stripes keep less than a quarter of their contrast; sharp stripes keep most of it.
const BLURRED: u32 = 60;
const SHARP: u32 = 200;

/// A session with stripes at the top left, below a translucent bar. The bar's client has its left half blurred.
fn blurred() -> Option<(TestWorld, ClientIndex, WlSurface, ExtBackgroundEffectSurfaceV1)> {
    let mut world = TestWorld::rendered_by(gles()?, 1.0);
    set_blur(&mut world, 3);
    let (stripes, window) = world.open("stripes", 10, 10);
    striped(&mut world, stripes, &window.surface, (480, 300));
    world.move_window("stripes", (0, 0));
    let client = world.connect();
    let bar = world.client(client).layer(Layer::Overlay, None);
    bar.layer.set_anchor(Anchor::Top | Anchor::Left);
    bar.layer.set_size(400, 100);
    bar.surface.commit();
    world.settle();
    world.client(client).ack_layer_configure(&bar);
    let manager = world.client(client).bind::<ExtBackgroundEffectManagerV1>();
    assert_eq!(words_since_last_call(&mut world, client), ["blurs: true"]);
    let handle = world.client(client).handle();
    let effect = manager.get_background_effect(&bar.surface, &handle, ());
    let left = region(&mut world, client, &[(0, 0, 200, 100)]);
    effect.set_blur_region(Some(&left));
    left.destroy();
    glass(&mut world, client, &bar.surface, (400, 100));
    bar.surface.commit();
    world.settle();
    world.run_until_idle();
    Some((world, client, bar.surface, effect))
}

#[test]
fn background_is_blurred_inside_the_region_only() {
    let Some((mut world, client, surface, effect)) = blurred() else { return };
    assert!(contrast(&world, 50, 40..160) < BLURRED, "{}", contrast(&world, 50, 40..160));
    assert!(contrast(&world, 50, 240..360) > SHARP, "{}", contrast(&world, 50, 240..360));
    assert!(contrast(&world, 150, 40..160) > SHARP, "below the bar");
    // A new region takes effect with the next commit.
    let right = region(&mut world, client, &[(200, 0, 1_000, 1_000)]);
    effect.set_blur_region(Some(&right));
    world.settle();
    world.run_until_idle();
    assert!(contrast(&world, 50, 40..160) < BLURRED);
    surface.commit();
    world.settle();
    world.run_until_idle();
    assert!(contrast(&world, 50, 40..160) > SHARP && contrast(&world, 50, 240..360) < BLURRED);
    assert!(contrast(&world, 150, 240..360) > SHARP, "the region is clipped to the surface");
    // A destroyed effect ends with the next commit, too.
    effect.destroy();
    surface.commit();
    world.settle();
    world.run_until_idle();
    assert!(contrast(&world, 50, 240..360) > SHARP);
}

#[test]
fn blur_follows_the_configuration() {
    let Some((mut world, client, surface, _effect)) = blurred() else { return };
    set_blur(&mut world, 0);
    assert_eq!(words_since_last_call(&mut world, client), ["blurs: false"]);
    surface.commit();
    world.settle();
    upbeat::output::schedule_repaint_all(&mut world.state);
    world.run_until_idle();
    assert!(contrast(&world, 50, 40..160) > SHARP);
    set_blur(&mut world, 3);
    assert_eq!(words_since_last_call(&mut world, client), ["blurs: true"]);
    upbeat::output::schedule_repaint_all(&mut world.state);
    world.run_until_idle();
    assert!(contrast(&world, 50, 40..160) < BLURRED);
}

/// The screen, drawn from damage, equals a full redraw.
#[track_caller]
fn assert_equals_full_redraw(world: &mut TestWorld) {
    world.settle();
    world.run_until_idle();
    let (shown, anew) = world.screen_and_full_redraw(1.0);
    let differing = shown.pixels.iter().zip(&anew.pixels).filter(|(shown, anew)| shown != anew).count();
    assert_eq!(differing, 0, "pixels differ from a full redraw");
}

#[test]
fn damage_behind_the_region_is_blurred_again() {
    let Some(gles) = gles() else { return };
    let mut world = TestWorld::rendered_by(gles, 1.0);
    set_blur(&mut world, 3);
    let (stripes, below) = world.open("stripes", 10, 10);
    striped(&mut world, stripes, &below.surface, (480, 300));
    world.move_window("stripes", (0, 0));
    let (client, above) = world.open("glass", 10, 10);
    glass(&mut world, client, &above.surface, (400, 100));
    let manager = world.client(client).bind::<ExtBackgroundEffectManagerV1>();
    let handle = world.client(client).handle();
    let effect = manager.get_background_effect(&above.surface, &handle, ());
    let left = region(&mut world, client, &[(0, 0, 200, 100)]);
    effect.set_blur_region(Some(&left));
    above.surface.commit();
    world.move_window("glass", (20, 20));
    assert_equals_full_redraw(&mut world);
    let seen = |world: &TestWorld| (contrast(world, 70, 60..180), contrast(world, 70, 260..380));
    assert!(seen(&world).0 < BLURRED && seen(&world).1 > SHARP, "only inside the region: {:?}", seen(&world));
    // Change parts of the background: across the edge of the region and inside it.
    let mut pixels = stripes_of(480, 300);
    for (x, y) in [(200, 60), (10, 10), (100, 90)] {
        for row in y..y + 30 {
            pixels[(row * 480 + x) as usize..][..40].fill(RED);
        }
        let picture = world.client(stripes).buffer_of_pixels(0, Format::Xrgb8888, 480, 300, &pixels);
        below.surface.attach(Some(&picture), 0, 0);
        below.surface.damage_buffer(x, y, 40, 30);
        below.surface.commit();
        assert_equals_full_redraw(&mut world);
    }
    // Change the region, then destroy the effect.
    let right = region(&mut world, client, &[(150, 30, 100, 40)]);
    effect.set_blur_region(Some(&right));
    above.surface.commit();
    assert_equals_full_redraw(&mut world);
    effect.destroy();
    above.surface.commit();
    assert_equals_full_redraw(&mut world);
}

#[test]
fn subsurface_background_stays_blurred_after_another_window_is_raised() {
    let Some(gles) = gles() else { return };
    let mut world = TestWorld::rendered_by(gles, 1.0);
    set_blur(&mut world, 3);
    let (client, window) = world.open("stripes", 10, 10);
    world.move_window("stripes", (0, 0));
    let (child, place) = world.client(client).subsurface(&window.surface);
    place.set_position(40, 20);
    glass(&mut world, client, &child, (200, 100));
    let manager = world.client(client).bind::<ExtBackgroundEffectManagerV1>();
    let handle = world.client(client).handle();
    let effect = manager.get_background_effect(&child, &handle, ());
    let whole = region(&mut world, client, &[(0, 0, 200, 100)]);
    effect.set_blur_region(Some(&whole));
    child.commit();
    striped(&mut world, client, &window.surface, (480, 300));
    world.settle();
    world.run_until_idle();
    let seen = |world: &TestWorld| (contrast(world, 60, 80..200), contrast(world, 60, 260..400));
    assert!(seen(&world).0 < BLURRED && seen(&world).1 > SHARP, "{:?}", seen(&world));
    // Another window is opened and raised beside it, so the cached elements of this window are used again.
    world.open_filled("other", (100, 100), RED);
    world.move_window("other", (600, 300));
    world.run_until_idle();
    assert!(seen(&world).0 < BLURRED && seen(&world).1 > SHARP, "{:?}", seen(&world));
    let (shown, anew) = world.screen_and_full_redraw(1.0);
    assert_eq!(shown.pixels, anew.pixels);
}

#[test]
fn pixman_announces_no_blur() {
    let mut world = TestWorld::rendered_by(Renderer::pixman().unwrap(), 1.0);
    set_blur(&mut world, 3);
    let client = world.connect();
    let _manager = world.client(client).bind::<ExtBackgroundEffectManagerV1>();
    assert_eq!(words_since_last_call(&mut world, client), ["blurs: false"]);
}

#[test]
fn second_effect_or_destroyed_surface_is_an_error() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 100, 100);
    let handle = world.client(client).handle();
    let manager = world.client(client).bind::<ExtBackgroundEffectManagerV1>();
    let _both = [(), ()].map(|()| manager.get_background_effect(&window.surface, &handle, ()));
    world.settle();
    assert_eq!(world.client(client).error, Some(("ext_background_effect_manager_v1".to_owned(), 0)));

    let client = world.connect();
    let handle = world.client(client).handle();
    let surface = world.client(client).surface();
    let effect =
        world.client(client).bind::<ExtBackgroundEffectManagerV1>().get_background_effect(&surface, &handle, ());
    surface.destroy();
    world.settle();
    assert!(!world.client(client).is_disconnected(), "the effect is inert");
    effect.set_blur_region(None);
    world.settle();
    assert_eq!(world.client(client).error, Some(("ext_background_effect_surface_v1".to_owned(), 0)));
}
