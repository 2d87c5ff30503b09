//! Pictures of what an output *presented*.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::shm::with_buffer_contents_mut;

use super::OutputState;
use crate::backend::{PixelBuffer, PixelRect};
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
    /// Wait until something has changed.
    pub on_damage: bool,
    /// Who asked.
    pub reply: Box<dyn Reply>,
}

/// Answers one request, once. Dropping it unanswered fails the request.
pub trait Reply: std::fmt::Debug {
    /// Whether somebody still waits for it.
    fn is_wanted(&self) -> bool;
    /// The pixels are in the buffer.
    fn ready(self: Box<Self>, captured: &Captured);
}

/// What became of a picture.
#[derive(Clone, Debug)]
pub struct Captured {
    /// When what it shows was presented.
    pub presented: Instant,
    /// What has changed since the client's last picture, relative to the region.
    pub damage: Vec<PixelRect>,
}

/// A request that waits.
#[derive(Debug)]
pub struct Waiting {
    output: Output,
    request: Request,
    /// Refreshes with something new that the output had shown when it was asked.
    lights: u64,
}

/// Asks for a picture of what `output` presents. The request waits there until it is served.
pub fn capture(state: &mut State, output: &Output, request: Request) {
    let lights = state.outputs.list.iter().find(|known| known.output == *output).map_or(0, |known| known.lights);
    state.outputs.captures.push(Waiting { output: output.clone(), request, lights });
}

/// Serves what can be served: at once what may show the screen as it is, else with the next light.
pub(super) fn serve(state: &mut State) {
    let outputs = &mut state.outputs;
    let (ready, waiting) = std::mem::take(&mut outputs.captures).into_iter().partition(|waiting| {
        let output = outputs.list.iter().find(|known| known.output == waiting.output);
        // An output that is gone will never light up again: dropping the request says that it failed.
        output.is_none_or(|output| output.lights > if waiting.request.on_damage { waiting.lights } else { 0 })
    });
    outputs.captures = waiting;
    for waiting in ready {
        let output = outputs.list.iter().find(|known| known.output == waiting.output);
        if let Some(output) = output
            && waiting.request.reply.is_wanted()
        {
            serve_one(output, waiting.request);
        }
    }
}

fn serve_one(output: &OutputState, request: Request) {
    match output.display.screenshot(request.with_cursor) {
        Some(picture) if write(&picture, request.region, &request.buffer) => {
            let PixelRect { width, height, .. } = request.region;
            let damage = vec![PixelRect { x: 0, y: 0, width, height }];
            request.reply.ready(&Captured { presented: output.presented, damage });
        }
        _ => drop(request.reply),
    }
}

/// Writes the part of `picture` that `region` names. Returns whether the client's buffer could take it.
#[expect(unsafe_code, reason = "shared memory is written through a pointer: its client may read at the same time")]
fn write(picture: &PixelBuffer, region: PixelRect, buffer: &WlBuffer) -> bool {
    let inside = region.x >= 0
        && region.y >= 0
        && region.x + region.width <= picture.width
        && region.y + region.height <= picture.height;
    let written = with_buffer_contents_mut(buffer, |start, length, data| {
        let row = region.width as usize * 4;
        let last = data.offset as usize + (region.height as usize - 1) * data.stride as usize + row;
        if !inside || data.width != region.width || data.height != region.height || last > length {
            return false;
        }
        for y in 0..region.height as usize {
            let from = (region.y as usize + y) * picture.width as usize + region.x as usize;
            let pixels = &picture.pixels[from..from + region.width as usize];
            // SAFETY: the row ends at or before `last`, which lies within the `length` bytes at `start`.
            unsafe {
                let to = start.add(data.offset as usize + y * data.stride as usize);
                std::ptr::copy_nonoverlapping(pixels.as_ptr().cast::<u8>(), to, row);
            }
        }
        true
    });
    written.unwrap_or(false)
}
