//! The requests of a scroll content. They take effect with the view's next commit.

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum, Weak};
use smithay::wayland::compositor;

use super::generated::upbeat_scroll_content_v1::{self as wire, Error, UpbeatScrollContentV1};
use super::generated::upbeat_scroll_view_v1::UpbeatScrollViewV1;
use super::{ViewObject, edit, one_axis};
use crate::bounds::DocumentUnit;
use crate::guard::Handlers;
use crate::state::State;
use crate::surface::scroll::{ScrollContent, ViewContentRole};

/// User data of a content object; `None` if it is inert.
#[derive(Debug)]
pub(super) struct ContentObject(Option<ContentSurfaces>);

#[derive(Debug)]
struct ContentSurfaces {
    view: Weak<WlSurface>,
    object: Weak<UpbeatScrollViewV1>,
    surface: Weak<WlSurface>,
}

impl ContentObject {
    pub fn new(view: &WlSurface, object: &UpbeatScrollViewV1, surface: &WlSurface) -> Self {
        let (view, object, surface) = (view.downgrade(), object.downgrade(), surface.downgrade());
        ContentObject(Some(ContentSurfaces { view, object, surface }))
    }

    /// An object that has never been a content.
    pub const fn inert() -> Self {
        ContentObject(None)
    }

    /// The view's surface and the content's, unless the object is inert.
    fn surfaces(&self) -> Option<(WlSurface, WlSurface)> {
        let ContentSurfaces { view, object, surface } = self.0.as_ref()?;
        let (view, surface, object) = (view.upgrade().ok()?, surface.upgrade().ok()?, object.upgrade().ok()?);
        object.data::<ViewObject>()?.surface()?;
        Some((view, surface))
    }
}

impl Dispatch<UpbeatScrollContentV1, ContentObject, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        object: &UpbeatScrollContentV1,
        request: wire::Request,
        data: &ContentObject,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use wire::Request;
        let Some((view, surface)) = data.surfaces() else { return };
        if matches!(request, Request::Destroy) {
            return end(&view, &surface);
        }
        if compositor::get_parent(&surface).as_ref() != Some(&view) {
            return;
        }
        match request {
            Request::Destroy => {}
            Request::SetPosition { x, y } => {
                let position = (DocumentUnit::from_wire(x), DocumentUnit::from_wire(y));
                set(&view, &surface, |content| content.position = position);
            }
            Request::SetRole { role } => {
                let role = match role {
                    WEnum::Value(wire::Role::Document) => ViewContentRole::Document,
                    WEnum::Value(wire::Role::Fixed) => ViewContentRole::Fixed,
                    WEnum::Value(wire::Role::Thumb) => ViewContentRole::Thumb,
                    WEnum::Unknown(value) => {
                        return object.post_error(Error::InvalidRole, format!("{value} is no role"));
                    }
                };
                set(&view, &surface, |content| content.role = role);
            }
            Request::SetTrack { axis, length } => {
                let Some(axis) = one_axis(axis) else {
                    let what = format!("{:#x} is not the bit of one axis", u32::from(axis));
                    return object.post_error(Error::InvalidAxis, what);
                };
                if length < 0 {
                    return object.post_error(Error::InvalidLength, format!("a track of {length} is negative"));
                }
                set(&view, &surface, |content| content.track = (axis, DocumentUnit::from_wire(length)));
            }
        }
    }

    fn destroyed(_state: &mut State, _client: ClientId, _object: &UpbeatScrollContentV1, data: &ContentObject) {
        if let Some((view, surface)) = data.surfaces() {
            end(&view, &surface);
        }
    }
}

fn set(view: &WlSurface, surface: &WlSurface, change: impl FnOnce(&mut ScrollContent)) {
    edit(view, |view| {
        if let Some(content) = view.content_mut(surface) {
            change(content);
        }
    });
}

/// Makes `surface` an ordinary subsurface from the view's next commit on.
fn end(view: &WlSurface, surface: &WlSurface) {
    edit(view, |view| view.contents.retain(|content| content.surface != *surface));
}
