//! Other modes of a monitor: they are asked for, and what came of it is said once, when it is known.
//!
//! ```text
//!   set_mode ─► worker: buffers ─► presenter: a test commit ─┬─► refused ─────────────────────────────► refused
//!                                                            └─► switched ─► its first frame ─┬─► seen ─► settled
//!                                                                              refused ───────┴─► back, and refused
//! ```
//!
//! A driver that takes a mode in a test may refuse to light it all the same. The first frame of a mode has nothing on other
//! planes, and was tried without the cursor and the colours: a refusal is about the mode.
//!
//! Back is the last mode that was seen. Where another mode is on its way already, that one decides.

use smithay::reexports::drm::control::Mode as DrmMode;

use super::Pipe;
use crate::backend::drm::DrmError;
use crate::backend::drm::messages::{Command, News, Switch};
use crate::backend::drm::mirror::Power;
use crate::backend::drm::mode::{self, ModeWish, mode_of};
use crate::backend::{DisplayEvent, Mode, ModeId};

/// Modes that were asked for.
#[derive(Default)]
pub(super) struct Switches {
    last: ModeId,
    /// What nobody has answered yet, the oldest first.
    asked: Vec<Asked>,
    /// The mode in force, of which nothing was seen yet.
    proof: Option<Proof>,
    /// The last mode that was seen, while another is in force; `None`: there is nothing to go back to.
    seen: Option<Wish>,
}

/// A mode, and how slow its rate may get (mHz), if it is to vary.
type Wish = (DrmMode, Option<u32>);

/// A request.
struct Asked {
    id: ModeId,
    /// How slow its rate may get (mHz), if it is to vary.
    slowest: Option<u32>,
    /// The monitor can.
    varies: bool,
    /// It goes back from this one, and a refusal goes no further.
    from: Option<Refused>,
}

/// A mode that cannot be lit.
struct Refused {
    /// Who is to hear so when all is as it was; `None`: whoever asked was answered while the output was dark.
    id: Option<ModeId>,
    error: String,
}

/// A mode that is to be seen.
struct Proof {
    /// Who is to hear of it; `None`: the output was dark, and they were told that the driver would take it.
    id: Option<ModeId>,
    /// It is what was before.
    goes_back: bool,
}

impl Pipe {
    /// Shows another of the monitor's modes, whose rate varies down to `slowest` (mHz), if that is wanted. Returns under which
    /// name it is said what came of it; where the driver does not take it the old one stays.
    pub fn set_mode(&mut self, mode: DrmMode, slowest: Option<u32>) -> ModeId {
        self.ask_for_mode((mode, slowest), None)
    }

    /// How slow the rate may get (mHz) by what was said last; `None`: it is fixed.
    pub fn slowest(&self) -> Option<u32> {
        self.switches.asked.last().map_or(self.facts.slowest, |asked| asked.slowest)
    }

    fn ask_for_mode(&mut self, (mode, slowest): Wish, from: Option<Refused>) -> ModeId {
        let range = self.facts.rates.range(&self.facts.name, mode_of(mode), slowest);
        // What is on its way is behind other modes, perhaps, and of one that nobody has seen yet nothing is sure.
        let Switches { asked, proof, seen, .. } = &self.switches;
        let is_in_force = mode == self.facts.mode && asked.is_empty() && proof.is_none() && seen.is_none();
        let id = ModeId(self.switches.last.0.wrapping_add(1));
        self.switches.last = id;
        self.switches.asked.push(Asked { id, slowest, varies: range.is_some(), from });
        if is_in_force {
            self.ends.presenter.send(Command::Switch(Box::new(Switch { asked: id, mode: None, range })));
            return id;
        }
        let size = (mode_of(mode).width, mode_of(mode).height);
        let recipe = self.scanout.recipe(&self.facts.device, size);
        let (device, jobs, presenter) =
            (self.facts.device.clone(), self.ends.jobs.clone(), self.ends.presenter.clone());
        let (answers, heard) = (self.ends.answers.clone(), self.ends.heard.clone());
        self.ends.jobs.ask(move || match recipe.resized(size, &device, &jobs) {
            Ok(scanout) => {
                let mode = Some((mode, scanout));
                presenter.send(Command::Switch(Box::new(Switch { asked: id, mode, range })));
            }
            Err(error) => {
                answers.note(News::NotSwitched(id, error.to_string()));
                heard.ping();
            }
        });
        id
    }

    /// Those of the monitor, the one that it prefers first.
    pub fn modes(&self) -> Vec<Mode> {
        mode::by_preference(&self.facts.modes)
    }

    /// The one of them that `mode` names.
    pub fn choose(&self, mode: Mode) -> Result<DrmMode, DrmError> {
        let wish = ModeWish { size: Some((mode.width, mode.height)), refresh: Some(mode.refresh), slowest: None };
        mode::choose(&self.facts.name, &self.facts.modes, wish)
    }

    /// Others than before: the monitor was asked again.
    pub fn learn_modes(&mut self, modes: Vec<DrmMode>) {
        self.facts.modes = modes;
    }

    /// The presenter has switched.
    pub(super) fn switched(&mut self, Switch { asked, mode, range }: Switch) {
        if self.mirror.power == Power::Gone {
            return;
        }
        let Asked { slowest, varies, from, .. } = self.take_asked(asked);
        let before = (self.facts.mode, self.facts.slowest);
        self.facts.slowest = slowest;
        let Some((mode, scanout)) = mode else {
            self.vary(range);
            let is_fixed = varies && range.is_none();
            if is_fixed {
                self.facts.slowest = before.1;
            }
            let result = if is_fixed { Err("the driver does not vary its rate".to_owned()) } else { Ok(()) };
            return self.settle(asked, result);
        };
        // The one before was replaced before it was seen.
        self.settle_proof();
        self.switches.seen.get_or_insert(before);
        self.show_mode(mode, scanout, range);
        let goes_back = from.is_some();
        if let Some(from) = from {
            self.settle_refused(from);
        }
        self.switches.proof = Some(Proof { id: Some(asked), goes_back });
        if self.mirror.power != Power::On {
            self.settle_dark();
        }
    }

    /// It has not.
    pub(super) fn not_switched(&mut self, asked: ModeId, error: String) {
        let Asked { from, .. } = self.take_asked(asked);
        let Switches { asked: others, proof, seen, .. } = &mut self.switches;
        if let Some(from) = from {
            tracing::error!(output = self.facts.name, error, "the old mode was refused");
            *seen = None;
            self.settle_refused(from);
            return self.settle(asked, Err(error));
        }
        tracing::error!(output = self.facts.name, error, "another mode was refused: the old one stays");
        // That in force may be one that cannot be lit, which was to be replaced by this one.
        match *seen {
            Some(seen) if others.is_empty() && proof.is_none() => {
                self.ask_for_mode(seen, Some(Refused { id: Some(asked), error }));
            }
            _ => self.settle(asked, Err(error)),
        }
    }

    /// A frame of the mode in force was refused for good. Whoever asked for that mode hears so when the old one is back, or
    /// another that was asked for meanwhile is on its way.
    pub(super) fn disprove(&mut self, error: &str) {
        let Some(Proof { id, goes_back }) = self.switches.proof.take() else { return };
        let refused = Refused { id, error: error.to_owned() };
        if goes_back {
            self.switches.seen = None;
        }
        match self.switches.seen {
            Some(_) if !self.switches.asked.is_empty() => {
                tracing::error!(output = self.facts.name, error, "a mode cannot be lit: on to the next one");
                self.settle_refused(refused);
            }
            Some(seen) => {
                tracing::error!(output = self.facts.name, error, "another mode cannot be lit: back to the old one");
                self.ask_for_mode(seen, Some(refused));
            }
            None => self.settle_refused(refused),
        }
    }

    /// The mode in force was seen.
    pub(super) fn prove(&mut self) {
        self.settle_proof();
        self.switches.seen = None;
    }

    /// Whoever asked for the mode in force hears that it is.
    fn settle_proof(&mut self) {
        if let Some(id) = self.switches.proof.take().and_then(|proof| proof.id) {
            self.settle(id, Ok(()));
        }
    }

    /// There is nothing to see while the output is dark: nobody waits for that. A mode that cannot be lit then still goes back.
    pub(super) fn settle_dark(&mut self) {
        if let Some(id) = self.switches.proof.as_mut().and_then(|proof| proof.id.take()) {
            self.settle(id, Ok(()));
        }
    }

    fn settle_refused(&mut self, Refused { id, error }: Refused) {
        if let Some(id) = id {
            self.settle(id, Err(error));
        }
    }

    /// The monitor is gone.
    pub(super) fn give_switches_up(&mut self) {
        let proof = self.switches.proof.take().and_then(|proof| proof.id);
        let asked = std::mem::take(&mut self.switches.asked).into_iter();
        let asked = asked.flat_map(|asked| [Some(asked.id), asked.from.and_then(|from| from.id)]);
        let given_up: Vec<ModeId> = asked.chain([proof]).flatten().collect();
        given_up.into_iter().for_each(|id| self.settle(id, Err("the monitor is gone".to_owned())));
    }

    /// The request of this name; one that nobody waits for, if there is none.
    fn take_asked(&mut self, id: ModeId) -> Asked {
        let index = self.switches.asked.iter().position(|asked| asked.id == id);
        index.map_or(Asked { id, slowest: None, varies: false, from: None }, |index| self.switches.asked.remove(index))
    }

    fn settle(&mut self, asked: ModeId, result: Result<(), String>) {
        self.events.push_back(DisplayEvent::ModeSettled { asked, result });
    }
}
