//! Builds an output's scene: chooses the visible layers, places them, and assigns planes.

pub(super) mod bare;
pub(super) mod choosing;
pub(super) mod cursor;
pub mod following;
pub(super) mod hud;
pub(super) mod on_screen;
pub mod overlays;
pub(super) mod placing;
pub(super) mod plane_choice;
pub mod planes;
pub mod scrolling;
pub(super) mod stage;
pub(super) mod stretched;
pub mod titles;
