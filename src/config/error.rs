//! Errors in a configuration file, with their line and column.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How similar a known word must be to be suggested instead of an unknown one (0 to 1, Jaro-Winkler).
const ALIKE: f64 = 0.75;

/// The largest configuration, in bytes, with all included files.
pub(super) const LARGEST: u64 = 1024 * 1024;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// It is far too large to be a configuration.
    #[error("{}: a configuration of at most {} KiB was expected", path.display(), LARGEST / 1024)]
    TooLarge { path: PathBuf },
    /// It is not UTF-8 text.
    #[error("{}:{line}: not UTF-8 text", path.display())]
    NotText {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// There is an error at some place in it.
    #[error("{0}")]
    Wrong(Box<LocatedError>),
    /// Each file is valid by itself, but not together with its included files.
    #[error("{}: {message}", path.display())]
    Together {
        /// The file with the `include` option.
        path: PathBuf,
        message: String,
    },
}

/// An error at a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedError {
    path: PathBuf,
    /// Counted from 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    /// The text of the line.
    text: String,
    /// How many characters are underlined.
    width: usize,
    /// The option with its table, if it is known.
    key: Option<String>,
    message: String,
    suggestion: Option<String>,
}

impl From<LocatedError> for ConfigError {
    fn from(wrong: LocatedError) -> Self {
        ConfigError::Wrong(Box::new(wrong))
    }
}

impl ConfigError {
    /// The error and its place in one line. If a similar known word is found, it replaces the list of all possible
    /// words.
    pub fn one_line(&self) -> String {
        let text = match self {
            ConfigError::Wrong(wrong) => wrong.briefly().to_string(),
            other => other.to_string(),
        };
        text.lines().next().unwrap_or_default().to_owned()
    }
}

impl LocatedError {
    /// Finds the place of `error` in `text`.
    pub(super) fn new(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let suggestion = suggestion(error.message());
        LocatedError {
            suggestion,
            ..Self::at(path, text, error.span().unwrap_or(0..0), in_terms_of_the_file(error.message()))
        }
    }

    /// Without the list of possible words, if a similar one is suggested.
    fn briefly(&self) -> Self {
        let possible = ["; expected ", ", expected "].into_iter().find_map(|word| self.message.find(word));
        let end = possible.filter(|_| self.suggestion.is_some()).unwrap_or(self.message.len());
        LocatedError { message: self.message[..end].to_owned(), ..self.clone() }
    }

    /// An error at `span` (bytes) of `text`.
    pub(super) fn at(path: &Path, text: &str, span: Range<usize>, message: String) -> Self {
        let start = floor(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = floor(text, span.end).clamp(start, line_end);
        let line_text = &text[line_start..line_end];
        LocatedError {
            path: path.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: line_text.to_owned(),
            width: text[start..end].chars().count().max(1),
            key: key(&text[..line_start], line_text),
            message,
            suggestion: None,
        }
    }
}

impl fmt::Display for LocatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LocatedError { path, line, column, text, width, key, message, suggestion } = self;
        write!(f, "{}:{line}:{column}: ", path.display())?;
        if let Some(key) = key {
            write!(f, "{key}: ")?;
        }
        f.write_str(message)?;
        if let Some(word) = suggestion {
            write!(f, " (did you mean `{word}`?)")?;
        }
        let margin = line.to_string().len();
        let (gap, mark) = (" ".repeat(column - 1), "^".repeat(*width));
        write!(f, "\n{:margin$} |\n{line} | {text}\n{:margin$} | {gap}{mark}", "", "")
    }
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The option that a line sets, with the table that contains it.
fn key(before: &str, line: &str) -> Option<String> {
    let (key, _) = line.split_once('=')?;
    let table = before.lines().rev().map(str::trim).find(|line| line.starts_with('['));
    let table = table.map(|line| line.split('#').next().unwrap_or_default().trim());
    match table {
        Some(table) => Some(format!("{table} {}", key.trim())),
        None => Some(key.trim().to_owned()),
    }
}

/// The parser's message in terms of the configuration file instead of Rust.
fn in_terms_of_the_file(message: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    let expected = message.split_once(", expected ").map(|(_, expected)| expected);
    if message.starts_with("unknown field ") {
        format!("no such option; expected {}", expected.unwrap_or("none"))
    } else if let Some(option) = message.strip_prefix("missing field ") {
        format!("the option {option} is missing")
    } else {
        message.replace("unknown variant", "unknown word").replace(" u16", " a whole number from 0 to 65535")
    }
}

/// A suggestion for an unknown word: the most similar of the expected words, which the message lists in backticks after
/// it.
fn suggestion(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = words.next()?;
    let alike = words.map(|word| (strsim::jaro_winkler(unknown, word), word));
    let (likeness, word) = alike.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeness >= ALIKE).then(|| word.to_owned())
}
