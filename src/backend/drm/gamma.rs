//! `GAMMA_LUT`: the table through which a CRTC sends what it shows.
//!
//! It changes with a frame: the next flip carries it, so that no refresh is spent on it alone and none is torn. After a
//! modeset it stays in force; after another session had the device it is told anew. Without a ramp the table is the one
//! that was there at first: the console may have left one that is nearly, but not quite, none.

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Device, property};

use super::atomic::Extra;
use super::crtc::Crtc;
use super::property::Blob;
use crate::backend::GammaRamp;

const TABLE: &str = "GAMMA_LUT";
const SIZE: &str = "GAMMA_LUT_SIZE";

/// `struct drm_color_lut`: three channels and a reserve, 16 bits each.
const ENTRY: usize = 8;

/// The table of one CRTC.
#[derive(Debug)]
pub(super) struct Gamma {
    device: DrmDeviceFd,
    table: property::Handle,
    size: u32,
    /// A copy of the one that was there at first, if there was one.
    original: Option<Blob>,
    /// The one that a client wants.
    wanted: Option<Blob>,
    /// The kernel has not been told of it.
    fresh: bool,
}

impl Gamma {
    /// `None` where the CRTC has none. To be called on the worker: reads the one that is there.
    pub fn new(crtc: &Crtc) -> Option<Self> {
        let properties = crtc.atomic()?.crtc();
        let (table, now) = (properties.handle(TABLE)?, properties.value(TABLE)?);
        let size = u32::try_from(properties.value(SIZE)?).ok().filter(|size| *size > 0)?;
        let device = crtc.device().clone();
        let original = Some(now).filter(|blob| *blob != 0).and_then(|blob| device.get_property_blob(blob).ok());
        let original = original.and_then(|mut table| Blob::new(&device, &mut table).ok());
        Some(Gamma { device, table, size, original, wanted: None, fresh: false })
    }

    /// Entries of a channel.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// From the next frame on colours are shown like this; `None`: as they were at first.
    pub fn set(&mut self, ramp: Option<&GammaRamp>) -> std::io::Result<()> {
        let make = |ramp| Blob::new(&self.device, &mut table(ramp));
        // The old one may be given back at once: the kernel keeps what is in force.
        (self.wanted, self.fresh) = (ramp.map(make).transpose()?, true);
        Ok(())
    }

    /// The property and its value, if the next commit has to say it.
    pub fn to_tell(&self) -> Option<Extra> {
        let value = self.wanted.as_ref().or(self.original.as_ref()).map_or(0, Blob::value);
        self.fresh.then_some((self.table, value))
    }

    /// The kernel has taken it, or never will.
    pub fn told(&mut self) {
        self.fresh = false;
    }

    /// Somebody else may have changed it.
    pub fn tell_again(&mut self) {
        self.fresh = true;
    }
}

/// The table as the kernel wants it.
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
