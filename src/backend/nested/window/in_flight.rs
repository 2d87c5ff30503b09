//! The frames of a window in flight, and their commits.

use std::os::fd::OwnedFd;

use super::ParentToplevel;
use crate::backend::{FrameId, PixelRect};
use upbeat_timing::time::Instant;

/// Beyond this many rectangles of withdrawn frames the whole surface counts as damaged.
const MOST_UNSENT: usize = 64;

/// A frame in flight; its picture is in the buffer `slot`.
#[derive(Debug)]
pub(super) struct NestedFrameBuffer {
    pub frame: FrameId,
    pub slot: usize,
    /// Signals when the picture is complete; `None`: it is complete.
    pub fence: Option<OwnedFd>,
    pub damage: Vec<PixelRect>,
    /// The expected start of the refresh that it was made for.
    pub target: Instant,
    /// The buffer was committed to the parent.
    pub is_committed: bool,
}

impl ParentToplevel {
    /// Commits a frame in flight to the parent.
    pub(super) fn commit(&mut self, frame: FrameId) {
        let Some(taken) = self.in_flight.iter_mut().find(|taken| taken.frame == frame) else { return };
        taken.is_committed = true;
        let surface = &self.objects.surface;
        self.buffers.attach(taken.slot, surface, taken.fence.take());
        let unsent = self.unsent.drain(..);
        for rect in unsent.chain(taken.damage.iter().copied()) {
            surface.damage_buffer(rect.x, rect.y, rect.width, rect.height);
        }
        if taken.damage.is_empty() {
            // A parent may ignore a commit without damage, and send no feedback for it until the next frame.
            surface.damage_buffer(0, 0, 1, 1);
        }
        surface.frame(&self.handle, (self.id, taken.frame));
        if let Some(presentation) = &self.objects.presentation {
            presentation.feedback(surface, &self.handle, (self.id, taken.frame));
        }
        self.acknowledge();
        self.objects.surface.commit();
        self.socket.flush();
    }

    /// Acknowledges the parent's last configure event: the next commit has that size and state.
    pub(super) fn acknowledge(&mut self) {
        if let Some(serial) = self.serial.take() {
            self.objects.xdg_surface.ack_configure(serial);
        }
    }

    pub(in super::super) fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        let stays = self.frames.supersede(from);
        self.forget_lost();
        stays
    }

    /// Forgets lost frames. A held frame was never committed, so the parent will not release its buffer. The damage of
    /// later frames is relative to it, so the parent has yet to get its damage.
    pub(super) fn forget_lost(&mut self) {
        let (frames, buffers, unsent) = (&self.frames, &mut self.buffers, &mut self.unsent);
        self.in_flight.retain(|taken| {
            let is_lost = !frames.has(taken.frame);
            if is_lost && !taken.is_committed {
                buffers.give_back(taken.slot);
                unsent.extend_from_slice(&taken.damage);
            }
            !is_lost
        });
        if unsent.len() > MOST_UNSENT {
            *unsent = vec![PixelRect { x: 0, y: 0, width: i32::MAX, height: i32::MAX }];
        }
    }
}
