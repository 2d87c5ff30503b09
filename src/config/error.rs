//! What is wrong with a configuration file, and where.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How alike a known word must be to be suggested instead of an unknown one (0 to 1, Jaro-Winkler).
const ALIKE: f64 = 0.75;

/// How much is read of a configuration, in bytes, with what it includes.
pub(super) const LARGEST: u64 = 1024 * 1024;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is far too large to be a configuration.
    #[error("{}: a configuration of at most {} KiB was expected", path.display(), LARGEST / 1024)]
    TooLarge {
        /// Which.
        path: PathBuf,
    },
    /// It is not text.
    #[error("{}:{line}: not UTF-8 text", path.display())]
    NotText {
        /// Which.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Something in it is wrong.
    #[error("{0}")]
    Wrong(Box<Wrong>),
    /// It and what it includes are right, and together they are not.
    #[error("{}: {message}", path.display())]
    Together {
        /// The file that includes the others.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// Something wrong at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    path: PathBuf,
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    /// The text of the line.
    text: String,
    /// How many characters are meant.
    width: usize,
    /// The option, with the table it is in, if that can be told.
    key: Option<String>,
    message: String,
    suggestion: Option<String>,
}

impl From<Wrong> for ConfigError {
    fn from(wrong: Wrong) -> Self {
        ConfigError::Wrong(Box::new(wrong))
    }
}

impl ConfigError {
    /// What is wrong and where, in one line: with what was meant instead of all that is possible, where that is known.
    pub fn sentence(&self) -> String {
        let text = match self {
            ConfigError::Wrong(wrong) => wrong.briefly().to_string(),
            other => other.to_string(),
        };
        text.lines().next().unwrap_or_default().to_owned()
    }
}

impl Wrong {
    /// Finds the place that `error` means in `text`.
    pub(super) fn new(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let suggestion = suggestion(error.message());
        Wrong { suggestion, ..Self::at(path, text, error.span().unwrap_or(0..0), plain(error.message())) }
    }

    /// The same without what is possible, where it is known what was meant.
    fn briefly(&self) -> Self {
        let possible = ["; expected ", ", expected "].into_iter().find_map(|word| self.message.find(word));
        let end = possible.filter(|_| self.suggestion.is_some()).unwrap_or(self.message.len());
        Wrong { message: self.message[..end].to_owned(), ..self.clone() }
    }

    /// What is wrong with `span` (bytes) of `text`.
    pub(super) fn at(path: &Path, text: &str, span: Range<usize>, message: String) -> Self {
        let start = floor(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = floor(text, span.end).clamp(start, line_end);
        let line_text = &text[line_start..line_end];
        Wrong {
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

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { path, line, column, text, width, key, message, suggestion } = self;
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

/// The largest place of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The option that a line sets, with the table that it stands in.
fn key(before: &str, line: &str) -> Option<String> {
    let (key, _) = line.split_once('=')?;
    let table = before.lines().rev().map(str::trim).find(|line| line.starts_with('['));
    let table = table.map(|line| line.split('#').next().unwrap_or_default().trim());
    match table {
        Some(table) => Some(format!("{table} {}", key.trim())),
        None => Some(key.trim().to_owned()),
    }
}

/// The parser's message in the words of this file rather than of the programming language.
fn plain(message: &str) -> String {
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

/// What was meant by an unknown word: the likest of those expected, which the message lists in backticks after it.
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
