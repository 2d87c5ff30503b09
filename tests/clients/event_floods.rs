//! A client that does not read for a while, beside clients that type, click and arrange outputs as fast as they can: it
//! is not ended, and receives the whole sequence of events.

use wayland_client::protocol::wl_pointer::{Axis, AxisSource, ButtonState};
use wayland_protocols_wlr::output_management::v1::client::zwlr_output_configuration_head_v1::ZwlrOutputConfigurationHeadV1;
use wayland_protocols_wlr::output_power_management::v1::client::zwlr_output_power_v1::Mode;

use upbeat_timing::time::Span;

use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_A, OUTPUT, TestWorld};
use crate::output_management::{configure, manager};
use crate::output_power::power;
use crate::virtual_devices::{give_keymap, keymap, strokes, with_typist};

/// Number of keys and clicks. With their releases they fill a socket several times, unless the session holds them back.
const PLAYED: usize = 1_000;
/// Wheel steps among them.
const WHEELS: usize = PLAYED / 4;
/// Keys or clicks in one turn of the loop.
const AT_ONCE: usize = 20;

/// Calls `play` [`PLAYED`] times while `client` reads nothing.
fn play_to_paused_client(world: &mut TestWorld, client: ClientIndex, mut play: impl FnMut(&mut TestWorld, usize)) {
    world.settle();
    world.client(client).take_events();
    world.client(client).is_stalled = true;
    for number in 0..PLAYED {
        play(world, number);
        if number % AT_ONCE == 0 {
            world.deliver_once();
            upbeat::session::turn::run(&mut world.state);
            world.flush();
        }
    }
    world.deliver_once();
    world.client(client).is_stalled = false;
}

/// Collects the events of `client` that `picks` selects, until there are `count` of them.
#[track_caller]
fn receive_events<T>(
    world: &mut TestWorld,
    client: ClientIndex,
    count: usize,
    picks: impl Fn(Vec<ClientEvent>) -> Vec<T>,
) -> Vec<T> {
    let mut all = Vec::new();
    world.run_until("all input that was played", |world| {
        assert!(!world.client(client).is_disconnected(), "{}", world.client(client).error_message());
        all.extend(picks(world.client(client).take_events()));
        all.len() >= count
    });
    all
}

#[test]
fn paused_client_receives_all_virtual_keys_in_order() {
    let (mut world, client, typist, keyboard) = with_typist();
    give_keymap(&keyboard, &keymap("us"));
    world.run_until("the keymap", |world| !world.state.protocols.virtual_keyboards_wait());
    play_to_paused_client(&mut world, client, |_, _| {
        keyboard.key(0, KEY_A, 1);
        keyboard.key(0, KEY_A, 0);
    });
    let all = receive_events(&mut world, client, 2 * PLAYED, strokes);
    assert_eq!(all, [(KEY_A, true), (KEY_A, false)].repeat(PLAYED));
    assert!(!world.client(typist).is_disconnected());
}

#[test]
fn paused_client_receives_all_virtual_clicks_and_wheel_steps_in_order() {
    let mut world = TestWorld::new();
    let (client, _) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 5.0);
    let mouse = world.connect();
    let player = world.client(mouse);
    let pointer = player.globals().virtual_pointers.create_virtual_pointer(None, &player.handle(), ());
    play_to_paused_client(&mut world, client, |_, number| {
        for state in [ButtonState::Pressed, ButtonState::Released] {
            pointer.button(0, BUTTON_LEFT, state);
            pointer.frame();
        }
        if number % 4 == 0 {
            pointer.axis_source(AxisSource::Wheel);
            pointer.axis_discrete(0, Axis::VerticalScroll, 15.0, 1);
            pointer.frame();
        }
    });
    let mut scrolled = 0.0;
    let clicks = |events: Vec<ClientEvent>| {
        let clicked = events.into_iter().filter_map(|event| match event {
            ClientEvent::Button { pressed, .. } => Some(Ok(pressed)),
            ClientEvent::Scroll { vertical, .. } => Some(Err(vertical)),
            _ => None,
        });
        clicked.collect()
    };
    let all = receive_events(&mut world, client, 2 * PLAYED + WHEELS, clicks);
    let clicks: Vec<_> = all.iter().filter_map(|heard| heard.ok()).collect();
    assert_eq!(clicks, [true, false].repeat(PLAYED));
    all.iter().filter_map(|heard| heard.err()).for_each(|distance| scrolled += distance);
    assert_eq!(scrolled, 15.0 * WHEELS as f64);
    assert!(!world.client(mouse).is_disconnected());
}

#[test]
fn output_configurations_are_limited_to_a_burst_of_eight_and_one_a_second() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (client, manager) = manager(&mut world);
    world.run_for(Span::from_millis(100), &mut crate::fixture::simulated::nothing);
    let (mut arranged, mut asked, mut is_asked) = (0, 0, false);
    let scales = [2.0, 1.0];
    world.run_for(Span::from_seconds(5), &mut |world| {
        let told: Vec<_> = world.client(client).take_events();
        let answered = |words: &str| {
            told.iter().filter(|event| matches!(event, ClientEvent::InWords(said) if said == words)).count()
        };
        arranged += answered("succeeded");
        is_asked &= answered("succeeded") + answered("cancelled") == 0;
        if !is_asked && (asked == 0 || answered("done") > 0) {
            let scale = scales[asked % 2];
            let head = move |head: &ZwlrOutputConfigurationHeadV1| head.set_scale(scale);
            configure(world, client, &manager, &[(1, Some(&head))]).apply();
            (asked, is_asked) = (asked + 1, true);
        }
        Some(world.now() + Span::from_millis(5))
    });
    assert!((12..=13).contains(&arranged), "{arranged} of {asked}");
}

#[test]
fn output_power_in_a_loop_is_rate_limited_and_ends_in_the_last_requested_mode() {
    let mut world = TestWorld::simulated(&[60_000]);
    let client = world.connect();
    let object = power(&mut world, client);
    let (mut switched, mut wishes) = (0, 0);
    let end = world.now() + Span::from_seconds(5);
    world.run_for(Span::from_seconds(8), &mut |world| {
        let told = world.client(client).take_events();
        switched += told
            .iter()
            .filter(|event| matches!(event, ClientEvent::InWords(said) if said == "off" || said == "on"))
            .count();
        if world.now() > end {
            return None;
        }
        object.set_mode([Mode::Off, Mode::On][wishes % 2]);
        wishes += 1;
        Some(world.now() + Span::from_millis(5))
    });
    assert!(wishes > 500 && (12..=16).contains(&switched), "{switched} of {wishes}");
    let is_on = world.state.outputs.states().next().unwrap().is_on();
    assert_eq!(is_on, wishes % 2 == 0, "the last word counts");
}

/// More configures than may be without an acknowledgement.
const FLIPS: usize = 1_200;

#[test]
fn window_that_acknowledges_without_commits_survives_focus_changes() {
    let mut world = TestWorld::new();
    let (quiet, _) = world.open("quiet", 200, 100);
    let (_, _) = world.open("other", 50, 50);
    world.move_window("quiet", (0, 0));
    world.move_window("other", (OUTPUT.0 - 100, OUTPUT.1 - 100));
    for number in 0..FLIPS {
        let (x, y) = [(10.0, 50.0), (f64::from(OUTPUT.0) - 70.0, f64::from(OUTPUT.1) - 70.0)][number % 2];
        world.click(x, y);
        world.client(quiet).ack_newest_configure();
    }
    world.settle();
    assert!(!world.client(quiet).is_disconnected(), "{}", world.client(quiet).error_message());
    world.click(10.0, 50.0);
    assert_eq!(world.focused().as_deref(), Some("quiet"));
}
