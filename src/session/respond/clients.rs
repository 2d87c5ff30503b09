//! Answers of the private socket about clients.

use crate::guard::{self, Kind};
use crate::state::State;
use upbeat_record::ipc::message::{ClientUse, EndedClient, ResourceUse};
use upbeat_timing::time::Clock;

/// All connected clients, in the order in which they connected.
pub(super) fn all(state: &State) -> Vec<ClientUse> {
    let clients = guard::all(&state.display_handle).into_iter();
    clients
        .map(|(client, account)| {
            let pid = guard::process_of(&state.display_handle, &client);
            let count = |kind: Kind| (account.used(kind), account.highest_use(kind));
            let uses = Kind::ALL.iter().map(|kind| (*kind, count(*kind))).filter(|(_, (_, most_used))| *most_used > 0);
            let uses = uses.map(|(kind, (used, most_used))| ResourceUse {
                kind: kind.words().to_owned(),
                used,
                most_used,
                bound: account.limit(kind),
            });
            ClientUse {
                pid,
                name: pid.map(guard::program).unwrap_or_default(),
                sandbox: guard::sandbox(&client).map(str::to_owned),
                objects: Kind::ALL.iter().filter(|kind| kind.is_of_objects()).map(|kind| account.used(*kind)).sum(),
                uses: uses.collect(),
            }
        })
        .collect()
}

/// Clients that the compositor has disconnected recently, the latest first.
pub(super) fn ended(state: &State) -> Vec<EndedClient> {
    let now = state.clock.now();
    let notices = state.shell.overlays().notices().remembered().rev();
    notices
        .map(|notice| EndedClient {
            pid: notice.ended.pid,
            name: notice.ended.program.clone(),
            reason: notice.ended.reason.clone(),
            times: notice.times,
            ago: now - notice.at,
        })
        .collect()
}
