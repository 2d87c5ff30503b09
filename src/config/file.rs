//! Loading the configuration, and loading it again.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::include;
use super::{Config, ConfigError};

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
        Self::load_watched(named, default, &mut |_| {})
    }

    /// The same; `reads` is told of every file before it is looked at, of those that are not there too.
    pub fn load_watched(
        named: Option<PathBuf>,
        default: Option<PathBuf>,
        reads: &mut dyn FnMut(&Path),
    ) -> Result<Self, ConfigError> {
        let mut file = ConfigFile::unread(named, default);
        file.reload(reads)?;
        Ok(file)
    }

    /// The built-in defaults, until the file that was named, or the one at `default`, is [read](Self::reload).
    pub fn unread(named: Option<PathBuf>, default: Option<PathBuf>) -> Self {
        ConfigFile { named: named.is_some(), path: named.or(default), config: Config::default() }
    }

    /// Whether `error` is that the file which was named is not there.
    pub fn is_missing(&self, error: &ConfigError) -> bool {
        let ConfigError::Read { path, source } = error else { return false };
        self.named && Some(path) == self.path.as_ref() && source.kind() == io::ErrorKind::NotFound
    }

    /// What is in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The file, if one is looked for.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Reads the file again, and those that it includes; `reads` is told of each before. If anything is wrong with one of
    /// them, what is in force stays so.
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
