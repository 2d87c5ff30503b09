//! What somebody meant whose command line makes no sense: mostly a program to run.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// How alike a word and one of ours must be for that to be meant (0 to 1, Jaro-Winkler).
const ALIKE: f64 = 0.8;

/// Says how to run a program in a session, where `arguments` (without our own name) begin with what may be one, and none of our
/// own `words` is meant.
pub(super) fn of_a_program(mut error: Error, arguments: &[OsString], words: &[String]) -> Error {
    let is_word = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand);
    let told = match error.get(ContextKind::InvalidSubcommand).or(error.get(ContextKind::InvalidArg)) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => return error,
    };
    let at = arguments.iter().position(|argument| *argument == *told);
    let Some(at) = at.filter(|_| is_word && !told.starts_with('-')) else { return error };
    if arguments[..at].iter().any(|before| words.iter().any(|word| before == word.as_str())) {
        return error;
    }
    let alike = words.iter().map(|word| (strsim::jaro_winkler(&told, word), word));
    let alike = alike.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|(likeness, _)| *likeness >= ALIKE);
    let said = |words: &[OsString]| words.iter().map(|word| format!(" {}", word.display())).collect::<String>();
    let meant = match alike {
        Some((_, word)) => format!("did you mean `upbeat {word}{}`?", said(&arguments[at + 1..])),
        None => format!("did you mean `upbeat{} --{}`?", said(&arguments[..at]), said(&arguments[at..])),
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![meant.into()]));
    error
}
