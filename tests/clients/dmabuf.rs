//! `zwp_linux_dmabuf_v1`: the renderer checks the buffers of a client, and the session continues meanwhile.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::fixture::client::TestClientState;
use crate::fixture::content::{GREEN, RED};
use crate::fixture::{ClientEvent, ClientIndex, KEY_A, TestToplevel, TestWorld, gles};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use upbeat::output::hotplug;
use upbeat::protocol::dmabuf;
use upbeat::render::GpuFault;
use upbeat::surface::scanout_feedback;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::{
    self as params, Flags, ZwpLinuxBufferParamsV1,
};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1::{
    self as feedback, ZwpLinuxDmabufFeedbackV1,
};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;

const SIZE: (i32, i32) = (400, 300);
/// The fourcc code `XR24`.
const XRGB8888: u32 = 0x3432_5258;
const WRONG_BUFFER: u32 = 7;
/// The render thread is held for this long: no other step of a test takes so much time, so a wait for it is noticed.
const HELD: Duration = Duration::from_secs(5);

impl Dispatch<ZwpLinuxDmabufV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &ZwpLinuxDmabufV1,
        _: <ZwpLinuxDmabufV1 as wayland_client::Proxy>::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

/// Params objects are numbered; their events are recorded with the number.
impl Dispatch<ZwpLinuxBufferParamsV1, u32> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpLinuxBufferParamsV1,
        event: params::Event,
        number: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let said = if matches!(event, params::Event::Failed) { "failed" } else { "created" };
        data.events.push(ClientEvent::InWords(format!("{number} {said}")));
    }

    wayland_client::event_created_child!(TestClientState, ZwpLinuxBufferParamsV1, [
        params::EVT_CREATED_OPCODE => (WlBuffer, ()),
    ]);
}

/// Records the target device of each tranche.
impl Dispatch<ZwpLinuxDmabufFeedbackV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpLinuxDmabufFeedbackV1,
        event: feedback::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let feedback::Event::TrancheTargetDevice { device } = event {
            let device = u64::from_ne_bytes(device.try_into().unwrap());
            data.events.push(ClientEvent::InWords(format!("device {device}")));
        }
    }
}

/// The render thread is busy until this is dropped, or for [`HELD`].
struct BusyRenderThread {
    done: Option<mpsc::Sender<()>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BusyRenderThread {
    /// Holds the render thread in the next frame, which `client` commits.
    fn begin(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel) -> Self {
        let ((tell, begun), (go, gone)) = (mpsc::channel(), mpsc::channel());
        let renderer = world.state.outputs.renderer().unwrap();
        renderer.inject_fault(GpuFault::Slow { begun: tell, go: gone });
        world.client(client).draw(&window.surface, 2, SIZE, GREEN);
        window.surface.commit();
        world.settle();
        world.run_until("drawing", |_| begun.try_recv().is_ok());
        let (done, ended) = mpsc::channel::<()>();
        let is_over = Arc::<AtomicBool>::default();
        let over = is_over.clone();
        let thread = std::thread::spawn(move || {
            let _ = ended.recv_timeout(HELD);
            over.store(true, Ordering::Release);
            drop(go);
        });
        BusyRenderThread { done: Some(done), is_over, thread: Some(thread) }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

impl Drop for BusyRenderThread {
    fn drop(&mut self) {
        self.done = None;
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A session that draws with OpenGL ES, a client with the dmabuf global, and its window. `None` without OpenGL ES.
fn with_dmabufs() -> Option<(TestWorld, ClientIndex, TestToplevel, ZwpLinuxDmabufV1)> {
    let mut world = TestWorld::rendered_by(gles()?, 1.0);
    // Without a GPU no dmabuf format is offered, so the test offers one: only the checking of buffers matters here.
    let format = DrmFormat { code: DrmFourcc::Xrgb8888, modifier: DrmModifier::Linear };
    dmabuf::offer_formats(&mut world.state, 0, vec![format], &[]);
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    let global = world.client(client).bind::<ZwpLinuxDmabufV1>();
    world.settle();
    Some((world, client, window, global))
}

/// Params with a memfd, which the renderer cannot import.
fn params(
    world: &mut TestWorld,
    client: ClientIndex,
    global: &ZwpLinuxDmabufV1,
    number: u32,
) -> ZwpLinuxBufferParamsV1 {
    let memory = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&memory, (SIZE.0 * SIZE.1 * 4) as u64).unwrap();
    let handle = world.client(client).handle();
    let params = global.create_params(&handle, number);
    params.add(memory.as_fd(), 0, 0, SIZE.0 as u32 * 4, 0, 0);
    params
}

fn words_since_last_call(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    let events = world.client(client).take_events();
    events
        .into_iter()
        .filter_map(|event| if let ClientEvent::InWords(said) = event { Some(said) } else { None })
        .collect()
}

fn disturb(world: &TestWorld, fault: GpuFault) {
    world.state.outputs.renderer().unwrap().inject_fault(fault);
}

/// A buffer by `create_immed`.
fn immediate(world: &mut TestWorld, client: ClientIndex, global: &ZwpLinuxDmabufV1, number: u32) -> WlBuffer {
    let params = params(world, client, global, number);
    let handle = world.client(client).handle();
    let buffer = params.create_immed(SIZE.0, SIZE.1, XRGB8888, Flags::empty(), &handle, ());
    // Every client does so: a later error must name another object.
    params.destroy();
    buffer
}

fn commit(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, buffer: &WlBuffer, number: u32) {
    window.surface.attach(Some(buffer), 0, 0);
    window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
    world.client(client).request_feedback(&window.surface, number);
    window.surface.commit();
    world.settle();
}

#[test]
fn dmabuf_import_does_not_block_the_session() {
    let Some((mut world, client, window, global)) = with_dmabufs() else { return };
    let busy = BusyRenderThread::begin(&mut world, client, &window);
    params(&mut world, client, &global, 1).create(SIZE.0, SIZE.1, XRGB8888, Flags::empty());
    params(&mut world, client, &global, 2).create(SIZE.0, SIZE.1, XRGB8888, Flags::empty());
    world.settle();
    assert!(!busy.is_over(), "the main thread waited for the render thread");
    assert_eq!(words_since_last_call(&mut world, client), [""; 0], "the renderer has not answered yet");
    drop(busy);
    let mut said = Vec::new();
    world.run_until("an answer", |world| {
        said.extend(words_since_last_call(world, client));
        said.len() == 2
    });
    assert_eq!(said, ["1 failed", "2 failed"], "memfds cannot be imported; answers keep the order");
}

#[test]
fn importable_buffer_is_created_after_the_check() {
    let Some((mut world, client, window, global)) = with_dmabufs() else { return };
    disturb(&world, GpuFault::Readable);
    let busy = BusyRenderThread::begin(&mut world, client, &window);
    let _kept = params(&mut world, client, &global, 1);
    _kept.create(SIZE.0, SIZE.1, XRGB8888, Flags::empty());
    // No object is left for the answer to these params: they must not use up the answer of the next.
    let dropped = params(&mut world, client, &global, 2);
    dropped.create(SIZE.0, SIZE.1, XRGB8888, Flags::empty());
    dropped.destroy();
    let last = params(&mut world, client, &global, 3);
    last.create(SIZE.0, SIZE.1, XRGB8888, Flags::empty());
    world.settle();
    assert!(!busy.is_over());
    drop(busy);
    let mut said = Vec::new();
    world.run_until("an answer", |world| {
        said.extend(words_since_last_call(world, client));
        said.len() == 2
    });
    assert_eq!(said, ["1 created", "3 created"]);
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn a_commit_waits_until_its_buffer_is_known_to_be_readable() {
    let Some((mut world, client, window, global)) = with_dmabufs() else { return };
    disturb(&world, GpuFault::Readable);
    let busy = BusyRenderThread::begin(&mut world, client, &window);
    let buffer = immediate(&mut world, client, &global, 1);
    commit(&mut world, client, &window, &buffer, 3);
    assert!(!busy.is_over());
    let surface = world.state.surfaces.iter().find(|entry| entry.queued_updates() > 0);
    assert!(surface.is_some(), "the commit does not wait for its buffer");
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    let keys = world.client(client).take_events();
    assert_eq!(keys.iter().filter(|event| matches!(event, ClientEvent::Key { .. })).count(), 2, "the session goes on");
    drop(busy);
    world.run_until("feedback", |world| {
        world.client(client).data.content_events.iter().any(|heard| heard.is_end_of_feedback(3))
    });
    assert!(world.client(client).light(3).is_some(), "it was shown");
    assert!(world.state.surfaces.iter().all(|entry| entry.queued_updates() == 0));
}

#[test]
fn unreadable_immediate_buffer_is_a_protocol_error() {
    let Some((mut world, client, window, global)) = with_dmabufs() else { return };
    let busy = BusyRenderThread::begin(&mut world, client, &window);
    let buffer = immediate(&mut world, client, &global, 1);
    commit(&mut world, client, &window, &buffer, 3);
    assert!(!busy.is_over() && !world.client(client).is_disconnected());
    drop(busy);
    world.run_until("the end of the client", |world| world.client(client).is_disconnected());
    assert_eq!(world.client(client).error, Some(("wl_buffer".to_owned(), WRONG_BUFFER)));
    world.kill(client);
    world.run_until_idle();
    assert!(world.stack().is_empty());
}

#[test]
fn disconnect_during_the_buffer_check_leaks_no_descriptor() {
    let Some((mut world, client, window, global)) = with_dmabufs() else { return };
    disturb(&world, GpuFault::Readable);
    let (other, other_window) = world.open_filled("other", SIZE, RED);
    world.run_until_idle();
    let busy = BusyRenderThread::begin(&mut world, other, &other_window);
    let before = descriptors();
    let buffer = immediate(&mut world, client, &global, 1);
    commit(&mut world, client, &window, &buffer, 3);
    params(&mut world, client, &global, 2).create(SIZE.0, SIZE.1, XRGB8888, Flags::empty());
    world.settle();
    world.kill(client);
    drop(busy);
    world.run_until_idle();
    world.run_until("its memory is closed", |_| descriptors() < before);
    assert!(!world.client(other).is_disconnected());
}

/// Open descriptors of this process. Other tests run in other processes.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn buffer_check_is_repeated_after_a_gpu_reset() {
    let Some((mut world, client, _window, global)) = with_dmabufs() else { return };
    disturb(&world, GpuFault::LostReading);
    // Without `GpuFault::Readable`, the next context cannot read the buffer.
    params(&mut world, client, &global, 1).create(SIZE.0, SIZE.1, XRGB8888, Flags::empty());
    let mut said = Vec::new();
    world.run_until("an answer", |world| {
        said.extend(words_since_last_call(world, client));
        !said.is_empty()
    });
    assert_eq!(said, ["1 failed"], "the next context checked the buffer");
    let (client, _window) = world.open_filled("next", SIZE, GREEN);
    world.run_until_idle();
    assert!(world.client(client).light(1).is_some(), "the next context draws");
}

#[test]
fn surface_feedback_has_the_plane_formats_of_its_output() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", SIZE, RED);
    let format = DrmFormat { code: DrmFourcc::Xrgb8888, modifier: DrmModifier::Linear };
    dmabuf::offer_formats(&mut world.state, 1, vec![format], &[]).unwrap();
    world.run_until_idle();
    let global = world.client(client).bind::<ZwpLinuxDmabufV1>();
    let handle = world.client(client).handle();
    let _feedback = global.get_surface_feedback(&window.surface, &handle, ());
    world.settle();
    assert_eq!(
        words_since_last_call(&mut world, client),
        ["device 1"],
        "without planes there is only the render device"
    );
    // The output's planes belong to another device, which does not know the memory layouts of the first.
    let shown = dmabuf::offer_formats(&mut world.state, 2, vec![format], &[format]).unwrap();
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    scanout_feedback::set_feedback(world.state.outputs.by_id(id).unwrap().output(), shown);
    hotplug::arrange(&mut world.state, id, None, 2.0);
    world.settle();
    assert_eq!(words_since_last_call(&mut world, client), ["device 2", "device 1"]);
    // Feedback that is requested later has the same tranches.
    let other = global.get_surface_feedback(&window.surface, &handle, ());
    world.settle();
    assert_eq!(words_since_last_call(&mut world, client), ["device 2", "device 1"]);
    drop(other);
    // A removed output can still be bound for a while, but it keeps no descriptor of its surfaces' feedback.
    let output = world.state.outputs.by_id(id).unwrap().output().clone();
    hotplug::remove(&mut world.state, id);
    assert!(scanout_feedback::of(&output).is_none());
}

#[test]
fn capture_into_a_tiled_buffer_fails_without_an_error() {
    let Some(gles) = gles() else { return };
    let mut world = TestWorld::rendered_by(gles, 1.0);
    let format = DrmFormat { code: DrmFourcc::Xrgb8888, modifier: DrmModifier::I915_x_tiled };
    dmabuf::offer_formats(&mut world.state, 0, vec![format], &[]);
    disturb(&world, GpuFault::Readable);
    let (client, _window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    let global = world.client(client).bind::<ZwpLinuxDmabufV1>();
    world.settle();
    let memory = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&memory, (SIZE.0 * SIZE.1 * 4) as u64).unwrap();
    let handle = world.client(client).handle();
    let params = global.create_params(&handle, 1);
    let modifier = u64::from(DrmModifier::I915_x_tiled);
    params.add(memory.as_fd(), 0, 0, SIZE.0 as u32 * 4, (modifier >> 32) as u32, modifier as u32);
    let buffer = params.create_immed(SIZE.0, SIZE.1, XRGB8888, Flags::empty(), &handle, ());
    params.destroy();
    world.run_until_idle();
    let output = world.client(client).bind_output();
    let screencopy = &world.client(client).globals().screencopy;
    let frame = screencopy.capture_output_region(0, &output, 0, 0, SIZE.0, SIZE.1, &handle, ());
    frame.copy(&buffer);
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{:?}", world.client(client).error);
    assert!(world.client(client).events().iter().any(|event| matches!(event, ClientEvent::CaptureFailed)));
}
