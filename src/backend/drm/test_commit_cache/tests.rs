//! Tests of the cache of test commits.

use super::*;
use crate::backend::drm::worker::WorkerHandle;
use crate::backend::plane::PlaneMemory;

fn memory() -> Arc<DeviceMemory> {
    Arc::new(DeviceMemory { width: 8, height: 8, format: 0, modifier: 0, parts: Vec::new() })
}

fn planes(memory: &Arc<DeviceMemory>, x: i32) -> PlaneContents {
    let target = PixelRect { x, y: 0, width: 8, height: 8 };
    let content = PlaneContent {
        memory: PlaneMemory::Device(memory.clone()),
        hold: Arc::new(()),
        source: SourceRect::default(),
        is_opaque: true,
        target,
    };
    PlaneContents { direct: None, overlays: vec![content] }
}

/// A framebuffer without a device: the worker that frees it gets an error.
fn frame() -> Option<Arc<ClientFrame>> {
    use smithay::backend::drm::DrmDeviceFd;
    use smithay::utils::DeviceFd;
    let file = std::fs::File::open("/dev/null").unwrap();
    let device = DrmDeviceFd::new(DeviceFd::from(std::os::fd::OwnedFd::from(file)));
    let handle = std::num::NonZeroU32::new(1).unwrap();
    Some(Arc::new(ClientFrame::new(&device, handle.into(), &WorkerHandle::start().unwrap())))
}

/// The driver answers the test commit of these planes.
fn record(cache: &mut TestCommitCache, planes: &PlaneContents, shows: Option<bool>) -> bool {
    let key = cache.key(planes);
    cache.record_result(key, shows)
}

#[test]
fn unknown_planes_are_composed_until_the_test_commit_returns() {
    let (mut cache, memory) = (TestCommitCache::default(), memory());
    let planes = planes(&memory, 0);
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Import(wanted) if wanted.len() == 1));
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Import(wanted) if wanted.is_empty()), "it is on its way");
    assert!(cache.record_import(&Arc::downgrade(&memory), frame()), "ask again");
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Test(_)));
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Known(false)), "the driver was asked");
    assert!(record(&mut cache, &planes, Some(true)), "ask again");
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Known(true)));
}

#[test]
fn result_counts_for_its_key_only_and_a_refusal_causes_no_retry() {
    let (mut cache, memory) = (TestCommitCache::default(), memory());
    let (here, there) = (planes(&memory, 0), planes(&memory, 1));
    cache.lookup(&here);
    cache.record_import(&Arc::downgrade(&memory), frame());
    cache.lookup(&here);
    assert!(!record(&mut cache, &here, Some(false)));
    assert!(matches!(cache.lookup(&here), TestCommitLookup::Known(false)));
    assert!(matches!(cache.lookup(&there), TestCommitLookup::Test(_)));
}

#[test]
fn moving_source_of_an_rgb_buffer_is_tested_once() {
    let questions = |code: &[u8; 4]| {
        let made = DeviceMemory { width: 8, height: 8, format: u32::from_le_bytes(*code), modifier: 0, parts: vec![] };
        let (mut cache, memory) = (TestCommitCache::default(), Arc::new(made));
        let at = |y: f64| {
            let mut planes = planes(&memory, 0);
            planes.overlays[0].source = SourceRect { x: 0.0, y, width: 4.0, height: 4.0 };
            planes
        };
        cache.lookup(&at(0.0));
        cache.record_import(&Arc::downgrade(&memory), frame());
        let rows = (0..200).filter(|row| match cache.lookup(&at(f64::from(*row))) {
            TestCommitLookup::Test(shown) => record(&mut cache, &shown.planes, Some(true)),
            _ => false,
        });
        rows.count()
    };
    assert_eq!((questions(b"XR24"), questions(b"AB48"), questions(b"NV12"), questions(b"YUYV")), (1, 1, 2, 2));
}

#[test]
fn moving_source_of_a_subsampled_buffer_is_tested_for_odd_and_even_positions() {
    let (mut cache, memory) = (TestCommitCache::default(), memory());
    let at = |x: f64, y: f64| {
        let mut planes = planes(&memory, 0);
        planes.overlays[0].source = SourceRect { x, y, width: 4.0, height: 4.0 };
        planes
    };
    cache.lookup(&at(0.0, 0.0));
    cache.record_import(&Arc::downgrade(&memory), frame());
    let mut asked = 0;
    for row in 0..200 {
        if let TestCommitLookup::Test(shown) = cache.lookup(&at(0.0, f64::from(row))) {
            asked += 1;
            record(&mut cache, &shown.planes, Some(true));
        }
        assert!(matches!(cache.lookup(&at(0.0, f64::from(row))), TestCommitLookup::Known(true)), "row {row}");
    }
    assert_eq!(asked, 2);
    assert!(matches!(cache.lookup(&at(0.0, 0.5)), TestCommitLookup::Test(_)), "between pixels the driver filters");
    let mut wider = at(0.0, 0.0);
    wider.overlays[0].source.width = 5.0;
    assert!(matches!(cache.lookup(&wider), TestCommitLookup::Test(_)));
}

#[test]
fn moved_target_is_tested_once_while_it_lies_on_the_screen() {
    let (mut cache, memory) = (TestCommitCache::default(), memory());
    cache.set_screen((100, 50));
    cache.lookup(&planes(&memory, 0));
    cache.record_import(&Arc::downgrade(&memory), frame());
    let tests = |cache: &mut TestCommitCache, places: std::ops::RangeInclusive<i32>| {
        let asks = |x: &i32| {
            let TestCommitLookup::Test(shown) = cache.lookup(&planes(&memory, *x)) else { return false };
            record(cache, &shown.planes, Some(true))
        };
        places.filter(asks).collect::<Vec<_>>()
    };
    assert_eq!(tests(&mut cache, 0..=92), [0]);
    assert_eq!(tests(&mut cache, 90..=95), [93, 94, 95], "the edge of the screen cuts it");
    assert_eq!(tests(&mut cache, -2..=1), [-2, -1]);
    cache.record_refusal(&planes(&memory, 40));
    assert!(matches!(cache.lookup(&planes(&memory, 41)), TestCommitLookup::Known(false)), "refused there");
    cache.set_screen((90, 50));
    assert_eq!(tests(&mut cache, 83..=84), [83, 84], "a smaller screen cuts it earlier");
}

#[test]
fn failed_test_commit_is_repeated() {
    let (mut cache, memory) = (TestCommitCache::default(), memory());
    let planes = planes(&memory, 0);
    cache.lookup(&planes);
    cache.record_import(&Arc::downgrade(&memory), frame());
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Test(_)));
    assert!(!record(&mut cache, &planes, None), "not at once");
    assert!(cache.take_retry_wanted(), "but when something was shown");
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Test(_)));
}

#[test]
fn all_answers_of_a_latch_with_many_windows_are_remembered() {
    let (mut cache, memory) = (TestCommitCache::default(), memory());
    let windows: Vec<_> = (0..40).map(|x| planes(&memory, x)).collect();
    cache.lookup(&windows[0]);
    cache.record_import(&Arc::downgrade(&memory), frame());
    for window in &windows {
        assert!(matches!(cache.lookup(window), TestCommitLookup::Test(_)));
        record(&mut cache, window, Some(true));
    }
    assert!(windows.iter().all(|window| matches!(cache.lookup(window), TestCommitLookup::Known(true))));
}

#[test]
fn results_of_another_mode_are_forgotten() {
    let (mut cache, memory) = (TestCommitCache::default(), memory());
    let planes = planes(&memory, 0);
    cache.lookup(&planes);
    cache.record_import(&Arc::downgrade(&memory), frame());
    cache.lookup(&planes);
    cache.forget();
    assert!(!record(&mut cache, &planes, Some(true)), "asked before the mode was switched");
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Test(_)));
}

#[test]
fn a_frame_that_was_refused_is_not_tried_again_and_a_buffer_that_cannot_be_imported_neither() {
    let (mut cache, memory, other) = (TestCommitCache::default(), memory(), memory());
    let refused = planes(&memory, 0);
    cache.record_refusal(&refused);
    assert!(matches!(cache.lookup(&refused), TestCommitLookup::Known(false)));
    let planes = planes(&other, 1);
    cache.lookup(&planes);
    assert!(!cache.record_import(&Arc::downgrade(&other), None));
    assert!(matches!(cache.lookup(&planes), TestCommitLookup::Known(false)));
}
