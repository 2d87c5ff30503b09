//! Stand-ins for content that is missing at the ends of a view: the last row or column of the content next to it,
//! repeated.

use smithay::backend::renderer::element::Id;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::geometry::documents;
use super::state::{ScrollContent, ViewProperties};
use crate::surface::content::SurfaceContent;
use upbeat_timing::scroll::DocumentRegion;

/// One content whose ends may be shown stretched.
#[derive(Debug)]
pub struct StretchedContent {
    pub content: SurfaceContent,
    /// Its place in the document.
    pub placement: ScrollContent,
    /// The element ids of its beginning and its end, for damage tracking.
    pub ends: [Id; 2],
}

/// All document contents of a view, while a part is missing.
#[derive(Debug, Default)]
pub(super) struct StretchedContents {
    contents: Vec<StretchedContent>,
    /// The view moves up and down, not left and right.
    pub is_vertical: bool,
    /// The extent of its document: outside it nothing is missing.
    pub document: DocumentRegion,
}

impl StretchedContents {
    /// Takes the contents of `view` again, or none if no part is missing. Contents that were stretched before keep
    /// their element ids.
    pub fn renew(&mut self, surface: &WlSurface, view: Option<&ViewProperties>) {
        let before = std::mem::take(&mut self.contents);
        let Some(view) = view else { return };
        (self.is_vertical, self.document) = (view.axes.1, view.document);
        self.contents.extend(documents(surface, view).map(|(content, placement)| {
            let known = before.iter().find(|known| known.content.surface == content.surface);
            let ends = known.map_or_else(|| [Id::new(), Id::new()], |known| known.ends.clone());
            StretchedContent { content, placement: placement.clone(), ends }
        }));
    }

    pub fn contents(&self) -> &[StretchedContent] {
        &self.contents
    }
}
