//! Protocol errors of scroll views, and their messages.

use super::*;
use crate::fixture::scroll::Axes;
use crate::fixture::scroll::Options;

const VIEW_OBJECT: &str = "upbeat_scroll_view_v1";
const CONTENT_OBJECT: &str = "upbeat_scroll_content_v1";
const MANAGER: &str = "upbeat_scroll_manager_v1";

/// Checks the client's protocol error and its message; other clients go on.
#[track_caller]
fn ends_with(mut stage: Stage, interface: &str, code: u32, names: &str) {
    assert_eq!(stage.error(), Some((interface.to_owned(), code)));
    let said = stage.world.client(stage.client).said();
    assert!(said.contains(names), "{said}");
    stage.world.open("b", 50, 50);
    stage.run(REFRESH * 3);
}

#[test]
fn a_surface_is_one_view() {
    let mut stage = Stage::new();
    let surface = stage.window.surface.clone();
    stage.world.client(stage.client).view(&surface);
    let name = format!("wl_surface#{}", crate::fixture::handlers::id(&surface));
    ends_with(stage, MANAGER, 0, &name);
}

#[test]
fn a_content_is_a_subsurface_of_its_view() {
    let mut stage = Stage::new();
    let other = stage.world.client(stage.client).surface();
    stage.world.client(stage.client).content(&stage.view, &other);
    let name = format!("wl_surface#{}", crate::fixture::handlers::id(&other));
    ends_with(stage, VIEW_OBJECT, 0, &name);
}

#[test]
fn a_surface_is_one_content() {
    let mut stage = Stage::new();
    stage.world.client(stage.client).content(&stage.view, &stage.tile);
    ends_with(stage, VIEW_OBJECT, 1, "already");
}

/// Adds another content to the view.
fn more(stage: &mut Stage) -> (WlSurface, UpbeatScrollContentV1) {
    let client = stage.world.client(stage.client);
    let (surface, _) = client.subsurface(&stage.window.surface);
    let content = client.content(&stage.view, &surface);
    (surface, content)
}

#[test]
fn a_view_has_64_contents_and_places_of_those_that_are_gone_are_free() {
    let mut stage = Stage::new();
    let contents: Vec<_> = (1..64).map(|_| more(&mut stage)).collect();
    assert_eq!(stage.error(), None);
    contents[5].1.destroy();
    contents[6].0.destroy();
    more(&mut stage);
    more(&mut stage);
    assert_eq!(stage.error(), None);
    more(&mut stage);
    ends_with(stage, VIEW_OBJECT, 2, "65");
}

#[test]
fn views_are_nested_four_deep() {
    let mut stage = Stage::new();
    let mut surface = stage.window.surface.clone();
    for _ in 0..3 {
        let (child, _) = stage.world.client(stage.client).subsurface(&surface);
        stage.world.client(stage.client).view(&child);
        surface = child;
    }
    assert_eq!(stage.error(), None);
    let (child, _) = stage.world.client(stage.client).subsurface(&surface);
    stage.world.client(stage.client).view(&child);
    ends_with(stage, MANAGER, 1, "4 deep");
}

#[test]
fn a_view_that_comes_to_lie_too_deep_stays_where_it_is_until_it_does_not() {
    use crate::fixture::scroll::{Mode, Reason, Scrolled};
    let mut stage = Stage::new();
    // Three nested views, and then `late`, which is a view before it becomes a subsurface.
    let inside = |stage: &mut Stage, parent: &WlSurface| {
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
    let said = |stage: &mut Stage| stage.world.client(stage.client).data.scrolled.clone();
    assert!(said(&mut stage).contains(&Scrolled::Effective(Mode::Still, Reason::Nesting)));
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
fn documents_end_where_32_bits_do() {
    let mut stage = Stage::new();
    stage.view.set_document(i32::MIN, 0, i32::MAX, i32::MAX);
    stage.window.surface.commit();
    assert_eq!(stage.error(), None);
    stage.view.set_document(0, 1, 10, i32::MAX);
    ends_with(stage, VIEW_OBJECT, 3, "2147483647");
}

#[test]
fn a_document_is_not_negative() {
    let stage = Stage::new();
    stage.view.set_document(0, 0, -1, 10);
    ends_with(stage, VIEW_OBJECT, 3, "-1");
}

#[test]
fn bits_that_mean_nothing_are_refused() {
    let mut stage = Stage::new();
    stage.view.set_axes(Axes::from_bits_retain(4));
    ends_with(stage, VIEW_OBJECT, 4, "0x4");
    stage = Stage::new();
    stage.view.set_inputs(Inputs::from_bits_retain(8));
    ends_with(stage, VIEW_OBJECT, 5, "0x8");
    stage = Stage::new();
    stage.view.set_options(Options::from_bits_retain(4));
    ends_with(stage, VIEW_OBJECT, 6, "0x4");
}

#[test]
fn physics_have_their_limits() {
    for (deceleration, rubber_band) in [(0, 0), (899, 0), (1_000, 0), (u32::MAX, 0), (998, 1_001)] {
        let stage = Stage::new();
        stage.view.set_physics(deceleration, rubber_band);
        let wrong = if rubber_band > 0 { rubber_band } else { deceleration };
        ends_with(stage, VIEW_OBJECT, 7, &wrong.to_string());
    }
}

#[test]
fn snaps_are_sorted_whole_numbers_and_not_too_many() {
    let bytes = |numbers: &[i32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_ne_bytes()).collect() };
    let mut stage = Stage::new();
    stage.view.set_snaps(Axes::Vertical, bytes(&[-5, 0, 0, 700]));
    assert_eq!(stage.error(), None);
    for wrong in [bytes(&[0, 700, 600]), vec![0; 7], vec![0; 4 * 513]] {
        let stage = Stage::new();
        stage.view.set_snaps(Axes::Horizontal, wrong);
        ends_with(stage, VIEW_OBJECT, 8, "");
    }
    stage.view.set_snaps(Axes::Horizontal | Axes::Vertical, bytes(&[1]));
    ends_with(stage, VIEW_OBJECT, 4, "one axis");
}

#[test]
fn tracks_have_a_length_and_an_axis() {
    let stage = Stage::new();
    stage.content.set_track(Axes::Vertical, -1);
    ends_with(stage, CONTENT_OBJECT, 2, "-1");
    let stage = Stage::new();
    stage.content.set_track(Axes::empty(), 1);
    ends_with(stage, CONTENT_OBJECT, 1, "axis");
}
