//! Shares a client's limit of rendered pixels among all its scroll views.

use std::sync::{Arc, Weak};

use ahash::HashMap;
use smithay::reexports::wayland_server::backend::ClientId;

use upbeat_timing::scroll::SupplySettings;

/// The limits of all clients.
#[derive(Debug, Default)]
pub struct ScrollBudgets {
    /// The limit for all views of one client together.
    pub(in crate::surface) whole: SupplySettings,
    clients: HashMap<ClientId, Weak<()>>,
}

impl ScrollBudgets {
    /// Adds a view of `client`.
    pub fn add_view(&mut self, client: ClientId) -> ScrollBudgetShare {
        if let Some(others) = self.clients.get(&client).and_then(Weak::upgrade) {
            return ScrollBudgetShare(others);
        }
        // Clients whose last view is gone are forgotten only here, when some client makes its first view.
        self.clients.retain(|_, views| views.strong_count() > 0);
        let first = Arc::new(());
        self.clients.insert(client, Arc::downgrade(&first));
        ScrollBudgetShare(first)
    }
}

/// The share of one view. Dropping it gives it to the client's other views.
#[derive(Debug)]
pub struct ScrollBudgetShare(Arc<()>);

impl ScrollBudgetShare {
    /// The part of the limit `whole` that this view may use.
    pub(super) fn of(&self, whole: SupplySettings) -> SupplySettings {
        let views = i64::try_from(Arc::strong_count(&self.0)).unwrap_or(i64::MAX);
        SupplySettings { most_pixels: whole.most_pixels / views.max(1), ..whole }
    }
}
