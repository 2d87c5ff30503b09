//! The policies and their names on the command line and in reports.

use super::animation::AnimationPolicy;
use super::interaction::{InteractionPolicy, JustInTimePolicy};
use upbeat_timing::defaults::{ANIMATION, ESTIMATOR, INTERACTIVE_MISS, START_DELAY};
use upbeat_timing::estimator::{EstimatorKind, TwoShot};
use upbeat_timing::frames::AheadSettings;
use upbeat_timing::time::Span;

/// Android delivers events this long after the pulse (Presto 2.2).
const ANDROID_OFFSET: Span = Span::from_micros(7_500);

/// Pipeline of a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PolicyKind {
    /// Deterministic motion, which may run ahead.
    Animation(AnimationPolicy),
    /// Frames that answer to input.
    Interaction(InteractionPolicy),
}

/// A policy and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPolicy {
    /// As written on the command line.
    pub name: String,
    pub kind: PolicyKind,
}

impl NamedPolicy {
    fn animation(name: impl Into<String>, policy: AnimationPolicy) -> NamedPolicy {
        NamedPolicy { name: name.into(), kind: PolicyKind::Animation(policy) }
    }

    fn interaction(name: impl Into<String>, policy: InteractionPolicy) -> NamedPolicy {
        NamedPolicy { name: name.into(), kind: PolicyKind::Interaction(policy) }
    }

    /// Pixel buffers of a surface.
    pub const fn buffers(&self) -> u8 {
        match self.kind {
            PolicyKind::Animation(policy) => policy.settings.slots,
            PolicyKind::Interaction(_) => 3,
        }
    }

    /// Whether drop reductions are measured against this policy.
    pub fn is_baseline(&self) -> bool {
        self.name == BASELINE
    }
}

/// The name of the baseline.
pub const BASELINE: &str = "vsync-3";

/// Every policy, the baseline first within its kind.
pub fn all() -> Vec<NamedPolicy> {
    let mut policies = animation();
    policies.extend(interaction());
    policies
}

/// The policies for animations.
pub fn animation() -> Vec<NamedPolicy> {
    let ahead = |slots| AheadSettings::buffers(slots);
    let everything = ANIMATION.with_start_delay(START_DELAY);
    let mut policies = vec![
        NamedPolicy::animation(BASELINE, AnimationPolicy::vsync(3)),
        NamedPolicy::animation("vsync-2", AnimationPolicy::vsync(2)),
        NamedPolicy::animation("vsync-5", AnimationPolicy::vsync(5)),
    ];
    for slots in 3..=7 {
        policies.push(NamedPolicy::animation(format!("ahead-{slots}"), AnimationPolicy::ahead(ahead(slots))));
    }
    policies.extend([
        NamedPolicy::animation("ahead-4+run-ahead-2", AnimationPolicy::ahead(ahead(4).with_run_ahead(2))),
        NamedPolicy::animation("ahead-5+run-ahead-4", AnimationPolicy::ahead(ANIMATION)),
        NamedPolicy::animation("ahead-5+start-delay", AnimationPolicy::ahead(ahead(5).with_start_delay(START_DELAY))),
        NamedPolicy::animation("ahead-4+vrr", AnimationPolicy::ahead(ahead(4)).on_variable_refresh()),
        NamedPolicy::animation("ahead-5+vrr", AnimationPolicy::ahead(ahead(5)).on_variable_refresh()),
        NamedPolicy::animation("ahead-5+all", AnimationPolicy::ahead(everything)),
        NamedPolicy::animation("ahead-5+all+vrr", AnimationPolicy::ahead(everything).on_variable_refresh()),
    ]);
    policies
}

/// The policies for frames that answer to input.
pub fn interaction() -> Vec<NamedPolicy> {
    let jitt = |kind| JustInTimePolicy::new(kind, INTERACTIVE_MISS);
    let insured = JustInTimePolicy { two_shot: Some(TwoShot::default()), ..jitt(EstimatorKind::Regression) };
    let variable = JustInTimePolicy { variable: true, ..jitt(ESTIMATOR) };
    let mut policies = vec![
        NamedPolicy::interaction("legacy", InteractionPolicy::Legacy { offset: ANDROID_OFFSET, propagate: false }),
        NamedPolicy::interaction(
            "legacy-stuffed",
            InteractionPolicy::Legacy { offset: ANDROID_OFFSET, propagate: true },
        ),
    ];
    let mut add =
        |name: String, policy| policies.push(NamedPolicy::interaction(name, InteractionPolicy::JustInTime(policy)));
    for kind in EstimatorKind::ALL {
        add(format!("jitt-{kind}"), jitt(kind));
    }
    for kind in [EstimatorKind::Mean32, EstimatorKind::Regression] {
        add(format!("jitt+par-{kind}"), jitt(kind).in_place());
    }
    add("jitt-two-shot".into(), insured);
    add("jitt-vrr".into(), variable);
    add("oracle".into(), JustInTimePolicy::oracle());
    add("oracle+par".into(), JustInTimePolicy::oracle().in_place());
    policies
}

/// No policy has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no policy is called `{0}`; `upbeat simulate --list` names them")]
pub struct UnknownPolicy(String);

/// The policies with these names, with the baseline of their kind; all policies if `names` is empty.
pub fn named(names: &[String]) -> Result<Vec<NamedPolicy>, UnknownPolicy> {
    let all = all();
    if names.is_empty() {
        return Ok(all);
    }
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|policy| policy.name != **name)) {
        return Err(UnknownPolicy(unknown.clone()));
    }
    Ok(all.into_iter().filter(|policy| policy.is_baseline() || names.contains(&policy.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_with_their_baseline() {
        let all = all();
        let mut names: Vec<_> = all.iter().map(|policy| policy.name.clone()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len());
        let found = named(&["ahead-4".to_owned()]).unwrap();
        assert_eq!(found.iter().map(|policy| policy.name.as_str()).collect::<Vec<_>>(), [BASELINE, "ahead-4"]);
        assert_eq!(named(&["fast".to_owned()]), Err(UnknownPolicy("fast".into())));
    }
}
