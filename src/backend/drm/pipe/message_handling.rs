//! Handles the messages of a pipe's presenter and worker, and turns them into display events.

use smithay::reexports::drm::control::Mode as DrmMode;

use super::{Pipe, ScreenContent};
use crate::backend::drm::commit_error::is_transient;
use crate::backend::drm::messages::PipeMessage;
use crate::backend::drm::scanout::ScanoutBuffers;
use crate::backend::drm::vrr::IntervalRange;
use crate::backend::{DisplayEvent, LossReason, SubmitError};
use upbeat_timing::time::{Clock, MonotonicClock};

impl Pipe {
    /// The next event since the last call, in order.
    pub fn poll_event(&mut self) -> Option<DisplayEvent> {
        if self.events.is_empty() {
            self.receive_messages();
            // Do this also while nothing is shown: otherwise destroyed client buffers would keep their memory.
            self.test_commit_cache.drop_destroyed();
        }
        self.events.pop_front()
    }

    /// Handles all pending messages.
    pub fn receive_messages(&mut self) {
        while let Some(message) = self.channels.messages.take() {
            self.handle_message(message);
        }
    }

    fn handle_message(&mut self, message: PipeMessage) {
        match message {
            PipeMessage::Committed(frame) => self.mirror.committed(frame),
            PipeMessage::Presented { frame, time, sequence, cursor } => {
                let first = !self.mirror.is_lit;
                let (is_new, before) = self.mirror.presented(frame);
                if !is_new {
                    return;
                }
                self.retry_backoff.reset();
                if let Some(ScreenContent { picture, cursor: shown, .. }) = self.mirror.shown_mut() {
                    *shown = cursor;
                    // A frame that changes only planes keeps the previous picture.
                    *picture = picture.take().or(before.and_then(|before| before.picture));
                }
                self.events.push_back(DisplayEvent::Presented { frame, time, sequence });
                self.confirm_mode();
                if first && self.test_commit_cache.take_retry_wanted() {
                    self.events.push_back(DisplayEvent::PlanesKnown);
                }
            }
            PipeMessage::FrontLit { frame, light, sequence, torn } => {
                self.report_write(frame, DisplayEvent::FrontLit { frame, light, sequence, torn });
            }
            PipeMessage::WriteLost { frame, reason } => self.report_write(frame, DisplayEvent::Lost { frame, reason }),
            PipeMessage::FrontScanned(report) => self.events.push_back(DisplayEvent::FrontScanned(report)),
            PipeMessage::RefreshKnown(refresh) => self.record_refresh(refresh),
            PipeMessage::Lost { frame, reason } => {
                if self.mirror.lost(frame).is_some() {
                    self.events.push_back(DisplayEvent::Lost { frame, reason });
                }
            }
            PipeMessage::Refused { frame, error } => {
                if self.mirror.lost(frame).is_some() {
                    if !is_transient(&error) {
                        self.retry_backoff.record_refusal(MonotonicClock.now());
                        // A slow GPU says nothing about the mode.
                        if error != SubmitError::Unfinished {
                            self.reject_mode(&error.to_string());
                        }
                    }
                    self.events.push_back(DisplayEvent::Refused { frame, error });
                }
            }
            // Dropping them sends `wl_buffer.release`, which must happen on this thread and not on a presenter.
            PipeMessage::Released(planes, pictures) => drop((planes, pictures)),
            PipeMessage::TimestampsUntrusted => {
                self.timestamps_trusted = false;
                self.events.push_back(DisplayEvent::Changed);
            }
            PipeMessage::NoCursor => {
                self.properties.cursor_size = None;
                self.events.push_back(DisplayEvent::Changed);
            }
            PipeMessage::PlanesRefused(planes) => self.test_commit_cache.record_refusal(&planes),
            PipeMessage::PlanesTested(key, shows) => {
                if self.test_commit_cache.record_result(key, shows) {
                    self.events.push_back(DisplayEvent::PlanesKnown);
                }
            }
            PipeMessage::Imported(memory, frame) => {
                if self.test_commit_cache.record_import(&memory, frame) {
                    self.events.push_back(DisplayEvent::PlanesKnown);
                }
            }
            PipeMessage::PresenterDied => {
                tracing::error!(output = self.properties.name, "its presenter has panicked: the output is given up");
                self.unplug();
            }
            PipeMessage::Switched(switch) => self.switched(*switch),
            PipeMessage::NotSwitched(request, error) => self.not_switched(request, error),
            PipeMessage::ModeTested(request, result) => self.settle(request, result),
            PipeMessage::Buffer(mode, made) => {
                if mode != self.mode_revision {
                    return;
                }
                self.is_growing = false;
                match made {
                    Ok(fresh) => {
                        self.scanout.add(fresh);
                        self.events.push_back(DisplayEvent::QueueGrown);
                    }
                    Err(error) => {
                        tracing::warn!(error, "no further buffer: fewer frames are rendered ahead");
                        // Stay "growing", so that no further buffer is requested in this mode.
                        self.is_growing = true;
                    }
                }
            }
        }
    }

    /// Records another range of rates in the same mode.
    pub(super) fn vary(&mut self, range: Option<IntervalRange>) {
        if std::mem::replace(&mut self.properties.range, range) != range {
            self.test_commit_cache.forget();
            self.events.push_back(DisplayEvent::Changed);
        }
    }

    /// Records a mode switch: all outstanding frames are lost.
    pub(super) fn show_mode(&mut self, mode: DrmMode, scanout: ScanoutBuffers, range: Option<IntervalRange>) {
        (self.properties.mode, self.properties.range) = (mode, range);
        (self.scanout, self.is_growing) = (scanout, false);
        self.mode_revision.advance();
        // Send this before the losses, so that frames that replace lost frames are made for the new mode.
        self.events.push_back(DisplayEvent::Changed);
        self.lose_all(LossReason::ModeChange);
    }
}
