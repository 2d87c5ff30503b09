//! Pictures of what an output *presented*.
//!
//! ```text
//!   asked ─► waits for light ─► a [`Shot`] of the screen ┊ `writer`: copied on a thread of its own ┊ ─► answered
//! ```
//!
//! The main thread copies nothing that it need not: a frame of a large output takes as long as drawing one.

mod writer;

use std::collections::VecDeque;

use calloop::LoopHandle;
use smithay::output::Output;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;

use crate::backend::PixelRect;
use crate::descriptors;
use crate::state::State;
use crate::time::{Clock, Instant, Span};
use writer::{Job, Writer};

/// Pictures in the writer's hands at once: one that it writes, and one so that it need not wait for the next turn. All
/// others wait: what they show is then as new as it can be, and no more buffers of a display are kept from it.
const MOST_WRITTEN: usize = 2;

/// No output refreshes less often.
const LONGEST_INTERVAL: Span = Span::from_seconds(1);

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
struct Waiting {
    output: Output,
    request: Request,
    /// Refreshes with something new that the output had shown when it was asked.
    lights: u64,
}

/// A picture that is being written.
#[derive(Debug)]
struct Writing {
    number: u64,
    reply: Box<dyn Reply>,
    captured: Captured,
}

/// All that was asked for and not answered.
#[derive(Debug, Default)]
pub struct Captures {
    waiting: Vec<Waiting>,
    /// In the order in which they are written.
    writing: VecDeque<Writing>,
    last: u64,
    /// Started with the first picture.
    writer: Option<Writer>,
    /// The last picture before those of this writer.
    writes_after: u64,
    /// The last refresh for which each client was given a picture of each output, where that is not long ago.
    given: Vec<(ClientId, Output, Instant)>,
    /// When somebody may have the next one who has to wait for that.
    pub(super) wake: Option<Instant>,
}

/// Asks for a picture of what `output` presents. The request waits there until it is served.
pub fn capture(state: &mut State, output: &Output, request: Request) {
    if descriptors::are_scarce() {
        // Dropped, it says that it failed.
        tracing::debug!("no picture is taken: nine of ten descriptors are in use");
        return;
    }
    let lights = state.outputs.list.iter().find(|known| known.output == *output).map_or(0, |known| known.lights);
    state.outputs.captures.waiting.push(Waiting { output: output.clone(), request, lights });
}

/// Serves what can be served: at once what may show the screen as it is, else with the next light.
pub(super) fn serve(state: &mut State) {
    let now = state.clock.now();
    let State { outputs, loop_handle, shell, .. } = state;
    let covers = shell.lock.covers();
    let super::Outputs { list, captures, .. } = outputs;
    captures.wake = None;
    for waiting in std::mem::take(&mut captures.waiting) {
        // An output that is gone will never light up again: dropping the request says that it failed.
        let Some(output) = list.iter().find(|known| known.output == waiting.output) else { continue };
        let has_light = output.lights > if waiting.request.on_damage { waiting.lights } else { 0 };
        let is_ready = has_light && output.may_be_captured(covers);
        if !waiting.request.reply.is_wanted() {
            continue;
        }
        if !is_ready || captures.writing.len() >= MOST_WRITTEN {
            captures.waiting.push(waiting);
            continue;
        }
        if let Some(next) = captures.next_picture(output, &waiting.request, now) {
            captures.wake = captures.wake.into_iter().chain([next]).min();
            captures.waiting.push(waiting);
            continue;
        }
        captures.begin(output, waiting.request, loop_handle);
    }
}

impl Captures {
    /// When the client may have its next picture, if not now: one that asks as fast as it can would keep a core busy with
    /// pictures that show the same, and gets one a refresh.
    fn next_picture(&mut self, output: &super::OutputState, request: &Request, now: Instant) -> Option<Instant> {
        let interval = output.conductor.output().vsync().interval();
        let client = request.buffer.client()?.id();
        self.given.retain(|(_, _, given)| now - *given < LONGEST_INTERVAL);
        let given = self.given.iter_mut().find(|(known, of, _)| *known == client && *of == output.output);
        match given {
            Some((_, _, given)) if now < *given + interval => return Some(*given + interval),
            Some((_, _, given)) => *given = now,
            None => self.given.push((client, output.output.clone(), now)),
        }
        None
    }

    fn begin(&mut self, output: &super::OutputState, request: Request, handle: &LoopHandle<'static, State>) {
        let Request { region, buffer, with_cursor, reply, .. } = request;
        if self.writer.is_none() {
            let last = self.last;
            self.writer = Writer::start(handle, written, move |state| state.outputs.captures.writer_ended(last))
                .inspect_err(|error| tracing::error!(%error, "no pictures can be taken"))
                .ok();
            self.writes_after = last;
        }
        let shot = output.display.shot(with_cursor);
        let (Some(shot), Some(writer)) = (shot, &self.writer) else { return };
        self.last += 1;
        let number = self.last;
        if !writer.write(Job { number, shot, region, buffer }) {
            // Its thread is gone; the next picture has another.
            self.writer = None;
            return;
        }
        let PixelRect { width, height, .. } = region;
        let damage = vec![PixelRect { x: 0, y: 0, width, height }];
        self.writing.push_back(Writing { number, reply, captured: Captured { presented: output.presented, damage } });
    }

    /// The thread that writes what comes after picture `last` is gone, and what it had failed: dropped, requests say so.
    fn writer_ended(&mut self, last: u64) {
        if self.writes_after == last {
            self.writer = None;
            self.writing.clear();
        } else {
            self.writing.retain(|writing| writing.number > self.writes_after);
        }
    }
}

/// The writer has done with the picture of this number.
fn written(state: &mut State, number: u64, succeeded: bool) {
    let writing = &mut state.outputs.captures.writing;
    // What was asked before it was done before it, unless its thread was lost.
    while writing.front().is_some_and(|done| done.number <= number)
        && let Some(done) = writing.pop_front()
    {
        if done.number == number && succeeded {
            done.reply.ready(&done.captured);
        }
    }
}
