//! Handles the messages of a pipe's presenter and worker, and turns them into display events.

use smithay::reexports::drm::control::Mode as DrmMode;

use super::{Pipe, Screen};
use crate::backend::drm::messages::News;
use crate::backend::drm::refusal::is_passing;
use crate::backend::drm::scanout::Scanout;
use crate::backend::drm::vrr::Range;
use crate::backend::{DisplayEvent, LossReason, SubmitError};
use upbeat_timing::time::{Clock, MonotonicClock};

impl Pipe {
    /// The next event since the last call, in order.
    pub fn poll_event(&mut self) -> Option<DisplayEvent> {
        if self.events.is_empty() {
            self.hear();
            // Do this also while nothing is shown: otherwise destroyed client buffers would keep their memory.
            self.verdicts.forget_gone();
        }
        self.events.pop_front()
    }

    /// Handles all pending messages.
    pub fn hear(&mut self) {
        while let Some(news) = self.ends.news.take() {
            self.learn(news);
        }
    }

    fn learn(&mut self, news: News) {
        match news {
            News::Committed(frame) => self.mirror.committed(frame),
            News::Presented { frame, time, sequence, cursor } => {
                let first = !self.mirror.is_lit;
                let (is_new, before) = self.mirror.presented(frame);
                if !is_new {
                    return;
                }
                self.patience.renew();
                if let Some(Screen { picture, cursor: shown, .. }) = self.mirror.shown_mut() {
                    *shown = cursor;
                    // A frame that changes only planes keeps the previous picture.
                    *picture = picture.take().or(before.and_then(|before| before.picture));
                }
                self.events.push_back(DisplayEvent::Presented { frame, time, sequence });
                self.prove();
                if first && self.verdicts.take_disappointed() {
                    self.events.push_back(DisplayEvent::PlanesKnown);
                }
            }
            News::Lost { frame, reason } => {
                if self.mirror.lost(frame).is_some() {
                    self.events.push_back(DisplayEvent::Lost { frame, reason });
                }
            }
            News::Refused { frame, error } => {
                if self.mirror.lost(frame).is_some() {
                    if !is_passing(&error) {
                        self.patience.refused(MonotonicClock.now());
                        // A slow GPU says nothing about the mode.
                        if error != SubmitError::Unfinished {
                            self.disprove(&error.to_string());
                        }
                    }
                    self.events.push_back(DisplayEvent::Refused { frame, error });
                }
            }
            // Dropping them sends `wl_buffer.release`, which must happen on this thread and not on a presenter.
            News::Released(planes, pictures) => drop((planes, pictures)),
            News::Disbelieved => {
                self.believed = false;
                self.events.push_back(DisplayEvent::Changed);
            }
            News::NoCursor => {
                self.facts.cursor_size = None;
                self.events.push_back(DisplayEvent::Changed);
            }
            News::Refuses(planes) => self.verdicts.refused(&planes),
            News::Verdict(shape, shows) => {
                if self.verdicts.learn(shape, shows) {
                    self.events.push_back(DisplayEvent::PlanesKnown);
                }
            }
            News::Imported(memory, frame) => {
                if self.verdicts.imported(&memory, frame) {
                    self.events.push_back(DisplayEvent::PlanesKnown);
                }
            }
            News::Died => {
                tracing::error!(output = self.facts.name, "its presenter has panicked: the output is given up");
                self.unplug();
            }
            News::Switched(switch) => self.switched(*switch),
            News::NotSwitched(asked, error) => self.not_switched(asked, error),
            News::Buffer(mode, made) => {
                if mode != self.mode_revision {
                    return;
                }
                self.grows = false;
                match made {
                    Ok(fresh) => {
                        self.scanout.add(fresh);
                        self.events.push_back(DisplayEvent::MoreRoom);
                    }
                    Err(error) => {
                        tracing::warn!(error, "no further buffer: fewer frames are rendered ahead");
                        // Stay "growing", so that no further buffer is requested in this mode.
                        self.grows = true;
                    }
                }
            }
        }
    }

    /// Records another range of rates in the same mode.
    pub(super) fn vary(&mut self, range: Option<Range>) {
        if std::mem::replace(&mut self.facts.range, range) != range {
            self.verdicts.forget();
            self.events.push_back(DisplayEvent::Changed);
        }
    }

    /// Records a mode switch: all outstanding frames are lost.
    pub(super) fn show_mode(&mut self, mode: DrmMode, scanout: Scanout, range: Option<Range>) {
        (self.facts.mode, self.facts.range) = (mode, range);
        (self.scanout, self.grows) = (scanout, false);
        self.mode_revision.advance();
        // Send this before the losses, so that frames that replace lost frames are made for the new mode.
        self.events.push_back(DisplayEvent::Changed);
        self.lose_all(LossReason::ModeChange);
    }
}
