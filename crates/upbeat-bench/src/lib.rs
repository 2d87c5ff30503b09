//! Clients that measure a compositor from outside: frame callbacks, inputs and light, with the same program for each.
//!
//! The measured side is a separate client process ([`client`]) that talks to the compositor over its socket and shares
//! nothing with it: no Smithay, no state, no clock reading. A [`load`] sets the cost of each frame, the same for the
//! same seed, so every pacing and every compositor gets the same frames to draw. The picture itself carries the number
//! of the frame and of its newest input event ([`block_code`]), for proofs from recorded pixels.
//!
//! ```text
//!            inject            callback  work        commit      latch            light
//!  probe  ─────┼──────────────────┼──▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓──┼──────────┼─────────────────┼──▶
//!              │                  │◀─ callback→commit ──▶│◀──────── commit→light ─────▶│
//!              │                  │◀──────────────── callback→light ──────────────────▶│
//!              │◀───────────────────────── input→light ───────────────────────────────▶│
//! ```
//!
//! Light is the presentation time that the compositor reports with `wp_presentation`: the start of scan-out. Recorded
//! pixels of the virtual display prove that it is true ([`pixels`]). The proof has a run of its own, because recording
//! costs the compositor time.

pub mod animations;
pub mod block_code;
pub mod client;
pub mod device;
mod dispatch_macros;
pub mod ink;
pub mod interrupt;
pub mod latency;
pub mod load;
pub mod pixels;
pub mod process;
mod progress;
pub mod report;
pub mod run;
pub mod scroll;
pub mod sentinel;
pub mod shape;
pub mod side_meter;
pub mod smoothness;
pub mod statistics;
mod wait;
