//! A client that draws in place never misses its row twice in a row, however its cost jumps and whoever else draws
//! (Presto 3.1).

use upbeat::backend::headless::record::LoggedSample;
use upbeat_timing::time::Span;

use super::{InPlaceSession, WARM_UP};
use crate::fixture::content::ContentEvent;

/// The frames before the cost jumps for the first time.
const USUAL: u32 = 80;

/// The most refreshes between two pictures of the row, and how often more than one lay between two pictures.
fn gaps(samples: &[(LoggedSample, u32)]) -> (u64, usize) {
    let mut seen: Vec<u64> = Vec::new();
    let mut last = 0;
    for (sample, number) in samples {
        if *number > last {
            seen.push(sample.refresh.sequence);
            last = *number;
        }
    }
    let gaps: Vec<u64> = seen.windows(2).map(|pair| pair[1] - pair[0]).collect();
    (gaps.iter().copied().max().unwrap(), gaps.iter().filter(|gap| **gap > 1).count())
}

#[test]
fn client_whose_cost_jumps_repeats_no_picture_twice() {
    let for_a_while = |frame| Span::from_millis(if (USUAL..USUAL + 60).contains(&frame) { 9 } else { 2 });
    let in_turn = |frame| Span::from_millis(if frame >= USUAL && frame % 2 == 0 { 9 } else { 2 });
    for top in [20, 280, 540] {
        for (kind, cost) in [("for a while", for_a_while as fn(u32) -> Span), ("in turn", in_turn)] {
            let mut ink = InPlaceSession::new(top, true);
            ink.artist.cost = cost;
            ink.run(WARM_UP);
            let samples = ink.samples(Span::from_millis(2_600));
            let (longest, missed) = gaps(&samples);
            println!("9 ms {kind} at {top}: {missed} missed of {}, {:?}", samples.len(), ink.counts());
            assert!(missed > 0, "the first long frame is a surprise");
            assert!(longest <= 2, "9 ms {kind} at {top}: {longest} refreshes between two pictures");
            assert_eq!(ink.counts().torn, 0);
        }
    }
}

#[test]
fn client_repeats_no_picture_twice_while_other_windows_draw() {
    for top in [20, 280] {
        let mut ink = InPlaceSession::new(top, true);
        let (other, window) = ink.world.open("other", 60, 60);
        ink.world.move_window("other", (20, 20));
        ink.run(WARM_UP);
        let log = ink.probe();
        let mut frame = 0;
        let InPlaceSession { world, artist } = &mut ink;
        world.run_for(Span::from_millis(1_500), &mut |world| {
            if frame == 0 || world.client(other).has_received(ContentEvent::Callback(frame)) {
                frame += 1;
                world.client(other).draw(&window.surface, frame, (60, 60), frame);
                window.surface.commit();
            }
            Some(artist.act(world))
        });
        let samples: Vec<_> = std::iter::from_fn(|| log.pop()).map(|sample| (sample.pixels[0], sample)).collect();
        let samples: Vec<_> = samples.into_iter().map(|(pixel, sample)| (sample, pixel & 0x00ff_ffff)).collect();
        let (longest, missed) = gaps(&samples);
        println!("at {top}: {missed} missed of {}, {:?}", samples.len(), ink.counts());
        assert!(longest <= 2, "at {top}: {longest} refreshes between two pictures");
    }
}
