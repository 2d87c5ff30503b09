//! Documents on overlay planes: nothing is drawn while they scroll.

use upbeat::render::Renderer;
use upbeat::scene::OnPlane;

use wayland_client::protocol::wl_output::Transform;

use super::*;
use crate::fixture::content::{BLUE, GREEN};
use crate::fixture::scroll::{Mode, Reason, Role, ScrollViewEvent};
use crate::overlay_planes::{planes, with_overlays};

/// The bits of a pixel that are seen.
const COLOURS: u32 = 0x00ff_ffff;
const OVERLAY: Option<OnPlane> = Some(OnPlane::Overlay);

impl ScrollStage {
    /// On a display with this many overlay planes.
    fn on_overlays(overlays: u32) -> Self {
        let outputs = [(60_000, with_overlays(overlays))];
        Self::shown_by(TestWorld::simulated_on(&outputs, Renderer::pixman().unwrap()))
    }

    /// Adds a content of this size in one colour above the document.
    fn add(&mut self, role: Role, at: (i32, i32), size: (i32, i32), colour: u32) -> (WlSurface, UpbeatScrollContentV1) {
        let client = self.world.client(self.client);
        let (surface, _) = client.subsurface(&self.window.surface);
        let content = client.content(&self.view, &surface);
        let pixels = vec![colour; (size.0 * size.1) as usize];
        let is_opaque = colour >> 24 == 0xff;
        let format = if is_opaque { wl_shm::Format::Xrgb8888 } else { wl_shm::Format::Argb8888 };
        let buffer = client.buffer_of_pixels(21, format, size.0, size.1, &pixels);
        surface.attach(Some(&buffer), 0, 0);
        surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        surface.commit();
        content.set_position(at.0, at.1);
        content.set_role(role);
        self.window.surface.commit();
        self.rest();
        (surface, content)
    }

    /// Glides, and returns how many pixels the frames drew meanwhile, and how many frames there were.
    fn glide(&mut self) -> (u64, usize) {
        let before = self.world.output(0).records().iter().count();
        self.scroll_to(250, Behavior::Glide);
        self.rest();
        self.run(REFRESH * 40);
        assert_eq!(self.row_at(50), 300);
        let records: Vec<_> = self.world.output(0).records().iter().skip(before).collect();
        (records.iter().map(|record| record.damage).sum(), records.len())
    }

    fn modes(&mut self) -> Vec<(Mode, Reason)> {
        let mode = |said: &ScrollViewEvent| match said {
            ScrollViewEvent::Effective(mode, reason) => Some((*mode, *reason)),
            _ => None,
        };
        self.world.client(self.client).data.scroll_events.iter().filter_map(mode).collect()
    }
}

/// Glides on a display with this many overlay planes, and asserts that no frame draws anything, and that the screen then
/// shows what a display without planes shows.
fn assert_moves_on_planes(overlays: u32, prepare: impl Fn(&mut ScrollStage)) -> ScrollStage {
    let mut stage = ScrollStage::on_overlays(overlays);
    prepare(&mut stage);
    let (drawn, frames) = stage.glide();
    assert!(drawn == 0 && frames > 5, "{drawn} pixels in {frames} frames");
    let mut composed = ScrollStage::on_overlays(0);
    prepare(&mut composed);
    composed.glide();
    let (shown, expected) = (stage.world.picture(), composed.world.picture());
    let differs = |(a, b): (&u32, &u32)| (a ^ b) & COLOURS != 0;
    assert_eq!(shown.pixels.iter().zip(&expected.pixels).position(differs), None, "the first different pixel");
    stage
}

#[test]
fn document_on_a_plane_moves_without_drawing() {
    let mut stage = assert_moves_on_planes(1, |_| ());
    assert_eq!(stage.modes(), [(Mode::Still, Reason::NoContent), (Mode::Overlay, Reason::Policy)]);
}

#[test]
fn document_below_a_drawn_header_moves_on_the_only_plane() {
    let mut stage = assert_moves_on_planes(1, |stage| {
        stage.add(Role::Fixed, (0, 0), (VIEW.0, 20), 0xff00_0000 | GREEN);
    });
    assert_eq!(planes(&stage.world)[..2], [None, OVERLAY]);
    assert_eq!((stage.row_at(0), stage.row_at(19), stage.row_at(20)), (GREEN as i32, GREEN as i32, 270));
    assert_eq!(stage.modes().last(), Some(&(Mode::Overlay, Reason::Policy)));
}

#[test]
fn translucent_thumb_has_a_plane_above_the_document() {
    let stage = assert_moves_on_planes(2, |stage| {
        let (_, thumb) = stage.add(Role::Thumb, (180, 0), (10, 30), 0x8000_0040);
        thumb.set_track(Axes::Vertical, 70);
        stage.window.surface.commit();
        stage.rest();
    });
    assert_eq!(planes(&stage.world)[..2], [OVERLAY, OVERLAY]);
}

#[test]
fn client_is_told_why_its_document_is_drawn() {
    let mut stage = ScrollStage::on_overlays(1);
    let (surface, _) = stage.add(Role::Fixed, (80, 30), (10, 10), 0x8000_0040);
    stage.glide();
    assert_eq!(stage.modes().last(), Some(&(Mode::Composited, Reason::NoPlane)), "its patch has the only plane");
    // No plane shows a turned buffer.
    surface.set_buffer_transform(Transform::_90);
    surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
    surface.commit();
    stage.window.surface.commit();
    stage.scroll_to(0, Behavior::Jump);
    stage.rest();
    assert_eq!(stage.modes().last(), Some(&(Mode::Composited, Reason::Covered)));
    let mut stage = ScrollStage::on_overlays(0);
    stage.add(Role::Fixed, (80, 30), (10, 10), 0xff00_0000 | BLUE);
    assert!(stage.glide().0 > 0);
    assert_eq!(stage.modes().last(), Some(&(Mode::Composited, Reason::NoPlane)));
}
