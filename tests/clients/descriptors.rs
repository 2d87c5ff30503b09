//! Files that are kept open for a client count towards its limit of descriptors, however they were passed.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};

use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::wp::security_context::v1::client::wp_security_context_manager_v1::WpSecurityContextManagerV1;

use crate::fixture::{ClientIndex, TestWorld};
use upbeat::guard::{self, Kind};

/// Limit of descriptors for a client in these tests.
const MOST: u32 = 16;

fn world() -> (TestWorld, ClientIndex, ClientIndex) {
    let mut world = TestWorld::new();
    world.state.rules.set_limit(Kind::Descriptors, MOST);
    let good = world.connect();
    let bad = world.connect();
    (world, good, bad)
}

/// Descriptors counted for the client that connected last.
fn used(world: &TestWorld) -> u32 {
    let all = guard::all(&world.state.display_handle);
    all.last().map(|(_, account)| account.used(Kind::Descriptors)).unwrap()
}

#[track_caller]
fn only_bad_client_is_disconnected(world: &mut TestWorld, good: ClientIndex, bad: ClientIndex) {
    world.settle();
    assert_eq!(world.client(bad).error, Some(("wl_display".to_owned(), 2)));
    let said = world.client(bad).error_message();
    assert!(said.contains("more than 16 descriptors"), "{said}");
    assert!(!world.client(good).is_disconnected());
}

/// A buffer of one pixel whose pool is destroyed: the buffer keeps the memory open.
fn pixel(world: &mut TestWorld, client: ClientIndex) -> WlBuffer {
    world.client(client).buffer(1, 1)
}

#[test]
fn pool_file_counts_until_its_last_buffer_is_destroyed() {
    let (mut world, good, bad) = world();
    for _ in 0..4 * MOST {
        pixel(&mut world, bad).destroy();
    }
    world.settle();
    assert_eq!(used(&world), 0);
    let memory = rustix::fs::memfd_create("pixels", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&memory, 4 * 100).unwrap();
    // Many buffers in one pool share one file.
    let client = world.client(bad);
    let pool = client.globals().shm.create_pool(memory.as_fd(), 4 * 100, &client.handle(), ());
    let buffer = |at| pool.create_buffer(4 * at, 1, 1, 4, Format::Xrgb8888, &client.handle(), ());
    let buffers: Vec<_> = (0..100).map(buffer).collect();
    pool.destroy();
    world.settle();
    assert_eq!(used(&world), 1);
    buffers.iter().skip(1).for_each(WlBuffer::destroy);
    world.settle();
    assert_eq!(used(&world), 1);
    (1..MOST).for_each(|_| _ = pixel(&mut world, bad));
    world.settle();
    assert!(!world.client(bad).is_disconnected(), "{}", world.client(bad).error_message());
    assert_eq!(used(&world), MOST);
    pixel(&mut world, bad);
    only_bad_client_is_disconnected(&mut world, good, bad);
}

#[test]
fn security_contexts_count_until_they_close() {
    let (mut world, good, bad) = world();
    let directory = tempfile::tempdir().unwrap();
    let make = |world: &mut TestWorld, number: u32| {
        let client = world.client(bad);
        let manager = client.bind::<WpSecurityContextManagerV1>();
        let listener = UnixListener::bind(directory.path().join(number.to_string())).unwrap();
        let (keep, close) = UnixStream::pair().unwrap();
        let context = manager.create_listener(listener.as_fd(), close.as_fd(), &client.handle(), ());
        context.commit();
        context.destroy();
        world.settle();
        keep
    };
    let mut alive: Vec<_> = (0..MOST / 2).map(|number| make(&mut world, number)).collect();
    assert!(!world.client(bad).is_disconnected(), "{}", world.client(bad).error_message());
    assert_eq!(used(&world), MOST);
    alive.remove(0);
    world.settle();
    assert_eq!(used(&world), MOST - 2);
    alive.extend((MOST..MOST + 2).map(|number| make(&mut world, number)));
    only_bad_client_is_disconnected(&mut world, good, bad);
}
