//! The picture at a moment: a metronome before drifting light. Everything is a function of time, never of the number of
//! frames drawn before.

use std::f32::consts::{PI, TAU};

use crate::canvas::{Canvas, Paint};

/// Lifetime of a click's ring, in seconds.
const RING_SECONDS: f64 = 1.2;

/// Swing of the metronome to each side, in radians.
const SWING: f32 = 0.55;

/// State that input changes. Times are in seconds on the presentation clock.
pub struct DemoScene {
    /// In beats a minute.
    pub tempo: f64,
    /// Position of the pointer, if it is over the window.
    pub pointer: Option<(f32, f32)>,
    /// Positions and times of clicks.
    rings: Vec<((f32, f32), f64)>,
    /// The beat at `since`, so that a change of tempo does not jump.
    beat: f64,
    since: f64,
}

impl DemoScene {
    pub fn new() -> Self {
        DemoScene { tempo: 60.0, pointer: None, rings: Vec::new(), beat: 0.0, since: 0.0 }
    }

    pub fn click(&mut self, now: f64) {
        self.rings.extend(self.pointer.map(|place| (place, now)));
    }

    pub fn change_tempo(&mut self, by: f64, now: f64) {
        self.beat = self.beat_at(now);
        self.since = now;
        self.tempo = (self.tempo + by).clamp(10.0, 240.0);
    }

    fn beat_at(&self, now: f64) -> f64 {
        self.beat + (now - self.since) * self.tempo / 60.0
    }

    /// Draws the picture for `now`.
    pub fn draw(&mut self, canvas: &mut Canvas, now: f64) {
        canvas.gradient([22.0, 26.0, 40.0], [44.0, 34.0, 62.0]);
        draw_light(canvas, now);
        self.draw_metronome(canvas, self.beat_at(now));
        self.rings.retain(|(_, since)| now - since < RING_SECONDS);
        for (place, since) in &self.rings {
            let age = ((now - since) / RING_SECONDS).clamp(0.0, 1.0) as f32;
            let paint = Paint::new(255, 214, 150, 0.8).faded(1.0 - age);
            canvas.ring(*place, 8.0 + 120.0 * age.sqrt(), 3.0, paint);
        }
        if let Some(place) = self.pointer {
            canvas.glow(place, 70.0, Paint::new(255, 226, 180, 0.35));
        }
    }

    fn draw_metronome(&self, canvas: &mut Canvas, beat: f64) {
        let (width, height) = (canvas.width as f32, canvas.height as f32);
        let pivot = (width / 2.0, height * 0.82);
        let length = height.min(width) * 0.58;
        let tip = |beat: f64| {
            let angle = SWING * ((beat % 2.0) as f32 * PI).sin();
            (pivot.0 + length * angle.sin(), pivot.1 - length * angle.cos())
        };
        for step in -8..=8 {
            let angle = SWING * step as f32 / 8.0;
            let mark = (pivot.0 + length * 1.12 * angle.sin(), pivot.1 - length * 1.12 * angle.cos());
            let size = if step % 4 == 0 { 3.0 } else { 1.5 };
            canvas.disc(mark, size, Paint::new(235, 230, 250, 0.55));
        }
        for ghost in (1..=5_u8).rev() {
            let fade = 0.16 / f32::from(ghost);
            canvas.disc(tip(beat - f64::from(ghost) * 0.035), 20.0, Paint::new(255, 180, 120, fade));
        }
        // The flash of the beat: full when the hand passes the middle, gone before the next beat.
        let since_beat = (beat.rem_euclid(1.0)) as f32;
        canvas.glow(pivot, length * 0.6, Paint::new(255, 170, 110, 0.5).faded((1.0 - since_beat).powi(4)));
        let end = tip(beat);
        canvas.line(pivot, end, 5.0, Paint::new(240, 232, 222, 0.9));
        canvas.glow(end, 60.0, Paint::new(255, 190, 130, 0.45));
        canvas.disc(end, 20.0, Paint::new(255, 204, 150, 1.0));
        canvas.disc(pivot, 12.0, Paint::new(240, 232, 222, 1.0));
    }
}

fn draw_light(canvas: &mut Canvas, now: f64) {
    const RIBBONS: [(f32, f32, f32, [u8; 3]); 4] = [
        (0.30, 0.110, 0.7, [86, 120, 220]),
        (0.42, 0.083, 1.1, [140, 92, 214]),
        (0.56, 0.061, 0.9, [214, 96, 160]),
        (0.68, 0.047, 1.4, [240, 150, 104]),
    ];
    let (width, height) = (canvas.width.max(1) as f32, canvas.height as f32);
    for (level, speed, waves, [red, green, blue]) in RIBBONS {
        let phase = (now * f64::from(speed)).fract() as f32 * TAU;
        let curve = move |x: f32| {
            let at = x / width * TAU * waves;
            height * (level + 0.07 * (at + phase).sin() + 0.04 * (2.0 * at - phase).sin())
        };
        canvas.ribbon(curve, height * 0.09, Paint::new(red, green, blue, 0.5));
    }
}
