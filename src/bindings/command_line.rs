//! A program and its arguments, written as a list or separated by blanks.

use std::fmt;
use std::sync::Arc;

/// A program and its arguments. The list is not empty, and no word contains NUL, because arguments are C strings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandLine(Arc<[Box<str>]>);

/// The configuration has a text that is not a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseCommandLineError {
    /// The program is missing or blank.
    #[error("expected a program with its arguments, such as \"foot -e top\" or [\"foot\", \"-e\", \"top\"]")]
    Empty,
    /// A word contains a NUL character.
    #[error("expected a program with its arguments, without NUL characters")]
    Nul,
}

impl CommandLine {
    /// A program without arguments, for our own defaults.
    pub(crate) fn named(program: &'static str) -> Self {
        CommandLine(Arc::from([Box::from(program)]))
    }

    /// The first word is the program. Words are taken as they are, blanks included.
    pub fn of(words: impl IntoIterator<Item = String>) -> Result<Self, ParseCommandLineError> {
        let words: Arc<[Box<str>]> = words.into_iter().map(String::into_boxed_str).collect();
        match words.first() {
            _ if words.iter().any(|word| word.contains('\0')) => Err(ParseCommandLineError::Nul),
            Some(program) if !program.trim().is_empty() => Ok(CommandLine(words)),
            _ => Err(ParseCommandLineError::Empty),
        }
    }

    /// The program, then its arguments.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }

    pub fn program(&self) -> &str {
        self.0.first().map_or("", AsRef::as_ref)
    }

    /// Whether it can be written with blanks between its words: no word is empty or contains a blank.
    pub fn is_plain(&self) -> bool {
        self.words().all(|word| !word.is_empty() && !word.contains(char::is_whitespace))
    }
}

impl std::str::FromStr for CommandLine {
    type Err = ParseCommandLineError;

    fn from_str(line: &str) -> Result<Self, ParseCommandLineError> {
        Self::of(line.split_whitespace().map(str::to_owned))
    }
}

/// Joins the words with blanks. Parsing the result gives the same words only if it is [plain](CommandLine::is_plain).
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.words();
        f.write_str(words.next().unwrap_or_default())?;
        words.try_for_each(|word| write!(f, " {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_list_may_have_blanks_and_a_program_is_named() {
        let list = |words: &[&str]| CommandLine::of(words.iter().map(|word| (*word).to_owned()));
        let plain: CommandLine = " foot  -e top ".parse().unwrap();
        assert_eq!((Ok(plain.clone()), plain.to_string().as_str()), (list(&["foot", "-e", "top"]), "foot -e top"));
        let words = list(&["notify-send", "", "Hello there"]).unwrap();
        assert!(plain.is_plain() && !words.is_plain());
        assert_eq!((words.program(), words.words().last()), ("notify-send", Some("Hello there")));
        for wrong in [&[][..], &[""], &[" ", "a"], &["a", "\0"]] {
            assert!(list(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(" ".parse::<CommandLine>(), Err(ParseCommandLineError::Empty));
    }
}
