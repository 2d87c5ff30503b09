//! Tests what is wanted of outputs, and does all of it or nothing.

use crate::backend::{Display, Mode};
use crate::output::{hotplug, parking};
use crate::state::State;
use crate::timing::id::OutputId;

/// Physical pixels of a logical one: as small and as large as a configuration may say.
const SCALES: std::ops::RangeInclusive<f64> = 0.5..=8.0;
/// In how many steps `wp_fractional_scale_v1` divides 1.
const SCALE_STEPS: f64 = 120.0;

/// What is wanted of one output. What is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Its name.
    pub output: String,
    /// Whether it is part of the layout.
    pub enabled: bool,
    pub mode: Option<Mode>,
    /// Top left corner (global logical coordinates).
    pub position: Option<(i32, i32)>,
    pub scale: Option<f64>,
    pub is_transform_set: bool,
    /// It is to be turned or mirrored.
    pub is_transformed: bool,
    pub adaptive_sync: Option<bool>,
}

impl Wish {
    /// Why `display` cannot be like this.
    fn check(&self, display: &dyn Display) -> Result<(), String> {
        let Wish { output, mode, scale, is_transformed, adaptive_sync, .. } = self;
        if *is_transformed {
            return Err(format!("{output}: outputs cannot be turned or mirrored yet"));
        }
        if let Some(scale) = scale.filter(|scale| !SCALES.contains(scale)) {
            return Err(format!(
                "{output}: a scale of {scale}; it lies between {} and {}",
                SCALES.start(),
                SCALES.end()
            ));
        }
        if let Some(mode) = mode {
            display.takes_mode(*mode).map_err(|error| format!("{output}: {error}"))?;
        }
        let varies = display.capabilities().variable_refresh.is_some();
        match adaptive_sync {
            Some(wanted) if *wanted != varies => {
                Err(format!("{output}: adaptive sync is chosen with the mode in the configuration, not by clients"))
            }
            _ => Ok(()),
        }
    }

    fn scale(&self) -> Option<f64> {
        self.scale.map(|scale| (scale * SCALE_STEPS).round() / SCALE_STEPS)
    }
}

/// An output, wherever its display is.
enum Found {
    Shown(OutputId),
    Parked,
}

fn find(state: &State, name: &str) -> Result<Found, String> {
    let is_parked = || state.outputs.parked.iter().any(|parked| parked.display().name() == name);
    match hotplug::by_name(state, name) {
        Some(id) => Ok(Found::Shown(id)),
        None if is_parked() => Ok(Found::Parked),
        None => Err(format!("there is no output called {name} any more")),
    }
}

/// Whether outputs can be like this; if not, a sentence that says why.
pub fn test(state: &State, wishes: &[Wish]) -> Result<(), String> {
    for wish in wishes {
        let found = find(state, &wish.output)?;
        let display = match found {
            Found::Shown(id) => state.outputs.by_id(id).map(|output| output.display.as_ref()),
            Found::Parked => {
                let parked = state.outputs.parked.iter().map(parking::Parked::display);
                parked.into_iter().find(|display| display.name() == wish.output)
            }
        };
        if let (Some(display), true) = (display, wish.enabled) {
            wish.check(display)?;
        }
    }
    Ok(())
}

/// Makes outputs like this; if that cannot be, all is as before, and a sentence says why.
pub fn apply(state: &mut State, wishes: &[Wish]) -> Result<(), String> {
    test(state, wishes)?;
    // Those that come back first: windows of those that go have somewhere to go to.
    let mut returned = Vec::new();
    for wish in wishes.iter().filter(|wish| wish.enabled) {
        if matches!(find(state, &wish.output), Ok(Found::Parked)) {
            returned.extend(parking::unpark(state, &wish.output, wish.position, wish.scale()));
        }
    }
    if let Err(reason) = set_modes(state, wishes) {
        returned.into_iter().for_each(|id| parking::park(state, id));
        return Err(reason);
    }
    let arranged: Vec<_> = wishes
        .iter()
        .filter(|wish| wish.enabled && (wish.position.is_some() || wish.scale.is_some()))
        .filter_map(|wish| {
            let id = hotplug::by_name(state, &wish.output)?;
            let now = state.outputs.by_id(id)?.output.current_scale().fractional_scale();
            Some(hotplug::Arranged { output: id, position: wish.position, scale: wish.scale().unwrap_or(now) })
        })
        .collect();
    if !arranged.is_empty() {
        hotplug::arrange_all(state, &arranged);
    }
    for wish in wishes.iter().filter(|wish| !wish.enabled) {
        if let Ok(Found::Shown(id)) = find(state, &wish.output) {
            parking::park(state, id);
        }
    }
    Ok(())
}

/// Switches modes; where one is refused after all, those before it are switched back.
fn set_modes(state: &mut State, wishes: &[Wish]) -> Result<(), String> {
    let mut before: Vec<(OutputId, Mode)> = Vec::new();
    for wish in wishes.iter().filter(|wish| wish.enabled) {
        let id = hotplug::by_name(state, &wish.output);
        let Some((output, mode)) = id.and_then(|id| state.outputs.by_id_mut(id)).zip(wish.mode) else { continue };
        let now = output.display.mode();
        if now == mode {
            continue;
        }
        let (id, result) = (output.id, output.display.set_mode(mode));
        if let Err(error) = result {
            for (id, mode) in before {
                let back = state.outputs.by_id_mut(id).map(|output| output.display.set_mode(mode));
                if let Some(Err(error)) = back {
                    tracing::error!(%error, "an output does not take the mode back that it had");
                }
            }
            return Err(format!("{}: {error}", wish.output));
        }
        before.push((id, now));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_those_that_clients_can_be_told() {
        let wish = Wish { scale: Some(1.3333), ..Wish::default() };
        assert_eq!(wish.scale(), Some(160.0 / 120.0));
        assert_eq!(Wish::default().scale(), None);
    }
}
