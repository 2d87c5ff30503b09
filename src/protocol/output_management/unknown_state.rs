//! Disabled heads that a client enables without knowing their state.
//!
//! The protocol sends no position, scale, transform and mode of a disabled head. A client that sets all properties at
//! once (wlr-randr before 0.4) then sends defaults: the preferred mode, position 0,0, no transform, scale 1. The output
//! would cover the output that lies at 0,0, or lose its settings. So defaults count as not set if the position would cover
//! another output, or if all are sent and the former place is free. The output then returns as it was.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::transaction::HeadConfiguration;
use crate::backend::{Display, VideoMode};
use crate::bounds::coordinate;
use crate::output::hotplug::{self, Placement};
use crate::output::{OutputState, parking::Parked};
use crate::output_transform::OutputTransform;
use crate::state::State;

/// The position that such a client sends.
const DEFAULT_POSITION: (i32, i32) = (0, 0);

/// The remembered or current state of an output.
struct KnownState {
    name: String,
    /// `None`: it is disabled, and its position is not known.
    position: Option<(i32, i32)>,
    mode: VideoMode,
    scale: f64,
    turn: OutputTransform,
    is_parked: bool,
}

impl KnownState {
    fn of_shown(output: &OutputState) -> Self {
        let position = output.output().current_location();
        KnownState {
            name: output.output().name(),
            position: Some((position.x, position.y)),
            mode: output.display().mode(),
            scale: output.output().current_scale().fractional_scale(),
            turn: crate::output::turn_of(output.output()),
            is_parked: false,
        }
    }

    fn of_parked(parked: &Parked) -> Self {
        let Placement { position, turn, .. } = *parked.placement();
        KnownState {
            name: parked.display().name().to_owned(),
            position,
            mode: parked.display().mode(),
            scale: hotplug::scale_of(parked.display(), parked.placement()),
            turn: turn.unwrap_or_default(),
            is_parked: true,
        }
    }

    /// The area that the output will have; `None` if it will be disabled.
    fn area(&self, head: Option<&HeadConfiguration>) -> Option<Rectangle<i32, Logical>> {
        if !head.map_or(!self.is_parked, |head| head.enabled) {
            return None;
        }
        let (x, y) = head.and_then(|head| head.position).or(self.position)?;
        // A position out of range is refused later.
        let position = (coordinate(x), coordinate(y));
        let VideoMode { width, height, .. } = head.and_then(|head| head.mode).unwrap_or(self.mode);
        let turn = head.and_then(|head| head.turn).unwrap_or(self.turn);
        let scale = head.and_then(|head| head.scale).unwrap_or(self.scale);
        let pixels: Size<i32, Logical> = turn.inverse().size(Size::from((width, height)));
        Some(Rectangle::new(Point::from(position), pixels.to_f64().downscale(scale).to_i32_round()))
    }
}

/// Removes the defaults of clients that do not know the state of a disabled head.
pub(super) fn remove_defaults(state: &State, heads: &mut [HeadConfiguration]) {
    let shown = state.outputs.states().map(KnownState::of_shown);
    let known: Vec<_> = shown.chain(state.outputs.parked().iter().map(KnownState::of_parked)).collect();
    let mut is_unaware = false;
    for parked in state.outputs.parked() {
        let name = parked.display().name();
        let Some(index) = heads.iter().position(|head| head.output == name && head.enabled) else { continue };
        let wanted = heads[index].clone();
        let as_it_was = HeadConfiguration { output: name.to_owned(), enabled: true, ..HeadConfiguration::default() };
        let may_return = || are_defaults(&wanted, parked.display()) && !covers_another(&known, heads, &as_it_was);
        if wanted.position == Some(DEFAULT_POSITION) && (covers_another(&known, heads, &wanted) || may_return()) {
            forget_defaults(&mut heads[index], parked.display());
            is_unaware = true;
        }
    }
    if is_unaware {
        // Such a client also repeats the positions of all other outputs. They stay free to make room.
        for head in heads.iter_mut().filter(|head| head.position.is_some()) {
            let is_repeated = |known: &KnownState| known.name == head.output && known.position == head.position;
            if known.iter().any(|known| !known.is_parked && is_repeated(known)) {
                head.position = None;
            }
        }
    }
}

/// Whether an output would lie on another output with the configuration `own`, and all others with theirs.
fn covers_another(known: &[KnownState], heads: &[HeadConfiguration], own: &HeadConfiguration) -> bool {
    let area = |known: &KnownState| known.area(heads.iter().find(|head| head.output == known.name));
    let (of_own, others): (Vec<_>, Vec<_>) = known.iter().partition(|known| known.name == own.output);
    let own = of_own.into_iter().find_map(|known| known.area(Some(own)));
    own.is_some_and(|own| others.into_iter().filter_map(area).any(|other| other.overlaps(own)))
}

/// Whether a client has set all properties to their defaults.
fn are_defaults(head: &HeadConfiguration, display: &dyn Display) -> bool {
    head.position == Some(DEFAULT_POSITION)
        && head.scale == Some(1.0)
        && head.turn == Some(OutputTransform::NORMAL)
        && head.mode.is_some_and(|mode| Some(mode) == display.modes().first().copied())
}

fn forget_defaults(head: &mut HeadConfiguration, display: &dyn Display) {
    head.position = None;
    head.turn = head.turn.filter(|turn| *turn != OutputTransform::NORMAL);
    head.scale = head.scale.filter(|scale| *scale != 1.0);
    let preferred = display.modes().first().copied();
    head.mode = head.mode.filter(|mode| Some(*mode) != preferred);
}
