use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::trace::line::{LogHeader, LogNames};
use upbeat_timing::record::{FrameOutcome, MissReason};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::Span;

/// The value of a protobuf field.
#[derive(Clone, Debug, PartialEq)]
enum FieldValue {
    Number(u64),
    Bytes(Vec<u8>),
}

/// Parses protobuf by its wire format alone. Shares no code with the encoder.
fn fields(mut bytes: &[u8]) -> Vec<(u32, FieldValue)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        unreachable!()
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => FieldValue::Number(varint(&mut bytes)),
            1 => {
                let (eight, rest) = bytes.split_at(8);
                bytes = rest;
                FieldValue::Number(u64::from_le_bytes(eight.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (some, rest) = bytes.split_at(length);
                bytes = rest;
                FieldValue::Bytes(some.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        found.push(((key >> 3) as u32, value));
    }
    found
}

fn number(fields: &[(u32, FieldValue)], wanted: u32) -> Option<u64> {
    fields.iter().find_map(|(field, value)| match value {
        FieldValue::Number(number) if *field == wanted => Some(*number),
        _ => None,
    })
}

fn numbers(fields: &[(u32, FieldValue)], wanted: u32) -> Vec<u64> {
    fields
        .iter()
        .filter(|(field, _)| *field == wanted)
        .filter_map(|field| number(std::slice::from_ref(field), wanted))
        .collect()
}

fn text(fields: &[(u32, FieldValue)], wanted: u32) -> Option<String> {
    fields.iter().find_map(|(field, value)| match value {
        FieldValue::Bytes(bytes) if *field == wanted => Some(String::from_utf8(bytes.clone()).unwrap()),
        _ => None,
    })
}

fn message(fields: &[(u32, FieldValue)], wanted: u32) -> Option<Vec<(u32, FieldValue)>> {
    fields.iter().find_map(|(field, value)| match value {
        FieldValue::Bytes(bytes) if *field == wanted => Some(self::fields(bytes)),
        _ => None,
    })
}

/// A decoded event: its time, track, type (1 begin, 2 end, 3 instant), name, and flows.
#[derive(Clone, Debug)]
struct DecodedEvent {
    at: u64,
    track: u64,
    kind: u64,
    name: Option<String>,
    flows: Vec<u64>,
    ending: Vec<u64>,
}

/// Name and parent of each track, by its number.
type DecodedTracks = BTreeMap<u64, (String, Option<u64>)>;

/// Decodes a trace into its tracks and events. The field numbers are from Perfetto's `trace.proto`,
/// `trace_packet.proto`, `track_descriptor.proto` and `track_event.proto`.
fn decode(trace: &[u8]) -> (DecodedTracks, Vec<DecodedEvent>) {
    let (mut tracks, mut events) = (BTreeMap::new(), Vec::new());
    for (field, value) in fields(trace) {
        assert_eq!(field, 1, "a trace has packets only");
        let FieldValue::Bytes(packet) = value else { panic!("a packet is a message") };
        let packet = fields(&packet);
        assert_eq!(number(&packet, 10), Some(1), "every packet has its sequence");
        if let Some(track) = message(&packet, 60) {
            tracks.insert(number(&track, 1).unwrap(), (text(&track, 2).unwrap(), number(&track, 5)));
        } else {
            let event = message(&packet, 11).unwrap();
            events.push(DecodedEvent {
                at: number(&packet, 8).unwrap(),
                track: number(&event, 11).unwrap(),
                kind: number(&event, 9).unwrap(),
                name: text(&event, 23),
                flows: numbers(&event, 47),
                ending: numbers(&event, 48),
            });
        }
    }
    (tracks, events)
}

const INTERVAL: u64 = 16_000_000;

fn at(nanos: u64) -> Option<Instant> {
    Some(Instant::from_nanos(nanos))
}

/// Ten frames of a window on an output, drawn two refreshes ahead. The seventh misses its refresh.
fn log() -> String {
    let mut names = LogNames::default();
    names.output(OutputId(1), "HEADLESS-1".into());
    names.window(WindowId(3), "foot".into());
    let mut lines = vec![
        LogLine::Header(LogHeader::default()),
        LogLine::OutputName { output: OutputId(1), name: "HEADLESS-1".into() },
        LogLine::WindowName { window: WindowId(3), app_id: "foot".into() },
    ];
    for frame in 0..10_u64 {
        let present = 1_000_000_000 + frame * INTERVAL;
        let took = Span::from_millis(40);
        let miss = (frame == 6).then_some(MissReason::ComposeLate { took, budget: Span::from_millis(1) });
        let output = FrameRecord {
            output: OutputId(1),
            frame,
            target: RefreshIndex(frame),
            present: Instant::from_nanos(present),
            latched: Instant::from_nanos(present - 4_000_000),
            submitted: at(present - 2_000_000),
            presented: at(present),
            outcome: FrameOutcome::Presented,
            miss,
            ..FrameRecord::default()
        };
        let late = Span::from_millis(3);
        let budget = Span::from_millis(6);
        let miss = (frame == 6).then_some(MissReason::ClientLate { took, budget, cpu: None, late_by: late });
        let client = ClientFrameRecord {
            window: Some(WindowId(3)),
            output: OutputId(1),
            target: RefreshIndex(frame),
            present: Instant::from_nanos(present),
            input: at(present - 3 * INTERVAL),
            callback_sent: at(present - 2 * INTERVAL),
            ready: at(present - 5_000_000),
            frame: Some(frame),
            miss,
            ..ClientFrameRecord::default()
        };
        lines.push(names.explain_output(output));
        lines.push(names.explain_client(client));
    }
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

#[test]
fn a_trace_has_the_misses_of_its_log_with_their_sentences_and_the_way_of_each_frame() {
    let log = log();
    let mut trace = Vec::new();
    let written = write(|| Ok(log.as_bytes()), || Ok(&mut trace)).unwrap();
    assert_eq!(written, TraceTotals { frames: 20, misses: 2, cut_off: false });
    let (tracks, events) = decode(&trace);
    let path = |track: u64| {
        let (name, parent) = &tracks[&track];
        format!("{}/{name}", tracks[&parent.unwrap()].0)
    };

    // Every sentence of the log is on the right track, at its refresh.
    let sentences: BTreeSet<String> = log
        .lines()
        .filter_map(|line| {
            Some(serde_json::from_str::<serde_json::Value>(line).unwrap().get("why")?.as_str()?.to_owned())
        })
        .collect();
    let misses: Vec<_> = events.iter().filter(|event| tracks[&event.track].0 == "misses").collect();
    assert_eq!(misses.iter().map(|miss| miss.name.clone().unwrap()).collect::<BTreeSet<_>>(), sentences);
    assert_eq!(
        misses.iter().map(|miss| path(miss.track)).collect::<Vec<_>>(),
        ["HEADLESS-1/misses", "window 3 (foot)/misses"]
    );
    assert!(misses.iter().all(|miss| miss.kind == 3 && miss.at == 1_000_000_000 + 6 * INTERVAL));

    // Each frame has a flow through input, drawing, latch and light, in this order.
    let arrows: BTreeSet<u64> = events.iter().flat_map(|event| event.flows.iter().copied()).collect();
    assert_eq!(arrows.len(), 10);
    for arrow in arrows {
        let mut way: Vec<_> =
            events.iter().filter(|event| event.flows.contains(&arrow) || event.ending.contains(&arrow)).collect();
        way.sort_by_key(|event| event.at);
        let way: Vec<String> = way.iter().map(|event| path(event.track)).collect();
        assert_eq!(way, ["window 3 (foot)/input", "window 3 (foot)/draws", "HEADLESS-1/compose", "HEADLESS-1/display"]);
    }
}

#[test]
fn slices_on_a_track_do_not_overlap() {
    let log = log();
    let mut trace = Vec::new();
    write(|| Ok(log.as_bytes()), || Ok(&mut trace)).unwrap();
    let (tracks, mut events) = decode(&trace);
    // As Perfetto sorts them: by time, and by position in the file at the same time.
    events.sort_by_key(|event| event.at);
    for track in tracks.keys() {
        let kinds: Vec<u64> =
            events.iter().filter(|event| event.track == *track && event.kind != 3).map(|event| event.kind).collect();
        assert!(kinds.chunks(2).all(|pair| matches!(pair, [1, 2] | [1])), "{:?}: {kinds:?}", tracks[track]);
    }
    let draws = tracks.values().filter(|(name, _)| name == "draws").count();
    assert_eq!(draws, 2, "frames that are drawn ahead overlap, two at a time");
}

#[test]
fn file_that_is_not_a_log_makes_no_trace() {
    let error = write(|| Ok(&b"fps,frametime\n"[..]), || Ok(Vec::new())).unwrap_err().to_string();
    assert!(error.starts_with("1:"), "{error}");
}
