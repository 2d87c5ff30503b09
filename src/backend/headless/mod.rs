//! The virtual display.
