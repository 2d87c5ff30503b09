//! `ext_output_image_capture_source_manager_v1` 1 and `ext_foreign_toplevel_image_capture_source_manager_v1` 1: capture
//! sources, which are outputs, or windows named by a toplevel handle (`toplevels/ext`).
//!
//! A source may be created for an output or window that is gone; each session of it is stopped at once.

use smithay::output::Output;
use smithay::reexports::wayland_protocols::ext::image_capture_source::v1::server::ext_foreign_toplevel_image_capture_source_manager_v1::{
    self, ExtForeignToplevelImageCaptureSourceManagerV1,
};
use smithay::reexports::wayland_protocols::ext::image_capture_source::v1::server::ext_image_capture_source_v1::{
    self, ExtImageCaptureSourceV1,
};
use smithay::reexports::wayland_protocols::ext::image_capture_source::v1::server::ext_output_image_capture_source_manager_v1::{
    self, ExtOutputImageCaptureSourceManagerV1,
};
use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};

use crate::guard::Handlers;
use crate::output::capture::CursorArea;
use crate::protocol::privileges;
use crate::protocol::toplevels::ext::window_of;
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct ImageSources {
    _outputs: GlobalId,
    _toplevels: GlobalId,
}

impl ImageSources {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        ImageSources {
            _outputs: display.create_global::<State, ExtOutputImageCaptureSourceManagerV1, ()>(VERSION, ()),
            _toplevels: display.create_global::<State, ExtForeignToplevelImageCaptureSourceManagerV1, ()>(VERSION, ()),
        }
    }
}

/// The captured output or window; `None` if it was gone when the source was created.
#[derive(Debug)]
pub struct ImageCaptureSource(Option<CursorArea>);

impl ImageCaptureSource {
    pub(super) fn area(&self) -> Option<CursorArea> {
        self.0.clone()
    }
}

macro_rules! manager {
    ($interface:ident, $module:ident, |$state:ident, $request:ident| $source:expr) => {
        impl GlobalDispatch<$interface, (), State> for Handlers {
            fn bind(
                _state: &mut State,
                _display: &DisplayHandle,
                _client: &Client,
                manager: New<$interface>,
                _data: &(),
                init: &mut DataInit<'_, State>,
            ) {
                init.init(manager, ());
            }

            fn can_view(client: Client, _data: &()) -> bool {
                privileges::may_bind::<$interface>(&client)
            }
        }

        impl Dispatch<$interface, (), State> for Handlers {
            fn request(
                $state: &mut State,
                _client: &Client,
                _manager: &$interface,
                $request: $module::Request,
                _data: &(),
                _display: &DisplayHandle,
                init: &mut DataInit<'_, State>,
            ) {
                let made: Option<(New<ExtImageCaptureSourceV1>, Option<CursorArea>)> = $source;
                if let Some((source, area)) = made {
                    init.init(source, ImageCaptureSource(area));
                }
            }
        }
    };
}

manager!(ExtOutputImageCaptureSourceManagerV1, ext_output_image_capture_source_manager_v1, |state, request| {
    use ext_output_image_capture_source_manager_v1::Request;
    let Request::CreateSource { source, output } = request else { return };
    let known = Output::from_resource(&output).filter(|output| state.outputs.iter().any(|known| known == output));
    Some((source, known.map(CursorArea::Output)))
});

manager!(
    ExtForeignToplevelImageCaptureSourceManagerV1,
    ext_foreign_toplevel_image_capture_source_manager_v1,
    |_state, request| {
        use ext_foreign_toplevel_image_capture_source_manager_v1::Request;
        let Request::CreateSource { source, toplevel_handle } = request else { return };
        Some((source, window_of(&toplevel_handle).map(CursorArea::Window)))
    }
);

impl Dispatch<ExtImageCaptureSourceV1, ImageCaptureSource, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _source: &ExtImageCaptureSourceV1,
        _request: ext_image_capture_source_v1::Request,
        _data: &ImageCaptureSource,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }
}
