//! What a scene is made of: windows and their popups, bottom to top, where they are now.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle};

use super::{Shell, WindowId};
use crate::output;

/// A window as it is to be drawn, with everything that belongs to it. Coordinates are global and logical.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderWindow {
    /// Which window.
    pub id: WindowId,
    /// Its root surface; subsurfaces hang on it.
    pub surface: WlSurface,
    /// Where the root surface's origin goes when the window is not stretched.
    pub location: Point<i32, Logical>,
    /// The window geometry: the visible part without shadows, in surface coordinates.
    pub geometry: Rectangle<i32, Logical>,
    /// While an interactive resize is ahead of the client: the rectangle that `geometry` is stretched into. A point `p`
    /// of the root surface goes to `to.loc + (p − geometry.loc) · to.size / geometry.size`.
    pub stretch: Option<Rectangle<i32, Logical>>,
    /// Its popups, bottom to top: surface and where its origin goes. They are not stretched.
    pub popups: Vec<(WlSurface, Point<i32, Logical>)>,
    /// It has the keyboard's attention.
    pub focused: bool,
    /// A button or finger is down on it.
    pub pressed: bool,
    /// It covers an output by itself: nothing below it needs to be drawn there, black where it does not reach.
    pub fullscreen: bool,
}

impl Shell {
    /// The windows that reach into `output`, bottom to top. Windows whose subsurfaces or popups alone reach into it are
    /// included too: those may lie anywhere.
    pub fn render_order(&self, output: &Output) -> impl Iterator<Item = RenderWindow> {
        let area = output::geometry(output);
        self.windows().filter_map(move |window| {
            let popups: Vec<_> =
                self.popups_of(window.surface()).map(|(popup, location)| (popup.surface().clone(), location)).collect();
            // A fullscreen window belongs to its own output only, even if its content is larger.
            if let super::Arrangement::Fullscreen { output: own, .. } = &window.applied
                && own != output
            {
                return None;
            }
            let covers = smithay::desktop::utils::bbox_from_surface_tree(window.surface(), window.origin());
            if !covers.overlaps(area) && !window.rect().overlaps(area) && popups.is_empty() {
                return None;
            }
            Some(RenderWindow {
                id: window.id,
                surface: window.surface().clone(),
                location: window.origin(),
                geometry: window.geometry(),
                stretch: window.is_stretched().then(|| window.rect()),
                popups,
                focused: self.focused == Some(window.id),
                pressed: self.pressed == Some(window.id),
                fullscreen: window.is_fullscreen(),
            })
        })
    }
}
