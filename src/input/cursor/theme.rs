//! Cursor themes (Xcursor files).

use std::sync::{Arc, Mutex, PoisonError};

use ahash::HashMap;
use calloop::ping::Ping;
use smithay::input::pointer::CursorIcon;
use xcursor::CursorTheme;

use super::{CursorImage, arrow};
use crate::backend::PixelBuffer;
use upbeat_record::faults::{self, Fault};

/// Nominal size if `XCURSOR_SIZE` is not set, in logical pixels.
const DEFAULT_SIZE: u32 = 24;
/// The largest cursor that is shown, in pixels: a broken file cannot exhaust the memory.
const MAX_SIDE: u32 = 1024;
/// Images of one file: animations have 60 in each of several sizes.
const MOST_PICTURES: u32 = 2_048;
/// The largest image that memory is allocated for, in pixels; those beyond [`MAX_SIDE`] are dropped afterwards.
const LARGEST_SIDE: u32 = 4_096;
/// The type of an image in the file's table of contents.
const PICTURE: u32 = 0xfffd_0002;

/// A shape in every nominal size that the theme has. Only the first image of an animation is kept, because an animated
/// cursor would keep an idle session awake.
type CursorSizes = Vec<(u32, CursorImage)>;

/// The shapes requested so far; `None` while a shape is being read, and for ever if the theme lacks it.
type CursorShapes = Arc<Mutex<HashMap<CursorIcon, Option<CursorSizes>>>>;

/// A cursor theme. A shape is read when it is first requested, on a separate thread: the main thread never waits for a
/// file, and a session that shows only an arrow reads only that.
#[derive(Debug)]
pub struct CursorShapeTheme {
    /// `None`: only the built-in arrow.
    name: Option<String>,
    /// Pinged when a requested shape was read.
    arrived: Option<Ping>,
    shapes: CursorShapes,
    size: u32,
    arrow: CursorImage,
    arrow_doubled: CursorImage,
}

impl Default for CursorShapeTheme {
    fn default() -> Self {
        CursorShapeTheme {
            name: None,
            arrived: None,
            shapes: CursorShapes::default(),
            size: DEFAULT_SIZE,
            arrow: arrow::arrow(1),
            arrow_doubled: arrow::arrow(2),
        }
    }
}

impl CursorShapeTheme {
    /// The system's theme, from `XCURSOR_THEME` and `XCURSOR_SIZE`. `arrived` is pinged when a shape was read.
    pub fn load_system(arrived: Option<Ping>) -> Self {
        let name = std::env::var("XCURSOR_THEME").unwrap_or_else(|_| "default".to_owned());
        let size = std::env::var("XCURSOR_SIZE").ok().and_then(|size| size.parse().ok()).unwrap_or(DEFAULT_SIZE);
        Self::load(name, size, arrived)
    }

    /// The theme called `name`. `size`: nominal, in logical pixels; `arrived` is pinged when a shape was read.
    pub fn load(name: String, size: u32, arrived: Option<Ping>) -> Self {
        CursorShapeTheme { name: Some(name), arrived, size: size.clamp(8, MAX_SIDE / 4), ..CursorShapeTheme::default() }
    }

    /// The image of `icon` for an output of `scale`; the built-in arrow until it is read.
    pub fn image(&self, icon: CursorIcon, scale: f64) -> CursorImage {
        let wanted = (f64::from(self.size) * scale.clamp(1.0, 8.0)).round() as u32;
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        if !shapes.contains_key(&icon)
            && let Some(name) = &self.name
        {
            shapes.insert(icon, None);
            read_in_background(name.clone(), icon, Arc::clone(&self.shapes), self.arrived.clone());
        }
        let sizes = shapes.get(&icon).and_then(Option::as_ref);
        match sizes.and_then(|sizes| sizes.iter().min_by_key(|(size, _)| size.abs_diff(wanted))) {
            Some((_, image)) => image.clone(),
            None if scale < 1.5 => self.arrow.clone(),
            None => self.arrow_doubled.clone(),
        }
    }
}

fn read_in_background(theme: String, icon: CursorIcon, shapes: CursorShapes, arrived: Option<Ping>) {
    let reader = std::thread::Builder::new().name("cursor theme".to_owned());
    let read = move || {
        let theme = CursorTheme::load(&theme);
        let read = read_shape(&theme, icon).or_else(|| read_shape(&theme, CursorIcon::Default));
        let differs = read.is_some();
        shapes.lock().unwrap_or_else(PoisonError::into_inner).insert(icon, read);
        if let Some(arrived) = arrived.filter(|_| differs) {
            arrived.ping();
        }
    };
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| reader.spawn(read)) {
        tracing::warn!(%error, "cannot read the cursor theme");
    }
}

fn read_shape(theme: &CursorTheme, icon: CursorIcon) -> Option<CursorSizes> {
    let names = std::iter::once(icon.name()).chain(icon.alt_names().iter().copied());
    let path = names.into_iter().find_map(|name| theme.load_icon(name))?;
    // Only regular files: reading a pipe could block for ever.
    std::fs::metadata(&path).is_ok_and(|file| file.is_file()).then_some(())?;
    read_sizes(&std::fs::read(path).ok()?)
}

/// The images of a cursor file, one of each size; `None` if it is not a cursor file, or has no usable image.
pub fn read_sizes(bytes: &[u8]) -> Option<CursorSizes> {
    if !has_sane_sizes(bytes) {
        return None;
    }
    let mut sizes = CursorSizes::new();
    for image in xcursor::parser::parse_xcursor(bytes)? {
        let known = sizes.iter().any(|(size, _)| *size == image.size);
        if let (false, Some(cursor)) = (known, to_cursor(&image)) {
            sizes.push((image.size, cursor));
        }
    }
    (!sizes.is_empty()).then_some(sizes)
}

/// Checks that the file has few images and none claims to be large. The parser allocates memory for each before it
/// checks that the file has as much: up to 4 GiB.
fn has_sane_sizes(bytes: &[u8]) -> bool {
    let word = |at: usize| {
        let word = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(word.try_into().ok()?))
    };
    let (Some(header), Some(count)) = (word(4), word(12)) else { return false };
    let at = |place: u32| (header as usize).saturating_add(12 * place as usize);
    let is_small = |place: u32| {
        let (Some(kind), Some(picture)) = (word(at(place)), word(at(place).saturating_add(8))) else { return false };
        let side = |offset| word((picture as usize).saturating_add(offset));
        kind != PICTURE || [16, 20].into_iter().all(|offset| side(offset).is_some_and(|side| side <= LARGEST_SIDE))
    };
    count <= MOST_PICTURES && (0..count).all(is_small)
}

fn to_cursor(image: &xcursor::parser::Image) -> Option<CursorImage> {
    if image.width == 0 || image.height == 0 || image.width > MAX_SIDE || image.height > MAX_SIDE {
        return None;
    }
    // The file has premultiplied pixels as little-endian words, and the crate returns its bytes unchanged, despite the
    // field's name.
    let words = image.pixels_rgba.as_chunks::<4>().0;
    let pixels: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if pixels.len() != (image.width * image.height) as usize {
        return None;
    }
    let pixels = PixelBuffer { width: image.width as i32, height: image.height as i32, pixels };
    let hotspot = (image.xhot.min(image.width) as i32, image.yhot.min(image.height) as i32);
    Some(CursorImage { pixels: Arc::new(pixels), hotspot })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one image of four pixels that claims to be `width` pixels wide, and a table that claims `count`
    /// images.
    fn file(width: u32, count: u32) -> Vec<u8> {
        let picture = [36, PICTURE, 24, 1, width, 2, 1, 1, 0, 1, 2, 3, 4];
        let head = [u32::from_le_bytes(*b"Xcur"), 16, 0x1_0000, count, PICTURE, 24, 28];
        head.into_iter().chain(picture).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn file_that_claims_to_be_large_is_rejected_before_allocation() {
        assert_eq!(read_sizes(&file(2, 1)).map(|sizes| sizes.len()), Some(1));
        assert!(!has_sane_sizes(&file(0x7fff, 1)) && !has_sane_sizes(&file(2, u32::MAX)));
        assert!(has_sane_sizes(&file(2, 1)) && !has_sane_sizes(&[0; 10]));
        assert_eq!(read_sizes(&file(0x7fff, 1)).map(|sizes| sizes.len()), None);
    }
}
