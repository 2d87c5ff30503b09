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
pub(super) enum Say {
    /// No property: the plane stays as it is.
    Nothing,
    /// The framebuffer, its fence and its damage clips.
    Picture,
    /// The same, and the source row at which the picture begins.
    Part,
    All,
}

/// The committed configuration of a visible plane.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shows {
    picture: framebuffer::Handle,
    from: Rectangle<f64, Buffer>,
    to: Rectangle<i32, Physical>,
}

impl Shows {
    fn of(config: &PlaneConfig<'_>) -> Self {
        Shows { picture: config.fb, from: config.src, to: config.dst }
    }

    fn differs_from(&self, other: &Self) -> Option<Differs> {
        let across = |shows: &Self| (shows.from.size, shows.from.loc.x, shows.to);
        if across(self) != across(other) {
            Some(Differs::ByPlace)
        } else {
            (self.from.loc.y != other.from.loc.y).then_some(Differs::ByPart)
        }
    }
}

/// The difference between two configurations, apart from the framebuffer.
enum Differs {
    /// Only the source row differs.
    ByPart,
    ByPlace,
}

/// The committed state of one CRTC.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// `None`: off. The state of planes that are not listed is unknown.
    planes: Vec<(plane::Handle, Option<Shows>)>,
    /// The committed `VRR_ENABLED`, if it is known.
    vrr: Option<bool>,
}

impl Told {
    /// The properties that a commit has to set for this plane. `again`: the same framebuffer counts as a new one,
    /// as its pixels may be new.
    pub fn say(&self, state: &PlaneState<'_>, again: bool) -> Say {
        let Some((_, known)) = self.planes.iter().find(|(plane, _)| *plane == state.handle) else { return Say::All };
        match (known, &state.config) {
            (None, None) => Say::Nothing,
            (Some(known), Some(config)) => {
                let wanted = Shows::of(config);
                let alone = config.fence.is_none() && config.damage_clips.is_none();
                match known.differs_from(&wanted) {
                    Some(Differs::ByPart) => Say::Part,
                    Some(Differs::ByPlace) => Say::All,
                    None if known.picture == wanted.picture && alone && !again => Say::Nothing,
                    None => Say::Picture,
                }
            }
            _ => Say::All,
        }
    }

    /// Whether the kernel has this value of `VRR_ENABLED`, and the CRTC is on.
    pub fn knows_vrr(&self, vrr: bool) -> bool {
        self.vrr == Some(vrr)
    }

    /// The kernel has accepted these states.
    pub fn learn(&mut self, planes: &[PlaneState<'_>], vrr: bool) {
        for state in planes {
            let shows = state.config.as_ref().map(Shows::of);
            match self.planes.iter_mut().find(|(plane, _)| *plane == state.handle) {
                Some((_, known)) => *known = shows,
                None => self.planes.push((state.handle, shows)),
            }
        }
        self.vrr = Some(vrr);
    }

    /// The state is unknown from now on: the next commit sets everything.
    pub fn forget(&mut self) {
        *self = Told::default();
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

    fn told(state: &PlaneState<'static>) -> Told {
        let mut told = Told::default();
        told.learn(std::slice::from_ref(state), false);
        told
    }

    #[test]
    fn what_is_not_known_is_said_as_a_whole() {
        assert_eq!(Told::default().say(&shows(7, 0), false), Say::All);
        assert_eq!(Told::default().say(&dark(), false), Say::All);
        assert!(!Told::default().knows_vrr(false));
    }

    #[test]
    fn a_flip_says_which_picture_and_not_again_where_it_lies() {
        let told = told(&shows(7, 0));
        assert_eq!(told.say(&shows(8, 0), false), Say::Picture);
        assert_eq!(told.say(&shows(8, 3), false), Say::All);
        assert_eq!(told.say(&dark(), false), Say::All);
        assert!(told.knows_vrr(false) && !told.knows_vrr(true));
    }

    #[test]
    fn a_picture_further_down_in_the_same_memory_is_said_with_its_row() {
        let at = |top| PlaneState { handle: handle(1), config: Some(part(handle(7), top, (640, 480))) };
        let told = told(&at(480));
        assert_eq!(told.say(&at(0), false), Say::Part);
        assert_eq!(told.say(&at(480), true), Say::Picture);
        assert_eq!(told.say(&shows(8, 0), false), Say::Part);
        assert_eq!(told.say(&shows(7, 3), false), Say::All);
    }

    #[test]
    fn a_cursor_that_stays_is_not_said_and_a_picture_that_may_be_drawn_anew_is() {
        let told = told(&shows(7, 0));
        assert_eq!(told.say(&shows(7, 0), false), Say::Nothing);
        assert_eq!(told.say(&shows(7, 0), true), Say::Picture);
    }

    #[test]
    fn what_goes_with_one_commit_is_said_also_of_the_same_picture() {
        let told = told(&shows(7, 0));
        let mut damaged = shows(7, 0);
        damaged.config.as_mut().unwrap().damage_clips = Some(property::Value::Blob(3));
        assert_eq!(told.say(&damaged, false), Say::Picture);
        let file = std::fs::File::open("/dev/null").unwrap();
        let mut unfinished = shows(7, 0);
        unfinished.config.as_mut().unwrap().fence = Some(file.as_fd());
        assert_eq!(told.say(&unfinished, false), Say::Picture);
    }

    #[test]
    fn a_plane_that_is_dark_is_not_darkened_again_and_is_lit_as_a_whole() {
        let told = told(&dark());
        assert_eq!(told.say(&dark(), false), Say::Nothing);
        assert_eq!(told.say(&shows(7, 0), false), Say::All);
    }

    #[test]
    fn planes_that_a_commit_left_out_are_still_known() {
        let mut told = told(&shows(7, 0));
        told.learn(&[PlaneState { handle: handle(2), config: None }], true);
        assert_eq!(told.say(&shows(8, 0), false), Say::Picture);
        assert!(told.knows_vrr(true));
    }

    #[test]
    fn after_a_failure_everything_is_said_again() {
        let mut known = told(&shows(7, 0));
        known.forget();
        assert_eq!(known.say(&shows(7, 0), false), Say::All);
        assert!(!known.knows_vrr(false));
        let mut cleared = told(&shows(7, 0));
        cleared.forget_plane(handle(1));
        assert_eq!(cleared.say(&dark(), false), Say::All);
        assert!(cleared.knows_vrr(false), "the CRTC is lit as before");
    }
}
