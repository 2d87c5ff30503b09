//! Parses the text of one configuration file.

use std::path::Path;

use super::error::LocatedError;
use super::{Config, ConfigError};

/// Parses a configuration without its includes; `path` is named in errors.
pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
    let config: Config = toml::from_str(text).map_err(|error| LocatedError::new(path, text, &error))?;
    config.check_size(path, text)?;
    Ok(config)
}
