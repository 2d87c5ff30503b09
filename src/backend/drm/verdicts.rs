//! A cache of test commits: the combinations of planes that the driver accepts. Pure, but for the framebuffers that it
//! holds.
//!
//! ```text
//!   can_show ─► cached: the result
//!            └► unknown: false ─► worker: import ─► presenter: test commit ─► learn ─► planes are assigned again
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use super::memory::ClientFrame;
use super::planes::Shown;
use crate::backend::PixelRect;
use crate::backend::plane::{DeviceMemory, PlaneContent, Planes, SourceRect};

/// The size of the cache: more results than one latch needs, whatever the number of windows. With a smaller cache each
/// test would evict a result that is needed again.
const VERDICTS: usize = 64;

/// The key of the cache: all properties of the planes on which a driver's answer depends, as far as known.
///
/// The position of a source rectangle is not part of it while the rectangle lies on whole pixels, so that a scrolled
/// view is tested once and not at each offset. For formats with subsampled colours, drivers may need even positions, so
/// odd positions are a key of their own. If a driver needs more, it [refuses](Verdicts::refused) the frame, and these
/// planes are composed from then on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape(Vec<PlaneShape>);

#[derive(Clone, Debug, PartialEq)]
struct PlaneShape {
    direct: bool,
    size: (u32, u32),
    format: (u32, u64),
    strides: Vec<u32>,
    source: SourceShape,
    target: PixelRect,
}

/// The part of a source rectangle that matters to the driver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SourceShape {
    /// All edges on whole pixels: its size, and whether its left and top edges are odd, where that matters.
    Whole { width: f64, height: f64, odd: (bool, bool) },
    /// Some edges within pixels: the driver filters, and may do so only at this position.
    Fractional(SourceRect),
}

impl SourceShape {
    fn of(source: SourceRect, format: u32) -> Self {
        let SourceRect { x, y, width, height } = source;
        if [x, y, width, height].iter().any(|edge| edge.fract() != 0.0) {
            return SourceShape::Fractional(source);
        }
        let is_odd = |edge: f64| edge % 2.0 != 0.0 && !has_own_colours(format);
        SourceShape::Whole { width, height, odd: (is_odd(x), is_odd(y)) }
    }
}

/// Whether each pixel of this format has red, green and blue values of its own, by its name in `drm_fourcc.h`: `XR24`,
/// `AB48`, `RG16`. Unknown formats count as subsampled.
fn has_own_colours(format: u32) -> bool {
    matches!(&format.to_le_bytes()[..2], b"XR" | b"AR" | b"XB" | b"AB" | b"RX" | b"RA" | b"BX" | b"BA" | b"RG" | b"BG")
}

impl Shape {
    pub fn of(planes: &Planes) -> Self {
        let shape = |direct: bool, content: &PlaneContent| {
            let memory: &DeviceMemory = &content.memory;
            PlaneShape {
                direct,
                size: (memory.width, memory.height),
                format: (memory.format, memory.modifier),
                strides: memory.parts.iter().map(|part| part.stride).collect(),
                source: SourceShape::of(content.source, memory.format),
                target: content.target,
            }
        };
        let direct = planes.direct.iter().map(|content| shape(true, content));
        Shape(direct.chain(planes.overlays.iter().map(|content| shape(false, content))).collect())
    }
}

/// The state of a test commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Asked,
    Yes,
    No,
}

/// The framebuffer of a client's buffer.
struct Import {
    memory: Weak<DeviceMemory>,
    frame: Frame,
}

enum Frame {
    /// The import is under way.
    Asked,
    There(Arc<ClientFrame>),
    /// The import failed: no plane can show the buffer.
    Refused,
}

/// The result of a lookup, or the next step towards it.
#[derive(Debug)]
pub(super) enum Answer {
    Known(bool),
    /// Import these buffers; imports of further buffers may be under way.
    Import(Vec<Arc<DeviceMemory>>),
    /// Make a test commit.
    Test(Shown),
}

/// The cache of one pipe.
#[derive(Default)]
pub(super) struct Verdicts {
    known: VecDeque<(Shape, Verdict)>,
    imports: Vec<Import>,
    /// A lookup returned "no" only because the result was not known yet.
    disappointed: bool,
}

impl Verdicts {
    /// Whether the driver shows `planes`, or the next step to find out. The caller must take that step: it counts
    /// as taken.
    pub fn ask(&mut self, planes: &Planes) -> Answer {
        let shape = Shape::of(planes);
        let verdict = self.known.iter().find(|(known, _)| *known == shape).map(|(_, verdict)| *verdict);
        if verdict == Some(Verdict::No) {
            return Answer::Known(false);
        }
        let mut wanted = Vec::new();
        let (mut refused, mut waits) = (false, false);
        for content in planes.contents() {
            match self.frame(&content.memory) {
                Some(Frame::There(_)) => {}
                Some(Frame::Asked) => waits = true,
                Some(Frame::Refused) => refused = true,
                None => wanted.push(content.memory.clone()),
            }
        }
        if refused {
            return Answer::Known(false);
        }
        if waits || !wanted.is_empty() {
            self.disappointed = true;
            let import = |memory| Import { memory: Arc::downgrade(memory), frame: Frame::Asked };
            self.imports.extend(wanted.iter().map(import));
            return Answer::Import(wanted);
        }
        match (verdict, self.with_frames(planes.clone())) {
            (Some(Verdict::Yes), _) => Answer::Known(true),
            (None, Some(shown)) => {
                self.disappointed = true;
                self.remember(shape, Verdict::Asked);
                Answer::Test(shown)
            }
            (Some(Verdict::Asked), _) => {
                self.disappointed = true;
                Answer::Known(false)
            }
            (_, None) | (Some(Verdict::No), _) => Answer::Known(false),
        }
    }

    /// The planes with their framebuffers; `None` if a framebuffer is missing.
    pub fn with_frames(&self, planes: Planes) -> Option<Shown> {
        let frame = |content: &PlaneContent| match self.frame(&content.memory) {
            Some(Frame::There(frame)) => Some(frame.clone()),
            _ => None,
        };
        let frames = planes.contents().map(frame).collect::<Option<Vec<_>>>()?;
        Some(Shown { planes, frames })
    }

    /// Records the result of an import. Returns whether planes should be assigned again.
    pub fn imported(&mut self, memory: &Weak<DeviceMemory>, frame: Option<Arc<ClientFrame>>) -> bool {
        let is_there = frame.is_some();
        if let Some(known) = self.imports.iter_mut().find(|known| known.memory.ptr_eq(memory)) {
            known.frame = frame.map_or(Frame::Refused, Frame::There);
        }
        self.forget_gone();
        is_there && std::mem::take(&mut self.disappointed)
    }

    /// Records the result of a test commit; `None` if it could not be made, and may be tried again. Returns whether
    /// planes should be assigned again.
    pub fn learn(&mut self, shape: Shape, shows: Option<bool>) -> bool {
        // A test that was forgotten meanwhile was made in another mode or by another session.
        let Some(index) = self.known.iter().position(|(known, verdict)| *known == shape && *verdict == Verdict::Asked)
        else {
            return false;
        };
        let Some(shows) = shows else {
            self.known.remove(index);
            // Do not retry at once: the obstacle may still be there.
            self.disappoint();
            return false;
        };
        self.remember(shape, if shows { Verdict::Yes } else { Verdict::No });
        shows && std::mem::take(&mut self.disappointed)
    }

    /// The driver refused a frame with these planes.
    pub fn refused(&mut self, planes: &Planes) {
        self.remember(Shape::of(planes), Verdict::No);
    }

    /// A lookup failed only because the result is not known yet.
    pub fn disappoint(&mut self) {
        self.disappointed = true;
    }

    /// Whether planes should be assigned again, now that results can be known.
    pub fn take_disappointed(&mut self) -> bool {
        std::mem::take(&mut self.disappointed)
    }

    /// Clears the results: the mode has changed, or another session had the device, so the driver may answer
    /// differently.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Drops the framebuffers of destroyed buffers.
    pub fn forget_gone(&mut self) {
        self.imports.retain(|import| import.memory.strong_count() > 0);
    }

    fn frame(&self, memory: &Arc<DeviceMemory>) -> Option<&Frame> {
        let address = Arc::as_ptr(memory);
        self.imports.iter().find(|import| import.memory.as_ptr() == address).map(|import| &import.frame)
    }

    fn remember(&mut self, shape: Shape, verdict: Verdict) {
        self.known.retain(|(known, _)| *known != shape);
        if self.known.len() == VERDICTS {
            self.known.pop_front();
        }
        self.known.push_back((shape, verdict));
    }
}

#[cfg(test)]
mod tests {
    use super::super::worker::Jobs;
    use super::*;

    fn memory() -> Arc<DeviceMemory> {
        Arc::new(DeviceMemory { width: 8, height: 8, format: 0, modifier: 0, parts: Vec::new() })
    }

    fn planes(memory: &Arc<DeviceMemory>, x: i32) -> Planes {
        let target = PixelRect { x, y: 0, width: 8, height: 8 };
        let content =
            PlaneContent { memory: memory.clone(), hold: Arc::new(()), source: SourceRect::default(), target };
        Planes { direct: None, overlays: vec![content] }
    }

    /// A framebuffer without a device: the worker that frees it gets an error.
    fn frame() -> Option<Arc<ClientFrame>> {
        use smithay::backend::drm::DrmDeviceFd;
        use smithay::utils::DeviceFd;
        let file = std::fs::File::open("/dev/null").unwrap();
        let device = DrmDeviceFd::new(DeviceFd::from(std::os::fd::OwnedFd::from(file)));
        let handle = std::num::NonZeroU32::new(1).unwrap();
        Some(Arc::new(ClientFrame::new(&device, handle.into(), &Jobs::start().unwrap())))
    }

    #[test]
    fn what_nobody_knows_is_composed_until_it_is_known() {
        let (mut verdicts, memory) = (Verdicts::default(), memory());
        let planes = planes(&memory, 0);
        assert!(matches!(verdicts.ask(&planes), Answer::Import(wanted) if wanted.len() == 1));
        assert!(matches!(verdicts.ask(&planes), Answer::Import(wanted) if wanted.is_empty()), "it is on its way");
        assert!(verdicts.imported(&Arc::downgrade(&memory), frame()), "ask again");
        assert!(matches!(verdicts.ask(&planes), Answer::Test(_)));
        assert!(matches!(verdicts.ask(&planes), Answer::Known(false)), "the driver was asked");
        assert!(verdicts.learn(Shape::of(&planes), Some(true)), "ask again");
        assert!(matches!(verdicts.ask(&planes), Answer::Known(true)));
    }

    #[test]
    fn an_answer_counts_for_its_shape_alone_and_a_no_disturbs_nobody() {
        let (mut verdicts, memory) = (Verdicts::default(), memory());
        let (here, there) = (planes(&memory, 0), planes(&memory, 1));
        verdicts.ask(&here);
        verdicts.imported(&Arc::downgrade(&memory), frame());
        verdicts.ask(&here);
        assert!(!verdicts.learn(Shape::of(&here), Some(false)));
        assert!(matches!(verdicts.ask(&here), Answer::Known(false)));
        assert!(matches!(verdicts.ask(&there), Answer::Test(_)));
    }

    #[test]
    fn a_source_that_moves_inside_its_buffer_is_asked_for_once_where_pixels_have_colours_of_their_own() {
        let questions = |code: &[u8; 4]| {
            let made =
                DeviceMemory { width: 8, height: 8, format: u32::from_le_bytes(*code), modifier: 0, parts: vec![] };
            let (mut verdicts, memory) = (Verdicts::default(), Arc::new(made));
            let at = |y: f64| {
                let mut planes = planes(&memory, 0);
                planes.overlays[0].source = SourceRect { x: 0.0, y, width: 4.0, height: 4.0 };
                planes
            };
            verdicts.ask(&at(0.0));
            verdicts.imported(&Arc::downgrade(&memory), frame());
            let rows = (0..200).filter(|row| match verdicts.ask(&at(f64::from(*row))) {
                Answer::Test(shown) => verdicts.learn(Shape::of(&shown.planes), Some(true)),
                _ => false,
            });
            rows.count()
        };
        assert_eq!((questions(b"XR24"), questions(b"AB48"), questions(b"NV12"), questions(b"YUYV")), (1, 1, 2, 2));
    }

    #[test]
    fn a_source_that_moves_inside_its_buffer_is_asked_for_once_for_odd_and_once_for_even_pixels() {
        let (mut verdicts, memory) = (Verdicts::default(), memory());
        let at = |x: f64, y: f64| {
            let mut planes = planes(&memory, 0);
            planes.overlays[0].source = SourceRect { x, y, width: 4.0, height: 4.0 };
            planes
        };
        verdicts.ask(&at(0.0, 0.0));
        verdicts.imported(&Arc::downgrade(&memory), frame());
        let mut asked = 0;
        for row in 0..200 {
            if let Answer::Test(shown) = verdicts.ask(&at(0.0, f64::from(row))) {
                asked += 1;
                verdicts.learn(Shape::of(&shown.planes), Some(true));
            }
            assert!(matches!(verdicts.ask(&at(0.0, f64::from(row))), Answer::Known(true)), "row {row}");
        }
        assert_eq!(asked, 2);
        assert!(matches!(verdicts.ask(&at(0.0, 0.5)), Answer::Test(_)), "between pixels the driver filters");
        let mut wider = at(0.0, 0.0);
        wider.overlays[0].source.width = 5.0;
        assert!(matches!(verdicts.ask(&wider), Answer::Test(_)));
    }

    #[test]
    fn an_answer_that_could_not_be_had_is_asked_for_again() {
        let (mut verdicts, memory) = (Verdicts::default(), memory());
        let planes = planes(&memory, 0);
        verdicts.ask(&planes);
        verdicts.imported(&Arc::downgrade(&memory), frame());
        assert!(matches!(verdicts.ask(&planes), Answer::Test(_)));
        assert!(!verdicts.learn(Shape::of(&planes), None), "not at once");
        assert!(verdicts.take_disappointed(), "but when something was shown");
        assert!(matches!(verdicts.ask(&planes), Answer::Test(_)));
    }

    #[test]
    fn all_answers_of_a_latch_with_many_windows_are_remembered() {
        let (mut verdicts, memory) = (Verdicts::default(), memory());
        let windows: Vec<_> = (0..40).map(|x| planes(&memory, x)).collect();
        verdicts.ask(&windows[0]);
        verdicts.imported(&Arc::downgrade(&memory), frame());
        for window in &windows {
            assert!(matches!(verdicts.ask(window), Answer::Test(_)));
            verdicts.learn(Shape::of(window), Some(true));
        }
        assert!(windows.iter().all(|window| matches!(verdicts.ask(window), Answer::Known(true))));
    }

    #[test]
    fn what_the_driver_said_in_another_mode_says_nothing_in_this_one() {
        let (mut verdicts, memory) = (Verdicts::default(), memory());
        let planes = planes(&memory, 0);
        verdicts.ask(&planes);
        verdicts.imported(&Arc::downgrade(&memory), frame());
        verdicts.ask(&planes);
        verdicts.forget();
        assert!(!verdicts.learn(Shape::of(&planes), Some(true)), "asked before the mode was switched");
        assert!(matches!(verdicts.ask(&planes), Answer::Test(_)));
    }

    #[test]
    fn a_frame_that_was_refused_is_not_tried_again_and_a_buffer_that_cannot_be_imported_neither() {
        let (mut verdicts, memory, other) = (Verdicts::default(), memory(), memory());
        let refused = planes(&memory, 0);
        verdicts.refused(&refused);
        assert!(matches!(verdicts.ask(&refused), Answer::Known(false)));
        let planes = planes(&other, 1);
        verdicts.ask(&planes);
        assert!(!verdicts.imported(&Arc::downgrade(&other), None));
        assert!(matches!(verdicts.ask(&planes), Answer::Known(false)));
    }
}
