//! `wp_cursor_shape_manager_v1` 2: cursors by name. They reach the seat like any other cursor
//! ([`SeatHandler::cursor_image`](smithay::input::SeatHandler::cursor_image)).
//!
//! Smithay handles the shapes of the pointer. The shapes of tablet tools are handled here, because the objects of tools
//! are our own ([`tablet`](super::tablet)).

use super::dispatch_guard::delegate;
use crate::guard::Handlers;
use crate::input;
use crate::state::State;
use smithay::input::pointer::{CursorIcon, CursorImageStatus};
use smithay::reexports::wayland_protocols::wp::cursor_shape::v1::server::wp_cursor_shape_device_v1::{
    self, Shape, WpCursorShapeDeviceV1,
};
use smithay::reexports::wayland_protocols::wp::cursor_shape::v1::server::wp_cursor_shape_manager_v1::{
    self, WpCursorShapeManagerV1,
};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_tool_v2::ZwpTabletToolV2;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum, Weak};
use smithay::wayland::cursor_shape::{CursorShapeDeviceUserData, CursorShapeManagerState};
use smithay::wayland::tablet_manager::TabletSeatHandler;

delegate!(global WpCursorShapeManagerV1: () => CursorShapeManagerState);
delegate!(WpCursorShapeDeviceV1: CursorShapeDeviceUserData<State> => CursorShapeManagerState);

/// Smithay requires this trait; its tablet tools are not used.
impl TabletSeatHandler for State {}

/// The tool whose cursor a device sets.
#[derive(Debug)]
pub struct ToolCursor(Weak<ZwpTabletToolV2>);

impl Dispatch<WpCursorShapeManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        manager: &WpCursorShapeManagerV1,
        request: wp_cursor_shape_manager_v1::Request,
        (): &(),
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let wp_cursor_shape_manager_v1::Request::GetTabletToolV2 { cursor_shape_device, tablet_tool } = request {
            init.init(cursor_shape_device, ToolCursor(tablet_tool.downgrade()));
            return;
        }
        <CursorShapeManagerState as Dispatch<WpCursorShapeManagerV1, (), State>>::request(
            state,
            client,
            manager,
            request,
            &(),
            display,
            init,
        );
    }
}

impl Dispatch<WpCursorShapeDeviceV1, ToolCursor, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        device: &WpCursorShapeDeviceV1,
        request: wp_cursor_shape_device_v1::Request,
        ToolCursor(tool): &ToolCursor,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let wp_cursor_shape_device_v1::Request::SetShape { shape, .. } = request else { return };
        let WEnum::Value(shape) = shape else {
            return device.post_error(wp_cursor_shape_device_v1::Error::InvalidShape, "there is no such shape");
        };
        if let Ok(tool) = tool.upgrade() {
            input::tablet::set_cursor(state, &tool, CursorImageStatus::Named(icon(shape)));
        }
    }
}

fn icon(shape: Shape) -> CursorIcon {
    match shape {
        Shape::ContextMenu => CursorIcon::ContextMenu,
        Shape::Help => CursorIcon::Help,
        Shape::Pointer => CursorIcon::Pointer,
        Shape::Progress => CursorIcon::Progress,
        Shape::Wait => CursorIcon::Wait,
        Shape::Cell => CursorIcon::Cell,
        Shape::Crosshair => CursorIcon::Crosshair,
        Shape::Text => CursorIcon::Text,
        Shape::VerticalText => CursorIcon::VerticalText,
        Shape::Alias => CursorIcon::Alias,
        Shape::Copy => CursorIcon::Copy,
        Shape::Move => CursorIcon::Move,
        Shape::NoDrop => CursorIcon::NoDrop,
        Shape::NotAllowed => CursorIcon::NotAllowed,
        Shape::Grab => CursorIcon::Grab,
        Shape::Grabbing => CursorIcon::Grabbing,
        Shape::EResize => CursorIcon::EResize,
        Shape::NResize => CursorIcon::NResize,
        Shape::NeResize => CursorIcon::NeResize,
        Shape::NwResize => CursorIcon::NwResize,
        Shape::SResize => CursorIcon::SResize,
        Shape::SeResize => CursorIcon::SeResize,
        Shape::SwResize => CursorIcon::SwResize,
        Shape::WResize => CursorIcon::WResize,
        Shape::EwResize => CursorIcon::EwResize,
        Shape::NsResize => CursorIcon::NsResize,
        Shape::NeswResize => CursorIcon::NeswResize,
        Shape::NwseResize => CursorIcon::NwseResize,
        Shape::ColResize => CursorIcon::ColResize,
        Shape::RowResize => CursorIcon::RowResize,
        Shape::AllScroll => CursorIcon::AllScroll,
        Shape::ZoomIn => CursorIcon::ZoomIn,
        Shape::ZoomOut => CursorIcon::ZoomOut,
        Shape::DndAsk => CursorIcon::DndAsk,
        Shape::AllResize => CursorIcon::AllResize,
        _ => CursorIcon::Default,
    }
}
