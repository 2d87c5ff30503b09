//! Converts a frame log to a trace for Perfetto (<https://ui.perfetto.dev>, or its `trace_processor`).
//!
//! ```text
//!  HEADLESS-1            compose   ▐latch──rendered▌      ▐───▌       ◆ a missed refresh, with its sentence
//!                        display            └──────────►▐ on screen ─────────▌
//!  window 3 (foot)       draws   ▐callback──ready▌  ▲        ▲
//!                        input  ◆──────┘         └──┘        └ arrows: from the input to the frame, its latch, its light
//! ```
//!
//! Frames of a window that are drawn ahead overlap. Each is on the first free track of several with the same name,
//! which Perfetto shows as one. Times are those of the log, in nanoseconds of `CLOCK_MONOTONIC`.

mod encode;

use std::collections::HashMap;
use std::io::{BufRead, Write};

pub use encode::TrackId;
use encode::{Encoder, Event, Kind};

use super::line::Line;
use super::reader::{LogError, Reader};
use upbeat_timing::id::{OutputId, SurfaceId, WindowId};
use upbeat_timing::record::{ClientFrameRecord, FrameRecord};
use upbeat_timing::time::Instant;

/// Totals of a trace that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Number of frames, of outputs and of clients.
    pub frames: u64,
    /// Number of late frames.
    pub misses: u64,
    /// Whether the log's last line was cut off and therefore left out.
    pub cut_off: bool,
}

/// The client frames that each frame of an output shows, as numbers of their flows (arrows).
type Latched = HashMap<(OutputId, u64), Vec<u64>>;

/// Writes the log that `open` opens as a trace to the sink that `create` makes. The log is read twice, because later
/// lines also name client frames of an earlier output frame. If the log cannot be read, no trace is created.
///
/// # Errors
/// The log cannot be read, or the trace cannot be written.
pub fn write<R: BufRead, W: Write>(
    mut open: impl FnMut() -> std::io::Result<R>,
    create: impl FnOnce() -> std::io::Result<W>,
) -> Result<Written, LogError> {
    let mut latched = Latched::new();
    let mut reader = Reader::new(open()?)?;
    while let Some(line) = reader.next_line()? {
        if let Line::Client(client) = &line
            && let Some(frame) = client.record.frame
        {
            latched.entry((client.record.output, frame)).or_default().push(arrow(reader.number()));
        }
    }
    let mut trace = Trace::new(create()?, latched);
    let mut reader = Reader::new(open()?)?;
    while let Some(line) = reader.next_line()? {
        trace.line(line, arrow(reader.number()))?;
    }
    trace.written.cut_off = reader.cut_off();
    Ok(trace.finish()?)
}

/// The number of a flow: the line of the client frame that it belongs to.
const fn arrow(line: usize) -> u64 {
    line as u64
}

/// The object that tracks belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Owner {
    Output(OutputId),
    Window(WindowId),
    Surface(SurfaceId),
}

/// The tracks of one output, window or surface.
struct Tracks {
    root: TrackId,
    /// Tracks by name, each with the time from which it is free.
    lanes: HashMap<&'static str, Vec<(TrackId, u64)>>,
    /// The track of frames on screen, once it has an open slice.
    on_screen: Option<TrackId>,
    /// Time of the newest input event that has a flow.
    input: Option<Instant>,
}

struct Trace<W> {
    encoder: Encoder<W>,
    latched: Latched,
    names: HashMap<Owner, String>,
    tracks: HashMap<Owner, Tracks>,
    next: u64,
    written: Written,
}

impl<W: Write> Trace<W> {
    fn new(sink: W, latched: Latched) -> Self {
        Trace {
            encoder: Encoder::new(sink),
            latched,
            names: HashMap::new(),
            tracks: HashMap::new(),
            next: 1,
            written: Written::default(),
        }
    }

    fn line(&mut self, line: Line, arrow: u64) -> std::io::Result<()> {
        match line {
            Line::Header(_) | Line::LeftOut { .. } => Ok(()),
            Line::OutputName { output, name } => {
                self.names.insert(Owner::Output(output), name);
                Ok(())
            }
            Line::WindowName { window, app_id } => {
                self.names.insert(Owner::Window(window), format!("{window} ({app_id})"));
                Ok(())
            }
            Line::Output(frame) => self.output(&frame.record, frame.why.as_deref()),
            Line::Client(frame) => self.client(&frame.record, frame.why.as_deref(), arrow),
        }
    }

    fn output(&mut self, record: &FrameRecord, why: Option<&str>) -> std::io::Result<()> {
        self.written.frames += 1;
        let owner = Owner::Output(record.output);
        let arrows = self.latched.remove(&(record.output, record.frame)).unwrap_or_default();
        let name = format!("refresh {}", record.target.0);
        let begun = record.latched;
        let ends = [record.composed, record.rendered, record.submitted];
        if let Some(done) = ends.into_iter().flatten().max() {
            let track = self.lane(owner, "compose", begun, done)?;
            let mut event = Event::new(Kind::Begin, track).name(&name).number("frame", record.frame.cast_signed());
            event = event.number("budget ns", record.compose_budget.as_nanos());
            event = event.number("damage px", record.damage.cast_signed());
            for arrow in &arrows {
                event = event.flow(*arrow);
            }
            self.encoder.event(begun.as_nanos(), &event)?;
            self.encoder.event(done.as_nanos(), &Event::new(Kind::End, track))?;
        }
        if let Some(light) = record.presented {
            self.light(owner, &name, light, &arrows)?;
        }
        self.miss(owner, record.present, why)
    }

    /// Starts the slice of frame `name` on screen at `light`, and ends the slice before it.
    fn light(&mut self, owner: Owner, name: &str, light: Instant, arrows: &[u64]) -> std::io::Result<()> {
        let on_screen = self.tracks(owner)?.on_screen;
        let track = match on_screen {
            Some(track) => {
                self.encoder.event(light.as_nanos(), &Event::new(Kind::End, track))?;
                track
            }
            None => {
                let track = self.lane(owner, "display", light, light)?;
                self.tracks(owner)?.on_screen = Some(track);
                track
            }
        };
        let mut event = Event::new(Kind::Begin, track).name(name);
        for arrow in arrows {
            event = event.flow_ends(*arrow);
        }
        self.encoder.event(light.as_nanos(), &event)
    }

    fn client(&mut self, record: &ClientFrameRecord, why: Option<&str>, arrow: u64) -> std::io::Result<()> {
        self.written.frames += 1;
        let owner = record.window.map_or(Owner::Surface(record.surface), Owner::Window);
        let begun = record.callback_sent.or(record.committed);
        let done = record.ready.or(record.committed);
        if let Some((begun, done)) = begun.zip(done).filter(|(begun, done)| begun <= done) {
            let is_new = record.input.is_some() && record.input != self.tracks(owner)?.input;
            if let Some(input) = record.input.filter(|input| is_new && *input <= begun) {
                self.tracks(owner)?.input = Some(input);
                let track = self.lane(owner, "input", input, input)?;
                self.encoder.event(input.as_nanos(), &Event::new(Kind::Instant, track).name("input").flow(arrow))?;
            }
            let track = self.lane(owner, "draws", begun, done)?;
            let event = Event::new(Kind::Begin, track)
                .name(&format!("for refresh {}", record.target.0))
                .text("pacing", &record.pacing.to_string())
                .number("budget ns", record.budget.as_nanos())
                .flow(arrow);
            self.encoder.event(begun.as_nanos(), &event)?;
            self.encoder.event(done.as_nanos(), &Event::new(Kind::End, track))?;
        }
        self.miss(owner, record.present, why)
    }

    /// Writes a miss as an instant event at its refresh, with its sentence as the name.
    fn miss(&mut self, owner: Owner, at: Instant, why: Option<&str>) -> std::io::Result<()> {
        let Some(why) = why else { return Ok(()) };
        self.written.misses += 1;
        let track = self.lane(owner, "misses", at, at)?;
        self.encoder.event(at.as_nanos(), &Event::new(Kind::Instant, track).name(why))
    }

    /// A track of `owner` called `name` that is free from `start` on. Reserves it until `end`.
    fn lane(&mut self, owner: Owner, name: &'static str, start: Instant, end: Instant) -> std::io::Result<TrackId> {
        let (start, end) = (start.as_nanos(), end.as_nanos());
        let tracks = self.tracks(owner)?;
        let root = tracks.root;
        let lanes = tracks.lanes.entry(name).or_default();
        if let Some((track, free)) = lanes.iter_mut().find(|(_, free)| *free <= start) {
            *free = end;
            return Ok(*track);
        }
        let track = self.new_track(name, Some(root))?;
        self.tracks(owner)?.lanes.entry(name).or_default().push((track, end));
        Ok(track)
    }

    fn new_track(&mut self, name: &str, parent: Option<TrackId>) -> std::io::Result<TrackId> {
        let track = TrackId(self.next);
        self.next += 1;
        self.encoder.track(track, name, parent)?;
        Ok(track)
    }

    fn tracks(&mut self, owner: Owner) -> std::io::Result<&mut Tracks> {
        if !self.tracks.contains_key(&owner) {
            let name = self.names.get(&owner).cloned().unwrap_or_else(|| match owner {
                Owner::Output(output) => output.to_string(),
                Owner::Window(window) => window.to_string(),
                Owner::Surface(surface) => surface.to_string(),
            });
            let root = self.new_track(&name, None)?;
            let tracks = Tracks { root, lanes: HashMap::new(), on_screen: None, input: None };
            self.tracks.insert(owner, tracks);
        }
        match self.tracks.get_mut(&owner) {
            Some(tracks) => Ok(tracks),
            None => Err(std::io::Error::other("a track is missing that was created before")),
        }
    }

    /// Flushes the trace. The frames on screen at the end have slices without an end.
    fn finish(self) -> std::io::Result<Written> {
        self.encoder.finish()?;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests;
