//! `GAMMA_LUT`: the gamma table of a CRTC.
//!
//! A new table is set with the next flip, so that it costs no refresh of its own and tears none. It survives a modeset;
//! after another session had the device it is set again. Without a ramp the CRTC gets back its original table, since
//! the console may have left a table that is nearly, but not quite, the identity.

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Device, property};

use super::atomic::CrtcProperty;
use super::crtc::Crtc;
use super::property::Blob;
use crate::backend::GammaRamp;

const TABLE: &str = "GAMMA_LUT";
const SIZE: &str = "GAMMA_LUT_SIZE";

/// Bytes of a `struct drm_color_lut`: three channels and a reserved field, 16 bits each.
const ENTRY: usize = 8;

/// The gamma table of one CRTC.
#[derive(Debug)]
pub(super) struct Gamma {
    device: DrmDeviceFd,
    table: property::Handle,
    size: u32,
    /// A copy of the table that the CRTC had when we took it over.
    original: Option<Blob>,
    /// The table of a client's ramp.
    wanted: Option<Blob>,
    /// The next commit has to set the table.
    is_pending: bool,
}

impl Gamma {
    /// Reads the current table, so call it on the worker. `None` where the CRTC has no gamma table.
    pub fn new(crtc: &Crtc) -> Option<Self> {
        let properties = crtc.atomic()?.crtc();
        let (table, now) = (properties.handle(TABLE)?, properties.value(TABLE)?);
        let size = u32::try_from(properties.value(SIZE)?).ok().filter(|size| *size > 0)?;
        let device = crtc.device().clone();
        let original = Some(now).filter(|blob| *blob != 0).and_then(|blob| device.get_property_blob(blob).ok());
        let original = original.and_then(|mut table| Blob::new(&device, &mut table).ok());
        Some(Gamma { device, table, size, original, wanted: None, is_pending: false })
    }

    /// Entries per channel of the table.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Sets the ramp from the next frame on; `None` restores the original table.
    pub fn set(&mut self, ramp: Option<&GammaRamp>) -> std::io::Result<()> {
        let make = |ramp| Blob::new(&self.device, &mut table(ramp));
        // The old blob may be destroyed at once: the kernel keeps the table that is in force.
        (self.wanted, self.is_pending) = (ramp.map(make).transpose()?, true);
        Ok(())
    }

    /// The property and its value, if the next commit has to set it.
    pub fn pending_property(&self) -> Option<CrtcProperty> {
        let value = self.wanted.as_ref().or(self.original.as_ref()).map_or(0, Blob::value);
        self.is_pending.then_some((self.table, value))
    }

    /// The kernel has accepted the table, or never will: do not set it again.
    pub fn mark_committed(&mut self) {
        self.is_pending = false;
    }

    /// Another session may have changed the table: set it again.
    pub fn set_again(&mut self) {
        self.is_pending = true;
    }
}

/// The ramp as an array of `drm_color_lut`.
fn table(ramp: &GammaRamp) -> Vec<u8> {
    let mut table = Vec::with_capacity(ramp.red.len() * ENTRY);
    for (red, green, blue) in ramp.entries() {
        [red, green, blue, 0].iter().for_each(|value| table.extend_from_slice(&value.to_ne_bytes()));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_red_green_blue_and_nothing() {
        let ramp = GammaRamp { red: vec![1, 2], green: vec![3, 4], blue: vec![5, 6] };
        let expected: Vec<u8> = [1_u16, 3, 5, 0, 2, 4, 6, 0].into_iter().flat_map(u16::to_ne_bytes).collect();
        assert_eq!(table(&ramp), expected);
    }
}
