//! Loads and reloads the configuration file.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::include;
use super::{Config, ConfigError};

/// A configuration and the file that it was read from.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    path: Option<PathBuf>,
    /// The user named the file, so it must exist.
    named: bool,
    config: Config,
}

/// The default path of the configuration: `upbeat/config.toml` in `XDG_CONFIG_HOME`, which is `~/.config` unless set.
/// `environment` looks variables up.
pub fn default_path(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = directory("XDG_CONFIG_HOME").or_else(|| directory("HOME").map(|home| home.join(".config")))?;
    Some(home.join("upbeat/config.toml"))
}

impl ConfigFile {
    /// Loads the named file, or the file at `default` if it exists, or else the built-in defaults.
    pub fn load(named: Option<PathBuf>, default: Option<PathBuf>) -> Result<Self, ConfigError> {
        Self::load_watched(named, default, &mut |_| {})
    }

    /// Like [`load`](Self::load); `reads` is called with each file before it is opened, missing files included.
    pub fn load_watched(
        named: Option<PathBuf>,
        default: Option<PathBuf>,
        reads: &mut dyn FnMut(&Path),
    ) -> Result<Self, ConfigError> {
        let mut file = ConfigFile::with_defaults(named, default);
        file.reload(reads)?;
        Ok(file)
    }

    /// The built-in defaults, until the named file, or the file at `default`, is [read](Self::reload).
    pub fn with_defaults(named: Option<PathBuf>, default: Option<PathBuf>) -> Self {
        ConfigFile { named: named.is_some(), path: named.or(default), config: Config::default() }
    }

    /// Whether `error` means that the named file does not exist.
    pub fn is_missing(&self, error: &ConfigError) -> bool {
        let ConfigError::Read { path, source } = error else { return false };
        self.named && Some(path) == self.path.as_ref() && source.kind() == io::ErrorKind::NotFound
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The file, if there is a path to read.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Reads the file and its included files again; `reads` is called with each file before it is opened. On an error
    /// the configuration in force stays.
    pub fn reload(&mut self, reads: &mut dyn FnMut(&Path)) -> Result<(), ConfigError> {
        let Some(path) = &self.path else { return Ok(()) };
        self.config = match include::read(path, reads) {
            Ok(config) => config,
            Err(ConfigError::Read { path: missing, source })
                if !self.named && missing == *path && source.kind() == io::ErrorKind::NotFound =>
            {
                Config::default()
            }
            Err(error) => return Err(error),
        };
        Ok(())
    }
}
