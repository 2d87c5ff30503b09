//! Measuring what a client sees: frame callbacks, inputs and light, with the same program for every compositor.
//!
//! The measured side is a separate client process ([`client`]) that talks to the compositor over its socket and has
//! nothing in common with it: no Smithay, no shared state, no shared clock reading. What it draws, and what each frame
//! costs, comes from a [`load`] that is the same for the same seed, so that every pacing and every compositor is given
//! the same frames to draw. The picture itself carries the number of the frame and of the newest input event in it
//! ([`block_code`]), for proofs from recorded pixels.
//!
//! ```text
//!            inject            callback  work        commit      latch            light
//!  probe  ─────┼──────────────────┼──▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓──┼──────────┼─────────────────┼──▶
//!              │                  │◀─ callback→commit ──▶│◀──────── commit→light ─────▶│
//!              │                  │◀──────────────── callback→light ──────────────────▶│
//!              │◀───────────────────────── input→light ───────────────────────────────▶│
//! ```
//!
//! Light is what the compositor reports with `wp_presentation`: the start of scan-out. Whether that is true is proved
//! from the recorded pixels of the virtual display ([`pixels`]), in a run of its own: recording costs the compositor time.

pub mod animations;
pub mod block_code;
pub mod bystander;
pub mod client;
pub mod device;
mod hear;
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
pub mod smoothness;
pub mod statistics;
mod wait;
