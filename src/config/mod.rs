//! Options: the configuration file and what its values mean.

mod mode;

pub use mode::{DEFAULT_REFRESH, ModeError, OutputMode, Refresh};
