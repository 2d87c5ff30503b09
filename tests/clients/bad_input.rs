//! Clients that send invalid requests get the protocol's error; other clients continue.

use crate::fixture::{ClientEvent, ClientIndex, KEY_A, TestToplevel, TestWorld};
use upbeat::bounds::{MAX_DEEP_PARTS, MAX_PARTS};
use wayland_client::protocol::{wl_shm, wl_subcompositor};
use wayland_protocols::wp::commit_timing::v1::client::wp_commit_timer_v1;
use wayland_protocols::xdg::shell::client::{xdg_surface, xdg_toplevel, xdg_wm_base};

/// A world with a well-behaved client and a client that will misbehave.
pub fn world() -> (TestWorld, ClientIndex, ClientIndex, TestToplevel) {
    let mut world = TestWorld::new();
    let (good, _) = world.open("good", 200, 100);
    let (bad, window) = world.open("bad", 200, 100);
    (world, good, bad, window)
}

/// The bad client got the error `code` of `interface`; the good client still gets its keys.
#[track_caller]
fn only_bad_client_is_disconnected(
    world: &mut TestWorld,
    good: ClientIndex,
    bad: ClientIndex,
    interface: &str,
    code: u32,
) {
    world.settle();
    assert_eq!(world.client(bad).error, Some((interface.to_owned(), code)));
    still_gets_keys(world, good);
    assert_eq!(world.stack(), ["good"]);
}

#[track_caller]
fn still_gets_keys(world: &mut TestWorld, good: ClientIndex) {
    // Click a corner of the good window that the bad window does not cover.
    world.click(545.0, 315.0);
    world.client(good).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(world.client(good).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. })));
}

#[test]
fn content_before_the_first_configure_is_an_error() {
    let (mut world, good, bad, window) = world();
    let early = world.client(bad).toplevel("early");
    world.client(bad).commit_buffer(&early.surface, 10, 10);
    let code = xdg_surface::Error::UnconfiguredBuffer as u32;
    only_bad_client_is_disconnected(&mut world, good, bad, "xdg_surface", code);
    drop(window);
}

#[test]
fn an_unknown_configure_cannot_be_acknowledged() {
    let (mut world, good, bad, window) = world();
    window.xdg.ack_configure(4_000_000_000);
    let code = xdg_wm_base::Error::InvalidSurfaceState as u32;
    only_bad_client_is_disconnected(&mut world, good, bad, "xdg_wm_base", code);
}

#[test]
fn a_window_geometry_without_area_is_an_error() {
    for (width, height) in [(0, 10), (10, 0), (-5, 10), (i32::MIN, i32::MIN)] {
        let (mut world, good, bad, window) = world();
        window.xdg.set_window_geometry(0, 0, width, height);
        only_bad_client_is_disconnected(&mut world, good, bad, "xdg_surface", xdg_surface::Error::InvalidSize as u32);
    }
}

#[test]
fn negative_and_crossed_size_limits_are_errors() {
    let set: [fn(&xdg_toplevel::XdgToplevel); 3] = [
        |toplevel| toplevel.set_min_size(-1, 5),
        |toplevel| toplevel.set_max_size(5, i32::MIN),
        |toplevel| {
            toplevel.set_min_size(100, 100);
            toplevel.set_max_size(50, 0);
        },
    ];
    for set in set {
        let (mut world, good, bad, window) = world();
        set(&window.toplevel);
        window.surface.commit();
        only_bad_client_is_disconnected(&mut world, good, bad, "xdg_toplevel", xdg_toplevel::Error::InvalidSize as u32);
    }
}

#[test]
fn a_popup_needs_a_complete_positioner() {
    let (mut world, good, bad, window) = world();
    let client = world.client(bad);
    let positioner = client.globals().base.create_positioner(&client.handle(), ());
    let popup = client.popup(&window.xdg, &positioner);
    popup.surface.commit();
    let code = xdg_wm_base::Error::InvalidPositioner as u32;
    only_bad_client_is_disconnected(&mut world, good, bad, "xdg_wm_base", code);
}

#[test]
fn popups_cannot_hang_on_each_other_or_on_themselves() {
    for circle in [1, 2] {
        let (mut world, good, bad, _window) = world();
        let client = world.client(bad);
        let positioner = client.positioner(0, 0, 10, 10);
        let handle = client.handle();
        let surfaces: Vec<_> =
            (0..circle).map(|_| client.globals().base.get_xdg_surface(&client.surface(), &handle, ())).collect();
        for (number, surface) in surfaces.iter().enumerate() {
            surface.get_popup(Some(&surfaces[(number + 1) % circle]), &positioner, &handle, ());
        }
        let code = xdg_wm_base::Error::InvalidPopupParent as u32;
        only_bad_client_is_disconnected(&mut world, good, bad, "xdg_wm_base", code);
    }
}

#[test]
fn a_pool_cannot_be_resized_to_nothing() {
    use std::os::fd::AsFd;
    for size in [0, -1, i32::MIN] {
        let (mut world, good, bad, _window) = world();
        let fd = rustix::fs::memfd_create("pool", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&fd, 4_096).unwrap();
        let client = world.client(bad);
        client.globals().shm.create_pool(fd.as_fd(), 4_096, &client.handle(), ()).resize(size);
        only_bad_client_is_disconnected(&mut world, good, bad, "wl_shm_pool", wl_shm::Error::InvalidFd as u32);
    }
}

#[test]
fn second_toplevel_of_an_xdg_surface_is_an_error() {
    let (mut world, good, bad, window) = world();
    let handle = world.client(bad).handle();
    window.xdg.get_toplevel(&handle, ());
    only_bad_client_is_disconnected(
        &mut world,
        good,
        bad,
        "xdg_surface",
        xdg_surface::Error::AlreadyConstructed as u32,
    );
}

#[test]
fn xdg_surface_may_get_a_toplevel_again_after_its_destruction() {
    let (mut world, _, bad, window) = world();
    let handle = world.client(bad).handle();
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    window.toplevel.destroy();
    window.xdg.get_toplevel(&handle, ());
    world.settle();
    assert_eq!(world.client(bad).error, None);
}

#[test]
fn a_time_stamp_of_too_many_nanoseconds_is_an_error() {
    let (mut world, good, bad, window) = world();
    let client = world.client(bad);
    let timer = client.globals().commit_timing.get_timer(&window.surface, &client.handle(), ());
    timer.set_timestamp(0, 1, 1_000_000_000);
    window.surface.commit();
    let code = wp_commit_timer_v1::Error::InvalidTimestamp as u32;
    only_bad_client_is_disconnected(&mut world, good, bad, "wp_commit_timer_v1", code);
}

#[test]
fn a_time_stamp_at_the_end_of_time_is_only_late() {
    let (mut world, good, bad, window) = world();
    let client = world.client(bad);
    let timer = client.globals().commit_timing.get_timer(&window.surface, &client.handle(), ());
    timer.set_timestamp(u32::MAX, u32::MAX, 999_999_999);
    window.surface.commit();
    world.settle();
    assert!(!world.client(bad).is_disconnected());
    still_gets_keys(&mut world, good);
}

#[test]
fn extreme_rectangles_do_not_stop_the_session() {
    const EXTREMES: [i32; 5] = [i32::MIN, -1, 0, 1, i32::MAX];
    let (mut world, good, bad, window) = world();
    let region = {
        let client = world.client(bad);
        client.globals().compositor.create_region(&client.handle(), ())
    };
    let child = world.client(bad).surface();
    let subsurface = {
        let client = world.client(bad);
        client.globals().subcompositor.get_subsurface(&child, &window.surface, &client.handle(), ())
    };
    subsurface.set_desync();
    for a in EXTREMES {
        for b in EXTREMES {
            region.add(a, b, b, a);
            region.subtract(b, a, a, b);
            window.surface.damage(a, b, b, a);
            window.surface.damage_buffer(a, a, b, b);
            subsurface.set_position(a, b);
            window.surface.set_input_region(Some(&region));
            window.surface.set_opaque_region(Some(&region));
            world.client(bad).commit_buffer(&child, 10, 10);
            world.client(bad).commit_buffer(&window.surface, 200, 100);
            if a > 0 && b > 0 {
                window.toplevel.set_max_size(a, b);
                window.xdg.set_window_geometry(a, b, a, b);
                let positioner = world.client(bad).positioner(a, b, a, b);
                positioner.set_offset(a, b);
                positioner.set_parent_size(a, b);
                let popup = world.client(bad).popup(&window.xdg, &positioner);
                popup.surface.commit();
            }
            world.settle();
            world.point(f64::from(a), f64::from(b));
        }
    }
    assert!(!world.client(bad).is_disconnected(), "{:?}", world.client(bad).error);
    still_gets_keys(&mut world, good);
}

#[test]
fn subsurfaces_cannot_be_nested_until_the_stack_is_full() {
    let (mut world, good, bad, window) = world();
    let mut parent = window.surface.clone();
    for _ in 0..1_000 {
        let client = world.client(bad);
        let child = client.surface();
        client.globals().subcompositor.get_subsurface(&child, &parent, &client.handle(), ());
        parent = child;
        world.settle();
        if world.client(bad).is_disconnected() {
            break;
        }
    }
    only_bad_client_is_disconnected(
        &mut world,
        good,
        bad,
        "wl_subcompositor",
        wl_subcompositor::Error::BadParent as u32,
    );
}

#[test]
fn subsurface_tree_is_limited_and_destroyed_parts_do_not_count() {
    let (mut world, good, bad, window) = world();
    let mut direct = world.subsurfaces(bad, &window.surface, MAX_PARTS - MAX_DEEP_PARTS);
    let middle = direct[0].0.clone();
    let mut deep = world.subsurfaces(bad, &middle, MAX_DEEP_PARTS);
    // Destroy half of the subsurfaces by their role object and half by their surface.
    let gone = direct.drain(1..=32).chain(deep.drain(..32));
    for (number, (part, role)) in gone.enumerate() {
        if number % 2 == 0 { role.destroy() } else { part.destroy() }
    }
    world.settle();
    let _deep = world.subsurfaces(bad, &middle, 32);
    let _direct = world.subsurfaces(bad, &window.surface, 32);
    assert!(!world.client(bad).is_disconnected(), "{}", world.client(bad).error_message());
    let tree = world.client(bad).surface();
    for (part, _) in [direct.remove(1), direct.remove(1), deep.remove(0)] {
        part.destroy();
    }
    let (_leaf, _) = world.client(bad).subsurface(&tree);
    let _other = world.subsurfaces(bad, &window.surface, 1);
    assert!(!world.client(bad).is_disconnected(), "{}", world.client(bad).error_message());
    // Attaching the tree adds two subsurfaces, one of them nested: exactly the room that is left.
    let client = world.client(bad);
    client.globals().subcompositor.get_subsurface(&tree, &window.surface, &client.handle(), ());
    world.settle();
    assert!(!world.client(bad).is_disconnected(), "{}", world.client(bad).error_message());
    world.client(bad).subsurface(&window.surface);
    only_bad_client_is_disconnected(
        &mut world,
        good,
        bad,
        "wl_subcompositor",
        wl_subcompositor::Error::BadParent as u32,
    );
}

#[test]
fn nested_subsurfaces_are_limited_however_they_are_attached() {
    for at_once in [false, true] {
        let (mut world, good, bad, window) = world();
        let tree = world.client(bad).surface();
        let hang = |world: &mut TestWorld| {
            let client = world.client(bad);
            client.globals().subcompositor.get_subsurface(&tree, &window.surface, &client.handle(), ());
            world.settle();
        };
        if !at_once {
            hang(&mut world);
        }
        let _parts = world.subsurfaces(bad, &tree, MAX_DEEP_PARTS);
        assert!(!world.client(bad).is_disconnected(), "{}", world.client(bad).error_message());
        world.client(bad).subsurface(&tree);
        if at_once {
            hang(&mut world);
        }
        only_bad_client_is_disconnected(
            &mut world,
            good,
            bad,
            "wl_subcompositor",
            wl_subcompositor::Error::BadParent as u32,
        );
    }
}

#[test]
fn shrunk_pool_file_does_not_stop_the_session() {
    use std::os::fd::AsFd;
    let (mut world, good, bad, window) = world();
    let fd = rustix::fs::memfd_create("shrinks", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&fd, 200 * 100 * 4).unwrap();
    let buffer = {
        let client = world.client(bad);
        let pool = client.globals().shm.create_pool(fd.as_fd(), 200 * 100 * 4, &client.handle(), ());
        pool.create_buffer(0, 200, 100, 800, wl_shm::Format::Xrgb8888, &client.handle(), ())
    };
    window.surface.attach(Some(&buffer), 0, 0);
    window.surface.commit();
    rustix::fs::ftruncate(&fd, 0).unwrap();
    world.settle();
    still_gets_keys(&mut world, good);
}

#[test]
fn too_many_unacknowledged_toplevel_configures_end_the_client() {
    let (mut world, good, bad, window) = world();
    for _ in 0..3_000 {
        window.toplevel.set_maximized();
        window.toplevel.unset_maximized();
        world.settle();
        if world.client(bad).is_disconnected() {
            break;
        }
    }
    world.settle();
    assert!(world.client(bad).is_disconnected(), "six thousand configures were kept without an ack");
    assert_eq!(world.client(bad).error_message(), UNANSWERED);
    still_gets_keys(&mut world, good);
}

const UNANSWERED: &str = "more than 1000 configures of one window or menu without an answer";

#[test]
fn too_many_unacknowledged_popup_configures_end_the_client() {
    let (mut world, good, bad, window) = world();
    let positioner = world.client(bad).positioner(0, 0, 10, 10);
    let popup = world.client(bad).popup(&window.xdg, &positioner);
    popup.surface.commit();
    world.settle();
    world.client(bad).ack_newest_configure();
    for token in 0..3_000 {
        popup.popup.reposition(&positioner, token);
        world.settle();
        if world.client(bad).is_disconnected() {
            break;
        }
    }
    assert!(world.client(bad).is_disconnected(), "three thousand configures were kept without an ack");
    assert_eq!(world.client(bad).error_message(), UNANSWERED);
    still_gets_keys(&mut world, good);
}

#[test]
fn client_that_acknowledges_configures_without_drawing_stays_connected() {
    let (mut world, _, quiet, window) = world();
    for _ in 0..1_500 {
        window.toplevel.set_maximized();
        window.toplevel.unset_maximized();
        world.settle();
        world.client(quiet).ack_newest_configure();
        world.settle();
    }
    assert!(!world.client(quiet).is_disconnected(), "{}", world.client(quiet).error_message());
}
