//! The map's tiles: expensive to draw, therefore cached.

use std::collections::HashMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::common::picture::Picture;
use super::gesture::{MapView, TILE};

/// New tiles in a frame; for the other missing tiles coarser ones are shown until their turn comes.
const A_FRAME: usize = 3;
/// Number of cached tiles: 32 MiB.
const MOST: usize = 512;
/// Octaves of the landscape's noise: more would not be visible.
const OCTAVES: u32 = 16;
/// The height of the water.
const SHORE: f64 = 0.55;

/// Level, column, row. A level is 2^level tiles wide and high.
type TileId = (u32, i64, i64);

pub struct TileCache {
    cost: Duration,
    kept: HashMap<TileId, Picture>,
}

impl TileCache {
    pub fn new(cost: Duration) -> Self {
        TileCache { cost, kept: HashMap::new() }
    }

    /// Draws the visible tiles; true if none is missing.
    pub fn draw(&mut self, picture: &mut Picture, view: MapView) -> bool {
        let level = view.zoom.round() as u32;
        let (mut visible, scale, corner) = visible(picture, view, level);
        let middle = (picture.width as f64 / 2.0, picture.height as f64 / 2.0);
        let far = |place: &TileId| {
            let (x, y) = position(*place, scale, corner);
            (x + TILE as f64 * scale / 2.0 - middle.0).hypot(y + TILE as f64 * scale / 2.0 - middle.1)
        };
        visible.sort_by(|one, other| far(one).total_cmp(&far(other)));
        let missing: Vec<TileId> = visible.iter().copied().filter(|place| !self.kept.contains_key(place)).collect();
        if self.kept.len() + missing.len() > MOST {
            self.kept.retain(|place, _| place.0.abs_diff(level) <= 1 && visible.contains(place) || place.0 <= 2);
        }
        for place in missing.iter().take(A_FRAME) {
            self.kept.insert(*place, self.render(*place));
        }
        for place in visible {
            self.show(picture, place, scale, corner);
        }
        missing.len() <= A_FRAME
    }

    /// Draws a tile, or the part of a cached coarser tile.
    fn show(&self, picture: &mut Picture, place: TileId, scale: f64, corner: (f64, f64)) {
        let (x, y) = position(place, scale, corner);
        if let Some(tile) = self.kept.get(&place) {
            picture.place(tile, (x, y), scale);
            return;
        }
        let edge = (TILE as f64 * scale).ceil() as i32 + 1;
        for up in 1..=place.0 {
            let (column, row) = (place.1 >> up, place.2 >> up);
            let Some(tile) = self.kept.get(&(place.0 - up, column, row)) else { continue };
            let part = (TILE >> up).max(1);
            let inside = |index: i64, parent: i64| (((index - (parent << up)) as usize * TILE) >> up).min(TILE - part);
            let (left, top) = (inside(place.1, column), inside(place.2, row));
            let rows = (top..top + part).flat_map(|row| &tile.pixels[row * TILE + left..][..part]);
            let cut = Picture { width: part, height: part, pixels: rows.copied().collect() };
            picture.place(&cut, (x, y), TILE as f64 * scale / part as f64);
            return;
        }
        picture.rectangle((x as i32, y as i32), (edge, edge), 0x0028_3038);
    }

    fn render(&self, (level, column, row): TileId) -> Picture {
        let began = Instant::now();
        let mut tile = Picture::new(TILE, TILE);
        let pixel = 1.0 / (TILE as f64 * f64::from(level).exp2());
        for (index, colour) in tile.pixels.iter_mut().enumerate() {
            let x = (column * TILE as i64 + (index % TILE) as i64) as f64 * pixel;
            let y = (row * TILE as i64 + (index / TILE) as i64) as f64 * pixel;
            *colour = landscape(x, y, (level + 4).min(OCTAVES));
        }
        sleep(self.cost.saturating_sub(began.elapsed()));
        tile
    }
}

/// The visible tiles of a level, the scale of their pixels, and the position of the map's corner.
fn visible(picture: &Picture, view: MapView, level: u32) -> (Vec<TileId>, f64, (f64, f64)) {
    let scale = (view.zoom - f64::from(level)).exp2();
    let (width, height) = (picture.width as f64, picture.height as f64);
    let corner = (width / 2.0 - view.centre.0 * view.scale(), height / 2.0 - view.centre.1 * view.scale());
    let edge = TILE as f64 * scale;
    let range =
        |corner: f64, length: f64| ((-corner / edge).floor() as i64)..=(((length - corner) / edge).floor() as i64);
    let rows = range(corner.1, height);
    let places = rows.flat_map(|row| range(corner.0, width).map(move |column| (level, column, row)));
    (places.collect(), scale, corner)
}

fn position((_, column, row): TileId, scale: f64, corner: (f64, f64)) -> (f64, f64) {
    let edge = TILE as f64 * scale;
    (corner.0 + column as f64 * edge, corner.1 + row as f64 * edge)
}

/// A point with detail at every zoom: where land and water meet.
pub fn coast() -> (f64, f64) {
    let places = (0..4_000).map(|step| (0.3 + f64::from(step) * 1e-4, 0.5));
    // Compare the height at the coarsest and at the finest level.
    let off = |place: &(f64, f64)| -> f64 {
        [7, OCTAVES].map(|octaves| (height(place.0, place.1, octaves) - SHORE).abs()).iter().sum()
    };
    places.min_by(|one, other| off(one).total_cmp(&off(other))).unwrap_or((0.5, 0.5))
}

/// Height above the deepest point, about between 0 and 1.
fn height(x: f64, y: f64, octaves: u32) -> f64 {
    let (mut height, mut size, mut weight) = (0.0, 4.0, 0.5);
    for octave in 0..octaves {
        height += weight * noise(x * size, y * size, octave);
        (size, weight) = (size * 2.0, weight * 0.55);
    }
    height
}

/// The colour at a point of the map.
fn landscape(x: f64, y: f64, octaves: u32) -> u32 {
    let height = height(x, y, octaves);
    let mix = |from: [f64; 3], to: [f64; 3], share: f64| {
        let part = |index: usize| (from[index] + (to[index] - from[index]) * share.clamp(0.0, 1.0)) as u32;
        part(0) << 16 | part(1) << 8 | part(2)
    };
    match height {
        deep if deep < SHORE => mix([12.0, 28.0, 66.0], [70.0, 140.0, 186.0], deep / SHORE * 2.0 - 1.0),
        low if low < SHORE + 0.02 => mix([216.0, 206.0, 156.0], [150.0, 170.0, 96.0], (low - SHORE) / 0.02),
        high => mix([84.0, 138.0, 74.0], [236.0, 232.0, 226.0], (high - SHORE - 0.02) / 0.25),
    }
}

/// Smooth noise between 0 and 1.
fn noise(x: f64, y: f64, seed: u32) -> f64 {
    let (column, row) = (x.floor(), y.floor());
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    let (right, down) = (smooth(x - column), smooth(y - row));
    let at = |dx: i64, dy: i64| scatter(column as i64 + dx, row as i64 + dy, seed);
    let top = at(0, 0) + (at(1, 0) - at(0, 0)) * right;
    let bottom = at(0, 1) + (at(1, 1) - at(0, 1)) * right;
    top + (bottom - top) * down
}

/// A pseudo-random number between 0 and 1.
fn scatter(x: i64, y: i64, seed: u32) -> f64 {
    let mut bits = (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    bits = (bits ^ u64::from(seed) << 32).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (bits >> 40) as f64 / (1u64 << 24) as f64
}
