//! Gamma ramps: one lookup table per colour channel.

/// One curve per channel, from the darkest value to the brightest. All three have as many entries as the display's
/// table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GammaRamp {
    /// Brightness, from 0 to 65535.
    pub red: Vec<u16>,
    /// Brightness, from 0 to 65535.
    pub green: Vec<u16>,
    /// Brightness, from 0 to 65535.
    pub blue: Vec<u16>,
}

impl GammaRamp {
    /// The size in bytes of a ramp for a table of `size` entries.
    pub const fn bytes(size: u32) -> usize {
        3 * size as usize * size_of::<u16>()
    }

    /// Reads the red, green and blue curves, one after the other, in native byte order. `None` unless `bytes` is
    /// exactly as long as a table of `size` entries.
    pub fn from_bytes(bytes: &[u8], size: u32) -> Option<Self> {
        if bytes.len() != Self::bytes(size) || size == 0 {
            return None;
        }
        let values: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect();
        let mut curves = values.chunks_exact(size as usize).map(<[u16]>::to_vec);
        Some(GammaRamp { red: curves.next()?, green: curves.next()?, blue: curves.next()? })
    }

    /// The `(red, green, blue)` values, entry by entry.
    pub fn entries(&self) -> impl Iterator<Item = (u16, u16, u16)> + '_ {
        let pairs = self.red.iter().zip(&self.green).zip(&self.blue);
        pairs.map(|((red, green), blue)| (*red, *green, *blue))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_lie_one_after_the_other() {
        let bytes: Vec<u8> = (1_u16..=6).flat_map(u16::to_ne_bytes).collect();
        let ramp = GammaRamp::from_bytes(&bytes, 2).unwrap();
        assert_eq!((ramp.red.as_slice(), ramp.blue.as_slice()), (&[1, 2][..], &[5, 6][..]));
        assert_eq!(ramp.entries().collect::<Vec<_>>(), [(1, 3, 5), (2, 4, 6)]);
    }

    #[test]
    fn another_length_is_no_ramp() {
        assert_eq!(GammaRamp::from_bytes(&[0; 11], 2), None);
        assert_eq!(GammaRamp::from_bytes(&[0; 14], 2), None);
        assert_eq!(GammaRamp::from_bytes(&[], 0), None);
    }
}
