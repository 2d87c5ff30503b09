//! Loading the configuration, and loading it again.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{LARGEST, Wrong};
use super::{Config, ConfigError};
use crate::files;

/// A configuration and the file that it comes from.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    path: Option<PathBuf>,
    /// Whether the file was asked for by name: then it must exist.
    named: bool,
    config: Config,
}

/// Where the configuration is looked for unless a file is named: `upbeat/config.toml` in `XDG_CONFIG_HOME`, which is
/// `~/.config` unless set. `environment` looks variables up.
pub fn default_path(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = directory("XDG_CONFIG_HOME").or_else(|| directory("HOME").map(|home| home.join(".config")))?;
    Some(home.join("upbeat/config.toml"))
}

impl ConfigFile {
    /// Loads the file that was named, or the one at `default` if it is there, or else the built-in defaults.
    pub fn load(named: Option<PathBuf>, default: Option<PathBuf>) -> Result<Self, ConfigError> {
        let mut file = ConfigFile { named: named.is_some(), path: named.or(default), config: Config::default() };
        file.reload()?;
        Ok(file)
    }

    /// What is in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The file, if one is looked for.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Reads the file again. If anything is wrong with it, what is in force stays so.
    pub fn reload(&mut self) -> Result<(), ConfigError> {
        let Some(path) = &self.path else { return Ok(()) };
        self.config = match read(path) {
            Ok(text) => parse(path, &text)?,
            Err(ConfigError::Read { source, .. }) if !self.named && source.kind() == io::ErrorKind::NotFound => {
                Config::default()
            }
            Err(error) => return Err(error),
        };
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, ConfigError> {
    let bytes = files::read(path, LARGEST).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    if bytes.len() as u64 > LARGEST {
        return Err(ConfigError::TooLarge { path: path.to_owned() });
    }
    String::from_utf8(bytes).map_err(|error| {
        let (valid, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let line = bytes[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
        ConfigError::NotText { path: path.to_owned(), line }
    })
}

/// Reads a configuration from its text; `path` is named in errors.
pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
    toml::from_str(text).map_err(|error| ConfigError::Wrong(Box::new(Wrong::new(path, text, &error))))
}
