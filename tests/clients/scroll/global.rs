//! The scroll global is offered unless the configuration disables it.

use super::*;
use upbeat::config::Config;
use upbeat::session::apply_config;

const MANAGER: &str = "upbeat_scroll_manager_v1";

fn is_offered(world: &mut TestWorld, client: ClientIndex) -> bool {
    world.settle();
    world.client(client).data.globals.iter().any(|(_, interface, _)| interface == MANAGER)
}

#[test]
fn configuration_hides_the_scroll_global_and_existing_views_go_on() {
    let mut world = TestWorld::simulated(&[60_000]);
    let client = world.connect();
    let (with, mut without) = (Config::default(), Config::default());
    without.scroll.views = false;
    assert!(!is_offered(&mut world, client), "no configuration was applied yet");
    apply_config::apply(&mut world.state, Some(&without), &with).unwrap();
    assert!(is_offered(&mut world, client));

    let mut stage = ScrollStage::new();
    apply_config::apply(&mut stage.world.state, Some(&with), &without).unwrap();
    let later = stage.world.connect();
    assert!(!is_offered(&mut stage.world, later));
    stage.scroll_to(50, Behavior::Jump);
    stage.rest();
    assert_eq!((stage.row_at(0), stage.error()), (50, None));
    apply_config::apply(&mut stage.world.state, Some(&without), &with).unwrap();
    assert!(is_offered(&mut stage.world, later));
}
