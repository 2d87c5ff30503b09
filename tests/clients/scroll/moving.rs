//! Motion of scroll views: jumps, glides and flings, and where they stop.

use super::*;

#[test]
fn jump_is_presented_in_the_next_refresh_and_answered() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(123, Behavior::Jump);
    stage.run(REFRESH * 2);
    assert_eq!((stage.row_at(0), stage.row_at(99)), (123, 222));
    assert_eq!(stage.world.client(stage.client).rests(), [(123.0, 1)]);
}

#[test]
fn last_jump_before_a_latch_counts_and_jumps_are_clamped() {
    let mut stage = ScrollStage::new();
    for y in [10, 20, -700, 30] {
        stage.scroll_to(y, Behavior::Jump);
    }
    stage.run(REFRESH * 2);
    assert_eq!((stage.row_at(0), stage.world.client(stage.client).rests()), (30, vec![(30.0, 4)]));
    stage.scroll_to(-700, Behavior::Jump);
    stage.run(REFRESH * 2);
    assert_eq!(stage.world.client(stage.client).rests().last(), Some(&(0.0, 5)));
}

#[test]
fn a_glide_is_smooth_and_three_of_them_go_three_times_as_far() {
    let mut stage = ScrollStage::new();
    stage.view.report_offsets(1);
    for serial in 1..4 {
        stage.view.scroll_by(0, 60, Behavior::Glide, serial);
        stage.run(REFRESH);
    }
    stage.run(Span::from_seconds(2));
    assert_eq!(stage.world.client(stage.client).rests(), [(180.0, 3)]);
    let offsets = stage.world.client(stage.client).offsets();
    assert!(offsets.len() > 8 && offsets.windows(2).all(|pair| pair[0].1 < pair[1].1), "{offsets:?}");
    assert_eq!(stage.row_at(0), 180);
}

#[test]
fn view_stops_at_missing_rows_and_goes_on_when_they_come() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(2_000, Behavior::Glide);
    let mut blank = 0;
    let origin = stage.world.window("view").origin();
    stage.world.run_for(Span::from_millis(800), &mut |world| {
        blank += u32::from(world.pixel(origin.x + 10, origin.y + 99) == RED);
        None
    });
    assert_eq!((stage.row_at(0), stage.row_at(99), blank), (300, 399, 0), "the last rows that there are");
    assert!(stage.world.client(stage.client).rests().is_empty());
    let wanted = stage.world.client(stage.client).wanted();
    let (first, rows) = *wanted.last().unwrap();
    assert!(first <= 300 && first + rows > 400, "{wanted:?}");
    // The client is slow to render; the session does not wake up in the meantime.
    let turns = stage.world.turns();
    stage.run(Span::from_seconds(10));
    assert!(stage.world.turns() - turns < 5, "{} turns", stage.world.turns() - turns);
    stage.render(250, 350);
    stage.run(Span::from_millis(800));
    assert_eq!((stage.row_at(0), stage.row_at(99)), (500, 599));
    stage.render(450, 1_700);
    stage.run(Span::from_seconds(2));
    assert_eq!(stage.row_at(0), 2_000);
    assert_eq!(stage.world.client(stage.client).rests(), [(2_000.0, 1)]);
}

#[test]
fn jump_to_missing_rows_waits_and_wants_them() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(3_000, Behavior::Jump);
    stage.run(Span::from_millis(200));
    assert_eq!(stage.row_at(0), 0);
    let (first, rows) = *stage.world.client(stage.client).wanted().last().unwrap();
    assert!(first <= 3_000 && first + rows >= 3_100, "{first} {rows}");
    stage.render(first, rows);
    stage.run(REFRESH * 3);
    assert_eq!(stage.row_at(0), 3_000);
    assert_eq!(stage.world.client(stage.client).rests(), [(3_000.0, 1)]);
}

#[test]
fn stopped_view_stays_at_its_offset() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(200, Behavior::Glide);
    stage.run(REFRESH * 6);
    stage.view.stop();
    stage.run(REFRESH * 3);
    let (at, _) = stage.world.client(stage.client).rests()[0];
    assert!(at > 5.0 && at < 195.0, "{at}");
    stage.run(Span::from_seconds(1));
    assert_eq!(f64::from(stage.row_at(0)), at);
}

#[test]
fn resting_view_causes_no_wakeups() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(200, Behavior::Glide);
    stage.run(Span::from_seconds(3));
    let turns = stage.world.turns();
    stage.run(Span::from_seconds(10));
    assert!(stage.world.turns() - turns < 5, "{} turns", stage.world.turns() - turns);
}

#[test]
fn fling_stops_when_the_focus_leaves_and_a_requested_glide_goes_on() {
    let mut stage = ScrollStage::new();
    let open = |stage: &mut ScrollStage, title: &str| {
        stage.world.open(title, 30, 30);
        stage.run(REFRESH * 3);
    };
    stage.point();
    stage.swipe(12, 3.0, &mut |_| {});
    stage.run(REFRESH * 4);
    open(&mut stage, "b");
    let stopped = stage.row_at(0);
    assert_eq!(stage.world.client(stage.client).rests(), [(f64::from(stopped), 0)]);
    stage.run(Span::from_seconds(2));
    assert_eq!(stage.row_at(0), stopped);
    stage.scroll_to(290, Behavior::Glide);
    stage.run(REFRESH * 3);
    open(&mut stage, "c");
    stage.run(Span::from_seconds(2));
    assert_eq!(stage.row_at(0), 290);
}

#[test]
fn initial_offset_can_be_set_before_the_first_frame() {
    let mut stage = ScrollStage::new();
    let client = stage.world.client(stage.client);
    let (inner, _) = client.subsurface(&stage.window.surface);
    let view = client.view(&inner);
    view.scroll_to(0, 70, Behavior::Jump, 1);
    view.set_document(0, 0, 50, 1_000);
    client.content(&stage.view, &inner).set_position(100, 0);
    client.draw(&inner, 30, (50, 50), RED);
    let (tile, _) = client.subsurface(&inner);
    client.content(&view, &tile);
    fill(&mut stage.world, stage.client, &tile, 0, 300);
    inner.commit();
    stage.window.surface.commit();
    stage.rest();
    let origin = stage.world.window("view").origin();
    assert_eq!(stage.world.pixel(origin.x + 110, origin.y), 70);
}

/// The view's own buffer is fully covered, so its refresh rate follows from the place of its contents.
#[test]
fn fully_covered_view_moves_at_its_outputs_rate() {
    let mut stage = ScrollStage::on(&[60_000, 144_000]);
    let second = stage.world.state.outputs.states().nth(1).unwrap().output().current_location();
    let there = |world: &mut TestWorld, corner: (i32, i32)| world.move_window("view", (corner.0 + 20, corner.1 + 20));
    let gaps = |stage: &mut ScrollStage, to: i32| {
        let before = stage.world.client(stage.client).offsets().len();
        stage.view.report_offsets(1);
        stage.scroll_to(to, Behavior::Glide);
        stage.run(Span::from_seconds(2));
        let offsets = stage.world.client(stage.client).offsets()[before..].to_vec();
        assert!(offsets.len() > 8, "{offsets:?}");
        let gaps = offsets.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis_f64());
        gaps.map(|gap| (gap * 10.0).round() / 10.0).collect::<Vec<_>>()
    };
    // At its end, the glide moves by less than a pixel a refresh.
    let all = |gaps: &[f64], one: f64| gaps[..8].iter().all(|gap| *gap == one);
    for (corner, gap) in [((0, 0), 16.7), ((second.x, second.y), 6.9), ((0, 0), 16.7)] {
        there(&mut stage.world, corner);
        stage.rest();
        for to in [200, 0] {
            let gaps = gaps(&mut stage, to);
            assert!(all(&gaps, gap), "at {corner:?}: {gaps:?}");
        }
    }
    there(&mut stage.world, (second.x, second.y));
    stage.rest();
    stage.world.unplug("TEST-2");
    stage.rest();
    let gaps = gaps(&mut stage, 200);
    assert!(all(&gaps, 16.7), "its output was unplugged: {gaps:?}");
}
