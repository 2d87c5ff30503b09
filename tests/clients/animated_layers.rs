//! Layers as animations show them, scaled and fading: the same drawn bit by bit and as a whole, by both renderers.

use crate::fixture::World;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use smithay::backend::renderer::element::Id;
use smithay::utils::{Physical, Point, Rectangle, Size};
use upbeat::backend::{Buffer, BufferStorage, PixelBuffer};
use upbeat::output::scene::{Layer, Scene, Snapshot};
use upbeat::render::{Canvas, Renderer};
use upbeat::surface::content::SurfaceContent;

/// Buffers that take turns, as those of a display do.
const BUFFERS: usize = 3;
/// The size of the panel.
const PANEL: (i32, i32) = (480, 270);
/// Levels by which two renderers may differ: they round apart.
const LEVELS: i32 = 4;

/// How one layer is shown in one frame.
#[derive(Clone, Debug)]
struct Look {
    target: (i32, i32, i32, i32),
    opacity: f32,
    snapshot: bool,
}

fn look() -> impl Strategy<Value = Look> {
    let target = (-60..460, -60..260, 1..260, 1..200);
    let opacity = prop_oneof![2 => 0.0..1.0_f32, 1 => Just(1.0)];
    (target, opacity, any::<bool>()).prop_map(|(target, opacity, snapshot)| Look { target, opacity, snapshot })
}

/// Two windows of a client, and names for what is seen of them when they are gone.
struct Stage {
    contents: Vec<SurfaceContent>,
    names: Vec<(Id, Snapshot)>,
    _world: World,
}

impl Stage {
    fn new() -> Self {
        let mut world = World::new();
        let titles = ["a", "b"];
        for title in titles {
            world.open(title, 300, 200);
        }
        let contents = titles.map(|title| SurfaceContent::of_tree(world.window(title).surface()).remove(0).0);
        let names = titles.map(|_| (Id::new(), Snapshot::default()));
        Stage { contents: contents.into(), names: names.into(), _world: world }
    }

    fn scene(&self, looks: &[Look]) -> Scene {
        let layer = |((content, name), look): ((&SurfaceContent, &(Id, Snapshot)), &Look)| {
            let (x, y, width, height) = look.target;
            let target = Rectangle::<i32, Physical>::new(Point::from((x, y)), Size::from((width, height)));
            let opaque = (look.opacity >= 1.0).then(|| Rectangle::from_size(target.size));
            Layer {
                id: if look.snapshot { name.0.clone() } else { Id::from_wayland_resource(&content.surface) },
                surface: content.surface.clone(),
                buffer: Some(content.buffer.clone()),
                buffer_size: content.buffer_size,
                buffer_scale: content.buffer_scale,
                buffer_transform: content.buffer_transform,
                source: content.source,
                target,
                opaque: opaque.into_iter().collect(),
                damage: content.damage.clone(),
                origin: Point::default(),
                stretch: (1.0, 1.0),
                opacity: look.opacity,
                snapshot: look.snapshot.then(|| name.1.clone()),
                covered: false,
            }
        };
        let layers = self.contents.iter().zip(&self.names).zip(looks).map(layer);
        Scene { size: Size::from(PANEL), background: [0.2, 0.3, 0.4], layers: layers.collect(), cursor: None }
    }
}

/// A display's buffers, drawn into in turn.
struct Panel {
    renderer: Renderer,
    canvas: Canvas,
    buffers: Vec<PixelBuffer>,
    frames: usize,
}

impl Panel {
    fn new(renderer: Renderer) -> Self {
        let buffers = vec![PixelBuffer::new(PANEL.0, PANEL.1); BUFFERS];
        Panel { renderer, canvas: Canvas::new(Size::from(PANEL)), buffers, frames: 0 }
    }

    fn draw(&mut self, scene: &Scene) -> PixelBuffer {
        let slot = self.frames % BUFFERS;
        let age = if self.frames < BUFFERS { 0 } else { BUFFERS as u32 };
        self.frames += 1;
        let pixels = std::mem::take(&mut self.buffers[slot]);
        let mut buffer = Buffer { storage: BufferStorage::Memory(pixels), age, slot };
        self.renderer.draw(scene, true, &mut buffer, &mut self.canvas).unwrap();
        let BufferStorage::Memory(pixels) = buffer.storage;
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

fn gles() -> Option<Renderer> {
    match Renderer::gles() {
        Ok(gles) => Some(gles),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
            eprintln!("skipped: {error} (Debian packages libegl1 and libgl1-mesa-dri)");
            None
        }
    }
}

fn damage_is_complete(renderer: impl Fn() -> Renderer, cases: u32) {
    let stage = Stage::new();
    let frames = proptest::collection::vec([look(), look()], 1..8);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&frames, |frames| {
            let mut panel = Panel::new(renderer());
            let mut last = PixelBuffer::default();
            for looks in &frames {
                last = panel.draw(&stage.scene(looks));
            }
            let anew = Panel::new(renderer()).draw(&stage.scene(frames.last().unwrap()));
            // Where a part is drawn anew it may round another way.
            prop_assert!(largest_difference(&last, &anew) <= 1);
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_moves_and_fades_leaves_nothing_stale() {
    damage_is_complete(|| Renderer::pixman().unwrap(), 16);
}

#[test]
fn what_moves_and_fades_leaves_nothing_stale_by_gles() {
    if gles().is_some() {
        damage_is_complete(|| gles().unwrap(), 4);
    }
}

#[test]
fn gles_fades_as_pixman_does() {
    let Some(gles) = gles() else { return };
    let stage = Stage::new();
    let looks = [
        Look { target: (40, 40, 300, 200), opacity: 0.4, snapshot: true },
        Look { target: (200, 150, 150, 100), opacity: 0.7, snapshot: false },
    ];
    let pictures = [Renderer::pixman().unwrap(), gles].map(|renderer| Panel::new(renderer).draw(&stage.scene(&looks)));
    // Within the layers: at their edges the two filter differently.
    for (x, y) in [(60, 60), (220, 170), (300, 210), (330, 245), (450, 260)] {
        let [a, b] = [&pictures[0], &pictures[1]].map(|picture| picture.pixels[(y * PANEL.0 + x) as usize]);
        let (a, b) = (
            PixelBuffer { width: 1, height: 1, pixels: vec![a] },
            PixelBuffer { width: 1, height: 1, pixels: vec![b] },
        );
        assert!(largest_difference(&a, &b) <= LEVELS, "at ({x}, {y})");
    }
}
