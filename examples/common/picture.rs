//! Pixels, and the few shapes that the examples draw.

use font8x8::UnicodeFonts as _;

/// Edge of a dot of the font in pixels: large enough to be readable in a photo of the screen.
const DOT: i32 = 2;
/// Distance of letters and of lines, in pixels.
pub const LETTER: i32 = 8 * DOT;

/// An image: `0x00RRGGBB`, row by row.
#[derive(Clone, Debug)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<u32>,
}

impl Picture {
    pub fn new(width: usize, height: usize) -> Self {
        Picture { width, height, pixels: vec![0; width * height] }
    }

    pub fn fill(&mut self, colour: u32) {
        self.pixels.fill(colour);
    }

    /// Fills a part of a row, clipped to the picture.
    fn span(&mut self, left: i32, right: i32, y: i32, colour: u32) {
        let inside = |x: i32| (x.max(0) as usize).min(self.width);
        let (left, right) = (inside(left), inside(right));
        if y < 0 || y as usize >= self.height || left >= right {
            return;
        }
        let row = y as usize * self.width;
        self.pixels[row + left..row + right].fill(colour);
    }

    pub fn rectangle(&mut self, (x, y): (i32, i32), (width, height): (i32, i32), colour: u32) {
        for row in y..y + height {
            self.span(x, x + width, row, colour);
        }
    }

    pub fn disc(&mut self, (x, y): (f64, f64), radius: f64, colour: u32) {
        for row in (y - radius).floor() as i32..=(y + radius).ceil() as i32 {
            let half = (radius * radius - (f64::from(row) - y).powi(2)).max(0.0).sqrt();
            self.span((x - half).round() as i32, (x + half).round() as i32, row, colour);
        }
    }

    /// Draws another picture, scaled by `scale`, with its corner at (`x`, `y`).
    pub fn place(&mut self, other: &Picture, (x, y): (f64, f64), scale: f64) {
        let range = |start: f64, length: usize, most: usize| {
            let end = (start + length as f64 * scale).ceil().clamp(0.0, most as f64) as usize;
            (start.ceil().clamp(0.0, most as f64) as usize).min(end)..end
        };
        let columns = range(x, other.width, self.width);
        let pixel = |at: usize, start: f64, most: usize| (((at as f64 - start) / scale) as usize).min(most - 1);
        let from: Vec<usize> = columns.clone().map(|column| pixel(column, x, other.width)).collect();
        for row in range(y, other.height, self.height) {
            let line = &other.pixels[pixel(row, y, other.height) * other.width..][..other.width];
            let start = row * self.width;
            for (to, from) in self.pixels[start + columns.start..start + columns.end].iter_mut().zip(&from) {
                *to = line[*from];
            }
        }
    }

    /// Draws a line of text on a dark ground.
    pub fn text(&mut self, (x, y): (i32, i32), text: &str, colour: u32) {
        let length = text.chars().count() as i32;
        self.rectangle((x - DOT, y - DOT), (length * LETTER + 2 * DOT, LETTER + 2 * DOT), 0x0010_1418);
        for (index, letter) in text.chars().enumerate() {
            let Some(rows) = font8x8::BASIC_FONTS.get(letter) else { continue };
            for (row, bits) in rows.into_iter().enumerate() {
                for column in (0..8).filter(|column| bits >> column & 1 == 1) {
                    let corner = (x + index as i32 * LETTER + column * DOT, y + row as i32 * DOT);
                    self.rectangle(corner, (DOT, DOT), colour);
                }
            }
        }
    }
}
