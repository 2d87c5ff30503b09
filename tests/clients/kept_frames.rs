//! Frames that OpenGL ES draws off screen stay on the GPU until they are read.

use upbeat::backend::{PixelBuffer, PixelRect, ScreenSnapshot};
use upbeat::render::Renderer;

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{ClientIndex, OUTPUT, TestToplevel, TestWorld, gles};

const WINDOW: (i32, i32) = (300, 200);
const PLACE: (i32, i32) = (100, 80);

struct KeptFrames {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    drawn: u32,
}

impl KeptFrames {
    /// A session with a red window; `None` without OpenGL ES.
    fn new() -> Option<Self> {
        let mut world = TestWorld::rendered_by(gles()?, 1.0);
        let (client, window) = world.open_filled("a", WINDOW, RED);
        world.move_window("a", PLACE);
        world.run_until_idle();
        Some(KeptFrames { world, client, window, drawn: 1 })
    }

    /// Fills the window with a colour, and waits until it is shown.
    fn show(&mut self, colour: Xrgb8888Pixel) {
        self.drawn += 1;
        self.world.client(self.client).draw(&self.window.surface, self.drawn, WINDOW, colour);
        self.window.surface.commit();
        self.world.settle();
        self.world.run_until_idle();
    }

    /// Pixels that were copied from the GPU so far.
    fn copied(&self) -> u64 {
        self.world.state.outputs.renderer().map_or(0, Renderer::pixels_read_back)
    }

    fn snapshot(&self) -> ScreenSnapshot {
        self.world.state.outputs.states().next().unwrap().display().snapshot(false).unwrap()
    }

    fn is_window(&self, picture: &PixelBuffer, colour: Xrgb8888Pixel) {
        let at = |x: i32, y: i32| picture.pixels[(y * picture.width + x) as usize] & 0x00ff_ffff;
        assert_eq!((picture.width, picture.height), OUTPUT);
        let (right, bottom) = (PLACE.0 + WINDOW.0 - 1, PLACE.1 + WINDOW.1 - 1);
        assert_eq!([at(PLACE.0, PLACE.1), at(right, bottom)], [colour; 2]);
    }
}

#[test]
fn no_pixel_is_copied_without_a_reader() {
    let Some(mut kept) = KeptFrames::new() else { return };
    for colour in [GREEN, BLUE, RED, GREEN] {
        kept.show(colour);
    }
    assert_eq!(kept.copied(), 0);
    // A reader gets the part that it asks for.
    let mut pixels = Vec::new();
    let part = PixelRect { x: PLACE.0 + 5, y: PLACE.1 + 7, width: 11, height: 3 };
    assert!(kept.snapshot().read(part, &mut pixels));
    assert_eq!(pixels.iter().map(|pixel| pixel & 0x00ff_ffff).collect::<Vec<_>>(), [GREEN; 33]);
    kept.show(BLUE);
    assert_eq!(kept.copied(), 33);
    kept.is_window(&kept.world.picture(), BLUE);
}

#[test]
fn snapshot_keeps_its_picture_while_frames_go_on() {
    let Some(mut kept) = KeptFrames::new() else { return };
    let mut snapshots = vec![(RED, kept.snapshot())];
    for colour in [GREEN, BLUE, RED, GREEN, BLUE, RED] {
        kept.show(colour);
        snapshots.push((colour, kept.snapshot()));
    }
    assert_eq!(kept.copied(), 0);
    for (colour, snapshot) in &snapshots {
        kept.is_window(&snapshot.whole().expect("it can be read"), *colour);
    }
    drop(snapshots);
    for colour in [GREEN, BLUE, RED, GREEN] {
        kept.show(colour);
        kept.is_window(&kept.world.picture(), colour);
    }
}

#[test]
fn watched_display_gets_only_the_pixels_that_changed() {
    let Some(mut kept) = KeptFrames::new() else { return };
    let log = kept.world.probe((PLACE.0, PLACE.1, 1, 1));
    let whole = OUTPUT.0 as u64 * OUTPUT.1 as u64;
    // Each buffer of the display is filled once; from then on only the window is copied.
    for colour in [GREEN, BLUE, RED, GREEN, BLUE] {
        kept.show(colour);
    }
    let before = kept.copied();
    assert!(before >= whole, "{before}");
    kept.show(RED);
    assert_eq!(kept.copied() - before, WINDOW.0 as u64 * WINDOW.1 as u64);
    kept.is_window(&kept.world.picture(), RED);
    drop(log);
}
