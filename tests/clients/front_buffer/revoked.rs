//! A session that is locked, or an output that is captured, ends sharing.

use super::*;
use crate::lock::Locker;

#[test]
fn sharing_ends_while_the_session_is_locked() {
    let mut stage = FrontBufferWindow::new(280);
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Active(1)]);
    stage.front.written(1, INK.0, INK.1, 1, 1);
    let lock = Locker::lock(&mut stage.world, GREEN);
    let told = stage.take_events_without_scan();
    assert!(told.contains(&FrontBufferEvent::Inactive(1, Reason::Hidden)), "{told:?}");
    let answers =
        told.iter().filter(|told| matches!(told, FrontBufferEvent::Light(1, _) | FrontBufferEvent::Missed(1)));
    assert_eq!((answers.count(), stage.shared()), (1, 0), "{told:?}");
    // The client writes on, which nobody sees.
    stage.front.ack_inactive(1);
    stage.canvas.fill(INK, BLUE);
    stage.pass();
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![], 0));
    assert_eq!(stage.world.pixel(LEFT + INK.0 + 2, 280 + INK.1 + 2), GREEN);
    lock.request_unlock(&mut stage.world);
    stage.pass();
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![FrontBufferEvent::Active(2)], 1));
}

#[test]
fn sharing_ends_while_the_output_is_captured_and_a_second_after() {
    let mut stage = FrontBufferWindow::new(280);
    let camera = stage.world.connect();
    stage.pass();
    stage.take_front_buffer_events();
    stage.canvas.fill(INK, BLUE);
    stage.pass();
    for picture in 0..3 {
        let (film, buffer) = capture_buffer(&mut stage.world, camera);
        stage.world.client(camera).take_events();
        request_pictures(&mut stage.world, camera, &[&buffer]);
        stage.world.run_until("a picture", |world| ready_and_failed(world, camera) == (1, 0));
        let place = (LEFT + INK.0 + 2, 280 + INK.1 + 2);
        assert_eq!(pixel(&film, place.0, place.1), BLUE, "picture {picture} has the newest pixels");
        assert_eq!(stage.shared(), 0);
    }
    assert_eq!(stage.take_events_without_scan(), [FrontBufferEvent::Inactive(1, Reason::Captured)]);
    stage.front.ack_inactive(1);
    stage.world.run_for(Span::from_millis(600), &mut nothing);
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![], 0), "another picture may be asked for");
    stage.world.run_for(Span::from_millis(600), &mut nothing);
    assert_eq!((stage.take_events_without_scan(), stage.shared()), (vec![FrontBufferEvent::Active(2)], 1));
}
