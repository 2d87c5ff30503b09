//! Moves the renderer to a display device if it is better off there, after testing a context on that device.
//!
//! ```text
//!   opened ─► context started  ┊ its own thread ┊ ─► it works: adopted ─────────────► monitors are lit
//!                                                 └► it fails, or is too late ──────┘
//! ```
//!
//! The device's monitors wait for the result, because it determines which buffers they use. At the start of a session
//! the whole session waits.

use std::time::Duration;

use calloop::ping::{Ping, make_ping};
use calloop::{LoopHandle, RegistrationToken};

use crate::backend::drm::DrmCard;
use crate::render::{ContextResult, PendingContext, Renderer, SLOW};
use crate::session::renderer::log_renderer;
use crate::state::State;

/// A test of a renderer context on a device, and the event source that wakes the loop when the result is known.
pub(super) struct RendererTrial {
    prospect: PendingContext,
    woken: RegistrationToken,
}

/// Starts to test a context on `card`, if the renderer would gain by moving there. `known` is called when the result is
/// known. `None`: the renderer stays where it is.
pub(super) fn begin(
    handle: &LoopHandle<'static, State>,
    renderer: &mut Renderer,
    card: &DrmCard,
    known: impl FnMut(&mut State) + 'static,
) -> Option<RendererTrial> {
    if !renderer.wants_device() {
        return None;
    }
    match try_to_begin(handle, renderer, card, known) {
        Ok(drawing) => drawing,
        Err(reason) => {
            let reason = format!("{reason:#}");
            renderer.record_reason(format!("{}: {reason}", card.driver()));
            log_fallback(renderer, card.driver(), &reason);
            None
        }
    }
}

fn try_to_begin(
    handle: &LoopHandle<'static, State>,
    renderer: &Renderer,
    card: &DrmCard,
    mut known: impl FnMut(&mut State) + 'static,
) -> anyhow::Result<Option<RendererTrial>> {
    let Some(open) = card.opener(renderer.draws_on()) else { return Ok(None) };
    let (wake, woken_source): (Ping, _) = make_ping()?;
    let prospect = renderer.try_device(open, card.number(), Some(wake))?;
    let woken = handle.insert_source(woken_source, move |(), (), state| known(state));
    let woken = woken.map_err(|error| anyhow::anyhow!("its result cannot be waited for: {error}"))?;
    Ok(Some(RendererTrial { prospect, woken }))
}

impl RendererTrial {
    /// Adopts the tested context if it works. Waits for the result for at most `patience`. With a `patience` of
    /// zero, a test that is still running is returned. `driver` is the name of the device's driver.
    pub fn finish(
        self,
        handle: &LoopHandle<'static, State>,
        renderer: &mut Renderer,
        driver: &str,
        patience: Duration,
    ) -> Option<Self> {
        let RendererTrial { prospect, woken } = self;
        match prospect.outcome(patience) {
            // Spurious wake-up.
            ContextResult::Pending(prospect) if patience.is_zero() => return Some(RendererTrial { prospect, woken }),
            ContextResult::Pending(prospect) => reject(renderer, driver, SLOW, prospect),
            ContextResult::Failed(prospect, reason) => reject(renderer, driver, &reason, prospect),
            // A context on another device was ready first.
            ContextResult::Proven(proven) if !renderer.wants_device() => renderer.give_up(proven, String::new()),
            ContextResult::Proven(proven) => {
                renderer.adopt(proven);
                log_renderer(renderer);
            }
        }
        handle.remove(woken);
        None
    }

    /// Abandons the test because the device is gone.
    pub fn give_up(self, handle: &LoopHandle<'static, State>, renderer: &mut Renderer) {
        handle.remove(self.woken);
        renderer.give_up(self.prospect, "the device is gone".to_owned());
    }
}

/// Gives up the context on this device, and logs which renderer is used instead and why.
fn reject(renderer: &mut Renderer, driver: &str, reason: &str, prospect: PendingContext) {
    renderer.give_up(prospect, format!("{driver}: {reason}"));
    log_fallback(renderer, driver, reason);
}

fn log_fallback(renderer: &Renderer, driver: &str, reason: &str) {
    if renderer.is_threaded() {
        tracing::warn!(driver, reason, "OpenGL ES draws off screen: frames are read back and copied");
    } else {
        log_renderer(renderer);
    }
}
