//! Damage and change tracking between a client's captures.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::backend::overlay::intersection;
use crate::backend::{PixelBuffer, PixelRect};
use crate::render::SceneChanges;
use crate::scene::Scene;

/// With more rectangles, clients get their bounding box.
const MOST_RECTS: usize = 32;

/// The content that a client's captures of one subject have already shown. Shared by its consecutive capture requests.
#[derive(Debug)]
pub struct DamageSinceCapture(Mutex<CaptureHistory>);

#[derive(Debug)]
struct CaptureHistory {
    /// Whether the captures include the cursor.
    with_cursor: bool,
    changes: SceneChanges,
    /// Damage since the last picture, in pixels of the whole subject.
    damage: Vec<PixelRect>,
    /// Identifies the last scene that was compared.
    scene_key: Option<(u64, u64)>,
    /// The last captured image, if the subject is a cursor.
    cursor: Option<Arc<PixelBuffer>>,
    /// At least one picture was taken.
    has_picture: bool,
}

impl DamageSinceCapture {
    /// Nothing captured yet. `with_cursor`: the cursor counts as a part of the picture.
    pub fn new(with_cursor: bool) -> Self {
        let changes = SceneChanges::new(with_cursor);
        let damage = Vec::new();
        DamageSinceCapture(Mutex::new(CaptureHistory {
            with_cursor,
            changes,
            damage,
            scene_key: None,
            cursor: None,
            has_picture: false,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, CaptureHistory> {
        // No operation under the lock can leave inconsistent data, so a poisoned lock is safe to use.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares `scene` with the last scene and adds the damage. `moment` is (number of the scene, number of cursor
    /// moves without a new scene); `None` if these are not counted. Returns the number of layers compared: 0 if
    /// `moment` has not changed.
    pub(super) fn compare_scene(&self, scene: &Scene, moment: Option<(u64, u64)>) -> usize {
        let mut seen = self.lock();
        if moment.is_some() && seen.scene_key == moment {
            return 0;
        }
        let before = std::mem::replace(&mut seen.scene_key, moment);
        let cursor_moved = before.zip(moment).is_some_and(|(before, moment)| before.1 != moment.1);
        if seen.with_cursor && cursor_moved {
            // The scene does not record where the cursor was drawn.
            seen.changes.forget();
        }
        let changed = seen.changes.damage_of(scene);
        seen.damage.extend(changed);
        if seen.damage.len() > MOST_RECTS {
            let around = seen.damage.drain(..).reduce(around);
            seen.damage.extend(around);
        }
        scene.layers.len()
    }

    /// Whether this cursor image differs from the last captured image.
    pub(super) fn is_other_cursor(&self, image: &Arc<PixelBuffer>) -> bool {
        let seen = self.lock();
        !seen.has_picture || !seen.cursor.as_ref().is_some_and(|known| Arc::ptr_eq(known, image))
    }

    /// Notes that this cursor image is about to be captured.
    pub(super) fn set_cursor(&self, image: &Arc<PixelBuffer>) {
        if self.is_other_cursor(image) {
            let mut seen = self.lock();
            seen.damage = vec![PixelRect { x: 0, y: 0, width: image.width, height: image.height }];
            seen.cursor = Some(image.clone());
        }
    }

    /// Whether `region` has content that no picture has shown.
    pub(super) fn has_damage(&self, region: PixelRect) -> bool {
        let seen = self.lock();
        !seen.has_picture || seen.damage.iter().any(|rect| !is_empty(intersection(*rect, region)))
    }

    /// Takes the damage for a picture of `region`, relative to the region.
    pub(super) fn take_damage(&self, region: PixelRect) -> Vec<PixelRect> {
        let mut seen = self.lock();
        let PixelRect { x, y, width, height } = region;
        let damage = std::mem::take(&mut seen.damage);
        if !std::mem::replace(&mut seen.has_picture, true) {
            return vec![PixelRect { x: 0, y: 0, width, height }];
        }
        let within = damage.into_iter().map(|rect| intersection(rect, region)).filter(|rect| !is_empty(*rect));
        within.map(|rect| PixelRect { x: rect.x - x, y: rect.y - y, ..rect }).collect()
    }

    /// The picture failed: the next has full damage.
    pub(super) fn forget(&self) {
        self.lock().has_picture = false;
    }
}

const fn is_empty(rect: PixelRect) -> bool {
    rect.width <= 0 || rect.height <= 0
}

fn around(a: PixelRect, b: PixelRect) -> PixelRect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    let (right, bottom) = ((a.x + a.width).max(b.x + b.width), (a.y + a.height).max(b.y + b.height));
    PixelRect { x, y, width: right - x, height: bottom - y }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(width: i32) -> Scene {
        Scene { size: (width, 10).into(), ..Scene::default() }
    }

    const WHOLE: PixelRect = PixelRect { x: 0, y: 0, width: 10, height: 10 };

    #[test]
    fn the_first_picture_is_new_and_the_next_one_waits_for_a_change() {
        let tracker = DamageSinceCapture::new(false);
        tracker.compare_scene(&scene(10), Some((1, 0)));
        assert!(tracker.has_damage(WHOLE));
        assert_eq!(tracker.take_damage(WHOLE), [WHOLE]);
        tracker.compare_scene(&scene(10), Some((2, 0)));
        assert!(!tracker.has_damage(WHOLE));
        tracker.compare_scene(&Scene { background: [1.0; 3], ..scene(10) }, Some((3, 0)));
        assert!(tracker.has_damage(WHOLE));
        let part = PixelRect { x: 4, y: 2, width: 3, height: 5 };
        assert_eq!(tracker.take_damage(part), [PixelRect { x: 0, y: 0, width: 3, height: 5 }]);
    }

    #[test]
    fn failed_capture_gives_the_next_full_damage() {
        let tracker = DamageSinceCapture::new(false);
        tracker.compare_scene(&scene(10), None);
        tracker.take_damage(WHOLE);
        tracker.forget();
        assert!(tracker.has_damage(WHOLE));
        assert_eq!(tracker.take_damage(WHOLE), [WHOLE]);
    }

    #[test]
    fn a_cursor_that_was_moved_without_a_scene_makes_all_of_it_new() {
        let tracker = DamageSinceCapture::new(true);
        tracker.compare_scene(&scene(10), Some((1, 0)));
        tracker.take_damage(WHOLE);
        tracker.compare_scene(&scene(10), Some((2, 1)));
        assert!(tracker.has_damage(WHOLE));
    }

    #[test]
    fn cursor_that_moves_without_a_scene_is_no_news_to_pictures_without_cursor() {
        let tracker = DamageSinceCapture::new(false);
        tracker.compare_scene(&scene(10), Some((1, 0)));
        tracker.take_damage(WHOLE);
        tracker.compare_scene(&scene(10), Some((2, 1)));
        assert!(!tracker.has_damage(WHOLE));
        assert!(tracker.take_damage(WHOLE).is_empty());
    }
}
