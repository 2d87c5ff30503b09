//! A recording in one file: small enough for an hour, append-only, and readable after a crash.
//!
//! # Format
//! All fixed-size numbers are little endian. *varint*: seven bits a byte, low bits first; the high bit says that more
//! bytes follow; at most ten bytes.
//! ```text
//! file    = "UPBEATR" version:u8(=1) record*
//! record  = kind:u8 length:u32 payload[length]
//! kind 1    size:    width:varint height:varint              the image becomes black, of this size
//! kind 2    image:   refresh:varint present_ns:varint duration_ns:varint frame:varint dropped_before:varint op*
//! kind 3    end:     recorded:varint dropped:varint          nothing follows
//! kind 4    rows:    first_ns:varint active_ns:varint        of the images that follow: from the start of a refresh to row 0, and
//!                                                            from row 0 to the end of the last row; rows follow at equal distances
//! op      = (count << 2 | code):varint pixel*                in raster order over the whole image
//!   code 0  skip:    `count` pixels are as in the image before
//!   code 1  literal: `count` pixels follow
//!   code 2  run:     one pixel follows, for `count` pixels
//! pixel   = red:u8 green:u8 blue:u8
//! ```
//! Pixels after the last op are as in the image before. A record of unknown `kind` is skipped. A file that ends in the
//! middle of a record, or without an `end`, was cut off; the records before that are valid.

mod delta;
mod reader;
mod writer;

pub use reader::{StreamError, StreamReader};
pub use writer::StreamFile;

const MAGIC: &[u8; 7] = b"UPBEATR";
const VERSION: u8 = 1;
const KIND_SIZE: u8 = 1;
const KIND_IMAGE: u8 = 2;
const KIND_END: u8 = 3;
const KIND_ROWS: u8 = 4;

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a varint from the front of `input`; `None` if `input` ends too early or the value exceeds 64 bits.
fn take_varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_varint_reads_as_it_was_written(value in prop_oneof![any::<u64>(), 0u64..300, Just(u64::MAX)]) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            bytes.push(7);
            let mut input = &bytes[..];
            prop_assert_eq!(take_varint(&mut input), Some(value));
            prop_assert_eq!(input, [7]);
        }
    }

    #[test]
    fn a_varint_that_is_too_long_is_none() {
        assert_eq!(take_varint(&mut &[0xff; 10][..]), None);
        assert_eq!(take_varint(&mut &[0x80, 0x80][..]), None);
    }
}
