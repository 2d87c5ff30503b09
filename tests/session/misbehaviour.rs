//! A client that floods, does not listen, dies or cheats harms nobody else. How long frames take meanwhile is measured
//! elsewhere; here it is shown that everybody goes on.

use upbeat::ipc::message::Request;

use crate::session::Session;

fn world() -> (Session, crate::session::Program) {
    let mut session = Session::start(&["--output", "640x480"]);
    let victim = session.shown("draw");
    session.goes_on("draw");
    (session, victim)
}

#[test]
fn a_flood_of_requests_stops_nobody() {
    let (mut session, _victim) = world();
    let flooder = session.program("flood");
    for _ in 0..5 {
        session.goes_on("draw");
    }
    session.ask(Request::Version);
    drop(flooder);
    session.goes_on("draw");
}

#[test]
fn a_client_that_does_not_read_is_let_go() {
    let (mut session, _victim) = world();
    let deaf = session.program("deaf");
    deaf.wait_for_its_end();
    session.goes_on("draw");
    assert!(session.windows().iter().all(|window| window.app_id != "deaf"));
}

#[test]
fn a_client_may_die_at_any_moment() {
    let (mut session, _victim) = world();
    for stage in 0..=5 {
        session.program(&format!("dies:{stage}")).wait_for_its_end();
    }
    session.goes_on("draw");
    crate::session::wait("the dead to go", || (session.windows().len() == 1).then_some(()));
}

#[test]
fn a_client_that_cuts_its_buffers_off_harms_itself_at_most() {
    let (mut session, _victim) = world();
    let _cheat = session.program("shrinks");
    for _ in 0..3 {
        session.goes_on("draw");
    }
}
