//! What will be seen soon: clients' memory that is copied before it is, a little with each frame, and how little.
//!
//! ```text
//!   announced ─► lent: copied in pieces ─► returned, let go by whoever has the clients
//!   frame ▓▓▓ piece piece … ┊ 2 MiB ┊              frame ▓▓▓ piece …
//! ```
//!
//! Where nothing is drawn a refresh of a usual display counts as a frame.

use smithay::backend::renderer::utils::{Buffer, CommitCounter, DamageSnapshot};
use smithay::reexports::wayland_server::Resource as _;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer as BufferCoords, Point, Rectangle};

use upbeat_timing::time::{Instant, Span};

/// No more bytes are copied with one frame before they are seen.
pub const MOST_AHEAD: usize = 2 << 20;
/// A frame that is to be drawn waits for no more bytes than this.
const PIECE: usize = 256 << 10;
/// Without frames the next bytes are copied after this.
const PAUSE: Span = Span::from_millis(16);
/// More parts than this are copied as the rectangle around them.
const MOST_PARTS: usize = 16;
pub(super) const BYTES_A_PIXEL: usize = size_of::<u32>();

/// Content that will be seen soon.
#[derive(Debug)]
pub struct Ahead {
    /// Whose.
    pub surface: WlSurface,
    /// The client's memory.
    pub buffer: Buffer,
    /// What changed with which commit.
    pub damage: DamageSnapshot<i32, BufferCoords>,
    /// The pixel of the buffer that is nearest to what is seen.
    pub near: Point<i32, BufferCoords>,
}

impl Ahead {
    /// Which commit it shows.
    pub(super) fn commit(&self) -> CommitCounter {
        self.damage.current_commit()
    }
}

/// How many bytes were copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Before they were seen.
    pub ahead: u64,
    /// The most of that with one frame.
    pub most_ahead: u64,
    /// Of the same surfaces, with the frame that showed them.
    pub seen: u64,
}

/// How many bytes may still be copied with this frame.
#[derive(Debug)]
struct Allowance {
    left: usize,
    /// It is another frame's by then.
    renewed: Instant,
}

impl Allowance {
    fn full(now: Instant) -> Self {
        Allowance { left: MOST_AHEAD, renewed: now + PAUSE }
    }

    fn renew(&mut self, now: Instant) {
        *self = Allowance::full(now);
    }
}

/// What is being copied, on the thread that draws; what it is done with is to be let go elsewhere.
#[derive(Debug)]
pub(super) struct Lent {
    pub items: Vec<Ahead>,
    allowance: Allowance,
}

impl Lent {
    pub fn new(now: Instant) -> Self {
        Lent { items: Vec::new(), allowance: Allowance::full(now) }
    }

    /// What is announced comes first, in its order. Returns what it takes the place of.
    pub fn announce(&mut self, announced: &mut Vec<Ahead>) -> Vec<Ahead> {
        if announced.is_empty() {
            return Vec::new();
        }
        let is_renewed = |item: &Ahead| announced.iter().any(|new| new.surface == item.surface);
        let (old, stays): (Vec<_>, Vec<_>) =
            self.items.drain(..).partition(|item| is_renewed(item) || !item.surface.is_alive());
        self.items.append(announced);
        self.items.extend(stays);
        old
    }

    /// A frame was drawn.
    pub fn drew(&mut self, now: Instant) {
        self.allowance.renew(now);
    }

    /// In how long there is something to be copied.
    pub fn due(&self, now: Instant) -> Option<Span> {
        if self.items.is_empty() {
            return None;
        }
        Some(if self.allowance.left > 0 { Span::ZERO } else { (self.allowance.renewed - now).max(Span::ZERO) })
    }

    /// How many bytes the next piece may have.
    pub fn next_piece(&mut self, now: Instant) -> usize {
        if now >= self.allowance.renewed {
            self.allowance.renew(now);
        }
        self.allowance.left.min(PIECE)
    }

    /// So many were copied. Returns how many with this frame.
    pub fn copied(&mut self, bytes: usize) -> usize {
        self.allowance.left = self.allowance.left.saturating_sub(bytes);
        MOST_AHEAD - self.allowance.left
    }
}

/// What of a buffer was not copied yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing(Vec<Rectangle<i32, BufferCoords>>);

impl Missing {
    pub fn of(whole: Rectangle<i32, BufferCoords>) -> Self {
        Missing(vec![whole])
    }

    pub fn add(&mut self, changed: Rectangle<i32, BufferCoords>) {
        self.0.extend(changed.subtract_rects(self.0.iter().copied()).into_iter().filter(|part| !part.is_empty()));
        if self.0.len() > MOST_PARTS {
            self.0 = self.0.iter().copied().reduce(Rectangle::merge).into_iter().collect();
        }
    }

    /// What of `wanted` is missing: from now on it is not.
    pub fn take(&mut self, wanted: Rectangle<i32, BufferCoords>) -> Vec<Rectangle<i32, BufferCoords>> {
        let parts = self.0.iter().filter_map(|part| part.intersection(wanted));
        let taken: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        if !taken.is_empty() {
            self.0 = Rectangle::subtract_rects_many_in_place(std::mem::take(&mut self.0), [wanted]);
        }
        taken
    }

    /// A piece of at most so many bytes, the nearest to `near`; `None`: nothing is missing.
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
    fn pieces_are_small_begin_near_what_is_seen_and_are_all_of_it() {
        let mut missing = Missing::of(rect(0, 0, 1_000, 4_000));
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
        let mut missing = Missing::of(rect(0, 0, 100_000, 1));
        assert_eq!(missing.piece((99_999, 0).into(), 4_000), Some(rect(99_000, 0, 1_000, 1)));
        assert_eq!(missing.piece((99_999, 0).into(), 1), Some(rect(98_999, 0, 1, 1)));
    }

    #[test]
    fn what_changes_again_is_missing_once() {
        let mut missing = Missing::default();
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
        let mut allowance = Lent::new(now);
        let mut frame = |now| {
            let mut bytes = 0;
            loop {
                let piece = allowance.next_piece(now);
                if piece == 0 {
                    return bytes;
                }
                bytes += piece;
                allowance.copied(piece);
            }
        };
        assert_eq!((frame(now), frame(now + Span::from_millis(1))), (MOST_AHEAD, 0));
        now += PAUSE;
        assert_eq!((frame(now), frame(now)), (MOST_AHEAD, 0));
        allowance.drew(now);
        assert_eq!(allowance.next_piece(now), PIECE);
    }
}
