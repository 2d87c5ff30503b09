//! Windows that close: they are seen until they have faded, and their buffers are released then.

use super::*;

#[test]
fn closing_window_fades_and_its_buffer_is_released_afterwards() {
    let mut world = animated(fades());
    let (client, window) = open(&mut world, GREEN);
    world.run_until_idle();
    let log = row(&mut world);
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    assert!(world.stack().is_empty());
    world.run_until("a frame of the snapshot", |world| {
        world.state.shell.closing_windows().len() == 1 && world.pixel(640, 360) < GREEN
    });
    assert!(!world.client(client).has_received(ContentEvent::Released(1)), "the buffer is still shown");
    let hit = upbeat::output::scene_on_screen_hit(&world.state, (640.0, 360.0).into());
    assert_eq!(hit, None, "a fading window takes no input");
    world.run_until("the end", |world| world.state.shell.closing_windows().is_empty());
    world.run_until_idle();
    assert!(world.client(client).has_received(ContentEvent::Released(1)));
    let frames = frames(&world, &log);
    let start = frames.iter().position(|frame| frame.middle() != GREEN).unwrap();
    let begun = frames[start].present - frames[start].interval;
    for frame in &frames[start..] {
        let green = f64::from(frame.middle() >> 8);
        assert!((green - 255.0 * (1.0 - share(frame, begun, DURATION))).abs() <= 2.0, "{green}");
    }
    assert_eq!(world.pixel(640, 360), 0);
    window.surface.commit();
    world.settle();
    world.client(client).ack_newest_configure();
    draw(&mut world, client, &window, 2, SIZE, RED);
    world.run_until_idle();
    assert_eq!(world.pixel(640, 360), RED, "the window can be mapped again");
}

#[test]
fn a_window_whose_client_dies_fades_too() {
    let mut world = animated(fades());
    let (client, window) = open(&mut world, GREEN);
    world.run_until_idle();
    world.kill(client);
    drop(window);
    let mut seen = 0;
    world.run_until("the end", |world| {
        seen += usize::from((1..GREEN).contains(&world.pixel(640, 360)));
        world.state.shell.closing_windows().is_empty()
    });
    assert!(seen > 0, "the window did not fade");
    world.run_until_idle();
    assert_eq!(world.pixel(640, 360), 0);
}

#[test]
fn window_mapped_again_during_its_fade_continues_from_there() {
    // The fade is long enough to map the window again before it ends.
    let mut world = animated(fades_for(DURATION * 4));
    let (client, window) = open(&mut world, GREEN);
    world.run_until_idle();
    let log = row(&mut world);
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.run_until("the middle", |world| world.pixel(640, 360) >> 8 < 160);
    window.surface.commit();
    world.settle();
    world.client(client).ack_newest_configure();
    draw(&mut world, client, &window, 2, SIZE, GREEN);
    world.run_until_idle();
    let levels: Vec<f64> = frames(&world, &log).iter().map(|frame| f64::from(frame.middle() >> 8)).collect();
    assert!(world.state.shell.closing_windows().is_empty());
    assert!(levels.iter().all(|level| *level > 0.0), "it vanished in between: {levels:?}");
    assert_eq!(levels.last(), Some(&255.0));
}

#[test]
fn dark_output_ends_closing_animations() {
    let mut world = animated(slow());
    let (client, window) = open(&mut world, GREEN);
    world.run_until("the window", |world| hit(world, 640.0, 360.0).is_some());
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    assert_eq!(world.state.shell.closing_windows().len(), 1);
    let output = world.state.outputs.states().next().unwrap().id();
    upbeat::output::power::set(&mut world.state, output, false);
    world.turn();
    assert!(world.state.shell.closing_windows().is_empty());
    assert!(world.client(client).has_received(ContentEvent::Released(1)), "the fade cannot be seen");
}
