//! Interruptions of an output: power, mode switches, other sessions, its end. Each may block, which delays only this
//! output.

use smithay::backend::drm::PlaneState;
use smithay::reexports::drm::control::Mode as DrmMode;

use super::{AbandonedFlips, FlipInFlight, Flipper};
use crate::backend::drm::atomic::CommitKind;
use crate::backend::drm::commit_error::of_kernel;
use crate::backend::drm::memory::ScanoutPicture;
use crate::backend::drm::messages::{ModeSwitch, ModeTest, PipeMessage};
use crate::backend::drm::mode::mode_of;
use crate::backend::drm::scanout::ScanoutBuffers;
use crate::backend::{FrameId, GammaRamp, LossReason, SubmitError};
use upbeat_record::faults::{self, Fault};
use upbeat_timing::time::{Clock, Instant};

impl Flipper {
    /// Switches the output on or off. Before it is switched on, read all pending events of the device.
    pub fn set_power(&mut self, on: bool, now: Instant) {
        match (self.is_on, on) {
            (true, false) => {
                self.is_on = false;
                self.lose_all(LossReason::Gone);
                self.disable_crtc();
            }
            (false, true) => {
                (self.is_on, self.modeset) = (true, true);
                self.abandoned_flips.forget_lost();
                self.clock.restart(mode_of(self.mode).interval(), now);
            }
            _ => {}
        }
    }

    /// Another session takes the device: stops all commits.
    pub fn pause(&mut self) {
        self.end_front_writes(LossReason::Gone);
        self.is_ours = false;
    }

    /// The device is ours again.
    pub fn resume(&mut self) {
        self.crtc.reset();
        // The mode's blob is gone with the other session's state: create it again.
        if let Err(error) = self.crtc.set_mode(self.mode) {
            tracing::warn!(output = self.name, %error, "the output's mode cannot be set after the session switch");
        }
        // The other session's flips came after our last flip, so all our events have been sent.
        (self.is_ours, self.modeset, self.abandoned_flips) = (true, true, AbandonedFlips::default());
        if let Some(gamma) = &mut self.gamma {
            gamma.set_again();
        }
    }

    /// The monitor or the device was unplugged.
    pub fn unplug(&mut self) {
        self.is_on = false;
        self.lose_all(LossReason::Gone);
        self.disable_crtc();
    }

    fn disable_crtc(&mut self) {
        // Without DRM master the commit would fail. On an unplugged device it fails, too, which is only logged.
        if self.is_ours {
            match self.crtc.clear() {
                Ok(()) => self.abandoned_flips.mark_settled(),
                Err(error) => tracing::info!(output = self.name, %error, "the output cannot be switched off"),
            }
        }
        let (shown, pictures) = (std::mem::take(&mut self.held), std::mem::take(&mut self.retired));
        self.messages.push_back(PipeMessage::Released(shown, pictures));
    }

    /// Reports all outstanding frames as lost.
    fn lose_all(&mut self, reason: LossReason) {
        self.end_front_writes(reason);
        if let Some(FlipInFlight { frame, planes, light, picture, .. }) = self.in_flight.take() {
            if light.is_none() {
                self.abandoned_flips.add();
            }
            // The device may still show it, so keep its buffers.
            self.held.push(planes);
            self.retired.extend(picture);
            self.messages.push_back(PipeMessage::Lost { frame, reason });
        }
        self.withdraw(FrameId(0), reason);
        if reason == LossReason::ModeChange {
            self.retired.extend(self.front.take());
        }
    }

    /// Switches to another mode, or to another range of rates. On an error the current mode stays.
    pub fn switch(&mut self, mut switch: Box<ModeSwitch>, clock: &impl Clock) {
        if faults::check(Fault::ModeSilent).is_err() {
            return;
        }
        if let Some((mode, scanout)) = &switch.mode {
            if let Err(error) = self.try_mode(*mode, scanout) {
                let _ = self.crtc.set_mode(self.mode);
                return self.messages.push_back(PipeMessage::NotSwitched(switch.request, error.to_string()));
            }
            self.is_refused = faults::check(Fault::Modeset).is_err();
            self.lose_all(LossReason::ModeChange);
            (self.mode, self.modeset) = (*mode, true);
            self.mode_revision.advance();
            self.clock.restart(mode_of(*mode).interval(), clock.now());
        }
        let first = switch.mode.as_ref().and_then(|(_, scanout)| scanout.first()).or(self.front.clone());
        if switch.range.is_some() {
            // With a variable rate it is unknown when a row is lit.
            self.end_front_writes(LossReason::Gone);
        }
        if !self.vary(switch.range.is_some(), first.as_ref()) {
            switch.range = None;
        }
        self.messages.push_back(PipeMessage::Switched(switch));
    }

    /// Tests a mode, and keeps the current mode.
    pub fn test_mode(&mut self, test: &ModeTest) {
        let result = self.try_mode(test.mode, &test.scanout);
        let _ = self.crtc.set_mode(self.mode);
        let result = result.map_err(|error| error.to_string());
        self.messages.push_back(PipeMessage::ModeTested(test.request, result));
    }

    /// Sets the mode of the next modeset if a test commit accepts it. After an error the mode has to be set again.
    fn try_mode(&mut self, mode: DrmMode, scanout: &ScanoutBuffers) -> Result<(), SubmitError> {
        self.crtc.set_mode(mode)?;
        self.test(scanout.first().as_ref(), mode_of(mode), true)?;
        faults::check(Fault::Mode).map_err(|error| of_kernel(&error, &error))
    }

    /// Enables or disables variable refresh. Returns whether it is enabled.
    fn vary(&mut self, wanted: bool, picture: Option<&ScanoutPicture>) -> bool {
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

    /// Makes a test commit with `picture`. `light`: test a modeset. While another session has the device it always
    /// succeeds: the first frame will show whether the driver accepts it.
    fn test(
        &mut self,
        picture: Option<&ScanoutPicture>,
        mode: crate::backend::VideoMode,
        light: bool,
    ) -> Result<(), SubmitError> {
        let config = picture.map(|picture| picture.plane_config((mode.width, mode.height)));
        let plane = PlaneState { handle: self.crtc.primary().handle, config };
        match self.crtc.commit(&[plane], None, if light { CommitKind::TestLight } else { CommitKind::TestFlip }) {
            Err(SubmitError::Off) => Ok(()),
            answer => answer,
        }
    }

    /// Sets the gamma ramp from the next frame on.
    pub fn set_gamma(&mut self, ramp: Option<&GammaRamp>) {
        if let Some(gamma) = &mut self.gamma
            && let Err(error) = gamma.set(ramp)
        {
            tracing::warn!(output = self.name, %error, "a gamma ramp was refused");
        }
    }
}
