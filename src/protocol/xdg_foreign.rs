//! `zxdg_exporter_v1`, `zxdg_importer_v1`, `zxdg_exporter_v2` and `zxdg_importer_v2` 1: a client has its dialogs kept
//! above a window of another client (file choosers of portals). GTK 4.8 knows only the first version.
//!
//! ```text
//!   one client:       export(window) ─► handle, a random word ─► by D-Bus ─► the other client: import(handle)
//!   the other:        set_parent_of(its dialog) ─► the dialog lies above that window, as with xdg_toplevel.set_parent
//!   window or export destroyed ─► `destroyed` to each importer, and the dialog has no parent
//! ```
//!
//! Our own implementation: Smithay 0.7 has only the second version, accepts surfaces that are no windows, and searches
//! all handles one by one.

use ahash::{HashMap, HashSet};
use rand::SeedableRng;
use rand::distr::{Alphanumeric, SampleString};
use rand::rngs::StdRng;
use smithay::reexports::wayland_protocols::xdg::foreign::{zv1, zv2};
use smithay::reexports::wayland_server::backend::{ClientId, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};
use zv1::server::zxdg_exported_v1::ZxdgExportedV1;
use zv1::server::zxdg_exporter_v1::{self, ZxdgExporterV1};
use zv1::server::zxdg_imported_v1::{self, ZxdgImportedV1};
use zv1::server::zxdg_importer_v1::{self, ZxdgImporterV1};
use zv2::server::zxdg_exported_v2::ZxdgExportedV2;
use zv2::server::zxdg_exporter_v2::{self, ZxdgExporterV2};
use zv2::server::zxdg_imported_v2::{self, ZxdgImportedV2};
use zv2::server::zxdg_importer_v2::{self, ZxdgImporterV2};

use crate::guard::Handlers;
use crate::shell;
use crate::state::State;

const VERSION: u32 = 1;
/// Letters of a handle: 190 random bits, so that it cannot be guessed.
const HANDLE_LETTERS: usize = 32;

/// A random word that stands for a window.
type ForeignHandle = String;

/// Exported and imported windows.
#[derive(Debug, Default)]
pub struct ForeignWindows {
    exported: HashMap<ForeignHandle, ExportedWindow>,
    /// The handles of each exported window, because each destroyed surface is looked up here.
    of_window: HashMap<ObjectId, HashSet<ForeignHandle>>,
    imported: HashMap<ObjectId, ImportedWindow>,
}

/// A window that other clients may import.
#[derive(Debug)]
struct ExportedWindow {
    surface: WlSurface,
    /// The imported objects that refer to it.
    imports: HashSet<ObjectId>,
}

/// An imported object of one client.
#[derive(Debug)]
struct ImportedWindow {
    object: ImportedObject,
    handle: ForeignHandle,
    /// The client's windows whose parent it is.
    children: Vec<WlSurface>,
}

#[derive(Debug)]
enum ImportedObject {
    V1(ZxdgImportedV1),
    V2(ZxdgImportedV2),
}

impl ForeignWindows {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        display.create_global::<State, ZxdgExporterV1, ()>(VERSION, ());
        display.create_global::<State, ZxdgImporterV1, ()>(VERSION, ());
        display.create_global::<State, ZxdgExporterV2, ()>(VERSION, ());
        display.create_global::<State, ZxdgImporterV2, ()>(VERSION, ());
        ForeignWindows::default()
    }

    /// A new handle for `surface`; `None` if the system has no random numbers.
    fn export(&mut self, surface: &WlSurface) -> Option<ForeignHandle> {
        let handle = Alphanumeric.sample_string(&mut StdRng::try_from_os_rng().ok()?, HANDLE_LETTERS);
        let exported = ExportedWindow { surface: surface.clone(), imports: HashSet::default() };
        self.exported.insert(handle.clone(), exported);
        self.of_window.entry(surface.id()).or_default().insert(handle.clone());
        Some(handle)
    }

    fn import(&mut self, object: ImportedObject, handle: &str) {
        match self.exported.get_mut(handle) {
            Some(exported) => {
                exported.imports.insert(object.id());
                let imported = ImportedWindow { object, handle: handle.to_owned(), children: Vec::new() };
                self.imported.insert(imported.object.id(), imported);
            }
            None => object.send_destroyed(),
        }
    }

    /// The window of `handle`.
    fn window(&self, handle: &str) -> Option<WlSurface> {
        self.exported.get(handle).map(|exported| exported.surface.clone())
    }
}

impl ImportedObject {
    fn id(&self) -> ObjectId {
        match self {
            ImportedObject::V1(object) => object.id(),
            ImportedObject::V2(object) => object.id(),
        }
    }

    fn send_destroyed(&self) {
        match self {
            ImportedObject::V1(object) => object.destroyed(),
            ImportedObject::V2(object) => object.destroyed(),
        }
    }
}

/// Makes the window of `imported` the parent of `child`. `false`: `child` is no window, or would be its own ancestor.
fn set_parent_of(state: &mut State, imported: &ObjectId, child: WlSurface) -> bool {
    if !shell::is_window(state, &child) {
        return false;
    }
    let foreign = &mut state.protocols.foreign;
    let Some(known) = foreign.imported.get_mut(imported) else { return true };
    let Some(exported) = foreign.exported.get(&known.handle) else { return true };
    let parent = exported.surface.clone();
    known.children.retain(|known| known.is_alive() && *known != child);
    known.children.push(child.clone());
    shell::set_parent(state, &child, Some(&parent))
}

/// An imported object is destroyed: its children lose their parent.
fn imported_gone(state: &mut State, object: &ObjectId) {
    let foreign = &mut state.protocols.foreign;
    let Some(ImportedWindow { handle, children, .. }) = foreign.imported.remove(object) else { return };
    if let Some(exported) = foreign.exported.get_mut(&handle) {
        exported.imports.remove(object);
    }
    let Some(parent) = foreign.window(&handle) else { return };
    for child in children.into_iter().filter(WlSurface::is_alive) {
        if shell::parent_surface(state, &child).as_ref() == Some(&parent) {
            shell::set_parent(state, &child, None);
        }
    }
}

/// An export has ended: each importer is sent `destroyed`.
fn exported_gone(state: &mut State, handle: &str) {
    let imports =
        state.protocols.foreign.exported.get_mut(handle).map(|exported| std::mem::take(&mut exported.imports));
    for object in imports.into_iter().flatten() {
        if let Some(imported) = state.protocols.foreign.imported.get(&object) {
            imported.object.send_destroyed();
        }
        imported_gone(state, &object);
    }
    let foreign = &mut state.protocols.foreign;
    let Some(ExportedWindow { surface, .. }) = foreign.exported.remove(handle) else { return };
    if let Some(handles) = foreign.of_window.get_mut(&surface.id()) {
        handles.remove(handle);
        if handles.is_empty() {
            foreign.of_window.remove(&surface.id());
        }
    }
}

/// A window is destroyed: ends its exports.
pub fn window_gone(state: &mut State, surface: &WlSurface) {
    let its = state.protocols.foreign.of_window.remove(&surface.id());
    for handle in its.into_iter().flatten() {
        exported_gone(state, &handle);
    }
}

/// One version of the protocol. The two differ in names, and in whether exporting a surface that is no window is an
/// error (`$no_window`).
macro_rules! version {
    ($object:ident: $exporter:ty, $exporter_module:ident::$export:ident, $exported:ty, $importer:ty,
        $importer_module:ident::$import:ident, $imported:ty, $imported_module:ident; $no_window:expr, $no_child:expr) => {
        impl GlobalDispatch<$exporter, (), State> for Handlers {
            fn bind(
                _state: &mut State,
                _display: &DisplayHandle,
                _client: &Client,
                exporter: New<$exporter>,
                (): &(),
                init: &mut DataInit<'_, State>,
            ) {
                init.init(exporter, ());
            }
        }

        impl Dispatch<$exporter, (), State> for Handlers {
            fn request(
                state: &mut State,
                _client: &Client,
                exporter: &$exporter,
                request: $exporter_module::Request,
                (): &(),
                _display: &DisplayHandle,
                init: &mut DataInit<'_, State>,
            ) {
                let $exporter_module::Request::$export { id, surface } = request else { return };
                if !shell::is_window(state, &surface) && $no_window(exporter) {
                    return;
                }
                let handle = state.protocols.foreign.export(&surface).unwrap_or_default();
                let exported: $exported = init.init(id, handle.clone());
                exported.handle(handle);
            }
        }

        impl Dispatch<$exported, ForeignHandle, State> for Handlers {
            fn request(
                _state: &mut State,
                _client: &Client,
                _exported: &$exported,
                _request: <$exported as Resource>::Request,
                _handle: &ForeignHandle,
                _display: &DisplayHandle,
                _init: &mut DataInit<'_, State>,
            ) {
            }

            fn destroyed(state: &mut State, _client: ClientId, _exported: &$exported, handle: &ForeignHandle) {
                exported_gone(state, handle);
            }
        }

        impl GlobalDispatch<$importer, (), State> for Handlers {
            fn bind(
                _state: &mut State,
                _display: &DisplayHandle,
                _client: &Client,
                importer: New<$importer>,
                (): &(),
                init: &mut DataInit<'_, State>,
            ) {
                init.init(importer, ());
            }
        }

        impl Dispatch<$importer, (), State> for Handlers {
            fn request(
                state: &mut State,
                _client: &Client,
                _importer: &$importer,
                request: $importer_module::Request,
                (): &(),
                _display: &DisplayHandle,
                init: &mut DataInit<'_, State>,
            ) {
                if let $importer_module::Request::$import { id, handle } = request {
                    let imported: $imported = init.init(id, ());
                    state.protocols.foreign.import(ImportedObject::$object(imported), &handle);
                }
            }
        }

        impl Dispatch<$imported, (), State> for Handlers {
            fn request(
                state: &mut State,
                _client: &Client,
                imported: &$imported,
                request: $imported_module::Request,
                (): &(),
                _display: &DisplayHandle,
                _init: &mut DataInit<'_, State>,
            ) {
                if let $imported_module::Request::SetParentOf { surface } = request
                    && !set_parent_of(state, &imported.id(), surface)
                {
                    $no_child(imported);
                }
            }

            fn destroyed(state: &mut State, _client: ClientId, imported: &$imported, (): &()) {
                imported_gone(state, &imported.id());
            }
        }
    };
}

version!(V1: ZxdgExporterV1, zxdg_exporter_v1::Export, ZxdgExportedV1, ZxdgImporterV1, zxdg_importer_v1::Import,
    ZxdgImportedV1, zxdg_imported_v1; |_: &ZxdgExporterV1| false, |_: &ZxdgImportedV1| ());
version!(V2: ZxdgExporterV2, zxdg_exporter_v2::ExportToplevel, ZxdgExportedV2, ZxdgImporterV2,
    zxdg_importer_v2::ImportToplevel, ZxdgImportedV2, zxdg_imported_v2; export_refused, parent_refused);

/// Sends the error for a surface that is no window. Returns `true`: it was sent.
fn export_refused(exporter: &ZxdgExporterV2) -> bool {
    exporter.post_error(zxdg_exporter_v2::Error::InvalidSurface, "only an xdg_toplevel can be exported");
    true
}

fn parent_refused(imported: &ZxdgImportedV2) {
    let message = "the child is no xdg_toplevel, or lies below its new parent already";
    imported.post_error(zxdg_imported_v2::Error::InvalidSurface, message);
}
