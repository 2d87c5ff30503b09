//! Protocol errors of scroll views, and their messages.

use super::*;
use crate::fixture::scroll::Axes;
use crate::fixture::scroll::Options;

const VIEW_OBJECT: &str = "upbeat_scroll_view_v1";
const CONTENT_OBJECT: &str = "upbeat_scroll_content_v1";
const MANAGER: &str = "upbeat_scroll_manager_v1";

/// Checks the client's protocol error and its message; other clients go on.
#[track_caller]
fn assert_protocol_error(mut stage: ScrollStage, interface: &str, code: u32, names: &str) {
    assert_eq!(stage.error(), Some((interface.to_owned(), code)));
    let said = stage.world.client(stage.client).error_message();
    assert!(said.contains(names), "{said}");
    stage.world.open("b", 50, 50);
    stage.run(REFRESH * 3);
}

#[test]
fn second_view_of_a_surface_is_an_error() {
    let mut stage = ScrollStage::new();
    let surface = stage.window.surface.clone();
    stage.world.client(stage.client).view(&surface);
    let name = format!("wl_surface#{}", crate::fixture::dispatch::id(&surface));
    assert_protocol_error(stage, MANAGER, 0, &name);
}

#[test]
fn content_that_is_no_subsurface_of_its_view_is_an_error() {
    let mut stage = ScrollStage::new();
    let other = stage.world.client(stage.client).surface();
    stage.world.client(stage.client).content(&stage.view, &other);
    let name = format!("wl_surface#{}", crate::fixture::dispatch::id(&other));
    assert_protocol_error(stage, VIEW_OBJECT, 0, &name);
}

#[test]
fn second_content_of_a_surface_is_an_error() {
    let mut stage = ScrollStage::new();
    stage.world.client(stage.client).content(&stage.view, &stage.tile);
    assert_protocol_error(stage, VIEW_OBJECT, 1, "already");
}

/// Adds another content to the view.
fn add_content(stage: &mut ScrollStage) -> (WlSurface, UpbeatScrollContentV1) {
    let client = stage.world.client(stage.client);
    let (surface, _) = client.subsurface(&stage.window.surface);
    let content = client.content(&stage.view, &surface);
    (surface, content)
}

#[test]
fn view_has_at_most_64_contents_at_once() {
    let mut stage = ScrollStage::new();
    let contents: Vec<_> = (1..64).map(|_| add_content(&mut stage)).collect();
    assert_eq!(stage.error(), None);
    contents[5].1.destroy();
    contents[6].0.destroy();
    add_content(&mut stage);
    add_content(&mut stage);
    assert_eq!(stage.error(), None);
    add_content(&mut stage);
    assert_protocol_error(stage, VIEW_OBJECT, 2, "65");
}

#[test]
fn views_are_nested_four_deep() {
    let mut stage = ScrollStage::new();
    let mut surface = stage.window.surface.clone();
    for _ in 0..3 {
        let (child, _) = stage.world.client(stage.client).subsurface(&surface);
        stage.world.client(stage.client).view(&child);
        surface = child;
    }
    assert_eq!(stage.error(), None);
    let (child, _) = stage.world.client(stage.client).subsurface(&surface);
    stage.world.client(stage.client).view(&child);
    assert_protocol_error(stage, MANAGER, 1, "4 deep");
}

#[test]
fn too_deeply_nested_view_does_not_move() {
    use crate::fixture::scroll::{Mode, Reason, ScrollViewEvent};
    let mut stage = ScrollStage::new();
    // Three nested views, and then `late`, which is a view before it becomes a subsurface.
    let inside = |stage: &mut ScrollStage, parent: &WlSurface| {
        let (child, _) = stage.world.client(stage.client).subsurface(parent);
        stage.world.client(stage.client).view(&child);
        child
    };
    let mut deepest = stage.window.surface.clone();
    let mut chain = Vec::new();
    for _ in 0..3 {
        deepest = inside(&mut stage, &deepest);
        chain.push(deepest.clone());
    }
    let client = stage.world.client(stage.client);
    let late = client.surface();
    let view = client.view(&late);
    let role = client.globals().subcompositor.get_subsurface(&late, &deepest, &client.handle(), ());
    view.set_document(0, 0, 50, 1_000);
    let (tile, _) = client.subsurface(&late);
    client.content(&view, &tile);
    for surface in [&late].into_iter().chain(chain.iter().rev()) {
        client.draw(surface, 40, (50, 50), RED);
        surface.commit();
    }
    fill(&mut stage.world, stage.client, &tile, 0, 300);
    for surface in [&late].into_iter().chain(chain.iter().rev()).chain([&stage.window.surface]) {
        surface.commit();
    }
    stage.rest();
    assert_eq!(stage.row_at(0), 0);
    view.scroll_to(0, 70, Behavior::Jump, 9);
    stage.rest();
    let said = |stage: &mut ScrollStage| stage.world.client(stage.client).data.scroll_events.clone();
    assert!(said(&mut stage).contains(&ScrollViewEvent::Effective(Mode::Still, Reason::Nesting)));
    assert_eq!((stage.row_at(0), stage.error()), (0, None));
    assert!(stage.world.client(stage.client).rests().is_empty(), "its answer waits");
    // The last view moves up in the tree, so that fewer views lie around it.
    role.destroy();
    let client = stage.world.client(stage.client);
    client.globals().subcompositor.get_subsurface(&late, &chain[0], &client.handle(), ());
    chain[0].commit();
    stage.window.surface.commit();
    stage.rest();
    assert_eq!((stage.row_at(0), stage.world.client(stage.client).rests()), (70, vec![(70.0, 9)]));
}

#[test]
fn document_beyond_32_bits_is_an_error() {
    let mut stage = ScrollStage::new();
    stage.view.set_document(i32::MIN, 0, i32::MAX, i32::MAX);
    stage.window.surface.commit();
    assert_eq!(stage.error(), None);
    stage.view.set_document(0, 1, 10, i32::MAX);
    assert_protocol_error(stage, VIEW_OBJECT, 3, "2147483647");
}

#[test]
fn negative_document_size_is_an_error() {
    let stage = ScrollStage::new();
    stage.view.set_document(0, 0, -1, 10);
    assert_protocol_error(stage, VIEW_OBJECT, 3, "-1");
}

#[test]
fn unknown_flag_bits_are_errors() {
    let mut stage = ScrollStage::new();
    stage.view.set_axes(Axes::from_bits_retain(4));
    assert_protocol_error(stage, VIEW_OBJECT, 4, "0x4");
    stage = ScrollStage::new();
    stage.view.set_inputs(Inputs::from_bits_retain(8));
    assert_protocol_error(stage, VIEW_OBJECT, 5, "0x8");
    stage = ScrollStage::new();
    stage.view.set_options(Options::from_bits_retain(4));
    assert_protocol_error(stage, VIEW_OBJECT, 6, "0x4");
}

#[test]
fn physics_out_of_range_are_errors() {
    for (deceleration, rubber_band) in [(0, 0), (899, 0), (1_000, 0), (u32::MAX, 0), (998, 1_001)] {
        let stage = ScrollStage::new();
        stage.view.set_physics(deceleration, rubber_band);
        let wrong = if rubber_band > 0 { rubber_band } else { deceleration };
        assert_protocol_error(stage, VIEW_OBJECT, 7, &wrong.to_string());
    }
}

#[test]
fn invalid_snap_positions_are_errors() {
    let bytes = |numbers: &[i32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_ne_bytes()).collect() };
    let mut stage = ScrollStage::new();
    stage.view.set_snaps(Axes::Vertical, bytes(&[-5, 0, 0, 700]));
    assert_eq!(stage.error(), None);
    for wrong in [bytes(&[0, 700, 600]), vec![0; 7], vec![0; 4 * 513]] {
        let stage = ScrollStage::new();
        stage.view.set_snaps(Axes::Horizontal, wrong);
        assert_protocol_error(stage, VIEW_OBJECT, 8, "");
    }
    stage.view.set_snaps(Axes::Horizontal | Axes::Vertical, bytes(&[1]));
    assert_protocol_error(stage, VIEW_OBJECT, 4, "one axis");
}

#[test]
fn invalid_tracks_are_errors() {
    let stage = ScrollStage::new();
    stage.content.set_track(Axes::Vertical, -1);
    assert_protocol_error(stage, CONTENT_OBJECT, 2, "-1");
    let stage = ScrollStage::new();
    stage.content.set_track(Axes::empty(), 1);
    assert_protocol_error(stage, CONTENT_OBJECT, 1, "axis");
}
