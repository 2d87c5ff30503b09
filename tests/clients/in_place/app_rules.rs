//! Rules for applications decide whether their changes are written in place; they count before `[timing] in-place`,
//! and for windows that are open.

use upbeat::config::Config;
use upbeat::session::apply_config;

use super::{InPlaceSession, WARM_UP, figures};
use upbeat_timing::time::Span;

/// More writes than the one in progress, for most of the 12 refreshes of 0.2 s.
const MANY: u64 = 8;
/// The most that a client's frames may be older than those of a client that was never written in place.
const SAME_AGE: Span = Span::from_micros(500);

fn configure(ink: &mut InPlaceSession, text: &str) {
    let config: Config = toml::from_str(text).unwrap();
    apply_config::apply(&mut ink.world.state, Some(&Config::default()), &config).unwrap();
}

fn name(ink: &mut InPlaceSession, app_id: &str) {
    ink.artist.window.toplevel.set_app_id(app_id.to_owned());
    ink.world.settle();
}

#[test]
fn rule_writes_one_application_in_place_where_others_are_composed() {
    let mut ink = InPlaceSession::new(280, false);
    name(&mut ink, "ink");
    ink.run(WARM_UP);
    assert_eq!(ink.written(), 0);
    configure(&mut ink, "[[app]]\napp-id = 'ink'\nin-place = true");
    assert!(ink.written() > MANY);
    name(&mut ink, "other");
    assert!(ink.written() <= 1, "more than the write in progress");
    name(&mut ink, "ink");
    assert!(ink.written() > MANY);
    configure(&mut ink, "");
    assert!(ink.written() <= 1, "more than the write in progress");
}

#[test]
fn rule_composes_one_application_where_others_are_written_in_place() {
    let mut ink = InPlaceSession::new(280, true);
    name(&mut ink, "ink");
    ink.run(WARM_UP);
    assert!(ink.written() > MANY);
    configure(&mut ink, "[timing]\nin-place = true\n[[app]]\napp-id = 'ink'\nin-place = false");
    assert!(ink.written() <= 1, "more than the write in progress");
    // Its callbacks come for the latch again, and not for the row.
    let mut without = InPlaceSession::new(280, false);
    let ((_, age), (_, age_without)) = (figures(&mut ink), figures(&mut without));
    assert!(age <= age_without + SAME_AGE, "{age} and {age_without}");
    name(&mut ink, "other");
    assert!(ink.written() > MANY);
    configure(&mut ink, "[timing]\nin-place = true");
    name(&mut ink, "ink");
    assert!(ink.written() > MANY);
}
