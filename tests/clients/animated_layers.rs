//! Scaled and fading layers: both renderers draw the same picture from damage as from a full redraw.

use std::sync::Arc;

use crate::fixture::content::{BLUE, RED};
use crate::fixture::{TestWorld, gles};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use smithay::backend::renderer::element::Id;
use smithay::utils::{Physical, Point, Rectangle, Size};
use upbeat::backend::{Buffer, BufferStorage, PixelBuffer};
use upbeat::output_transform::OutputTransform;
use upbeat::render::{Canvas, RenderJob, Renderer};
use upbeat::scene::{Effect, EffectKind, Layer, LayerShape, RoundedRect, Scene, Snapshot};
use upbeat::surface::content::SurfaceContent;

/// Number of buffers, drawn into in turn, so that each buffer's age is this many frames.
const BUFFERS: usize = 3;
const PANEL: (i32, i32) = (480, 270);
/// The two renderers may differ by this many levels of a colour channel, because they round differently.
const LEVELS: i32 = 4;

#[derive(Clone, Debug)]
struct AnimatedLayer {
    target: (i32, i32, i32, i32),
    opacity: f32,
    snapshot: bool,
    radius: i32,
    shadow: bool,
    blur: bool,
}

impl AnimatedLayer {
    fn plain(target: (i32, i32, i32, i32), opacity: f32) -> Self {
        AnimatedLayer { target, opacity, snapshot: false, radius: 0, shadow: false, blur: false }
    }

    fn window(&self) -> RoundedRect {
        let (x, y, width, height) = self.target;
        let rect = Rectangle::new((x, y).into(), (width, height).into());
        RoundedRect { rect, radius: self.radius.min(width / 2).min(height / 2) }
    }
}

fn look() -> impl Strategy<Value = AnimatedLayer> {
    let target = (-60..460, -60..260, 1..260, 1..200);
    let opacity = prop_oneof![2 => 0.0..1.0_f32, 1 => Just(1.0)];
    (target, opacity, any::<[bool; 3]>(), prop_oneof![Just(0), 1..40]).prop_map(
        |(target, opacity, [snapshot, shadow, blur], radius)| AnimatedLayer {
            target,
            opacity,
            snapshot,
            radius,
            shadow,
            blur,
        },
    )
}

/// Two windows of a client, with element ids for the snapshots of their surfaces.
struct AnimatedWindows {
    contents: Vec<SurfaceContent>,
    names: Vec<(Id, Snapshot)>,
    /// For each window: the element ids of its shadow and of its background blur.
    effects: Vec<(Id, Id)>,
    _world: TestWorld,
}

impl AnimatedWindows {
    fn new() -> Self {
        let mut world = TestWorld::new();
        let titles = ["a", "b"];
        for (title, colour) in titles.into_iter().zip([RED, BLUE]) {
            let (client, window) = world.open(title, 300, 200);
            world.client(client).draw(&window.surface, 1, (300, 200), colour);
            window.surface.commit();
            world.settle();
        }
        let contents = titles.map(|title| SurfaceContent::of_tree(world.window(title).surface()).remove(0).0);
        let names = titles.map(|_| (Id::new(), Snapshot::default()));
        let effects = titles.map(|_| (Id::new(), Id::new()));
        AnimatedWindows { contents: contents.into(), names: names.into(), effects: effects.into(), _world: world }
    }

    fn scene(&self, looks: &[AnimatedLayer]) -> Scene {
        let layer = |((content, name), look): ((&SurfaceContent, &(Id, Snapshot)), &AnimatedLayer)| {
            let (x, y, width, height) = look.target;
            let target = Rectangle::<i32, Physical>::new(Point::from((x, y)), Size::from((width, height)));
            let window = look.window();
            let opaque = (look.opacity >= 1.0 && window.radius == 0).then(|| Rectangle::from_size(target.size));
            let shape = LayerShape {
                id: if look.snapshot { name.0.clone() } else { Id::from_wayland_resource(&content.surface) },
                surface: content.surface.clone(),
                buffer_size: content.buffer_size,
                buffer_scale: content.buffer_scale,
                buffer_transform: content.buffer_transform,
                source: content.source,
                whole: content.source,
                crop: None,
                size: content.size,
                solid: content.opaque.to_vec(),
                target,
                opaque: opaque.into_iter().collect(),
                origin: Point::default(),
                stretch: (1.0, 1.0),
                opacity: look.opacity,
                own_opacity: 1.0,
                blurred: None,
                clip: (window.radius > 0).then_some(window),
                snapshot: look.snapshot.then(|| name.1.clone()),
                kept_out: false,
            };
            let (buffer, damage) = (Some(content.buffer.clone()), content.damage.clone());
            Layer { shape: Arc::new(shape), buffer, damage, plane: None }
        };
        let layers = self.contents.iter().zip(&self.names).zip(looks).map(layer);
        let layers = layers.collect();
        let effects = looks.iter().zip(&self.effects).enumerate().flat_map(|(index, (look, names))| {
            let (window, depth, opacity) = (look.window(), index + 1, look.opacity);
            let effect = move |id: &Id, kind| Effect { id: id.clone(), depth, opacity, kind };
            let blur = look.blur.then(|| effect(&names.1, EffectKind::Blur { area: window, passes: 3 }));
            let shadow = look.shadow.then(|| effect(&names.0, EffectKind::Shadow { window, reach: 20 }));
            blur.into_iter().chain(shadow)
        });
        let effects = effects.collect();
        Scene {
            size: Size::from(PANEL),
            turn: OutputTransform::NORMAL,
            background: [0.2, 0.3, 0.4],
            layers,
            effects,
            cursor: None,
            picks_region: false,
            locked: false,
        }
    }
}

struct RotatingBuffers {
    renderer: Renderer,
    canvas: Canvas,
    buffers: Vec<PixelBuffer>,
    frames: usize,
}

impl RotatingBuffers {
    fn new(renderer: Renderer) -> Self {
        let buffers = vec![PixelBuffer::new(PANEL.0, PANEL.1); BUFFERS];
        RotatingBuffers {
            renderer,
            canvas: Canvas::new(Size::from(PANEL), OutputTransform::NORMAL),
            buffers,
            frames: 0,
        }
    }

    fn draw(&mut self, scene: Scene) -> PixelBuffer {
        let slot = self.frames % BUFFERS;
        let age = if self.frames < BUFFERS { 0 } else { BUFFERS as u32 };
        self.frames += 1;
        let pixels = std::mem::take(&mut self.buffers[slot]);
        let buffer = Buffer { storage: BufferStorage::Memory(pixels), age, slot };
        let job =
            RenderJob { scene: scene.into(), with_cursor: true, buffer, canvas: self.canvas.clone(), may_keep: false };
        let finished = self.renderer.draw(job).unwrap();
        finished.result.unwrap();
        let BufferStorage::Memory(pixels) = finished.job.buffer.storage else { panic!("not in memory") };
        self.buffers[slot] = pixels.clone();
        pixels
    }
}

fn largest_difference(a: &PixelBuffer, b: &PixelBuffer) -> i32 {
    let levels = |pixel: u32| [pixel >> 16 & 0xff, pixel >> 8 & 0xff, pixel & 0xff].map(|level| level as i32);
    let difference =
        |(a, b): (&u32, &u32)| levels(*a).iter().zip(levels(*b)).map(|(a, b)| (a - b).abs()).max().unwrap_or(0);
    a.pixels.iter().zip(&b.pixels).map(difference).max().unwrap_or(0)
}

fn damage_is_complete(renderer: impl Fn() -> Renderer, cases: u32) {
    let stage = AnimatedWindows::new();
    let frames = proptest::collection::vec([look(), look()], 1..8);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&frames, |frames| {
            let mut panel = RotatingBuffers::new(renderer());
            let mut last = PixelBuffer::default();
            for looks in &frames {
                last = panel.draw(stage.scene(looks));
            }
            let anew = RotatingBuffers::new(renderer()).draw(stage.scene(frames.last().unwrap()));
            // A part that is drawn again may be rounded differently.
            prop_assert!(largest_difference(&last, &anew) <= 1);
            Ok(())
        })
        .unwrap();
}

#[test]
fn animated_layers_leave_no_stale_pixels() {
    damage_is_complete(|| Renderer::pixman().unwrap(), 16);
}

#[test]
fn animated_layers_leave_no_stale_pixels_with_gles() {
    if gles().is_some() {
        damage_is_complete(|| gles().unwrap(), 4);
    }
}

#[test]
fn gles_and_pixman_fade_alike() {
    let Some(gles) = gles() else { return };
    let stage = AnimatedWindows::new();
    let looks = [
        AnimatedLayer { snapshot: true, ..AnimatedLayer::plain((40, 40, 300, 200), 0.4) },
        AnimatedLayer::plain((200, 150, 150, 100), 0.7),
    ];
    let pictures =
        [Renderer::pixman().unwrap(), gles].map(|renderer| RotatingBuffers::new(renderer).draw(stage.scene(&looks)));
    // Compare inside the layers only: the renderers filter the edges differently.
    for (x, y) in [(60, 60), (220, 170), (300, 210), (330, 245), (450, 260)] {
        let [a, b] = [&pictures[0], &pictures[1]].map(|picture| picture.pixels[(y * PANEL.0 + x) as usize]);
        let (a, b) = (
            PixelBuffer { width: 1, height: 1, pixels: vec![a] },
            PixelBuffer { width: 1, height: 1, pixels: vec![b] },
        );
        assert!(largest_difference(&a, &b) <= LEVELS, "at ({x}, {y})");
    }
}

#[test]
fn shadows_and_corners_look_the_same_with_both_renderers() {
    let Some(gles) = gles() else { return };
    let stage = AnimatedWindows::new();
    let looks = [
        AnimatedLayer { radius: 24, shadow: true, ..AnimatedLayer::plain((40, 40, 300, 200), 1.0) },
        AnimatedLayer { radius: 10, shadow: true, ..AnimatedLayer::plain((250, 100, 150, 100), 0.6) },
    ];
    let pictures =
        [Renderer::pixman().unwrap(), gles].map(|renderer| RotatingBuffers::new(renderer).draw(stage.scene(&looks)));
    let differing = pictures[0].pixels.iter().zip(&pictures[1].pixels).filter(|(a, b)| {
        let one = |pixel: u32| PixelBuffer { width: 1, height: 1, pixels: vec![pixel] };
        largest_difference(&one(**a), &one(**b)) > LEVELS
    });
    // The renderers filter the outermost rows of a scaled layer differently.
    let allowed = 2 * (150 + 100);
    let differing = differing.count();
    if differing > allowed {
        save_pictures(&pictures);
    }
    assert!(differing <= allowed, "{differing} pixels differ");
    let pixel = |x: i32, y: i32| pictures[0].pixels[(y * PANEL.0 + x) as usize] & 0x00ff_ffff;
    assert_eq!(pixel(190, 140), RED);
    assert_ne!(pixel(41, 41), RED, "the corner is cut");
    let (near, far) = (pixel(190, 38) & 0xff, pixel(190, 22) & 0xff);
    assert!(near < far, "the shadow fades: {near}, {far}");
}

/// Saves the pictures in `target/tmp` for inspection.
fn save_pictures(pictures: &[PixelBuffer]) {
    for (picture, renderer) in pictures.iter().zip(["pixman", "gles"]) {
        let mut ppm = format!("P6 {} {} 255\n", picture.width, picture.height).into_bytes();
        ppm.extend(picture.pixels.iter().flat_map(|pixel| [(pixel >> 16) as u8, (pixel >> 8) as u8, *pixel as u8]));
        let path = format!("{}/effects-{renderer}.ppm", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, ppm).unwrap();
        eprintln!("see {path}");
    }
}

#[test]
fn background_is_blurred_behind_a_translucent_window_only() {
    let Some(gles) = gles() else { return };
    let stage = AnimatedWindows::new();
    // A blue edge in the middle, behind a clear pane.
    let looks = [
        AnimatedLayer { blur: true, ..AnimatedLayer::plain((100, 60, 200, 150), 0.9) },
        AnimatedLayer::plain((200, 0, 200, 270), 1.0),
    ];
    let mut scene = stage.scene(&looks);
    Arc::make_mut(&mut scene.layers[0].shape).opacity = 0.05;
    scene.effects[0].opacity = 1.0;
    let picture = RotatingBuffers::new(gles).draw(scene);
    let blue = |x: i32, y: i32| (picture.pixels[(y * PANEL.0 + x) as usize] & 0xff) as i32;
    let step = |y: i32| (150..250).map(|x| (blue(x + 1, y) - blue(x, y)).abs()).max().unwrap();
    assert!(step(30) > 100, "sharp above the pane: {}", step(30));
    assert!(step(130) < 40, "soft behind it: {}", step(130));
    assert!((150..250).all(|x| blue(x + 1, 130) >= blue(x, 130) - 3), "and it only rises");
}
