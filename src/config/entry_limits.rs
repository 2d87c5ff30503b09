//! Limits the number of rules and shortcuts, because every new window is compared with all rules, and every key with
//! all shortcuts.

use std::path::Path;

use super::error::LocatedError;
use super::{Config, ConfigError};

/// Rules, shortcuts or variables of one kind.
const MOST: usize = 1_000;
/// Programs that start with the session.
const MOST_STARTED: usize = 100;

impl Config {
    /// The first kind of entry with too many: the limit, and the name of the kind in the file.
    pub(super) fn exceeded_limit(&self) -> Option<(usize, &'static str)> {
        let counts = [
            (self.outputs.len(), MOST, "[[output]] rules"),
            (self.devices.len(), MOST, "[[device]] rules"),
            (self.apps.len(), MOST, "[[app]] rules"),
            (self.windows.len(), MOST, "[[window]] rules"),
            (self.layers.len(), MOST, "[[layer]] rules"),
            (self.keys.0.len(), MOST, "[keys] shortcuts"),
            (self.environment.variables().len(), MOST, "[environment] variables"),
            (self.autostart.lines().len(), MOST_STARTED, "autostart programs"),
        ];
        counts.into_iter().find(|(count, most, _)| count > most).map(|(_, most, name)| (most, name))
    }

    /// Returns an error at the first entry beyond a limit.
    pub(super) fn check_size(&self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let Some((most, name)) = self.exceeded_limit() else { return Ok(()) };
        let table = name.split(' ').next().unwrap_or_default();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        let mut headers = line_starts.filter(|start| text[*start..].trim_start().starts_with(table));
        // Entries without a header of their own: the table that contains them.
        let all: Vec<usize> = headers.by_ref().collect();
        let at = all.get(most).or(all.last()).copied().unwrap_or(0);
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        Err(LocatedError::at(path, text, at..end, format!("more than {most} {name}")).into())
    }
}
