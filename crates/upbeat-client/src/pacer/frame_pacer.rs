//! The public type [`FramePacer`]: sends requests, and hands out targets and events.

use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use wayland_client::globals::GlobalList;
use wayland_client::protocol::{wl_callback::WlCallback, wl_surface, wl_surface::WlSurface};
use wayland_client::{Connection, Proxy};
use wayland_protocols::wp::presentation_time::client::wp_presentation::{self, WpPresentation};
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::WpPresentationFeedback;

use super::listener::{PacerObject, SharedPacer, TargetSource};
use super::prediction::PredictedTargets;
use super::targets::SentTargets;
use super::{FrameTarget, NotHeld, PacerEvent, PacingInForce, PacingOptions, TargetId};
use crate::bind_global::{IgnoreEvents, bind};
use crate::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::{self, UpbeatFramePacingManagerV1};
use crate::protocol::frame_pacing::upbeat_frame_pacing_v1::{UpbeatFramePacingV1, Wish};
use upbeat_timing::time::{Instant, NANOS_PER_SECOND};

/// Gives each frame of a surface a target: the refresh that it is drawn for.
///
/// A compositor with `upbeat_frame_pacing_v1` sends the targets, several ahead if the program asks for this. On other
/// compositors the pacer predicts one target at a time, from frame callbacks and `wp_presentation`. The program is the
/// same for both.
///
/// The pacer does not wait or read by itself, and needs no event queue. After the program has read from its connection,
/// [`next_target`](Self::next_target) and [`next_event`](Self::next_event) return the new targets and events. The pacer
/// sends requests, which the program must flush. So it works with plain `wayland-client` as below, and with
/// smithay-client-toolkit, which has the same types for surfaces and `GlobalList`. A winit program makes a
/// [`Connection`] from its display handle (`Backend::from_foreign_display`) and a [`WlSurface`] from its window handle.
/// winit wakes the program only for winit's own events, so the program needs a thread that waits on this connection and
/// wakes it with an `EventLoopProxy`.
///
/// ```no_run
/// use upbeat_client::{FramePacer, PacerEvent, Pacing, PacingOptions};
/// use wayland_client::globals::{GlobalList, GlobalListContents, registry_queue_init};
/// use wayland_client::protocol::{wl_registry, wl_surface::WlSurface};
/// use wayland_client::{Connection, Dispatch, EventQueue, QueueHandle};
///
/// # struct Program;
/// # impl Dispatch<wl_registry::WlRegistry, GlobalListContents> for Program {
/// #     fn event(_: &mut Self, _: &wl_registry::WlRegistry, _: wl_registry::Event, _: &GlobalListContents,
/// #              _: &Connection, _: &QueueHandle<Self>) {}
/// # }
/// # fn attach_picture_of(_: &WlSurface, _: upbeat_timing::time::Instant) {}
/// fn animate(
///     connection: &Connection,
///     globals: &GlobalList,
///     surface: &WlSurface,
///     queue: &mut EventQueue<Program>,
///     program: &mut Program,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let mut pacer = FramePacer::new(connection, globals, surface);
///     pacer.set_options(PacingOptions { pacing: Pacing::Ahead, ahead_limit: 3, ..Default::default() });
///     surface.commit();
///     pacer.request_frame();
///     loop {
///         while let Some(target) = pacer.next_target() {
///             pacer.request_frame(); // the next target arrives meanwhile
///             attach_picture_of(surface, target.present);
///             pacer.bind(target.id)?;
///             surface.commit();
///         }
///         while let Some(event) = pacer.next_event() {
///             if let PacerEvent::Ended { target, outcome } = event
///                 && let Some(late @ 1..) = outcome.refreshes_late(&target)
///             {
///                 eprintln!("{:?} was {late} refreshes late", target.id);
///             }
///         }
///         queue.blocking_dispatch(program)?;
///     }
/// }
/// ```
#[derive(Debug)]
pub struct FramePacer {
    shared: SharedPacer,
    surface: WlSurface,
    pacing: Option<UpbeatFramePacingV1>,
    presentation: Option<WpPresentation>,
}

impl FramePacer {
    /// Creates a pacer for `surface`, in any state. A surface can have only one.
    ///
    /// An EGL or Vulkan library that uses the protocol itself would conflict with the pacer. At present no library
    /// does.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let mut pacer = FramePacer::predicting(connection, globals, surface);
        let manager: Option<UpbeatFramePacingManagerV1> = bind(globals, 1, Arc::new(IgnoreEvents));
        if let Some(manager) = manager {
            pacer.shared.lock().source = TargetSource::Sent(SentTargets::default());
            let request = upbeat_frame_pacing_manager_v1::Request::GetFramePacing { surface: surface.clone() };
            pacer.pacing = manager.send_constructor(request, pacer.shared.listener(PacerObject::Pacing)).ok();
            manager.destroy();
            // A connection error is reported by the program's next read.
            let _ = connection.flush();
        }
        pacer
    }

    /// Creates a pacer that always predicts, on any compositor: for comparisons, and to test a program as on
    /// compositors without the protocol.
    pub fn predicting(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let shared = SharedPacer::new(TargetSource::Predicted(PredictedTargets::default()));
        let presentation = bind(globals, 1, shared.listener(PacerObject::Presentation));
        let _ = connection.flush();
        FramePacer { shared, surface: surface.clone(), pacing: None, presentation }
    }

    /// Requests these options, from the surface's next commit on until other options are set. A compositor without
    /// the protocol ignores them.
    pub fn set_options(&self, options: PacingOptions) {
        let Some(pacing) = &self.pacing else { return };
        let mut wish = Wish::empty();
        wish.set(Wish::StayAhead, options.stay_ahead);
        wish.set(Wish::LatestReady, options.latest_ready);
        pacing.set_pacing(options.pacing);
        pacing.set_ahead_limit(options.ahead_limit);
        pacing.set_options(wish);
    }

    /// The pacing in force, as the last [`PacerEvent::Effective`] reported it.
    pub fn effective(&self) -> PacingInForce {
        self.shared.lock().effective
    }

    /// The largest number of frames that the compositor allows to be under way at once.
    pub fn most_ahead(&self) -> u32 {
        self.shared.lock().most_ahead
    }

    /// Requests a target for another frame. Has no effect while a requested target was not taken yet. Call it again
    /// after taking the target and before drawing its frame, so that the next target arrives meanwhile.
    pub fn request_frame(&self) {
        let asks = match &mut self.shared.lock().source {
            TargetSource::Sent(targets) => targets.request(),
            TargetSource::Predicted(prediction) => {
                prediction.request();
                false
            }
        };
        if let Some(pacing) = self.pacing.as_ref().filter(|_| asks) {
            pacing.request_target();
        }
    }

    /// The next target to draw for. [Bind](Self::bind) or [cancel](Self::cancel_from) each target. Returns `None`
    /// while the allowed number of frames is being drawn.
    pub fn next_target(&self) -> Option<FrameTarget> {
        self.next_target_at(self.now())
    }

    /// Like [`next_target`](Self::next_target), at the given time.
    pub(crate) fn next_target_at(&self, now: Instant) -> Option<FrameTarget> {
        let mut state = self.shared.lock();
        let limit = state.effective.ahead.max(1) as usize;
        match &mut state.source {
            TargetSource::Sent(targets) => targets.take_target(limit),
            TargetSource::Predicted(prediction) => prediction.take_target(now),
        }
    }

    /// Declares that the surface's next commit is the frame for this target. This commit must attach a buffer. Call
    /// it right before the commit, in the order of the targets.
    ///
    /// # Errors
    /// The target was not taken from this pacer, or was bound already. Then no request is sent.
    pub fn bind(&self, id: TargetId) -> Result<(), NotHeld> {
        self.bind_on(id, &self.surface)
    }

    /// Like [`bind`](Self::bind), but callback and feedback are requested on `surface`, which is the visible part
    /// of the frame.
    pub(crate) fn bind_on(&self, id: TargetId, surface: &WlSurface) -> Result<(), NotHeld> {
        match &mut self.shared.lock().source {
            TargetSource::Sent(targets) => targets.bind(id)?,
            TargetSource::Predicted(prediction) => prediction.bind(id)?,
        }
        if let Some(pacing) = &self.pacing {
            pacing.bind((id.0 >> 32) as u32, id.0 as u32);
            return Ok(());
        }
        // Errors are ignored: the request only fails if the program has destroyed the surface.
        let callback = self.shared.listener(PacerObject::Callback);
        let _ = surface.send_constructor::<WlCallback>(wl_surface::Request::Frame {}, callback);
        if let Some(presentation) = &self.presentation {
            let request = wp_presentation::Request::Feedback { surface: surface.clone() };
            let listener = self.shared.listener(PacerObject::Feedback(id));
            let _ = presentation.send_constructor::<WpPresentationFeedback>(request, listener);
        }
        Ok(())
    }

    /// Asks for presentation feedback on the next commit of `surface`, if the times of refreshes are not known yet.
    /// Then the first target is for a real refresh and not for an assumed refresh. Returns whether that commit is
    /// needed.
    pub(crate) fn request_refresh_times(&self, surface: &WlSurface) -> bool {
        let is_known = match &self.shared.lock().source {
            TargetSource::Sent(_) => true,
            TargetSource::Predicted(prediction) => prediction.knows_refreshes(),
        };
        let Some(presentation) = self.presentation.as_ref().filter(|_| !is_known) else { return false };
        let request = wp_presentation::Request::Feedback { surface: surface.clone() };
        presentation
            .send_constructor::<WpPresentationFeedback>(request, self.shared.listener(PacerObject::RefreshFeedback))
            .is_ok()
    }

    /// Asks the compositor not to show the frames for this target and later targets. [`PacerEvent::Cancelled`]
    /// answers. Frames that are being drawn for these targets need not be bound: new targets replace theirs.
    pub fn cancel_from(&self, first: TargetId) {
        if let TargetSource::Sent(targets) = &mut self.shared.lock().source {
            targets.give_up(first);
        }
        if let Some(pacing) = &self.pacing {
            pacing.cancel_from((first.0 >> 32) as u32, first.0 as u32);
            return;
        }
        let mut state = self.shared.lock();
        if let TargetSource::Predicted(prediction) = &mut state.source {
            let first = prediction.cancel_from(first);
            state.push_event(PacerEvent::Cancelled { first });
        }
    }

    /// The next event that was read from the connection.
    pub fn next_event(&self) -> Option<PacerEvent> {
        self.shared.lock().events.pop_front()
    }

    /// The current time, on the clock that all times of this pacer use.
    pub fn now(&self) -> Instant {
        // Numbers of the clocks that a compositor may use, from <time.h>.
        let clock = match self.shared.lock().clock {
            0 => ClockId::Realtime,
            4 => ClockId::MonotonicRaw,
            7 => ClockId::Boottime,
            _ => ClockId::Monotonic,
        };
        let time = clock_gettime(clock);
        Instant::from_nanos((time.tv_sec * NANOS_PER_SECOND + time.tv_nsec) as u64)
    }
}

impl Drop for FramePacer {
    fn drop(&mut self) {
        if let Some(pacing) = &self.pacing {
            pacing.destroy();
        }
        if let Some(presentation) = &self.presentation {
            presentation.destroy();
        }
    }
}
