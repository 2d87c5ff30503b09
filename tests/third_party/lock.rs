//! Screen lockers.

use rustix::process::{Pid, Signal};

use super::OUTPUT;
use super::session::{ThirdPartySession, installed};

/// Colour of swaylock's screen.
const BLUE: u32 = 0x0000_00ff;
/// Rough number of pixels of the text that is shown after a locker died.
const SAID: usize = 500;

#[test]
fn session_stays_locked_after_swaylock_is_killed_until_a_second_swaylock_unlocks() {
    if ![("grim", "grim"), ("foot", "foot"), ("swaylock", "swaylock")].iter().all(|(name, of)| installed(name, of)) {
        return;
    }
    let mut session = ThirdPartySession::start("swaylock", OUTPUT, None);
    session.spawn(&["foot", "sh", "-c", "while :; do seq 100; done"]);
    let everything = OUTPUT.0 as usize * OUTPUT.1 as usize;
    session.wait_for_picture("unlocked", |picture| picture.content() > everything / 10);
    for round in 1..=2 {
        session.spawn(&["swaylock", "--color", "0000ff", "--no-unlock-indicator"]);
        session.wait("locked", || session.traffic("swaylock").contains(".locked()").then_some(()));
        // Every capture after `locked` shows only the lock screen.
        let picture = session.picture(&format!("locked-{round}"));
        assert_eq!(picture.count(BLUE), everything);
        session.type_text("not the password");
        session.linger();
        assert_eq!(session.picture("still").count(BLUE), everything);
        if round == 1 {
            session.signal("swaylock", Signal::KILL);
            // The windows stay hidden: the screen is black with some text.
            let picture = session.wait_for_picture("killed", |picture| picture.count(BLUE) == 0);
            let black = picture.count(0);
            assert!(black + 40 * SAID > everything && black + SAID < everything, "{black} of {everything} are black");
        }
    }
    // SIGUSR1 makes swaylock unlock, for authentication by another program.
    session.signal("swaylock", Signal::USR1);
    session.wait_for_picture("again", |picture| picture.count(BLUE) == 0 && picture.content() > everything / 10);
    session.assert_all_running();
    session.end();
}

/// Process ids of swaylock in this session.
fn lockers(session: &ThirdPartySession) -> Vec<Pid> {
    let folder = session.path("");
    let folder = folder.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let is_one = |process: &std::path::PathBuf| {
        let name = std::fs::read_to_string(process.join("comm"));
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        name.is_ok_and(|name| name.trim() == "swaylock")
            && String::from_utf8_lossy(&environment).contains(folder.trim_end_matches('/'))
    };
    let number = |process: std::path::PathBuf| process.file_name()?.to_str()?.parse().ok();
    processes.filter(is_one).filter_map(|process| Pid::from_raw(number(process)?)).collect()
}

#[test]
fn locker_started_by_the_shortcut_keeps_its_password_process() {
    if !installed("swaylock", "swaylock") || !installed("wtype", "wtype") {
        return;
    }
    let session = ThirdPartySession::start("lock-key", OUTPUT, None);
    session.message(&["input", "key", "Super+Alt+l"]);
    // swaylock has two processes once it is up: a process that draws, and a process that only checks passwords.
    session.wait("two swaylock processes", || (lockers(&session).len() == 2).then_some(()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(lockers(&session).len(), 2);
    session.type_text("wrong");
    session.message(&["input", "key", "Return"]);
    std::thread::sleep(std::time::Duration::from_secs(1));
    let left = lockers(&session);
    assert_eq!(left.len(), 2, "after a wrong password both processes must run");
    left.into_iter().for_each(|process| _ = rustix::process::kill_process(process, Signal::KILL));
    session.end();
}
