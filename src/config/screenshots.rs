//! `[screenshots]`: where screenshots taken by shortcuts are stored.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ValueError;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScreenshotOptions {
    /// The folder that they are written to.
    pub folder: PictureFolder,
    /// Whether they are copied to the clipboard.
    pub clipboard: bool,
}

impl Default for ScreenshotOptions {
    fn default() -> Self {
        ScreenshotOptions { folder: PictureFolder::default(), clipboard: true }
    }
}

/// A folder: absolute, or in the user's home after `~/`; empty for the user's pictures folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PictureFolder(String);

impl PictureFolder {
    /// The folder, if one is named.
    pub fn path(&self, home: Option<&Path>) -> Option<PathBuf> {
        match self.0.strip_prefix("~/") {
            Some(rest) => Some(home?.join(rest)),
            None => Some(PathBuf::from(&self.0)).filter(|path| path.is_absolute()),
        }
    }
}

impl TryFrom<String> for PictureFolder {
    type Error = ValueError;

    fn try_from(folder: String) -> Result<Self, ValueError> {
        let is_fine = folder.is_empty() || folder.starts_with('/') || folder.starts_with("~/");
        let wrong = ValueError("expected a folder such as \"~/Pictures\" or \"/data/pictures\", or \"\"");
        if is_fine && !folder.contains('\0') { Ok(PictureFolder(folder)) } else { Err(wrong) }
    }
}

impl From<PictureFolder> for String {
    fn from(folder: PictureFolder) -> String {
        folder.0
    }
}
