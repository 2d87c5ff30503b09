//! Predicted positions of strokes, compared with their true course.

use super::*;
use crate::fixture::predicted_input::{Axes, Device, PredictedInputEvent, Reason};
use upbeat_timing::input_prediction::DeviceHistory;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;

/// Duration of a stroke.
const STROKE: Span = Span::from_millis(600);

#[test]
fn pointer_is_predicted_to_the_light_of_its_frame() {
    let mut sheet = StrokeWindow::new();
    sheet.predicted();
    let origin = sheet.origin();
    let start = sheet.play(STROKE, stroke(origin));
    let said = sheet.world.client(sheet.client).data.predicted_input_events.clone();
    assert_eq!(said[0], PredictedInputEvent::Effective(DeviceHistory::HORIZON, Reason::Limit));
    let predictions = sheet.predictions();
    // The first two or three frames have no prediction, because the motion is not known yet.
    assert!(predictions.len() >= 30, "{} predictions", predictions.len());
    assert!(predictions.iter().all(|said| (said.device, said.id) == (Device::Pointer, 0)));
    follow_the_stroke(&predictions, start);

    let heard = &sheet.world.client(sheet.client).data.content_events;
    let mut seen = 0;
    for said in &predictions {
        // Right after the prediction comes the callback of its frame. The predicted time is the light of that frame.
        let Some(ContentEvent::Callback(before)) = heard.get(said.content_events_before) else {
            panic!("{:?}", heard.get(said.content_events_before))
        };
        let update = before + 1;
        let lit = heard.iter().find_map(|heard| match heard {
            ContentEvent::Presented { update: shown, time, .. } if *shown == update => Some(*time),
            _ => None,
        });
        if let Some(lit) = lit {
            assert!((lit - said.present).abs() < Span::from_micros(100), "{said:?} was lit at {lit}");
            seen += 1;
        }
    }
    assert!(seen >= 28, "{seen} of {} were seen", predictions.len());
}

#[test]
fn prediction_precedes_a_pacing_target_as_it_precedes_a_callback() {
    let mut sheet = StrokeWindow::new();
    sheet.predicted();
    let surface = sheet.window.surface.clone();
    let pacing = sheet.world.client(sheet.client).pacing(&surface);
    let origin = sheet.origin();
    let client = sheet.client;
    let start = sheet.world.now();
    let mut report = stroke(origin);
    let mut next = start;
    let mut targets = 0;
    pacing.request_target();
    sheet.world.run_for(STROKE, &mut |world| {
        while next <= world.now() {
            for event in report(next - start).into_iter().flat_map(|event| device_events(event, next)) {
                input::handle(&mut world.state, event);
            }
            next += REPORTS;
        }
        let heard = world.client(client).targets();
        if heard.len() > targets {
            targets = heard.len();
            crate::fixture::pacing::bind(&pacing, heard[targets - 1].id);
            world.client(client).draw(&surface, 1_000 + targets as u32, SMALL, targets as u32);
            surface.commit();
            pacing.request_target();
        }
        Some(next)
    });
    let presents: Vec<Instant> = sheet.world.client(client).targets().iter().map(|target| target.present).collect();
    let predictions = sheet.predictions();
    assert!(predictions.len() >= 28, "{} predictions for {} targets", predictions.len(), presents.len());
    let foretold: Vec<_> = predictions.iter().filter(|said| presents.contains(&said.present)).copied().collect();
    assert!(foretold.len() + 1 >= predictions.len(), "each is for a target: {predictions:?}, {presents:?}");
    follow_the_stroke(&foretold, start);
}

#[test]
fn touch_and_pen_predictions_carry_the_ids_of_their_client() {
    let mut sheet = StrokeWindow::new();
    sheet.predicted();
    let seat = sheet.world.client(sheet.client).globals().seat.clone();
    let client = sheet.world.client(sheet.client);
    let handle = client.handle();
    client.bind::<ZwpTabletManagerV2>().get_tablet_seat(&seat, &handle, ());
    sheet.world.settle();
    let origin = sheet.origin();
    let mut is_new = true;
    let start = sheet.play(STROKE, |since| {
        let (x, y) = on_stroke(since.as_millis_f64());
        let (x, y) = (origin.0 + x, origin.1 + y);
        let begins = std::mem::take(&mut is_new);
        if begins {
            return vec![
                Injected::TouchDown { finger: 3, x, y },
                Injected::TouchDown { finger: 7, x, y },
                Injected::PenNear { x, y },
                Injected::PenDown { x, y, pressure: 0.5 },
            ];
        }
        vec![
            Injected::TouchMove { finger: 3, x, y },
            Injected::TouchMove { finger: 7, x, y },
            Injected::PenMove { x, y, pressure: None },
        ]
    });
    let predictions = sheet.predictions();
    follow_the_stroke(&predictions, start);
    for (device, id) in [(Device::Touch, 3), (Device::Touch, 7), (Device::Tool, 0x7065_6e01)] {
        let its = predictions.iter().filter(|said| (said.device, said.id) == (device, id)).count();
        assert!(its >= 30, "{its} of {device:?} {id}");
    }
    device_event(&mut sheet.world, Injected::TouchUp { finger: 3 });
    device_event(&mut sheet.world, Injected::PenAway);
    sheet.world.client(sheet.client).data.predicted_input_events.clear();
    sheet.play(Span::from_millis(100), |since| {
        let (x, y) = on_stroke(600.0 + since.as_millis_f64());
        vec![Injected::TouchMove { finger: 7, x: origin.0 + x, y: origin.1 + y }]
    });
    let left: Vec<_> = sheet.predictions().iter().map(|said| (said.device, said.id)).collect();
    assert!(!left.is_empty() && left.iter().all(|said| *said == (Device::Touch, 7)), "{left:?}");
}

#[test]
fn resting_pointer_is_not_predicted() {
    let mut sheet = StrokeWindow::new();
    sheet.predicted();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    sheet.world.client(sheet.client).data.predicted_input_events.clear();
    sheet.play(STROKE, |_| Vec::new());
    let after = sheet.predictions();
    // A frame may begin before it is known that the pointer rests.
    assert!(after.len() <= 2, "{after:?}");
}

#[test]
fn prediction_respects_the_requested_horizon_and_axes() {
    let mut sheet = StrokeWindow::new();
    let object = sheet.predicted();
    let origin = sheet.origin();
    object.set_axes(Axes::Vertical);
    object.set_horizon(2_000_000);
    sheet.play(STROKE, stroke(origin));
    let said = sheet.world.client(sheet.client).data.predicted_input_events.clone();
    assert_eq!(said[0], PredictedInputEvent::Effective(Span::from_millis(2), Reason::Client));
    let predictions = sheet.predictions();
    assert!(predictions.len() >= 30);
    for said in predictions {
        // Only y is predicted (2 ms ahead); x is the last reported value.
        let ahead = (said.y - 20.0) / 0.125 - (said.x - 10.0) / 0.25;
        assert!((ahead - 2.0).abs() < 0.1 && said.error.0 == 0.0, "{said:?}: {ahead}");
    }
}
