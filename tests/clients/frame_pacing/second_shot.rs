//! The option `second_shot`: a client draws twice for a refresh if the time suffices.

use upbeat_timing::time::Span;

use super::paced_window::PacedWindow;
use crate::fixture::pacing::{DiscardReason, Pacing, PacingTarget, wire::Wish};

/// Drawing times of a usual and of a long frame. Because of the long frames the compositor starts the first frame of a
/// pair early.
const USUAL: Span = Span::from_millis(8);
const LONG: Span = Span::from_millis(20);
/// Enough frames for the compositor to estimate their cost.
const FRAMES: usize = 16;

/// A client that draws for its targets, taking a given time, and requests the next target with each commit.
struct SecondShotClient {
    stage: PacedWindow,
    drawn: Vec<PacingTarget>,
}

impl SecondShotClient {
    fn new(options: Option<Wish>) -> SecondShotClient {
        let mut stage = PacedWindow::new(1);
        stage.pacing.set_pacing(Pacing::JustInTime);
        options.into_iter().for_each(|options| stage.pacing.set_options(options));
        stage.surface().commit();
        stage.pacing.request_target();
        stage.world.settle();
        SecondShotClient { stage, drawn: Vec::new() }
    }

    /// Draws the next frame, which takes `cost`.
    fn draw(&mut self, cost: Span) -> PacingTarget {
        let (client, before) = (self.stage.client, self.drawn.len());
        self.stage.world.run_until("a target", |world| world.client(client).targets().len() > before);
        let target = self.stage.world.client(client).targets()[before];
        let done = self.stage.world.now() + cost;
        self.stage.world.run_until("the end of drawing", |world| world.now() >= done);
        self.stage.frame(&target);
        self.stage.pacing.request_target();
        self.stage.world.settle();
        self.drawn.push(target);
        target
    }

    /// Draws until the compositor knows that most frames are short and some are long.
    fn draw_until_estimated(&mut self) {
        for frame in 0..FRAMES {
            self.draw(if frame % 5 == 0 { LONG } else { USUAL });
        }
    }
}

#[test]
fn a_second_frame_for_the_same_refresh_is_shown_instead_of_the_first() {
    let mut drawer = SecondShotClient::new(Some(Wish::SecondShot));
    drawer.draw_until_estimated();
    let first = loop {
        let (target, next) = (drawer.draw(USUAL), drawer.drawn.len());
        assert!(next < 4 * FRAMES, "no refresh had two targets");
        let client = drawer.stage.client;
        drawer.stage.world.run_until("a target", |world| world.client(client).targets().len() > next);
        if drawer.stage.world.client(client).targets()[next].present == target.present {
            break target;
        }
    };
    // The second frame takes less time than usual.
    let second = drawer.draw(USUAL / 2);
    assert_eq!((second.present, second.ready_by), (first.present, first.ready_by));
    assert!(second.id > first.id);
    let shown = drawer.stage.wait_for_fate(&second).unwrap();
    assert!((shown - first.present).abs() < first.interval / 8, "{shown:?} for {:?}", first.present);
    assert_eq!(drawer.stage.wait_for_fate(&first), Err(DiscardReason::Newer));
}

#[test]
fn a_second_frame_that_is_late_costs_no_refresh() {
    let mut drawer = SecondShotClient::new(Some(Wish::SecondShot));
    drawer.draw_until_estimated();
    let mut late = 0;
    for _ in 0..FRAMES {
        let first = drawer.draw(USUAL);
        let second = drawer.draw(LONG);
        if second.present != first.present {
            continue;
        }
        late += 1;
        let shown = drawer.stage.wait_for_fate(&first).unwrap();
        assert!((shown - first.present).abs() < first.interval / 8, "the first frame is shown in its refresh");
        let third = drawer.draw(USUAL);
        assert!((third.present - first.present - first.interval).abs() < first.interval / 8, "{first:?}, {third:?}");
        let shown = drawer.stage.wait_for_fate(&third).unwrap();
        assert!((shown - third.present).abs() < first.interval / 8, "the next refresh has a frame of its own");
        assert_eq!(drawer.stage.wait_for_fate(&second), Err(DiscardReason::Newer));
    }
    assert!(late > 0, "no refresh had two targets");
}

#[test]
fn client_without_second_shot_gets_one_target_per_refresh() {
    let mut drawer = SecondShotClient::new(None);
    drawer.draw_until_estimated();
    let presents = drawer.drawn.iter().map(|target| target.present);
    assert!(presents.clone().zip(presents.skip(1)).all(|(one, next)| next > one));
}
