//! Copy and paste without a window: wl-clipboard.

use rustix::process::Signal;

use super::OUTPUT;
use super::session::{ThirdPartySession, installed};

/// Bytes; far more than a pipe holds.
const LARGE: usize = 10_000_000;

/// Copies `text`. The selection exists until the program, listed as `sh`, ends.
fn copy(session: &mut ThirdPartySession, options: &str, text: &str) {
    let path = session.path("copied");
    std::fs::write(&path, text).unwrap();
    let script = format!("exec wl-copy --foreground --type text/plain {options} < {}", path.display());
    session.spawn_quietly(&["sh", "-c", &script]);
}

/// Waits until `text` can be pasted.
#[track_caller]
fn pasted(session: &ThirdPartySession, options: &[&str], text: &str) {
    let words = [&["wl-paste", "--no-newline", "--type", "text/plain"], options].concat();
    let is_there = || session.succeeds(&words).then(|| session.run(&words)).filter(|pasted| pasted == text).map(drop);
    session.wait("the copied text", is_there);
}

#[test]
fn ten_megabytes_are_pasted_and_a_killed_source_clears_the_clipboard() {
    if !installed("wl-copy", "wl-clipboard") {
        return;
    }
    let mut session = ThirdPartySession::start("clipboard", OUTPUT, None);
    let large: String =
        (0_u32..).flat_map(|number| format!("{number}\n").into_bytes()).map(char::from).take(LARGE).collect();
    copy(&mut session, "", &large);
    pasted(&session, &[], &large);
    assert!(!session.succeeds(&["wl-paste", "--primary"]), "the primary selection must be empty");
    session.signal("sh", Signal::KILL);
    session.wait("an empty clipboard", || (!session.succeeds(&["wl-paste", "--list-types"])).then_some(()));
    session.assert_all_running();
    session.end();
}

#[test]
fn primary_selection_is_separate_and_each_copy_is_watched() {
    if !installed("wl-copy", "wl-clipboard") {
        return;
    }
    let mut session = ThirdPartySession::start("clipboard-watch", OUTPUT, None);
    let heard = session.path("heard");
    let append = format!("cat >> {0}; echo >> {0}", heard.display());
    session.spawn(&["wl-paste", "--watch", "sh", "-c", &append]);
    let heard = |line: &str| {
        let text = std::fs::read_to_string(&heard).unwrap_or_default();
        text.lines().any(|other| other == line).then_some(())
    };
    copy(&mut session, "--primary", "selected");
    pasted(&session, &["--primary"], "selected");
    assert!(!session.succeeds(&["wl-paste"]), "the clipboard must be empty");
    copy(&mut session, "", "first");
    session.wait("the first", || heard("first"));
    pasted(&session, &["--primary"], "selected");
    // Redirect the output, because wl-copy stays in the background and would keep the pipes open that the test waits
    // for.
    session.run(&["sh", "-c", "exec wl-copy --type text/plain second > /dev/null 2>&1"]);
    session.wait("the second", || heard("second"));
    assert_eq!(heard("selected"), None, "the primary selection must not be watched");
    session.run(&["wl-copy", "--clear"]);
    session.wait("an empty clipboard", || (!session.succeeds(&["wl-paste", "--list-types"])).then_some(()));
    session.end();
}
