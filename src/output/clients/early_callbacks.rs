//! Early callbacks: fingerprints of a client's frames, as proof that the client draws for the time in its callbacks
//! ([`upbeat_timing::pacer::EarlyCallbackVerdict`]).

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};

use crate::guard;
use crate::output::OutputState;
use crate::state::State;
use crate::surface::{SurfaceRegistry, fingerprint};
use upbeat_timing::conductor::PacerId;
use upbeat_timing::id::ClientId;
use upbeat_timing::pacer::{EarlyCallbackRule, EarlyCallbackVerdict};
use upbeat_timing::time::{Instant, Span};

/// Names of processes that act for X clients: Xwayland itself, and the external window manager xwayland-satellite
/// (names as the kernel keeps them, 15 bytes).
const XWAYLAND: [&str; 2] = ["Xwayland", "xwayland-satell"];

/// The effect of a rule for early callbacks on `client`.
pub(in crate::output) fn rule_for(
    surfaces: &SurfaceRegistry,
    display: &DisplayHandle,
    client: ClientId,
) -> EarlyCallbackRule {
    let surface = surfaces.of_client(client).next();
    let process = surface.and_then(|entry| guard::process_of(display, &entry.surface().client()?));
    let is_xwayland = process.is_some_and(|process| XWAYLAND.contains(&guard::program(process).as_str()));
    if is_xwayland { EarlyCallbackRule::Xwayland } else { EarlyCallbackRule::OnProof }
}

/// The time argument for the callback that is being sent to `client`. (`time`, `interval`): the refresh before its
/// target, and the distance between the two.
pub(in crate::output) fn callback_time(
    output: &mut OutputState,
    client: ClientId,
    pacer: PacerId,
    (time, interval): (Instant, Span),
    now: Instant,
) -> Instant {
    let Some(pacer) = output.conductor.pacer_mut(pacer) else { return time };
    let before = pacer.early_verdict();
    let time_sent = pacer.callback_time(time, interval, now);
    let verdict = pacer.early_verdict();
    if verdict != before
        && let Some(verdict @ (EarlyCallbackVerdict::Proven | EarlyCallbackVerdict::Refuted)) = verdict
    {
        tracing::info!(%client, "early callbacks {}", verdict.words());
    }
    time_sent
}

/// A client commits `buffer`: takes its fingerprint if the pacer needs it.
pub(in crate::output) fn record_fingerprint(state: &mut State, surface: &WlSurface, buffer: &WlBuffer) {
    let State { surfaces, outputs, .. } = state;
    let Some((entry, client)) = surfaces.get(surface).zip(surfaces.client_of(surface)) else { return };
    let Some(output) = entry.output().and_then(|id| outputs.by_id_mut(id)) else { return };
    let Some(pacing) = output.clients.get(&client.id) else { return };
    let (id, pacer) = (output.id, pacing.pacer);
    if output.conductor.pacer(pacer).is_none_or(|pacer| !pacer.wants_fingerprint()) {
        return;
    }
    let fingerprint = fingerprint::number_of(buffer);
    if let Some(entry) = surfaces.get_mut(surface) {
        entry.set_fingerprint(fingerprint);
    }
    // Callbacks go to a client as a whole, so the fingerprint covers all of its surfaces on this output, in any order.
    let shown = surfaces.of_client(client.id).filter(|entry| entry.output() == Some(id));
    let numbers = shown.filter_map(|entry| Some(entry.fingerprint()?.rotate_left(entry.id().0)));
    let all = fingerprint.map(|_| numbers.fold(0, |all, number| all ^ number));
    if let Some(pacer) = output.conductor.pacer_mut(pacer) {
        pacer.observe_picture(all);
    }
}
