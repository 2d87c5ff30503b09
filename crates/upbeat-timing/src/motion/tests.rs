use proptest::prelude::*;

use super::*;

const START: Instant = Instant::from_nanos(1_000_000_000);
/// A tenth of a pixel.
const TOLERANCE: f64 = 0.1;
/// One refresh at 240 Hz.
const REFRESH: Span = Span::from_micros(4_166);

fn spring() -> impl Strategy<Value = MotionStyle> {
    (SpringShape::SLOWEST..=SpringShape::FASTEST, SpringShape::LEAST_DAMPED..=SpringShape::MOST_DAMPED)
        .prop_map(|(swings, damping)| MotionStyle::Spring(SpringShape::new(swings, damping).unwrap()))
}

fn easing() -> impl Strategy<Value = MotionStyle> {
    let points = (0.05..=0.95, -0.5..=1.5, 0.05..=0.95, -0.5..=1.5);
    (points, 50..2_000_i64).prop_map(|((x1, y1, x2, y2), millis)| MotionStyle::Easing {
        duration: Span::from_millis(millis),
        curve: CubicBezier::new(x1, y1, x2, y2).unwrap(),
    })
}

fn style() -> impl Strategy<Value = MotionStyle> {
    prop_oneof![spring(), easing()]
}

/// An instant within the motion.
fn within(motion: &Motion, share: f64) -> Instant {
    let whole = motion.settled_by().since(START);
    START + Span::from_nanos((whole.as_nanos() as f64 * share) as i64)
}

proptest! {
    #[test]
    fn a_motion_starts_where_it_was_and_ends_at_its_goal(style in style(), from in -4e3..4e3, goal in -4e3..4e3) {
        let motion = Motion::new(style, START, from, goal, TOLERANCE);
        prop_assert!((motion.at(START).value - from).abs() <= TOLERANCE);
        prop_assert_eq!(motion.at(START - REFRESH), motion.at(START));
        for late in [0, 1, 1_000_000_000] {
            prop_assert_eq!(motion.at(motion.settled_by() + Span::from_nanos(late)), MotionSample::at_rest(goal));
        }
    }

    #[test]
    fn a_motion_does_not_jump(style in style(), from in -4e3..4e3, goal in -4e3..4e3, share in 0.0..1.0) {
        let motion = Motion::new(style, START, from, goal, TOLERANCE);
        let (step, at) = (Span::from_nanos(1_000), within(&motion, share));
        let (before, after) = (motion.at(at), motion.at(at + step));
        let fastest = before.velocity.abs().max(after.velocity.abs());
        // The last step, to the goal itself, is the tolerance.
        let allowed = TOLERANCE + fastest * step.as_seconds_f64() * 2.0;
        prop_assert!((after.value - before.value).abs() <= allowed, "{:?} then {:?}", before, after);
    }

    #[test]
    fn velocity_is_the_change_of_the_value(style in style(), from in -4e3..4e3, goal in -4e3..4e3, share in 0.01..0.9) {
        let motion = Motion::new(style, START, from, goal, TOLERANCE);
        let (at, step) = (within(&motion, share), Span::from_nanos(2_000));
        prop_assume!(at > START + step && at + step < motion.settled_by());
        let change = (motion.at(at + step).value - motion.at(at - step).value) / (2.0 * step.as_seconds_f64());
        let largest = (goal - from).abs().max(1.0) * 200.0;
        prop_assert!((change - motion.at(at).velocity).abs() <= 1e-2 * largest, "{} {}", change, motion.at(at).velocity);
    }

    #[test]
    fn an_interruption_keeps_value_and_velocity(
        style in style(), from in -4e3..4e3, goal in -4e3..4e3, other in -4e3..4e3, share in 0.0..1.0,
    ) {
        let motion = Motion::new(style, START, from, goal, TOLERANCE);
        let at = within(&motion, share);
        let (before, after) = (motion.at(at), motion.retarget(at, other).at(at));
        let speed = before.velocity.abs().max(1.0);
        // If the whole remaining distance is below the tolerance, the motion is over at once.
        let settled = (before.value - other).abs() <= TOLERANCE;
        prop_assert!((before.value - after.value).abs() <= 1e-6 || settled, "{:?} then {:?}", before, after);
        // A value at rest may start at the slope of its curve.
        let settled = settled || before.velocity == 0.0;
        prop_assert!((before.velocity - after.velocity).abs() <= 1e-6 * speed || settled, "{:?} then {:?}", before, after);
        prop_assert_eq!(motion.retarget(at, other).goal(), other);
    }

    #[test]
    fn a_spring_stays_within_its_tolerance_once_settled(
        style in spring(), from in -4e3..4e3, goal in -4e3..4e3, other in -4e3..4e3, share in 0.0..1.0,
    ) {
        let first = Motion::new(style, START, from, goal, TOLERANCE);
        let second = first.retarget(within(&first, share), other);
        // It reaches the goal just before the end, so that the last step is invisible.
        let last = second.at(second.settled_by() - Span::from_nanos(1_000));
        prop_assert!((last.value - other).abs() <= TOLERANCE * 1.01, "{:?}", last);
    }

    #[test]
    fn a_spring_that_is_damped_enough_does_not_swing_past(
        swings in SpringShape::SLOWEST..=SpringShape::FASTEST, damping in 1.0..=SpringShape::MOST_DAMPED,
    ) {
        let style = MotionStyle::Spring(SpringShape::new(swings, damping).unwrap());
        let motion = Motion::new(style, START, 0.0, 100.0, TOLERANCE);
        let mut before = 0.0;
        let mut at = START;
        while at < motion.settled_by() {
            let value = motion.at(at).value;
            prop_assert!(value >= before - 1e-9 && value <= 100.0 + 1e-9);
            (before, at) = (value, at + REFRESH);
        }
    }

    #[test]
    fn numbers_that_make_no_curve_are_refused(x in prop_oneof![-9.0..-0.001, 1.001..9.0, Just(f64::NAN)], y in 0.0..1.0) {
        prop_assert!(CubicBezier::new(x, y, 0.5, y).is_err());
        prop_assert!(CubicBezier::new(0.5, y, x, y).is_err());
    }
}

#[test]
fn a_spring_that_is_little_damped_swings_past() {
    let style = MotionStyle::Spring(SpringShape::new(4.0, 0.3).unwrap());
    let motion = Motion::new(style, START, 0.0, 100.0, TOLERANCE);
    let highest = (0..1_000).map(|ms| motion.at(START + Span::from_millis(ms)).value).fold(0.0, f64::max);
    // The textbook's overshoot: e^(−πζ/√(1−ζ²)) = 37.2 % for ζ = 0.3.
    assert!((highest - 137.2).abs() < 0.1, "{highest}");
}

#[test]
fn the_three_cases_of_damping_meet() {
    let at = |damping: f64| {
        let style = MotionStyle::Spring(SpringShape::new(4.0, damping).unwrap());
        Motion::new(style, START, 0.0, 1_000.0, TOLERANCE).at(START + Span::from_millis(70))
    };
    for damping in [1.0 - 1e-5, 1.0 - 1e-9, 1.0 + 1e-9, 1.0 + 1e-5] {
        let (near, critical) = (at(damping), at(1.0));
        assert!((near.value - critical.value).abs() < 0.02, "{damping}: {near:?} {critical:?}");
        assert!((near.velocity - critical.velocity).abs() < 0.5, "{damping}: {near:?} {critical:?}");
    }
}

#[test]
fn curves_are_those_of_css() {
    // From the definition, by the parameter: at u = 1/2, x = (3·x1 + 3·x2 + 1)/8 and y likewise.
    for [x1, y1, x2, y2] in [CubicBezier::EASE, CubicBezier::EASE_IN, CubicBezier::EASE_OUT, CubicBezier::EASE_IN_OUT]
        .map(CubicBezier::points)
    {
        let curve = CubicBezier::new(x1, y1, x2, y2).unwrap();
        let (x, y) = ((3.0 * (x1 + x2) + 1.0) / 8.0, (3.0 * (y1 + y2) + 1.0) / 8.0);
        assert!((curve.at(x) - y).abs() < 1e-8);
    }
    assert!((CubicBezier::LINEAR.at(0.3) - 0.3).abs() < 1e-8);
    assert!((CubicBezier::EASE_OUT.slope(0.0) - 1.0 / 0.58).abs() < 1e-6);
    assert!(CubicBezier::EASE_IN.slope(0.0).abs() < 1e-6);
}

#[test]
fn what_starts_or_ends_infinitely_fast_is_refused() {
    for (points, good) in [((0.0, 0.5, 0.5, 1.0), false), ((0.5, 0.0, 1.0, 0.5), false), ((0.0, 0.0, 1.0, 1.0), true)] {
        let (x1, y1, x2, y2) = points;
        assert_eq!(CubicBezier::new(x1, y1, x2, y2).is_ok(), good, "{points:?}");
    }
    for (swings, damping) in [(0.0, 1.0), (f64::NAN, 1.0), (4.0, 0.0), (4.0, f64::INFINITY), (-4.0, 1.0)] {
        assert!(SpringShape::new(swings, damping).is_err(), "{swings} {damping}");
    }
}
