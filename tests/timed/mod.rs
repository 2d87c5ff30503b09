//! Support for tests that measure time.
//!
//! A host that does other work makes every time longer, so a time measured there proves nothing. Such tests lie in
//! modules called `timed`, and the test command ignores them. `./up measure host` runs them and prints each figure
//! beside the host's own noise, without a verdict. `./up measure counted` runs them in a guest whose clock counts
//! instructions ([`VARIABLE`] is set there), and there they assert.

use std::fmt::Display;

use upbeat_bench::side_meter::SideMeter;

/// Environment variable, set in the guest whose clock counts instructions.
const VARIABLE: &str = "UPBEAT_COUNTED";

/// Whether times are exact, because the clock counts instructions.
pub fn is_counted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Measures the host's noise while a test measures its own figure.
pub struct Noise(SideMeter);

impl Noise {
    pub fn begin() -> Self {
        let bystander = SideMeter::start(None);
        bystander.begin();
        Noise(bystander)
    }

    /// Prints `figure` and the noise beside it. Panics if times are exact and `keeps_promise` is false.
    #[track_caller]
    pub fn judge(self, keeps_promise: bool, figure: impl Display) {
        self.0.end();
        let found = self.0.stop();
        let noise = found.noise.map_or_else(
            || "no noise was measured".to_owned(),
            |noise| format!("a sleeping thread woke up {:.2} ms late at p99, {:.2} at most", noise.p99, noise.max),
        );
        let verdict = if keeps_promise { "kept" } else { "NOT KEPT" };
        println!("figure: {verdict}: {figure}\n  noise: {noise}");
        assert!(keeps_promise || !is_counted(), "{figure}");
    }
}
