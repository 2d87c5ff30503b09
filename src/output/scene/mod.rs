//! Builds an output's scene: chooses the visible layers, places them, and assigns planes.

pub(super) mod cursor;
pub mod followers;
pub(super) mod hud;
pub(super) mod moved_planes;
pub(super) mod on_screen;
pub mod overlays;
pub(super) mod overscroll;
pub(super) mod placing;
pub(super) mod plane_choice;
pub mod planes;
pub(super) mod scene_builder;
pub(super) mod scene_cache;
pub mod scrolling;
pub mod titles;
pub(super) mod uncovered_region;
