//! EDID parser: maker, model and serial number, from the base block of 128 bytes (EDID 1.0 to 1.4; VESA E-EDID, release
//! A2). Pure; any input gives an identity or `None`.
//!
//! We have our own parser, since `libdisplay-info` is not in Debian 12, and the crates that need no library have been
//! unmaintained for years. Numbers are written as that library writes them, and makers as their registered three
//! letters.

use smithay::reexports::drm::control::{Device, connector};

use super::property::Properties;
use crate::backend::EdidIdentity;

/// Size of the base block in bytes.
pub(super) const BLOCK: usize = 128;
/// The fixed first bytes of the block.
pub(super) const HEADER: [u8; 8] = [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0];
/// The bytes of the four descriptors, and the length of each.
pub(super) const DESCRIPTORS: std::ops::Range<usize> = 54..126;
pub(super) const DESCRIPTOR: usize = 18;
/// Types of descriptors: the fourth byte.
const SERIAL: u8 = 0xff;
const NAME: u8 = 0xfc;

/// Reads the `EDID` property of a connector. Call it on the worker.
pub(super) fn read(device: &impl Device, connector: connector::Handle) -> Option<Vec<u8>> {
    let blob = Properties::of(device, connector).ok()?.value("EDID").filter(|blob| *blob != 0)?;
    device.get_property_blob(blob).ok()
}

/// The identity in an EDID; `None` where the bytes are no EDID.
pub fn identify(bytes: &[u8]) -> Option<EdidIdentity> {
    let block = bytes.get(..BLOCK).filter(|block| block.starts_with(&HEADER))?;
    let number = |at: usize, length: usize| {
        block[at..at + length].iter().rev().fold(0_u32, |number, byte| number << 8 | u32::from(*byte))
    };
    let (code, serial) = (number(10, 2), number(12, 4));
    let model = text(block, NAME).unwrap_or_else(|| format!("0x{code:04X}"));
    let serial = text(block, SERIAL).or_else(|| (serial != 0).then(|| format!("0x{serial:08X}")));
    Some(EdidIdentity { make: make(block), model, serial })
}

/// Decodes the maker: three letters of five bits each.
fn make(block: &[u8]) -> String {
    let letters = u16::from_be_bytes([block[8], block[9]]);
    let letter = |shift: u16| Some((letters >> shift & 0x1f) as u8).filter(|letter| (1..=26).contains(letter));
    let make: Option<String> =
        [10, 5, 0].map(|shift| letter(shift).map(|letter| char::from(b'A' - 1 + letter))).into_iter().collect();
    make.unwrap_or_else(|| "Unknown".to_owned())
}

/// The text of the first descriptor of this type.
fn text(block: &[u8], kind: u8) -> Option<String> {
    let descriptors = block[DESCRIPTORS].chunks_exact(DESCRIPTOR);
    descriptors.filter(|descriptor| descriptor[..3] == [0; 3] && descriptor[3] == kind).find_map(printable)
}

/// The printable part of a descriptor's text; `None` if it is empty.
fn printable(descriptor: &[u8]) -> Option<String> {
    let letters = descriptor[5..].iter().take_while(|byte| **byte != b'\n');
    let text: String = letters.filter(|byte| (b' '..=b'~').contains(byte)).map(|byte| char::from(*byte)).collect();
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A base block of maker DEL, product 0xd0a1, serial 0x12345678, with these descriptors.
    fn block(descriptors: &[(u8, &str)]) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        block[..8].copy_from_slice(&HEADER);
        block[8..16].copy_from_slice(&[0x10, 0xac, 0xa1, 0xd0, 0x78, 0x56, 0x34, 0x12]);
        for (place, (kind, text)) in descriptors.iter().enumerate() {
            let at = DESCRIPTORS.start + place * DESCRIPTOR;
            block[at + 3] = *kind;
            let mut padded = format!("{text}\n").into_bytes();
            padded.resize(13.max(padded.len()), b' ');
            block[at + 5..at + 18].copy_from_slice(&padded[..13]);
        }
        block
    }

    fn identity(make: &str, model: &str, serial: Option<&str>) -> Option<EdidIdentity> {
        Some(EdidIdentity { make: make.to_owned(), model: model.to_owned(), serial: serial.map(str::to_owned) })
    }

    #[test]
    fn texts_count_before_numbers() {
        assert_eq!(identify(&block(&[])), identity("DEL", "0xD0A1", Some("0x12345678")));
        let named = block(&[(NAME, "DELL U2720Q"), (0xfd, "limits"), (SERIAL, "2MK7Z13")]);
        assert_eq!(identify(&named), identity("DEL", "DELL U2720Q", Some("2MK7Z13")));
        let mut without = block(&[(NAME, " \n"), (SERIAL, "")]);
        without[12..16].fill(0);
        assert_eq!(identify(&without), identity("DEL", "0xD0A1", None));
    }

    #[test]
    fn bytes_that_are_no_edid_have_no_identity() {
        let whole = block(&[(NAME, "x")]);
        for length in [0, 7, 8, 127] {
            assert_eq!(identify(&whole[..length]), None, "{length}");
        }
        let mut other = whole;
        other[0] = 1;
        assert_eq!(identify(&other), None);
    }

    proptest! {
        #[test]
        fn any_bytes_give_printable_names_or_none(
            bytes in prop::collection::vec(any::<u8>(), 0..300), has_header in any::<bool>()
        ) {
            let mut bytes = bytes;
            if has_header && bytes.len() >= 8 {
                bytes[..8].copy_from_slice(&HEADER);
            }
            if let Some(EdidIdentity { make, model, serial }) = identify(&bytes) {
                for text in [Some(make), Some(model), serial].into_iter().flatten() {
                    prop_assert!(!text.is_empty() && text.len() <= 13 && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
                }
            }
        }
    }
}
