//! The clients that an output paces, indexed by client and by pacer: a session may have a thousand.

use ahash::HashMap;

use crate::output::clients::pacing::ClientPacing;
use upbeat_timing::conductor::PacerId;
use upbeat_timing::id::ClientId;

/// The clients of one output.
#[derive(Debug, Default)]
pub struct PacedClients {
    pacings: HashMap<ClientId, ClientPacing>,
    /// The client of each pacer.
    owners: HashMap<PacerId, ClientId>,
}

impl PacedClients {
    /// The pacing of `client` on this output; `None` if another output paces it.
    pub fn get(&self, client: &ClientId) -> Option<&ClientPacing> {
        self.pacings.get(client)
    }

    pub fn get_mut(&mut self, client: &ClientId) -> Option<&mut ClientPacing> {
        self.pacings.get_mut(client)
    }

    /// The client of a pacer, and its pacing.
    pub fn of_pacer(&mut self, pacer: PacerId) -> Option<(ClientId, &mut ClientPacing)> {
        let client = *self.owners.get(&pacer)?;
        Some((client, self.pacings.get_mut(&client)?))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&ClientId, &ClientPacing)> {
        self.pacings.iter()
    }

    pub fn insert(&mut self, client: ClientId, pacing: ClientPacing) {
        self.owners.insert(pacing.pacer, client);
        if let Some(before) = self.pacings.insert(client, pacing) {
            self.owners.remove(&before.pacer);
        }
    }

    pub fn remove(&mut self, client: &ClientId) -> Option<ClientPacing> {
        let pacing = self.pacings.remove(client)?;
        self.owners.remove(&pacing.pacer);
        Some(pacing)
    }
}
