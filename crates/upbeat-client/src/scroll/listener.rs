//! Handles events as they are read from the connection, so that a [`ScrollView`](super::ScrollView) needs no event
//! queue.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::{Connection, Proxy};

use super::{DocumentExtent, DocumentRegion, LowWater, RenderDemand, ScrollEvent, ScrollSide};
use crate::protocol::scroll::upbeat_scroll_view_v1::{self as wire, UpbeatScrollViewV1};
use crate::wire::instant;

/// Capacity of the list of events: seconds' worth at one event per refresh. If the program takes none, the oldest are
/// dropped.
const MOST_EVENTS: usize = 1024;

/// State that events change and the program reads.
#[derive(Debug, Default)]
pub(super) struct ScrollViewState {
    pub events: VecDeque<ScrollEvent>,
    /// The region to render next. A newer one replaces it.
    pub wanted: Option<RenderDemand>,
}

impl ScrollViewState {
    pub fn push_event(&mut self, event: ScrollEvent) {
        if self.events.len() == MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn handle_event(&mut self, event: wire::Event) {
        use wire::Event;
        match event {
            Event::Budget { kilopixels } => self.push_event(ScrollEvent::Budget(i64::from(kilopixels) * 1_000)),
            // Ignore values of a later version of the protocol: this version could not act on them.
            Event::Effective { mode, reason } => {
                if let (Ok(mode), Ok(reason)) = (mode.into_result(), reason.into_result()) {
                    self.push_event(ScrollEvent::Effective(mode, reason));
                }
            }
            Event::Wanted { x, y, width, height, tv_sec_hi, tv_sec_lo, tv_nsec } => {
                let extent = |start: i32, length: i32| DocumentExtent { start: start.into(), length: length.into() };
                let region = DocumentRegion { x: extent(x, width), y: extent(y, height) };
                self.wanted = Some(RenderDemand { region, by: instant(tv_sec_hi, tv_sec_lo, tv_nsec) });
            }
            Event::LowWater { side, px, tv_sec_hi, tv_sec_lo, tv_nsec } => {
                let side = match side.into_result() {
                    Ok(wire::Side::Left) => ScrollSide::Left,
                    Ok(wire::Side::Right) => ScrollSide::Right,
                    Ok(wire::Side::Up) => ScrollSide::Up,
                    _ => ScrollSide::Down,
                };
                let until = instant(tv_sec_hi, tv_sec_lo, tv_nsec);
                self.push_event(ScrollEvent::LowWater(LowWater { side, left: px.into(), until }));
            }
            Event::Rest { x, y, x_fraction, y_fraction, serial } => {
                let (x, y) = (f64::from(x) + x_fraction, f64::from(y) + y_fraction);
                self.push_event(ScrollEvent::Rest { x, y, serial });
            }
            Event::Offset { x, y, x_fraction, y_fraction, tv_sec_hi, tv_sec_lo, tv_nsec, .. } => {
                let (x, y) = (f64::from(x) + x_fraction, f64::from(y) + y_fraction);
                self.push_event(ScrollEvent::Offset { x, y, present: instant(tv_sec_hi, tv_sec_lo, tv_nsec) });
            }
        }
    }
}

/// The state, shared by a view and its Wayland objects.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedScrollState(Arc<Mutex<ScrollViewState>>);

impl SharedScrollState {
    /// Locks the state. Never hold the lock while sending a request.
    pub fn lock(&self) -> MutexGuard<'_, ScrollViewState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The event handler for a new view object.
    pub fn listener(&self) -> Arc<dyn ObjectData> {
        Arc::new(ScrollViewListener(self.clone()))
    }
}

#[derive(Debug)]
struct ScrollViewListener(SharedScrollState);

impl ObjectData for ScrollViewListener {
    fn event(self: Arc<Self>, backend: &Backend, message: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        let connection = Connection::from_backend(backend.clone());
        if let Ok((_, event)) = UpbeatScrollViewV1::parse_event(&connection, message) {
            self.0.lock().handle_event(event);
        }
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}
