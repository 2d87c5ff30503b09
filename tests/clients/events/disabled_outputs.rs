//! Answers about an output that a client takes out of the layout, and about the windows there.

use upbeat_record::ipc::message::{DisabledOutput, Request, Response};
use upbeat_timing::time::Span;

use super::EventStreamSession;
use crate::fixture::simulated::{name, nothing};
use crate::output_management::{configure, manager, output_manager_events};

#[test]
fn disabled_output_is_listed_as_disabled_and_hidden_windows_return_to_it() {
    let mut scene = EventStreamSession::new(0);
    for title in ["hidden", "seen"] {
        let opened = scene.world.open(title, 100, 100);
        scene.windows.push(opened);
        scene.world.run_for(Span::from_millis(100), &mut nothing);
    }
    let hidden = scene.world.window("hidden").id;
    assert_eq!(scene.ask(Request::Focus { window: hidden }), Ok(Response::Done));
    assert_eq!(scene.ask(Request::Act { action: "minimise".to_owned() }), Ok(Response::Done));
    let (client, manager) = manager(&mut scene.world);
    output_manager_events(&mut scene.world, client);
    configure(&mut scene.world, client, &manager, &[(1, None)]).apply();
    scene.world.run_for(Span::from_millis(100), &mut nothing);
    let Ok(Response::Outputs { outputs, disabled }) = scene.ask(Request::Outputs) else { panic!() };
    assert_eq!(outputs.len(), 0, "it is not among the lit outputs");
    let [DisabledOutput { name: off, enabled: false, .. }] = &disabled[..] else { panic!("{disabled:?}") };
    assert_eq!(*off, name(0));

    output_manager_events(&mut scene.world, client);
    configure(&mut scene.world, client, &manager, &[(1, Some(&|_| {}))]).apply();
    scene.world.run_for(Span::from_millis(2_000), &mut nothing);
    let Ok(Response::Outputs { outputs, disabled }) = scene.ask(Request::Outputs) else { panic!() };
    assert_eq!((outputs.len(), disabled.len()), (1, 0));
    let Ok(Response::Windows { windows }) = scene.ask(Request::Windows) else { panic!() };
    let mut on: Vec<_> = windows.into_iter().map(|window| (window.title, window.visible, window.output)).collect();
    on.sort();
    let on_screen = |title: &str, visible| (title.to_owned(), visible, Some(name(0)));
    assert_eq!(on, [on_screen("hidden", false), on_screen("seen", true)]);
    scene.assert_agrees("its return");
}

#[test]
fn hidden_window_that_was_paced_by_another_output_is_on_the_output_of_its_workspace() {
    let mut scene = EventStreamSession::new(0);
    scene.world.plug_in_at(&name(1), 60_000, (320, 0));
    let opened = scene.world.open("moved", 100, 100);
    scene.windows.push(opened);
    scene.world.run_for(Span::from_millis(100), &mut nothing);
    let moved = scene.world.window("moved").id;
    let output = |scene: &mut EventStreamSession| {
        let Ok(Response::Windows { windows }) = scene.ask(Request::Windows) else { panic!() };
        windows.into_iter().next().and_then(|window| window.output)
    };
    assert_eq!(output(&mut scene), Some(name(0)));
    let (client, manager) = manager(&mut scene.world);
    output_manager_events(&mut scene.world, client);
    configure(&mut scene.world, client, &manager, &[(1, None), (2, Some(&|_| {}))]).apply();
    scene.world.run_for(Span::from_millis(500), &mut nothing);
    assert_eq!(output(&mut scene), Some(name(1)), "it is shown there meanwhile");
    assert_eq!(scene.ask(Request::Focus { window: moved }), Ok(Response::Done));
    assert_eq!(scene.ask(Request::Act { action: "minimise".to_owned() }), Ok(Response::Done));
    scene.world.run_for(Span::from_millis(500), &mut nothing);
    output_manager_events(&mut scene.world, client);
    configure(&mut scene.world, client, &manager, &[(1, Some(&|_| {})), (2, Some(&|_| {}))]).apply();
    scene.world.run_for(Span::from_millis(2_000), &mut nothing);
    assert_eq!(output(&mut scene), Some(name(0)));
}
