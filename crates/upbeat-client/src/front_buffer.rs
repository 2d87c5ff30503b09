//! [`FrontBuffer`]: writing into the picture on screen, ahead of the beam, where the compositor lets one.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Proxy, WEnum};

use super::binding::{Deaf, bind};
use super::protocol::late_latch::upbeat_front_buffer_v1::{Event, Reason, UpbeatFrontBufferV1};
use super::protocol::late_latch::upbeat_late_latch_manager_v1::{self, UpbeatLateLatchManagerV1};
use super::wire::instant;
use upbeat_timing::time::{Instant, Span};

/// A rectangle of the buffer, in its pixels: left, top, width, height.
pub type SharedRect = (i32, i32, i32, i32);

/// When which row of the buffer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTimes {
    anchor: Instant,
    interval: Span,
    line: Span,
    /// The line of the display on which the buffer's first row lies.
    first: i64,
}

impl RowTimes {
    /// When `row` of the buffer is read for the first time at `from` or later. What is there by then is seen, what comes
    /// later is seen a refresh later; what is being written meanwhile is torn.
    pub fn read(&self, row: i32, from: Instant) -> Instant {
        let first = self.anchor + self.line * (self.first + i64::from(row));
        let interval = self.interval.as_nanos().max(1);
        let ahead = (from - first).as_nanos();
        let refreshes = ahead.div_euclid(interval) + i64::from(ahead.rem_euclid(interval) > 0);
        first + self.interval * refreshes
    }

    /// The distance between two refreshes.
    pub const fn interval(&self) -> Span {
        self.interval
    }
}

/// Why nothing may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// The display cannot, or nobody knows how it is scanned.
    Display,
    /// Not all of it is seen, or something lies above it.
    Covered,
    /// It is scaled, turned, see-through or moving.
    Changed,
    /// There is another buffer, or it cannot be read.
    Buffer,
    /// Nothing of it is seen, or the session is locked.
    Hidden,
}

/// What a front buffer hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEvent {
    /// This may be written into from now on.
    Active(SharedRect),
    /// Nothing may be written any more: to be answered by [`FrontBuffer::stopped`] when that is so.
    Inactive(WhyNot),
    /// What was written with this number was lit, its first row then.
    Light(u32, Instant),
    /// Nobody knows that it was seen.
    Missed(u32),
}

/// Writing into a surface's buffer while that is on screen.
///
/// Nothing may be written but between [`FrontEvent::Active`] and [`FrontEvent::Inactive`]. A program plans back from
/// [`RowTimes::read`]: it samples its input, draws, has written before the beam is there, and says so. Where that is not offered
/// or not possible just now it commits frames, as it does anywhere.
///
/// ```no_run
/// # use upbeat_client::{FrontBuffer, FrontEvent};
/// # use upbeat_timing::time::{Instant, Span};
/// # fn ink(_: i32) {}
/// # fn turn(front: &mut FrontBuffer, now: Instant, row: i32, cost: Span) -> Option<Instant> {
/// while let Some(event) = front.next_event() {
///     if let FrontEvent::Inactive(_) = event {
///         front.stopped();
///     }
/// }
/// let times = front.row_times()?;
/// let read = times.read(row, now + cost);
/// if read - cost > now {
///     return Some(read - cost); // to sleep until then: the input is newer by that
/// }
/// ink(row);
/// front.written((0, row, 100, 20));
/// # None
/// # }
/// ```
#[derive(Debug)]
pub struct FrontBuffer {
    heard: Arc<Listener>,
    object: Option<UpbeatFrontBufferV1>,
    last: u32,
}

impl FrontBuffer {
    /// Of `surface`, of which there may be one.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let heard = Arc::new(Listener::default());
        let manager: Option<UpbeatLateLatchManagerV1> = bind(globals, 1, Arc::new(Deaf));
        let object = manager.and_then(|manager| {
            let request = upbeat_late_latch_manager_v1::Request::GetFrontBuffer { surface: surface.clone() };
            let object = manager.send_constructor(request, heard.clone()).ok();
            manager.destroy();
            object
        });
        // A connection that fails is told of by what the program reads next.
        let _ = connection.flush();
        FrontBuffer { heard, object, last: 0 }
    }

    /// Whether the compositor can share buffers at all.
    pub const fn is_offered(&self) -> bool {
        self.object.is_some()
    }

    /// Asks for a rectangle of the buffer, with the surface's next commit. It has to lie inside of that buffer.
    pub fn share(&self, (x, y, width, height): SharedRect) {
        if let Some(object) = &self.object {
            object.share(x, y, width, height);
        }
        self.heard.lock().top = y;
    }

    /// What may be written into now.
    pub fn active(&self) -> Option<SharedRect> {
        self.heard.lock().active
    }

    /// When rows are read, while something may be written.
    pub fn row_times(&self) -> Option<RowTimes> {
        let heard = self.heard.lock();
        heard.active.and(heard.times)
    }

    /// All that was to be written into this rectangle is. Returns its number; `None` where nothing may be written.
    pub fn written(&mut self, (x, y, width, height): SharedRect) -> Option<u32> {
        let object = self.object.as_ref().filter(|_| self.active().is_some())?;
        self.last = self.last.wrapping_add(1);
        object.written(self.last, x, y, width, height);
        Some(self.last)
    }

    /// Nothing is written any more.
    pub fn stopped(&self) {
        if let Some((object, serial)) = self.object.as_ref().zip(self.heard.lock().ended.take()) {
            object.ack_inactive(serial);
        }
    }

    /// The next thing that happened.
    pub fn next_event(&self) -> Option<FrontEvent> {
        self.heard.lock().events.pop_front()
    }
}

impl Drop for FrontBuffer {
    fn drop(&mut self) {
        if let Some(object) = &self.object {
            object.destroy();
        }
    }
}

/// What was heard.
#[derive(Debug, Default)]
struct Heard {
    /// The first row that was asked for.
    top: i32,
    times: Option<RowTimes>,
    active: Option<SharedRect>,
    /// The serial that is not acknowledged.
    ended: Option<u32>,
    events: VecDeque<FrontEvent>,
}

impl Heard {
    fn hear(&mut self, event: Event) {
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
                    WEnum::Value(Reason::Covered) => WhyNot::Covered,
                    WEnum::Value(Reason::Changed) => WhyNot::Changed,
                    WEnum::Value(Reason::Buffer) => WhyNot::Buffer,
                    WEnum::Value(Reason::Hidden) => WhyNot::Hidden,
                    _ => WhyNot::Display,
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
struct Listener(Mutex<Heard>);

impl Listener {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObjectData for Listener {
    fn event(self: Arc<Self>, backend: &Backend, message: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        let connection = Connection::from_backend(backend.clone());
        if let Ok((_, event)) = UpbeatFrontBufferV1::parse_event(&connection, message) {
            self.lock().hear(event);
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
        let mut heard = Heard { top: 30, ..Heard::default() };
        heard.hear(scan(130));
        let times = heard.times.unwrap();
        assert_eq!(times.read(0, at(-5)), at(2_000), "line 100");
        assert_eq!(times.read(0, at(2_000)), at(2_000));
        assert_eq!(times.read(0, at(2_001)), at(18_000));
        assert_eq!(times.read(30, at(2_001)), at(2_600));
    }

    #[test]
    fn what_may_be_written_ends_and_is_acknowledged_once() {
        let mut heard = Heard::default();
        heard.hear(scan(0));
        heard.hear(Event::Inactive { serial: 0, reason: WEnum::Value(Reason::Covered) });
        assert_eq!((heard.active, heard.ended), (None, None), "there was nothing to end");
        heard.hear(Event::Active { serial: 7, x: 1, y: 2, width: 3, height: 4 });
        assert_eq!(heard.active, Some((1, 2, 3, 4)));
        heard.hear(Event::Inactive { serial: 7, reason: WEnum::Value(Reason::Hidden) });
        heard.hear(Event::Inactive { serial: 7, reason: WEnum::Value(Reason::Display) });
        assert_eq!((heard.active, heard.ended), (None, Some(7)));
        let events: Vec<_> = heard.events.into_iter().collect();
        let ends = [WhyNot::Covered, WhyNot::Hidden, WhyNot::Display].map(FrontEvent::Inactive);
        assert_eq!(events, [ends[0], FrontEvent::Active((1, 2, 3, 4)), ends[1], ends[2]]);
    }
}
