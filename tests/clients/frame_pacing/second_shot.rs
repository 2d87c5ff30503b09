//! The option `second_shot`: a client draws twice for a refresh if the time suffices.

use upbeat_timing::time::Span;

use super::stage::Stage;
use crate::fixture::pacing::{DiscardReason, Pacing, Target, wire::Wish};

/// Drawing times of a usual and of a long frame. Because of the long frames the compositor starts the first frame of a
/// pair early.
const USUAL: Span = Span::from_millis(8);
const LONG: Span = Span::from_millis(20);
/// Enough frames for the compositor to estimate their cost.
const FRAMES: usize = 16;

/// A client that draws for its targets, taking a given time, and requests the next target with each commit.
struct Drawer {
    stage: Stage,
    drawn: Vec<Target>,
}

impl Drawer {
    fn new(options: Option<Wish>) -> Drawer {
        let mut stage = Stage::new(1);
        stage.pacing.set_pacing(Pacing::JustInTime);
        options.into_iter().for_each(|options| stage.pacing.set_options(options));
        stage.surface().commit();
        stage.pacing.request_target();
        stage.world.settle();
        Drawer { stage, drawn: Vec::new() }
    }

    /// Draws the next frame, which takes `cost`.
    fn draw(&mut self, cost: Span) -> Target {
        let (client, before) = (self.stage.client, self.drawn.len());
        self.stage.world.until("a target", |world| world.client(client).targets().len() > before);
        let target = self.stage.world.client(client).targets()[before];
        let done = self.stage.world.now() + cost;
        self.stage.world.until("the end of drawing", |world| world.now() >= done);
        self.stage.frame(&target);
        self.stage.pacing.request_target();
        self.stage.world.settle();
        self.drawn.push(target);
        target
    }

    /// Draws until the compositor knows that most frames are short and some are long.
    fn teach(&mut self) {
        for frame in 0..FRAMES {
            self.draw(if frame % 5 == 0 { LONG } else { USUAL });
        }
    }
}

#[test]
fn a_second_frame_for_the_same_refresh_is_shown_instead_of_the_first() {
    let mut drawer = Drawer::new(Some(Wish::SecondShot));
    drawer.teach();
    let first = loop {
        let (target, next) = (drawer.draw(USUAL), drawer.drawn.len());
        assert!(next < 4 * FRAMES, "no refresh had two targets");
        let client = drawer.stage.client;
        drawer.stage.world.until("a target", |world| world.client(client).targets().len() > next);
        if drawer.stage.world.client(client).targets()[next].present == target.present {
            break target;
        }
    };
    // The second frame takes less time than usual.
    let second = drawer.draw(USUAL / 2);
    assert_eq!((second.present, second.ready_by), (first.present, first.ready_by));
    assert!(second.id > first.id);
    let shown = drawer.stage.fate(&second).unwrap();
    assert!((shown - first.present).abs() < first.interval / 8, "{shown:?} for {:?}", first.present);
    assert_eq!(drawer.stage.fate(&first), Err(DiscardReason::Newer));
}

#[test]
fn a_second_frame_that_is_late_costs_no_refresh() {
    let mut drawer = Drawer::new(Some(Wish::SecondShot));
    drawer.teach();
    let mut late = 0;
    for _ in 0..FRAMES {
        let first = drawer.draw(USUAL);
        let second = drawer.draw(LONG);
        if second.present != first.present {
            continue;
        }
        late += 1;
        let shown = drawer.stage.fate(&first).unwrap();
        assert!((shown - first.present).abs() < first.interval / 8, "the first frame is shown in its refresh");
        let third = drawer.draw(USUAL);
        assert!((third.present - first.present - first.interval).abs() < first.interval / 8, "{first:?}, {third:?}");
        let shown = drawer.stage.fate(&third).unwrap();
        assert!((shown - third.present).abs() < first.interval / 8, "the next refresh has a frame of its own");
        assert_eq!(drawer.stage.fate(&second), Err(DiscardReason::Newer));
    }
    assert!(late > 0, "no refresh had two targets");
}

#[test]
fn who_does_not_wish_for_it_is_told_of_each_refresh_once() {
    let mut drawer = Drawer::new(None);
    drawer.teach();
    let presents = drawer.drawn.iter().map(|target| target.present);
    assert!(presents.clone().zip(presents.skip(1)).all(|(one, next)| next > one));
}
