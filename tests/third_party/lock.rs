//! Screen lockers.

use rustix::process::Signal;

use super::OUTPUT;
use super::session::{Session, installed};

/// Of what swaylock shows.
const BLUE: u32 = 0x0000_00ff;
/// Of what is said where a locker died.
const SAID: usize = 500;

#[test]
fn swaylock_locks_is_killed_and_another_one_unlocks() {
    if ![("grim", "grim"), ("foot", "foot"), ("swaylock", "swaylock")].iter().all(|(name, of)| installed(name, of)) {
        return;
    }
    let mut session = Session::start("swaylock", OUTPUT, None);
    session.spawn(&["foot", "sh", "-c", "while :; do seq 100; done"]);
    let everything = OUTPUT.0 as usize * OUTPUT.1 as usize;
    session.wait_for_picture("unlocked", |picture| picture.content() > everything / 10);
    for round in 1..=2 {
        session.spawn(&["swaylock", "--color", "0000ff", "--no-unlock-indicator"]);
        session.wait("locked", || session.traffic("swaylock").contains(".locked()").then_some(()));
        // Of whatever is taken from that moment on.
        let picture = session.picture(&format!("locked-{round}"));
        assert_eq!(picture.count(BLUE), everything);
        session.type_text("not the password");
        session.linger();
        assert_eq!(session.picture("still").count(BLUE), everything);
        if round == 1 {
            session.signal("swaylock", Signal::KILL);
            // Whatever foot does is not seen: there are words on black.
            let picture = session.wait_for_picture("killed", |picture| picture.count(BLUE) == 0);
            let black = picture.count(0);
            assert!(black + 40 * SAID > everything && black + SAID < everything, "{black} of {everything} are black");
        }
    }
    // Its way to say that somebody else found out that it is the right person.
    session.signal("swaylock", Signal::USR1);
    session.wait_for_picture("again", |picture| picture.count(BLUE) == 0 && picture.content() > everything / 10);
    session.still_runs();
    session.end();
}
