//! Figures of a session beside programs of others.

mod desk;
