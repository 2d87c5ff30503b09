//! Pictures of what an output *presented*.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;

use crate::backend::PixelRect;
use crate::state::State;
use crate::time::Instant;

/// A picture that a client asked for.
#[derive(Debug)]
pub struct Request {
    /// The part of the output, in its physical pixels as they are scanned out.
    pub region: PixelRect,
    /// Where the pixels go: `wl_shm`, `Xrgb8888`, exactly as large as `region`; was checked when it was asked for.
    pub buffer: WlBuffer,
    /// Whether the cursor is in the picture.
    pub with_cursor: bool,
    /// Wait until something in the region has changed since this client's last picture.
    pub on_damage: bool,
    /// Called exactly once, when the picture is there or cannot be had. Dropping it unanswered fails the request.
    pub reply: crate::protocol::screencopy::Reply,
}

/// What became of a picture.
#[derive(Clone, Debug)]
pub struct Captured {
    /// When what it shows was presented.
    pub presented: Instant,
    /// What has changed since the client's last picture, relative to the region.
    pub damage: Vec<PixelRect>,
}

/// Asks for a picture of what `output` presents. The request waits there until it is served.
pub fn capture(state: &mut State, output: &Output, request: Request) {
    state.outputs.captures.push((output.clone(), request));
}
