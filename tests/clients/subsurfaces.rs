//! Subsurfaces: which state a parent's commit applies.

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};
use upbeat_timing::time::Span;
use wayland_client::protocol::wl_subsurface::{self, WlSubsurface};
use wayland_client::protocol::wl_surface::WlSurface;

/// Size of the parent, red.
const PARENT: (i32, i32) = (200, 100);
const CHILD: (i32, i32) = (50, 50);

struct SubsurfaceStage {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    child: WlSurface,
    subsurface: WlSubsurface,
}

impl SubsurfaceStage {
    /// A red window with a subsurface at (20, 20) that has no content yet.
    fn new() -> Self {
        let mut world = TestWorld::rendered();
        let (client, window) = world.open("parent", PARENT.0, PARENT.1);
        let (child, subsurface) = world.client(client).subsurface(&window.surface);
        subsurface.set_position(20, 20);
        let stage = SubsurfaceStage { world, client, window, child, subsurface };
        stage.parent_red()
    }

    fn parent_red(mut self) -> Self {
        self.draw_parent(1);
        self.rest();
        self
    }

    fn draw_parent(&mut self, number: u32) {
        let surface = self.window.surface.clone();
        self.world.client(self.client).draw(&surface, number, PARENT, RED);
        surface.commit();
    }

    /// Attaches a buffer to the child without a commit.
    fn draw(&mut self, number: u32, colour: Xrgb8888Pixel) {
        let surface = self.child.clone();
        self.world.client(self.client).draw(&surface, number, CHILD, colour);
    }

    fn show(&mut self, number: u32, colour: Xrgb8888Pixel) {
        self.draw(number, colour);
        self.child.commit();
    }

    fn commit_parent(&mut self) {
        self.window.surface.commit();
        self.rest();
    }

    fn rest(&mut self) {
        self.world.settle();
        self.world.run_until_idle();
    }

    /// Colour at a point of the parent.
    fn at(&self, x: i32, y: i32) -> Xrgb8888Pixel {
        let origin = self.world.window("parent").origin();
        self.world.pixel(origin.x + x, origin.y + y)
    }

    fn has_received(&mut self, what: ContentEvent) -> bool {
        self.world.client(self.client).has_received(what)
    }

    fn wait_for(&mut self, what: ContentEvent) {
        let client = self.client;
        self.world.run_until(&format!("{what:?}"), |world| world.client(client).has_received(what));
    }
}

#[test]
fn a_synchronised_child_is_shown_with_its_parent_at_its_place() {
    let mut stage = SubsurfaceStage::new();
    stage.show(2, GREEN);
    stage.rest();
    assert_eq!(stage.at(30, 30), RED, "it waits for its parent");
    stage.commit_parent();
    assert_eq!((stage.at(30, 30), stage.at(20, 20), stage.at(69, 69)), (GREEN, GREEN, GREEN));
    assert_eq!((stage.at(19, 30), stage.at(70, 30)), (RED, RED), "and nowhere else");
    stage.wait_for(ContentEvent::Callback(2));
    let client = stage.client;
    stage.world.run_until("light", |world| world.client(client).light(2).is_some());
}

#[test]
fn parent_commit_does_not_apply_uncommitted_child_state() {
    let mut stage = SubsurfaceStage::new();
    stage.show(2, GREEN);
    stage.commit_parent();
    stage.draw(3, BLUE);
    stage.child.set_buffer_scale(2);
    stage.commit_parent();
    assert_eq!((stage.at(30, 30), stage.at(60, 60)), (GREEN, GREEN), "attached, scaled, not committed");
    assert!(!stage.has_received(ContentEvent::Callback(3)) && !stage.has_received(ContentEvent::Released(2)));

    stage.child.commit();
    stage.commit_parent();
    assert_eq!((stage.at(30, 30), stage.at(60, 60)), (BLUE, RED), "committed: 50 pixels at scale 2 are 25");
    stage.wait_for(ContentEvent::Callback(3));
    stage.wait_for(ContentEvent::Released(2));
}

#[test]
fn synchronised_grandchild_waits_for_all_its_ancestors() {
    let mut stage = SubsurfaceStage::new();
    let (child, client) = (stage.child.clone(), stage.client);
    let (grandchild, placed) = stage.world.client(client).subsurface(&child);
    placed.set_position(10, 10);
    stage.world.client(client).draw(&grandchild, 7, (10, 10), BLUE);
    grandchild.commit();
    stage.commit_parent();
    stage.show(2, GREEN);
    stage.rest();
    assert_eq!(stage.at(35, 35), RED);
    stage.world.client(client).draw(&grandchild, 8, (10, 10), RED);
    stage.commit_parent();
    assert_eq!((stage.at(35, 35), stage.at(25, 25)), (BLUE, GREEN), "the committed buffer, not the attached buffer");
}

#[test]
fn desynchronised_child_applies_its_cached_state() {
    let mut stage = SubsurfaceStage::new();
    stage.show(2, GREEN);
    stage.commit_parent();
    stage.show(3, BLUE);
    stage.draw(4, RED);
    stage.subsurface.set_desync();
    stage.rest();
    assert_eq!(stage.at(30, 30), BLUE, "the committed buffer, not the buffer attached later");
    stage.wait_for(ContentEvent::Callback(3));
    assert!(!stage.has_received(ContentEvent::Callback(4)));
    stage.child.commit();
    stage.rest();
    assert_eq!(stage.at(30, 30), RED);
    stage.wait_for(ContentEvent::Callback(4));
}

#[test]
fn grandchild_becomes_effectively_desynchronised_with_its_parent() {
    let mut stage = SubsurfaceStage::new();
    stage.show(2, GREEN);
    let (child, client) = (stage.child.clone(), stage.client);
    let (grandchild, placed) = stage.world.client(client).subsurface(&child);
    placed.set_desync();
    stage.world.client(client).draw(&grandchild, 7, (10, 10), BLUE);
    grandchild.commit();
    stage.child.commit();
    stage.commit_parent();
    assert_eq!(stage.at(25, 25), BLUE);
    stage.world.client(client).draw(&grandchild, 8, (10, 10), RED);
    grandchild.commit();
    stage.rest();
    assert_eq!(stage.at(25, 25), BLUE, "its parent is synchronised");
    stage.subsurface.set_desync();
    stage.rest();
    assert_eq!(stage.at(25, 25), RED);
}

#[test]
fn position_takes_effect_with_the_parents_commit_only() {
    let mut stage = SubsurfaceStage::new();
    stage.subsurface.set_desync();
    stage.show(2, GREEN);
    stage.commit_parent();
    stage.subsurface.set_position(100, 20);
    stage.show(3, BLUE);
    stage.rest();
    assert_eq!((stage.at(30, 30), stage.at(110, 30)), (BLUE, RED), "the child's commit does not move it");
    stage.commit_parent();
    assert_eq!((stage.at(30, 30), stage.at(110, 30)), (RED, BLUE));
}

#[test]
fn stacking_takes_effect_with_the_parents_commit() {
    let mut stage = SubsurfaceStage::new();
    stage.show(2, GREEN);
    let (client, window) = (stage.client, stage.window.surface.clone());
    let (other, placed) = stage.world.client(client).subsurface(&window);
    placed.set_position(20, 20);
    stage.world.client(client).draw(&other, 3, (30, 30), BLUE);
    other.commit();
    stage.commit_parent();
    assert_eq!((stage.at(30, 30), stage.at(60, 60)), (BLUE, GREEN), "the newest is on top");

    placed.place_below(&stage.child);
    stage.rest();
    assert_eq!(stage.at(30, 30), BLUE, "not before the parent commits");
    stage.commit_parent();
    assert_eq!(stage.at(30, 30), GREEN);

    stage.subsurface.place_below(&window);
    stage.commit_parent();
    assert_eq!((stage.at(30, 30), stage.at(60, 60)), (BLUE, RED), "below the parent");
    placed.place_below(&stage.child);
    stage.commit_parent();
    assert_eq!(stage.at(30, 30), RED, "both below the parent");
    placed.place_above(&window);
    stage.commit_parent();
    assert_eq!(stage.at(30, 30), BLUE);
}

#[test]
fn only_siblings_and_the_parent_can_be_stacked_against() {
    let mut stage = SubsurfaceStage::new();
    let client = stage.client;
    let stranger = stage.world.client(client).surface();
    stage.subsurface.place_above(&stranger);
    stage.world.settle();
    let error = stage.world.client(client).error.clone();
    assert_eq!(error, Some(("wl_subsurface".to_owned(), wl_subsurface::Error::BadSurface as u32)));
}

#[test]
fn a_child_vanishes_with_its_role_and_with_its_surface() {
    let mut stage = SubsurfaceStage::new();
    stage.show(2, GREEN);
    stage.commit_parent();
    assert_eq!(stage.at(30, 30), GREEN);
    stage.subsurface.destroy();
    stage.rest();
    assert_eq!(stage.at(30, 30), RED, "without waiting for the parent");

    let (client, window) = (stage.client, stage.window.surface.clone());
    let (other, _placed) = stage.world.client(client).subsurface(&window);
    stage.world.client(client).draw(&other, 3, CHILD, BLUE);
    other.commit();
    stage.commit_parent();
    assert_eq!(stage.at(30, 30), BLUE);
    other.destroy();
    stage.rest();
    assert_eq!(stage.at(30, 30), RED);
}

#[test]
fn fifo_and_commit_timing_are_ignored_for_a_synchronised_child() {
    let mut stage = SubsurfaceStage::new();
    let (client, child) = (stage.client, stage.child.clone());
    let fifo = stage.world.client(client).fifo(&child);
    let timer = stage.world.client(client).timer(&child);
    for (number, colour) in [(2, GREEN), (3, BLUE)] {
        fifo.set_barrier();
        fifo.wait_barrier();
        let far = upbeat_timing::time::Instant::from_nanos(i64::MAX as u64 / 2);
        crate::fixture::content::set_stamp(&timer, far);
        stage.show(number, colour);
    }
    stage.commit_parent();
    assert_eq!(stage.at(30, 30), BLUE);
    stage.wait_for(ContentEvent::Discarded(2));
    stage.wait_for(ContentEvent::Callback(2));
    stage.wait_for(ContentEvent::Callback(3));
    stage.wait_for(ContentEvent::Released(2));
}

#[test]
fn child_destroyed_before_the_parents_commit_releases_its_buffer() {
    let mut stage = SubsurfaceStage::new();
    stage.show(2, GREEN);
    stage.show(3, BLUE);
    stage.world.settle();
    stage.subsurface.destroy();
    stage.child.destroy();
    stage.wait_for(ContentEvent::Released(2));
    stage.wait_for(ContentEvent::Released(3));
    let client = stage.client;
    assert_eq!(
        stage.world.client(client).count_content_events(|heard| matches!(heard, ContentEvent::Released(2 | 3))),
        2,
        "once each"
    );
}

/// Number of subsurfaces of one window, and of commits in one turn.
const PARTS: i32 = 40;
const COMMITS: i32 = 100;

#[test]
fn extent_of_a_surface_tree_is_measured_once_a_turn() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("many", (200, 100), RED);
    let parts: Vec<_> = (0..PARTS)
        .map(|number| {
            let (part, role) = world.client(client).subsurface(&window.surface);
            role.set_desync();
            role.set_position(number, 0);
            world.client(client).draw(&part, 2, (4, 4), GREEN);
            part.commit();
            (part, role)
        })
        .collect();
    window.surface.commit();
    world.run_until_idle();
    let reaches = |world: &TestWorld| {
        let window = world.window("many");
        world.state.surfaces.extent(window.surface()).size
    };
    assert_eq!(reaches(&world), (200, 100).into());
    let before = world.state.surfaces.measured();
    for number in 0..COMMITS {
        let side = 10 + number % 2 * 300;
        world.client(client).draw(&parts[0].0, 3, (side, 4), GREEN);
        parts[0].0.commit();
        // State that is applied with the parent counts too.
        parts[1].1.set_position(number, 150);
        window.surface.commit();
    }
    world.settle();
    world.turn();
    let measured = world.state.surfaces.measured() - before;
    assert!((1..COMMITS as u64 / 10).contains(&measured), "{measured}");
    assert_eq!(reaches(&world), (310, 154).into());
    // A destroyed subsurface no longer counts.
    parts[0].1.destroy();
    world.settle();
    world.turn();
    assert_eq!(reaches(&world), (200, 154).into());
}

#[test]
fn subsurface_is_not_called_back_before_its_first_content() {
    let mut stage = SubsurfaceStage::new();
    stage.subsurface.set_desync();
    stage.world.client(stage.client).request_feedback(&stage.child, 7);
    stage.child.commit();
    stage.window.surface.commit();
    stage.world.run_for(Span::from_seconds(5), &mut nothing);
    assert!(!stage.has_received(ContentEvent::Callback(7)), "no callback before the first content");
    stage.show(8, GREEN);
    stage.wait_for(ContentEvent::Callback(7));
    stage.wait_for(ContentEvent::Callback(8));
}

#[test]
fn callback_of_a_surface_without_content_wakes_nothing() {
    let mut stage = SubsurfaceStage::new();
    stage.subsurface.set_desync();
    let client = stage.world.client(stage.client);
    stage.child.frame(&client.handle(), 7);
    stage.child.commit();
    stage.world.run_for(Span::from_seconds(2), &mut nothing);
    stage.draw_parent(2);
    stage.rest();
    stage.world.run_for(Span::from_millis(100), &mut nothing);
    assert_eq!(upbeat::session::turn::run(&mut stage.world.state), None, "there is nothing to do");
}
