//! What interrupts an output: power, modes, other sessions, its end. All of it may block, and nobody waits for it but this
//! output.

use smithay::backend::drm::PlaneState;

use super::{Flight, Flipper, Orphans};
use crate::backend::drm::atomic::Commit;
use crate::backend::drm::memory::Picture;
use crate::backend::drm::messages::{News, Switch};
use crate::backend::drm::mode::mode_of;
use crate::backend::drm::refusal::of_kernel;
use crate::backend::{FrameId, GammaRamp, LossReason, SubmitError};
use upbeat_record::faults::{self, Fault};
use upbeat_timing::time::{Clock, Instant};

impl Flipper {
    /// Switches the picture on or off. On: after all events that the device has for it were taken in.
    pub fn set_power(&mut self, on: bool, now: Instant) {
        match (self.is_on, on) {
            (true, false) => {
                self.is_on = false;
                self.lose(LossReason::Gone);
                self.darken();
            }
            (false, true) => {
                (self.is_on, self.modeset) = (true, true);
                self.orphans.forget_lost();
                self.clock.restart(mode_of(self.mode).interval(), now);
            }
            _ => {}
        }
    }

    /// Another session has the device: nothing more is asked of it.
    pub fn pause(&mut self) {
        self.is_ours = false;
    }

    /// It is ours again.
    pub fn resume(&mut self) {
        self.crtc.reset();
        // The mode's value is gone with the other session's state: say it anew.
        if let Err(error) = self.crtc.set_mode(self.mode) {
            tracing::warn!(output = self.name, %error, "the output's mode is not known after the switch");
        }
        // The other session's pictures came long after our last flip.
        (self.is_ours, self.modeset, self.orphans) = (true, true, Orphans::default());
        if let Some(gamma) = &mut self.gamma {
            gamma.tell_again();
        }
    }

    /// The monitor was unplugged, or the whole device.
    pub fn unplug(&mut self) {
        self.is_on = false;
        self.lose(LossReason::Gone);
        self.darken();
    }

    fn darken(&mut self) {
        // One that was pulled out does not answer any more.
        if self.is_ours {
            match self.crtc.clear() {
                Ok(()) => self.orphans.settle(),
                Err(error) => tracing::info!(output = self.name, %error, "the output cannot be switched off"),
            }
        }
        let (shown, pictures) = (std::mem::take(&mut self.held), std::mem::take(&mut self.retired));
        self.news.push_back(News::Released(shown, pictures));
    }

    /// All that was submitted is lost.
    fn lose(&mut self, reason: LossReason) {
        if let Some(Flight { frame, planes, light, picture, .. }) = self.flight.take() {
            if light.is_none() {
                self.orphans.add();
            }
            // The device may get to show it all the same.
            self.held.push(planes);
            self.retired.extend(picture);
            self.news.push_back(News::Lost { frame, reason });
        }
        self.withdraw(FrameId(0), reason);
        if reason == LossReason::ModeChange {
            self.retired.extend(self.front.take());
        }
    }

    /// Shows another of the monitor's modes, or lets the rate vary between others. On an error the old one stays.
    pub fn switch(&mut self, mut switch: Box<Switch>, clock: &impl Clock) {
        if faults::check(Fault::ModeSilent).is_err() {
            return;
        }
        if let Some((mode, scanout)) = &switch.mode {
            let first = scanout.first();
            let taken = self.crtc.set_mode(*mode).and_then(|()| self.test(first.as_ref(), mode_of(*mode), true));
            if let Err(error) =
                taken.and_then(|()| faults::check(Fault::Mode).map_err(|error| of_kernel(&error, &error)))
            {
                let _ = self.crtc.set_mode(self.mode);
                return self.news.push_back(News::NotSwitched(switch.asked, error.to_string()));
            }
            self.is_refused = faults::check(Fault::Modeset).is_err();
            self.lose(LossReason::ModeChange);
            (self.mode, self.modeset) = (*mode, true);
            self.mode_revision.advance();
            self.clock.restart(mode_of(*mode).interval(), clock.now());
        }
        let first = switch.mode.as_ref().and_then(|(_, scanout)| scanout.first()).or(self.front.clone());
        if !self.vary(switch.range.is_some(), first.as_ref()) {
            switch.range = None;
        }
        self.news.push_back(News::Switched(switch));
    }

    /// Lets the rate vary, or not. Returns whether it does.
    fn vary(&mut self, wanted: bool, picture: Option<&Picture>) -> bool {
        let Some(atomic) = self.crtc.atomic_mut() else { return false };
        if std::mem::replace(&mut atomic.vrr, wanted) == wanted {
            return wanted;
        }
        let mode = mode_of(self.mode);
        let as_it_is = picture.is_none() || self.test(picture, mode, self.modeset).is_ok();
        if as_it_is {
            return wanted;
        }
        let anew = self.test(picture, mode, true);
        self.modeset |= anew.is_ok();
        if let (Err(error), Some(atomic)) = (&anew, self.crtc.atomic_mut()) {
            tracing::warn!(output = self.name, %error, "the driver does not vary the rate");
            atomic.vrr = false;
        }
        wanted && anew.is_ok()
    }

    /// Would the driver show `picture`? `light`: in the mode that it has not yet. Nobody knows while another session has the
    /// device: the first frame will tell.
    fn test(&mut self, picture: Option<&Picture>, mode: crate::backend::Mode, light: bool) -> Result<(), SubmitError> {
        let config = picture.map(|picture| picture.on_plane((mode.width, mode.height)));
        let plane = PlaneState { handle: self.crtc.primary().handle, config };
        match self.crtc.commit(&[plane], None, if light { Commit::TestLight } else { Commit::TestFlip }) {
            Err(SubmitError::Off) => Ok(()),
            answer => answer,
        }
    }

    /// Shows colours through `ramp` from the next frame on.
    pub fn set_gamma(&mut self, ramp: Option<&GammaRamp>) {
        if let Some(gamma) = &mut self.gamma
            && let Err(error) = gamma.set(ramp)
        {
            tracing::warn!(output = self.name, %error, "a gamma ramp was refused");
        }
    }
}
