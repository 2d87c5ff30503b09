//! The last complete contents of a view, kept while a commit leaves a part of the view uncovered: content that is
//! removed, shrinks or moves stays visible where it was until other content covers that place.

use std::sync::Arc;

use smithay::backend::renderer::element::Id;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor;

use super::state::{ScrollContent, ViewContentRole, ViewProperties};
use crate::guard;
use crate::surface::content::SurfaceContent;

/// One content as it was.
#[derive(Debug)]
pub struct KeptContent {
    pub content: SurfaceContent,
    /// Its place in the document.
    pub placement: ScrollContent,
    /// The element id for damage tracking; not the surface's id, which the surface still uses.
    pub id: Id,
    /// The cache key for renderers that keep a texture of it.
    pub texture_key: Arc<()>,
}

/// The contents of a view when it was last covered completely, topmost first.
#[derive(Debug, Default)]
pub(super) struct KeptContents {
    contents: Vec<KeptContent>,
    /// They are shown now.
    seen: bool,
}

impl KeptContents {
    /// The view is covered: keeps its contents from now on. Returns whether older contents were shown until now.
    pub fn renew(&mut self, view: &WlSurface, properties: &ViewProperties) -> bool {
        let children = compositor::get_children(view);
        self.contents.clear();
        self.contents.extend(children.iter().rev().filter_map(|surface| {
            let placement = properties.content(surface).filter(|content| content.role == ViewContentRole::Document)?;
            let content = guard::with_states(surface, |states| SurfaceContent::of(surface, states))?;
            Some(KeptContent { content, placement: placement.clone(), id: Id::new(), texture_key: Arc::default() })
        }));
        std::mem::take(&mut self.seen)
    }

    /// A part is missing: shows the kept contents. Returns whether that is new.
    pub fn show(&mut self) -> bool {
        !self.contents.is_empty() && !std::mem::replace(&mut self.seen, true)
    }

    /// The kept contents, while they are shown.
    pub fn seen(&self) -> &[KeptContent] {
        if self.seen { &self.contents } else { &[] }
    }
}
