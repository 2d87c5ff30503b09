//! Who draws for the display devices: a renderer that is better off on one of them moves there.
//!
//! ```text
//!   opened ─► a context on it begins ┊ its own thread ┊ ─► it draws: adopted ──────────► monitors are lit
//!                                                       └► it does not, or too late ──┘
//! ```
//!
//! The device's monitors wait for that, since it says which buffers they have. At the start of a session all wait.

use std::time::Duration;

use calloop::ping::{Ping, make_ping};
use calloop::{LoopHandle, RegistrationToken};

use crate::backend::drm::Card;
use crate::render::{Outcome, Prospect, Renderer, SLOW};
use crate::session::renderer::say;
use crate::state::State;

/// A context on a device that may be drawn with, and what wakes the loop when that is known.
pub(super) struct Drawing {
    prospect: Prospect,
    woken: RegistrationToken,
}

/// A renderer that is better off on `card` begins to move there; `known` is called when it is known whether it can. `None`:
/// it stays where it is.
pub(super) fn begin(
    handle: &LoopHandle<'static, State>,
    renderer: &mut Renderer,
    card: &Card,
    known: impl FnMut(&mut State) + 'static,
) -> Option<Drawing> {
    if !renderer.wants_device() {
        return None;
    }
    match try_to_begin(handle, renderer, card, known) {
        Ok(drawing) => drawing,
        Err(reason) => {
            let reason = format!("{reason:#}");
            renderer.stay(format!("{}: {reason}", card.driver()));
            say_who_stays(renderer, card.driver(), &reason);
            None
        }
    }
}

fn try_to_begin(
    handle: &LoopHandle<'static, State>,
    renderer: &Renderer,
    card: &Card,
    mut known: impl FnMut(&mut State) + 'static,
) -> anyhow::Result<Option<Drawing>> {
    let Some(open) = card.opener(renderer.draws_on()) else { return Ok(None) };
    let (wake, heard): (Ping, _) = make_ping()?;
    let prospect = renderer.prospect(open, card.number(), Some(wake))?;
    let woken = handle.insert_source(heard, move |(), (), state| known(state));
    let woken = woken.map_err(|error| anyhow::anyhow!("it is not heard of: {error}"))?;
    Ok(Some(Drawing { prospect, woken }))
}

impl Drawing {
    /// The renderer moves if it is known by now that it can, or after `patience`, which may be none: then it comes back if
    /// that is not known. `driver`: the device's.
    pub fn settle(
        self,
        handle: &LoopHandle<'static, State>,
        renderer: &mut Renderer,
        driver: &str,
        patience: Duration,
    ) -> Option<Self> {
        let Drawing { prospect, woken } = self;
        match prospect.outcome(patience) {
            // Woken for nothing.
            Outcome::Open(prospect) if patience.is_zero() => return Some(Drawing { prospect, woken }),
            Outcome::Open(prospect) => stays(renderer, driver, SLOW, prospect),
            Outcome::Failed(prospect, reason) => stays(renderer, driver, &reason, prospect),
            // Another device was faster.
            Outcome::Proven(proven) if !renderer.wants_device() => renderer.give_up(proven, String::new()),
            Outcome::Proven(proven) => {
                renderer.adopt(proven);
                say(renderer);
            }
        }
        handle.remove(woken);
        None
    }

    /// The device is gone.
    pub fn give_up(self, handle: &LoopHandle<'static, State>, renderer: &mut Renderer) {
        handle.remove(self.woken);
        renderer.give_up(self.prospect, "the device is gone".to_owned());
    }
}

/// A device is not drawn on: says who draws instead, and why.
fn stays(renderer: &mut Renderer, driver: &str, reason: &str, prospect: Prospect) {
    renderer.give_up(prospect, format!("{driver}: {reason}"));
    say_who_stays(renderer, driver, reason);
}

fn say_who_stays(renderer: &Renderer, driver: &str, reason: &str) {
    if renderer.is_threaded() {
        tracing::warn!(driver, reason, "OpenGL ES draws off screen: frames are read back and copied");
    } else {
        say(renderer);
    }
}
