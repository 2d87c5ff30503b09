//! Draws text into pictures with the CPU.
//!
//! The typeface is Noto Sans Mono, rasterised in four heights: the height nearest to the output's scale is used.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use smithay::utils::{Physical, Point, Rectangle, Size};

use crate::backend::PixelBuffer;
use crate::render::faded;
use crate::scene::{EffectPicture, RoundedRect};

/// Red, green, blue, alpha: 0 to 1, not premultiplied.
pub type OverlayColour = [f32; 4];

/// Replaces a run of letters that the typeface lacks.
const LEFT_OUT: char = '\u{b7}';
/// Replaces a single letter that the typeface lacks.
const UNKNOWN: char = '?';

/// Below this number of letters a text is cut without dots, which would take most of the room.
const FEW_LETTERS: usize = 6;

/// A typeface in one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Typeface {
    bold: bool,
    height: u8,
}

impl Typeface {
    /// The available size nearest to `height` physical pixels.
    pub fn new(height: f64, bold: bool) -> Self {
        let nearest = [16_u8, 20, 24, 32].into_iter().min_by(|a, b| {
            let far = |it: u8| (f64::from(it) - height).abs();
            far(*a).total_cmp(&far(*b))
        });
        Typeface { bold, height: nearest.unwrap_or(16) }
    }

    /// Line height in physical pixels.
    pub fn height(self) -> i32 {
        i32::from(self.height)
    }

    fn raster(self) -> (FontWeight, RasterHeight) {
        let weight = if self.bold { FontWeight::Bold } else { FontWeight::Regular };
        let height = match self.height {
            32 => RasterHeight::Size32,
            24 => RasterHeight::Size24,
            20 => RasterHeight::Size20,
            _ => RasterHeight::Size16,
        };
        (weight, height)
    }

    /// Width of a text in physical pixels.
    pub fn width(self, text: &str) -> i32 {
        let (weight, height) = self.raster();
        i32::try_from(get_raster_width(weight, height) * text.chars().count()).unwrap_or(i32::MAX)
    }

    /// The text in letters of the typeface: each run of missing letters becomes one mark, and dashes and quotes
    /// become plain. `None` if most letters are missing, because marks alone tell the user nothing.
    pub fn legible(self, text: &str) -> Option<String> {
        let (weight, height) = self.raster();
        let text: String = text.chars().map(plain).collect();
        let is_known = |letter: char| get_raster(letter, weight, height).is_some();
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        let (known, unknown) = letters.fold((0, 0), |(known, unknown), letter| match is_known(letter) {
            true => (known + 1, unknown),
            false => (known, unknown + 1),
        });
        if unknown > known {
            return None;
        }
        let mut written = String::with_capacity(text.len());
        for letter in text.chars() {
            if is_known(letter) {
                written.push(letter);
            } else if !written.ends_with(LEFT_OUT) {
                written.push(LEFT_OUT);
            }
        }
        Some(written)
    }

    /// Cuts a text so that it fits into `width`.
    pub fn fit(self, text: &str, width: i32) -> String {
        let most = usize::try_from(width / self.width("m").max(1)).unwrap_or(0);
        if text.chars().count() <= most {
            return text.to_owned();
        }
        let kept: String = text.chars().take(most.saturating_sub(2)).collect();
        if most < 3 { kept } else { format!("{}..", kept.trim_end()) }
    }

    /// Cuts a text so that it fits into `width`: where there is room for few letters, without dots after them.
    pub fn fit_letters(self, text: &str, width: i32) -> String {
        let most = usize::try_from(width / self.width("m").max(1)).unwrap_or(0);
        if most < FEW_LETTERS { text.chars().take(most).collect() } else { self.fit(text, width) }
    }

    /// A line of text as a picture of exactly its size.
    pub fn line(self, text: &str, colour: OverlayColour) -> EffectPicture {
        let mut page = PaintPage::new(Size::from((self.width(text), self.height())));
        page.write((0, 0).into(), text, self, colour);
        page.finish()
    }
}

/// The plain form of typographic dashes and quotes, which are common in titles: the typeface has only the plain ones.
const fn plain(letter: char) -> char {
    match letter {
        '\u{2010}'..='\u{2015}' => '-',
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        '\u{a0}' | '\u{202f}' => ' ',
        _ => letter,
    }
}

/// As an `ARGB8888` pixel, premultiplied.
fn premultiplied([red, green, blue, alpha]: OverlayColour) -> u32 {
    let level = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u32;
    level(alpha) << 24 | level(red * alpha) << 16 | level(green * alpha) << 8 | level(blue * alpha)
}

/// A picture under construction, transparent at first.
#[derive(Debug)]
pub struct PaintPage(PixelBuffer);

impl PaintPage {
    /// Transparent; at least one pixel.
    pub fn new(size: Size<i32, Physical>) -> Self {
        PaintPage(PixelBuffer::new(size.w.max(1), size.h.max(1)))
    }

    /// Writes a line of text with its top left corner at `at`; the part outside the page is cut off.
    pub fn write(&mut self, at: Point<i32, Physical>, text: &str, face: Typeface, colour: OverlayColour) {
        let (weight, height) = face.raster();
        let step = face.width("m");
        for (index, letter) in (0..).zip(text.chars()) {
            let known = get_raster(letter, weight, height).or_else(|| get_raster(UNKNOWN, weight, height));
            let Some(raster) = known else { continue };
            for (y, row) in (at.y..).zip(raster.rows()) {
                for (x, level) in (at.x + index * step..).zip(row) {
                    self.dot(x, y, colour, f32::from(*level) / 255.0);
                }
            }
        }
    }

    /// Replaces the pixels of a rectangle.
    pub fn fill(&mut self, rect: Rectangle<i32, Physical>, colour: OverlayColour) {
        let filled = premultiplied(colour);
        for y in rect.loc.y..rect.loc.y + rect.size.h {
            for x in rect.loc.x..rect.loc.x + rect.size.w {
                if let Some(pixel) = self.pixel(x, y) {
                    *pixel = filled;
                }
            }
        }
    }

    /// Blends a colour over a pixel; `coverage`: 0 to 1.
    fn dot(&mut self, x: i32, y: i32, [red, green, blue, alpha]: OverlayColour, coverage: f32) {
        if coverage <= 0.0 {
            return;
        }
        let Some(pixel) = self.pixel(x, y) else { return };
        let alpha = alpha * coverage;
        let above = premultiplied([red, green, blue, alpha]);
        let left = 255 - (above >> 24);
        // Rounded, so that a colour over a transparent pixel stays exactly that colour.
        let channel = |shift: u32| (above >> shift & 0xff) + ((*pixel >> shift & 0xff) * left + 127) / 255;
        *pixel = [24, 16, 8, 0].into_iter().fold(0, |all, shift| all | channel(shift).min(255) << shift);
    }

    /// Clears the pixels outside `shape`, with smooth edges.
    pub fn cut(&mut self, shape: RoundedRect) {
        for corner in shape.corners() {
            for y in corner.loc.y..corner.loc.y + corner.size.h {
                for x in corner.loc.x..corner.loc.x + corner.size.w {
                    if let Some(pixel) = self.pixel(x, y) {
                        *pixel = faded(*pixel, shape.coverage(x, y));
                    }
                }
            }
        }
    }

    fn pixel(&mut self, x: i32, y: i32) -> Option<&mut u32> {
        let PaintPage(image) = self;
        let is_there = (0..image.width).contains(&x) && (0..image.height).contains(&y);
        if is_there { image.pixels.get_mut((y * image.width + x) as usize) } else { None }
    }

    pub fn finish(self) -> EffectPicture {
        EffectPicture::new(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: OverlayColour = [1.0, 0.0, 0.0, 0.5];

    fn ink(text: &str, face: Typeface) -> usize {
        face.line(text, RED).image().pixels.iter().filter(|pixel| **pixel > 0x4000_0000).count()
    }

    #[test]
    fn text_is_visible_in_every_size_and_unknown_letters_get_a_mark() {
        let heights = [10.0, 20.0, 25.0, 100.0];
        let inks: Vec<usize> = heights.iter().map(|height| ink("Workspace", Typeface::new(*height, false))).collect();
        assert!(inks[0] > 0 && inks.is_sorted_by(|a, b| a < b), "{inks:?}");
        assert_eq!(ink("\u{10ffff}", Typeface::new(16.0, true)), ink("?", Typeface::new(16.0, true)));
    }

    #[test]
    fn text_is_cut_without_dots_where_few_letters_fit() {
        let face = Typeface::new(16.0, true);
        let cut = |letters: i32| face.fit_letters("mailing list", letters * face.width("m"));
        assert_eq!([0, 1, 3, 5, 6, 12].map(cut), ["", "m", "mai", "maili", "mail..", "mailing list"]);
    }

    #[test]
    fn a_text_in_another_script_is_no_row_of_marks() {
        let face = Typeface::new(16.0, false);
        assert_eq!(face.legible("Grüße, Welt – 3").as_deref(), Some("Grüße, Welt - 3"));
        assert_eq!(face.legible("report 東京都 (2).pdf").as_deref(), Some("report \u{b7} (2).pdf"));
        assert_eq!(face.legible("東京都 1"), None);
        assert!(ink("\u{b7}", face) > 0 && ink("\u{b7}", face) < ink("?", face));
    }

    #[test]
    fn pixels_are_premultiplied() {
        let picture = Typeface::new(32.0, true).line("M", RED);
        assert!(picture.image().pixels.contains(&0x8080_0000));
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        let face = Typeface::new(16.0, false);
        let width = face.width("abcdef");
        assert_eq!(face.fit("abcdef", width), "abcdef");
        assert_eq!(face.fit("abcdefg", width), "abcd..");
        assert_eq!(face.fit("abcdefg", 0), "");
        assert!(face.width(&face.fit("abcdefg", face.width("ab"))) <= face.width("ab"));
        PaintPage::new((3, 3).into()).write((-5, -5).into(), "cut off", face, RED);
    }
}
