//! The timing core: every decision about *when*, as pure code.
//!
//! It contains no Smithay, no Wayland, no system call, no clock, no logging, and no allocation on the frame path: the
//! caller passes `now` in and takes decisions out. The compositor, the simulator, the tests and the benches drive the
//! same code.
//!
//! Clients can use it too: they scroll, animate and predict as the compositor does.
//!
//! The terms, as used in the code, the documentation and the protocols:
//!
//! - `present`: the start of scan-out of line 0, as DRM stamps it.
//! - `submit_by = present − vblank length of the mode − driver margin`.
//! - `latch_at = submit_by − cost(compose)`: when content is chosen.
//! - `ready_by`: the only deadline that a client sees: the earliest `latch_at` allowed for a target, fixed when the
//!   target is published.
//! - *target*: one refresh of one output, `{id, present, ready_by, interval}`.
//! - *miss budget*: the share of frames that may be late; estimators are asked for a cost at this share.
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

#![warn(missing_docs)]

pub mod beam;
pub mod class;
pub mod conductor;
pub mod defaults;
pub mod estimator;
pub mod fixed_queue;
pub mod frames;
pub mod id;
pub mod idle_predictor;
pub mod input_prediction;
pub mod late_frame;
pub mod margin;
pub mod motion;
pub mod output;
pub mod output_order;
pub mod pacer;
mod pacers;
pub mod pacing;
pub mod packing;
pub mod record;
pub mod refresh_rate;
pub mod scroll;
pub mod settings;
pub mod surface_targets;
pub mod target;
pub mod time;
pub mod virtualizer;
pub mod vsync;
