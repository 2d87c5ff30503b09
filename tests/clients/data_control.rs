//! Clipboard managers: `zwlr_data_control_manager_v1` and `ext_data_control_manager_v1`. The protocols differ only in
//! their names, so each test runs with both.

use std::io::{Read, Write};
use std::os::fd::AsFd;

use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, event_created_child};
use wayland_protocols::ext::data_control::v1::client::{
    ext_data_control_device_v1::{self as ext_device, ExtDataControlDeviceV1},
    ext_data_control_manager_v1::ExtDataControlManagerV1,
    ext_data_control_offer_v1::{self as ext_offer, ExtDataControlOfferV1},
    ext_data_control_source_v1::{self as ext_source, ExtDataControlSourceV1},
};
use wayland_protocols_wlr::data_control::v1::client::{
    zwlr_data_control_device_v1::{self as wlr_device, ZwlrDataControlDeviceV1},
    zwlr_data_control_manager_v1::ZwlrDataControlManagerV1,
    zwlr_data_control_offer_v1::{self as wlr_offer, ZwlrDataControlOfferV1},
    zwlr_data_control_source_v1::{self as wlr_source, ZwlrDataControlSourceV1},
};

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientEvent, ClientIndex, KEY_A, TestWorld};

/// Errors of both protocols: a MIME type offered too late, and a source used twice.
const INVALID_OFFER: u32 = 1;
const USED_SOURCE: u32 = 1;
/// A hasty client sets this many selections, each with [`TYPES`] MIME types of 64 bytes: three times the size of a
/// socket.
const COPIES: u32 = 60;
const TYPES: u32 = 120;

/// A client of one of the two protocols. It records events as words: "text/plain", "clipboard filled", "cancelled".
macro_rules! speaks {
    ($module:ident: $manager:ident, $device:ident, $device_module:ident, $offer:ident, $offer_module:ident, $source:ident,
        $source_module:ident) => {
        impl Dispatch<$manager, ()> for TestClientState {
            fn event(_: &mut Self, _: &$manager, _: <$manager as Proxy>::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {}
        }

        impl Dispatch<$device, ()> for TestClientState {
            fn event(
                data: &mut Self,
                _: &$device,
                event: $device_module::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                use $device_module::Event as Said;
                let said = match event {
                    Said::Selection { id } => ("clipboard", id),
                    Said::PrimarySelection { id } => ("primary", id),
                    _ => return,
                };
                let words = format!("{} {}", said.0, if said.1.is_some() { "filled" } else { "empty" });
                data.events.push(ClientEvent::InWords(words));
                if let Some(offer) = said.1 {
                    data.receive_selection = Some(Box::new(move |fd| offer.receive("text/plain".to_owned(), fd)));
                }
            }

            event_created_child!(TestClientState, $device, [$device_module::EVT_DATA_OFFER_OPCODE => ($offer, ())]);
        }

        impl Dispatch<$offer, ()> for TestClientState {
            fn event(
                data: &mut Self,
                _: &$offer,
                event: $offer_module::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                if let $offer_module::Event::Offer { mime_type } = event {
                    data.events.push(ClientEvent::InWords(mime_type));
                }
            }
        }

        impl Dispatch<$source, ()> for TestClientState {
            fn event(
                data: &mut Self,
                _: &$source,
                event: $source_module::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                match event {
                    $source_module::Event::Send { mime_type, fd } => {
                        data.events.push(ClientEvent::SendData { mime: mime_type, fd });
                    }
                    $source_module::Event::Cancelled => data.events.push(ClientEvent::InWords("cancelled".to_owned())),
                    _ => {}
                }
            }
        }

        mod $module {
            use super::*;

            /// A client without a window that watches the selections.
            fn manager(world: &mut TestWorld) -> (ClientIndex, $manager, $device) {
                let client = world.connect();
                let manager = world.client(client).bind::<$manager>();
                let handle = world.client(client).handle();
                let device = manager.get_data_device(&world.client(client).globals().seat, &handle, ());
                (client, manager, device)
            }

            fn source(world: &mut TestWorld, client: ClientIndex, manager: &$manager, mime: &str) -> $source {
                let source = manager.create_data_source(&world.client(client).handle(), ());
                source.offer(mime.to_owned());
                source
            }

            #[test]
            fn clipboard_manager_reads_and_sets_selections_without_focus() {
                let mut world = TestWorld::new();
                let (window, _) = world.open("window", 200, 100);
                let (watcher, manager, device) = manager(&mut world);
                assert_eq!(words_since_last_call(&mut world, watcher), ["clipboard empty", "primary empty"]);

                let serial = { world.key(KEY_A, true); world.client(window).press_serial() };
                let copied = {
                    let client = world.client(window);
                    let copied = client.globals().data_devices.create_data_source(&client.handle(), ());
                    copied.offer("text/plain".to_owned());
                    client.globals().data_device.set_selection(Some(&copied), serial);
                    copied
                };
                assert_eq!(words_since_last_call(&mut world, watcher), ["text/plain", "clipboard filled"]);
                assert_eq!(pasted(&mut world, watcher, window), "upbeat");

                // The manager sets both selections; the focused client gets an offer.
                world.client(window).take_events();
                let (own, primary) = (source(&mut world, watcher, &manager, "a/b"), source(&mut world, watcher, &manager, "c/d"));
                device.set_selection(Some(&own));
                device.set_primary_selection(Some(&primary));
                assert_eq!(words_since_last_call(&mut world, watcher), ["a/b", "clipboard filled", "c/d", "primary filled"]);
                let heard = world.client(window).take_events();
                assert!(heard.iter().any(|event| matches!(event, ClientEvent::Selection(Some(_)))), "the focused window gets an offer");
                drop(copied);

                // The manager destroys its source: every client is told that the selection is empty.
                own.destroy();
                assert_eq!(words_since_last_call(&mut world, watcher), ["clipboard empty"]);
                assert!(world.client(window).take_events().iter().any(|event| matches!(event, ClientEvent::Selection(None))));
                device.set_primary_selection(None);
                assert_eq!(words_since_last_call(&mut world, watcher), ["cancelled", "primary empty"]);
            }

            #[test]
            fn fast_selection_changes_do_not_disconnect_a_stalled_clipboard_manager() {
                let mut world = TestWorld::new();
                let (victim, _manager, _device) = manager(&mut world);
                let (hasty, its_manager, its_device) = manager(&mut world);
                words_since_last_call(&mut world, victim);
                world.client(victim).is_stalled = true;
                for _ in 0..COPIES {
                    let many = source(&mut world, hasty, &its_manager, "text/plain");
                    (0..TYPES).for_each(|number| many.offer(format!("{number:064}")));
                    its_device.set_selection(Some(&many));
                    world.settle();
                }
                let heard = words_since_last_call(&mut world, hasty);
                assert!(heard.ends_with(&["cancelled".to_owned()]), "the last selections were cancelled");
                world.client(victim).is_stalled = false;
                world.settle();
                assert!(!world.client(victim).is_disconnected() && !world.client(hasty).is_disconnected());
                // A selection that is set after the client has caught up is announced.
                words_since_last_call(&mut world, victim);
                its_device.set_selection(Some(&source(&mut world, hasty, &its_manager, "a/b")));
                assert_eq!(words_since_last_call(&mut world, victim), ["a/b", "clipboard filled"]);
            }

            #[test]
            fn selection_ends_when_its_client_dies() {
                let mut world = TestWorld::new();
                let (watcher, _manager, _device) = manager(&mut world);
                let (copier, its_manager, its_device) = manager(&mut world);
                words_since_last_call(&mut world, watcher);
                let own = source(&mut world, copier, &its_manager, "a/b");
                its_device.set_selection(Some(&own));
                assert_eq!(words_since_last_call(&mut world, watcher), ["a/b", "clipboard filled"]);
                world.kill(copier);
                assert_eq!(words_since_last_call(&mut world, watcher), ["clipboard empty"]);
                assert!(!world.client(watcher).is_disconnected());
            }

            #[test]
            fn selections_are_announced_after_many_clipboard_managers_have_left() {
                let mut world = TestWorld::new();
                let (watcher, manager, device) = manager(&mut world);
                for _ in 0..100 {
                    let (other, _, _) = super::$module::manager(&mut world);
                    world.settle();
                    world.kill(other);
                }
                words_since_last_call(&mut world, watcher);
                let own = source(&mut world, watcher, &manager, "a/b");
                device.set_selection(Some(&own));
                assert_eq!(words_since_last_call(&mut world, watcher), ["a/b", "clipboard filled"]);
            }

            #[test]
            fn data_control_source_is_used_once_and_takes_no_types_afterwards() {
                for (twice, interface, code) in
                    [(true, $device::interface().name, USED_SOURCE), (false, $source::interface().name, INVALID_OFFER)]
                {
                    let mut world = TestWorld::new();
                    let (good, _, _) = manager(&mut world);
                    let (bad, its_manager, device) = manager(&mut world);
                    let own = source(&mut world, bad, &its_manager, "a/b");
                    device.set_selection(Some(&own));
                    if twice {
                        device.set_primary_selection(Some(&own));
                    } else {
                        own.offer("c/d".to_owned());
                    }
                    world.settle();
                    let error = world.client(bad).error.clone();
                    assert_eq!(error, Some((interface.to_owned(), code)), "{}", world.client(bad).error_message());
                    assert!(!world.client(good).is_disconnected());
                }
            }
        }
    };
}

speaks!(wlr: ZwlrDataControlManagerV1, ZwlrDataControlDeviceV1, wlr_device, ZwlrDataControlOfferV1, wlr_offer,
    ZwlrDataControlSourceV1, wlr_source);
speaks!(ext: ExtDataControlManagerV1, ExtDataControlDeviceV1, ext_device, ExtDataControlOfferV1, ext_offer,
    ExtDataControlSourceV1, ext_source);

fn words_since_last_call(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

/// The text that `reader` receives from `writer`, which sends one word.
fn pasted(world: &mut TestWorld, reader: ClientIndex, writer: ClientIndex) -> String {
    let (mut from, into) = std::io::pipe().unwrap();
    let paste = world.client(reader).data.receive_selection.take().unwrap();
    paste(into.as_fd());
    world.settle();
    drop(into);
    for event in world.client(writer).take_events() {
        if let ClientEvent::SendData { fd, .. } = event {
            std::fs::File::from(fd).write_all(b"upbeat").unwrap();
        }
    }
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}
