//! A simulated display pipeline that drives the timing core: what a way of pacing would do with a load.
//!
//! - [`load`]: what frames cost: traces as users have them, or made by seed.
//! - [`animation`], [`interaction`]: the pipelines of motion and of answers to input. They hold no rule of their own:
//!   every decision is taken by the code in [`upbeat_timing`].
//! - [`compositor`], [`clients`], [`replay`]: the compositor's own conductor under a load, under several clients with it,
//!   and under a session run again.
//! - [`scrolling`], [`events`], [`strokes`]: scroll geometry, event loops, input prediction. [`scrolled`]: a recorded hand over a
//!   document.
//! - [`bounds`]: the best that any schedule could do.
//! - [`suite`]: the published figures, reproduced.
//! - [`policy`], [`runner`], [`result`], [`advice`], [`report`], [`cli`]: `upbeat simulate`.

#![allow(missing_docs, reason = "only this workspace uses the crate")]

pub mod advice;
pub mod animation;
pub mod bounds;
pub mod cli;
pub mod clients;
pub mod compositor;
pub mod distribution;
pub mod events;
pub mod interaction;
pub mod load;
pub mod policy;
pub mod random;
pub mod replay;
pub mod report;
pub mod result;
pub mod runner;
pub mod scrolled;
pub mod scrolling;
pub mod strokes;
pub mod suite;
pub mod tally;
