//! Frames drawn in bands by several threads have the same pixels as frames drawn by one.

use upbeat::output_transform::OutputTransform;
use upbeat::render::Renderer;

use crate::output_transforms::{render_everything, turned};
use crate::rendering::{DamageStage, stages_stay_equal};

/// Draws even the smallest damage in bands.
const ALWAYS: u64 = 1;

/// A renderer with one thread, and one that divides all frames among `threads`.
fn renderers(threads: usize) -> [Renderer; 2] {
    [1, threads].map(|threads| Renderer::pixman_in_bands(threads, ALWAYS).unwrap())
}

#[test]
fn bands_show_the_same_pixels_with_each_transform_and_scale() {
    for turn in OutputTransform::ALL {
        for scale in [1.0, 1.25, 1.5, 2.0] {
            let [whole, banded] = renderers(3).map(|renderer| render_everything(renderer, turn, scale));
            let differing = whole.pixels.iter().zip(&banded.pixels).filter(|(a, b)| a != b).count();
            assert_eq!(differing, 0, "{turn} at {scale}");
        }
    }
}

#[test]
fn bands_of_random_changes_show_the_same_pixels() {
    for (turn, scale, threads) in [("normal", 1.0, 2), ("90", 1.5, 4), ("flipped-180", 1.25, 3)] {
        let turn: OutputTransform = turn.parse().unwrap();
        stages_stay_equal(|| renderers(threads).map(|renderer| DamageStage::shown(turned(renderer, turn, scale))), 6);
    }
}
