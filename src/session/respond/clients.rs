//! Answers about clients.

use std::fs;

use crate::guard::{self, Kind};
use crate::ipc::clients::{ClientUse, Use};
use crate::state::State;

/// Everybody who is connected, who came first first.
pub(super) fn all(state: &State) -> Vec<ClientUse> {
    let clients = guard::all(&state.display_handle).into_iter();
    clients
        .map(|(client, account)| {
            let pid = client.get_credentials(&state.display_handle).ok().map(|credentials| credentials.pid);
            let pid = pid.and_then(|pid| u32::try_from(pid).ok());
            let count = |kind: Kind| (account.used(kind), account.most_used(kind));
            let uses = Kind::ALL.iter().map(|kind| (*kind, count(*kind))).filter(|(_, (_, most_used))| *most_used > 0);
            let uses = uses.map(|(kind, (used, most_used))| Use {
                kind: kind.words().to_owned(),
                used,
                most_used,
                bound: account.most(kind),
            });
            ClientUse {
                pid,
                name: pid.map(program).unwrap_or_default(),
                sandbox: guard::sandbox(&client).map(str::to_owned),
                objects: Kind::ALL.iter().filter(|kind| kind.is_of_objects()).map(|kind| account.used(*kind)).sum(),
                uses: uses.collect(),
            }
        })
        .collect()
}

/// What the system calls the program of a process; empty where it does not tell.
fn program(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}
