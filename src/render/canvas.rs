//! Per-output render state between frames: damage, and which frame each buffer holds.
//!
//! An output holds only a key, the [`Canvas`]. The renderer keeps the state for each key ([`Canvases`]) on its own
//! thread. So buffer age is counted where frames are drawn, in the order in which they are drawn.

use std::sync::{Arc, Weak};

use smithay::backend::renderer::damage::OutputDamageTracker;
use smithay::utils::{Physical, Size, Transform};

use crate::backend::Buffer;
use crate::output_transform::OutputTransform;
use crate::revision::Revision;

/// Key of an output's render state.
#[derive(Clone, Debug)]
pub struct Canvas {
    name: Arc<()>,
    size: Size<i32, Physical>,
    turn: OutputTransform,
    forgotten: Revision,
}

impl Canvas {
    /// For scenes of `size` physical pixels, transformed by `turn` onto the panel.
    pub fn new(size: Size<i32, Physical>, turn: OutputTransform) -> Self {
        Canvas { name: Arc::default(), size, turn, forgotten: Revision::default() }
    }

    /// Gives the next frame full damage. Needed when a drawn frame did not reach the display, because the display
    /// then missed its damage.
    pub fn forget(&mut self) {
        self.forgotten.advance();
    }
}

/// Tracks damage between frames.
pub(super) trait FrameTracker {
    /// For scenes of `size`, transformed by `turn`, before the first frame.
    fn of(size: Size<i32, Physical>, turn: OutputTransform) -> Self;
}

impl FrameTracker for OutputDamageTracker {
    fn of(size: Size<i32, Physical>, turn: OutputTransform) -> Self {
        // Its elements already have panel coordinates.
        OutputDamageTracker::new(turn.size(size), 1.0, Transform::Normal)
    }
}

/// Render targets of an output.
pub(super) trait CanvasTargets {
    /// Whether they must outlive the output's canvas, because pictures in them may still be read.
    fn are_read(&self) -> bool {
        false
    }
}

impl CanvasTargets for () {}

/// A renderer's state for one canvas. `T`: render targets; `M`: damage tracker.
#[derive(Debug)]
pub(super) struct CanvasState<T, M = OutputDamageTracker> {
    forgotten: Revision,
    pub tracker: M,
    /// Number of frames drawn, and the frame that each buffer holds. The display counts only frames that were
    /// submitted to it.
    frames: u64,
    buffers: Vec<(usize, u64)>,
    pub targets: T,
}

impl<T, M> CanvasState<T, M> {
    /// Buffer age: how many frames ago the content of `buffer` was drawn; 0 if unknown.
    pub fn age(&self, buffer: &Buffer) -> usize {
        let known = self.buffers.iter().find(|(slot, _)| *slot == buffer.slot).filter(|_| buffer.age > 0);
        known.map_or(0, |(_, frame)| usize::try_from(self.frames - frame + 1).unwrap_or(0))
    }

    /// A frame was drawn into buffer `slot`.
    pub fn frame_drawn(&mut self, slot: usize) {
        self.frames += 1;
        match self.buffers.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, frame)) => *frame = self.frames,
            None => self.buffers.push((slot, self.frames)),
        }
    }
}

/// A renderer's state for all outputs. An entry is dropped after the output has dropped its canvas.
#[derive(Debug)]
pub(super) struct Canvases<T, M = OutputDamageTracker>(Vec<(Weak<()>, CanvasState<T, M>)>);

impl<T, M> Default for Canvases<T, M> {
    fn default() -> Self {
        Canvases(Vec::new())
    }
}

impl<T: CanvasTargets + Default, M: FrameTracker> Canvases<T, M> {
    /// The state of this canvas, created if missing.
    pub fn of(&mut self, canvas: &Canvas) -> &mut CanvasState<T, M> {
        self.0.retain(|(name, state)| name.strong_count() > 0 || state.targets.are_read());
        let name = Arc::downgrade(&canvas.name);
        let index = self.0.iter().position(|(known, _)| known.ptr_eq(&name)).unwrap_or_else(|| {
            let drawn = CanvasState {
                forgotten: canvas.forgotten,
                tracker: M::of(canvas.size, canvas.turn),
                frames: 0,
                buffers: Vec::new(),
                targets: T::default(),
            };
            self.0.push((name, drawn));
            self.0.len() - 1
        });
        let drawn = &mut self.0[index].1;
        if drawn.forgotten != canvas.forgotten {
            drawn.forgotten = canvas.forgotten;
            drawn.tracker = M::of(canvas.size, canvas.turn);
        }
        drawn
    }

    /// The states of all canvases.
    pub fn states(&mut self) -> impl Iterator<Item = &mut CanvasState<T, M>> {
        self.0.iter_mut().map(|(_, state)| state)
    }

    /// A frame was drawn only in part, so the next gets full damage.
    pub fn force_full_damage(&mut self, canvas: &Canvas) {
        self.of(canvas).tracker = M::of(canvas.size, canvas.turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{BufferStorage, PixelBuffer};

    fn buffer(slot: usize, age: u32) -> Buffer {
        Buffer { storage: BufferStorage::Memory(PixelBuffer::new(1, 1)), age, slot }
    }

    #[test]
    fn ages_count_frames_that_the_display_was_never_given() {
        let mut canvases = Canvases::<()>::default();
        let canvas = Canvas::new((1, 1).into(), OutputTransform::NORMAL);
        [0, 1, 2].into_iter().for_each(|slot| canvases.of(&canvas).frame_drawn(slot));
        assert_eq!(canvases.of(&canvas).age(&buffer(0, 1)), 3);
        assert_eq!(canvases.of(&canvas).age(&buffer(2, 3)), 1);
        assert_eq!(canvases.of(&canvas).age(&buffer(2, 0)), 0, "its content is unknown");
        assert_eq!(canvases.of(&canvas).age(&buffer(7, 1)), 0, "it was never drawn into");
    }

    #[test]
    fn state_of_a_dropped_canvas_is_dropped() {
        let mut canvases = Canvases::<()>::default();
        let (kept, gone) =
            (Canvas::new((1, 1).into(), OutputTransform::NORMAL), Canvas::new((1, 1).into(), OutputTransform::NORMAL));
        canvases.of(&kept).frame_drawn(0);
        canvases.of(&gone).frame_drawn(0);
        drop(gone);
        assert_eq!(canvases.of(&kept).age(&buffer(0, 1)), 1);
        assert_eq!(canvases.0.len(), 1);
    }
}
