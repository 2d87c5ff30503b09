//! A view that the compositor scrolls (`upbeat_scroll_v1`).

use std::sync::Arc;

use wayland_client::Proxy as _;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_surface::WlSurface;

use super::content::ViewContent;
use super::listener::SharedScrollState;
use super::{ContentRole, DocumentRegion, ScrollError, ScrollOptions};
use crate::bind_global::{IgnoreEvents, bind};
use crate::protocol::scroll::upbeat_scroll_content_v1::{Role, UpbeatScrollContentV1};
use crate::protocol::scroll::upbeat_scroll_manager_v1::{self as manager, UpbeatScrollManagerV1};
use crate::protocol::scroll::upbeat_scroll_view_v1::{
    self as wire, Axes, Behavior, Inputs, Options, UpbeatScrollViewV1,
};

/// The version of the protocol that added stretching at the ends of a view.
const STRETCHED_SINCE: u32 = 2;

/// The protocol objects of a view and its contents.
#[derive(Debug)]
pub(super) struct CompositorView {
    view: UpbeatScrollViewV1,
    contents: Vec<UpbeatScrollContentV1>,
}

impl CompositorView {
    /// `None` if the compositor does not have the protocol.
    pub fn new(globals: &GlobalList, surface: &WlSurface, shared: &SharedScrollState) -> Option<Self> {
        let manager: UpbeatScrollManagerV1 = bind(globals, STRETCHED_SINCE, Arc::new(IgnoreEvents))?;
        let request = manager::Request::GetView { surface: surface.clone() };
        let view = manager.send_constructor(request, shared.listener()).ok();
        manager.destroy();
        Some(CompositorView { view: view?, contents: Vec::new() })
    }

    pub fn set_options(&self, options: &ScrollOptions) {
        let DocumentRegion { x, y } = options.document;
        let wire = |value: i64| value.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        self.view.set_document(wire(x.start), wire(y.start), wire(x.length), wire(y.length));
        let mut axes = Axes::empty();
        axes.set(Axes::Horizontal, options.horizontal);
        axes.set(Axes::Vertical, options.vertical);
        self.view.set_axes(axes);
        let mut inputs = Inputs::empty();
        inputs.set(Inputs::Drag, options.drag);
        inputs.set(Inputs::Wheel, options.wheel);
        inputs.set(Inputs::Finger, options.finger);
        self.view.set_inputs(inputs);
        self.view.set_physics(options.deceleration, options.rubber_band);
        let bytes = |snaps: &[i32]| snaps.iter().flat_map(|at| at.to_ne_bytes()).collect();
        self.view.set_snaps(Axes::Horizontal, bytes(&options.snaps_x));
        self.view.set_snaps(Axes::Vertical, bytes(&options.snaps_y));
        let mut wishes = Options::empty();
        wishes.set(Options::Unpredicted, !options.predicts);
        wishes.set(Options::Stretched, options.stretches && self.view.version() >= STRETCHED_SINCE);
        self.view.set_options(wishes);
    }

    pub fn add(&mut self, part: &ViewContent) -> Result<(), ScrollError> {
        let request = wire::Request::GetContent { surface: part.surface.clone() };
        let content = self.view.send_constructor(request, Arc::new(IgnoreEvents)).map_err(|_| ScrollError::Gone)?;
        self.contents.push(content);
        Ok(())
    }

    /// Sets the position and the role of a content, from the view's next commit on.
    pub fn place(&self, index: usize, part: &ViewContent) {
        let (Some(content), Some(picture)) = (self.contents.get(index), &part.picture) else { return };
        content.set_position(picture.region.x.start as i32, picture.region.y.start as i32);
        let (role, track) = match part.role {
            ContentRole::Document => (Role::Document, None),
            ContentRole::Fixed => (Role::Fixed, None),
            ContentRole::ThumbAcross { length } => (Role::Thumb, Some((Axes::Horizontal, length))),
            ContentRole::ThumbDown { length } => (Role::Thumb, Some((Axes::Vertical, length))),
        };
        content.set_role(role);
        if let Some((axis, length)) = track {
            content.set_track(axis, length);
        }
    }

    pub fn scroll_to(&self, (x, y): (i32, i32), smoothly: bool, serial: u32) {
        self.view.scroll_to(x, y, behavior(smoothly), serial);
    }

    pub fn scroll_by(&self, (x, y): (i32, i32), smoothly: bool, serial: u32) {
        self.view.scroll_by(x, y, behavior(smoothly), serial);
    }

    pub fn stop(&self) {
        self.view.stop();
    }

    pub fn report_offsets(&self, armed: bool) {
        self.view.report_offsets(armed.into());
    }
}

fn behavior(smoothly: bool) -> Behavior {
    if smoothly { Behavior::Glide } else { Behavior::Jump }
}

impl Drop for CompositorView {
    fn drop(&mut self) {
        self.contents.iter().for_each(UpbeatScrollContentV1::destroy);
        self.view.destroy();
    }
}
