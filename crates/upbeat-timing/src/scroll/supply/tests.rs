//! Which regions are requested, when, and why.

use super::super::view_course::SteadyCourse;
use super::*;
use proptest::prelude::*;

const WIDTH: i64 = 400;
const HEIGHT: i64 = 1_000;
const DOCUMENT: DocumentRegion =
    DocumentRegion { x: DocumentExtent { start: 0, length: WIDTH }, y: DocumentExtent { start: 0, length: 50_000 } };
const DOWN: SteadyCourse = SteadyCourse(ScrollDistance { x: 0.0, y: 1_000.0 });
const UP: SteadyCourse = SteadyCourse(ScrollDistance { x: 0.0, y: -1_000.0 });
const REST: SteadyCourse = SteadyCourse(ScrollDistance { x: 0.0, y: 0.0 });

fn view_at(y: i64) -> DocumentRegion {
    DocumentRegion { x: DocumentExtent { start: 0, length: WIDTH }, y: DocumentExtent { start: y, length: HEIGHT } }
}

fn later(seconds: i64) -> RenderLead {
    RenderLead { render: Span::ZERO, way: Span::from_seconds(seconds) }
}

fn supply() -> RenderSupply {
    RenderSupply::new(DOCUMENT, SupplySettings::with_budget(i64::MAX))
}

/// Looks, and renders the wanted region at once.
fn render(supply: &mut RenderSupply, view: DocumentRegion, course: &impl ViewCourse) -> Option<DocumentRegion> {
    let wanted = supply.update(view, course, RenderLead::default()).wanted?;
    supply.set_rendered(RenderedRegions::of([wanted.region]));
    Some(wanted.region)
}

#[test]
fn both_directions_reuse_and_what_is_wanted_is_asked_for_a_render_before_it_is_missed() {
    let mut supply = supply();
    let first = render(&mut supply, view_at(10_000), &DOWN).unwrap();
    assert_eq!((first.y.start, first.y.end()), (10_000 - 375, 11_000 + 1_125));
    let lead = RenderLead { render: Span::ZERO, way: Span::from_millis(50) };
    let look = supply.update(view_at(10_100), &DOWN, lead);
    assert!(look.covered && look.wanted.is_none());
    assert!((look.runs_out.unwrap() - Span::from_millis(1_025)).abs() < Span::from_micros(20), "{look:?}");
    assert!(supply.update(view_at(9_950), &UP, lead).wanted.is_none());
    assert!(supply.update(view_at(11_074), &DOWN, lead).wanted.is_none());
    let look = supply.update(view_at(11_076), &DOWN, lead);
    let wanted = look.wanted.unwrap();
    assert!(look.covered && wanted.within <= lead.way && wanted.within > Span::from_millis(48), "{wanted:?}");
    assert_eq!(wanted.region.y.end(), 12_076 + 1_125);
}

#[test]
fn what_was_asked_for_is_not_there_yet_and_is_not_asked_for_again() {
    let mut supply = supply();
    render(&mut supply, view_at(10_000), &DOWN);
    let wanted = supply.update(view_at(11_125), &DOWN, RenderLead::default()).wanted.unwrap();
    let look = supply.update(view_at(11_140), &DOWN, RenderLead::default());
    assert!(!look.covered && look.wanted.is_none(), "{look:?}");
    assert!(supply.update(view_at(9_000), &UP, RenderLead::default()).wanted.is_some(), "it went elsewhere");
    supply.set_rendered(RenderedRegions::of([wanted.region]));
    assert!(supply.update(view_at(11_140), &DOWN, RenderLead::default()).covered);
}

#[test]
fn what_is_on_its_way_is_not_asked_for_again_unless_it_does_not_help() {
    let mut supply = supply();
    let lead = RenderLead { render: Span::from_millis(800), way: Span::from_millis(16) };
    render(&mut supply, view_at(10_000), &DOWN);
    let asked = supply.update(view_at(10_400), &DOWN, lead).wanted.unwrap().region;
    let soon = asked.y.end() - HEIGHT - 500;
    assert_eq!(supply.update(view_at(soon), &DOWN, lead).wanted, None, "it would be asked for if it were there");
    assert!(supply.update(view_at(10_400), &UP, lead).wanted.is_some(), "it goes the other way");
}

#[test]
fn a_view_that_waits_wants_nothing_twice() {
    let mut supply = supply();
    let fast = SteadyCourse(ScrollDistance { x: 0.0, y: 50_000.0 });
    let lead = RenderLead { render: Span::from_millis(40), way: Span::from_millis(16) };
    render(&mut supply, view_at(10_000), &DOWN);
    let wants = (0..10).filter(|_| supply.update(view_at(11_125), &fast, lead).wanted.is_some());
    assert_eq!(wants.count(), 1);
}

#[test]
fn a_motion_that_ends_soon_asks_for_no_more_than_it_reaches_and_leaves_the_rest_for_both_ways() {
    struct Short;
    impl ViewCourse for Short {
        fn distance_after(&self, after: Span) -> ScrollDistance {
            ScrollDistance { x: 0.0, y: (after.as_seconds_f64() * 1_000.0).min(300.0) }
        }
        fn distance_to_rest(&self) -> ScrollDistance {
            ScrollDistance { x: 0.0, y: 300.0 }
        }
    }
    let mut supply = supply();
    let region = render(&mut supply, view_at(10_000), &Short).unwrap();
    assert_eq!((10_000 - region.y.start, region.y.end() - 11_000), (600, 900), "as far both ways from its rest");
    let look = supply.update(view_at(10_000), &Short, later(5));
    assert_eq!((look.runs_out, look.wanted), (None, None), "it will rest on what is there");
    assert!(supply.update(view_at(10_000), &DOWN, later(5)).wanted.is_some());
}

#[test]
fn at_the_end_of_the_document_nothing_runs_out() {
    let mut supply = supply();
    let region = render(&mut supply, view_at(49_000), &DOWN).unwrap();
    assert_eq!((region.y.start, region.y.end()), (47_500, 50_000), "what lies beyond is spent before");
    assert_eq!(supply.update(view_at(49_000), &DOWN, later(1)).runs_out, None);
}

#[test]
fn new_view_wants_the_visible_part_first_and_the_extension_once_that_is_rendered() {
    let mut supply = supply().beginning_with_view();
    let look = |supply: &mut RenderSupply, at| supply.update(view_at(at), &REST, RenderLead::default());
    assert_eq!(look(&mut supply, 5_000).wanted, Some(WantedRegion { region: view_at(5_000), within: Span::ZERO }));
    assert_eq!(look(&mut supply, 5_000).wanted, None);
    assert_eq!(look(&mut supply, 7_000).wanted.map(|wanted| wanted.region), Some(view_at(7_000)), "it jumped");
    supply.set_rendered(RenderedRegions::of([view_at(7_000)]));
    let wanted = look(&mut supply, 7_000).wanted.unwrap();
    assert_eq!((wanted.region.y.start, wanted.region.y.end(), wanted.within), (6_250, 8_750, FAR));
    assert_eq!(look(&mut supply, 7_000).wanted, None);
    supply.set_rendered(RenderedRegions::of([wanted.region]));
    assert_eq!(look(&mut supply, 7_000).wanted, None);
    let jumped = look(&mut supply, 20_000).wanted.unwrap();
    assert!(jumped.region.y.length > HEIGHT, "later it is rendered with its extension: {jumped:?}");
}

#[test]
fn new_view_whose_client_rendered_enough_by_itself_wants_nothing() {
    let mut supply = supply().beginning_with_view();
    supply.set_rendered(RenderedRegions::of([DOCUMENT]));
    assert_eq!(supply.update(view_at(5_000), &REST, RenderLead::default()).wanted, None);
}

#[test]
fn without_a_budget_only_the_view_is_rendered() {
    let supply = RenderSupply::new(DOCUMENT, SupplySettings::with_budget(1));
    assert_eq!(supply.region_for(view_at(3_000), &DOWN, Span::ZERO), view_at(3_000));
}

#[test]
fn when_what_is_there_runs_out_is_found_on_straight_and_on_crooked_ways() {
    let line = |after: Span| after.as_seconds_f64() * 1_000.0;
    let fling = |after: Span| 600.0 * (1.0 - (-2.0 * after.as_seconds_f64()).exp());
    for millis in [1_i64, 5, 77, 300, 1_500, 4_000] {
        let exact = Span::from_millis(millis);
        for way in [&line as &dyn Fn(Span) -> f64, &fling] {
            let found = time_of(way(exact), way).unwrap();
            assert!((found - exact).abs() <= STEP * 2, "{millis} ms: {found:?}");
        }
    }
    assert_eq!((time_of(601.0, fling), time_of(10_001.0, line)), (None, None));
}

#[test]
fn what_goes_far_while_a_render_takes_place_has_more_ahead_of_it() {
    let ahead = |speed: f64| {
        let course = SteadyCourse(ScrollDistance { x: 0.0, y: speed });
        let region = supply().region_for(view_at(10_000), &course, Span::from_millis(200));
        region.y.end() - 11_000 - (speed / 5.0) as i64
    };
    assert_eq!((ahead(1_000.0), ahead(2_500.0)), (1_125, 1_000));
    assert_eq!(ahead(5_000.0), 2_000, "what it goes during two renders");
    let far = supply().region_for(
        view_at(10_000),
        &SteadyCourse(ScrollDistance { x: 0.0, y: 90_000.0 }),
        Span::from_millis(200),
    );
    assert_eq!(far.y.length, 5_000, "and no more than four views beside it");
}

/// The figures of `upbeat simulate` for a client whose renders take time: the formula for a document that is rendered
/// `ahead` and requested in time.
#[test]
fn it_renders_as_often_as_what_lies_ahead_and_the_time_of_a_render_say() {
    for (speed, render) in [(100, 40), (1_000, 40), (1_000, 150)] {
        let mut supply = supply();
        let course = SteadyCourse(ScrollDistance { x: 0.0, y: f64::from(speed) });
        let (mut renders, mut ready) = (0, None::<(i64, DocumentRegion)>);
        let lead = RenderLead { render: Span::from_millis(render), way: Span::from_millis(5) };
        let seconds = 40;
        for millis in 0..seconds * 1_000 {
            if let Some((_, region)) = ready.take_if(|(at, _)| *at <= millis) {
                supply.set_rendered(RenderedRegions::of([region]));
            }
            let view = view_at(1_000 + millis * i64::from(speed) / 1_000);
            let look = supply.update(view, &course, lead);
            assert!(look.covered || renders <= 1, "blank after {millis} ms at {speed} px/s");
            if let Some(wanted) = look.wanted {
                renders += 1;
                ready = Some((millis + render, wanted.region));
            }
        }
        let ahead = HEIGHT as f64 * MOST_EXTENSION * EXTENSION_AHEAD;
        let formula = f64::from(speed) / (ahead - f64::from(speed) * render as f64 / 1e3);
        let measured = (renders - 1) as f64 / seconds as f64;
        assert!(measured <= 1.1 * formula + 1.0 / seconds as f64, "{measured} for {formula} at {speed} px/s");
    }
}

proptest! {
    #[test]
    fn a_wanted_region_holds_the_view_within_document_and_budget(
        x in 0_i64..3_000, y in 0_i64..40_000, vx in -5_000.0..5_000.0, vy in -5_000.0..5_000.0,
        views in 1.0..4.0, render in 0_i64..200
    ) {
        let document = DocumentRegion { x: DocumentExtent { start: 0, length: 4_000 }, y: DocumentExtent { start: 0, length: 50_000 } };
        let view = DocumentRegion {
            x: DocumentExtent { start: x, length: WIDTH }, y: DocumentExtent { start: y, length: HEIGHT },
        };
        let budget = (view.pixels() as f64 * views) as i64;
        let supply = RenderSupply::new(document, SupplySettings::with_budget(budget));
        let region = supply.region_for(view, &SteadyCourse(ScrollDistance { x: vx, y: vy }), Span::from_millis(render));
        prop_assert!(region.contains(view), "{region:?}");
        prop_assert!(document.contains(region), "{region:?}");
        prop_assert!(region.pixels() <= budget, "{} > {budget}", region.pixels());
    }
}
