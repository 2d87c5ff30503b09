//! [`FrontBuffer`]: writes into the buffer that is on screen, ahead of the beam (`upbeat_late_latch_v1`).

use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Proxy, WEnum};

use super::bind_global::{IgnoreEvents, bind};
use super::protocol::late_latch::upbeat_front_buffer_v1::{Event, Reason, UpbeatFrontBufferV1};
use super::protocol::late_latch::upbeat_late_latch_manager_v1::{self, UpbeatLateLatchManagerV1};
use super::wire::instant;
use upbeat_timing::time::{Instant, Span};

/// A rectangle in pixels of the buffer: left, top, width, height.
pub type SharedRect = (i32, i32, i32, i32);

/// When the display reads each row of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTimes {
    anchor: Instant,
    interval: Span,
    line: Span,
    /// The scan line that shows the buffer's first row.
    first: i64,
}

impl RowTimes {
    /// When the display first reads `row` of the buffer at `from` or later: `anchor + k * interval + line * line_time` of
    /// the event `scan`, with the smallest whole `k`. Step 3 of the protocol's loop calls it with the first row to be
    /// written and with now plus the time that drawing takes. `from` must not include the time by which the program may
    /// wake up late: the program would find its refresh gone each time, and never write.
    ///
    /// Pixels written before this time are shown; pixels written later are shown one refresh later; pixels being
    /// written at this time are torn.
    pub fn read(&self, row: i32, from: Instant) -> Instant {
        let first = self.anchor + self.line * (self.first + i64::from(row));
        let interval = self.interval.as_nanos().max(1);
        let ahead = (from - first).as_nanos();
        let refreshes = ahead.div_euclid(interval) + i64::from(ahead.rem_euclid(interval) > 0);
        first + self.interval * refreshes
    }

    /// When to begin to write `rows` of the buffer, so that the input is as new as possible and the next refresh that
    /// can still show the write does; the program sleeps until then, and writes at once if this is not later than
    /// `now`. `drawing` is the time that writing takes. `lateness` is the time by which the program may wake up late.
    ///
    /// The program calls this again after each sleep and for each new input (steps 3 and 4 of the protocol's loop).
    pub fn write_at(&self, rows: Range<i32>, now: Instant, drawing: Span, lateness: Span) -> Instant {
        let read = self.read(rows.start, now + drawing);
        // Before, the display still reads the last rows for the refresh before.
        let done = self.read(rows.end.max(rows.start + 1) - 1, read) - self.interval;
        (read - drawing - lateness).max(done.min(read - drawing))
    }

    /// The time between two refreshes.
    pub const fn interval(&self) -> Span {
        self.interval
    }
}

/// Why the client may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InactiveReason {
    /// The display does not support it, or its scan-out timing is unknown.
    Display,
    /// A part of the rectangle is not visible, or another surface covers it.
    Covered,
    /// The surface is scaled, rotated, translucent or moving.
    Changed,
    /// The surface has another buffer, or the display cannot read it.
    Buffer,
    /// The surface is not visible, or the session is locked.
    Hidden,
    /// The display is being captured.
    Captured,
}

/// An event of a front buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEvent {
    /// The client may write into this rectangle from now on.
    Active(SharedRect),
    /// The client must stop writing, and then call [`FrontBuffer::acknowledge_inactive`].
    Inactive(InactiveReason),
    /// The write with this number was shown; its first row was lit at this time.
    Light(u32, Instant),
    /// It is not known whether the write with this number was shown.
    Missed(u32),
}

/// Writes into a surface's buffer while it is on screen.
///
/// Writing is allowed only between [`FrontEvent::Active`] and [`FrontEvent::Inactive`]. A program plans back from
/// [`RowTimes::write_at`]: it samples its input, draws, finishes before the beam arrives, and calls
/// [`written`](Self::written). If this is not offered, or is not possible at the moment, the program commits frames as
/// usual.
///
/// ```no_run
/// # use upbeat_client::{FrontBuffer, FrontEvent};
/// # use upbeat_timing::time::{Instant, Span};
/// # fn ink(_: i32) {}
/// # fn frame_with_all_ink_since_active() {}
/// # fn turn(front: &mut FrontBuffer, now: Instant, row: i32, cost: Span, late: Span) -> Option<Instant> {
/// while let Some(event) = front.next_event() {
///     if let FrontEvent::Inactive(_) = event {
///         front.acknowledge_inactive();
///         frame_with_all_ink_since_active();
///     }
/// }
/// let times = front.row_times()?;
/// let begin = times.write_at(row..row + 20, now, cost, late);
/// if begin > now {
///     return Some(begin); // sleep until then, to sample newer input
/// }
/// ink(row);
/// front.written((0, row, 100, 20));
/// # None
/// # }
/// ```
#[derive(Debug)]
pub struct FrontBuffer {
    state: Arc<FrontBufferEventHandler>,
    object: Option<UpbeatFrontBufferV1>,
    last: u32,
}

impl FrontBuffer {
    /// Creates the front buffer object of `surface`. A surface can have only one.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let handler = Arc::new(FrontBufferEventHandler::default());
        let manager: Option<UpbeatLateLatchManagerV1> = bind(globals, 1, Arc::new(IgnoreEvents));
        let object = manager.and_then(|manager| {
            let request = upbeat_late_latch_manager_v1::Request::GetFrontBuffer { surface: surface.clone() };
            let object = manager.send_constructor(request, handler.clone()).ok();
            manager.destroy();
            object
        });
        // A connection error is reported by the program's next read.
        let _ = connection.flush();
        FrontBuffer { state: handler, object, last: 0 }
    }

    /// Whether the compositor offers front buffers at all.
    pub const fn is_offered(&self) -> bool {
        self.object.is_some()
    }

    /// Asks to share a rectangle of the buffer, from the surface's next commit on. The rectangle must lie inside
    /// this commit's buffer.
    pub fn share(&self, (x, y, width, height): SharedRect) {
        if let Some(object) = &self.object {
            object.share(x, y, width, height);
        }
        self.state.lock().top = y;
    }

    /// The rectangle that may be written into now.
    pub fn active(&self) -> Option<SharedRect> {
        self.state.lock().active
    }

    /// When rows are read; `None` while writing is not allowed.
    pub fn row_times(&self) -> Option<RowTimes> {
        let state = self.state.lock();
        state.active.and(state.times)
    }

    /// Reports that a write into this rectangle is complete. Returns the number of the write; `None` if writing is
    /// not allowed.
    pub fn written(&mut self, (x, y, width, height): SharedRect) -> Option<u32> {
        let object = self.object.as_ref().filter(|_| self.active().is_some())?;
        self.last = self.last.wrapping_add(1);
        object.written(self.last, x, y, width, height);
        Some(self.last)
    }

    /// Acknowledges [`FrontEvent::Inactive`]: the client has stopped writing.
    pub fn acknowledge_inactive(&self) {
        if let Some((object, serial)) = self.object.as_ref().zip(self.state.lock().ended.take()) {
            object.ack_inactive(serial);
        }
    }

    /// The next event that was read from the connection.
    pub fn next_event(&self) -> Option<FrontEvent> {
        self.state.lock().events.pop_front()
    }
}

impl Drop for FrontBuffer {
    fn drop(&mut self) {
        if let Some(object) = &self.object {
            object.destroy();
        }
    }
}

/// State that events change.
#[derive(Debug, Default)]
struct FrontBufferEventState {
    /// The top row of the rectangle that was asked for.
    top: i32,
    times: Option<RowTimes>,
    active: Option<SharedRect>,
    /// Serial of an `inactive` event that is not acknowledged yet.
    ended: Option<u32>,
    events: VecDeque<FrontEvent>,
}

impl FrontBufferEventState {
    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Scan { anchor_sec_hi, anchor_sec_lo, anchor_nsec, interval, line_time, first_line } => {
                let span = |nanos: u32| Span::from_nanos(i64::from(nanos));
                self.times = Some(RowTimes {
                    anchor: instant(anchor_sec_hi, anchor_sec_lo, anchor_nsec),
                    interval: span(interval),
                    line: span(line_time),
                    first: i64::from(first_line) - i64::from(self.top),
                });
            }
            Event::Active { x, y, width, height, .. } => {
                let rect = (x, y, width, height);
                self.active = Some(rect);
                self.events.push_back(FrontEvent::Active(rect));
            }
            Event::Inactive { serial, reason } => {
                let was_active = self.active.take().is_some();
                self.ended = was_active.then_some(serial).or(self.ended);
                let why = match reason {
                    WEnum::Value(Reason::Covered) => InactiveReason::Covered,
                    WEnum::Value(Reason::Changed) => InactiveReason::Changed,
                    WEnum::Value(Reason::Buffer) => InactiveReason::Buffer,
                    WEnum::Value(Reason::Hidden) => InactiveReason::Hidden,
                    WEnum::Value(Reason::Captured) => InactiveReason::Captured,
                    _ => InactiveReason::Display,
                };
                self.events.push_back(FrontEvent::Inactive(why));
            }
            Event::Light { id, tv_sec_hi, tv_sec_lo, tv_nsec } => {
                self.events.push_back(FrontEvent::Light(id, instant(tv_sec_hi, tv_sec_lo, tv_nsec)));
            }
            Event::Missed { id } => self.events.push_back(FrontEvent::Missed(id)),
        }
    }
}

#[derive(Debug, Default)]
struct FrontBufferEventHandler(Mutex<FrontBufferEventState>);

impl FrontBufferEventHandler {
    fn lock(&self) -> MutexGuard<'_, FrontBufferEventState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObjectData for FrontBufferEventHandler {
    fn event(self: Arc<Self>, backend: &Backend, message: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        let connection = Connection::from_backend(backend.clone());
        if let Ok((_, event)) = UpbeatFrontBufferV1::parse_event(&connection, message) {
            self.lock().handle_event(event);
        }
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Instant {
        instant(0, 1, 0) + Span::from_micros(micros)
    }

    fn scan(first_line: i32) -> Event {
        let (anchor_sec_hi, anchor_sec_lo, anchor_nsec) = (0, 1, 0);
        Event::Scan { anchor_sec_hi, anchor_sec_lo, anchor_nsec, interval: 16_000_000, line_time: 20_000, first_line }
    }

    #[test]
    fn a_row_is_read_once_a_refresh_where_its_buffer_lies_on_the_screen() {
        // Rows from 30 on are shared, the first of them on line 130.
        let mut state = FrontBufferEventState { top: 30, ..FrontBufferEventState::default() };
        state.handle_event(scan(130));
        let times = state.times.unwrap();
        assert_eq!(times.read(0, at(-5)), at(2_000), "line 100");
        assert_eq!(times.read(0, at(2_000)), at(2_000));
        assert_eq!(times.read(0, at(2_001)), at(18_000));
        assert_eq!(times.read(30, at(2_001)), at(2_600));
    }

    #[test]
    fn a_write_begins_before_its_row_however_late_the_program_wakes_up() {
        let mut state = FrontBufferEventState::default();
        state.handle_event(scan(100));
        let times = state.times.unwrap();
        let (drawing, lateness) = (Span::from_micros(300), Span::from_micros(1_500));
        // Row 0 is read at 2000, 18000, ...
        let begin = |micros: i64, rows: Range<i32>| times.write_at(rows, at(micros), drawing, lateness);
        assert_eq!(begin(0, 0..10), at(200));
        // It woke up late, but in time for this refresh: it begins at once.
        for late in [200, 201, 1_000, 1_700] {
            assert!(begin(late, 0..10) <= at(late), "{late}");
        }
        assert_eq!(begin(1_701, 0..10), at(16_200), "too late for this refresh");
    }

    #[test]
    fn a_tall_write_begins_when_the_last_row_was_read() {
        let mut state = FrontBufferEventState::default();
        state.handle_event(scan(100));
        let times = state.times.unwrap();
        let begin =
            |rows: Range<i32>| times.write_at(rows, at(2_100), Span::from_micros(300), Span::from_micros(1_500));
        assert_eq!(begin(0..100), at(16_200));
        // Row 749 is read at 16980 for the refresh before, and row 0 at 18000 for the next.
        assert_eq!(begin(0..750), at(16_980));
        // It cannot end before the first row is read: that counts more.
        assert_eq!(begin(0..795), at(17_700));
    }

    #[test]
    fn end_of_writing_is_acknowledged_once() {
        let mut state = FrontBufferEventState::default();
        state.handle_event(scan(0));
        state.handle_event(Event::Inactive { serial: 0, reason: WEnum::Value(Reason::Covered) });
        assert_eq!((state.active, state.ended), (None, None), "there was nothing to end");
        state.handle_event(Event::Active { serial: 7, x: 1, y: 2, width: 3, height: 4 });
        assert_eq!(state.active, Some((1, 2, 3, 4)));
        state.handle_event(Event::Inactive { serial: 7, reason: WEnum::Value(Reason::Hidden) });
        state.handle_event(Event::Inactive { serial: 7, reason: WEnum::Value(Reason::Display) });
        assert_eq!((state.active, state.ended), (None, Some(7)));
        let events: Vec<_> = state.events.into_iter().collect();
        let ends = [InactiveReason::Covered, InactiveReason::Hidden, InactiveReason::Display].map(FrontEvent::Inactive);
        assert_eq!(events, [ends[0], FrontEvent::Active((1, 2, 3, 4)), ends[1], ends[2]]);
    }
}
