//! Clipboard between two clients.

use std::io::{Read, Write};
use std::os::fd::AsFd;

use crate::fixture::{Event, World};

#[test]
fn text_copied_in_one_client_is_pasted_in_another() {
    let mut world = World::new();
    let (source_client, _) = world.open("source", 200, 100);
    world.key(crate::fixture::KEY_A, true);
    let serial = world.client(source_client).press_serial();
    world.key(crate::fixture::KEY_A, false);
    let source = {
        let client = world.client(source_client);
        let source = client.globals().data_devices.create_data_source(&client.handle(), ());
        source.offer("text/plain".to_owned());
        client.globals().data_device.set_selection(Some(&source), serial);
        source
    };
    world.settle();

    let (target, _) = world.open("target", 200, 100);
    let offer = world.client(target).take_events().into_iter().rev().find_map(|event| match event {
        Event::Selection(offer) => Some(offer),
        _ => None,
    });
    let offer = offer.flatten().expect("the newly focused client is offered the selection");
    let (mut reader, writer) = std::io::pipe().unwrap();
    offer.receive("text/plain".to_owned(), writer.as_fd());
    world.settle();
    drop(writer);
    for event in world.client(source_client).take_events() {
        if let Event::SendData { mime, fd } = event {
            assert_eq!(mime, "text/plain");
            std::fs::File::from(fd).write_all(b"upbeat").unwrap();
        }
    }
    let mut pasted = String::new();
    reader.read_to_string(&mut pasted).unwrap();
    assert_eq!(pasted, "upbeat");
    drop(source);
}
