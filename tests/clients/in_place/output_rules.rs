//! Rules for outputs decide whether the buffer on screen may be written; they count before all other settings.

use upbeat::config::Config;
use upbeat::session::apply_config;

use super::{InPlaceSession, WARM_UP};

/// More writes than the one in progress, for most of the 12 refreshes of 0.2 s.
const MANY: u64 = 8;

#[test]
fn rule_of_an_output_composes_all_changes_there_until_it_goes() {
    let mut ink = InPlaceSession::new(280, true);
    ink.run(WARM_UP);
    assert!(ink.written() > MANY);
    let mut before = config("");
    for (option, is_written) in [("off", false), ("auto", true), ("off", false), ("on", true)] {
        let now = config(&format!("[[output]]\nname = '*'\nfront-buffer = '{option}'"));
        apply_config::apply(&mut ink.world.state, Some(&before), &now).unwrap();
        let written = ink.written();
        assert_eq!((written > MANY, written > 1), (is_written, is_written), "{option}: {written}");
        before = now;
    }
}

fn config(rule: &str) -> Config {
    toml::from_str(&format!("[timing]\nin-place = true\n{rule}")).unwrap()
}
