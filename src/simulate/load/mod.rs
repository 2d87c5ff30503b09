//! Loads: what frames cost, from traces or made up by seed.

pub mod csv;
pub mod frame_log;
pub mod synthetic;

use crate::time::Span;

/// The cost of one frame, in the two stages of the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCost {
    /// Recording: the CPU part (layout, animation, command list).
    pub record: Span,
    /// Rendering: the GPU part, which overlaps with the recording of the next frame.
    pub render: Span,
}

impl FrameCost {
    /// Both stages, one after the other.
    pub fn total(self) -> Span {
        self.record + self.render
    }
}

/// A sequence of frames.
#[derive(Clone, Debug)]
pub struct Load {
    /// What it is called in reports.
    pub name: String,
    /// The refresh interval of the display that it runs on.
    pub interval: Span,
    /// Frames of one animation; the pipeline is empty at the start of each. Zero: all frames are one animation.
    pub animation: usize,
    /// The costs in order.
    pub frames: Vec<FrameCost>,
}

impl Load {
    /// The animations, one after the other.
    pub fn animations(&self) -> impl Iterator<Item = &[FrameCost]> {
        let length = if self.animation == 0 { self.frames.len() } else { self.animation };
        self.frames.chunks(length.max(1))
    }

    /// The same load in animations of `length` frames.
    pub fn in_animations_of(&self, length: usize) -> Load {
        Load { animation: length, name: format!("{} in {length}s", self.name), ..self.clone() }
    }

    /// The share of frames whose total cost exceeds `periods` refresh intervals.
    pub fn share_above(&self, periods: f64) -> f64 {
        let limit = self.interval.as_nanos() as f64 * periods;
        let above = self.frames.iter().filter(|frame| frame.total().as_nanos() as f64 > limit).count();
        above as f64 / self.frames.len().max(1) as f64
    }

    /// The mean total cost in refresh intervals.
    pub fn mean_periods(&self) -> f64 {
        let sum: Span = self.frames.iter().map(|frame| frame.total()).sum();
        sum.as_nanos() as f64 / self.interval.as_nanos().max(1) as f64 / self.frames.len().max(1) as f64
    }
}
