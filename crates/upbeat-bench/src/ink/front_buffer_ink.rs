//! Front-buffer ink: drawn into the buffer on screen, ahead of the beam.
//!
//! ```text
//!   row read (k-1)                       begin      done   row read (k)
//!        │ ─ ─ ─ ─ sleeps, reads input  ─ ─ ┤ draws ├ writes │
//!                                           └ cost ─┴─ SPARE ┘
//! ```

use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{EventQueue, QueueHandle};

use super::beam_timing::FrontBufferState;
use super::marker;
use super::sheet::{DrawnInkFrame, InkClient, SheetError};
use crate::block_code::BlockCode;
use crate::client::burn_rest;
use crate::wait::wait;
use upbeat_client::protocol::late_latch::upbeat_late_latch_manager_v1::UpbeatLateLatchManagerV1;
use upbeat_timing::estimator::{Estimator as _, WindowQuantile};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Time reserved for writing the pixels and for a late wake-up.
const SPARE: Span = Span::from_micros(400);
/// Lines by which the hand may move up between planning and drawing.
const TURNS_UP: i64 = 4;
/// Longest wait for events while no frame can be planned.
const PATIENCE: Span = Span::from_millis(200);

impl InkClient {
    /// Shares the first column and the number of columns of `part` as a front buffer, or the whole sheet, without any
    /// ink.
    pub(super) fn share_front_buffer(
        &mut self,
        globals: &GlobalList,
        queue: &EventQueue<InkClient>,
        part: Option<(usize, usize)>,
    ) -> Result<(), SheetError> {
        let handle: QueueHandle<InkClient> = queue.handle();
        let manager: UpbeatLateLatchManagerV1 = globals.bind(&handle, 1..=1, ())?;
        let object = manager.get_front_buffer(&self.surface, &handle, ());
        let (width, height) = (self.size.0 as i32, self.size.1 as i32);
        let (left, columns) = part.map_or((0, width), |(left, columns)| (left as i32, columns as i32));
        object.share(left, 0, columns, height);
        let buffer = self.buffers.free_index().unwrap_or(0);
        if let Some(pixels) = self.buffers.pixels_mut(buffer) {
            marker::clear(pixels);
        }
        let (surface, on_screen): (&WlSurface, _) = (&self.surface, self.buffers.hold(buffer));
        surface.attach(Some(on_screen), 0, 0);
        surface.damage_buffer(0, 0, width, height);
        surface.commit();
        self.painted = None;
        self.front = Some(FrontBufferState {
            object,
            is_active: false,
            scan: None,
            buffer,
            done: Instant::ZERO,
            costs: WindowQuantile::default(),
            planned: None,
            written: 0,
        });
        Ok(())
    }

    /// Waits until the last moment at which a frame is ready before the beam reaches the hand. Then draws the newest
    /// report.
    pub(super) fn write_ahead_of_beam(&mut self, queue: &mut EventQueue<InkClient>) -> Result<(), SheetError> {
        let now = MonotonicClock.now();
        let known = self.front.as_ref().and_then(|front| front.planned).filter(|(begin, _)| *begin - now <= SPARE);
        let Some((begin, read)) = known.or_else(|| self.plan(now)) else {
            return wait(queue, self, Some(now + PATIENCE));
        };
        if let Some(front) = &mut self.front {
            front.planned = Some((begin, read));
        }
        if begin > now {
            return wait(queue, self, Some(begin));
        }
        // Dispatch input that arrived during the sleep.
        wait::<_, SheetError>(queue, self, Some(now))?;
        let (at, size) = (self.newest, self.size);
        let cost = self.costs.next_cost();
        burn_rest(cost, || {});
        let done = MonotonicClock.now();
        let reads = self.beam_read_time(0, done + SPARE / 4);
        let Some(front) = &mut self.front else { return Ok(()) };
        front.costs.observe(done - begin);
        front.planned = None;
        front.done = read;
        // If the beam has already reached the row, try again at the next refresh.
        let Some(reads) = reads.filter(|reads| *reads < read + SPARE * 4) else { return Ok(()) };
        front.done = reads;
        let frame = self.frames.len() as u32 + 1;
        let code = BlockCode { frame, event: self.event };
        let Some(pixels) = self.buffers.pixels_mut(front.buffer) else { return Ok(()) };
        if let Some(before) = self.painted.take() {
            marker::erase(pixels, size, before);
        }
        let painted = marker::draw_marker(pixels, size, at, code);
        self.painted = Some(painted);
        self.frames.push(DrawnInkFrame { frame, event: self.event, x: at.0, y: at.1, predicted: false });
        front.written += 1;
        let (left, top, right, bottom) = painted;
        let (width, height) = ((right - left) as i32, (bottom - top) as i32);
        front.object.written(front.written, left as i32, top as i32, width, height);
        Ok(())
    }

    /// When to begin the next frame, and when the beam reads it.
    fn plan(&self, now: Instant) -> Option<(Instant, Instant)> {
        let front = self.front.as_ref()?;
        let takes = front.planned_cost() + SPARE;
        // One frame for each refresh: the beam must have read the previous frame.
        let read = self.beam_read_time(TURNS_UP, now.max(front.done + SPARE) + takes)?;
        Some((read - takes, read))
    }

    /// When the beam reads the first changed line, at `from` or later. Changed are the lines of the next ink and of the
    /// erased ink; `further_up` adds lines above.
    fn beam_read_time(&self, further_up: i64, from: Instant) -> Option<Instant> {
        let front = self.front.as_ref().filter(|front| front.is_active)?;
        let before = self.painted.map_or(i64::MAX, |bounds| bounds.1);
        let first = marker::painted_lines(self.newest, self.size).0.min(before);
        Some(front.scan?.next_read((first - further_up).max(0), from))
    }
}
