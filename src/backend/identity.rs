//! Who made a monitor, what it is called, and which of them it is.

use std::fmt;

/// What a monitor says that it is, in printable ASCII. Written out, it names it wherever it is plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its maker: three letters that are registered for it.
    pub make: String,
    /// What it is called, or its number among the maker's.
    pub model: String,
    /// Which of them it is, if that is said.
    pub serial: Option<String>,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.make, self.model, self.serial.as_deref().unwrap_or("Unknown"))
    }
}
