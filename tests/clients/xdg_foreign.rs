//! Dialogs of a program above windows of another: `zxdg_exporter` and `zxdg_importer`, versions 1 and 2.

use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle};
use wayland_protocols::xdg::foreign::zv1::client::{
    zxdg_exported_v1::{self, ZxdgExportedV1},
    zxdg_exporter_v1::ZxdgExporterV1,
    zxdg_imported_v1::{self, ZxdgImportedV1},
    zxdg_importer_v1::ZxdgImporterV1,
};
use wayland_protocols::xdg::foreign::zv2::client::{
    zxdg_exported_v2::{self, ZxdgExportedV2},
    zxdg_exporter_v2::ZxdgExporterV2,
    zxdg_imported_v2::{self, ZxdgImportedV2},
    zxdg_importer_v2::ZxdgImporterV2,
};

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientEvent, ClientIndex, TestWorld};

macro_rules! version {
    ($module:ident: $exporter:ident.$export:ident, $exported:ident, $exported_module:ident, $importer:ident.$import:ident,
        $imported:ident, $imported_module:ident; $is_strict:literal) => {
        impl Dispatch<$exporter, ()> for TestClientState {
            fn event(
                _: &mut Self,
                _: &$exporter,
                _: <$exporter as Proxy>::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
            }
        }
        impl Dispatch<$importer, ()> for TestClientState {
            fn event(
                _: &mut Self,
                _: &$importer,
                _: <$importer as Proxy>::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
            }
        }
        impl Dispatch<$exported, ()> for TestClientState {
            fn event(
                data: &mut Self,
                _: &$exported,
                event: $exported_module::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                let $exported_module::Event::Handle { handle } = event else { return };
                data.events.push(ClientEvent::InWords(handle));
            }
        }
        impl Dispatch<$imported, ()> for TestClientState {
            fn event(
                data: &mut Self,
                _: &$imported,
                event: $imported_module::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                if matches!(event, $imported_module::Event::Destroyed) {
                    data.events.push(ClientEvent::InWords("destroyed".to_owned()));
                }
            }
        }

        mod $module {
            use super::*;

            fn export(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface) -> ($exported, String) {
                let handle = world.client(client).handle();
                let exported = world.client(client).bind::<$exporter>().$export(surface, &handle, ());
                let word = words_since_last_call(world, client).pop().unwrap_or_default();
                (exported, word)
            }

            fn import(world: &mut TestWorld, client: ClientIndex, word: &str) -> $imported {
                let handle = world.client(client).handle();
                world.client(client).bind::<$importer>().$import(word.to_owned(), &handle, ())
            }

            #[test]
            fn imported_parent_keeps_a_dialog_above_until_either_is_destroyed() {
                let mut world = TestWorld::new();
                let (program, window) = world.open("window", 200, 200);
                let (portal, chooser) = world.open("chooser", 100, 100);
                let (exported, word) = export(&mut world, program, &window.surface);
                assert_eq!(word.len(), 32, "{word}");
                let imported = import(&mut world, portal, &word);
                imported.set_parent_of(&chooser.surface);
                world.settle();

                let rect = world.window("window").rect();
                let dialog = world.window("chooser").rect();
                let clicks = |world: &mut TestWorld| {
                    world.click(f64::from(dialog.loc.x + 50), f64::from(dialog.loc.y + 50));
                    world.click(f64::from(rect.loc.x + 3), f64::from(rect.loc.y + 3));
                    assert_eq!(world.focused().as_deref(), Some("window"));
                };
                clicks(&mut world);
                assert_eq!(world.stack(), ["window", "chooser"], "the window has the focus but lies below");
                imported.destroy();
                clicks(&mut world);
                assert_eq!(world.stack(), ["chooser", "window"], "the dialog is not kept above any more");

                // The import ends with the exported object, and later with the exporting client.
                let imported = import(&mut world, portal, &word);
                imported.set_parent_of(&chooser.surface);
                exported.destroy();
                assert_eq!(words_since_last_call(&mut world, portal), ["destroyed"]);
                world.click(f64::from(rect.loc.x + 3), f64::from(rect.loc.y + 3));
                assert_eq!(world.stack(), ["chooser", "window"]);
                let (_, word) = export(&mut world, program, &window.surface);
                let again = import(&mut world, portal, &word);
                again.set_parent_of(&chooser.surface);
                world.kill(program);
                assert_eq!(words_since_last_call(&mut world, portal), ["destroyed"]);
                // The imported object is inert now.
                again.set_parent_of(&chooser.surface);
                world.settle();
                assert!(!world.client(portal).is_disconnected(), "{}", world.client(portal).error_message());
            }

            #[test]
            fn destroying_the_imported_object_unparents_all_children() {
                let mut world = TestWorld::new();
                let (program, window) = world.open("window", 200, 200);
                let (portal, first) = world.open("first", 100, 100);
                let second = world.open_in(portal, "second", 100, 100);
                let (_exported, word) = export(&mut world, program, &window.surface);
                let imported = import(&mut world, portal, &word);
                imported.set_parent_of(&first.surface);
                imported.set_parent_of(&second.surface);
                world.settle();
                let parents =
                    |world: &TestWorld| ["first", "second"].map(|title| world.window(title).parent().is_some());
                assert_eq!(parents(&world), [true, true]);
                imported.destroy();
                world.settle();
                assert_eq!(parents(&world), [false, false]);
            }

            #[test]
            fn import_of_an_unknown_handle_is_destroyed_at_once() {
                let mut world = TestWorld::new();
                let (portal, _) = world.open("chooser", 100, 100);
                for word in ["", "no such window", &"x".repeat(3000)] {
                    import(&mut world, portal, word);
                    assert_eq!(words_since_last_call(&mut world, portal), ["destroyed"]);
                }
            }

            #[test]
            fn window_cannot_be_its_own_parent_and_only_windows_are_exported() {
                for what in ["itself", "no window", "no child"] {
                    let mut world = TestWorld::new();
                    let (program, window) = world.open("window", 200, 200);
                    let bare = world.client(program).surface();
                    let from = if what == "no window" { &bare } else { &window.surface };
                    let (_exported, word) = export(&mut world, program, from);
                    if !world.client(program).is_disconnected() {
                        let imported = import(&mut world, program, &word);
                        imported.set_parent_of(if what == "itself" { &window.surface } else { &bare });
                        world.settle();
                    }
                    assert_eq!(world.client(program).is_disconnected(), $is_strict, "{what}");
                    // No loop of parents was made: the session continues.
                    world.open("another", 50, 50);
                }
            }
        }
    };
}

version!(v1: ZxdgExporterV1.export, ZxdgExportedV1, zxdg_exported_v1, ZxdgImporterV1.import, ZxdgImportedV1, zxdg_imported_v1;
    false);
version!(v2: ZxdgExporterV2.export_toplevel, ZxdgExportedV2, zxdg_exported_v2, ZxdgImporterV2.import_toplevel, ZxdgImportedV2,
    zxdg_imported_v2; true);

fn words_since_last_call(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}
