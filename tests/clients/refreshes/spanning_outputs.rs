//! A window that lies across two outputs is equally up to date on both.

use upbeat::backend::PixelBuffer;
use upbeat::output::{hotplug, power};
use wayland_client::protocol::wl_shm::Format;

use super::*;
use crate::fixture::BUTTON_LEFT;
use crate::fixture::simulated::name;

/// Half of the window's width lies on each of two outputs.
const HALF: i32 = SIZE.0 / 2;

struct SpanningWindow {
    world: TestWorld,
    still: IdleWindow,
    /// Colours of the two halves.
    halves: [Xrgb8888Pixel; 2],
}

impl SpanningWindow {
    /// A red window, half on `TEST-1` and half on `TEST-2`.
    fn new(rates: &[u32]) -> Self {
        let mut world = TestWorld::simulated(rates);
        let (x, y) = middle(0);
        world.point(x, y);
        let still = IdleWindow::open(&mut world, "across");
        world.run_until_idle();
        let origin = world.window("across").origin().to_f64();
        world.key(KEY_LEFT_SUPER, true);
        world.point(origin.x + 10.0, origin.y + 10.0);
        world.button(BUTTON_LEFT, true);
        world.point(f64::from(SMALL.0 - HALF) + 10.0, origin.y + 10.0);
        world.run_until_idle();
        world.button(BUTTON_LEFT, false);
        world.key(KEY_LEFT_SUPER, false);
        world.run_until_idle();
        assert_eq!(world.window("across").origin().x, SMALL.0 - HALF);
        let mut across = SpanningWindow { world, still, halves: [RED; 2] };
        across.assert_halves_shown("once it is there");
        across
    }

    /// Draws these halves in a colour, with damage for these halves only.
    fn draw(&mut self, halves: std::ops::Range<usize>, colour: Xrgb8888Pixel) {
        self.halves[halves.clone()].fill(colour);
        let pixel = |at: i32| self.halves[usize::from(at % SIZE.0 >= HALF)];
        let pixels: Vec<u32> = (0..SIZE.0 * SIZE.1).map(pixel).collect();
        let surface = &self.still.window.surface;
        let client = self.world.client(self.still.client);
        surface.attach(Some(&client.buffer_of_pixels(9, Format::Xrgb8888, SIZE.0, SIZE.1, &pixels)), 0, 0);
        surface.damage_buffer(HALF * halves.start as i32, 0, HALF * halves.len() as i32, SIZE.1);
        surface.commit();
    }

    fn picture(&self, place: i32) -> PixelBuffer {
        self.world.output(place).display().screenshot(false).unwrap()
    }

    /// Checks that each output shows the present colour of its half.
    #[track_caller]
    fn assert_halves_shown(&mut self, what: &str) {
        let y = self.world.window("across").origin().y + 40;
        for (place, x, half) in [(0, SMALL.0 - HALF / 2, 0), (1, HALF / 2, 1)] {
            let picture = self.picture(place);
            let pixel = picture.pixels[(y * picture.width + x) as usize] & 0x00ff_ffff;
            assert_eq!(pixel, self.halves[half], "{what}: {} is stale", name(place));
        }
    }

    /// After an idle time of `rest` the client draws one half, the other half, and both. Each output shows the result
    /// within two of its refreshes.
    #[track_caller]
    fn assert_updated_on_both(&mut self, rest: Span, what: &str) {
        let slowest = interval(&self.world, 0).max(interval(&self.world, 1));
        for (halves, colour) in [(0..1, GREEN), (1..2, GREEN), (0..2, BLUE), (1..2, RED), (0..1, RED)] {
            self.world.run_for(rest, &mut nothing);
            self.draw(halves, colour);
            self.world.run_for(slowest * 2, &mut nothing);
            self.assert_halves_shown(what);
        }
    }
}

#[test]
fn window_across_two_outputs_is_up_to_date_on_both() {
    for rates in [[60_000, 60_000], [60_000, 144_000], [144_000, 60_000], [60_000, 20_000]] {
        let mut across = SpanningWindow::new(&rates);
        for rest in [Span::ZERO, Span::from_millis(5), Span::from_millis(100), Span::from_seconds(20)] {
            across.assert_updated_on_both(rest, &format!("{rates:?} after {rest}"));
        }
    }
}

#[test]
fn window_across_two_outputs_is_up_to_date_after_output_changes() {
    let mut across = SpanningWindow::new(&[60_000, 75_000, 144_000]);
    let rest = Span::from_millis(50);
    let id = |across: &SpanningWindow, place| hotplug::by_name(&across.world.state, &name(place)).unwrap();
    for place in [1, 0] {
        let output = id(&across, place);
        power::set(&mut across.world.state, output, false);
        across.draw(0..2, GREEN);
        across.world.run_for(Span::from_seconds(5), &mut nothing);
        power::set(&mut across.world.state, output, true);
        across.assert_updated_on_both(rest, &format!("{} was off", name(place)));
        across.world.set_refresh(&name(place), 100_000);
        across.assert_updated_on_both(rest, &format!("{} has another rate", name(place)));
    }
    across.world.unplug(&name(2));
    across.assert_updated_on_both(rest, "a third output is unplugged");
    across.world.skip_time(Span::from_seconds(600));
    across.assert_updated_on_both(rest, "all slept");
}

#[test]
fn both_outputs_present_a_continuously_drawing_window() {
    let mut across = SpanningWindow::new(&[60_000, 144_000]);
    let (client, surface) = (across.still.client, across.still.window.surface.clone());
    let buffer = across.world.client(client).solid(2, SIZE.0, SIZE.1, BLUE);
    let mut next = across.world.now();
    let mut draws = |world: &mut TestWorld| {
        if world.now() >= next {
            next = world.now() + Span::from_millis(10);
            surface.attach(Some(&buffer), 0, 0);
            surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
            surface.commit();
        }
        Some(next)
    };
    let before = [0, 1].map(|place| across.world.output(place).latches());
    across.world.run_for(Span::from_seconds(10), &mut draws);
    for (place, before) in (0..).zip(before) {
        let frames = across.world.output(place).latches() - before;
        // Refresh rates are 60 and 100 Hz.
        assert!(frames >= if place == 0 { 550 } else { 950 }, "{frames} frames on {}", name(place));
    }
}
