//! Tests of the wire format.

use super::input::InputEvent;
use super::workspace::WorkspaceNumber;
use super::*;
use upbeat_timing::pacing::PacingWish;

fn wire(request: Request) -> String {
    serde_json::to_string(&RequestLine::new(request)).unwrap()
}

#[test]
fn the_wire_format_is_the_documented_one() {
    let pacing =
        Request::SetPacing { target: OutputOrWindow::Output("HEADLESS-1".to_owned()), pacing: PacingWish::Vsync };
    assert_eq!(
        wire(pacing),
        r#"{"version":1,"request":{"kind":"set-pacing","target":{"output":"HEADLESS-1"},"pacing":"vsync"}}"#
    );
    assert_eq!(wire(Request::Outputs), r#"{"version":1,"request":{"kind":"outputs"}}"#);
    let answer = |result| serde_json::to_string(&ResponseLine::new(result)).unwrap();
    assert_eq!(answer(Ok(Response::Done)), r#"{"version":1,"ok":{"kind":"done"}}"#);
    assert_eq!(answer(Err("no".to_owned())), r#"{"version":1,"error":"no"}"#);
}

#[test]
fn messages_are_read_back_as_they_were_written() {
    let monitor = VirtualMonitor { make: "ACM".to_owned(), model: "Tall".to_owned(), serial: None };
    let add = Request::AddOutput {
        mode: "800x600@75".parse().unwrap(),
        connector: Some("DP-1".to_owned()),
        monitor: Some(monitor),
    };
    let input = Request::Input { events: vec![InputEvent::PointerMove { x: 1.5, y: 2.0 }] };
    let order =
        WorkspaceOrder { output: None, number: Some(WorkspaceNumber::FIRST), name: None, window: Some(WindowId(3)) };
    let workspace = Request::Workspace(order);
    let why = Request::WhyLate { target: Some(OutputOrWindow::Window(WindowId(3))), limit: 10 };
    for request in [Request::Quit, add, input, why, workspace] {
        let question: RequestLine = serde_json::from_str(&wire(request.clone())).unwrap();
        assert_eq!(question.request, request);
    }
    let answer = ResponseLine::new(Ok(Response::WhyLate { misses: Vec::new() }));
    let text = serde_json::to_string(&answer).unwrap();
    assert_eq!(serde_json::from_str::<ResponseLine>(&text).unwrap(), answer);
}

#[test]
fn virtual_output_needs_no_connector_and_no_monitor() {
    let text = r#"{"version":1,"request":{"kind":"add-output","mode":"800x600@75"}}"#;
    let add = Request::AddOutput { mode: "800x600@75".parse().unwrap(), connector: None, monitor: None };
    assert_eq!(serde_json::from_str::<RequestLine>(text).unwrap().request, add);
    assert_eq!(wire(add), text);
}

#[test]
fn a_newer_client_may_say_more_than_we_know() {
    let text = r#"{"version":1,"tracing":true,"request":{"kind":"outputs","verbose":true}}"#;
    assert_eq!(serde_json::from_str::<RequestLine>(text).unwrap().request, Request::Outputs);
}

#[test]
fn workspace_is_ordered_by_number_or_by_name() {
    let order = |number, name: Option<&str>| {
        let name = name.map(str::to_owned);
        serde_json::to_value(WorkspaceOrder { output: None, number, name, window: None }).unwrap()
    };
    let numbered = serde_json::json!({"output": null, "number": 1, "window": null});
    assert_eq!(order(Some(WorkspaceNumber::FIRST), None), numbered, "the same line as before there were names");
    assert_eq!(order(None, Some("mail")), serde_json::json!({"output": null, "name": "mail", "window": null}));
    let read: WorkspaceOrder = serde_json::from_str(r#"{"output":null,"number":3,"window":null}"#).unwrap();
    assert_eq!((read.number.map(u8::from), read.name), (Some(3), None));
}
