//! Tests a configuration of outputs, and applies all of it or nothing.

use crate::backend::{Display, RateLimit, VideoMode};
use crate::bounds::{MAX_EXTENT, coordinate};
use crate::output::hotplug::{self, OutputChange, ScaleChange};
use crate::output::mode_switch::{self, OutputModeWish};
use crate::output::parking;
use crate::output_transform::OutputTransform;
use crate::state::State;
use upbeat_timing::id::OutputId;

/// Allowed scales: the range of the configuration file.
const SCALES: std::ops::RangeInclusive<f64> = 0.5..=8.0;
/// Steps of `wp_fractional_scale_v1` in 1.
const SCALE_STEPS: f64 = 120.0;
/// The requested state of one output. An absent field leaves the state unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadConfiguration {
    /// Name of the output.
    pub(in crate::protocol) output: String,
    /// Whether it is to be part of the layout.
    pub(in crate::protocol) enabled: bool,
    /// A rate of 0 stands for the highest rate at that size, or the current rate where the display lists no such size.
    pub(in crate::protocol) mode: Option<VideoMode>,
    /// Top left corner (global logical coordinates).
    pub(in crate::protocol) position: Option<(i32, i32)>,
    pub(in crate::protocol) scale: Option<f64>,
    pub(in crate::protocol) turn: Option<OutputTransform>,
    /// Whether the refresh rate is to vary.
    pub(in crate::protocol) adaptive_sync: Option<bool>,
}

impl HeadConfiguration {
    /// Returns an error text if `display` cannot have this state. `usual_limit` (mHz): the lower limit of a variable
    /// rate.
    fn check(&self, display: &dyn Display, usual_limit: u32) -> Result<(), String> {
        let HeadConfiguration { output, mode, position, scale, adaptive_sync, .. } = self;
        if let Some((x, y)) = position.filter(|(x, y)| (coordinate(*x), coordinate(*y)) != (*x, *y)) {
            return Err(format!("{output}: a position of {x},{y}; it lies between -{MAX_EXTENT} and {MAX_EXTENT}"));
        }
        if let Some(scale) = scale.filter(|scale| !SCALES.contains(scale)) {
            return Err(format!(
                "{output}: a scale of {scale}; it lies between {} and {}",
                SCALES.start(),
                SCALES.end()
            ));
        }
        if let Some(mode) = mode {
            display.check_mode(*mode).map_err(|error| format!("{output}: {error}"))?;
        }
        if *adaptive_sync == Some(true) {
            let checked = display.check_variable_rate(mode.unwrap_or_else(|| display.mode()), usual_limit);
            checked.map_err(|error| format!("{output}: no adaptive sync: {error}"))?;
        }
        Ok(())
    }

    fn scale(&self) -> Option<f64> {
        self.scale.map(|scale| (scale * SCALE_STEPS).round() / SCALE_STEPS)
    }
}

/// An output, in the layout or parked.
enum OutputLocation {
    Shown(OutputId),
    Parked,
}

fn find(state: &State, name: &str) -> Result<OutputLocation, String> {
    let is_parked = || state.outputs.parked().iter().any(|parked| parked.display().name() == name);
    match hotplug::by_name(state, name) {
        Some(id) => Ok(OutputLocation::Shown(id)),
        None if is_parked() => Ok(OutputLocation::Parked),
        None => Err(format!("there is no output called {name} any more")),
    }
}

/// The display of the output called `name`.
fn display_of<'a>(state: &'a State, name: &str) -> Result<Option<&'a dyn Display>, String> {
    Ok(match find(state, name)? {
        OutputLocation::Shown(id) => state.outputs.by_id(id).map(|output| output.display()),
        OutputLocation::Parked => {
            let parked = state.outputs.parked().iter().map(parking::Parked::display);
            parked.into_iter().find(|display| display.name() == name)
        }
    })
}

/// Returns an error text if the outputs cannot have this state.
fn test(state: &State, heads: &[HeadConfiguration]) -> Result<(), String> {
    for head in heads {
        let display = display_of(state, &head.output)?;
        if let (Some(display), true) = (display, head.enabled) {
            let shown = hotplug::by_name(state, &head.output).and_then(|id| state.outputs.by_id(id));
            let usual = || display.slowest_rate().unwrap_or(mode_switch::USUAL_SLOWEST);
            head.check(display, shown.map_or_else(usual, mode_switch::usual_limit))?;
        }
    }
    Ok(())
}

/// Replaces rates of 0 by the highest rate that the display has at that size, or else by its current rate.
pub fn choose_rates(state: &State, heads: &mut [HeadConfiguration]) {
    for head in heads {
        let Some(mode) = head.mode.as_mut().filter(|mode| mode.refresh == 0) else { continue };
        if let Ok(Some(display)) = display_of(state, &head.output) {
            mode.refresh = rate_at(*mode, &display.modes(), display.mode());
        }
    }
}

/// The highest rate of the modes that are as large as `wanted`; the rate of the current mode if there is none.
fn rate_at(wanted: VideoMode, modes: &[VideoMode], current: VideoMode) -> u32 {
    let as_large = modes.iter().chain([&current]).filter(|mode| is_as_large(**mode, wanted));
    as_large.map(|mode| mode.refresh).max().unwrap_or(current.refresh)
}

fn is_as_large(a: VideoMode, b: VideoMode) -> bool {
    (a.width, a.height) == (b.width, b.height)
}

/// Tests a configuration, and calls `then` with the result. Drivers are asked about the modes of outputs in the layout.
pub fn test_with_drivers(
    state: &mut State,
    heads: &[HeadConfiguration],
    then: impl FnOnce(&mut State, Result<(), String>) + 'static,
) {
    match test(state, heads) {
        Ok(()) => mode_switch::test_modes(state, &other_modes(state, heads), Box::new(then)),
        Err(reason) => then(state, Err(reason)),
    }
}

/// Applies a configuration, and calls `then` when it is done. If it fails, everything is undone, and `then` gets an
/// error text.
pub fn apply(
    state: &mut State,
    heads: Vec<HeadConfiguration>,
    then: impl FnOnce(&mut State, Result<(), String>) + 'static,
) {
    if let Err(reason) = test(state, &heads) {
        return then(state, Err(reason));
    }
    // Parked outputs return first, so that windows of outputs that leave the layout have an output to move to.
    let (mut returned, mut gone) = (Vec::new(), None);
    for head in heads.iter().filter(|head| head.enabled) {
        if matches!(find(state, &head.output), Ok(OutputLocation::Parked)) {
            match parking::unpark(state, &head.output) {
                Some(id) => returned.push(id),
                None => gone = Some(head.output.clone()),
            }
        }
    }
    let wanted = other_modes(state, &heads);
    let awaited = returned.clone();
    let finish = move |state: &mut State, result: Result<(), String>| {
        match &result {
            Ok(()) => arrange(state, &heads),
            Err(_) => returned.into_iter().for_each(|id| parking::park(state, id)),
        }
        then(state, result);
    };
    if let Some(name) = gone {
        return finish(state, Err(format!("there is no output called {name} any more")));
    }
    match mode_switch::request_modes(state, &wanted) {
        Ok(asked) => mode_switch::wait_for_light(state, asked, awaited, Box::new(finish)),
        Err(reason) => finish(state, Err(reason)),
    }
}

/// The requested modes and variable rates that are not in force, or will not stay so because a switch is under way.
fn other_modes(state: &State, heads: &[HeadConfiguration]) -> Vec<OutputModeWish> {
    heads.iter().filter(|head| head.enabled).filter_map(|head| other_mode(state, head)).collect()
}

fn other_mode(state: &State, head: &HeadConfiguration) -> Option<OutputModeWish> {
    if head.mode.is_none() && head.adaptive_sync.is_none() {
        return None;
    }
    let output = state.outputs.by_id(hotplug::by_name(state, &head.output)?)?;
    let varies = output.display().capabilities().variable_refresh.is_some();
    let is_in_force = head.mode.is_none_or(|mode| mode == output.display().mode())
        && head.adaptive_sync.is_none_or(|wanted| wanted == varies)
        && !mode_switch::is_under_way(&state.outputs, output.id());
    let slowest = match head.adaptive_sync {
        None => RateLimit::Keep,
        Some(false) => RateLimit::Set(None),
        Some(true) => RateLimit::Set(Some(mode_switch::usual_limit(output))),
    };
    let mode = head.mode.or_else(|| mode_switch::coming_mode(&state.outputs, output.id()))?;
    (!is_in_force).then_some(OutputModeWish { output: output.id(), mode, slowest })
}

/// Applies the parts that no display can refuse: positions, scales, transforms, and outputs that leave the layout.
fn arrange(state: &mut State, heads: &[HeadConfiguration]) {
    // First, so that the others do not make room for them.
    for head in heads.iter().filter(|head| !head.enabled) {
        if let Ok(OutputLocation::Shown(id)) = find(state, &head.output) {
            parking::park(state, id);
        }
    }
    let arranged: Vec<_> = heads
        .iter()
        .filter(|head| head.enabled && (head.position.is_some() || head.scale.is_some() || head.turn.is_some()))
        .filter_map(|head| {
            let HeadConfiguration { position, turn, .. } = *head;
            let scale = head.scale().map_or(ScaleChange::Unchanged, ScaleChange::Fixed);
            let output = hotplug::by_name(state, &head.output)?;
            Some(OutputChange { output, position, scale, turn })
        })
        .collect();
    if !arranged.is_empty() {
        hotplug::arrange_all(state, &arranged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_of_zero_becomes_the_highest_at_that_size() {
        let mode = |width, height, refresh| VideoMode { width, height, refresh };
        let modes = [mode(2560, 1440, 60_000), mode(1920, 1080, 144_000), mode(1920, 1080, 120_000)];
        let current = mode(2560, 1440, 75_000);
        assert_eq!(rate_at(mode(1920, 1080, 0), &modes, current), 144_000);
        assert_eq!(rate_at(mode(2560, 1440, 0), &modes, current), 75_000, "the current mode counts");
        assert_eq!(rate_at(mode(800, 600, 0), &modes, current), 75_000, "no mode is as large: the rate stays");
    }

    #[test]
    fn scales_are_rounded_to_fractional_scale_steps() {
        let head = HeadConfiguration { scale: Some(1.3333), ..HeadConfiguration::default() };
        assert_eq!(head.scale(), Some(160.0 / 120.0));
        assert_eq!(HeadConfiguration::default().scale(), None);
    }
}
