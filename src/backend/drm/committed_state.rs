//! The committed state of a CRTC's planes, so that a flip sets only properties that change. Pure.
//!
//! ```text
//!   unknown ─ a modeset or flip succeeded ─► known ─ another flip ─► only the difference
//!        ▲                                    │
//!        └── a commit failed · another session had the device · switched off
//! ```
//!
//! The kernel keeps all properties that a commit does not set, except two: a picture's fence and its damage clips count
//! for one commit.

use smithay::backend::drm::{PlaneConfig, PlaneState};
use smithay::reexports::drm::control::{framebuffer, plane};
use smithay::utils::{Buffer, Physical, Rectangle};

/// The properties of a plane that a commit has to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaneUpdate {
    /// No property: the plane stays as it is.
    Nothing,
    /// The framebuffer, its fence and its damage clips.
    Framebuffer,
    /// The same, and the source row at which the picture begins.
    SourceRow,
    All,
}

/// The committed configuration of a visible plane.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PlaneSetup {
    picture: framebuffer::Handle,
    from: Rectangle<f64, Buffer>,
    to: Rectangle<i32, Physical>,
}

impl PlaneSetup {
    fn of(config: &PlaneConfig<'_>) -> Self {
        PlaneSetup { picture: config.fb, from: config.src, to: config.dst }
    }

    fn differs_from(&self, other: &Self) -> Option<SetupDifference> {
        let across = |shows: &Self| (shows.from.size, shows.from.loc.x, shows.to);
        if across(self) != across(other) {
            Some(SetupDifference::Other)
        } else {
            (self.from.loc.y != other.from.loc.y).then_some(SetupDifference::SourceRow)
        }
    }
}

/// The difference between two configurations, apart from the framebuffer.
enum SetupDifference {
    /// Only the source row differs.
    SourceRow,
    /// Another position, size or source column differs.
    Other,
}

/// The committed state of one CRTC.
#[derive(Debug, Default)]
pub(super) struct CommittedState {
    /// `None`: off. The state of planes that are not listed is unknown.
    planes: Vec<(plane::Handle, Option<PlaneSetup>)>,
    /// The committed `VRR_ENABLED`, if it is known.
    vrr: Option<bool>,
}

impl CommittedState {
    /// The properties that a commit has to set for this plane. `again`: the same framebuffer counts as a new one,
    /// as its pixels may be new.
    pub fn needed_update(&self, state: &PlaneState<'_>, again: bool) -> PlaneUpdate {
        let Some((_, known)) = self.planes.iter().find(|(plane, _)| *plane == state.handle) else {
            return PlaneUpdate::All;
        };
        match (known, &state.config) {
            (None, None) => PlaneUpdate::Nothing,
            (Some(known), Some(config)) => {
                let wanted = PlaneSetup::of(config);
                let alone = config.fence.is_none() && config.damage_clips.is_none();
                match known.differs_from(&wanted) {
                    Some(SetupDifference::SourceRow) => PlaneUpdate::SourceRow,
                    Some(SetupDifference::Other) => PlaneUpdate::All,
                    None if known.picture == wanted.picture && alone && !again => PlaneUpdate::Nothing,
                    None => PlaneUpdate::Framebuffer,
                }
            }
            _ => PlaneUpdate::All,
        }
    }

    /// Whether the kernel has this value of `VRR_ENABLED`, and the CRTC is on.
    pub fn has_committed_vrr(&self, vrr: bool) -> bool {
        self.vrr == Some(vrr)
    }

    /// The kernel has accepted these states.
    pub fn record_commit(&mut self, planes: &[PlaneState<'_>], vrr: bool) {
        for state in planes {
            let shows = state.config.as_ref().map(PlaneSetup::of);
            match self.planes.iter_mut().find(|(plane, _)| *plane == state.handle) {
                Some((_, known)) => *known = shows,
                None => self.planes.push((state.handle, shows)),
            }
        }
        self.vrr = Some(vrr);
    }

    /// The state is unknown from now on: the next commit sets everything.
    pub fn forget(&mut self) {
        *self = CommittedState::default();
    }

    /// The state of this plane is unknown from now on.
    pub fn forget_plane(&mut self, plane: plane::Handle) {
        self.planes.retain(|(known, _)| *known != plane);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use smithay::reexports::drm::control::property;

    use super::*;
    use crate::backend::drm::plane_config::{part, whole};

    fn handle<T: smithay::reexports::drm::control::ResourceHandle>(number: u32) -> T {
        smithay::reexports::drm::control::from_u32(number).unwrap()
    }

    /// Plane 1 with framebuffer `picture` and its left edge at `x`.
    fn shows(picture: u32, x: i32) -> PlaneState<'static> {
        PlaneState { handle: handle(1), config: Some(whole(handle(picture), (640, 480), (x, 0))) }
    }

    fn dark() -> PlaneState<'static> {
        PlaneState { handle: handle(1), config: None }
    }

    fn committed(state: &PlaneState<'static>) -> CommittedState {
        let mut committed = CommittedState::default();
        committed.record_commit(std::slice::from_ref(state), false);
        committed
    }

    #[test]
    fn unknown_plane_gets_all_properties() {
        assert_eq!(CommittedState::default().needed_update(&shows(7, 0), false), PlaneUpdate::All);
        assert_eq!(CommittedState::default().needed_update(&dark(), false), PlaneUpdate::All);
        assert!(!CommittedState::default().has_committed_vrr(false));
    }

    #[test]
    fn flip_sets_the_framebuffer_but_not_the_position() {
        let committed = committed(&shows(7, 0));
        assert_eq!(committed.needed_update(&shows(8, 0), false), PlaneUpdate::Framebuffer);
        assert_eq!(committed.needed_update(&shows(8, 3), false), PlaneUpdate::All);
        assert_eq!(committed.needed_update(&dark(), false), PlaneUpdate::All);
        assert!(committed.has_committed_vrr(false) && !committed.has_committed_vrr(true));
    }

    #[test]
    fn picture_at_another_row_sets_the_source_row() {
        let at = |top| PlaneState { handle: handle(1), config: Some(part(handle(7), top, (640, 480))) };
        let committed = committed(&at(480));
        assert_eq!(committed.needed_update(&at(0), false), PlaneUpdate::SourceRow);
        assert_eq!(committed.needed_update(&at(480), true), PlaneUpdate::Framebuffer);
        assert_eq!(committed.needed_update(&shows(8, 0), false), PlaneUpdate::SourceRow);
        assert_eq!(committed.needed_update(&shows(7, 3), false), PlaneUpdate::All);
    }

    #[test]
    fn unchanged_cursor_sets_nothing_but_a_redrawn_buffer_does() {
        let committed = committed(&shows(7, 0));
        assert_eq!(committed.needed_update(&shows(7, 0), false), PlaneUpdate::Nothing);
        assert_eq!(committed.needed_update(&shows(7, 0), true), PlaneUpdate::Framebuffer);
    }

    #[test]
    fn fence_and_damage_are_set_again_for_the_same_framebuffer() {
        let committed = committed(&shows(7, 0));
        let mut damaged = shows(7, 0);
        damaged.config.as_mut().unwrap().damage_clips = Some(property::Value::Blob(3));
        assert_eq!(committed.needed_update(&damaged, false), PlaneUpdate::Framebuffer);
        let file = std::fs::File::open("/dev/null").unwrap();
        let mut unfinished = shows(7, 0);
        unfinished.config.as_mut().unwrap().fence = Some(file.as_fd());
        assert_eq!(committed.needed_update(&unfinished, false), PlaneUpdate::Framebuffer);
    }

    #[test]
    fn disabled_plane_is_not_disabled_again_and_is_enabled_with_all_properties() {
        let committed = committed(&dark());
        assert_eq!(committed.needed_update(&dark(), false), PlaneUpdate::Nothing);
        assert_eq!(committed.needed_update(&shows(7, 0), false), PlaneUpdate::All);
    }

    #[test]
    fn planes_that_a_commit_left_out_are_still_known() {
        let mut committed = committed(&shows(7, 0));
        committed.record_commit(&[PlaneState { handle: handle(2), config: None }], true);
        assert_eq!(committed.needed_update(&shows(8, 0), false), PlaneUpdate::Framebuffer);
        assert!(committed.has_committed_vrr(true));
    }

    #[test]
    fn failed_commit_sets_all_properties_again() {
        let mut known = committed(&shows(7, 0));
        known.forget();
        assert_eq!(known.needed_update(&shows(7, 0), false), PlaneUpdate::All);
        assert!(!known.has_committed_vrr(false));
        let mut cleared = committed(&shows(7, 0));
        cleared.forget_plane(handle(1));
        assert_eq!(cleared.needed_update(&dark(), false), PlaneUpdate::All);
        assert!(cleared.has_committed_vrr(false), "the CRTC is lit as before");
    }
}
