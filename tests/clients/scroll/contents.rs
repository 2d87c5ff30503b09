//! Contents of scroll views: position, clipping, and when changes take effect.

use super::*;
use crate::fixture::ClientEvent;
use crate::fixture::content::{BLUE, GREEN};
use crate::fixture::scroll::{Mode, Reason, Role, ScrollViewEvent};

#[test]
fn content_is_placed_in_the_document_and_clipped_to_the_view() {
    let mut stage = ScrollStage::new();
    assert_eq!((stage.row_at(0), stage.row_at(99)), (0, 99));
    let origin = stage.world.window("view").origin();
    let below = stage.world.pixel(origin.x + 10, origin.y + 101);
    assert!(below > ROWS as u32, "the tile has 400 rows, and the view 100: {below:#x}");
    stage.content.set_position(0, -50);
    stage.window.surface.commit();
    stage.rest();
    assert_eq!((stage.row_at(0), stage.row_at(99)), (50, 149));
}

#[test]
fn window_size_is_independent_of_its_contents() {
    let mut stage = ScrollStage::new();
    let geometry = |stage: &ScrollStage| stage.world.window("view").geometry();
    assert_eq!(geometry(&stage).size, VIEW.into());
    stage.scroll_to(150, Behavior::Jump);
    stage.rest();
    stage.render(100, 700);
    stage.rest();
    assert_eq!((geometry(&stage).loc, geometry(&stage).size), ((0, 0).into(), VIEW.into()));
}

#[test]
fn positions_take_effect_with_the_views_commit() {
    let mut stage = ScrollStage::new();
    stage.content.set_position(0, -50);
    stage.tile.commit();
    stage.rest();
    assert_eq!(stage.row_at(0), 0, "only the tile was committed");
    stage.window.surface.commit();
    stage.rest();
    assert_eq!(stage.row_at(0), 50);
}

#[test]
fn a_ring_of_tiles_moves_at_once_and_does_not_jump() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(250, Behavior::Jump);
    stage.rest();
    assert_eq!(stage.row_at(0), 250);
    stage.render(200, 400);
    stage.rest();
    assert_eq!((stage.row_at(0), stage.row_at(99)), (250, 349), "other memory, the same rows");
}

#[test]
fn fixed_contents_stay_and_thumbs_follow_the_document() {
    let mut stage = ScrollStage::new();
    let part = |stage: &mut ScrollStage, colour, role, x: i32| {
        let client = stage.world.client(stage.client);
        let (surface, _) = client.subsurface(&stage.window.surface);
        let content = client.content(&stage.view, &surface);
        client.draw(&surface, 20, (10, 10), colour);
        surface.commit();
        content.set_position(x, 0);
        content.set_role(role);
        content
    };
    part(&mut stage, GREEN, Role::Fixed, 100);
    let thumb = part(&mut stage, BLUE, Role::Thumb, 150);
    thumb.set_track(Axes::Vertical, 90);
    stage.window.surface.commit();
    stage.rest();
    let at = |stage: &ScrollStage, x: i32, y: i32| {
        let origin = stage.world.window("view").origin();
        stage.world.pixel(origin.x + x, origin.y + y)
    };
    assert_eq!((at(&stage, 105, 5), at(&stage, 155, 5)), (GREEN, BLUE));
    // Half way through a document of 400 rows.
    stage.view.set_document(0, 0, VIEW.0, ROWS);
    stage.window.surface.commit();
    stage.scroll_to(150, Behavior::Jump);
    stage.rest();
    assert_eq!((at(&stage, 105, 5), at(&stage, 155, 50), at(&stage, 155, 5)), (GREEN, BLUE, 155));
}

#[test]
fn pointer_hits_contents_at_their_place_and_not_their_clipped_part() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(120, Behavior::Jump);
    stage.rest();
    stage.point();
    let entered = |stage: &mut ScrollStage| {
        let events = stage.world.client(stage.client).take_events();
        events.into_iter().rev().find_map(|event| match event {
            ClientEvent::PointerEnter { surface, x, y } => Some((surface, x, y)),
            _ => None,
        })
    };
    let tile = crate::fixture::dispatch::id(&stage.tile);
    assert_eq!(entered(&mut stage), Some((tile, 100.0, 170.0)));
    let origin = stage.world.window("view").origin();
    stage.world.point(f64::from(origin.x + 100), f64::from(origin.y + VIEW.1) + 0.5);
    assert!(stage.world.state.input.pointer().current_focus().is_none(), "nothing is there");
}

#[test]
fn destroyed_view_is_an_ordinary_surface_after_its_next_commit() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(50, Behavior::Jump);
    stage.rest();
    stage.view.destroy();
    stage.rest();
    assert_eq!(stage.row_at(0), 50);
    stage.window.surface.commit();
    stage.rest();
    assert_eq!(stage.row_at(0), 0);
    // Contents of a destroyed view are inert, and may be destroyed in any order.
    stage.content.set_position(5, 5);
    stage.content.destroy();
    let view = stage.world.client(stage.client).view(&stage.window.surface);
    let content = stage.world.client(stage.client).content(&view, &stage.tile);
    stage.tile.destroy();
    content.set_position(1, 1);
    view.destroy();
    content.destroy();
    assert_eq!(stage.error(), None);
}

#[test]
fn client_receives_mode_and_wanted_rows_of_a_new_view() {
    let mut stage = ScrollStage::new();
    let said = stage.world.client(stage.client).data.scroll_events.clone();
    assert!(matches!(said[0], ScrollViewEvent::Budget(16_000)), "{said:?}");
    assert_eq!(said[1], ScrollViewEvent::Effective(Mode::Still, Reason::NoContent));
    assert!(said.contains(&ScrollViewEvent::Effective(Mode::Composited, Reason::NoPlane)), "{said:?}");
}

#[test]
fn uncovered_rows_stay_until_other_content_covers_them() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(200, Behavior::Jump);
    stage.rest();
    // The tile shrinks to rows outside the view.
    stage.render(0, 100);
    stage.rest();
    assert_eq!((stage.row_at(0), stage.row_at(99)), (200, 299));
    stage.run(Span::from_seconds(2));
    assert_eq!((stage.row_at(0), stage.row_at(99)), (200, 299));
    stage.render(150, 300);
    stage.rest();
    assert_eq!((stage.row_at(0), stage.row_at(99)), (200, 299));
    assert!(
        stage.world.client(stage.client).has_received(crate::fixture::content::ContentEvent::Released(10)),
        "they are given back"
    );
    stage.scroll_to(160, Behavior::Jump);
    stage.rest();
    assert_eq!(stage.row_at(0), 160);
}

#[test]
fn content_destroyed_during_a_glide_leaves_its_pixels() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(250, Behavior::Glide);
    let origin = stage.world.window("view").origin();
    let mut blank = 0;
    for step in 0..40 {
        if step == 6 {
            stage.tile.destroy();
        }
        stage.run(REFRESH);
        blank += u32::from(stage.world.pixel(origin.x + 10, origin.y + 99) == RED);
    }
    assert_eq!(blank, 0);
}

#[test]
fn content_destroyed_at_rest_leaves_its_pixels() {
    let mut stage = ScrollStage::new();
    stage.scroll_to(250, Behavior::Jump);
    stage.run(Span::from_seconds(5));
    stage.tile.destroy();
    stage.rest();
    assert_eq!((stage.row_at(0), stage.row_at(99)), (250, 349));
    // The old pixels stay until other content covers them.
    let (tile, _) = stage.world.client(stage.client).subsurface(&stage.window.surface);
    stage.content = stage.world.client(stage.client).content(&stage.view, &tile);
    stage.tile = tile;
    stage.render(200, 200);
    stage.rest();
    assert_eq!((stage.row_at(0), stage.row_at(99)), (250, 349));
    stage.scroll_to(210, Behavior::Jump);
    stage.rest();
    assert_eq!(stage.row_at(0), 210);
}

#[test]
fn uncommitted_state_of_a_nested_view_is_not_applied_with_its_parent() {
    let mut stage = ScrollStage::new();
    let client = stage.world.client(stage.client);
    // A view nested in the first view.
    let (inner, _) = client.subsurface(&stage.window.surface);
    let view = client.view(&inner);
    client.content(&stage.view, &inner).set_position(100, 0);
    view.set_document(0, 0, 50, 1_000);
    client.draw(&inner, 30, (50, 50), RED);
    let (tile, _) = client.subsurface(&inner);
    let content = client.content(&view, &tile);
    fill(&mut stage.world, stage.client, &tile, 0, 300);
    inner.commit();
    stage.window.surface.commit();
    stage.rest();
    let at = |stage: &ScrollStage| {
        let origin = stage.world.window("view").origin();
        stage.world.pixel(origin.x + 110, origin.y)
    };
    assert_eq!(at(&stage), 0);
    content.set_position(0, -20);
    stage.window.surface.commit();
    stage.rest();
    assert_eq!(at(&stage), 0, "the inner view has not committed it");
    inner.commit();
    stage.window.surface.commit();
    stage.rest();
    assert_eq!(at(&stage), 20);
    let origin = stage.world.window("view").origin();
    assert_eq!(stage.world.pixel(origin.x + 110, origin.y + 60), 60, "it is cut to its own view");
}
