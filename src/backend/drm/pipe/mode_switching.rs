//! Mode switches of a monitor. Each request is answered once, when its outcome is known.
//!
//! ```text
//!   set_mode ─► worker: buffers ─► presenter: a test commit ─┬─► refused ─────────────────────────────► refused
//!                                                            └─► switched ─► its first frame ─┬─► seen ─► settled
//!                                                                              refused ───────┴─► back, and refused
//! ```
//!
//! A driver that accepts a mode in a test commit may still refuse the modeset. The first frame in a mode has no
//! clients' planes, and is also tried without the cursor and the gamma ramp. So if it is refused, the mode is the
//! cause.
//!
//! The output then goes back to the last mode in which a frame was shown. If another request is under way already, the
//! output switches to that mode instead.

use smithay::reexports::drm::control::Mode as DrmMode;

use super::Pipe;
use crate::backend::drm::DrmError;
use crate::backend::drm::messages::{ModeSwitch, ModeTest, PipeMessage, PresenterCommand};
use crate::backend::drm::mode::{self, ConfiguredMode, mode_of};
use crate::backend::drm::presenter_mirror::PresenterPower;
use crate::backend::{DisplayEvent, ModeId, VideoMode};

/// The state of mode switches.
#[derive(Default)]
pub(super) struct ModeSwitches {
    last: ModeId,
    /// Unanswered requests, the oldest first.
    requests: Vec<PendingModeRequest>,
    /// Set while no frame was shown in the current mode.
    proof: Option<UnprovenMode>,
    /// The last mode in which a frame was shown, while another mode is in force; `None`: there is no mode to go
    /// back to.
    seen: Option<WantedMode>,
}

/// A mode, and the slowest rate (mHz) if the rate is to vary.
type WantedMode = (DrmMode, Option<u32>);

struct PendingModeRequest {
    id: ModeId,
    /// The slowest rate (mHz), if the rate is to vary.
    slowest: Option<u32>,
    /// The monitor supports this variable rate.
    varies: bool,
    /// Set if this request goes back from a refused mode. If it is refused, too, there is no further fallback.
    from: Option<RefusedMode>,
}

/// A mode whose modeset was refused.
struct RefusedMode {
    /// The request to answer once the old mode is restored; `None` if it was answered while the output was dark.
    id: Option<ModeId>,
    error: String,
}

/// A mode in which no frame was shown yet.
struct UnprovenMode {
    /// The request to answer; `None` if it was answered while the output was dark, after the test commit.
    id: Option<ModeId>,
    /// It is the previous mode, restored after a refusal.
    goes_back: bool,
}

impl Pipe {
    /// Switches to another of the monitor's modes, whose rate may vary down to `slowest` (mHz). Returns the id
    /// under which the result is reported. If the driver refuses the mode the old mode stays.
    pub fn set_mode(&mut self, mode: DrmMode, slowest: Option<u32>) -> ModeId {
        self.request_mode((mode, slowest), None)
    }

    /// The slowest rate (mHz) of the newest request; `None`: the rate is fixed.
    pub fn slowest(&self) -> Option<u32> {
        self.switches.requests.last().map_or(self.properties.slowest, |request| request.slowest)
    }

    /// Asks the driver whether it would take one of the monitor's modes. Returns the id under which the result is
    /// reported, unless the monitor goes before.
    pub fn test_mode(&mut self, mode: DrmMode) -> ModeId {
        let id = self.next_mode_id();
        let size = (mode_of(mode).width, mode_of(mode).height);
        let allocator = self.scanout.allocator(&self.properties.device, size);
        let (device, jobs, presenter) =
            (self.properties.device.clone(), self.channels.jobs.clone(), self.channels.presenter.clone());
        let (answers, wakeup) = (self.channels.answers.clone(), self.channels.wakeup.clone());
        self.channels.jobs.queue_job(move || match allocator.resized(size, &device, &jobs) {
            Ok(scanout) => {
                presenter.send(PresenterCommand::TestMode(Box::new(ModeTest { request: id, mode, scanout })))
            }
            Err(error) => {
                answers.send_quietly(PipeMessage::ModeTested(id, Err(error.to_string())));
                wakeup.ping();
            }
        });
        id
    }

    fn next_mode_id(&mut self) -> ModeId {
        self.switches.last = ModeId(self.switches.last.0.wrapping_add(1));
        self.switches.last
    }

    fn request_mode(&mut self, (mode, slowest): WantedMode, from: Option<RefusedMode>) -> ModeId {
        let range = self.properties.rates.range(&self.properties.name, mode_of(mode), slowest);
        // With an unanswered request, or a mode in which no frame was shown yet, the final mode is unknown:
        // switch in any case.
        let ModeSwitches { requests, proof, seen, .. } = &self.switches;
        let is_in_force = mode == self.properties.mode && requests.is_empty() && proof.is_none() && seen.is_none();
        let id = self.next_mode_id();
        self.switches.requests.push(PendingModeRequest { id, slowest, varies: range.is_some(), from });
        if is_in_force {
            self.channels.presenter.send(PresenterCommand::Switch(Box::new(ModeSwitch {
                request: id,
                mode: None,
                range,
            })));
            return id;
        }
        let size = (mode_of(mode).width, mode_of(mode).height);
        let allocator = self.scanout.allocator(&self.properties.device, size);
        let (device, jobs, presenter) =
            (self.properties.device.clone(), self.channels.jobs.clone(), self.channels.presenter.clone());
        let (answers, wakeup) = (self.channels.answers.clone(), self.channels.wakeup.clone());
        self.channels.jobs.queue_job(move || match allocator.resized(size, &device, &jobs) {
            Ok(scanout) => {
                let mode = Some((mode, scanout));
                presenter.send(PresenterCommand::Switch(Box::new(ModeSwitch { request: id, mode, range })));
            }
            Err(error) => {
                answers.send_quietly(PipeMessage::NotSwitched(id, error.to_string()));
                wakeup.ping();
            }
        });
        id
    }

    /// The monitor's modes, the preferred mode first.
    pub fn modes(&self) -> Vec<VideoMode> {
        mode::by_preference(&self.properties.modes)
    }

    /// The monitor's mode that matches `mode`.
    pub fn choose(&self, mode: VideoMode) -> Result<DrmMode, DrmError> {
        let wish = ConfiguredMode { size: Some((mode.width, mode.height)), refresh: Some(mode.refresh), slowest: None };
        mode::choose(&self.properties.name, &self.properties.modes, wish)
    }

    /// The monitor was probed again: replaces its modes.
    pub fn learn_modes(&mut self, modes: Vec<DrmMode>) {
        self.properties.modes = modes;
    }

    /// The presenter has switched the mode, or the range of rates.
    pub(super) fn switched(&mut self, ModeSwitch { request, mode, range }: ModeSwitch) {
        if self.mirror.power == PresenterPower::Gone {
            return;
        }
        let PendingModeRequest { slowest, varies, from, .. } = self.take_request(request);
        let before = (self.properties.mode, self.properties.slowest);
        self.properties.slowest = slowest;
        let Some((mode, scanout)) = mode else {
            self.vary(range);
            let is_fixed = varies && range.is_none();
            if is_fixed {
                self.properties.slowest = before.1;
            }
            let result = if is_fixed { Err("the driver does not vary its rate".to_owned()) } else { Ok(()) };
            return self.settle(request, result);
        };
        // The previous mode was replaced before a frame was shown in it.
        self.settle_proof();
        self.switches.seen.get_or_insert(before);
        self.show_mode(mode, scanout, range);
        let goes_back = from.is_some();
        if let Some(from) = from {
            self.settle_refused(from);
        }
        self.switches.proof = Some(UnprovenMode { id: Some(request), goes_back });
        if self.mirror.power != PresenterPower::On {
            self.settle_dark();
        }
    }

    /// The switch was refused, or there was no memory for it.
    pub(super) fn not_switched(&mut self, request: ModeId, error: String) {
        let PendingModeRequest { from, .. } = self.take_request(request);
        let ModeSwitches { requests: others, proof, seen, .. } = &mut self.switches;
        if let Some(from) = from {
            tracing::error!(output = self.properties.name, error, "the old mode was refused");
            *seen = None;
            self.settle_refused(from);
            return self.settle(request, Err(error));
        }
        tracing::error!(output = self.properties.name, error, "another mode was refused: the old one stays");
        // The current mode may be one that was refused, and that this request was to replace.
        match *seen {
            Some(seen) if others.is_empty() && proof.is_none() => {
                self.request_mode(seen, Some(RefusedMode { id: Some(request), error }));
            }
            _ => self.settle(request, Err(error)),
        }
    }

    /// A frame of the current mode was refused for good. The request for that mode is answered when the old mode is
    /// restored, or when another request is under way.
    pub(super) fn reject_mode(&mut self, error: &str) {
        let Some(UnprovenMode { id, goes_back }) = self.switches.proof.take() else { return };
        let refused = RefusedMode { id, error: error.to_owned() };
        if goes_back {
            self.switches.seen = None;
        }
        match self.switches.seen {
            Some(_) if !self.switches.requests.is_empty() => {
                tracing::error!(output = self.properties.name, error, "a mode cannot be lit: on to the next one");
                self.settle_refused(refused);
            }
            Some(seen) => {
                tracing::error!(
                    output = self.properties.name,
                    error,
                    "another mode cannot be lit: back to the old one"
                );
                self.request_mode(seen, Some(refused));
            }
            None => self.settle_refused(refused),
        }
    }

    /// A frame was shown in the current mode.
    pub(super) fn confirm_mode(&mut self) {
        self.settle_proof();
        self.switches.seen = None;
    }

    /// Answers the request for the current mode with success.
    fn settle_proof(&mut self) {
        if let Some(id) = self.switches.proof.take().and_then(|proof| proof.id) {
            self.settle(id, Ok(()));
        }
    }

    /// The output is dark, so no frame can be shown: answers the request now. If the mode cannot be lit later, the
    /// output still goes back.
    pub(super) fn settle_dark(&mut self) {
        if let Some(id) = self.switches.proof.as_mut().and_then(|proof| proof.id.take()) {
            self.settle(id, Ok(()));
        }
    }

    fn settle_refused(&mut self, RefusedMode { id, error }: RefusedMode) {
        if let Some(id) = id {
            self.settle(id, Err(error));
        }
    }

    /// The monitor is gone: answers all requests with an error.
    pub(super) fn cancel_mode_requests(&mut self) {
        let proof = self.switches.proof.take().and_then(|proof| proof.id);
        let requests = std::mem::take(&mut self.switches.requests).into_iter();
        let ids = requests.flat_map(|request| [Some(request.id), request.from.and_then(|from| from.id)]);
        let given_up: Vec<ModeId> = ids.chain([proof]).flatten().collect();
        given_up.into_iter().for_each(|id| self.settle(id, Err("the monitor is gone".to_owned())));
    }

    /// Removes the request with this id; without one, returns an empty request.
    fn take_request(&mut self, id: ModeId) -> PendingModeRequest {
        let index = self.switches.requests.iter().position(|request| request.id == id);
        index.map_or(PendingModeRequest { id, slowest: None, varies: false, from: None }, |index| {
            self.switches.requests.remove(index)
        })
    }

    pub(super) fn settle(&mut self, request: ModeId, result: Result<(), String>) {
        self.events.push_back(DisplayEvent::ModeSettled { request, result });
    }
}
