//! The pacer that programs hold.

use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use wayland_client::globals::GlobalList;
use wayland_client::protocol::{wl_callback::WlCallback, wl_surface, wl_surface::WlSurface};
use wayland_client::{Connection, Proxy};
use wayland_protocols::wp::presentation_time::client::wp_presentation::{self, WpPresentation};
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::WpPresentationFeedback;

use super::listener::{Role, Shared, Source};
use super::prediction::Prediction;
use super::targets::Targets;
use super::{Effective, FrameTarget, NotHeld, PacerEvent, PacingOptions, TargetId};
use crate::binding::{Deaf, bind};
use crate::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::{self, UpbeatFramePacingManagerV1};
use crate::protocol::frame_pacing::upbeat_frame_pacing_v1::{UpbeatFramePacingV1, Wish};
use upbeat_timing::time::{Instant, NANOS_PER_SECOND};

/// Says which moment each frame of a surface is drawn for.
///
/// With a compositor that has `upbeat_frame_pacing_v1` the moments are those that it names, several ahead if it is
/// asked for that. With any other they follow from frame callbacks and `wp_presentation`: one at a time, predicted.
/// A program is written once for both.
///
/// It does no waiting and no reading of its own and needs no event queue: whenever the program has read from its
/// connection, [`next_target`](Self::next_target) and [`next_event`](Self::next_event) have what came. It sends
/// requests, which the program flushes. So it goes with plain `wayland-client` as below, and with
/// smithay-client-toolkit, whose surfaces and `GlobalList` are the same types. A winit program makes a
/// [`Connection`] from its display handle (`Backend::from_foreign_display`) and a [`WlSurface`] from its window handle;
/// as winit wakes the program only for its own events, one thread that waits on that connection wakes it with an
/// `EventLoopProxy`.
///
/// ```no_run
/// use upbeat_client::{FramePacer, Outcome, PacerEvent, Pacing, PacingOptions};
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
///             pacer.request_frame(); // and one after it
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
    shared: Shared,
    surface: WlSurface,
    pacing: Option<UpbeatFramePacingV1>,
    presentation: Option<WpPresentation>,
}

impl FramePacer {
    /// A pacer for `surface`, of which there may be one. The surface may be in any state.
    ///
    /// An EGL or Vulkan library that speaks the protocol itself would be in its way: at present none does.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let mut pacer = FramePacer::predicting(connection, globals, surface);
        let manager: Option<UpbeatFramePacingManagerV1> = bind(globals, 1, Arc::new(Deaf));
        if let Some(manager) = manager {
            pacer.shared.lock().source = Source::Sent(Targets::default());
            let request = upbeat_frame_pacing_manager_v1::Request::GetFramePacing { surface: surface.clone() };
            pacer.pacing = manager.send_constructor(request, pacer.shared.listener(Role::Pacing)).ok();
            manager.destroy();
            // A connection that fails is told of by what the program reads next.
            let _ = connection.flush();
        }
        pacer
    }

    /// A pacer that predicts, on any compositor: to compare with, and to see what a program does on others.
    pub fn predicting(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let shared = Shared::new(Source::Predicted(Prediction::default()));
        let presentation = bind(globals, 1, shared.listener(Role::Presentation));
        let _ = connection.flush();
        FramePacer { shared, surface: surface.clone(), pacing: None, presentation }
    }

    /// Asks the compositor for these, with the surface's next commit. They hold until others are asked for. A
    /// compositor without the protocol knows none of them.
    pub fn set_options(&self, options: PacingOptions) {
        let Some(pacing) = &self.pacing else { return };
        let mut wish = Wish::empty();
        wish.set(Wish::StayAhead, options.stay_ahead);
        wish.set(Wish::LatestReady, options.latest_ready);
        pacing.set_pacing(options.pacing);
        pacing.set_ahead_limit(options.ahead_limit);
        pacing.set_options(wish);
    }

    /// What is in force; what the compositor says of it as [`PacerEvent::Effective`].
    pub fn effective(&self) -> Effective {
        self.shared.lock().effective
    }

    /// How many frames the compositor lets be under way at most.
    pub fn most_ahead(&self) -> u32 {
        self.shared.lock().most_ahead
    }

    /// Another frame is to be drawn: a target for it will come. Says nothing new while one is asked for that was not
    /// taken. To be called again once it was taken, before that frame is drawn: the next then comes meanwhile.
    pub fn request_frame(&self) {
        let asks = match &mut self.shared.lock().source {
            Source::Sent(targets) => targets.request(),
            Source::Predicted(prediction) => {
                prediction.request();
                false
            }
        };
        if let Some(pacing) = self.pacing.as_ref().filter(|_| asks) {
            pacing.request_target();
        }
    }

    /// The next target to draw for. It is to be [bound](Self::bind) or [cancelled](Self::cancel_from): while as many
    /// frames as may be under way are neither, there is none.
    pub fn next_target(&self) -> Option<FrameTarget> {
        self.next_target_at(self.now())
    }

    /// The same where it is `now`.
    pub(crate) fn next_target_at(&self, now: Instant) -> Option<FrameTarget> {
        let mut state = self.shared.lock();
        let limit = state.effective.ahead.max(1) as usize;
        match &mut state.source {
            Source::Sent(targets) => targets.take(limit),
            Source::Predicted(prediction) => prediction.take(now),
        }
    }

    /// The surface's next commit, which has to attach a buffer, is the frame for this target. To be called right before
    /// it, in the order of the targets.
    ///
    /// # Errors
    /// If the target was not taken from this pacer, or was bound already. Nothing is sent then.
    pub fn bind(&self, id: TargetId) -> Result<(), NotHeld> {
        self.bind_on(id, &self.surface)
    }

    /// The same where `surface`, which belongs to the frame, is what is seen of it: it is called back for that one.
    pub(crate) fn bind_on(&self, id: TargetId, surface: &WlSurface) -> Result<(), NotHeld> {
        match &mut self.shared.lock().source {
            Source::Sent(targets) => targets.bind(id)?,
            Source::Predicted(prediction) => prediction.bind(id)?,
        }
        if let Some(pacing) = &self.pacing {
            pacing.bind((id.0 >> 32) as u32, id.0 as u32);
            return Ok(());
        }
        // A dead object is a surface that its program has destroyed.
        let callback = self.shared.listener(Role::Callback);
        let _ = surface.send_constructor::<WlCallback>(wl_surface::Request::Frame {}, callback);
        if let Some(presentation) = &self.presentation {
            let request = wp_presentation::Request::Feedback { surface: surface.clone() };
            let listener = self.shared.listener(Role::Feedback(id));
            let _ = presentation.send_constructor::<WpPresentationFeedback>(request, listener);
        }
        Ok(())
    }

    /// Learns when refreshes are from the next commit of `surface`, where that is not known: the first frame is for a refresh then,
    /// and not for when one may be. Returns whether that commit is wanted.
    pub(crate) fn glimpse(&self, surface: &WlSurface) -> bool {
        let is_known = match &self.shared.lock().source {
            Source::Sent(_) => true,
            Source::Predicted(prediction) => prediction.knows_refreshes(),
        };
        let Some(presentation) = self.presentation.as_ref().filter(|_| !is_known) else { return false };
        let request = wp_presentation::Request::Feedback { surface: surface.clone() };
        presentation.send_constructor::<WpPresentationFeedback>(request, self.shared.listener(Role::Glimpse)).is_ok()
    }

    /// What was drawn for this target and later ones is wrong: it is not to be shown. Answered by
    /// [`PacerEvent::Cancelled`]. Frames being drawn for them need not be bound; other targets come for those.
    pub fn cancel_from(&self, first: TargetId) {
        if let Source::Sent(targets) = &mut self.shared.lock().source {
            targets.give_up(first);
        }
        if let Some(pacing) = &self.pacing {
            pacing.cancel_from((first.0 >> 32) as u32, first.0 as u32);
            return;
        }
        let mut state = self.shared.lock();
        if let Source::Predicted(prediction) = &mut state.source {
            let first = prediction.cancel_from(first);
            state.tell(PacerEvent::Cancelled { first });
        }
    }

    /// The next thing that happened.
    pub fn next_event(&self) -> Option<PacerEvent> {
        self.shared.lock().events.pop_front()
    }

    /// The time on the clock of all these times.
    pub fn now(&self) -> Instant {
        // The clocks that a compositor could stamp with, by their numbers in <time.h>.
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
