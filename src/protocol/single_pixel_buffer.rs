//! `wp_single_pixel_buffer_manager_v1` 1: buffers of one colour.

use crate::state::State;

smithay::delegate_single_pixel_buffer!(State);
