//! A cache of test commits: the combinations of planes that the driver accepts. Pure, but for the framebuffers that it
//! holds.
//!
//! ```text
//!   can_show ─► cached: the result
//!            └► unknown: false ─► worker: import ─► presenter: test commit ─► record_result ─► planes assigned anew
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use super::memory::ClientFrame;
use super::planes::ShownPlanes;
use crate::backend::PixelRect;
use crate::backend::overlay::intersection;
use crate::backend::plane::{DeviceMemory, PlaneContent, PlaneContents, SourceRect};

/// The size of the cache: more results than one latch needs, whatever the number of windows. With a smaller cache each
/// test would evict a result that is needed again.
const MOST_RESULTS: usize = 64;

/// The key of the cache: all properties of the planes on which a driver's answer depends, as far as known.
///
/// The position of a source rectangle is not part of it while the rectangle lies on whole pixels, so that a scrolled
/// view is tested once and not at each offset. For formats with subsampled colours, drivers may need even positions, so
/// odd positions are a key of their own. The position on the screen is not part of it either while the whole target lies
/// there, so that a window that is moved is tested once. If a driver needs more, it refuses the frame
/// ([`record_refusal`](TestCommitCache::record_refusal)), and these planes are composed from then on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlaneTestKey {
    planes: Vec<PlaneKey>,
    /// The pairs of overlays that overlap each other.
    overlapping: Vec<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq)]
struct PlaneKey {
    direct: bool,
    size: (u32, u32),
    format: (u32, u64),
    strides: Vec<u32>,
    source: SourceKey,
    target: TargetKey,
}

/// The part of a source rectangle that matters to the driver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SourceKey {
    /// All edges on whole pixels: its size, and whether its left and top edges are odd, where that matters.
    Whole { width: f64, height: f64, odd: (bool, bool) },
    /// Some edges within pixels: the driver filters, and may do so only at this position.
    Fractional(SourceRect),
}

impl SourceKey {
    fn of(source: SourceRect, format: u32) -> Self {
        let SourceRect { x, y, width, height } = source;
        if [x, y, width, height].iter().any(|edge| edge.fract() != 0.0) {
            return SourceKey::Fractional(source);
        }
        let is_odd = |edge: f64| edge % 2.0 != 0.0 && !is_unsubsampled_rgb(format);
        SourceKey::Whole { width, height, odd: (is_odd(x), is_odd(y)) }
    }
}

/// The part of a target rectangle that matters to the driver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TargetKey {
    /// All of it lies on the screen: its width and height.
    Whole(i32, i32),
    /// The edge of the screen cuts it: the remaining part may be too small or not aligned, so its position matters.
    Cut(PixelRect),
}

impl TargetKey {
    /// For a screen of this width and height.
    fn of(target: PixelRect, (width, height): (i32, i32)) -> Self {
        let PixelRect { x, y, width: across, height: down } = target;
        let is_inside = x >= 0 && y >= 0 && x <= width.saturating_sub(across) && y <= height.saturating_sub(down);
        if is_inside { TargetKey::Whole(across, down) } else { TargetKey::Cut(target) }
    }
}

/// Whether each pixel of this format has red, green and blue values of its own, by its name in `drm_fourcc.h`: `XR24`,
/// `AB48`, `RG16`. Unknown formats count as subsampled.
fn is_unsubsampled_rgb(format: u32) -> bool {
    matches!(&format.to_le_bytes()[..2], b"XR" | b"AR" | b"XB" | b"AB" | b"RX" | b"RA" | b"BX" | b"BA" | b"RG" | b"BG")
}

impl PlaneTestKey {
    /// The key on a screen of this width and height.
    fn of(planes: &PlaneContents, screen: (i32, i32)) -> Self {
        let key = |direct: bool, content: &PlaneContent| {
            let memory: &DeviceMemory = content.memory.device()?;
            Some(PlaneKey {
                direct,
                size: (memory.width, memory.height),
                format: (memory.format, memory.modifier),
                strides: memory.parts.iter().map(|part| part.stride).collect(),
                source: SourceKey::of(content.source, memory.format),
                target: TargetKey::of(content.target, screen),
            })
        };
        // No plane takes shared memory, so such contents reach no test.
        let direct = planes.direct.iter().filter_map(|content| key(true, content));
        let overlays = planes.overlays.iter().filter_map(|content| key(false, content));
        PlaneTestKey { planes: direct.chain(overlays).collect(), overlapping: overlapping(&planes.overlays) }
    }
}

/// The pairs of overlays that overlap each other, by their indices.
fn overlapping(overlays: &[PlaneContent]) -> Vec<(usize, usize)> {
    let overlaps = |(a, b): &(usize, usize)| {
        let PixelRect { width, height, .. } = intersection(overlays[*a].target, overlays[*b].target);
        width > 0 && height > 0
    };
    let pairs = (0..overlays.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    pairs.filter(overlaps).collect()
}

/// The state of a test commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestCommitResult {
    Asked,
    Yes,
    No,
}

/// The framebuffer of a client's buffer.
struct BufferImport {
    memory: Weak<DeviceMemory>,
    frame: ImportedFramebuffer,
}

enum ImportedFramebuffer {
    /// The import is under way.
    Asked,
    There(Arc<ClientFrame>),
    /// The import failed: no plane can show the buffer.
    Refused,
}

/// The result of a lookup, or the next step towards it.
#[derive(Debug)]
pub(super) enum TestCommitLookup {
    Known(bool),
    /// Import these buffers; imports of further buffers may be under way.
    Import(Vec<Arc<DeviceMemory>>),
    /// Make a test commit.
    Test(ShownPlanes),
}

/// The cache of one pipe.
#[derive(Default)]
pub(super) struct TestCommitCache {
    known: VecDeque<(PlaneTestKey, TestCommitResult)>,
    imports: Vec<BufferImport>,
    /// A lookup returned "no" only because the result was not known yet.
    retry_wanted: bool,
    /// Width and height of the mode; nothing lies on the screen before it is set.
    screen: (i32, i32),
}

impl TestCommitCache {
    /// Sets the width and height of the mode.
    pub const fn set_screen(&mut self, screen: (i32, i32)) {
        self.screen = screen;
    }

    /// The key of these planes.
    pub fn key(&self, planes: &PlaneContents) -> PlaneTestKey {
        PlaneTestKey::of(planes, self.screen)
    }

    /// Whether the driver shows `planes`, or the next step to find out. The caller must take that step: it counts
    /// as taken.
    pub fn lookup(&mut self, planes: &PlaneContents) -> TestCommitLookup {
        let key = self.key(planes);
        let result = self.known.iter().find(|(known, _)| *known == key).map(|(_, result)| *result);
        if result == Some(TestCommitResult::No) {
            return TestCommitLookup::Known(false);
        }
        let mut wanted = Vec::new();
        let (mut refused, mut waits) = (false, false);
        for content in planes.contents() {
            let Some(memory) = content.memory.device() else { return TestCommitLookup::Known(false) };
            match self.frame(memory) {
                Some(ImportedFramebuffer::There(_)) => {}
                Some(ImportedFramebuffer::Asked) => waits = true,
                Some(ImportedFramebuffer::Refused) => refused = true,
                None => wanted.push(memory.clone()),
            }
        }
        if refused {
            return TestCommitLookup::Known(false);
        }
        if waits || !wanted.is_empty() {
            self.retry_wanted = true;
            let import = |memory| BufferImport { memory: Arc::downgrade(memory), frame: ImportedFramebuffer::Asked };
            self.imports.extend(wanted.iter().map(import));
            return TestCommitLookup::Import(wanted);
        }
        match (result, self.with_frames(planes.clone())) {
            (Some(TestCommitResult::Yes), _) => TestCommitLookup::Known(true),
            (None, Some(shown)) => {
                self.retry_wanted = true;
                self.remember(key, TestCommitResult::Asked);
                TestCommitLookup::Test(shown)
            }
            (Some(TestCommitResult::Asked), _) => {
                self.retry_wanted = true;
                TestCommitLookup::Known(false)
            }
            (_, None) | (Some(TestCommitResult::No), _) => TestCommitLookup::Known(false),
        }
    }

    /// The planes with their framebuffers; `None` if a framebuffer is missing.
    pub fn with_frames(&self, planes: PlaneContents) -> Option<ShownPlanes> {
        let frame = |content: &PlaneContent| match self.frame(content.memory.device()?) {
            Some(ImportedFramebuffer::There(frame)) => Some(frame.clone()),
            _ => None,
        };
        let frames = planes.contents().map(frame).collect::<Option<Vec<_>>>()?;
        Some(ShownPlanes { planes, frames })
    }

    /// Records the result of an import. Returns whether planes should be assigned again.
    pub fn record_import(&mut self, memory: &Weak<DeviceMemory>, frame: Option<Arc<ClientFrame>>) -> bool {
        let is_there = frame.is_some();
        if let Some(known) = self.imports.iter_mut().find(|known| known.memory.ptr_eq(memory)) {
            known.frame = frame.map_or(ImportedFramebuffer::Refused, ImportedFramebuffer::There);
        }
        self.drop_destroyed();
        is_there && std::mem::take(&mut self.retry_wanted)
    }

    /// Records the result of a test commit; `None` if it could not be made, and may be tried again. Returns whether
    /// planes should be assigned again.
    pub fn record_result(&mut self, key: PlaneTestKey, shows: Option<bool>) -> bool {
        // A test that was forgotten meanwhile was made in another mode, or before another session had the device.
        let Some(index) =
            self.known.iter().position(|(known, result)| *known == key && *result == TestCommitResult::Asked)
        else {
            return false;
        };
        let Some(shows) = shows else {
            self.known.remove(index);
            // Do not retry at once: the obstacle may still be there.
            self.want_retry();
            return false;
        };
        self.remember(key, if shows { TestCommitResult::Yes } else { TestCommitResult::No });
        shows && std::mem::take(&mut self.retry_wanted)
    }

    /// The driver refused a frame with these planes.
    pub fn record_refusal(&mut self, planes: &PlaneContents) {
        self.remember(self.key(planes), TestCommitResult::No);
    }

    /// A lookup failed only because the result is not known yet.
    pub fn want_retry(&mut self) {
        self.retry_wanted = true;
    }

    /// Whether planes should be assigned again, now that results can be known.
    pub fn take_retry_wanted(&mut self) -> bool {
        std::mem::take(&mut self.retry_wanted)
    }

    /// Clears the results: the mode has changed, or another session had the device, so the driver may answer
    /// differently.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Drops the framebuffers of destroyed buffers.
    pub fn drop_destroyed(&mut self) {
        self.imports.retain(|import| import.memory.strong_count() > 0);
    }

    fn frame(&self, memory: &Arc<DeviceMemory>) -> Option<&ImportedFramebuffer> {
        let address = Arc::as_ptr(memory);
        self.imports.iter().find(|import| import.memory.as_ptr() == address).map(|import| &import.frame)
    }

    fn remember(&mut self, key: PlaneTestKey, result: TestCommitResult) {
        self.known.retain(|(known, _)| *known != key);
        if self.known.len() == MOST_RESULTS {
            self.known.pop_front();
        }
        self.known.push_back((key, result));
    }
}

#[cfg(test)]
mod tests;
