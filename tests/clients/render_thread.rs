//! OpenGL ES draws on a thread of its own: the session continues meanwhile, whether the frame succeeds or not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{ClientEvent, ClientIndex, KEY_A, OUTPUT, TestToplevel, TestWorld, gles};
use upbeat::backend::headless::OutputOptions;
use upbeat::output::{hotplug, power};
use upbeat::render::{GpuFault, Renderer};
use upbeat_timing::time::Span;

const SIZE: (i32, i32) = (400, 300);

/// Holds back every frame on the render thread until this is dropped.
struct DrawGate {
    begun: mpsc::Receiver<()>,
    _go: mpsc::Sender<Span>,
}

/// A session that draws with OpenGL ES and shows a red window. `None` without OpenGL ES.
fn gles_session() -> Option<(TestWorld, ClientIndex, TestToplevel)> {
    let mut world = TestWorld::rendered_by(gles()?, 1.0);
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    assert_eq!(middle(&world), RED);
    Some((world, client, window))
}

fn middle(world: &TestWorld) -> Xrgb8888Pixel {
    world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2)
}

pub fn disturb(world: &TestWorld, fault: GpuFault) {
    world.state.outputs.renderer().unwrap().inject_fault(fault);
}

fn slow(world: &TestWorld) -> DrawGate {
    let ((tell, begun), (_go, go)) = (mpsc::channel(), mpsc::channel());
    disturb(world, GpuFault::Slow { begun: tell, go });
    DrawGate { begun, _go }
}

/// Commits `colour`, with presentation feedback.
pub fn show(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, number: u32, colour: Xrgb8888Pixel) {
    world.client(client).draw(&window.surface, number, SIZE, colour);
    window.surface.commit();
    world.settle();
}

fn is_drawing(world: &TestWorld) -> bool {
    world.state.outputs.states().any(upbeat::output::OutputState::is_drawing)
}

/// Commits a blue picture whose drawing lasts until the gate is dropped.
fn begin_slow_frame(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel) -> DrawGate {
    let gate = slow(world);
    show(world, client, window, 2, BLUE);
    world.run_until("drawing", |_| gate.begun.try_recv().is_ok());
    assert!(is_drawing(world));
    gate
}

#[test]
fn input_is_answered_while_a_frame_is_drawn() {
    let Some((mut world, client, window)) = gles_session() else { return };
    // A watched display has its pixels at hand; otherwise they could be read only after the slow frame.
    let _watch = world.probe((0, 0, 1, 1));
    show(&mut world, client, &window, 1, RED);
    world.run_until_idle();
    let gate = begin_slow_frame(&mut world, client, &window);
    world.client(client).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    let events = world.client(client).take_events();
    assert_eq!(events.iter().filter(|event| matches!(event, ClientEvent::Key { .. })).count(), 2, "{events:?}");
    // The next frame waits until the current one is drawn.
    show(&mut world, client, &window, 3, GREEN);
    (0..10).for_each(|_| world.turn());
    assert!(is_drawing(&world));
    assert_eq!(middle(&world), RED);
    assert!(world.client(client).light(2).is_none());
    drop(gate);
    world.run_until_idle();
    assert_eq!(middle(&world), GREEN);
    let lights = [2, 3].map(|update| world.client(client).light(update).unwrap());
    assert!(lights[0].1 < lights[1].1, "both frames were shown, in order: {lights:?}");
}

#[test]
fn output_removed_during_drawing_leaves_nothing_behind() {
    let Some((mut world, client, window)) = gles_session() else { return };
    let gate = begin_slow_frame(&mut world, client, &window);
    world.unplug("TEST-1");
    assert!(world.client(client).has_received(ContentEvent::Discarded(2)), "the frame cannot be shown");
    drop(gate);
    world.plug_in("TEST-1", 60_000);
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
    show(&mut world, client, &window, 3, GREEN);
    world.run_until_idle();
    assert_eq!(middle(&world), GREEN);
    assert!(world.client(client).has_received(ContentEvent::Released(2)), "the client has its buffer back");
}

#[test]
fn output_switched_off_during_drawing_can_be_switched_on() {
    let Some((mut world, client, window)) = gles_session() else { return };
    let gate = begin_slow_frame(&mut world, client, &window);
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    power::set(&mut world.state, id, false);
    world.settle();
    assert!(world.client(client).has_received(ContentEvent::Discarded(2)), "the frame cannot be shown");
    assert!(!is_drawing(&world));
    // Switch the output on before the abandoned frame is drawn, and continue after it.
    power::set(&mut world.state, id, true);
    (0..10).for_each(|_| world.turn());
    drop(gate);
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
}

#[test]
fn frame_after_a_mode_change_during_drawing_is_shown() {
    let Some((mut world, client, window)) = gles_session() else { return };
    let gate = begin_slow_frame(&mut world, client, &window);
    world.set_refresh("TEST-1", 50_000);
    (0..10).for_each(|_| world.turn());
    drop(gate);
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
    show(&mut world, client, &window, 3, GREEN);
    world.run_until_idle();
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn client_death_during_drawing_leaves_the_session_running() {
    let Some((mut world, client, window)) = gles_session() else { return };
    let gate = begin_slow_frame(&mut world, client, &window);
    world.kill(client);
    (0..10).for_each(|_| world.turn());
    drop(gate);
    world.run_until_idle();
    assert!(world.stack().is_empty());
    assert_ne!(middle(&world), BLUE);
    let _other = world.open_filled("b", SIZE, GREEN);
    world.run_until_idle();
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn failed_frame_is_drawn_again() {
    let Some((mut world, client, window)) = gles_session() else { return };
    disturb(&world, GpuFault::Fails);
    show(&mut world, client, &window, 2, BLUE);
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
    assert!(world.client(client).has_received(ContentEvent::Discarded(2)), "the failed frame was not shown");
}

/// Loses the context with the next frame. The screen then shows `colour`, and nothing from before the loss.
fn lose_context(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, number: u32, colour: Xrgb8888Pixel) {
    let fault = if number.is_multiple_of(2) { GpuFault::Lost } else { GpuFault::Panics };
    disturb(world, fault);
    show(world, client, window, number, colour);
    world.run_until_idle();
    assert_eq!(middle(world), colour, "the next context drew it");
    let (shown, anew) = world.screen_and_full_redraw(1.0);
    assert!(shown.pixels == anew.pixels, "pixels from before the loss are left");
}

#[test]
fn lost_context_is_replaced_and_after_the_second_loss_pixman_draws() {
    let Some((mut world, client, window)) = gles_session() else { return };
    let is_gles = |world: &TestWorld| world.state.outputs.renderer().is_some_and(Renderer::is_threaded);
    lose_context(&mut world, client, &window, 2, BLUE);
    assert!(is_gles(&world), "the first loss is tolerated");
    lose_context(&mut world, client, &window, 3, GREEN);
    assert!(!is_gles(&world), "the second loss is not tolerated");
    show(&mut world, client, &window, 4, RED);
    world.run_until_idle();
    assert_eq!(middle(&world), RED);
    assert!(world.client(client).light(4).is_some() && world.client(client).has_received(ContentEvent::Released(3)));
}

#[test]
fn session_end_waits_for_the_frame_in_progress() {
    let Some((mut world, client, window)) = gles_session() else { return };
    let gate = begin_slow_frame(&mut world, client, &window);
    let is_open = Arc::new(AtomicBool::new(false));
    let opened = is_open.clone();
    let opens = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        opened.store(true, Ordering::Release);
        drop(gate);
    });
    drop(world);
    assert!(is_open.load(Ordering::Acquire), "the process ended while the context was in use");
    opens.join().unwrap();
}

/// A session that draws with OpenGL ES, without Pixman as a replacement, and shows a red window.
pub fn gles_only_session() -> Option<(TestWorld, ClientIndex, TestToplevel)> {
    gles()?;
    let mut world = TestWorld::rendered_by(Renderer::gles_alone().unwrap(), 1.0);
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    Some((world, client, window))
}

pub fn is_dark(world: &TestWorld) -> bool {
    world.state.outputs.states().all(|output| !output.is_on())
}

/// Number of refreshes between now and the newest latched one.
fn refreshes_ahead(world: &TestWorld) -> u64 {
    let machine = world.state.outputs.states().next().unwrap().conductor().output();
    let now = world.now();
    machine.latched().since(machine.vsync().at_or_after(now))
}

#[test]
fn output_without_a_renderer_is_off_until_a_context_exists() {
    let Some((mut world, client, window)) = gles_only_session() else { return };
    // After the sixth loss in a row, the wait for the next context is long enough that the output goes dark.
    disturb(&world, GpuFault::Dead { contexts: 8, frames: 0 });
    show(&mut world, client, &window, 2, BLUE);
    world.run_until("darkness", |world| {
        assert!(refreshes_ahead(world) <= 2, "it ran {} refreshes ahead", refreshes_ahead(world));
        is_dark(world)
    });
    assert!(world.client(client).has_received(ContentEvent::Discarded(2)), "the frame was not shown");
    (0..10).for_each(|_| world.turn());
    show(&mut world, client, &window, 3, GREEN);
    world.run_until("light", |world| !is_dark(world));
    world.run_until_idle();
    assert_eq!(middle(&world), GREEN);
    let (shown, anew) = world.screen_and_full_redraw(1.0);
    assert!(shown.pixels == anew.pixels, "pixels from before the loss are left");
}

#[test]
fn contexts_lost_with_every_frame_switch_the_output_off() {
    let Some((mut world, client, window)) = gles_only_session() else { return };
    disturb(&world, GpuFault::Dead { contexts: 0, frames: 7 });
    show(&mut world, client, &window, 2, BLUE);
    let mut was_dark = false;
    world.run_until("a sound context", |world| {
        assert!(refreshes_ahead(world) <= 2, "it ran {} refreshes ahead", refreshes_ahead(world));
        let is_dark = is_dark(world);
        was_dark |= is_dark;
        // A short dark time between two checks may go unseen: only its end matters.
        let is_lit = world.state.outputs.states().all(|output| output.display().screenshot(false).is_some());
        !is_dark && was_dark && is_lit && middle(world) == BLUE
    });
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
}

#[test]
fn output_switched_off_by_the_user_without_a_renderer_stays_off() {
    let Some((mut world, client, window)) = gles_only_session() else { return };
    disturb(&world, GpuFault::Dead { contexts: 6, frames: 0 });
    show(&mut world, client, &window, 2, BLUE);
    world.run_until("darkness", |world| is_dark(world));
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    power::set(&mut world.state, id, false);
    world.plug_in("TEST-2", 60_000);
    world.run_until("light on the other output", |world| {
        let other = world.state.outputs.states().find(|output| output.id() != id);
        other.is_some_and(|output| output.display().screenshot(false).is_some())
    });
    assert!(!world.state.outputs.by_id(id).unwrap().is_on());
}

#[test]
fn cursor_plane_has_the_pointer_position_of_the_submit() {
    let Some(renderer) = gles() else { return };
    let options = OutputOptions { cursor_plane: Some((64, 64)), ..OutputOptions::default() };
    let mut world = TestWorld::rendered_at(60_000, options, renderer);
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.point(f64::from(OUTPUT.0 / 2), f64::from(OUTPUT.1 / 2));
    world.run_until_idle();
    let gate = begin_slow_frame(&mut world, client, &window);
    let moved = (f64::from(OUTPUT.0 / 2 + 60), f64::from(OUTPUT.1 / 2 + 40));
    world.point(moved.0, moved.1);
    drop(gate);
    world.run_until("the frame is seen", |world| world.client(client).light(2).is_some());
    let shown = world.state.outputs.states().next().unwrap();
    let with = shown.display().screenshot(true).unwrap();
    let without = shown.display().screenshot(false).unwrap();
    let differs = |x: i32, y: i32| {
        let at = (y * with.width + x) as usize;
        with.pixels[at] != without.pixels[at]
    };
    let seen: Vec<_> =
        (0..OUTPUT.1).flat_map(|y| (0..OUTPUT.0).map(move |x| (x, y))).filter(|(x, y)| differs(*x, *y)).collect();
    assert!(!seen.is_empty(), "a cursor is seen");
    let near = |(x, y): &(i32, i32)| (f64::from(*x) - moved.0).abs() < 32.0 && (f64::from(*y) - moved.1).abs() < 32.0;
    assert!(seen.iter().all(near), "the cursor is not at the pointer of the submit: {:?}", seen[0]);
}
