//! `wp_viewporter` 1: cropping and scaling of a surface. Smithay keeps the state; rendering reads it from the Scene.

use crate::state::State;

smithay::delegate_viewporter!(State);
