//! Uploads client shared memory to textures before it becomes visible, a little with each frame.
//!
//! ```text
//!   announced ─► queued here: copied in pieces ─► returned, and released on the main thread
//!   frame ▓▓▓ piece piece … ┊ 2 MiB ┊              frame ▓▓▓ piece …
//! ```
//!
//! While no frames are drawn, each 16 ms (about one refresh) count as a frame.

use smithay::backend::renderer::utils::{Buffer, CommitCounter, DamageSnapshot};
use smithay::reexports::wayland_server::Resource as _;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Point, Rectangle};

use upbeat_timing::time::{Instant, Span};

/// Most bytes uploaded ahead with one frame.
pub const MOST_AHEAD: usize = 2 << 20;
/// Most bytes of one upload, because a frame that is to be drawn may have to wait for it.
const PIECE: usize = 256 << 10;
/// After this time without a frame the upload limit is renewed.
const PAUSE: Span = Span::from_millis(16);
/// With more missing parts, their bounding box is uploaded.
const MOST_PARTS: usize = 16;
pub(super) const BYTES_A_PIXEL: usize = size_of::<u32>();

/// Content that will become visible soon.
#[derive(Debug)]
pub struct UpcomingContent {
    pub surface: WlSurface,
    /// The client's shared memory.
    pub buffer: Buffer,
    /// Damage of the surface, by commit.
    pub damage: DamageSnapshot<i32, BufferCoords>,
    /// The pixel of the buffer nearest to the visible part: pieces around it are uploaded first.
    pub near: Point<i32, BufferCoords>,
}

impl UpcomingContent {
    /// The commit of this content.
    pub(super) fn commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }
}

/// Numbers of uploaded bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UploadedBytes {
    /// Uploaded before they were visible.
    pub ahead: u64,
    /// The most that was uploaded ahead with one frame.
    pub most_ahead: u64,
    /// Uploaded with the frame that showed them, of the same surfaces.
    pub seen: u64,
}

/// How many bytes may still be uploaded with this frame.
#[derive(Debug)]
struct UploadAllowance {
    left: usize,
    /// When the limit is renewed even without a frame.
    renewed: Instant,
}

impl UploadAllowance {
    fn full(now: Instant) -> Self {
        UploadAllowance { left: MOST_AHEAD, renewed: now + PAUSE }
    }

    fn renew(&mut self, now: Instant) {
        *self = UploadAllowance::full(now);
    }
}

/// Queue of uploads, on the render thread. Finished items are released on the main thread.
#[derive(Debug)]
pub(super) struct UploadQueue {
    pub items: Vec<UpcomingContent>,
    allowance: UploadAllowance,
}

impl UploadQueue {
    pub fn new(now: Instant) -> Self {
        UploadQueue { items: Vec::new(), allowance: UploadAllowance::full(now) }
    }

    /// Puts announced items first, in their order. Returns the items that they replace.
    pub fn announce(&mut self, announced: &mut Vec<UpcomingContent>) -> Vec<UpcomingContent> {
        if announced.is_empty() {
            return Vec::new();
        }
        let is_renewed = |item: &UpcomingContent| announced.iter().any(|new| new.surface == item.surface);
        let (old, stays): (Vec<_>, Vec<_>) =
            self.items.drain(..).partition(|item| is_renewed(item) || !item.surface.is_alive());
        self.items.append(announced);
        self.items.extend(stays);
        old
    }

    /// A frame was drawn, so the limit is renewed.
    pub fn frame_drawn(&mut self, now: Instant) {
        self.allowance.renew(now);
    }

    /// Time until the next upload is due; `None` if the queue is empty.
    pub fn due(&self, now: Instant) -> Option<Span> {
        if self.items.is_empty() {
            return None;
        }
        Some(if self.allowance.left > 0 { Span::ZERO } else { (self.allowance.renewed - now).max(Span::ZERO) })
    }

    /// Most bytes of the next upload.
    pub fn next_piece(&mut self, now: Instant) -> usize {
        if now >= self.allowance.renewed {
            self.allowance.renew(now);
        }
        self.allowance.left.min(PIECE)
    }

    /// Counts an upload of `bytes`. Returns the bytes uploaded with this frame so far.
    pub fn count_uploaded(&mut self, bytes: usize) -> usize {
        self.allowance.left = self.allowance.left.saturating_sub(bytes);
        MOST_AHEAD - self.allowance.left
    }
}

/// The parts of a buffer that are not uploaded yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MissingParts(Vec<Rectangle<i32, BufferCoords>>);

impl MissingParts {
    pub fn of(whole: Rectangle<i32, BufferCoords>) -> Self {
        MissingParts(vec![whole])
    }

    pub fn add(&mut self, changed: Rectangle<i32, BufferCoords>) {
        self.0.extend(changed.subtract_rects(self.0.iter().copied()).into_iter().filter(|part| !part.is_empty()));
        if self.0.len() > MOST_PARTS {
            self.0 = self.0.iter().copied().reduce(Rectangle::merge).into_iter().collect();
        }
    }

    /// Removes the missing parts within `wanted` and returns them.
    pub fn take(&mut self, wanted: Rectangle<i32, BufferCoords>) -> Vec<Rectangle<i32, BufferCoords>> {
        let parts = self.0.iter().filter_map(|part| part.intersection(wanted));
        let taken: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        if !taken.is_empty() {
            self.0 = Rectangle::subtract_rects_many_in_place(std::mem::take(&mut self.0), [wanted]);
        }
        taken
    }

    /// Removes a piece of at most `bytes`, the nearest to `near`, and returns it; `None`: no part is missing.
    pub fn piece(&mut self, near: Point<i32, BufferCoords>, bytes: usize) -> Option<Rectangle<i32, BufferCoords>> {
        let distance = |part: &Rectangle<i32, BufferCoords>| {
            let beyond =
                |at: i32, start: i32, length: i32| i64::from((start - at).max(at - (start + length - 1)).max(0));
            beyond(near.x, part.loc.x, part.size.w) + beyond(near.y, part.loc.y, part.size.h)
        };
        let Rectangle { loc, size } = *self.0.iter().min_by_key(|part| distance(part))?;
        let most = i32::try_from(bytes / BYTES_A_PIXEL).unwrap_or(i32::MAX).max(1);
        let width = size.w.min(most);
        let height = size.h.min(most / width.max(1));
        let from = |at: i32, start: i32, whole: i32, part: i32| (at - part / 2).clamp(start, start + whole - part);
        let place = (from(near.x, loc.x, size.w, width), from(near.y, loc.y, size.h, height));
        let piece = Rectangle::new(place.into(), (width, height).into());
        self.take(piece);
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: i32, y: i32, width: i32, height: i32) -> Rectangle<i32, BufferCoords> {
        Rectangle::new((x, y).into(), (width, height).into())
    }

    #[test]
    fn pieces_are_small_start_near_the_visible_part_and_cover_the_buffer() {
        let mut missing = MissingParts::of(rect(0, 0, 1_000, 4_000));
        assert_eq!(missing.take(rect(0, 900, 1_000, 200)), [rect(0, 900, 1_000, 200)]);
        let (mut pixels, mut first) = (0, None);
        while let Some(piece) = missing.piece((500, 1_000).into(), PIECE) {
            assert!((piece.size.w * piece.size.h) as usize * BYTES_A_PIXEL <= PIECE, "{piece:?}");
            first.get_or_insert(piece);
            pixels += piece.size.w * piece.size.h;
        }
        let first = first.unwrap();
        assert!(first.loc.y + first.size.h == 900 || first.loc.y == 1_100, "{first:?}");
        assert_eq!(pixels, 1_000 * 3_800);
    }

    #[test]
    fn a_row_that_is_longer_than_a_piece_is_cut() {
        let mut missing = MissingParts::of(rect(0, 0, 100_000, 1));
        assert_eq!(missing.piece((99_999, 0).into(), 4_000), Some(rect(99_000, 0, 1_000, 1)));
        assert_eq!(missing.piece((99_999, 0).into(), 1), Some(rect(98_999, 0, 1, 1)));
    }

    #[test]
    fn part_damaged_twice_is_missing_once() {
        let mut missing = MissingParts::default();
        missing.add(rect(0, 0, 10, 10));
        missing.add(rect(0, 5, 10, 10));
        let pixels: i32 = missing.take(rect(0, 0, 100, 100)).iter().map(|part| part.size.w * part.size.h).sum();
        assert_eq!((pixels, missing.0.len()), (150, 0));
        (0..40).for_each(|x| missing.add(rect(x * 2, 0, 1, 1)));
        assert!(missing.0.len() <= MOST_PARTS, "{}", missing.0.len());
    }

    #[test]
    fn no_more_is_copied_with_a_frame_than_is_allowed() {
        let mut now = Instant::from_nanos(1_000_000_000);
        let mut allowance = UploadQueue::new(now);
        let mut frame = |now| {
            let mut bytes = 0;
            loop {
                let piece = allowance.next_piece(now);
                if piece == 0 {
                    return bytes;
                }
                bytes += piece;
                allowance.count_uploaded(piece);
            }
        };
        assert_eq!((frame(now), frame(now + Span::from_millis(1))), (MOST_AHEAD, 0));
        now += PAUSE;
        assert_eq!((frame(now), frame(now)), (MOST_AHEAD, 0));
        allowance.frame_drawn(now);
        assert_eq!(allowance.next_piece(now), PIECE);
    }
}
