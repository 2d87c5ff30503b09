//! The timing core: every decision about *when*, as pure code.
//!
//! No Smithay, no Wayland, no system call, no clock, no logging, and no allocation on the frame path: `now` is passed
//! in, decisions come out. The compositor, the simulator, the tests and the benches drive the same code.
//!
//! What clients need of it as well, and is built for them alone: scrolling, motion and the prediction of input.
//!
//! The words, as they are used in the code, the documentation and the protocols:
//!
//! - `present`: the start of scan-out of line 0, as DRM stamps it.
//! - `submit_by = present − vblank length of the mode − driver margin`.
//! - `latch_at = submit_by − cost(compose)`: when content is chosen.
//! - `ready_by`: the only deadline that a client sees: the earliest `latch_at` allowed for a target, fixed when the
//!   target is published.
//! - *target*: one refresh of one output, `{id, present, ready_by, interval}`.
//! - *miss budget*: the share of frames that may be late; what the estimators are asked for.
//! - *drop*: a refresh in which a window that had an unanswered callback or an unpresented update got nothing new.
//! - *hitch*: a gap of more than 1.26 periods between two presented frames.
//! - *light*: the display showed it.
//!
//! ```text
//!            latch_at(k)  submit_by(k)                         present(k+1)
//!  present(k)     │            │ present(k+1)... one refresh:       │
//!      │◄─────────┼────────────┼──────────────── interval ─────────►│
//!      │  client works         │compose│ driver margin + vblank     │
//!      └─callback──►commit─────┴latch──┴submit──────────────────────┴light
//! ```

#[cfg(feature = "compositor")]
pub mod ahead;
#[cfg(feature = "compositor")]
pub mod beam;
#[cfg(feature = "compositor")]
pub mod calm;
#[cfg(feature = "compositor")]
pub mod class;
#[cfg(feature = "compositor")]
pub mod conductor;
pub mod defaults;
#[cfg(feature = "compositor")]
pub mod estimator;
pub mod fixed_queue;
#[cfg(feature = "compositor")]
pub mod frames;
#[cfg(feature = "compositor")]
pub mod id;
pub mod input_prediction;
#[cfg(feature = "compositor")]
pub mod late_frame;
#[cfg(feature = "compositor")]
pub mod margin;
pub mod motion;
#[cfg(feature = "compositor")]
pub mod order;
#[cfg(feature = "compositor")]
pub mod output;
#[cfg(feature = "compositor")]
pub mod pacer;
#[cfg(feature = "compositor")]
mod pacers;
#[cfg(feature = "compositor")]
pub mod pacing;
#[cfg(feature = "compositor")]
pub mod packing;
#[cfg(feature = "compositor")]
pub mod record;
#[cfg(feature = "compositor")]
pub mod refresh_rate;
pub mod scroll;
pub mod settings;
#[cfg(feature = "compositor")]
pub mod target;
#[cfg(feature = "compositor")]
pub mod virtualizer;
#[cfg(feature = "compositor")]
pub mod vsync;
