//! Who waits until nobody does anything, and who makes the night warmer: swayidle, wlsunset.

use std::path::Path;

use super::OUTPUT;
use super::session::{Session, installed};

/// What a command of swayidle's appends its word to.
fn says(word: &str, path: &Path) -> String {
    format!("echo {word} >> {}", path.display())
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn swayidle_hears_that_nobody_does_anything_and_that_somebody_does_also_under_a_lock() {
    if ![("swayidle", "swayidle"), ("swaylock", "swaylock")].iter().all(|(name, of)| installed(name, of)) {
        return;
    }
    let mut session = Session::start("swayidle", OUTPUT, None);
    let heard = session.path("heard");
    let (idle, back) = (says("idle", &heard), says("back", &heard));
    session.spawn(&["swayidle", "-w", "-C", "/dev/null", "timeout", "1", &idle, "resume", &back]);
    let hears = |session: &Session, count: usize| {
        session.wait("a word", || (lines(&heard).len() >= count).then_some(()));
    };
    hears(&session, 1);
    session.message(&["input", "move", "10", "10"]);
    hears(&session, 2);
    session.spawn(&["swaylock", "--color", "0000ff", "--no-unlock-indicator"]);
    session.wait("locked", || session.traffic("swaylock").contains(".locked()").then_some(()));
    hears(&session, 3);
    session.message(&["input", "key", "a"]);
    hears(&session, 4);
    assert_eq!(lines(&heard)[..4], ["idle", "back", "idle", "back"]);
    session.still_runs();
    session.end();
}

#[test]
fn wlsunset_is_told_that_memory_has_no_gamma_ramps_and_goes_on() {
    if !installed("wlsunset", "wlsunset") {
        return;
    }
    let mut session = Session::start("wlsunset", OUTPUT, None);
    session.spawn(&["wlsunset", "-l", "48.1", "-L", "11.6"]);
    session.wait("an answer", || session.traffic("wlsunset").contains(".failed()").then_some(()));
    session.still_runs();
    session.end();
}
