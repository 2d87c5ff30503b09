//! What a view showed last, kept on to while a commit leaves it bare: content that is taken away, shrinks or goes elsewhere stays
//! where it was until something covers it.

use std::sync::Arc;

use smithay::backend::renderer::element::Id;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor;

use super::state::{Content, Role, View};
use crate::guard;
use crate::surface::content::SurfaceContent;

/// One content as it was.
#[derive(Debug)]
pub struct KeptContent {
    /// What it showed.
    pub content: SurfaceContent,
    /// Where in the document.
    pub said: Content,
    /// Its name for damage tracking: the surface goes on under its own.
    pub id: Id,
    /// Its name for those who keep what they made of it.
    pub name: Arc<()>,
}

/// The contents of a view when all that it shows was there last, topmost first.
#[derive(Debug, Default)]
pub(super) struct Kept {
    contents: Vec<KeptContent>,
    /// They are seen.
    seen: bool,
}

impl Kept {
    /// All is there: that is what is kept from now on. Returns whether something else was seen instead.
    pub fn renew(&mut self, view: &WlSurface, said: &View) -> bool {
        let children = compositor::get_children(view);
        self.contents.clear();
        self.contents.extend(children.iter().rev().filter_map(|surface| {
            let said = said.content(surface).filter(|said| said.role == Role::Document)?;
            let content = guard::with_states(surface, |states| SurfaceContent::of(surface, states))?;
            Some(KeptContent { content, said: said.clone(), id: Id::new(), name: Arc::default() })
        }));
        std::mem::take(&mut self.seen)
    }

    /// Something is missing: what was there is seen instead. Returns whether it was not until now.
    pub fn show(&mut self) -> bool {
        !self.contents.is_empty() && !std::mem::replace(&mut self.seen, true)
    }

    /// What is seen.
    pub fn seen(&self) -> &[KeptContent] {
        if self.seen { &self.contents } else { &[] }
    }
}
