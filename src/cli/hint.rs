//! Hints for a command line with an unknown word: mostly a program to run, or a typo.

use std::ffi::{OsStr, OsString};

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::session::path_lookup::is_program;

/// Least similarity of an unknown word and a subcommand at which the subcommand is suggested (0 to 1, Jaro-Winkler).
const ALIKE: f64 = 0.8;

/// The meaning of the first unknown word.
pub(super) enum UnknownWord {
    /// A program: the arguments that run it in a session.
    Program(Vec<OsString>),
    /// A mistake: the error to print, with a suggestion if there is one.
    Mistake(Error),
}

/// Interprets `arguments` (without the program's name), which failed to parse with `error`. `parse` tells whether a
/// part of them is valid. If they begin with one of our subcommands in `words`, or with a similar word, that subcommand
/// is suggested, so that a typo is never run as a program.
pub(super) fn interpret(
    error: Error,
    arguments: &[OsString],
    words: &[String],
    parse: &dyn Fn(&[OsString]) -> bool,
) -> UnknownWord {
    interpret_with(error, arguments, words, parse, &|program| is_program(program, std::env::var_os("PATH").as_deref()))
}

pub(super) fn interpret_with(
    mut error: Error,
    arguments: &[OsString],
    words: &[String],
    parse: &dyn Fn(&[OsString]) -> bool,
    is_program: &dyn Fn(&OsStr) -> bool,
) -> UnknownWord {
    let is_word = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand);
    let unknown = match error.get(ContextKind::InvalidSubcommand).or(error.get(ContextKind::InvalidArg)) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => return UnknownWord::Mistake(error),
    };
    // The same word may also be the value of an option before it.
    let mut places = arguments.iter().enumerate().filter(|(_, argument)| **argument == *unknown).map(|(at, _)| at);
    let at = places.find(|at| parse(&arguments[..*at]));
    let Some(at) = at.filter(|_| is_word && !unknown.starts_with('-')) else { return UnknownWord::Mistake(error) };
    if arguments[..at].iter().any(|before| words.iter().any(|word| before == word.as_str())) {
        return UnknownWord::Mistake(error);
    }
    let alike = words.iter().map(|word| (strsim::jaro_winkler(&unknown, word), word));
    let alike = alike.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|(likeness, _)| *likeness >= ALIKE);
    let joined = |words: &[OsString]| words.iter().map(|word| format!(" {}", word.display())).collect::<String>();
    let meant = match alike {
        Some((_, word)) => format!("did you mean `upbeat {word}{}`?", joined(&arguments[at + 1..])),
        None if is_program(OsStr::new(&unknown)) => {
            let dashes = [OsString::from("--")];
            return UnknownWord::Program([&arguments[..at], &dashes, &arguments[at..]].concat());
        }
        None => format!("there is neither a subcommand nor a program called `{unknown}`"),
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![meant.into()]));
    UnknownWord::Mistake(error)
}
