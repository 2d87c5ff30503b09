//! Screen captures by grim.

use std::collections::{HashMap, HashSet};

type RgbPixel = [u8; 3];

/// RGB pixels, row by row.
#[derive(Clone, Debug)]
pub struct ScreenPicture {
    pixels: Vec<RgbPixel>,
    width: usize,
    background: RgbPixel,
}

impl ScreenPicture {
    /// Parses a binary PPM from `grim -t ppm`. `empty`: a capture without windows, for the background colour.
    pub fn from_ppm(bytes: &[u8], empty: Option<&ScreenPicture>) -> Self {
        let mut fields = bytes.splitn(4, |byte| byte.is_ascii_whitespace());
        let mut field = || std::str::from_utf8(fields.next().unwrap()).unwrap();
        assert_eq!(field(), "P6");
        let width: usize = field().parse().unwrap();
        let height: usize = field().parse().unwrap();
        let body = fields.next().unwrap();
        let body = &body[body.len() - width * height * 3..];
        let pixels: Vec<RgbPixel> = body.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        let background = empty.map_or_else(|| most_frequent(&pixels), |empty| empty.background);
        ScreenPicture { background, pixels, width }
    }

    pub fn size(&self) -> (usize, usize) {
        (self.width, self.pixels.len() / self.width.max(1))
    }

    /// A pixel as `XRGB8888`.
    pub fn at(&self, (x, y): (usize, usize)) -> u32 {
        let [red, green, blue] = self.pixels[y * self.width + x];
        u32::from_be_bytes([0, red, green, blue])
    }

    /// Number of pixels that are not background.
    pub fn content(&self) -> usize {
        self.pixels.iter().filter(|pixel| **pixel != self.background).count()
    }

    /// Number of colours without the background.
    pub fn colours(&self) -> usize {
        let mut colours: HashSet<_> = self.pixels.iter().collect();
        colours.remove(&self.background);
        colours.len()
    }

    /// Number of pixels of this colour (`XRGB8888`).
    pub fn count(&self, colour: u32) -> usize {
        let [_, red, green, blue] = colour.to_be_bytes();
        self.pixels.iter().filter(|pixel| **pixel == [red, green, blue]).count()
    }

    /// Number of pixels that differ from `others` (`XRGB8888`, row by row).
    pub fn differs_from(&self, others: &[u32]) -> usize {
        let is_other = |(pixel, other): &(&[u8; 3], &u32)| **pixel != other.to_be_bytes()[1..];
        self.pixels.iter().zip(others).filter(is_other).count()
    }

    /// Number of pixels that differ.
    pub fn differs(&self, other: &ScreenPicture) -> usize {
        self.pixels.iter().zip(&other.pixels).filter(|(a, b)| a != b).count()
    }
}

/// The background colour of an empty screen. It is the most frequent colour, because any single pixel may belong to a
/// cursor.
fn most_frequent(pixels: &[RgbPixel]) -> RgbPixel {
    let mut counts: HashMap<RgbPixel, usize> = HashMap::new();
    for pixel in pixels {
        *counts.entry(*pixel).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(colour, _)| colour).unwrap()
}

/// A binary PPM, as grim writes it.
fn ppm(width: usize, pixels: &[RgbPixel]) -> Vec<u8> {
    let header = format!("P6\n{width} {}\n255\n", pixels.len() / width);
    [header.as_bytes(), &pixels.concat()].concat()
}

#[test]
fn cursor_in_the_corner_is_not_taken_for_the_background() {
    let (screen, cursor, window) = ([29, 35, 48], [0, 0, 0], [255, 255, 255]);
    let empty =
        ScreenPicture::from_ppm(&ppm(4, &[cursor, cursor, screen, screen, cursor, screen, screen, screen]), None);
    assert_eq!((empty.content(), empty.colours()), (3, 1));
    let full = ScreenPicture::from_ppm(
        &ppm(4, &[cursor, window, window, window, window, window, window, screen]),
        Some(&empty),
    );
    assert_eq!((full.content(), full.colours()), (7, 2), "the background colour must come from the empty screen");
}
