//! The clients that an output paces, found by their number and by their pacer's: a session may have a thousand.

use ahash::HashMap;

use crate::output::clients::pacing::ClientPacing;
use upbeat_timing::conductor::PacerId;
use upbeat_timing::id::ClientId;

/// The clients of one output.
#[derive(Debug, Default)]
pub struct PacedClients {
    pacings: HashMap<ClientId, ClientPacing>,
    /// Whose pacer it is.
    owners: HashMap<PacerId, ClientId>,
}

impl PacedClients {
    /// How `client` is paced here, if it is.
    pub fn get(&self, client: &ClientId) -> Option<&ClientPacing> {
        self.pacings.get(client)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, client: &ClientId) -> Option<&mut ClientPacing> {
        self.pacings.get_mut(client)
    }

    /// Whose pacer this is, and how that client is paced.
    pub fn of_pacer(&mut self, pacer: PacerId) -> Option<(ClientId, &mut ClientPacing)> {
        let client = *self.owners.get(&pacer)?;
        Some((client, self.pacings.get_mut(&client)?))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&ClientId, &ClientPacing)> {
        self.pacings.iter()
    }

    /// `client` is paced from now on.
    pub fn insert(&mut self, client: ClientId, pacing: ClientPacing) {
        self.owners.insert(pacing.pacer, client);
        if let Some(before) = self.pacings.insert(client, pacing) {
            self.owners.remove(&before.pacer);
        }
    }

    /// It is not any more.
    pub fn remove(&mut self, client: &ClientId) -> Option<ClientPacing> {
        let pacing = self.pacings.remove(client)?;
        self.owners.remove(&pacing.pacer);
        Some(pacing)
    }
}
