use super::*;
use crate::timing::estimator::{EstimatorKind, MissBudget, TwoShot};

const NATIVE: AppCost<'_> = AppCost::Lognormal(6.0, 0.25);

fn just_in_time(setup: &Setup<'_>, policy: JustInTime) -> Response {
    run(setup, &InteractionPolicy::JustInTime(policy))
}

/// Presto 2.2: three half and three whole periods, less the offset, are lost to synchrony.
#[test]
fn legacy_is_the_sum_of_the_papers_terms() {
    let setup = Setup::presto(AppCost::Lognormal(6.0, 0.01), 5_000, 1);
    let legacy = run(&setup, &InteractionPolicy::Legacy { offset: Span::from_micros(7_500), propagate: true });
    let expected = 28.0 + 3.0 * 16.667 - 7.5;
    assert!((legacy.latency.mean - expected).abs() < 0.5, "{}", legacy.latency.mean);
    assert_eq!(legacy.missed, 0.0);
}

#[test]
fn a_known_cost_leaves_buffering_cost_output_and_scan_out() {
    let setup = Setup::presto(NATIVE, 5_000, 1);
    let mean = just_in_time(&setup, JustInTime::oracle()).latency.mean;
    assert!((mean - (28.0 + 8.33 + 6.0 + 3.5 + 8.33)).abs() < 0.5, "{mean}");
    let in_place = just_in_time(&setup, JustInTime::oracle().in_place()).latency.mean;
    assert!((in_place - (28.0 + 8.33 + 6.0 + 1.0 + 0.65)).abs() < 0.7, "{in_place}");
}

#[test]
fn the_mean_needs_the_slack_of_slow_input_and_a_quantile_does_not() {
    let touch = Setup::presto(NATIVE, 20_000, 1);
    let mouse = Setup { input_interval: Span::from_micros(997), ..touch };
    let mean = JustInTime::new(EstimatorKind::Mean32, MissBudget::per_mille(10));
    assert!(just_in_time(&touch, mean).missed < 0.10);
    assert!(just_in_time(&mouse, mean).missed > 0.25);
    let regression = JustInTime::new(EstimatorKind::Regression, MissBudget::per_mille(10));
    assert!(just_in_time(&mouse, regression).missed < 0.015);
}

#[test]
fn a_second_shot_is_fresher_than_its_insurance_alone() {
    let setup = Setup::presto(NATIVE, 20_000, 1);
    let insurance = JustInTime::new(EstimatorKind::Regression, MissBudget::per_mille(10));
    let two_shot = JustInTime { two_shot: Some(TwoShot::default()), ..insurance };
    let (one, two) = (just_in_time(&setup, insurance), just_in_time(&setup, two_shot));
    assert!(two.latency.mean + 2.0 < one.latency.mean, "{} {}", two.latency.mean, one.latency.mean);
    assert!(two.missed <= one.missed + 0.001 && two.renders_per_shown < 2.0);
}
