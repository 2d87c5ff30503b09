//! The cursor: a client's surface, a named shape, or hidden.

mod arrow;
mod theme;

use std::sync::{Mutex, PoisonError};

use calloop::ping::{Ping, make_ping};
use smithay::input::pointer::{CursorIcon, CursorImageAttributes, CursorImageStatus, CursorImageSurfaceData};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::SurfaceAttributes;

use crate::guard;
use crate::output;
pub use crate::scene::{CursorImage, CursorView};
use crate::state::State;
use theme::CursorShapeTheme;
pub use theme::read_sizes;

#[derive(Debug)]
pub struct SeatCursor {
    /// The cursor that the client with the pointer set.
    status: CursorImageStatus,
    /// A shape that the compositor shows instead.
    override_icon: Option<CursorIcon>,
    /// Hidden, because the last input was touch: the cursor would be in the way.
    is_away: bool,
    theme: CursorShapeTheme,
}

impl Default for SeatCursor {
    fn default() -> Self {
        SeatCursor {
            status: CursorImageStatus::default_named(),
            override_icon: None,
            is_away: false,
            theme: CursorShapeTheme::default(),
        }
    }
}

impl SeatCursor {
    /// The image for an output of the given scale.
    pub fn view(&self, scale: f64) -> CursorView {
        if self.is_away {
            return CursorView::Hidden;
        }
        if let Some(icon) = self.override_icon {
            return CursorView::Image(self.theme.image(icon, scale));
        }
        match &self.status {
            CursorImageStatus::Hidden => CursorView::Hidden,
            CursorImageStatus::Surface(surface) if surface.is_alive() => {
                CursorView::Surface(surface.clone(), hotspot(surface))
            }
            CursorImageStatus::Surface(_) => CursorView::Image(self.theme.image(CursorIcon::Default, scale)),
            CursorImageStatus::Named(icon) => CursorView::Image(self.theme.image(*icon, scale)),
        }
    }

    /// The client's surface, if it is shown.
    pub fn surface(&self) -> Option<&WlSurface> {
        match &self.status {
            CursorImageStatus::Surface(surface) if self.override_icon.is_none() && !self.is_away => Some(surface),
            _ => None,
        }
    }

    pub(crate) fn set_status(&mut self, status: CursorImageStatus) {
        self.status = status;
    }

    pub(super) fn set_override(&mut self, icon: Option<CursorIcon>) {
        self.override_icon = icon;
    }

    fn is_surface(&self, surface: &WlSurface) -> bool {
        matches!(&self.status, CursorImageStatus::Surface(cursor) if cursor == surface)
    }
}

/// Switches to another cursor theme. A shape is read on a separate thread; until it is loaded, and for shapes that the
/// theme lacks, a built-in arrow is drawn. A loaded shape requests a new frame.
pub fn load_theme(state: &mut State, cursor: &crate::config::CursorOptions) {
    let arrived = shape_loaded_ping(state)
        .inspect_err(|error| tracing::warn!(%error, "cursor shapes appear only with the next frame"));
    let arrived = arrived.ok();
    state.input.cursor.theme = if *cursor == crate::config::CursorOptions::default() {
        CursorShapeTheme::load_system(arrived)
    } else {
        CursorShapeTheme::load(cursor.theme.clone(), u32::from(cursor.size), arrived)
    };
    output::cursor_changed(state);
}

/// Makes the ping that a theme sends when a shape was read. The event source ends with the theme.
fn shape_loaded_ping(state: &State) -> anyhow::Result<Ping> {
    let (arrived, heard) = make_ping()?;
    let inserted = state.loop_handle.insert_source(heard, |(), (), state| output::cursor_changed(state));
    inserted.map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(arrived)
}

/// Hides the cursor while fingers are used, and shows it again for the pointer.
pub(super) fn set_hidden(state: &mut State, is_away: bool) {
    if std::mem::replace(&mut state.input.cursor.is_away, is_away) != is_away {
        output::cursor_changed(state);
    }
}

fn hotspot(surface: &WlSurface) -> Point<i32, Logical> {
    guard::with_states(surface, |states| {
        let data = states.data_map.get::<CursorImageSurfaceData>();
        data.map(|data| data.lock().unwrap_or_else(PoisonError::into_inner).hotspot).unwrap_or_default()
    })
}

/// An update was applied to a surface. If it is the cursor, an offset of the buffer moves the hotspot the other way.
pub(super) fn applied(state: &mut State, surface: &WlSurface) {
    if !state.input.cursor.is_surface(surface) {
        return;
    }
    guard::with_states(surface, |states| {
        let delta = states.cached_state.get::<SurfaceAttributes>().current().buffer_delta.take();
        if let (Some(delta), Some(data)) = (delta, states.data_map.get::<Mutex<CursorImageAttributes>>()) {
            let mut attributes = data.lock().unwrap_or_else(PoisonError::into_inner);
            attributes.hotspot.x = attributes.hotspot.x.saturating_sub(delta.x);
            attributes.hotspot.y = attributes.hotspot.y.saturating_sub(delta.y);
        }
    });
    output::cursor_changed(state);
}

/// A surface was destroyed: it is not the cursor any more.
pub(super) fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    if state.input.cursor.is_surface(surface) {
        state.input.cursor.set_status(CursorImageStatus::default_named());
        output::cursor_changed(state);
    }
}
