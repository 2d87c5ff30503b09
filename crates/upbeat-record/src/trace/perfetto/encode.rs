//! Encodes the few messages of Perfetto's trace format that we write.
//!
//! A trace is a `Trace` message, which is a plain sequence of `TracePacket`s, so that it can be written piece by piece.
//! Field numbers are from `protos/perfetto/trace` (trace_packet, track_descriptor, track_event, debug_annotation).

use std::io::{self, Write};

/// Number of the packet sequence: all packets are in one sequence.
const SEQUENCE: u64 = 1;

mod field {
    pub(super) const TRACE_PACKET: u32 = 1;
    pub(super) mod packet {
        pub(in super::super) const TIMESTAMP: u32 = 8;
        pub(in super::super) const SEQUENCE_ID: u32 = 10;
        pub(in super::super) const TRACK_EVENT: u32 = 11;
        pub(in super::super) const TRACK_DESCRIPTOR: u32 = 60;
    }
    pub(super) mod descriptor {
        pub(in super::super) const UUID: u32 = 1;
        pub(in super::super) const NAME: u32 = 2;
        pub(in super::super) const PARENT_UUID: u32 = 5;
    }
    pub(super) mod event {
        pub(in super::super) const DEBUG_ANNOTATIONS: u32 = 4;
        pub(in super::super) const TYPE: u32 = 9;
        pub(in super::super) const TRACK_UUID: u32 = 11;
        pub(in super::super) const NAME: u32 = 23;
        pub(in super::super) const FLOW_IDS: u32 = 47;
        pub(in super::super) const TERMINATING_FLOW_IDS: u32 = 48;
    }
    pub(super) mod annotation {
        pub(in super::super) const INT_VALUE: u32 = 4;
        pub(in super::super) const STRING_VALUE: u32 = 6;
        pub(in super::super) const NAME: u32 = 10;
    }
}

/// Number of a track in the trace (its UUID).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackId(pub u64);

/// Type of a track event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackEventType {
    /// A slice begins.
    Begin = 1,
    /// The slice that began last on the track ends.
    End = 2,
    /// An instant event, without a duration.
    Instant = 3,
}

/// A track event under construction.
#[derive(Debug)]
pub struct TrackEvent(ProtoMessage);

impl TrackEvent {
    /// An event of `kind` on `track`.
    pub fn new(kind: TrackEventType, track: TrackId) -> Self {
        let mut message = ProtoMessage::default();
        message.number(field::event::TYPE, kind as u64);
        message.number(field::event::TRACK_UUID, track.0);
        TrackEvent(message)
    }

    /// Sets the name of the event.
    pub fn name(mut self, name: &str) -> Self {
        self.0.text(field::event::NAME, name);
        self
    }

    /// Connects the event to the flow with this number.
    pub fn flow(mut self, flow: u64) -> Self {
        self.0.fixed(field::event::FLOW_IDS, flow);
        self
    }

    /// Ends the flow with this number at the event.
    pub fn flow_ends(mut self, flow: u64) -> Self {
        self.0.fixed(field::event::TERMINATING_FLOW_IDS, flow);
        self
    }

    /// Adds a text annotation.
    pub fn text(mut self, name: &str, value: &str) -> Self {
        let mut annotation = ProtoMessage::default();
        annotation.text(field::annotation::NAME, name);
        annotation.text(field::annotation::STRING_VALUE, value);
        self.0.message(field::event::DEBUG_ANNOTATIONS, &annotation);
        self
    }

    /// Adds a number annotation.
    pub fn number(mut self, name: &str, value: i64) -> Self {
        let mut annotation = ProtoMessage::default();
        annotation.text(field::annotation::NAME, name);
        annotation.number(field::annotation::INT_VALUE, value.cast_unsigned());
        self.0.message(field::event::DEBUG_ANNOTATIONS, &annotation);
        self
    }
}

/// Writes the packets of a trace.
#[derive(Debug)]
pub struct TraceEncoder<W> {
    sink: W,
}

impl<W: Write> TraceEncoder<W> {
    /// Writes to `sink`, which should be buffered.
    pub const fn new(sink: W) -> Self {
        TraceEncoder { sink }
    }

    /// Declares a track called `name`, below `parent` or at the top.
    pub fn track(&mut self, id: TrackId, name: &str, parent: Option<TrackId>) -> io::Result<()> {
        let mut descriptor = ProtoMessage::default();
        descriptor.number(field::descriptor::UUID, id.0);
        descriptor.text(field::descriptor::NAME, name);
        if let Some(parent) = parent {
            descriptor.number(field::descriptor::PARENT_UUID, parent.0);
        }
        let mut packet = ProtoMessage::default();
        packet.message(field::packet::TRACK_DESCRIPTOR, &descriptor);
        self.packet(packet)
    }

    /// Writes an event at the time `nanos` (nanoseconds).
    pub fn event(&mut self, nanos: u64, event: &TrackEvent) -> io::Result<()> {
        let mut packet = ProtoMessage::default();
        packet.number(field::packet::TIMESTAMP, nanos);
        packet.message(field::packet::TRACK_EVENT, &event.0);
        self.packet(packet)
    }

    fn packet(&mut self, mut packet: ProtoMessage) -> io::Result<()> {
        packet.number(field::packet::SEQUENCE_ID, SEQUENCE);
        let mut trace = ProtoMessage::default();
        trace.message(field::TRACE_PACKET, &packet);
        self.sink.write_all(&trace.bytes)
    }

    /// Flushes the sink and returns it.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.flush()?;
        Ok(self.sink)
    }
}

/// A protobuf message: its encoded fields, one after the other.
#[derive(Clone, Debug, Default)]
struct ProtoMessage {
    bytes: Vec<u8>,
}

/// Wire type of a field.
#[derive(Clone, Copy)]
enum WireType {
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
}

impl ProtoMessage {
    fn key(&mut self, field: u32, wire: WireType) {
        self.varint(u64::from(field) << 3 | wire as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn number(&mut self, field: u32, value: u64) {
        self.key(field, WireType::Varint);
        self.varint(value);
    }

    fn fixed(&mut self, field: u32, value: u64) {
        self.key(field, WireType::Fixed64);
        self.bytes.extend(value.to_le_bytes());
    }

    fn text(&mut self, field: u32, value: &str) {
        self.key(field, WireType::Length);
        self.varint(value.len() as u64);
        self.bytes.extend(value.as_bytes());
    }

    fn message(&mut self, field: u32, message: &ProtoMessage) {
        self.key(field, WireType::Length);
        self.varint(message.bytes.len() as u64);
        self.bytes.extend(&message.bytes);
    }
}
