//! Runs loads under policies, in parallel, over several seeds.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use super::advice;
use super::animation::{self, AnimationPolicy, Miss};
use super::interaction::{self, AppCost, InteractionPolicy, Response, Setup};
use super::load::synthetic::Mix;
use super::load::{Capture, Load};
use super::policy::{Kind, Policy};
use super::result::{Latency, LoadInfo, RunResult};
use super::tally::{BUFFER_BYTES, Tally};
use upbeat_timing::frames::{Recorder, Trigger};
use upbeat_timing::time::Span;

/// Interrupting events per run: enough for a mean within a millisecond.
const INTERRUPTS: usize = 200;
/// A 95 % interval is this many standard errors wide to each side.
const INTERVAL_FACTOR: f64 = 1.96;

/// A load that can be had for several seeds.
#[derive(Clone, Debug)]
pub enum Source {
    /// Made by seed.
    Mix {
        /// The distribution.
        mix: Mix,
        /// Refresh interval.
        interval: Span,
        /// Frames per seed.
        frames: usize,
        /// Frames of one animation; zero for one long one.
        animation: usize,
    },
    /// A log: the same for every seed.
    Log(Arc<Capture>),
}

impl Source {
    /// The frames that `seed` makes.
    pub fn load(&self, seed: u64) -> Cow<'_, Load> {
        match self {
            Source::Mix { mix, interval, frames, animation } => {
                let load = mix.generate(*interval, *frames, seed);
                Cow::Owned(if *animation > 0 { load.in_animations_of(*animation) } else { load })
            }
            Source::Log(log) => Cow::Borrowed(&log.load),
        }
    }

    /// What has to be known of it.
    fn info(&self, conditions: &Conditions<'_>) -> LoadInfo {
        let recorder = match conditions.recorder.unwrap_or(self.recorder()) {
            Recorder::Coupled => "coupled to the renderer, as on Android",
            Recorder::Decoupled => "decoupled from the renderer, as with GL and Vulkan",
        };
        match self {
            Source::Mix { frames, .. } => LoadInfo {
                name: self.load(conditions.first_seed).name.clone(),
                frames: *frames,
                recorder,
                ..LoadInfo::default()
            },
            Source::Log(log) => LoadInfo {
                name: log.load.name.clone(),
                frames: log.load.frames.len(),
                recorder,
                from: log.about.to_string(),
                warnings: log.about.warnings.iter().map(ToString::to_string).collect(),
                answer: String::new(),
            },
        }
    }

    /// Whether recording waits for rendering: loads made by seed follow the papers, whose devices are Android's; logs are of
    /// programs that draw with GL or Vulkan.
    pub const fn recorder(&self) -> Recorder {
        match self {
            Source::Mix { .. } => Recorder::Coupled,
            Source::Log(_) => Recorder::Decoupled,
        }
    }

    fn seeds(&self, wanted: u64) -> u64 {
        match self {
            Source::Mix { .. } => wanted.max(1),
            Source::Log(_) => 1,
        }
    }
}

/// What is known of the device in front of interaction policies.
#[derive(Clone, Copy, Debug)]
pub struct Device<'a> {
    /// Distance of input events.
    pub input_interval: Span,
    /// When they come, where they were recorded; see [`Setup::recorded`].
    pub recorded: &'a [Span],
    /// From the hand to the driver.
    pub touch: Span,
    /// From the finished frame to the display.
    pub output: Span,
}

impl<'a> Device<'a> {
    /// A program whose frames cost what those of `load` do, for so many refreshes, behind this device.
    pub fn setup(&self, load: &'a Load, refreshes: usize, seed: u64) -> Setup<'a> {
        Setup {
            interval: load.interval,
            input_interval: self.input_interval,
            recorded: self.recorded,
            touch: self.touch,
            output: self.output,
            ..Setup::presto(AppCost::Frames(&load.frames), refreshes, seed)
        }
    }
}

/// What sources are run with.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Seeds of loads that are made by seed.
    pub seeds: u64,
    /// The first of them.
    pub first_seed: u64,
    /// The device in front of interaction policies.
    pub device: Device<'a>,
    /// Whether recording waits for rendering; unless it is said, what each source says.
    pub recorder: Option<Recorder>,
}

/// Runs every source under every policy. `done` is called once per finished run.
pub fn run(
    sources: &[Source],
    policies: &[Policy],
    conditions: &Conditions<'_>,
    done: &(dyn Fn() + Sync),
) -> Vec<RunResult> {
    sources.par_iter().flat_map(|source| run_source(source, policies, conditions, done)).collect()
}

/// What has to be known of each source, and the answer that follows from its `runs`, which [`run`] found.
pub fn infos(
    sources: &[Source],
    policies: &[Policy],
    conditions: &Conditions<'_>,
    runs: &[RunResult],
) -> Vec<LoadInfo> {
    let of = |(source, runs): (&Source, &[RunResult])| {
        let load = source.load(conditions.first_seed);
        let answer = advice::answer(&load, policies, runs).unwrap_or_default();
        LoadInfo { answer, ..source.info(conditions) }
    };
    sources.par_iter().zip(runs.par_chunks(policies.len().max(1))).map(of).collect()
}

/// How often `done` of [`run`] is called.
pub fn steps(sources: &[Source], policies: &[Policy], seeds: u64) -> u64 {
    sources.iter().map(|source| source.seeds(seeds)).sum::<u64>() * policies.len() as u64
}

fn run_source(
    source: &Source,
    policies: &[Policy],
    conditions: &Conditions<'_>,
    done: &(dyn Fn() + Sync),
) -> Vec<RunResult> {
    let recorder = conditions.recorder.unwrap_or(source.recorder());
    let per_seed: Vec<Vec<RunResult>> = (0..source.seeds(conditions.seeds))
        .into_par_iter()
        .map(|seed| {
            let seed = conditions.first_seed + seed;
            let load = source.load(seed);
            let run = |(first, part): (usize, Part<'_>)| {
                let ran = part.run(&load, recorder, conditions.device, seed);
                ran.iter().for_each(|_| done());
                (first, ran)
            };
            // One after the other, by whoever is free.
            let mut ran: Vec<(usize, Vec<Ran>)> = parts(policies).into_iter().par_bridge().map(run).collect();
            ran.sort_unstable_by_key(|(first, _)| *first);
            let ran = ran.into_iter().flat_map(|(_, ran)| ran).collect();
            against_baseline(&load, policies, ran, recorder)
        })
        .collect();
    let mut per_seed: Vec<_> = per_seed.into_iter().map(Vec::into_iter).collect();
    policies.iter().map(|_| mean(per_seed.iter_mut().filter_map(Iterator::next).collect())).collect()
}

/// What is run at once: a policy of motion, or some of interaction.
enum Part<'a> {
    Motion(&'a AnimationPolicy),
    Interaction(Vec<InteractionPolicy>),
}

/// What came of a policy.
enum Ran {
    Motion(Box<Moved>),
    Interaction(Box<Response>),
}

struct Moved {
    tally: Tally,
    misses: Vec<Miss>,
    /// How soon an interrupting event is answered, and how soon where queued frames cannot be taken back.
    interrupt: Option<[f64; 2]>,
}

/// Policies of interaction that are run side by side: more share more, fewer are finished at the same time on all processors.
const SIDE_BY_SIDE: usize = 6;

/// All policies, each part with the place of its first one; those that take long come first, so that the short ones fill what
/// is left of every processor's time.
fn parts(policies: &[Policy]) -> Vec<(usize, Part<'_>)> {
    let mut parts = Vec::new();
    for (place, policy) in policies.iter().enumerate() {
        match (&policy.kind, parts.last_mut()) {
            (Kind::Animation(kind), _) => parts.push((place, Part::Motion(kind))),
            (Kind::Interaction(kind), Some((_, Part::Interaction(some)))) if some.len() < SIDE_BY_SIDE => {
                some.push(*kind);
            }
            (Kind::Interaction(kind), _) => parts.push((place, Part::Interaction(vec![*kind]))),
        }
    }
    parts.sort_by_key(|(_, part)| matches!(part, Part::Motion(_)));
    parts
}

impl Part<'_> {
    fn run(&self, load: &Load, recorder: Recorder, device: Device<'_>, seed: u64) -> Vec<Ran> {
        let kinds = match self {
            Part::Motion(kind) => return vec![Ran::Motion(Box::new(moved(load, &kind.with_recorder(recorder))))],
            Part::Interaction(kinds) => kinds,
        };
        let setup = device.setup(load, load.frames.len(), seed);
        interaction::run_all(&setup, kinds).into_iter().map(|response| Ran::Interaction(Box::new(response))).collect()
    }
}

fn moved(load: &Load, kind: &AnimationPolicy) -> Moved {
    let (tally, misses) = animation::run_with_misses(load, kind);
    let interrupt = (kind.trigger == Trigger::Ahead && !kind.variable)
        .then(|| [true, false].map(|supersede| animation::interrupt_response(load, kind, supersede, INTERRUPTS)));
    Moved { tally, misses, interrupt }
}

/// What came of `policies`, held against the baseline.
fn against_baseline(load: &Load, policies: &[Policy], ran: Vec<Ran>, recorder: Recorder) -> Vec<RunResult> {
    let baseline = policies.iter().zip(&ran).find_map(|(policy, ran)| match ran {
        Ran::Motion(moved) if policy.is_baseline() => Some(moved.tally.clone()),
        _ => None,
    });
    // It is among those that can be named; who asks for others is answered all the same.
    let baseline = baseline.unwrap_or_else(|| animation::run(load, &AnimationPolicy::vsync(3).with_recorder(recorder)));
    let result = |(policy, ran): (&Policy, Ran)| match ran {
        Ran::Motion(moved) => animated(load, policy, *moved, &baseline),
        Ran::Interaction(response) => answered(load, policy, *response, &baseline),
    };
    policies.iter().zip(ran).map(result).collect()
}

fn animated(load: &Load, policy: &Policy, moved: Moved, baseline: &Tally) -> RunResult {
    let Moved { tally, misses, interrupt } = moved;
    let frames = tally.frames.max(1) as f64;
    RunResult {
        load: load.name.clone(),
        policy: policy.name.clone(),
        buffers: policy.buffers(),
        refresh_hz: 1.0 / load.interval.as_seconds_f64(),
        drops_per_s: tally.drops_per_second(),
        drop_percent: 100.0 * tally.drop_share(),
        drops: tally.drops as f64,
        drop_reduction: tally.reduction(baseline),
        drop_reduction_bounds: tally.reduction_bounds(baseline),
        age_ms: tally.content_age(),
        hitches_per_s: tally.hitches_per_second(),
        fps: tally.frames_per_second(),
        longest_freeze_ms: tally.longest_gap.as_millis_f64(),
        latency_ms: tally.latency().into(),
        classes: tally.classes.map(|class| class as f64 / frames),
        content_error_ms: tally.content_error(),
        wrong_time: tally.content_error().map(|_| tally.wrong_time as f64 / frames),
        buffer_megabytes: tally.peak_megabytes(),
        interrupt_ms: interrupt.map(|[superseded, _]| superseded),
        interrupt_unflushable_ms: interrupt.map(|[_, queued]| queued),
        latencies: tally.latencies().clone(),
        misses,
        ..RunResult::default()
    }
}

fn answered(load: &Load, policy: &Policy, response: Response, baseline: &Tally) -> RunResult {
    let base = baseline.drops_per_second();
    RunResult {
        load: load.name.clone(),
        policy: policy.name.clone(),
        buffers: policy.buffers(),
        refresh_hz: 1.0 / load.interval.as_seconds_f64(),
        drops_per_s: response.drops_per_second,
        drops: response.drops_per_second * load.interval.as_seconds_f64() * load.frames.len() as f64,
        drop_percent: 100.0 * response.repeated,
        drop_reduction: if base > 0.0 { 1.0 - response.drops_per_second / base } else { 0.0 },
        hitches_per_s: response.hitches_per_second,
        fps: response.frames_per_second,
        longest_freeze_ms: response.longest_gap.as_millis_f64(),
        latency_ms: response.latency.into(),
        age_ms: response.age,
        missed: Some(response.missed),
        wasted_renders: response.renders_per_shown - 1.0,
        buffer_megabytes: f64::from(policy.buffers()) * BUFFER_BYTES / 1e6,
        latencies: response.latencies,
        ..RunResult::default()
    }
}

/// The mean of the runs with different seeds; the longest freeze is the longest of all.
fn mean(mut runs: Vec<RunResult>) -> RunResult {
    let misses = runs.first_mut().map(|run| std::mem::take(&mut run.misses)).unwrap_or_default();
    let count = runs.len() as f64;
    let over = |value: fn(&RunResult) -> f64| runs.iter().map(value).sum::<f64>() / count;
    let optional =
        |value: fn(&RunResult) -> Option<f64>| runs.iter().map(value).sum::<Option<f64>>().map(|sum| sum / count);
    let interval = |value: fn(&RunResult) -> f64| {
        let mean = over(value);
        let square = runs.iter().map(|run| (value(run) - mean).powi(2)).sum::<f64>();
        if runs.len() < 2 { 0.0 } else { INTERVAL_FACTOR * (square / (count - 1.0) / count).sqrt() }
    };
    let Some(first) = runs.first() else { return RunResult::default() };
    RunResult {
        load: first.load.clone(),
        policy: first.policy.clone(),
        buffers: first.buffers,
        refresh_hz: first.refresh_hz,
        drops: over(|run| run.drops),
        drop_reduction_bounds: first.drop_reduction_bounds.filter(|_| runs.len() == 1),
        age_ms: over(|run| run.age_ms),
        drops_per_s: over(|run| run.drops_per_s),
        drops_per_s_interval: interval(|run| run.drops_per_s),
        drop_percent: over(|run| run.drop_percent),
        drop_reduction: over(|run| run.drop_reduction),
        drop_reduction_interval: interval(|run| run.drop_reduction),
        hitches_per_s: over(|run| run.hitches_per_s),
        fps: over(|run| run.fps),
        longest_freeze_ms: runs.iter().map(|run| run.longest_freeze_ms).fold(0.0, f64::max),
        latency_ms: Latency {
            mean: over(|run| run.latency_ms.mean),
            p50: over(|run| run.latency_ms.p50),
            p95: over(|run| run.latency_ms.p95),
            p99: over(|run| run.latency_ms.p99),
            max: runs.iter().map(|run| run.latency_ms.max).fold(0.0, f64::max),
        },
        classes: [over(|run| run.classes[0]), over(|run| run.classes[1]), over(|run| run.classes[2])],
        content_error_ms: optional(|run| run.content_error_ms),
        wrong_time: optional(|run| run.wrong_time),
        missed: optional(|run| run.missed),
        wasted_renders: over(|run| run.wasted_renders),
        buffer_megabytes: over(|run| run.buffer_megabytes),
        interrupt_ms: optional(|run| run.interrupt_ms),
        interrupt_unflushable_ms: optional(|run| run.interrupt_unflushable_ms),
        latencies: first.latencies.clone(),
        misses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::synthetic;
    use crate::policy;

    const DEVICE: Device<'static> = Device {
        input_interval: Span::from_micros(8_391),
        recorded: &[],
        touch: Span::ZERO,
        output: Span::from_millis(2),
    };

    #[test]
    fn results_do_not_depend_on_the_order_of_threads_and_carry_intervals() {
        let source =
            Source::Mix { mix: synthetic::A, interval: Span::from_micros(16_667), frames: 3_000, animation: 0 };
        let policies = policy::named(&["ahead-4".into(), "jitt-window".into()]).unwrap();
        let conditions = Conditions { seeds: 3, first_seed: 1, device: DEVICE, recorder: None };
        let once = || run(std::slice::from_ref(&source), &policies, &conditions, &|| ());
        let (first, second) = (once(), once());
        assert_eq!(serde_json::to_value(&first).unwrap(), serde_json::to_value(&second).unwrap());
        let ahead = &first[1];
        assert!((0.6..0.95).contains(&ahead.drop_reduction) && ahead.drop_reduction_interval > 0.0, "{ahead:?}");
        assert_eq!(first[0].drop_reduction, 0.0);
        let (superseded, queued) = (ahead.interrupt_ms.unwrap(), ahead.interrupt_unflushable_ms.unwrap());
        assert!(queued > superseded + 15.0, "{superseded} {queued}");
    }
}
