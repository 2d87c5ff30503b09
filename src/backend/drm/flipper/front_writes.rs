//! Writes into the picture on screen: single rectangles, and memory that a client shares.
//!
//! While a flip is in flight, it replaces the picture at an unknown moment of the write. So its picture is written as well:
//! it was submitted earlier, and older content must not follow newer content.

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{ClipRect, Device as _};

use super::{FlipInFlight, Flipper};
use crate::backend::drm::flip_clock::RefreshStart;
use crate::backend::drm::front_scan::{FrontScan, RowLight, ScanGrid};
use crate::backend::drm::memory::ScanoutPicture;
use crate::backend::drm::messages::{FlipContent, PipeMessage, RectangleWrite};
use crate::backend::drm::mode::{mode_of, scan_of};
use crate::backend::drm::stale_region::add;
use crate::backend::drm::vblank;
use crate::backend::front::SharedFront;
use crate::backend::{FrameId, LossReason, PixelRect};
use upbeat_timing::time::{Clock, Instant};

/// A rectangle that was written and is not lit yet.
#[derive(Clone, Copy, Debug)]
struct UnlitWrite {
    frame: FrameId,
    at: RowLight,
    sequence: Option<u64>,
}

/// The writes into the picture on screen.
#[derive(Debug, Default)]
pub(super) struct FrontWrites {
    unlit: Vec<UnlitWrite>,
    scan: Option<FrontScan>,
    /// An error of `DIRTYFB` was logged.
    is_logged: bool,
}

impl FrontWrites {
    /// When there is work to do next.
    pub fn next_wake(&self) -> Option<Instant> {
        let light = self.unlit.iter().map(|write| write.at.light).min();
        light.into_iter().chain(self.scan.as_ref().map(FrontScan::next_wake)).min()
    }
}

impl Flipper {
    /// Writes a rectangle into the picture on screen.
    pub fn write_front(&mut self, write: RectangleWrite, clock: &impl Clock) {
        let RectangleWrite { mode, frame, rect, pixels } = write;
        let is_lit = self.is_on && self.is_ours && !self.modeset && self.front.is_some();
        if !is_lit || mode != self.mode_revision {
            return self.messages.push_back(PipeMessage::WriteLost { frame, reason: LossReason::Gone });
        }
        let begun = clock.now();
        self.put_on_screen(rect, &pixels);
        let ended = clock.now();
        let refresh = self.last_refresh(ended);
        let grid = self.scan_grid(refresh.time);
        let at = grid.light_of(&rect, (begun, ended));
        let later = (at.refresh - refresh.time).as_nanos() / grid.interval.as_nanos().max(1);
        let sequence = refresh.sequence.and_then(|sequence| sequence.checked_add_signed(later));
        self.front_writes.unlit.push(UnlitWrite { frame, at, sequence });
        self.messages.push_back(PipeMessage::RefreshKnown(refresh));
    }

    /// Copies a client's memory into the picture on screen once a refresh from now on, or stops that.
    pub fn share_front(&mut self, shared: Option<SharedFront>, clock: &impl Clock) {
        let is_lit = self.is_on && self.is_ours && !self.modeset;
        let now = clock.now();
        self.front_writes.scan = shared
            .filter(|_| is_lit)
            .map(|shared| FrontScan::new(shared, self.scan_grid(self.last_refresh(now).time), now));
    }

    /// Ends all writes: the picture on screen is gone, or will be.
    pub(super) fn end_front_writes(&mut self, reason: LossReason) {
        self.front_writes.scan = None;
        for UnlitWrite { frame, .. } in std::mem::take(&mut self.front_writes.unlit) {
            self.messages.push_back(PipeMessage::WriteLost { frame, reason });
        }
    }

    /// Reports the rectangles that were lit, and copies shared memory if that is due.
    pub(super) fn advance_front_writes(&mut self, clock: &impl Clock) {
        let now = clock.now();
        let messages = &mut self.messages;
        self.front_writes.unlit.retain(|write| {
            let is_lit = write.at.light <= now;
            if is_lit {
                let UnlitWrite { frame, at: RowLight { light, torn, .. }, sequence } = *write;
                messages.push_back(PipeMessage::FrontLit { frame, light, sequence, torn });
            }
            !is_lit
        });
        if let Some(mut scan) = self.front_writes.scan.take() {
            self.messages.extend(scan.take_passed(now).map(PipeMessage::FrontScanned));
            if scan.is_read_due(now) {
                self.copy_shared(&mut scan, clock);
            }
            self.front_writes.scan = Some(scan);
        }
    }

    fn copy_shared(&mut self, scan: &mut FrontScan, clock: &impl Clock) {
        let now = clock.now();
        let refresh = self.last_refresh(now);
        scan.align(refresh.time);
        // Send this before the report, which makes the main thread ask for the phase.
        self.messages.push_back(PipeMessage::RefreshKnown(refresh));
        if !scan.read(now) {
            return;
        }
        if let Some(pixels) = scan.pixels() {
            self.put_on_screen(scan.rect(), pixels);
        }
        self.messages.extend(scan.copied(clock.now()).map(PipeMessage::FrontScanned));
    }

    /// Puts the shared pixels into a picture that is about to be shown: its scene has none there.
    pub(super) fn put_shared_pixels(&self, content: &mut FlipContent) {
        let Some(scan) = &self.front_writes.scan else { return };
        if let (Some(picture), Some(pixels)) = (&content.picture, scan.pixels()) {
            picture.write(scan.rect(), pixels);
            add(&mut content.copied, &[scan.rect()]);
        }
    }

    /// Writes into the picture on screen, and into the picture that is about to replace it.
    fn put_on_screen(&mut self, rect: PixelRect, pixels: &[u32]) {
        let next = self.in_flight.as_ref().and_then(|FlipInFlight { picture, .. }| picture.as_ref());
        let pictures = self.front.iter().chain(next);
        pictures.clone().for_each(|picture| picture.write(rect, pixels));
        // The driver knows the newest committed picture only.
        if let Some(newest) = pictures.last().filter(|_| self.needs_dirtyfb) {
            let failed = mark_dirty(self.crtc.device(), newest, rect).err();
            if let Some(error) = failed.filter(|_| !std::mem::replace(&mut self.front_writes.is_logged, true)) {
                tracing::warn!(output = self.name, %error, "writes into the picture on screen may be shown late");
            }
        }
    }

    /// The start of the last refresh, from the driver if its timestamps can be used. Without a flip its phase would drift.
    fn last_refresh(&self, now: Instant) -> RefreshStart {
        let told = self.clock.is_trusted().then(|| vblank::last(self.crtc.device(), self.crtc_index));
        self.clock.last_refresh(told.flatten(), now)
    }

    fn scan_grid(&self, anchor: Instant) -> ScanGrid {
        ScanGrid { beam: scan_of(self.mode), interval: mode_of(self.mode).interval(), anchor }
    }
}

/// `DIRTYFB`: tells the driver that a rectangle of the picture was changed.
fn mark_dirty(device: &DrmDeviceFd, picture: &ScanoutPicture, rect: PixelRect) -> std::io::Result<()> {
    let edge = |pixels: i32| u16::try_from(pixels).unwrap_or(u16::MAX);
    let top = rect.y + picture.top();
    let clip = ClipRect::new(edge(rect.x), edge(top), edge(rect.x + rect.width), edge(top + rect.height));
    device.dirty_framebuffer(picture.framebuffer(), &[clip])
}
