//! A client on an output with a variable refresh rate: each frame is on screen as soon as it is drawn, in the client's
//! rhythm.

use upbeat::backend::headless::OutputOptions;
use upbeat::render::Renderer;
use upbeat_timing::record::ClientFrameRecord;

use super::*;
use crate::fixture::BUTTON_LEFT;

const SHORTEST: Span = Span::from_millihertz(144_000);
const LONGEST: Span = Span::from_millihertz(48_000);
const CALLBACK: u32 = 3;
const LEARNED: Span = Span::from_seconds(3);
const WATCHED: Span = Span::from_seconds(1);

/// Records of a client whose frame `number` takes `cost(number)`, for the time of the measurement. `is_held`: the user
/// holds a button down on its window.
pub(super) fn frame_records(cost: impl Fn(u32) -> Span, is_held: bool) -> Vec<ClientFrameRecord> {
    let options = OutputOptions { variable_refresh: Some((SHORTEST, LONGEST)), ..OutputOptions::default() };
    let mut world = TestWorld::simulated_on(&[(144_000, options)], Renderer::pixman().unwrap());
    let (client, window) = world.open_filled("rhythm", SIZE, RED);
    world.run_until_idle();
    if is_held {
        let (x, y) = middle(0);
        world.point(x, y);
        world.button(BUTTON_LEFT, true);
    }
    let (mut number, mut drawn_at) = (1, Some(world.now()));
    let mut act = |world: &mut TestWorld| {
        let now = world.now();
        let heard = std::mem::take(&mut world.client(client).data.content_events);
        if heard.contains(&ContentEvent::Callback(CALLBACK)) {
            drawn_at = Some(now + cost(number));
        }
        if drawn_at.is_some_and(|at| at <= now) {
            (number, drawn_at) = (number + 1, None);
            let client = world.client(client);
            client.draw(&window.surface, 100 + number, SIZE, [RED, GREEN, BLUE][number as usize % 3]);
            window.surface.frame(&client.handle(), CALLBACK);
            window.surface.commit();
        }
        drawn_at
    };
    world.run_for(LEARNED, &mut act);
    let began = world.now();
    world.run_for(WATCHED, &mut act);
    let records = world.state.outputs.statistics().recent();
    records.filter(|record| record.callback_sent.is_some_and(|sent| sent >= began)).copied().collect()
}

/// From the end of drawing to light for a frame that waits for nothing, with the slack of just-in-time latching.
pub(super) const TO_LIGHT: Span = Span::from_micros(1_600);
/// Allowed difference between the interval of two lights and the interval of their commits.
const OFF_BY: Span = Span::from_micros(500);

/// Checks that frames which take `cost` are on screen as soon as they are drawn, at the intervals of their commits.
#[track_caller]
fn assert_own_rhythm(cost: Span) {
    let records = frame_records(|_| cost, false);
    let usual = (WATCHED.as_nanos() / (cost + TO_LIGHT).max(SHORTEST).as_nanos()) as usize;
    assert!(records.len() + 1 >= usual, "{cost}: {} frames", records.len());
    let longest = records.iter().filter_map(ClientFrameRecord::callback_to_light).max().expect("frames");
    assert!(longest <= cost + TO_LIGHT, "{cost}: {longest} from callback to light");
    for pair in records.windows(2) {
        let between = |when: fn(&ClientFrameRecord) -> Option<Instant>| Some(when(&pair[1])? - when(&pair[0])?);
        let (lights, commits) = (between(|frame| frame.presented), between(|frame| frame.committed));
        let off = lights.zip(commits).map(|(lights, commits)| (lights - commits).abs()).expect("it was shown");
        assert!(off <= OFF_BY, "{cost}: {off} off its rhythm");
    }
}

#[test]
fn frames_within_the_vrr_range_are_shown_in_their_own_rhythm() {
    [1, 3, 6, 8, 12, 15, 18].map(Span::from_millis).into_iter().for_each(assert_own_rhythm);
}

/// Near the longest interval and beyond it, because the panel might then be busy repeating the previous frame.
#[test]
fn frames_slower_than_the_vrr_range_are_shown_in_their_own_rhythm() {
    [20_000, 20_500, 22_222, 30_000, 41_667].map(Span::from_micros).into_iter().for_each(assert_own_rhythm);
}
