//! Frame costs, shared by the bench, the simulator and `examples/game`.

use upbeat_lab::load::synthetic::MIXES;
use upbeat_lab::load::{self, Load, LogRequest};
use upbeat_timing::time::{NANOS_PER_SECOND, Span};

/// The load of a game.
#[derive(Clone, Debug, clap::Args)]
pub struct CostOptions {
    /// The load: a letter of the simulator's (A to F), or a trace (CSV)
    #[arg(long, value_name = "LOAD", default_value = "A")]
    pub load: String,
    /// Number of frames to draw
    #[arg(long, default_value_t = 3600)]
    pub frames: usize,
    /// Seed of the costs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The display's rate: costs are a share of its interval
    #[arg(long, value_name = "HZ", default_value_t = 60.0)]
    pub refresh: f64,
}

/// The load does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no load `{load}`: expected A to F, or the path of a trace ({why})")]
pub struct UnknownLoad {
    load: String,
    why: String,
}

impl CostOptions {
    pub fn interval(&self) -> Span {
        Span::from_nanos((NANOS_PER_SECOND as f64 / self.refresh) as i64)
    }

    /// The costs with the load's name.
    ///
    /// # Errors
    /// If it is neither a load of the simulator nor a trace that can be read.
    pub fn costs(&self) -> Result<Load, UnknownLoad> {
        let mix = MIXES.iter().find(|mix| mix.name.split(' ').next() == Some(self.load.as_str()));
        if let Some(mix) = mix {
            return Ok(mix.generate(self.interval(), self.frames, self.seed));
        }
        let unusable = |why: String| UnknownLoad { load: self.load.clone(), why };
        let wanted = LogRequest { interval: self.interval(), process: None };
        let mut load = load::read(self.load.as_ref(), &wanted).map_err(|error| unusable(error.to_string()))?.load;
        load.frames.truncate(self.frames);
        Ok(load)
    }
}
