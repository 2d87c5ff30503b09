//! Reads frame marks from Sysprof's captures (`.syscap`). GTK, Mutter and other programs write one for each frame.
//!
//! A file has a header of 256 bytes and then records, each with its length first. A mark has 24 bytes (length,
//! processor, process, time, type), the duration, a group of 24 bytes, a name of 40, and a message. Numbers have the
//! byte order of the machine that wrote the file; only little-endian files are supported. Format:
//! `sysprof-capture-types.h`.

use std::io::{ErrorKind, Read};

use super::marks::TraceMarks;
use super::{LogCapture, LogRequest, TraceError};

/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = 0xFDCA_975E_u32.to_le_bytes();
const HEADER: usize = 256;
/// Bytes in the header of a record.
const RECORD: usize = 24;
/// The least length of a mark in bytes, and its record type.
const MARK: usize = 96;
const MARK_TYPE: u8 = 10;

/// Parses a capture; `path` is for messages, `title` for reports.
///
/// # Errors
/// With the number of the invalid record (as a line); also if there is no mark.
pub fn parse(
    mut reader: impl Read,
    path: &str,
    title: String,
    wanted: &LogRequest<'_>,
) -> Result<LogCapture, TraceError> {
    let malformed =
        |line, what: &str| TraceError::Malformed { path: path.to_owned(), line, column: 1, what: what.to_owned() };
    let unreadable = |source| TraceError::Unreadable { path: path.to_owned(), source };
    let mut header = [0; HEADER];
    if !filled(&mut reader, &mut header).map_err(unreadable)? || header[..4] != MAGIC {
        return Err(malformed(1, "not a Sysprof capture"));
    }
    if header[5] & 1 == 0 {
        return Err(malformed(1, "big-endian captures are not supported"));
    }
    let (mut marks, mut number, mut record) = (TraceMarks::default(), 1, Vec::new());
    loop {
        number += 1;
        record.resize(2, 0);
        if !filled(&mut reader, &mut record).map_err(unreadable)? {
            break;
        }
        let length = usize::from(u16::from_le_bytes([record[0], record[1]]));
        if length < RECORD {
            return Err(malformed(number, "the record is shorter than its header"));
        }
        record.resize(length, 0);
        // An incomplete last record is left out.
        if !filled(&mut reader, &mut record[2..]).map_err(unreadable)? {
            break;
        }
        if record[16] == MARK_TYPE && length >= MARK {
            let process = i32::from_le_bytes(array(&record, 4));
            let (begin, duration) = (i64::from_le_bytes(array(&record, 8)), i64::from_le_bytes(array(&record, 24)));
            let name = format!("{}: {} ({process})", text(&record[32..56]), text(&record[56..96]));
            marks.add(&name, begin, duration);
        }
    }
    if marks.is_empty() {
        return Err(malformed(number, "the capture has no mark"));
    }
    marks.finish("Sysprof marks", path, title, wanted)
}

/// Fills `bytes`; false if the file ends before.
fn filled(reader: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<bool> {
    match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Bytes of a record, which must be long enough.
fn array<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&record[at..at + N]);
    array
}

/// The text before the first zero byte.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::time::Span;

    fn capture(marks: &[(i64, i64, &str)]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[..4].copy_from_slice(&MAGIC);
        (bytes[4], bytes[5]) = (1, 1);
        // A record of another type first: a process, whose content is skipped.
        bytes.extend([&[32, 0][..], &[0; 14], &[4], &[0; 15]].concat());
        for (begin, duration, name) in marks {
            let mut record = vec![0; MARK];
            record[..2].copy_from_slice(&(MARK as u16).to_le_bytes());
            record[4..8].copy_from_slice(&77_i32.to_le_bytes());
            record[8..16].copy_from_slice(&begin.to_le_bytes());
            record[16] = MARK_TYPE;
            record[24..32].copy_from_slice(&duration.to_le_bytes());
            record[32..35].copy_from_slice(b"gtk");
            record[56..56 + name.len()].copy_from_slice(name.as_bytes());
            bytes.extend(record);
        }
        bytes
    }

    fn costs(bytes: &[u8]) -> Result<Vec<f64>, String> {
        let wanted = LogRequest { interval: Span::from_nanos(16_666_667), process: None };
        let capture = parse(bytes, "a.syscap", "a".into(), &wanted).map_err(|error| error.to_string())?;
        Ok(capture.load.frames.iter().map(|frame| frame.record.as_millis_f64()).collect())
    }

    #[test]
    fn marks_are_frames_in_the_order_of_their_beginnings_and_rare_ones_are_none() {
        let mut marks: Vec<_> = (0..20).map(|frame| (frame * 16_000_000, 2_000_000, "Frame")).collect();
        marks.swap(3, 4);
        marks[5].1 = 9_500_000;
        marks.push((5, 100, "Start"));
        let mut bytes = capture(&marks);
        let costs = costs(&bytes).unwrap();
        assert_eq!((costs.len(), costs[4], costs[5]), (20, 2.0, 9.5));
        bytes.truncate(bytes.len() - 3);
        assert_eq!(super::tests::costs(&bytes).unwrap().len(), 20, "one that was cut off");
    }

    #[test]
    fn other_files_are_rejected_with_a_reason() {
        assert!(costs(b"SYSP").unwrap_err().contains("not a Sysprof capture"));
        assert!(costs(&capture(&[])).unwrap_err().contains("the capture has no mark"));
        let short = [capture(&[]), vec![3, 0]].concat();
        assert!(costs(&short).unwrap_err().contains("a.syscap:3:1: the record is shorter"));
    }
}
