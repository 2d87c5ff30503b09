//! What is remembered of one output between two frames: what is damaged, which frame each buffer holds.
//!
//! An output has the name of it, a [`Canvas`]; whoever draws keeps what goes with the name ([`Canvases`]), on its own
//! thread. So the age of a buffer is counted where frames are drawn, in the order in which they are.

use std::sync::{Arc, Weak};

use smithay::backend::renderer::damage::OutputDamageTracker;
use smithay::utils::{Physical, Size, Transform};

use crate::backend::Buffer;
use crate::revision::Revision;
use crate::turn::Turn;

/// Names what is remembered of one output between two frames.
#[derive(Clone, Debug)]
pub struct Canvas {
    name: Arc<()>,
    size: Size<i32, Physical>,
    turn: Turn,
    forgotten: Revision,
}

impl Canvas {
    /// For scenes of `size` physical pixels that are turned like this onto what they are drawn into.
    pub fn new(size: Size<i32, Physical>, turn: Turn) -> Self {
        Canvas { name: Arc::default(), size, turn, forgotten: Revision::default() }
    }

    /// Forgets what was drawn: the next frame is drawn as a whole. Wanted when a frame that was drawn did not reach the
    /// display, which then has not heard of what changed in it.
    pub fn forget(&mut self) {
        self.forgotten.advance();
    }
}

/// What tells two frames apart.
pub(super) trait Memory {
    /// Of scenes of `size` that are turned like this, of which nothing was drawn yet.
    fn of(size: Size<i32, Physical>, turn: Turn) -> Self;
}

impl Memory for OutputDamageTracker {
    fn of(size: Size<i32, Physical>, turn: Turn) -> Self {
        // What it is given lies as it does on the panel.
        OutputDamageTracker::new(turn.size(size), 1.0, Transform::Normal)
    }
}

/// What a painter remembers under the name of a canvas; `T` is what it draws into, `M` tells what has to be drawn.
#[derive(Debug)]
pub(super) struct Drawn<T, M = OutputDamageTracker> {
    forgotten: Revision,
    pub tracker: M,
    /// How many frames were drawn, and which of them each buffer holds. The display counts only those that it was given.
    frames: u64,
    buffers: Vec<(usize, u64)>,
    pub targets: T,
}

impl<T, M> Drawn<T, M> {
    /// How many frames ago the content of `buffer` was drawn; 0 where that is unknown.
    pub fn age(&self, buffer: &Buffer) -> usize {
        let known = self.buffers.iter().find(|(slot, _)| *slot == buffer.slot).filter(|_| buffer.age > 0);
        known.map_or(0, |(_, frame)| usize::try_from(self.frames - frame + 1).unwrap_or(0))
    }

    /// A frame was drawn into buffer `slot`.
    pub fn drew(&mut self, slot: usize) {
        self.frames += 1;
        match self.buffers.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, frame)) => *frame = self.frames,
            None => self.buffers.push((slot, self.frames)),
        }
    }
}

/// What a painter remembers of all outputs. It is let go when the output has let go of the name.
#[derive(Debug)]
pub(super) struct Canvases<T, M = OutputDamageTracker>(Vec<(Weak<()>, Drawn<T, M>)>);

impl<T, M> Default for Canvases<T, M> {
    fn default() -> Self {
        Canvases(Vec::new())
    }
}

impl<T: Default, M: Memory> Canvases<T, M> {
    /// What is remembered under this name.
    pub fn of(&mut self, canvas: &Canvas) -> &mut Drawn<T, M> {
        self.0.retain(|(name, _)| name.strong_count() > 0);
        let name = Arc::downgrade(&canvas.name);
        let index = self.0.iter().position(|(known, _)| known.ptr_eq(&name)).unwrap_or_else(|| {
            let drawn = Drawn {
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

    /// A frame was drawn in part: the next one is drawn as a whole.
    pub fn spoil(&mut self, canvas: &Canvas) {
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
        let canvas = Canvas::new((1, 1).into(), Turn::NORMAL);
        [0, 1, 2].into_iter().for_each(|slot| canvases.of(&canvas).drew(slot));
        assert_eq!(canvases.of(&canvas).age(&buffer(0, 1)), 3);
        assert_eq!(canvases.of(&canvas).age(&buffer(2, 3)), 1);
        assert_eq!(canvases.of(&canvas).age(&buffer(2, 0)), 0, "its content is unknown");
        assert_eq!(canvases.of(&canvas).age(&buffer(7, 1)), 0, "it was never drawn into");
    }

    #[test]
    fn what_nobody_names_any_more_is_let_go() {
        let mut canvases = Canvases::<()>::default();
        let (kept, gone) = (Canvas::new((1, 1).into(), Turn::NORMAL), Canvas::new((1, 1).into(), Turn::NORMAL));
        canvases.of(&kept).drew(0);
        canvases.of(&gone).drew(0);
        drop(gone);
        assert_eq!(canvases.of(&kept).age(&buffer(0, 1)), 1);
        assert_eq!(canvases.0.len(), 1);
    }
}
