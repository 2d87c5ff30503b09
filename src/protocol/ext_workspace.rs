//! `ext_workspace_manager_v1` 1: bars list workspaces and switch them.
//!
//! Each output is a group with its nine workspaces and those that the configuration names. An empty workspace that is not shown has the state `hidden`, which
//! asks bars to leave it out. Clients can activate workspaces, and nothing else: a workspace is left by activating
//! another, and none is created or removed by clients. If the list of names changes, workspaces are added and removed,
//! and a workspace that stays keeps its handle. Changes are sent once in a turn of the loop ([`refresh`](super::refresh)).

use std::sync::Arc;

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
use crate::shell::workspaces::{
    OutputWorkspaces, ScreenId, WorkspaceId, WorkspaceName, WorkspaceNumber, WorkspaceReference, Workspaces,
};
use crate::state::State;

const VERSION: u32 = 1;

/// The global, and the managers that clients have bound.
#[derive(Debug)]
pub struct ExtWorkspace {
    _global: GlobalId,
    managers: Vec<WorkspaceManager>,
    /// The state that was sent last.
    sent: Vec<OutputWorkspaces>,
    /// The names that were sent last.
    sent_names: Arc<[WorkspaceName]>,
    /// Revision of the workspaces at the last refresh.
    last_changes: Revision,
}

#[derive(Debug)]
struct WorkspaceManager {
    object: ExtWorkspaceManagerV1,
    groups: Vec<WorkspaceGroupObject>,
    /// Workspaces to activate with the client's next commit.
    to_activate: Vec<(ScreenId, WorkspaceReference)>,
    /// The last changes were not sent, because the client reads too slowly.
    is_behind: bool,
}

#[derive(Debug)]
struct WorkspaceGroupObject {
    screen: ScreenId,
    object: ExtWorkspaceGroupHandleV1,
    workspaces: Vec<SentWorkspace>,
}

/// A workspace that a client knows.
#[derive(Debug)]
struct SentWorkspace {
    reference: WorkspaceReference,
    handle: ExtWorkspaceHandleV1,
    /// The number and state that were sent last.
    sent: (WorkspaceNumber, WorkspaceFlags),
}

/// User data of a workspace handle. The number of a workspace with a name changes with the list of names.
#[derive(Debug)]
pub struct WorkspaceHandle {
    screen: ScreenId,
    reference: WorkspaceReference,
    manager: ExtWorkspaceManagerV1,
}

/// The workspaces of all outputs, as they are sent to clients.
struct AnnouncedState<'a> {
    rows: &'a [OutputWorkspaces],
    workspaces: &'a Workspaces,
}

impl AnnouncedState<'_> {
    /// All workspaces of an output, in their order.
    fn references(&self) -> impl Iterator<Item = (WorkspaceNumber, WorkspaceReference)> {
        self.workspaces.numbers().map(|number| {
            let name = self.workspaces.name_of(number).cloned();
            (number, name.map_or(WorkspaceReference::Number(number), WorkspaceReference::Name))
        })
    }
}

impl ExtWorkspace {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ExtWorkspaceManagerV1, ()>(VERSION, ());
        ExtWorkspace {
            _global: global,
            managers: Vec::new(),
            sent: Vec::new(),
            sent_names: Arc::new([]),
            last_changes: Revision::default(),
        }
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
    let workspaces = shell.workspaces();
    let rows = workspaces.rows();
    let is_other = rows != listeners.sent || *workspaces.names() != listeners.sent_names;
    let state = AnnouncedState { rows: &rows, workspaces };
    for manager in &mut listeners.managers {
        if !is_other && !manager.is_behind {
            continue;
        }
        manager.is_behind = !guard::may_send(&manager.object);
        if manager.is_behind {
            continue;
        }
        manager.send_changes(&state, |screen| named(outputs.iter(), workspaces.name(screen)), display_handle);
    }
    listeners.sent = rows;
    listeners.sent_names = workspaces.names().clone();
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
        state: &AnnouncedState<'_>,
        output: impl Fn(ScreenId) -> Option<Output>,
        display: &DisplayHandle,
    ) {
        let gone = |group: &WorkspaceGroupObject| !state.rows.iter().any(|row| row.screen == group.screen);
        self.groups.iter().filter(|group| gone(group)).for_each(WorkspaceGroupObject::remove);
        self.groups.retain(|group| !gone(group));
        for row in state.rows {
            let output = output(row.screen);
            if !self.groups.iter().any(|group| group.screen == row.screen) {
                // `None` if the client has just disconnected.
                self.groups.extend(WorkspaceGroupObject::announce(&self.object, row, output.as_ref(), display));
            }
            if let Some(group) = self.groups.iter_mut().find(|group| group.screen == row.screen) {
                group.send_changes(state, row);
                group.send_new(&self.object, state, row, output.as_ref(), display);
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
        Some(WorkspaceGroupObject { screen: row.screen, object, workspaces: Vec::new() })
    }

    /// Announces workspaces that the client does not know yet.
    fn send_new(
        &mut self,
        manager: &ExtWorkspaceManagerV1,
        state: &AnnouncedState<'_>,
        row: &OutputWorkspaces,
        output: Option<&Output>,
        display: &DisplayHandle,
    ) {
        let Some(client) = manager.client() else { return };
        for (number, reference) in state.references() {
            if self.workspaces.iter().any(|known| known.reference == reference) {
                continue;
            }
            let data = WorkspaceHandle { screen: row.screen, reference: reference.clone(), manager: manager.clone() };
            let created = client.create_resource::<ExtWorkspaceHandleV1, _, State>(display, manager.version(), data);
            let Ok(handle) = created else { return };
            manager.workspace(&handle);
            if let Some(output) = output {
                handle.id(format!("{}/{reference}", output.name()));
            }
            handle.name(reference.to_string());
            handle.coordinates(coordinates(number));
            let look = row.look(number);
            handle.state(look);
            handle.capabilities(WorkspaceCapabilities::Activate);
            if self.object.is_alive() {
                self.object.workspace_enter(&handle);
            }
            self.workspaces.push(SentWorkspace { reference, handle, sent: (number, look) });
        }
    }

    /// Sends changes of workspaces that the client knows, and removes those that are gone.
    fn send_changes(&mut self, state: &AnnouncedState<'_>, row: &OutputWorkspaces) {
        let object = &self.object;
        self.workspaces.retain_mut(|known| {
            let Ok(number) = state.workspaces.find(&known.reference) else {
                known.remove(object);
                return false;
            };
            let look = row.look(number);
            let (sent_number, sent_look) = std::mem::replace(&mut known.sent, (number, look));
            if sent_number != number && known.handle.is_alive() {
                known.handle.coordinates(coordinates(number));
            }
            if sent_look != look && known.handle.is_alive() {
                known.handle.state(look);
            }
            true
        });
    }

    /// Sends that the output and its workspaces are gone.
    fn remove(&self) {
        self.workspaces.iter().for_each(|known| known.remove(&self.object));
        if self.object.is_alive() {
            self.object.removed();
        }
    }
}

impl SentWorkspace {
    /// Sends that the workspace is gone.
    fn remove(&self, group: &ExtWorkspaceGroupHandleV1) {
        if !self.handle.is_alive() {
            return;
        }
        if group.is_alive() {
            group.workspace_leave(&self.handle);
        }
        self.handle.removed();
    }
}

/// The place of a workspace in its row, from 0, as the protocol sends it.
fn coordinates(number: WorkspaceNumber) -> Vec<u8> {
    u32::from(number.get() - 1).to_ne_bytes().to_vec()
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
        let announced = AnnouncedState { rows: &rows, workspaces };
        manager.send_changes(&announced, |screen| named(outputs.iter(), workspaces.name(screen)), display);
        let names = workspaces.names().clone();
        let listeners = &mut state.protocols.ext_workspace;
        // If there are other managers, `sent` keeps the older state, so that they get their changes in the next turn.
        if listeners.managers.is_empty() {
            listeners.sent = rows;
            listeners.sent_names = names;
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
                for (screen, reference) in wanted {
                    if let Ok(number) = state.shell.workspaces().find(&reference) {
                        workspace_actions::switch(state, WorkspaceId { screen, number });
                    }
                }
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
            manager.to_activate.retain(|(screen, _)| *screen != data.screen);
            manager.to_activate.push((data.screen, data.reference.clone()));
        }
    }
}
