//! Ink that is written into the buffer on screen, right before the display reads its rows.
//!
//! ```text
//!   frames, each asks to share its buffer ─► Active ─► unseen ink is written into that buffer
//!                 ▲                                      │ no frames
//!                 └─────── all that was written is ◄─ Inactive
//!                          in the next frame again
//! ```

use upbeat_client::{FrontBuffer, FrontEvent, InactiveReason};
use upbeat_timing::time::{Instant, Span};

use super::common::screen::WindowBuffers;
use super::sheet::{InkBox, InkSheet};

/// Time for the copy of some ink.
const COPY: Span = Span::from_micros(500);
/// Time by which this thread may wake up late.
const LATENESS: Span = Span::from_micros(1_500);

pub struct FrontInk {
    /// `None` if the user does not want it.
    front: Option<FrontBuffer>,
    /// The buffer of the last commit, which may be on screen.
    current: Option<usize>,
    /// All that was written since the buffer became active.
    written: InkBox,
    why_not: Option<InactiveReason>,
    /// Counts of writes: all, and by their results.
    writes: u32,
    light: u32,
    missed: u32,
}

impl FrontInk {
    pub fn new(front: Option<FrontBuffer>) -> Self {
        let (written, why_not) = (InkBox::default(), None);
        FrontInk { front, current: None, written, why_not, writes: 0, light: 0, missed: 0 }
    }

    pub fn is_active(&self) -> bool {
        self.front.as_ref().is_some_and(|front| front.active().is_some())
    }

    /// The buffer that frames must not be drawn into.
    pub fn current(&self) -> Option<usize> {
        self.current.filter(|_| self.front.is_some())
    }

    /// `buffer` is about to be committed: asks to share all of it.
    pub fn share(&mut self, buffer: usize, (width, height): (usize, usize)) {
        self.current = Some(buffer);
        if let Some(front) = &self.front {
            front.share((0, 0, width as i32, height as i32));
        }
    }

    pub fn handle_events(&mut self, sheet: &mut InkSheet) {
        let Some(front) = &self.front else { return };
        while let Some(event) = front.next_event() {
            match event {
                FrontEvent::Active(_) => {
                    self.why_not = None;
                    sheet.end_prediction();
                }
                FrontEvent::Inactive(reason) => {
                    self.why_not = Some(reason);
                    front.acknowledge_inactive();
                    // The last write may have come after the display's last look, or before this buffer was shown.
                    sheet.repeat(&std::mem::take(&mut self.written));
                }
                FrontEvent::Light(..) => self.light += 1,
                FrontEvent::Missed(_) => self.missed += 1,
            }
        }
    }

    /// Writes the unseen ink if that is due; else returns when it is.
    pub fn write_when_due(
        &mut self,
        sheet: &mut InkSheet,
        screen: &WindowBuffers,
        now: Instant,
    ) -> anyhow::Result<Option<Instant>> {
        let Some((front, buffer)) = self.front.as_mut().zip(self.current) else { return Ok(None) };
        let Some(times) = front.row_times().filter(|_| !sheet.unseen().is_empty()) else { return Ok(None) };
        let rows = sheet.unseen().rows.start as i32..sheet.unseen().rows.end as i32;
        let begin = times.write_at(rows, now, COPY, LATENESS);
        if now < begin {
            return Ok(Some(begin));
        }
        let part =
            sheet.write(|picture, part| screen.write(buffer, picture, part.rows.clone(), part.columns.clone()))?;
        self.writes += u32::from(front.written(part.rect()).is_some());
        self.written.add(&part);
        Ok(None)
    }

    /// Whether ink is written into the picture on screen, as text.
    pub fn text(&self) -> String {
        let Some(front) = &self.front else { return "frames: --front-buffer not given".to_owned() };
        if front.active().is_some() {
            return "written into the picture on screen".to_owned();
        }
        let why = match self.why_not {
            _ if !front.is_offered() => "no upbeat_late_latch_v1",
            None => "a moment",
            Some(InactiveReason::Display) => "the display cannot share a buffer",
            Some(InactiveReason::Covered) => "something lies above",
            Some(InactiveReason::Changed) => "the window moves or is scaled",
            Some(InactiveReason::Buffer) => "another buffer",
            Some(InactiveReason::Hidden) => "hidden",
            Some(InactiveReason::Captured) => "the screen is captured",
        };
        format!("frames: {why}")
    }

    /// Prints the counts at the end.
    pub fn report(&self) {
        if self.front.is_some() {
            let (writes, light, missed) = (self.writes, self.light, self.missed);
            println!("ink: {writes} writes into the picture on screen, {light} seen, {missed} not known to be seen");
        }
    }
}
