//! Tests with a real server without a screen. Skipped where Xvfb is not installed, unless `CI=true`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant as Wall};

use x11rb::protocol::xproto::ImageFormat;

use super::*;
use crate::backend::{
    BufferStorage, Display as _, DisplayEvent, FrameId, FramePlan, PixelBuffer, PixelRect, PlanChange,
};

/// How long a server on a busy machine may take.
const PATIENCE: Duration = Duration::from_secs(20);
const SIZE: (i32, i32) = (64, 48);

/// An Xvfb process that ends with the test.
struct XvfbServer {
    process: Child,
    name: String,
}

impl XvfbServer {
    fn start(options: &[&str]) -> Option<Self> {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "320x240x24"]).args(options);
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut process) = process else {
            assert!(std::env::var_os("CI").is_none(), "Xvfb is not installed (Debian: xvfb)");
            eprintln!("skipped: Xvfb is not installed (Debian: xvfb)");
            return None;
        };
        let mut number = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Some(XvfbServer { process, name: format!(":{}", number.trim()) })
    }

    fn connect(&self) -> X11Backend {
        X11Backend::connect_to(Some(&self.name)).unwrap()
    }

    /// The content of a window on the server, read through another connection.
    fn picture(&self, window: u32) -> Vec<u32> {
        let (connection, _) = RustConnection::connect(Some(&self.name)).unwrap();
        let image = connection.get_image(ImageFormat::Z_PIXMAP, window, 0, 0, SIZE.0 as u16, SIZE.1 as u16, !0);
        let bytes = image.unwrap().reply().unwrap().data;
        bytes.chunks_exact(4).map(|pixel| u32::from_ne_bytes(pixel.try_into().unwrap()) & 0xff_ffff).collect()
    }

    /// Waits until the window shows `expected`: the server serves its clients one after the other, in an unknown order.
    #[track_caller]
    fn shows(&self, window: u32, expected: &[u32]) {
        until(|| (self.picture(window) == expected).then_some(()));
    }
}

impl Drop for XvfbServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A canvas with a different colour for every pixel.
fn coloured(seed: u32) -> Vec<u32> {
    (0..(SIZE.0 * SIZE.1) as u32).map(|pixel| (pixel * 0x01_0307 + seed * 0x55_1234) & 0xff_ffff).collect()
}

fn rows(pixels: &mut [u32], rows: std::ops::Range<usize>, colour: u32) {
    pixels[rows.start * SIZE.0 as usize..rows.end * SIZE.0 as usize].fill(colour);
}

#[track_caller]
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Wall::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Draws the next frame with `draw`, and waits until it counts as light.
fn show(backend: &mut X11Backend, output: &mut X11Output, damage: Vec<PixelRect>, draw: impl FnOnce(&mut [u32])) {
    let mut buffer = output.acquire().unwrap();
    let BufferStorage::Memory(pixels) = &mut buffer.storage else { panic!("it has memory of its own") };
    draw(&mut pixels.pixels);
    let change = PlanChange::Compose { buffer, damage };
    let plan = FramePlan { present: MonotonicClock.now(), ..FramePlan::plain(FrameId(1), change) };
    assert!(output.submit(plan).is_ok());
    until(|| {
        backend.dispatch().unwrap();
        matches!(output.poll_event(), Some(DisplayEvent::Presented { .. })).then_some(())
    });
}

/// Sends a whole frame and then partial frames to a server with these options. Returns whether memory was shared;
/// `None` if skipped.
fn frames_arrive(options: &[&str]) -> Option<bool> {
    let server = XvfbServer::start(options)?;
    let mut backend = server.connect();
    let mut output = backend.open("test", SIZE).unwrap();
    let window = backend.windows[0].borrow().names.window;
    let part = |y, height| vec![PixelRect { x: 0, y, width: SIZE.0, height }];
    let mut expected = coloured(1);
    show(&mut backend, &mut output, part(0, SIZE.1), |pixels| pixels.copy_from_slice(&expected));
    server.shows(window, &expected);
    for (first, colour) in [(10, 0xff_0000), (30, 0x00_ff00), (20, 0x00_00ff)] {
        rows(&mut expected, first..first + 5, colour);
        let damage = [part(first as i32, 2), part(first as i32 + 2, 3)].concat();
        show(&mut backend, &mut output, damage, |pixels| pixels.copy_from_slice(&expected));
        server.shows(window, &expected);
    }
    Some(backend.sharing.is_enabled())
}

#[test]
fn frames_reach_the_server_through_shared_memory() {
    if let Some(shared) = frames_arrive(&[]) {
        assert!(shared);
    }
}

#[test]
fn window_has_a_picture_also_while_the_next_frame_is_composed() {
    let Some(server) = XvfbServer::start(&[]) else { return };
    let mut backend = server.connect();
    let mut output = backend.open("test", SIZE).unwrap();
    let picture = |output: &X11Output| output.screenshot(false).map(|picture| picture.pixels);
    assert_eq!(picture(&output), None, "nothing was composed");
    let all = || vec![PixelRect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 }];
    (1..=3).for_each(|frame| show(&mut backend, &mut output, all(), |pixels| pixels.copy_from_slice(&coloured(frame))));
    let next = output.acquire().unwrap();
    assert_eq!(picture(&output), Some(coloured(3)));
    let BufferStorage::Memory(pixels) = &next.storage else { panic!("it has memory of its own") };
    assert_eq!((next.age, &pixels.pixels), (2, &coloured(2)), "it holds the frame before that");
    let slot = next.slot;
    output.release(next);
    show(&mut backend, &mut output, all(), |pixels| pixels.copy_from_slice(&coloured(4)));
    let other = output.acquire().unwrap();
    assert_ne!(other.slot, slot, "each memory has a slot, by which a renderer knows its content");
    output.release(other);
    assert_eq!((picture(&output), output.acquire().unwrap().age), (Some(coloured(4)), 0));
}

#[test]
fn without_shared_memory_they_are_sent() {
    if let Some(shared) = frames_arrive(&["-extension", "MIT-SHM"]) {
        assert!(!shared);
    }
}

#[test]
fn a_frame_overwrites_nothing_that_the_server_has_yet_to_read() {
    let Some(server) = XvfbServer::start(&[]) else { return };
    let mut backend = server.connect();
    let _output = backend.open("test", SIZE).unwrap();
    let names = backend.windows[0].borrow().names;
    let mut transport = Transport::new(backend.connection.clone(), names, backend.sharing.clone());
    let canvas = |seed| PixelBuffer { width: SIZE.0, height: SIZE.1, pixels: coloured(seed) };
    let all = [PixelRect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 }];
    transport.send(&canvas(1), &all);
    assert!(transport.is_busy(), "the completion event is not read yet");
    // The segment is busy, so the next frame goes through the connection, and is shown all the same.
    transport.send(&canvas(2), &all);
    server.shows(names.window, &coloured(2));
    until(|| {
        let heard = backend.connection.poll_for_event().unwrap();
        match heard {
            Some(Event::ShmCompletion(read)) => transport.completed(read.shmseg),
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
        (!transport.is_busy()).then_some(())
    });
    transport.send(&canvas(3), &all);
    assert!(transport.is_busy(), "it is shared again");
    server.shows(names.window, &coloured(3));
}

#[test]
fn a_server_that_takes_no_more_memory_gets_its_frames_all_the_same() {
    let Some(server) = XvfbServer::start(&[]) else { return };
    let mut backend = server.connect();
    let mut output = backend.open("test", SIZE).unwrap();
    let window = backend.windows[0].borrow().names.window;
    let expected = coloured(3);
    let all = vec![PixelRect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 }];
    show(&mut backend, &mut output, all, |pixels| pixels.copy_from_slice(&expected));
    // Cause an MIT-SHM error, as if the server had refused the memory.
    let nowhere = backend.connection.generate_id().unwrap();
    x11rb::protocol::shm::ConnectionExt::shm_detach(&*backend.connection, nowhere).map(drop).unwrap();
    backend.connection.flush().unwrap();
    until(|| {
        backend.dispatch().unwrap();
        (!backend.sharing.is_enabled()).then_some(())
    });
    let expected = coloured(4);
    let all = vec![PixelRect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 }];
    show(&mut backend, &mut output, all, |pixels| pixels.copy_from_slice(&expected));
    server.shows(window, &expected);
}

#[test]
fn a_server_that_knows_touches_is_asked_for_them() {
    let Some(server) = XvfbServer::start(&[]) else { return };
    let mut backend = server.connect();
    assert!(backend.has_touch);
    let _output = backend.open("test", SIZE).unwrap();
    backend.connection.sync().unwrap();
    while let Some(event) = backend.connection.poll_for_event().unwrap() {
        assert!(!matches!(event, Event::Error(_)), "{event:?}");
    }
}
