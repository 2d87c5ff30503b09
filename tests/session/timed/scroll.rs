//! Frames that the client of a moving view renders, and its wake-ups.

use crate::scroll::{SECONDS, moving_views};
use crate::timed_figure::Noise;

#[test]
#[ignore = "timed: ./up measure"]
fn a_moving_view_is_rendered_as_seldom_as_its_buffer_allows() {
    let noise = Noise::begin();
    let (mut keeps, mut figures) = (true, Vec::new());
    for run in moving_views() {
        let [formula, renders, wakes] =
            ["formula_fps", "renders", "client_wakeups_per_frame"].map(|key| run[key].as_f64().unwrap());
        // One more render is allowed in each run, because nothing is rendered ahead at its start.
        let most = 1.1 * formula * f64::from(SECONDS) + 1.0;
        keeps &= renders <= most && wakes <= 3.0;
        figures.push(format!("{renders} renders of {most:.1}, {wakes:.1} wake-ups a frame"));
    }
    noise.judge(keeps, figures.join("; "));
}
