//! The frame path of the timing core allocates nothing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod allocations;
#[path = "../benches/steady/mod.rs"]
mod steady;

use allocations::allocations;

#[test]
fn a_refresh_with_ten_clients_allocates_nothing() {
    let mut session = steady::SteadySession::new(10);
    (0..50).for_each(|_| session.refresh());
    assert_eq!(allocations(|| (0..1_000).for_each(|_| session.refresh())), 0);
}
