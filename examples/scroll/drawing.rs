//! Draws the contents of the feed.

use upbeat_client::DocumentRegion;

use crate::common::picture::{LETTER, Picture};

/// Height of an entry of the feed in pixels; each entry has a colour of its own.
const ENTRY: i64 = 90;
/// Width of a card of the strip in pixels.
const CARD: i64 = 100;

fn colour_of(number: i64) -> u32 {
    let part = |factor: i64| 0x40 + (number * factor).rem_euclid(0x60) as u32;
    part(37) << 16 | part(59) << 8 | part(83)
}

/// Draws a part of the feed.
pub fn feed(picture: &mut Picture, region: DocumentRegion) {
    picture.fill(0x0018_1c22);
    let entries = region.y.start.div_euclid(ENTRY)..=region.y.end().div_euclid(ENTRY);
    for entry in entries {
        let top = (entry * ENTRY - region.y.start) as i32;
        picture.rectangle((16, top + 6), (440, ENTRY as i32 - 12), colour_of(entry));
        picture.text((28, top + 20), &format!("ENTRY {entry}"), 0x00ff_ffff);
        picture.rectangle((28, top + 56), (80 + (entry * 53).rem_euclid(300) as i32, 8), 0x00c8_ccd0);
    }
}

/// Draws the fixed header above the feed.
pub fn header(picture: &mut Picture) {
    picture.fill(0x0024_5a8a);
    picture.text((12, 7), "A FEED", 0x00ff_ffff);
}

/// Draws the scrollbar's thumb.
pub fn thumb(picture: &mut Picture) {
    picture.fill(0x00d0_d4d8);
}

/// Draws the background of the strip.
pub fn shelf(picture: &mut Picture) {
    picture.fill(0x0030_2030);
}

/// Draws a part of the strip.
pub fn strip(picture: &mut Picture, region: DocumentRegion) {
    picture.fill(0x0030_2030);
    for card in region.x.start.div_euclid(CARD)..=region.x.end().div_euclid(CARD) {
        let left = (card * CARD - region.x.start) as i32;
        picture.rectangle((left + 6, 10), (CARD as i32 - 12, 100), colour_of(card * 7 + 3));
        picture.text((left + 14, 50), &card.to_string(), 0x00ff_ffff);
    }
}

/// Draws the video's frame `number`.
pub fn video(picture: &mut Picture, number: u32) {
    picture.fill(0x0000_0000);
    let at = f64::from(number) / 30.0;
    let (x, y) = (160.0 + 110.0 * (at * 1.7).sin(), 90.0 + 55.0 * (at * 2.3).cos());
    picture.disc((x, y), 28.0, 0x00ff_a030);
    picture.text((8, 180 - LETTER - 8), &format!("{at:.1} S"), 0x00ff_ffff);
}

/// Draws the caret, visible or hidden.
pub fn caret(picture: &mut Picture, on: bool) {
    picture.fill(if on { 0x00ff_ffff } else { 0x0060_6468 });
}
