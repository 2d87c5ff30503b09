//! How much of their documents the views of one client may have rendered: what is allowed is shared by all of them.

use std::sync::{Arc, Weak};

use ahash::HashMap;
use smithay::reexports::wayland_server::backend::ClientId;

use upbeat_timing::scroll::SupplySettings;

/// What each client has for its views.
#[derive(Debug, Default)]
pub struct Shares {
    /// What all views of one client may have together.
    pub(in crate::surface) whole: SupplySettings,
    clients: HashMap<ClientId, Weak<()>>,
}

impl Shares {
    /// One more view of `client`.
    pub fn join(&mut self, client: ClientId) -> Share {
        if let Some(others) = self.clients.get(&client).and_then(Weak::upgrade) {
            return Share(others);
        }
        // Whose last view is gone is forgotten when somebody has a first.
        self.clients.retain(|_, views| views.strong_count() > 0);
        let first = Arc::new(());
        self.clients.insert(client, Arc::downgrade(&first));
        Share(first)
    }
}

/// The part of one view. It is the others' when this is dropped.
#[derive(Debug)]
pub struct Share(Arc<()>);

impl Share {
    /// What this view may have of `whole`.
    pub(super) fn of(&self, whole: SupplySettings) -> SupplySettings {
        let views = i64::try_from(Arc::strong_count(&self.0)).unwrap_or(i64::MAX);
        SupplySettings { most_pixels: whole.most_pixels / views.max(1), ..whole }
    }
}
