//! `[[layer]]`: rules for layer surfaces (bars, wallpapers, launchers), by namespace.

use serde::{Deserialize, Serialize};

use super::TextMatcher;
use super::effects::{Radius, Share};
use crate::shell::layers::LayerAppearance;

/// A rule for layer surfaces. Options that it leaves out keep their value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LayerRule {
    /// Matches the namespace, which the client chooses.
    pub namespace: TextMatcher,
    /// From 0 to 1.
    pub opacity: Option<Share>,
    /// In logical pixels.
    pub corner_radius: Option<Radius>,
    /// Whether screen captures contain it.
    pub capture: Option<bool>,
    /// Whether it may have the keyboard.
    pub keyboard: Option<bool>,
}

impl LayerRule {
    /// The options of a surface with this namespace; where several rules match, the later one counts, option by option.
    pub fn apply_rules(rules: &[LayerRule], namespace: &str) -> LayerAppearance {
        let rules = rules.iter().filter(|rule| rule.namespace.matches(namespace));
        rules.fold(LayerAppearance::default(), |look, rule| LayerAppearance {
            opacity: rule.opacity.map_or(look.opacity, |share| share.0),
            corner_radius: rule.corner_radius.map_or(look.corner_radius, |radius| radius.0),
            is_kept_out: rule.capture.map_or(look.is_kept_out, |is_seen| !is_seen),
            may_have_keyboard: rule.keyboard.unwrap_or(look.may_have_keyboard),
        })
    }
}
