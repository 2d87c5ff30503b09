//! Idle notifications, idle inhibitors and gamma control: swayidle, mpv, wlsunset.

use std::path::Path;

use super::OUTPUT;
use super::session::{ThirdPartySession, installed};

/// A command for swayidle that appends `word` to a file.
fn says(word: &str, path: &Path) -> String {
    format!("echo {word} >> {}", path.display())
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn swayidle_gets_idled_and_resumed_also_while_locked() {
    if ![("swayidle", "swayidle"), ("swaylock", "swaylock")].iter().all(|(name, of)| installed(name, of)) {
        return;
    }
    let mut session = ThirdPartySession::start("swayidle", OUTPUT, None);
    let heard = session.path("heard");
    let (idle, back) = (says("idle", &heard), says("back", &heard));
    session.spawn(&["swayidle", "-w", "-C", "/dev/null", "timeout", "1", &idle, "resume", &back]);
    let hears = |session: &ThirdPartySession, count: usize| {
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
    session.assert_all_running();
    session.end();
}

#[test]
fn playing_film_inhibits_idle_until_it_is_paused() {
    if ![("swayidle", "swayidle"), ("mpv", "mpv")].iter().all(|(name, of)| installed(name, of)) {
        return;
    }
    let mut session = ThirdPartySession::start("film", OUTPUT, None);
    let heard = session.path("heard");
    let film = "av://lavfi:testsrc=size=320x240:rate=30";
    session.spawn(&["mpv", "--no-config", "--vo=wlshm", "--ao=null", film]);
    session.wait("a film", || session.traffic("mpv").contains("create_inhibitor").then_some(()));
    session.wait_for_picture("film", |picture| picture.content() > 320 * 240 / 2 && picture.colours() > 6);
    session.spawn(&["swayidle", "-w", "-C", "/dev/null", "timeout", "1", &says("idle", &heard)]);
    session.wait("swayidle", || session.traffic("swayidle").contains("get_idle_notification").then_some(()));
    session.linger();
    assert_eq!(lines(&heard), [""; 0], "a playing film must inhibit idle");
    session.message(&["input", "key", "space"]);
    session.wait("a word", || (!lines(&heard).is_empty()).then_some(()));
    session.assert_all_running();
    session.end();
}

#[test]
fn gamma_control_fails_on_a_virtual_output_and_wlsunset_goes_on() {
    if !installed("wlsunset", "wlsunset") {
        return;
    }
    let mut session = ThirdPartySession::start("wlsunset", OUTPUT, None);
    session.spawn(&["wlsunset", "-l", "48.1", "-L", "11.6"]);
    session.wait("an answer", || session.traffic("wlsunset").contains(".failed()").then_some(()));
    session.assert_all_running();
    session.end();
}
