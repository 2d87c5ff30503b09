//! A light probe: reports the pixels of one small rectangle of the panel as soon as they are lit.
//!
//! A test injects an event with a code, and its client draws that code as colours in a known place. The probe finds it
//! in the light without storing whole images. It is a photodiode taped to the screen.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::backend::PixelRect;
use crate::backend::headless::grid::RecordedRefresh;
use crate::backend::headless::image::PanelImage;
use crate::backend::headless::panel_watch::PanelWatch;
use upbeat_timing::time::Instant;

/// The content of the rectangle from a refresh on.
#[derive(Clone, Copy, Debug)]
pub struct ProbeSample<'a> {
    /// The first refresh that shows it.
    pub refresh: RecordedRefresh,
    /// When the panel lit the rectangle's first row: the further down it lies, the later in the refresh. A row
    /// that was rewritten under the beam cannot have been lit earlier than that, either.
    pub light: Instant,
    /// The part of the probe's rectangle that lies on the panel.
    pub rect: PixelRect,
    /// Its pixels, `XRGB8888`, rows from the top.
    pub pixels: &'a [u32],
}

/// Calls back whenever the rectangle's pixels change. The first call reports the pixels at the start.
pub struct LightProbe<F> {
    rect: PixelRect,
    seen: Vec<u32>,
    read: Vec<u32>,
    any: bool,
    callback: F,
}

impl<F: FnMut(ProbeSample<'_>)> LightProbe<F> {
    /// A probe over `rect`. If a later call names the same refresh (the front buffer was written to), it replaces
    /// the earlier call.
    pub fn new(rect: PixelRect, callback: F) -> Self {
        LightProbe { rect, seen: Vec::new(), read: Vec::new(), any: false, callback }
    }
}

impl<F: FnMut(ProbeSample<'_>)> PanelWatch for LightProbe<F> {
    fn image_changed(&mut self, image: &PanelImage<'_>) {
        let rect = image.read(self.rect, &mut self.read);
        if self.any && self.read == self.seen {
            return;
        }
        self.any = true;
        std::mem::swap(&mut self.read, &mut self.seen);
        let light = image.row_time(rect.y);
        (self.callback)(ProbeSample { refresh: image.refresh, light, rect, pixels: &self.seen });
    }
}

/// One entry of a [`ProbeLog`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedSample {
    /// The first refresh that shows it.
    pub refresh: RecordedRefresh,
    /// When its first row was lit.
    pub light: Instant,
    /// The pixels, rows from the top.
    pub pixels: Vec<u32>,
}

/// The samples of a probe, the newest last. When the log is full the oldest sample is dropped and counted.
#[derive(Clone, Debug)]
pub struct ProbeLog {
    samples: Rc<RefCell<VecDeque<LoggedSample>>>,
    forgotten: Rc<RefCell<u64>>,
}

impl ProbeLog {
    /// A log of at most `capacity` entries and the watch that fills it.
    pub fn new(rect: PixelRect, capacity: usize) -> (Self, Box<dyn PanelWatch>) {
        let log = ProbeLog { samples: Rc::default(), forgotten: Rc::default() };
        let filler = log.clone();
        let probe = LightProbe::new(rect, move |sample| filler.add(sample, capacity.max(1)));
        (log, Box::new(probe))
    }

    fn add(&self, sample: ProbeSample<'_>, capacity: usize) {
        let mut samples = self.samples.borrow_mut();
        if samples.back().is_some_and(|last| last.refresh == sample.refresh) {
            samples.pop_back();
        }
        if samples.len() == capacity {
            samples.pop_front();
            *self.forgotten.borrow_mut() += 1;
        }
        let ProbeSample { refresh, light, pixels, .. } = sample;
        samples.push_back(LoggedSample { refresh, light, pixels: pixels.to_vec() });
    }

    /// Takes the oldest entry.
    pub fn pop(&self) -> Option<LoggedSample> {
        self.samples.borrow_mut().pop_front()
    }

    /// How many samples were dropped.
    pub fn forgotten(&self) -> u64 {
        *self.forgotten.borrow()
    }
}
