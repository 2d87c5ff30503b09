//! Writes into the picture on screen, as the main thread requests them: the conditions, and their reports.

use super::Pipe;
use crate::backend::drm::flip_clock::RefreshStart;
use crate::backend::drm::front_scan::read_ahead;
use crate::backend::drm::messages::{PresenterCommand, RectangleWrite};
use crate::backend::drm::mode::scan_of;
use crate::backend::drm::presenter_mirror::PresenterPower;
use crate::backend::drm::scanout::ScanoutBuffers;
use crate::backend::front::{ReadAhead, SharedFront};
use crate::backend::overlay::intersection;
use crate::backend::{DisplayEvent, FrameId, LossReason, PixelRect, SubmitError};
use upbeat_timing::time::Instant;

/// For this many intervals the last known refresh tells the phase: a display's clock may be wrong by 100 millionths.
const KNOWN_FOR: i64 = 8;

/// Writes into the picture on screen.
#[derive(Debug, Default)]
pub(super) struct FrontAccess {
    /// The configuration permits it.
    is_forced: bool,
    /// The presenter copies a client's memory.
    is_shared: bool,
    /// Rectangles without a report.
    written: Vec<FrameId>,
    /// The last refresh that a write or a copy found.
    refresh: Option<RefreshStart>,
}

impl Pipe {
    /// Permits writes into the picture on screen; an error says why the output cannot do that.
    pub fn force_front_buffer(&mut self, on: bool) -> Result<(), &'static str> {
        self.front.is_forced = on;
        if on { self.front_obstacle().map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// Whether the picture on screen may be written.
    pub(super) fn has_front_buffer(&self) -> bool {
        self.front.is_forced && self.front_obstacle().is_none()
    }

    fn front_obstacle(&self) -> Option<&'static str> {
        let properties = &self.properties;
        match &self.scanout {
            _ if !properties.is_atomic => Some("its driver has legacy modesetting only"),
            _ if !properties.has_beam => Some("its driver reads a whole picture at once, not row by row"),
            _ if properties.range.is_some() => Some("its rate varies"),
            ScanoutBuffers::Device(..) => Some("a GPU draws its pictures"),
            ScanoutBuffers::Shadow(_) => Some("its pictures are copied from a shadow buffer"),
            ScanoutBuffers::Mapped(_) => None,
        }
    }

    /// Whether the picture on screen may be written in this rectangle now.
    pub(super) fn test_front(&self, rect: PixelRect) -> Result<(), SubmitError> {
        let mode = self.mode();
        let screen = PixelRect { x: 0, y: 0, width: mode.width, height: mode.height };
        let is_inside = rect.width > 0 && rect.height > 0 && intersection(rect, screen) == rect;
        let is_shown =
            self.mirror.shown().is_some_and(|shown| shown.picture.is_some() && shown.planes.direct.is_none());
        match () {
            () if self.mirror.power != PresenterPower::On => Err(SubmitError::Off),
            () if !self.has_front_buffer() => Err(SubmitError::Unsupported("a write into the picture on screen")),
            () if !is_shown => Err(SubmitError::Unsupported("a write without a picture on screen")),
            () if !is_inside => Err(SubmitError::Unsupported("a rectangle that is empty or not on the screen")),
            () => Ok(()),
        }
    }

    /// Writes a rectangle; [tested](Self::test_front) before.
    pub(super) fn write_front(&mut self, frame: FrameId, rect: PixelRect, pixels: Vec<u32>) {
        self.front.written.push(frame);
        let write = RectangleWrite { mode: self.mode_revision, frame, rect, pixels };
        self.channels.presenter.send(PresenterCommand::WriteFront(write));
    }

    /// Shows a client's memory in a rectangle from the next refresh on, or stops that.
    pub fn share_front(&mut self, shared: Option<SharedFront>) -> Option<ReadAhead> {
        let shared = shared.filter(|shared| self.test_front(shared.rect).is_ok());
        let ahead = shared.as_ref().map(|shared| read_ahead(&shared.rect, &scan_of(self.properties.mode)));
        if shared.is_some() || std::mem::replace(&mut self.front.is_shared, false) {
            self.front.is_shared = shared.is_some();
            self.channels.presenter.send(PresenterCommand::ShareFront(shared));
        }
        ahead
    }

    /// The last refresh, if it is known without a flip.
    pub fn last_refresh(&self, now: Instant) -> Option<(Instant, u64)> {
        let RefreshStart { time, sequence } = self.front.refresh?;
        (now < time + self.mode().interval() * KNOWN_FOR).then_some((time, sequence.unwrap_or(0)))
    }

    pub(super) fn record_refresh(&mut self, refresh: RefreshStart) {
        self.front.refresh = Some(refresh);
    }

    /// A rectangle was lit or lost: emits the event if the frame has no report yet.
    pub(super) fn report_write(&mut self, frame: FrameId, event: DisplayEvent) {
        if let Some(index) = self.front.written.iter().position(|known| *known == frame) {
            self.front.written.swap_remove(index);
            self.events.push_back(event);
        }
    }

    /// The picture on screen is gone: no rectangle will be lit.
    pub(super) fn lose_front_writes(&mut self, reason: LossReason) {
        self.events.extend(self.front.written.drain(..).map(|frame| DisplayEvent::Lost { frame, reason }));
        (self.front.refresh, self.front.is_shared) = (None, false);
    }
}
