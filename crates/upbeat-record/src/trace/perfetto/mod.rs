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
use encode::{TraceEncoder, TrackEvent, TrackEventType};

use super::line::LogLine;
use super::reader::{LogError, LogReader};
use upbeat_timing::id::{OutputId, SurfaceId, WindowId};
use upbeat_timing::record::{ClientFrameRecord, FrameRecord};
use upbeat_timing::time::Instant;

/// Totals of a trace that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceTotals {
    /// Number of frames, of outputs and of clients.
    pub frames: u64,
    /// Number of late frames.
    pub misses: u64,
    /// Whether the log's last line was cut off and therefore left out.
    pub cut_off: bool,
}

/// The client frames that each frame of an output shows, as numbers of their flows (arrows).
type LatchedFlows = HashMap<(OutputId, u64), Vec<u64>>;

/// Writes the log that `open` opens as a trace to the sink that `create` makes. The log is read twice, because later
/// lines also name client frames of an earlier output frame. If the log cannot be read, no trace is created.
///
/// # Errors
/// The log cannot be read, or the trace cannot be written.
pub fn write<R: BufRead, W: Write>(
    mut open: impl FnMut() -> std::io::Result<R>,
    create: impl FnOnce() -> std::io::Result<W>,
) -> Result<TraceTotals, LogError> {
    let mut latched = LatchedFlows::new();
    let mut reader = LogReader::new(open()?)?;
    while let Some(line) = reader.next_line()? {
        if let LogLine::Client(client) = &line
            && let Some(frame) = client.record.frame
        {
            latched.entry((client.record.output, frame)).or_default().push(flow_id(reader.number()));
        }
    }
    let mut trace = TraceWriter::new(create()?, latched);
    let mut reader = LogReader::new(open()?)?;
    while let Some(line) = reader.next_line()? {
        trace.line(line, flow_id(reader.number()))?;
    }
    trace.written.cut_off = reader.cut_off();
    Ok(trace.finish()?)
}

/// The number of a flow: the line of the client frame that it belongs to.
const fn flow_id(line: usize) -> u64 {
    line as u64
}

/// The object that tracks belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TrackOwner {
    Output(OutputId),
    Window(WindowId),
    Surface(SurfaceId),
}

/// The tracks of one output, window or surface.
struct OwnerTracks {
    root: TrackId,
    /// Tracks by name, each with the time from which it is free.
    lanes: HashMap<&'static str, Vec<(TrackId, u64)>>,
    /// The track of frames on screen, once it has an open slice.
    on_screen: Option<TrackId>,
    /// Time of the newest input event that has a flow.
    input: Option<Instant>,
}

struct TraceWriter<W> {
    encoder: TraceEncoder<W>,
    latched: LatchedFlows,
    names: HashMap<TrackOwner, String>,
    tracks: HashMap<TrackOwner, OwnerTracks>,
    next: u64,
    written: TraceTotals,
}

impl<W: Write> TraceWriter<W> {
    fn new(sink: W, latched: LatchedFlows) -> Self {
        TraceWriter {
            encoder: TraceEncoder::new(sink),
            latched,
            names: HashMap::new(),
            tracks: HashMap::new(),
            next: 1,
            written: TraceTotals::default(),
        }
    }

    fn line(&mut self, line: LogLine, arrow: u64) -> std::io::Result<()> {
        match line {
            LogLine::Header(_) | LogLine::LeftOut { .. } => Ok(()),
            LogLine::OutputName { output, name } => {
                self.names.insert(TrackOwner::Output(output), name);
                Ok(())
            }
            LogLine::WindowName { window, app_id } => {
                self.names.insert(TrackOwner::Window(window), format!("{window} ({app_id})"));
                Ok(())
            }
            LogLine::Output(frame) => self.output(&frame.record, frame.why.as_deref()),
            LogLine::Client(frame) => self.client(&frame.record, frame.why.as_deref(), arrow),
        }
    }

    fn output(&mut self, record: &FrameRecord, why: Option<&str>) -> std::io::Result<()> {
        self.written.frames += 1;
        let owner = TrackOwner::Output(record.output);
        let arrows = self.latched.remove(&(record.output, record.frame)).unwrap_or_default();
        let name = format!("refresh {}", record.target.0);
        let begun = record.latched;
        let ends = [record.composed, record.rendered, record.submitted];
        if let Some(done) = ends.into_iter().flatten().max() {
            let track = self.lane(owner, "compose", begun, done)?;
            let mut event =
                TrackEvent::new(TrackEventType::Begin, track).name(&name).number("frame", record.frame.cast_signed());
            event = event.number("budget ns", record.compose_budget.as_nanos());
            event = event.number("damage px", record.damage.cast_signed());
            for arrow in &arrows {
                event = event.flow(*arrow);
            }
            self.encoder.event(begun.as_nanos(), &event)?;
            self.encoder.event(done.as_nanos(), &TrackEvent::new(TrackEventType::End, track))?;
        }
        if let Some(light) = record.presented {
            self.light(owner, &name, light, &arrows)?;
        }
        self.miss(owner, record.present, why)
    }

    /// Starts the slice of frame `name` on screen at `light`, and ends the slice before it.
    fn light(&mut self, owner: TrackOwner, name: &str, light: Instant, arrows: &[u64]) -> std::io::Result<()> {
        let on_screen = self.tracks(owner)?.on_screen;
        let track = match on_screen {
            Some(track) => {
                self.encoder.event(light.as_nanos(), &TrackEvent::new(TrackEventType::End, track))?;
                track
            }
            None => {
                let track = self.lane(owner, "display", light, light)?;
                self.tracks(owner)?.on_screen = Some(track);
                track
            }
        };
        let mut event = TrackEvent::new(TrackEventType::Begin, track).name(name);
        for arrow in arrows {
            event = event.flow_ends(*arrow);
        }
        self.encoder.event(light.as_nanos(), &event)
    }

    fn client(&mut self, record: &ClientFrameRecord, why: Option<&str>, arrow: u64) -> std::io::Result<()> {
        self.written.frames += 1;
        let owner = record.window.map_or(TrackOwner::Surface(record.surface), TrackOwner::Window);
        let begun = record.callback_sent.or(record.committed);
        let done = record.ready.or(record.committed);
        if let Some((begun, done)) = begun.zip(done).filter(|(begun, done)| begun <= done) {
            let is_new = record.input.is_some() && record.input != self.tracks(owner)?.input;
            if let Some(input) = record.input.filter(|input| is_new && *input <= begun) {
                self.tracks(owner)?.input = Some(input);
                let track = self.lane(owner, "input", input, input)?;
                self.encoder.event(
                    input.as_nanos(),
                    &TrackEvent::new(TrackEventType::Instant, track).name("input").flow(arrow),
                )?;
            }
            let track = self.lane(owner, "draws", begun, done)?;
            let event = TrackEvent::new(TrackEventType::Begin, track)
                .name(&format!("for refresh {}", record.target.0))
                .text("pacing", &record.pacing.to_string())
                .number("budget ns", record.budget.as_nanos())
                .flow(arrow);
            self.encoder.event(begun.as_nanos(), &event)?;
            self.encoder.event(done.as_nanos(), &TrackEvent::new(TrackEventType::End, track))?;
        }
        self.miss(owner, record.present, why)
    }

    /// Writes a miss as an instant event at its refresh, with its sentence as the name.
    fn miss(&mut self, owner: TrackOwner, at: Instant, why: Option<&str>) -> std::io::Result<()> {
        let Some(why) = why else { return Ok(()) };
        self.written.misses += 1;
        let track = self.lane(owner, "misses", at, at)?;
        self.encoder.event(at.as_nanos(), &TrackEvent::new(TrackEventType::Instant, track).name(why))
    }

    /// A track of `owner` called `name` that is free from `start` on. Reserves it until `end`.
    fn lane(
        &mut self,
        owner: TrackOwner,
        name: &'static str,
        start: Instant,
        end: Instant,
    ) -> std::io::Result<TrackId> {
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

    fn tracks(&mut self, owner: TrackOwner) -> std::io::Result<&mut OwnerTracks> {
        if !self.tracks.contains_key(&owner) {
            let name = self.names.get(&owner).cloned().unwrap_or_else(|| match owner {
                TrackOwner::Output(output) => output.to_string(),
                TrackOwner::Window(window) => window.to_string(),
                TrackOwner::Surface(surface) => surface.to_string(),
            });
            let root = self.new_track(&name, None)?;
            let tracks = OwnerTracks { root, lanes: HashMap::new(), on_screen: None, input: None };
            self.tracks.insert(owner, tracks);
        }
        match self.tracks.get_mut(&owner) {
            Some(tracks) => Ok(tracks),
            None => Err(std::io::Error::other("a track is missing that was created before")),
        }
    }

    /// Flushes the trace. The frames on screen at the end have slices without an end.
    fn finish(self) -> std::io::Result<TraceTotals> {
        self.encoder.finish()?;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests;
