//! `ext_workspace_manager_v1` 1: bars list workspaces and switch them.
//!
//! Each output is a group with its nine workspaces. An empty workspace that is not shown has the state `hidden`, which
//! asks bars to leave it out. Clients can activate workspaces, and nothing else: a workspace is left by activating
//! another, and none is created or removed. Changes are sent once in a turn of the loop ([`refresh`](super::refresh)).

use smithay::output::Output;
use smithay::reexports::wayland_protocols::ext::workspace::v1::server::{
    ext_workspace_group_handle_v1::{self, ExtWorkspaceGroupHandleV1, GroupCapabilities},
    ext_workspace_handle_v1::{self, ExtWorkspaceHandleV1, State as WorkspaceFlags, WorkspaceCapabilities},
    ext_workspace_manager_v1::{self, ExtWorkspaceManagerV1},
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use crate::guard::{self, Handlers};
use crate::revision::Revision;
use crate::shell::workspace_actions;
use crate::shell::workspaces::{OutputWorkspaces, ScreenId, WorkspaceId, WorkspaceNumber};
use crate::state::State;

const VERSION: u32 = 1;

/// The global, and the managers that clients have bound.
#[derive(Debug)]
pub struct ExtWorkspace {
    _global: GlobalId,
    managers: Vec<WorkspaceManager>,
    /// The state that was sent last.
    sent: Vec<OutputWorkspaces>,
    /// Revision of the workspaces at the last refresh.
    last_changes: Revision,
}

#[derive(Debug)]
struct WorkspaceManager {
    object: ExtWorkspaceManagerV1,
    groups: Vec<WorkspaceGroupObject>,
    /// Workspaces to activate with the client's next commit.
    to_activate: Vec<WorkspaceId>,
    /// The last changes were not sent, because the client reads too slowly.
    is_behind: bool,
}

#[derive(Debug)]
struct WorkspaceGroupObject {
    screen: ScreenId,
    object: ExtWorkspaceGroupHandleV1,
    /// In order of their numbers.
    workspaces: Vec<(ExtWorkspaceHandleV1, WorkspaceFlags)>,
}

/// User data of a workspace handle.
#[derive(Debug)]
pub struct WorkspaceHandle {
    place: WorkspaceId,
    manager: ExtWorkspaceManagerV1,
}

impl ExtWorkspace {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ExtWorkspaceManagerV1, ()>(VERSION, ());
        ExtWorkspace { _global: global, managers: Vec::new(), sent: Vec::new(), last_changes: Revision::default() }
    }
}

/// Sends all changes since the last call.
pub(super) fn refresh(state: &mut State) {
    let State { protocols, shell, outputs, display_handle, .. } = state;
    let listeners = &mut protocols.ext_workspace;
    let changes = shell.workspaces().changes();
    let are_some_behind = listeners.managers.iter().any(|manager| manager.is_behind);
    let is_same = std::mem::replace(&mut listeners.last_changes, changes) == changes;
    if listeners.managers.is_empty() || is_same && !are_some_behind {
        return;
    }
    let rows = shell.workspaces().rows();
    let is_other = rows != listeners.sent;
    for manager in &mut listeners.managers {
        if !is_other && !manager.is_behind {
            continue;
        }
        manager.is_behind = !guard::may_send(&manager.object);
        if manager.is_behind {
            continue;
        }
        manager.send_changes(&rows, |screen| named(outputs.iter(), shell.workspaces().name(screen)), display_handle);
    }
    listeners.sent = rows;
}

fn named<'a>(mut outputs: impl Iterator<Item = &'a Output>, name: Option<&str>) -> Option<Output> {
    let name = name?;
    outputs.find(|output| output.name() == name).cloned()
}

/// Sends `output_enter` for a `wl_output` that a client has just bound.
pub(super) fn output_bound(state: &State, output: &Output, object: &WlOutput) {
    let Some(screen) = state.shell.workspaces().screen(&output.name()) else { return };
    for manager in &state.protocols.ext_workspace.managers {
        let groups = manager.groups.iter().filter(|group| group.screen == screen && group.object.is_alive());
        let mut has_group = false;
        for group in groups.filter(|group| group.object.id().same_client_as(&object.id())) {
            group.object.output_enter(object);
            has_group = true;
        }
        if has_group {
            manager.object.done();
        }
    }
}

impl OutputWorkspaces {
    fn look(&self, number: WorkspaceNumber) -> WorkspaceFlags {
        let urgent = if self.is_urgent(number) { WorkspaceFlags::Urgent } else { WorkspaceFlags::empty() };
        if number == self.active {
            WorkspaceFlags::Active | urgent
        } else if self.is_occupied(number) {
            urgent
        } else {
            WorkspaceFlags::Hidden
        }
    }
}

impl WorkspaceManager {
    fn send_changes(
        &mut self,
        rows: &[OutputWorkspaces],
        output: impl Fn(ScreenId) -> Option<Output>,
        display: &DisplayHandle,
    ) {
        let gone = |group: &WorkspaceGroupObject| !rows.iter().any(|row| row.screen == group.screen);
        self.groups.iter().filter(|group| gone(group)).for_each(WorkspaceGroupObject::remove);
        self.groups.retain(|group| !gone(group));
        for row in rows {
            match self.groups.iter_mut().find(|group| group.screen == row.screen) {
                Some(group) => group.send_changes(row),
                None => {
                    let output = output(row.screen);
                    // `None` if the client has just disconnected.
                    self.groups.extend(WorkspaceGroupObject::announce(&self.object, row, output.as_ref(), display));
                }
            }
        }
        self.object.done();
    }
}

impl WorkspaceGroupObject {
    fn announce(
        manager: &ExtWorkspaceManagerV1,
        row: &OutputWorkspaces,
        output: Option<&Output>,
        display: &DisplayHandle,
    ) -> Option<WorkspaceGroupObject> {
        let client = manager.client()?;
        let version = manager.version();
        let object = client.create_resource::<ExtWorkspaceGroupHandleV1, (), State>(display, version, ()).ok()?;
        manager.workspace_group(&object);
        object.capabilities(GroupCapabilities::empty());
        for bound in output.into_iter().flat_map(|output| output.client_outputs(&client).collect::<Vec<_>>()) {
            object.output_enter(&bound);
        }
        let mut workspaces = Vec::new();
        for number in WorkspaceNumber::all() {
            let data = WorkspaceHandle { place: WorkspaceId { screen: row.screen, number }, manager: manager.clone() };
            let handle =
                client.create_resource::<ExtWorkspaceHandleV1, WorkspaceHandle, State>(display, version, data).ok()?;
            manager.workspace(&handle);
            if let Some(output) = output {
                handle.id(format!("{}/{number}", output.name()));
            }
            handle.name(number.to_string());
            handle.coordinates(u32::from(number.get() - 1).to_ne_bytes().to_vec());
            let look = row.look(number);
            handle.state(look);
            handle.capabilities(WorkspaceCapabilities::Activate);
            object.workspace_enter(&handle);
            workspaces.push((handle, look));
        }
        Some(WorkspaceGroupObject { screen: row.screen, object, workspaces })
    }

    fn send_changes(&mut self, row: &OutputWorkspaces) {
        for ((handle, sent), number) in self.workspaces.iter_mut().zip(WorkspaceNumber::all()) {
            let look = row.look(number);
            if std::mem::replace(sent, look) != look && handle.is_alive() {
                handle.state(look);
            }
        }
    }

    /// Sends that the output and its workspaces are gone.
    fn remove(&self) {
        for (handle, _) in self.workspaces.iter().filter(|(handle, _)| handle.is_alive()) {
            if self.object.is_alive() {
                self.object.workspace_leave(handle);
            }
            handle.removed();
        }
        if self.object.is_alive() {
            self.object.removed();
        }
    }
}

impl GlobalDispatch<ExtWorkspaceManagerV1, (), State> for Handlers {
    fn bind(
        state: &mut State,
        display: &DisplayHandle,
        _client: &Client,
        manager: New<ExtWorkspaceManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        let mut manager = WorkspaceManager {
            object: init.init(manager, ()),
            groups: Vec::new(),
            to_activate: Vec::new(),
            is_behind: false,
        };
        let rows = state.shell.workspaces().rows();
        let (outputs, workspaces) = (&state.outputs, state.shell.workspaces());
        manager.send_changes(&rows, |screen| named(outputs.iter(), workspaces.name(screen)), display);
        let listeners = &mut state.protocols.ext_workspace;
        // If there are other managers, `sent` keeps the older state, so that they get their changes in the next turn.
        if listeners.managers.is_empty() {
            listeners.sent = rows;
        }
        listeners.managers.push(manager);
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ExtWorkspaceManagerV1>(&client)
    }
}

impl Dispatch<ExtWorkspaceManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &ExtWorkspaceManagerV1,
        request: ext_workspace_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let managers = &mut state.protocols.ext_workspace.managers;
        match request {
            ext_workspace_manager_v1::Request::Commit => {
                let known = managers.iter_mut().find(|known| known.object == *manager);
                let wanted = known.map(|known| std::mem::take(&mut known.to_activate)).unwrap_or_default();
                wanted.into_iter().for_each(|place| workspace_actions::switch(state, place));
            }
            ext_workspace_manager_v1::Request::Stop => {
                managers.retain(|known| known.object != *manager);
                manager.finished();
            }
            _ => {}
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, manager: &ExtWorkspaceManagerV1, _data: &()) {
        state.protocols.ext_workspace.managers.retain(|known| known.object != *manager);
    }
}

impl Dispatch<ExtWorkspaceGroupHandleV1, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _group: &ExtWorkspaceGroupHandleV1,
        _request: ext_workspace_group_handle_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // Workspaces cannot be created, as the capabilities state.
    }
}

impl Dispatch<ExtWorkspaceHandleV1, WorkspaceHandle, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _handle: &ExtWorkspaceHandleV1,
        request: ext_workspace_handle_v1::Request,
        data: &WorkspaceHandle,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        if !matches!(request, ext_workspace_handle_v1::Request::Activate) {
            return;
        }
        let managers = &mut state.protocols.ext_workspace.managers;
        if let Some(manager) = managers.iter_mut().find(|manager| manager.object == data.manager) {
            // For each output the last request counts.
            manager.to_activate.retain(|place| place.screen != data.place.screen);
            manager.to_activate.push(data.place);
        }
    }
}
