//! The identity of a monitor: maker, model and serial number.

use std::fmt;

/// The identity that a monitor states, in printable ASCII. Its text form names the monitor wherever it is plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdidIdentity {
    /// The maker's registered three letters.
    pub make: String,
    /// The product name, or the product number if the monitor states no name.
    pub model: String,
    /// The serial number, if the monitor states it.
    pub serial: Option<String>,
}

impl fmt::Display for EdidIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.make, self.model, self.serial.as_deref().unwrap_or("Unknown"))
    }
}
