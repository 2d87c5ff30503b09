//! The files that a session writes: recordings and the frame log.

use upbeat_record::recording::StreamReader;

use crate::session::{TestSession, run};

#[test]
fn each_output_has_a_recording_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let (folder, stream) = (directory.path().join("pictures"), directory.path().join("film.rec"));
    let paths = [folder.to_str().unwrap().to_owned(), stream.to_str().unwrap().to_owned()];
    let outputs = ["--output", "320x200", "--output", "320x200"];
    let arguments: Vec<&str> =
        outputs.into_iter().chain(["--record", &paths[0], "--record-stream", &paths[1]]).collect();
    let mut session = TestSession::start(&arguments);
    let program = session.shown("draw");
    session.wait_for_new_frames("draw");
    drop(program);
    assert!(session.quit().0.success());
    for output in ["HEADLESS-1", "HEADLESS-2"] {
        let index = std::fs::read_to_string(folder.join(output).join("index.jsonl")).unwrap();
        assert!(index.lines().last().unwrap().contains("\"recorded\":"), "{index}");
    }
    for name in ["film.rec", "film-HEADLESS-2.rec"] {
        let file = std::io::BufReader::new(std::fs::File::open(directory.path().join(name)).unwrap());
        let mut reader = StreamReader::new(file).unwrap();
        let first = reader.next_image().unwrap().expect("an image");
        assert_eq!((first.pixels.width, first.pixels.height), (320, 200));
    }
    let again = run(&["--output", "320x200", "--record", &paths[0], "--", "true"]);
    let text = String::from_utf8(again.stderr).unwrap();
    assert!(text.contains("cannot record HEADLESS-1 into") && text.contains("a recording already"), "{text}");
}

#[test]
fn the_frame_log_names_outputs_and_windows() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("frames.jsonl");
    let mut session = TestSession::start(&["--output", "320x200", "--frame-log", path.to_str().unwrap()]);
    let program = session.shown("draw");
    session.wait_for_new_frames("draw");
    let number = session.window("draw").window.0;
    drop(program);
    assert!(session.quit().0.success());
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
    assert_eq!(of("output-name")[0]["name"], "HEADLESS-1");
    assert_eq!((&of("window-name")[0]["app_id"], &of("window-name")[0]["window"]), (&"draw".into(), &number.into()));
    assert!(of("client").iter().any(|line| line["window"] == number && line["presented"].is_u64()));
    assert!(of("output").iter().any(|line| line["presented"].is_u64()));
}

#[test]
fn frame_log_that_cannot_be_written_is_named_in_the_error() {
    let output = run(&["--frame-log", "/no/such/log", "--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("frame log /no/such/log: No such file"), "{text}");
}
