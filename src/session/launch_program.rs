//! Starts the programs of shortcuts and of `autostart`. If a program cannot be started, a notice on the screen says so,
//! because a user does not read the log of a session. The notice stays for a while, or until the program can be
//! started.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;

use calloop::generic::Generic;
use calloop::{Interest, Mode, PostAction};

use super::child::{ChildError, ChildProcess};
use super::exit::ExitStatus;
use super::path_lookup;
use crate::shell::notices::{self, ResultNotice};
use crate::state::State;
use upbeat_timing::time::Clock;

/// The command that runs a line in a shell.
pub(super) const SHELL: [&str; 2] = ["sh", "-c"];
/// The status of a shell that does not find a program, and of a program that misses a library.
const NOT_FOUND: u8 = 127;
/// Shell words that can stand before the name of a program.
const BEFORE: [&str; 9] = ["exec", "command", "if", "then", "else", "do", "while", "until", "!"];
/// Programs and words that every shell has: with these, another program must be the missing one.
const EVERYWHERE: [&str; 30] = [
    "cat", "cd", "cp", "cut", "date", "done", "echo", "env", "exit", "export", "false", "fi", "for", "grep", "head",
    "kill", "ls", "mkdir", "mktemp", "mv", "printf", "rm", "sed", "set", "sleep", "tail", "tee", "test", "true",
    "wait",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Terminal,
    Shortcut,
    Autostart,
}

impl std::fmt::Display for Purpose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Purpose::Terminal => "terminal",
            Purpose::Shortcut => "shortcut",
            Purpose::Autostart => "autostart",
        })
    }
}

/// Starts a program in the session. The program ends with the session; processes that it has left behind do not.
pub(super) fn launch(state: &mut State, purpose: Purpose, command: &[OsString]) {
    let line = CommandText::of(command);
    let told = line.clone();
    let started = spawn(state, command, move |state, status| handle_exit(state, purpose, &told, status));
    match started {
        Ok(()) if line.is_shell => {}
        Ok(()) => notices::withdraw_failure(state, notice_key(purpose, &line)),
        Err(error) => {
            tracing::error!("{purpose}: {error:#}");
            let is_missing = matches!(error.downcast_ref(), Some(ChildError::Start { source, .. }) if source.kind() == std::io::ErrorKind::NotFound);
            let heading = match command.first() {
                // The same error says that the interpreter of a script is missing.
                Some(program) if is_missing && !is_installed(state, program) => {
                    format!("{} is not installed", program.display())
                }
                _ => error.to_string(),
            };
            let text = remedy(state, purpose, &line.text);
            show_failure(state, notice_key(purpose, &line), heading, text);
        }
    }
}

/// Handles the end of a program. Only the status of a shell says more than that the program existed.
fn handle_exit(state: &mut State, purpose: Purpose, line: &CommandText, status: ExitStatus) {
    match status.code() {
        NOT_FOUND if line.is_shell => {
            let heading = not_found(&line.text, |program| is_installed(state, OsStr::new(program)));
            tracing::error!("{purpose}: `{}`: {heading}", line.text);
            let text = remedy(state, purpose, &line.text);
            show_failure(state, notice_key(purpose, line), heading, text);
        }
        code => {
            if line.is_shell {
                notices::withdraw_failure(state, notice_key(purpose, line));
            }
            if code != 0 && purpose == Purpose::Autostart {
                tracing::warn!("autostart: `{}` ended with status {code}", line.text);
            }
        }
    }
}

fn show_failure(state: &mut State, purpose: &str, heading: String, text: String) {
    let at = state.clock.now();
    let purpose = purpose.to_owned();
    notices::show_result(state, ResultNotice { purpose, heading, text, at, is_failure: true });
}

/// The key of a failure notice, by which a later success withdraws it: any terminal, or the same line.
fn notice_key(purpose: Purpose, line: &CommandText) -> &str {
    if purpose == Purpose::Terminal { "terminal" } else { &line.text }
}

/// The text that says how to correct the failure.
fn remedy(state: &State, purpose: Purpose, line: &str) -> String {
    let file = state.session.config.path().map_or("the configuration".to_owned(), |path| path.display().to_string());
    match purpose {
        Purpose::Terminal => format!("Set `terminal` in {file}"),
        Purpose::Shortcut => format!("Wanted by a shortcut: {line}"),
        Purpose::Autostart => format!("Wanted by `autostart` in {file}: {line}"),
    }
}

/// A command as text for the user.
#[derive(Clone, Debug)]
struct CommandText {
    text: String,
    is_shell: bool,
}

impl CommandText {
    fn of(command: &[OsString]) -> Self {
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        match &words[..] {
            [sh, c, line] if [sh, c] == SHELL => CommandText { text: line.clone().into_owned(), is_shell: true },
            words => CommandText { text: words.join(" "), is_shell: false },
        }
    }
}

/// Whether the `PATH` of the session's programs leads to a program of that name.
fn is_installed(state: &State, program: &OsStr) -> bool {
    let ours = || std::env::var_os("PATH");
    let set = state.session.environment().into_iter().find_map(|(name, value)| (name == "PATH").then_some(value));
    path_lookup::is_program(program, set.or_else(ours).as_deref())
}

/// The sentence about a line that ended with [`NOT_FOUND`]. The names of its programs are known where they are plain
/// words, and `is_installed` tells which exist. It is not known which of several programs did not start.
fn not_found(line: &str, is_installed: impl Fn(&str) -> bool) -> String {
    let mut all = programs_of(line);
    all.dedup();
    let missing: Vec<&str> = all.iter().copied().filter(|program| !is_installed(program)).collect();
    if missing.is_empty() {
        return format!("{} could not be started (status {NOT_FOUND})", any_of(&all));
    }
    format!("{} is not installed", any_of(&missing))
}

fn any_of(programs: &[&str]) -> String {
    match programs {
        [] => "A program".to_owned(),
        [program] => (*program).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// The programs that the commands of a shell line begin with, except for programs that every system has.
fn programs_of(line: &str) -> Vec<&str> {
    let mut programs = Vec::new();
    let mut rest = line;
    let mut is_word_over = true;
    while !rest.is_empty() {
        let end = rest.find(['|', ';', '&', '(', ')', '`', '\n']).unwrap_or(rest.len());
        let (command, after) = rest.split_at(end);
        let is_assignment = |word: &str| word.find('=').is_some_and(|at| !word[..at].contains('/'));
        let mut words = command.split_whitespace().skip_while(|word| BEFORE.contains(word) || is_assignment(word));
        let is_name = |word: &&str| !word.contains(['"', '\'', '$', '<', '>', '{', '}', '[', ']', '\\']);
        // The words after a `)` belong to the command around it.
        let first = words.next().filter(|_| is_word_over).filter(is_name).filter(|word| !EVERYWHERE.contains(word));
        programs.extend(first);
        is_word_over = !after.starts_with(')');
        rest = after.get(1..).unwrap_or_default();
    }
    programs
}

/// Starts a program in the session, and calls `ended` with its status when it ends.
fn spawn(
    state: &mut State,
    command: &[OsString],
    ended: impl FnOnce(&mut State, ExitStatus) + 'static,
) -> anyhow::Result<()> {
    let mut child = ChildProcess::spawn(command, &state.session.environment())?;
    let mut ended = Some(ended);
    let source = Generic::new(child.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    let watched = state.loop_handle.insert_source(source, move |_, _, state| {
        let Some(status) = child.try_wait() else { return Ok(PostAction::Continue) };
        ended.take().into_iter().for_each(|ended| ended(state, status));
        Ok(PostAction::Remove)
    });
    watched.map(|_| ()).map_err(|error| anyhow::anyhow!("cannot watch the end of the program: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_of_a_shell_line_are_named() {
        let missing = |line: &str| not_found(line, |_| false);
        assert_eq!(missing("waybar --config a=b"), "waybar is not installed");
        assert_eq!(missing("sleep 1; exec swaybg -i ~/a.png & waybar"), "swaybg or waybar is not installed");
        let part = "grim -g \"$(slurp)\" - | wl-copy -t image/png";
        assert_eq!(missing(part), "grim, slurp or wl-copy is not installed");
        let screen = "file=~/screenshot-$(date +%H).png; grim \"$file\" && wl-copy -t image/png <\"$file\"";
        assert_eq!(missing(screen), "grim or wl-copy is not installed");
        assert_eq!(missing("A=1 foot"), "foot is not installed");
        assert_eq!(missing("\"$x\" é|é"), "é is not installed");
        assert_eq!(missing("$(x"), "x is not installed");
        assert_eq!(missing("exit 127"), "A program could not be started (status 127)");
    }

    #[test]
    fn installed_program_is_not_reported_as_missing() {
        // For instance, one of them misses a library.
        assert_eq!(not_found("waybar -c a", |_| true), "waybar could not be started (status 127)");
        assert_eq!(not_found("a && b", |_| true), "a or b could not be started (status 127)");
        assert_eq!(not_found("a && b", |program| program == "a"), "b is not installed");
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_it_panic(line in "(?s).{0,40}") {
            let _ = not_found(&line, |_| false);
        }
    }
}
