//! The parent's device and the formats of buffers that it reads there: from `zwp_linux_dmabuf_feedback_v1`, or from
//! `zwp_linux_dmabuf_v1` 3, which does not name the device. No I/O, except for reading the table.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use drm_fourcc::{DrmFormat, DrmFourcc};

/// Bytes of an entry in the table of formats: format, padding, modifier.
const ENTRY_BYTES: usize = 16;
/// More entries than 16-bit indices can name are not read.
const MOST_BYTES: usize = ENTRY_BYTES * (1 << 16);

/// The formats as they arrive.
#[derive(Debug, Default)]
pub(super) struct ParentFormats {
    /// All formats; `None` for those that we do not know.
    table: Vec<Option<DrmFormat>>,
    main_device: Option<u64>,
    /// The tranche that arrives.
    tranche: FormatTranche,
    tranches: Vec<FormatTranche>,
    is_done: bool,
    /// Formats without a device.
    listed: Vec<DrmFormat>,
}

/// Formats of buffers in the memory of one device.
#[derive(Clone, Debug, Default)]
struct FormatTranche {
    device: Option<u64>,
    /// Indices into the table.
    formats: Vec<u16>,
}

impl ParentFormats {
    /// A format and a modifier of the older version, in two halves.
    pub(super) fn list(&mut self, code: u32, high: u32, low: u32) {
        let modifier = upbeat_client::wire::join(high, low);
        self.listed.extend(DrmFourcc::try_from(code).ok().map(|code| DrmFormat { code, modifier: modifier.into() }));
    }

    /// The table of formats: `size` bytes in a file. A table that cannot be read is empty.
    pub(super) fn table(&mut self, file: &File, size: u32) {
        self.begin();
        let mut bytes = vec![0; (size as usize).min(MOST_BYTES)];
        self.table = match file.read_exact_at(&mut bytes, 0) {
            Ok(()) => bytes.chunks_exact(ENTRY_BYTES).map(entry).collect(),
            Err(error) => {
                tracing::warn!(%error, "the parent's table of formats cannot be read");
                Vec::new()
            }
        };
    }

    /// The number of the main device (`dev_t` in native byte order).
    pub(super) fn main_device(&mut self, device: &[u8]) {
        self.begin();
        self.main_device = number(device);
    }

    /// The device of the tranche that arrives.
    pub(super) fn tranche_device(&mut self, device: &[u8]) {
        self.tranche.device = number(device);
    }

    /// Formats of the tranche that arrives: 16-bit indices in native byte order.
    pub(super) fn tranche_formats(&mut self, indices: &[u8]) {
        self.tranche.formats.extend(indices.as_chunks().0.iter().map(|index| u16::from_ne_bytes(*index)));
    }

    /// The tranche is complete.
    pub(super) fn tranche_done(&mut self) {
        self.tranches.push(std::mem::take(&mut self.tranche));
    }

    /// The feedback is complete.
    pub(super) fn done(&mut self) {
        self.is_done = true;
    }

    /// After a complete feedback another one may follow, which replaces it. The table is sent only once.
    fn begin(&mut self) {
        if std::mem::take(&mut self.is_done) {
            self.tranches.clear();
        }
    }

    /// The main device, if the parent names it, and the formats that it reads in the device's memory, each once. `None`
    /// before the feedback is complete, and without formats.
    pub(super) fn known(&self) -> Option<(Option<u64>, Vec<DrmFormat>)> {
        if !self.listed.is_empty() {
            return Some((None, self.listed.clone()));
        }
        let device = self.main_device.filter(|_| self.is_done)?;
        let of_device = self.tranches.iter().filter(|tranche| tranche.device == Some(device));
        let mut formats: Vec<DrmFormat> = Vec::new();
        for index in of_device.flat_map(|tranche| &tranche.formats) {
            let format = self.table.get(usize::from(*index)).copied().flatten();
            formats.extend(format.filter(|format| !formats.contains(format)));
        }
        (!formats.is_empty()).then_some((Some(device), formats))
    }
}

fn entry(bytes: &[u8]) -> Option<DrmFormat> {
    let code = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
    let modifier = u64::from_ne_bytes(bytes.get(8..16)?.try_into().ok()?);
    Some(DrmFormat { code: DrmFourcc::try_from(code).ok()?, modifier: modifier.into() })
}

/// A device number of 64 bits, as Linux has it.
fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drm_fourcc::DrmModifier;
    use std::io::Write as _;

    const CARD: u64 = 226 << 8;
    const OTHER: u64 = CARD + 1;

    fn table(entries: &[(u32, u64)]) -> (File, u32) {
        let mut file = tempfile::tempfile().unwrap();
        for (code, modifier) in entries {
            file.write_all(&[code.to_ne_bytes().as_slice(), &[0; 4], &modifier.to_ne_bytes()].concat()).unwrap();
        }
        (file, (entries.len() * ENTRY_BYTES) as u32)
    }

    fn tranche(feedback: &mut ParentFormats, device: u64, indices: &[u16]) {
        feedback.tranche_device(&device.to_ne_bytes());
        feedback.tranche_formats(&indices.iter().flat_map(|index| index.to_ne_bytes()).collect::<Vec<_>>());
        feedback.tranche_done();
    }

    #[test]
    fn only_the_main_devices_formats_count_each_once() {
        let mut feedback = ParentFormats::default();
        let xrgb = DrmFourcc::Xrgb8888 as u32;
        let (file, size) = table(&[(xrgb, 0), (xrgb, 77), (0xffff_ffff, 0), (DrmFourcc::Argb8888 as u32, 0)]);
        feedback.table(&file, size);
        feedback.main_device(&CARD.to_ne_bytes());
        tranche(&mut feedback, CARD, &[1, 0]);
        tranche(&mut feedback, OTHER, &[3]);
        tranche(&mut feedback, CARD, &[0, 2, 900]);
        assert!(feedback.known().is_none(), "it is not complete");
        feedback.done();
        let format = |modifier: u64| DrmFormat { code: DrmFourcc::Xrgb8888, modifier: DrmModifier::from(modifier) };
        assert_eq!(feedback.known(), Some((Some(CARD), vec![format(77), format(0)])));
    }

    #[test]
    fn later_feedback_replaces_the_earlier() {
        let mut feedback = ParentFormats::default();
        let (file, size) = table(&[(DrmFourcc::Xrgb8888 as u32, 0), (DrmFourcc::Argb8888 as u32, 0)]);
        feedback.table(&file, size);
        feedback.main_device(&CARD.to_ne_bytes());
        tranche(&mut feedback, CARD, &[0]);
        feedback.done();
        feedback.main_device(&OTHER.to_ne_bytes());
        tranche(&mut feedback, OTHER, &[1]);
        feedback.done();
        let (device, formats) = feedback.known().unwrap();
        assert_eq!((device, formats.len(), formats[0].code), (Some(OTHER), 1, DrmFourcc::Argb8888));
    }

    #[test]
    fn older_parents_name_no_device() {
        let mut formats = ParentFormats::default();
        formats.list(DrmFourcc::Xrgb8888 as u32, 1, 2);
        formats.list(0xffff_ffff, 0, 0);
        let format = DrmFormat { code: DrmFourcc::Xrgb8888, modifier: DrmModifier::from((1 << 32) + 2) };
        assert_eq!(formats.known(), Some((None, vec![format])));
    }

    #[test]
    fn nonsense_from_the_parent_is_no_device() {
        let mut feedback = ParentFormats::default();
        let (file, size) = table(&[(DrmFourcc::Xrgb8888 as u32, 0)]);
        feedback.table(&file, size * 9);
        feedback.main_device(&[1, 2, 3]);
        tranche(&mut feedback, CARD, &[0]);
        feedback.done();
        assert!(feedback.known().is_none());
        feedback.main_device(&CARD.to_ne_bytes());
        tranche(&mut feedback, CARD, &[0]);
        feedback.done();
        assert!(feedback.known().is_none(), "the table is shorter than stated");
    }
}
