//! Seeing time: the frame log and the sentences about late frames.

pub mod why_late;
