//! Figures of a session with third-party programs.

mod desk;
