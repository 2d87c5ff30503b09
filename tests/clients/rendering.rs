//! Rendering: pixman and OpenGL ES give the same picture, and so do partial (damage) and full redraws.

use crate::fixture::content::{GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{BUTTON_LEFT, ClientIndex, KEY_LEFT_SUPER, OUTPUT, TestToplevel, TestWorld, gles};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use upbeat::backend::PixelBuffer;
use upbeat::render::Renderer;
use wayland_client::protocol::wl_output::Transform;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_subsurface::WlSubsurface;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols::xdg::shell::client::xdg_toplevel::ResizeEdge;

/// Allowed difference per colour channel of two renderers, because they round differently and blend in another order.
pub const LEVELS: i32 = 4;
/// Share of pixels that may differ more where surfaces are scaled, because pixman blends the outermost row and column
/// of each surface with the outside, and OpenGL ES repeats the last pixel.
const UNLIKE_SCALED: f64 = 0.02;
/// The same share without scaling.
const UNLIKE: f64 = 0.0;

/// A picture in which no two parts look alike.
fn pattern(width: i32, height: i32, alpha: u32) -> Vec<u32> {
    let pixel = |x: i32, y: i32| {
        let premultiplied = |level: i32| (level as u32 & 0xff) * alpha / 255;
        // Patches of one colour each, so that filtering matters at their edges alone.
        let (column, row) = (x / 16, y / 16);
        alpha << 24
            | premultiplied(column * 40 + 20) << 16
            | premultiplied(row * 50 + 10) << 8
            | premultiplied(column * row * 7)
    };
    (0..width * height).map(|at| pixel(at % width, at / width)).collect()
}

pub struct TransformedScene {
    pub world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
}

impl TransformedScene {
    fn new(renderer: Renderer, scale: f64) -> Self {
        Self::shown(TestWorld::rendered_by(renderer, scale))
    }

    /// The same in a given session.
    pub fn shown(mut world: TestWorld) -> Self {
        let (client, window) = world.open("window", 10, 10);
        let scene = TransformedScene { world, client, window };
        let surface = scene.window.surface.clone();
        let mut scene = scene;
        scene.attach(&surface, Format::Xrgb8888, (400, 240), 255);
        surface.commit();
        scene.world.run_until_idle();
        scene
    }

    fn attach(&mut self, surface: &WlSurface, format: Format, (width, height): (i32, i32), alpha: u32) {
        let client = self.world.client(self.client);
        surface.attach(Some(&client.buffer_of_pixels(0, format, width, height, &pattern(width, height, alpha))), 0, 0);
        surface.damage_buffer(0, 0, width, height);
    }

    fn child(&mut self, at: (i32, i32), format: Format, size: (i32, i32), alpha: u32) -> WlSurface {
        let parent = self.window.surface.clone();
        let (surface, subsurface) = self.world.client(self.client).subsurface(&parent);
        subsurface.set_position(at.0, at.1);
        self.attach(&surface, format, size, alpha);
        surface
    }

    /// Adds surfaces with all buffer transformations that a client can ask for.
    pub fn fill(&mut self) {
        self.child((10, 10), Format::Argb8888, (96, 64), 128).commit();
        self.child((60, 40), Format::Xbgr8888, (64, 64), 255).commit();
        self.child((100, 60), Format::Abgr8888, (64, 64), 200).commit();

        let turned = self.child((180, 10), Format::Xrgb8888, (96, 48), 255);
        turned.set_buffer_transform(Transform::_90);
        turned.commit();

        let dense = self.child((250, 10), Format::Xrgb8888, (128, 96), 255);
        dense.set_buffer_scale(2);
        dense.commit();

        let cropped = self.child((180, 120), Format::Xrgb8888, (128, 128), 255);
        let client = self.world.client(self.client);
        let viewport = client.globals().viewporter.get_viewport(&cropped, &client.handle(), ());
        viewport.set_source(16.0, 32.0, 64.0, 64.0);
        viewport.set_destination(160, 96);
        cropped.commit();

        self.window.surface.commit();
        self.world.settle();
        self.world.run_until_idle();
    }

    /// The pointer drags a corner of the window, and the client does not follow yet.
    fn stretch(&mut self) {
        let rect = self.world.window("window").rect();
        self.world.point(f64::from(rect.loc.x + rect.size.w - 4), f64::from(rect.loc.y + rect.size.h - 4));
        self.world.button(BUTTON_LEFT, true);
        let serial = self.world.client(self.client).press_serial();
        let seat = self.world.client(self.client).globals().seat.clone();
        self.window.toplevel.resize(&seat, serial, ResizeEdge::BottomRight);
        self.world.settle();
        self.world.point(f64::from(rect.loc.x + rect.size.w + 76), f64::from(rect.loc.y + rect.size.h + 40));
        self.world.run_until_idle();
    }
}

/// Number of pixels in which a channel of two pictures differs by more than `most`.
pub fn differing(a: &PixelBuffer, b: &PixelBuffer, most: i32) -> usize {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let levels = |pixel: u32| [pixel >> 16 & 0xff, pixel >> 8 & 0xff, pixel & 0xff].map(|level| level as i32);
    let differs = |(a, b): &(&u32, &u32)| levels(**a).iter().zip(levels(**b)).any(|(a, b)| (a - b).abs() > most);
    a.pixels.iter().zip(&b.pixels).filter(differs).count()
}

/// Share of pixels in which a channel of two pictures differs by more than [`LEVELS`].
fn share_of_differing_pixels(a: &PixelBuffer, b: &PixelBuffer) -> f64 {
    let differing = differing(a, b, LEVELS);
    let content = a.pixels.iter().filter(|pixel| **pixel != a.pixels[a.pixels.len() - 1]).count();
    assert!(content > 50_000, "only {content} pixels are not background");
    differing as f64 / content as f64
}

#[track_caller]
fn same_by_both(scale: f64, allowed: f64, change: impl Fn(&mut TransformedScene)) {
    let Some(gles) = gles() else { return };
    let pictures = [Renderer::pixman().unwrap(), gles].map(|renderer| {
        let mut scene = TransformedScene::new(renderer, scale);
        scene.fill();
        change(&mut scene);
        scene.world.picture()
    });
    let unlike = share_of_differing_pixels(&pictures[0], &pictures[1]);
    if unlike > allowed {
        save_pictures(scale, &pictures);
    }
    assert!(unlike <= allowed, "{:.2} % of the pixels differ by more than {LEVELS} levels", unlike * 100.0);
}

/// Saves pictures for inspection in `target/tmp`.
fn save_pictures(scale: f64, pictures: &[PixelBuffer]) {
    for (picture, renderer) in pictures.iter().zip(["pixman", "gles"]) {
        let mut ppm = format!("P6 {} {} 255\n", picture.width, picture.height).into_bytes();
        ppm.extend(picture.pixels.iter().flat_map(|pixel| [(pixel >> 16) as u8, (pixel >> 8) as u8, *pixel as u8]));
        let path = format!("{}/unlike-{scale}-{renderer}.ppm", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, ppm).unwrap();
        eprintln!("see {path}");
    }
}

#[test]
fn gles_shows_what_pixman_shows() {
    same_by_both(1.0, UNLIKE, |_| {});
}

#[test]
fn gles_shows_what_pixman_shows_at_a_fractional_scale() {
    same_by_both(1.5, UNLIKE_SCALED, |_| {});
}

#[test]
fn gles_shows_what_pixman_shows_of_a_stretched_window() {
    same_by_both(1.0, UNLIKE_SCALED, TransformedScene::stretch);
}

/// A change of the content on screen.
#[derive(Clone, Debug)]
enum DamageStep {
    Move { child: usize, to: (i32, i32) },
    Raise { child: usize },
    Fill { child: usize, side: i32, alpha: u32 },
    Touch { child: usize, at: (i32, i32), colour: u32 },
    Hide { child: usize },
    Point { to: (i32, i32) },
    Drag { by: (i32, i32) },
}

const CHILDREN: usize = 3;
/// Smallest side of a child's buffer.
const SMALLEST: i32 = 20;

fn step() -> impl Strategy<Value = DamageStep> {
    let child = 0..CHILDREN;
    prop_oneof![
        (child.clone(), (-20..300, -20..200)).prop_map(|(child, to)| DamageStep::Move { child, to }),
        child.clone().prop_map(|child| DamageStep::Raise { child }),
        (child.clone(), SMALLEST..150, 60..=255u32).prop_map(|(child, side, alpha)| DamageStep::Fill {
            child,
            side,
            alpha
        }),
        (child.clone(), (0..SMALLEST - 5, 0..SMALLEST - 5), any::<u32>())
            .prop_map(|(child, at, colour)| DamageStep::Touch { child, at, colour: colour | 0xff00_0000 }),
        child.prop_map(|child| DamageStep::Hide { child }),
        (0..OUTPUT.0, 0..OUTPUT.1).prop_map(|to| DamageStep::Point { to }),
        (-100..100, -100..100).prop_map(|by| DamageStep::Drag { by }),
    ]
}

struct DamageChild {
    surface: WlSurface,
    subsurface: WlSubsurface,
    side: i32,
    pixels: Vec<u32>,
}

pub struct DamageStage {
    scene: TransformedScene,
    children: Vec<DamageChild>,
}

impl DamageStage {
    fn new(renderer: Renderer, scale: f64) -> Self {
        Self::shown(TestWorld::rendered_by(renderer, scale))
    }

    /// The same in a given session.
    pub fn shown(world: TestWorld) -> Self {
        let mut scene = TransformedScene::shown(world);
        let parent = scene.window.surface.clone();
        let children = (0..CHILDREN)
            .map(|_| {
                let (surface, subsurface) = scene.world.client(scene.client).subsurface(&parent);
                DamageChild { surface, subsurface, side: 0, pixels: Vec::new() }
            })
            .collect();
        DamageStage { scene, children }
    }

    fn apply(&mut self, step: &DamageStep) {
        let window = self.scene.window.surface.clone();
        match *step {
            DamageStep::Move { child, to } => self.children[child].subsurface.set_position(to.0, to.1),
            DamageStep::Raise { child } => {
                let other = self.children[(child + 1) % CHILDREN].surface.clone();
                self.children[child].subsurface.place_above(&other);
            }
            DamageStep::Fill { child, side, alpha } => {
                self.children[child].side = side;
                self.children[child].pixels = pattern(side, side, alpha);
                self.attach(child, (0, 0, side, side));
            }
            DamageStep::Touch { child, at, colour } => {
                let side = self.children[child].side;
                if side > 0 {
                    for offset in 0..25 {
                        let (x, y) = (at.0 + offset % 5, at.1 + offset / 5);
                        self.children[child].pixels[(y * side + x) as usize] = colour;
                    }
                    self.attach(child, (at.0, at.1, 5, 5));
                }
            }
            DamageStep::Hide { child } => {
                self.children[child].side = 0;
                self.children[child].surface.attach(None, 0, 0);
                self.children[child].surface.commit();
            }
            DamageStep::Point { to } => self.scene.world.point(f64::from(to.0), f64::from(to.1)),
            DamageStep::Drag { by } => self.drag(by),
        }
        window.commit();
        self.scene.world.settle();
        self.scene.world.run_until_idle();
    }

    fn attach(&mut self, child: usize, (x, y, width, height): (i32, i32, i32, i32)) {
        let DamageChild { surface, side, pixels, .. } = &self.children[child];
        let client = self.scene.world.client(self.scene.client);
        surface.attach(Some(&client.buffer_of_pixels(0, Format::Argb8888, *side, *side, pixels)), 0, 0);
        surface.damage_buffer(x, y, width, height);
        surface.commit();
    }

    fn drag(&mut self, by: (i32, i32)) {
        let world = &mut self.scene.world;
        let rect = world.window("window").rect();
        let (x, y) = (f64::from(rect.loc.x + 390), f64::from(rect.loc.y + 230));
        world.key(KEY_LEFT_SUPER, true);
        world.point(x, y);
        world.button(BUTTON_LEFT, true);
        world.point((x + f64::from(by.0)).clamp(0.0, 1200.0), (y + f64::from(by.1)).clamp(0.0, 700.0));
        world.run_until_idle();
        world.button(BUTTON_LEFT, false);
        world.key(KEY_LEFT_SUPER, false);
    }
}

/// Checks that random changes, each drawn with its damage only, end in the same picture as a full redraw.
pub fn damage_is_complete(stage: impl Fn() -> DamageStage, scale: f64, cases: u32) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let run = |steps: Vec<DamageStep>| {
        let mut stage = stage();
        for (number, step) in steps.iter().enumerate() {
            stage.apply(step);
            if number % 3 == 2 || number + 1 == steps.len() {
                let (screen, anew) = stage.scene.world.screen_and_full_redraw(scale);
                let differing = screen.pixels.iter().zip(&anew.pixels).filter(|(a, b)| a != b).count();
                prop_assert_eq!(differing, 0, "after step {} ({:?})", number, step);
            }
        }
        Ok(())
    };
    runner.run(&prop::collection::vec(step(), 3..9), run).unwrap();
}

/// Checks that random changes give the same pixels in two sessions.
pub fn stages_stay_equal(stages: impl Fn() -> [DamageStage; 2], cases: u32) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let run = |steps: Vec<DamageStep>| {
        let mut stages = stages();
        for (number, step) in steps.iter().enumerate() {
            let [a, b] = stages.each_mut().map(|stage| {
                stage.apply(step);
                stage.scene.world.picture()
            });
            let differing = a.pixels.iter().zip(&b.pixels).filter(|(a, b)| a != b).count();
            prop_assert_eq!(differing, 0, "after step {} ({:?})", number, step);
        }
        Ok(())
    };
    runner.run(&prop::collection::vec(step(), 3..9), run).unwrap();
}

#[test]
fn damage_with_buffer_age_leaves_nothing_stale() {
    damage_is_complete(|| DamageStage::new(Renderer::pixman().unwrap(), 1.0), 1.0, 8);
}

#[test]
fn damage_with_buffer_age_leaves_nothing_stale_at_a_fractional_scale() {
    damage_is_complete(|| DamageStage::new(Renderer::pixman().unwrap(), 1.5), 1.5, 4);
}

#[test]
fn the_cursor_is_drawn_where_no_plane_can_show_it() {
    let mut world = TestWorld::rendered();
    world.point(200.0, 200.0);
    world.run_until_idle();
    let background = world.pixel(5, 5);
    let seen = |world: &TestWorld, x: i32, y: i32| {
        (0..16).any(|offset| (0..16).any(|column| world.pixel(x + column, y + offset) != background))
    };
    assert!(seen(&world, 200, 200));
    world.point(300.0, 100.0);
    world.run_until_idle();
    assert!(seen(&world, 300, 100) && !seen(&world, 200, 200), "it moved");
}

#[test]
fn buffer_that_shrinks_after_its_commit_costs_no_frame() {
    let mut world = TestWorld::rendered();
    let (good, window) = world.open("good", 200, 100);
    let (bad, broken) = world.open("bad", 100, 50);
    let fd = rustix::fs::memfd_create("shrinks", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&fd, 100 * 50 * 4).unwrap();
    let buffer = {
        use std::os::fd::AsFd;
        let client = world.client(bad);
        let pool = client.globals().shm.create_pool(fd.as_fd(), 100 * 50 * 4, &client.handle(), ());
        pool.create_buffer(0, 100, 50, 400, Format::Xrgb8888, &client.handle(), ())
    };
    broken.surface.attach(Some(&buffer), 0, 0);
    broken.surface.damage_buffer(0, 0, 100, 50);
    broken.surface.commit();
    rustix::fs::ftruncate(&fd, 0).unwrap();
    world.settle();
    world.run_until_idle();
    world.client(good).draw(&window.surface, 7, (200, 100), RED);
    window.surface.commit();
    world.run_until("light", |world| world.client(good).light(7).is_some());
}

#[test]
fn a_drag_icon_hangs_at_the_pointer_and_moves_by_its_offset() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open("source", 300, 200);
    world.client(client).draw(&window.surface, 1, (300, 200), RED);
    window.surface.commit();
    world.run_until_idle();
    let origin = world.window("source").origin();
    let (x, y) = (origin.x + 100, origin.y + 100);
    world.point(f64::from(x), f64::from(y));
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let icon = world.client(client).surface();
    {
        let client = world.client(client);
        let globals = client.globals();
        let source = globals.data_devices.create_data_source(&client.handle(), ());
        globals.data_device.start_drag(Some(&source), &window.surface, Some(&icon), serial);
    }
    world.client(client).draw(&icon, 2, (60, 60), GREEN);
    icon.commit();
    world.settle();
    world.run_until_idle();
    let at = |world: &TestWorld, x: i32, y: i32| -> Xrgb8888Pixel { world.pixel(x, y) };
    assert_eq!((at(&world, x + 50, y + 5), at(&world, x - 20, y + 5)), (GREEN, RED));
    icon.offset(-30, 0);
    icon.commit();
    world.settle();
    world.run_until_idle();
    assert_eq!((at(&world, x + 50, y + 5), at(&world, x - 20, y + 5)), (RED, GREEN));
}
