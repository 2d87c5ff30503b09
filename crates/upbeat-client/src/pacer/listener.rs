//! Handles events as they are read from the connection. So a [`FramePacer`](super::FramePacer) needs no event queue of
//! its own, and works with any queue of its program.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::protocol::wl_callback::WlCallback;
use wayland_client::{Connection, Proxy as _, WEnum};
use wayland_protocols::wp::presentation_time::client::wp_presentation::{self, WpPresentation};
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::{self, WpPresentationFeedback};

use super::prediction::PredictedTargets;
use super::targets::SentTargets;
use super::{
    DiscardReason, FrameTarget, PacerEvent, Pacing, PacingInForce, Path, Reason, RevokeReason, TargetId, TargetOutcome,
};
use crate::protocol::frame_pacing::upbeat_frame_pacing_v1::{Event, UpbeatFramePacingV1};
use crate::wire::{instant, join};
use upbeat_timing::time::Span;

/// Capacity of the list of events, several seconds' worth. If the program takes none, the oldest are dropped.
const MOST_EVENTS: usize = 1024;
/// `CLOCK_MONOTONIC`, until the compositor sends another clock.
const MONOTONIC: u32 = 1;

/// The source of targets: sent by the compositor, or predicted.
#[derive(Debug)]
pub(super) enum TargetSource {
    Sent(SentTargets),
    Predicted(PredictedTargets),
}

/// State that events change and the pacer reads.
#[derive(Debug)]
pub(super) struct PacerState {
    pub(super) source: TargetSource,
    pub(super) effective: PacingInForce,
    pub(super) most_ahead: u32,
    pub(super) clock: u32,
    pub(super) events: VecDeque<PacerEvent>,
}

/// The state, shared by a pacer and its Wayland objects.
#[derive(Clone, Debug)]
pub(super) struct SharedPacer(Arc<Mutex<PacerState>>);

/// The kind of a Wayland object.
#[derive(Clone, Copy, Debug)]
pub(super) enum PacerObject {
    Pacing,
    Presentation,
    Callback,
    /// Presentation feedback of the frame for this target.
    Feedback(TargetId),
    /// Presentation feedback that is only used for the times of refreshes.
    RefreshFeedback,
}

#[derive(Debug)]
struct PacerListener {
    role: PacerObject,
    shared: SharedPacer,
}

impl SharedPacer {
    pub(super) fn new(source: TargetSource) -> Self {
        // The pacing of frame callbacks. A compositor that sends targets will replace it.
        let effective = PacingInForce { pacing: Pacing::Vsync, ahead: 1, min_buffers: 2, reason: None };
        let events = VecDeque::new();
        SharedPacer(Arc::new(Mutex::new(PacerState { source, effective, most_ahead: 1, clock: MONOTONIC, events })))
    }

    /// Locks the state. Never hold the lock while sending a request.
    pub(super) fn lock(&self) -> MutexGuard<'_, PacerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The event handler for a new object.
    pub(super) fn listener(&self, role: PacerObject) -> Arc<dyn ObjectData> {
        Arc::new(PacerListener { role, shared: self.clone() })
    }
}

impl ObjectData for PacerListener {
    fn event(self: Arc<Self>, backend: &Backend, message: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        let connection = Connection::from_backend(backend.clone());
        let mut state = self.shared.lock();
        match self.role {
            PacerObject::Pacing => {
                if let Ok((_, event)) = UpbeatFramePacingV1::parse_event(&connection, message) {
                    state.handle_pacing(event);
                }
            }
            PacerObject::Presentation => {
                if let Ok((_, wp_presentation::Event::ClockId { clk_id })) =
                    WpPresentation::parse_event(&connection, message)
                {
                    state.clock = clk_id;
                }
            }
            PacerObject::Callback => {
                if WlCallback::parse_event(&connection, message).is_ok()
                    && let TargetSource::Predicted(prediction) = &mut state.source
                {
                    prediction.note_callback();
                }
            }
            PacerObject::Feedback(id) => {
                if let Ok((_, event)) = WpPresentationFeedback::parse_event(&connection, message) {
                    state.handle_feedback(id, event);
                }
            }
            PacerObject::RefreshFeedback => {
                if let Ok((_, event)) = WpPresentationFeedback::parse_event(&connection, message) {
                    state.handle_refresh_feedback(&event);
                }
            }
        }
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}

impl PacerState {
    pub(super) fn push_event(&mut self, event: PacerEvent) {
        if self.events.len() == MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn push_ended(&mut self, ended: Option<(FrameTarget, TargetOutcome)>) {
        if let Some((target, outcome)) = ended {
            self.push_event(PacerEvent::Ended { target, outcome });
        }
    }

    fn handle_pacing(&mut self, event: Event) {
        let TargetSource::Sent(targets) = &mut self.source else { return };
        match event {
            Event::Capabilities { ahead_limit } => self.most_ahead = ahead_limit,
            Event::Effective { pacing, ahead, min_buffers, reason } => {
                // Ignore values of a later version of the protocol: this version could not act on them.
                let (WEnum::Value(pacing), reason) = (pacing, known(reason, Reason::Policy)) else { return };
                self.effective = PacingInForce { pacing, ahead, min_buffers, reason: Some(reason) };
                self.push_event(PacerEvent::Effective(self.effective));
            }
            Event::Target { id_hi, id_lo, tv_sec_hi, tv_sec_lo, tv_nsec, ready_by, interval, .. } => {
                let present = instant(tv_sec_hi, tv_sec_lo, tv_nsec);
                targets.add_target(FrameTarget {
                    id: TargetId(join(id_hi, id_lo)),
                    present,
                    ready_by: present - Span::from_nanos(ready_by.into()),
                    interval: Span::from_nanos(interval.into()),
                });
            }
            Event::Revoked { id_hi, id_lo, reason } => {
                let first = TargetId(join(id_hi, id_lo));
                targets.revoked(first);
                self.push_event(PacerEvent::Revoked { first, reason: known(reason, RevokeReason::Output) });
            }
            Event::Cancelled { id_hi, id_lo } => {
                self.push_event(PacerEvent::Cancelled { first: TargetId(join(id_hi, id_lo)) });
            }
            Event::Presented { id_hi, id_lo, tv_sec_hi, tv_sec_lo, tv_nsec, margin, path } => {
                let outcome = TargetOutcome::Presented {
                    at: instant(tv_sec_hi, tv_sec_lo, tv_nsec),
                    margin: Some(Span::from_nanos(margin.into())),
                    path: known(path, Path::Composited),
                };
                let ended = targets.ended(TargetId(join(id_hi, id_lo)), outcome);
                self.push_ended(ended);
            }
            Event::Discarded { id_hi, id_lo, reason } => {
                let outcome = TargetOutcome::Discarded(known(reason, DiscardReason::Newer));
                let ended = targets.ended(TargetId(join(id_hi, id_lo)), outcome);
                self.push_ended(ended);
            }
        }
    }

    fn handle_refresh_feedback(&mut self, event: &wp_presentation_feedback::Event) {
        use wp_presentation_feedback::Event::Presented;
        if let (TargetSource::Predicted(prediction), Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, .. }) =
            (&mut self.source, event)
        {
            let interval = (*refresh > 0).then(|| Span::from_nanos((*refresh).into()));
            prediction.note_refresh(instant(*tv_sec_hi, *tv_sec_lo, *tv_nsec), interval);
        }
    }

    /// Handles presentation feedback, which is only requested if targets are predicted.
    fn handle_feedback(&mut self, id: TargetId, event: wp_presentation_feedback::Event) {
        use wp_presentation_feedback::{Event, Kind};
        let TargetSource::Predicted(prediction) = &mut self.source else { return };
        match event {
            Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, flags, .. } => {
                let at = instant(tv_sec_hi, tv_sec_lo, tv_nsec);
                let interval = (refresh > 0).then(|| Span::from_nanos(refresh.into()));
                let is_direct = flags.into_result().is_ok_and(|flags| flags.contains(Kind::ZeroCopy));
                let path = if is_direct { Path::Direct } else { Path::Composited };
                let target = prediction.presented(id, at, interval);
                self.push_ended(target.map(|target| (target, TargetOutcome::Presented { at, margin: None, path })));
            }
            Event::Discarded => {
                let ended = prediction.discarded(id);
                self.push_ended(ended);
            }
            _ => {}
        }
    }
}

fn known<T>(value: WEnum<T>, otherwise: T) -> T {
    value.into_result().unwrap_or(otherwise)
}
