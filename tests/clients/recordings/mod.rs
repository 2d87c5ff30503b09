//! `ext_image_copy_capture_v1`: recordings of outputs, single windows and the cursor.

mod cost_to_client;
mod cursor;
mod errors;
mod many_surfaces;
mod outputs;
mod transforms;
mod windows;

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_output::WlOutput;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum};
use wayland_protocols::ext::foreign_toplevel_list::v1::client::ext_foreign_toplevel_list_v1::ExtForeignToplevelListV1;
use wayland_protocols::ext::image_capture_source::v1::client::{
    ext_foreign_toplevel_image_capture_source_manager_v1::ExtForeignToplevelImageCaptureSourceManagerV1,
    ext_image_capture_source_v1::ExtImageCaptureSourceV1,
    ext_output_image_capture_source_manager_v1::ExtOutputImageCaptureSourceManagerV1,
};
use wayland_protocols::ext::image_copy_capture::v1::client::{
    ext_image_copy_capture_cursor_session_v1::{self, ExtImageCopyCaptureCursorSessionV1},
    ext_image_copy_capture_frame_v1::{self, ExtImageCopyCaptureFrameV1},
    ext_image_copy_capture_manager_v1::{ExtImageCopyCaptureManagerV1, Options},
    ext_image_copy_capture_session_v1::{self, ExtImageCopyCaptureSessionV1},
};

use crate::fixture::client::TestClientState;
use crate::fixture::dispatch::silent;
use crate::fixture::{ClientEvent, ClientIndex, TestWorld};

silent!(
    ExtImageCopyCaptureManagerV1,
    ExtImageCaptureSourceV1,
    ExtOutputImageCaptureSourceManagerV1,
    ExtForeignToplevelImageCaptureSourceManagerV1
);

macro_rules! capture_events {
    ($interface:ty, |$event:ident| $words:expr) => {
        impl Dispatch<$interface, ()> for TestClientState {
            fn event(
                data: &mut Self,
                _: &$interface,
                $event: <$interface as Proxy>::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                data.events.push(ClientEvent::InWords($words));
            }
        }
    };
}

capture_events!(ExtImageCopyCaptureSessionV1, |event| {
    use ext_image_copy_capture_session_v1::Event as Said;
    match event {
        Said::BufferSize { width, height } => format!("size {width}x{height}"),
        Said::ShmFormat { format: WEnum::Value(format) } => format!("{format:?}"),
        Said::Done => "done".to_owned(),
        Said::Stopped => "stopped".to_owned(),
        other => format!("{other:?}"),
    }
});

capture_events!(ExtImageCopyCaptureFrameV1, |event| {
    use ext_image_copy_capture_frame_v1::Event as Said;
    match event {
        Said::Transform { transform: WEnum::Value(transform) } => format!("transform {transform:?}"),
        Said::Damage { x, y, width, height } => format!("damage {width}x{height} at {x},{y}"),
        Said::PresentationTime { .. } => "time".to_owned(),
        Said::Ready => "ready".to_owned(),
        Said::Failed { reason: WEnum::Value(reason) } => format!("failed {reason:?}"),
        other => format!("{other:?}"),
    }
});

capture_events!(ExtImageCopyCaptureCursorSessionV1, |event| {
    use ext_image_copy_capture_cursor_session_v1::Event as Said;
    match event {
        Said::Enter => "enter".to_owned(),
        Said::Leave => "leave".to_owned(),
        Said::Position { x, y } => format!("at {x},{y}"),
        Said::Hotspot { x, y } => format!("hotspot {x},{y}"),
        other => format!("{other:?}"),
    }
});

/// Capture events that the client received since the last call, as words.
fn told(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    let told = |event| if let ClientEvent::InWords(what) = event { Some(what) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

/// A client that records.
pub struct RecordingClient {
    pub client: ClientIndex,
    pub manager: ExtImageCopyCaptureManagerV1,
}

/// Shared memory for a picture, and a buffer in it.
struct RecordingBuffer {
    memory: OwnedFd,
    buffer: WlBuffer,
    stride: i32,
}

impl RecordingBuffer {
    /// A pixel with its fourth byte.
    fn raw(&self, x: i32, y: i32) -> u32 {
        let mut bytes = [0; 4];
        rustix::io::pread(&self.memory, &mut bytes, (y * self.stride + x * 4) as u64).unwrap();
        u32::from_le_bytes(bytes)
    }

    fn pixel(&self, x: i32, y: i32) -> u32 {
        self.raw(x, y) & 0x00ff_ffff
    }
}

impl RecordingClient {
    pub fn new(world: &mut TestWorld) -> Self {
        let client = world.connect();
        let manager = world.client(client).bind::<ExtImageCopyCaptureManagerV1>();
        RecordingClient { client, manager }
    }

    pub fn output(&self, world: &mut TestWorld) -> ExtImageCaptureSourceV1 {
        let client = world.client(self.client);
        let output: WlOutput = client.bind_output();
        let sources = client.bind::<ExtOutputImageCaptureSourceManagerV1>();
        sources.create_source(&output, &client.handle(), ())
    }

    /// Source of the window at index `place` of the toplevel list.
    pub fn window(&self, world: &mut TestWorld, place: usize) -> ExtImageCaptureSourceV1 {
        let _list = world.client(self.client).bind::<ExtForeignToplevelListV1>();
        world.run_until("a list", |world| {
            world.settle();
            world.client(self.client).data.ext_toplevels.len() > place
        });
        world.client(self.client).take_events();
        let client = world.client(self.client);
        let handle = client.data.ext_toplevels[place].clone();
        let sources = client.bind::<ExtForeignToplevelImageCaptureSourceManagerV1>();
        sources.create_source(&handle, &client.handle(), ())
    }

    pub fn session(
        &self,
        world: &mut TestWorld,
        source: &ExtImageCaptureSourceV1,
        options: Options,
    ) -> ExtImageCopyCaptureSessionV1 {
        let handle = world.client(self.client).handle();
        self.manager.create_session(source, options, &handle, ())
    }

    fn capture_buffer(&self, world: &mut TestWorld, (width, height): (i32, i32), format: Format) -> RecordingBuffer {
        self.padded_capture_buffer(world, (width, height), width * 4, format)
    }

    fn padded_capture_buffer(
        &self,
        world: &mut TestWorld,
        (width, height): (i32, i32),
        stride: i32,
        format: Format,
    ) -> RecordingBuffer {
        let memory = memfd_create("film", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&memory, (stride * height) as u64).unwrap();
        let client = world.client(self.client);
        let pool = client.globals().shm.create_pool(memory.as_fd(), stride * height, &client.handle(), ());
        let buffer = pool.create_buffer(0, width, height, stride, format, &client.handle(), ());
        pool.destroy();
        RecordingBuffer { memory, buffer, stride }
    }

    /// Starts the capture of a frame.
    fn start_capture(
        &self,
        world: &mut TestWorld,
        session: &ExtImageCopyCaptureSessionV1,
        film: &RecordingBuffer,
    ) -> ExtImageCopyCaptureFrameV1 {
        let frame = session.create_frame(&world.client(self.client).handle(), ());
        frame.attach_buffer(&film.buffer);
        frame.damage_buffer(0, 0, i32::MAX, i32::MAX);
        frame.capture();
        frame
    }

    /// Waits until the frame is ready or has failed, and destroys it. Returns its events as words.
    fn finish_capture(&self, world: &mut TestWorld, frame: &ExtImageCopyCaptureFrameV1) -> Vec<String> {
        let mut said = Vec::new();
        world.run_until("a picture", |world| {
            said.extend(told(world, self.client));
            said.iter().any(|words| words == "ready" || words.starts_with("failed"))
        });
        frame.destroy();
        said
    }

    /// Captures a frame. Returns its events as words.
    fn capture_frame(
        &self,
        world: &mut TestWorld,
        session: &ExtImageCopyCaptureSessionV1,
        film: &RecordingBuffer,
    ) -> Vec<String> {
        let frame = self.start_capture(world, session, film);
        self.finish_capture(world, &frame)
    }

    /// Events since the last call, and of the next 20 turns.
    fn events_of_next_turns(&self, world: &mut TestWorld) -> Vec<String> {
        for _ in 0..20 {
            world.turn();
        }
        told(world, self.client)
    }
}
