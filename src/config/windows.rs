//! `[[window]]`: rules for single windows, by their names and state.

use serde::{Deserialize, Serialize};

use super::effects::{Radius, Share};
use super::length::WindowLength;
use super::{TextMatcher, ValueError, WildcardPattern};
use crate::shell::appearance::DecoratedBy;
use crate::shell::resize::SizeLimits;
use crate::shell::window_rules::{WindowProperties, WindowRuleSettings};
use crate::shell::workspaces::WorkspaceReference;

/// A rule for windows. A condition that it leaves out holds for every window; an option that it leaves out keeps its
/// value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WindowRule {
    /// Condition: the app id.
    pub app_id: Option<TextMatcher>,
    /// Condition: the title.
    pub title: Option<TextMatcher>,
    /// Condition: the tag (`xdg_toplevel_tag_manager_v1`).
    pub tag: Option<TextMatcher>,
    /// Condition: it has the focus.
    pub is_focused: Option<bool>,
    /// Condition: it floats.
    pub is_floating: Option<bool>,
    /// Condition: it wants attention.
    pub is_urgent: Option<bool>,
    /// Condition: it is fullscreen.
    pub is_fullscreen: Option<bool>,
    /// Condition: it is maximised.
    pub is_maximised: Option<bool>,
    /// The output on which it opens.
    pub output: Option<WildcardPattern>,
    /// The workspace of that output, by its number or name.
    pub workspace: Option<WorkspaceReference>,
    /// Whether it opens above the columns.
    pub floating: Option<bool>,
    /// The width of its column, in hundredths of the output's.
    pub width: Option<Hundredths>,
    /// Whether it opens fullscreen.
    pub fullscreen: Option<bool>,
    /// Whether it gets the focus when it opens.
    pub focused: Option<bool>,
    /// The smallest width that it is configured with, in logical pixels.
    pub min_width: Option<WindowLength>,
    /// The smallest height, in logical pixels.
    pub min_height: Option<WindowLength>,
    /// The largest width, in logical pixels.
    pub max_width: Option<WindowLength>,
    /// The largest height, in logical pixels.
    pub max_height: Option<WindowLength>,
    /// Whether client or compositor draws its title bar and edges.
    pub decoration: Option<DecoratedBy>,
    /// From 0 to 1.
    pub opacity: Option<Share>,
    /// In logical pixels.
    pub corner_radius: Option<Radius>,
    /// Whether screen captures contain it.
    pub capture: Option<bool>,
}

/// A share of the output: 5 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Hundredths(u8);

impl TryFrom<u8> for Hundredths {
    type Error = ValueError;

    fn try_from(share: u8) -> Result<Self, ValueError> {
        if (5..=100).contains(&share) { Ok(Hundredths(share)) } else { Err(ValueError("expected 5 to 100 hundredths")) }
    }
}

impl From<Hundredths> for u8 {
    fn from(share: Hundredths) -> u8 {
        share.0
    }
}

impl WindowRule {
    /// Whether all conditions hold.
    fn is_for(&self, named: &WindowProperties<'_>) -> bool {
        let matches =
            |wanted: &Option<TextMatcher>, text: &str| wanted.as_ref().is_none_or(|wanted| wanted.matches(text));
        let is = |wanted: Option<bool>, now: bool| wanted.is_none_or(|wanted| wanted == now);
        is(self.is_focused, named.is_focused)
            && is(self.is_floating, named.is_floating)
            && is(self.is_urgent, named.is_urgent)
            && is(self.is_fullscreen, named.is_fullscreen)
            && is(self.is_maximised, named.is_maximised)
            && matches(&self.app_id, named.app_id)
            && matches(&self.tag, named.tag)
            && matches(&self.title, named.title)
    }

    /// The size limits with this rule; `before`: those of earlier rules.
    fn limits(&self, before: SizeLimits) -> SizeLimits {
        let length = |configured: Option<WindowLength>, before: i32| configured.map_or(before, WindowLength::pixels);
        SizeLimits {
            min: (length(self.min_width, before.min.w), length(self.min_height, before.min.h)).into(),
            max: (length(self.max_width, before.max.w), length(self.max_height, before.max.h)).into(),
        }
    }

    /// The options of a window from all matching `rules`; where several match, the later one counts, option by option.
    pub fn apply_rules(rules: &[WindowRule], named: &WindowProperties<'_>, outputs: &[String]) -> WindowRuleSettings {
        let rules = rules.iter().filter(|rule| rule.is_for(named));
        rules.fold(WindowRuleSettings::default(), |settings, rule| {
            let there = |name: &&String| rule.output.as_ref().is_some_and(|output| output.matches(name));
            WindowRuleSettings {
                output: outputs.iter().find(there).cloned().or(settings.output),
                workspace: rule.workspace.clone().or(settings.workspace),
                floating: rule.floating.or(settings.floating),
                width: rule.width.map(|width| u16::from(width.0) * 10).or(settings.width),
                fullscreen: rule.fullscreen.or(settings.fullscreen),
                focused: rule.focused.or(settings.focused),
                limits: rule.limits(settings.limits),
                decoration: rule.decoration.or(settings.decoration),
                opacity: rule.opacity.map(|share| share.0).or(settings.opacity),
                corner_radius: rule.corner_radius.map(|radius| radius.0).or(settings.corner_radius),
                capture: rule.capture.or(settings.capture),
            }
        })
    }
}
