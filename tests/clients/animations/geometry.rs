//! Windows that change their geometry: they move as their spring does, even when it is reversed half-way.

use super::*;

/// The edges of the window in each frame, while it is maximised and then restored half-way.
fn interrupted(style: MotionStyle) -> (Vec<ShownRow>, Instant) {
    let mut world = animated(AnimationStyles { place: Some(style), ..AnimationStyles::default() });
    let (client, window) = open(&mut world, RED);
    world.run_until_idle();
    let log = row(&mut world);
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).ack_newest_configure().unwrap();
    assert_eq!(size, OUTPUT);
    draw(&mut world, client, &window, 2, size, RED);
    world.run_until("the middle", |world| world.pixel(300, 360) == RED);
    window.toplevel.unset_maximized();
    world.settle();
    let size = world.client(client).ack_newest_configure().unwrap();
    assert_eq!(size, SIZE);
    let turned = world.state.outputs.states().next().unwrap().records().iter().last().unwrap().present;
    draw(&mut world, client, &window, 3, size, RED);
    world.run_until_idle();
    (frames(&world, &log), turned)
}

#[test]
fn unmaximising_in_the_middle_of_maximising_keeps_place_and_velocity() {
    let (frames, turned) = interrupted(spring(1.0));
    let left: Vec<(Instant, f64)> =
        frames.iter().map(|frame| (frame.present, f64::from(frame.edges().unwrap().0))).collect();
    assert!(left.iter().all(|(_, left)| *left > 0.0), "it reverses before it arrives");
    assert_eq!(left.last().unwrap().1, 440.0, "it ends at its old geometry");
    let velocity = |pair: &[(Instant, f64)]| (pair[1].1 - pair[0].1) / pair[1].0.since(pair[0].0).as_seconds_f64();
    let after: Vec<_> = left.iter().filter(|(at, _)| *at >= turned).copied().collect();
    assert!(velocity(&after[..2]) < 0.0, "it keeps its direction at first: {after:?}");
    // A critically damped spring of 1 Hz that is reversed at full speed, 440 pixels apart, accelerates by at most
    // ω²·d + 2ω·v, with v < ω·d/e.
    let most = std::f64::consts::TAU.powi(2) * 440.0 * 2.0;
    for three in left.windows(3) {
        let (before, after) = (velocity(&three[..2]), velocity(&three[1..]));
        let time = three[2].0.since(three[0].0).as_seconds_f64() / 2.0;
        // Edges are whole pixels, so each velocity is wrong by up to one pixel per frame.
        let rounding = 2.0 / three[1].0.since(three[0].0).as_seconds_f64().min(time);
        assert!((after - before).abs() <= most * time + rounding, "{before} then {after}: {left:?}");
    }
}

#[test]
fn maximising_moves_every_edge_as_its_spring_does() {
    let style = spring(2.0);
    let mut world = animated(AnimationStyles { place: Some(style), ..AnimationStyles::default() });
    let (client, window) = open(&mut world, RED);
    world.run_until_idle();
    let log = row(&mut world);
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).ack_newest_configure().unwrap();
    draw(&mut world, client, &window, 2, size, RED);
    world.run_until_idle();
    let frames = frames(&world, &log);
    let moving: Vec<_> = frames.iter().filter(|frame| frame.edges() != Some((440, 840))).collect();
    let start = moving[0].present - moving[0].interval;
    let motion = |from, to| upbeat_timing::motion::Motion::new(style, start, from, to, 0.25);
    for frame in &moving {
        let (left, width) = (motion(440.0, 0.0).at(frame.present).value, motion(400.0, 1280.0).at(frame.present).value);
        let (seen_left, seen_right) = frame.edges().unwrap();
        assert!((f64::from(seen_left) - left).abs() <= 1.0, "{seen_left}, not {left}");
        assert!((f64::from(seen_right) - left - width).abs() <= 1.0, "{seen_right}, not {}", left + width);
    }
    assert_eq!(moving.last().unwrap().edges(), Some((0, 1280)));
    assert!(moving.len() > 5);
}
