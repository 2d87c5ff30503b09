use super::*;
use upbeat_timing::time::Span;

fn capture(text: &str, process: Option<&str>) -> Result<LogCapture, String> {
    let wanted = LogRequest { interval: Span::from_nanos(16_666_667), process };
    parse(text.as_bytes(), "log.csv", "log".into(), &wanted).map_err(|error| error.to_string())
}

fn costs(text: &str) -> Result<Vec<(f64, f64)>, String> {
    let stages = |capture: LogCapture| {
        capture.load.frames.iter().map(|f| (f.record.as_millis_f64(), f.render.as_millis_f64())).collect()
    };
    capture(text, None).map(stages)
}

#[test]
fn our_own_columns() {
    let text = "frame,cpu_ms,gpu_ms,frame_ms\n0,6.033,6.223,6.403\n1,,5,5\n2,,,10\n";
    assert_eq!(costs(text), Ok(vec![(6.033, 6.223), (2.0, 5.0), (4.0, 10.0)]));
}

#[test]
fn a_written_log_reads_back() {
    let text = "frame,cpu_ms,gpu_ms\n0,6.033,6.223\n1,0.000,40.125\n";
    assert_eq!(render(&capture(text, None).unwrap().load), text);
}

#[test]
fn a_mangohud_log_with_its_preamble() {
    let text = "os,cpu,gpu,ram,kernel,driver,cpuscheduler\nDebian,AMD,Radeon,16,6.1,Mesa,schedutil\n\
        fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,\
        gpu_power,ram_used,swap_used,process_rss,elapsed\n\
        50,20,12,0,50,60,58,1500,800,2.1,30,5.5,0,1.1,1000000\n120,8,12,0,99,60,58,1500,800,2.1,30,5.5,0,1.1,2\n";
    // The GPU was busy for half of 20 ms, so the CPU is the slower stage. With a full GPU it is the GPU.
    assert_eq!(costs(text), Ok(vec![(20.0, 10.0), (3.2, 8.0)]));
    assert_eq!(capture(text, None).unwrap().about.format, "MangoHud");
}

#[test]
fn presentmon_of_both_generations_and_frameview() {
    let one = "Application,ProcessID,SwapChainAddress,MsBetweenPresents,MsInPresentAPI\ngame.exe,1,0x0,10,0.2\n";
    assert_eq!(costs(one), Ok(vec![(4.0, 10.0)]));
    let two = "Application,FrameTime,MsCPUBusy,MsGPUBusy\ngame.exe,10,3,9\ngame.exe,10,NA,9\n";
    assert_eq!(costs(two), Ok(vec![(3.0, 9.0), (3.6, 9.0)]));
    // Presents at 10, 20 and 30 ms, 4 ms in the call, light two refreshes later and once three.
    let view = "Application,ProcessID,MsBetweenPresents,MsInPresentAPI,MsRenderPresentLatency,MsUntilDisplayed\n\
        game.exe,1,10,4,3,23.333\ngame.exe,1,10,4,3,30\ngame.exe,1,10,4,3,53.333\n";
    assert_eq!(costs(view), Ok(vec![(4.0, 10.0), (6.0, 9.0), (6.0, 9.0)]));
    let about = capture(view, None).unwrap().about;
    assert_eq!((about.format, about.program.as_deref()), ("FrameView", Some("game.exe (1)")));
    // Lights are 16.7 ms and then 33.3 ms apart: one drop in 50 ms.
    assert!((about.recorded.unwrap().drops_per_s - 20.0).abs() < 0.01, "{:?}", about.recorded);
}

#[test]
fn quoted_fields_may_have_commas_and_quotes_and_semicolons_leave_the_comma_to_numbers() {
    let text = "Application,\"Resolution\",MsBetweenPresents\n\"a, \"\"b\"\"\",\"1,2\",10\n";
    assert_eq!(costs(text), Ok(vec![(4.0, 10.0)]));
    assert_eq!(capture(text, None).unwrap().about.program.as_deref(), Some("a, \"b\""));
    assert_eq!(costs("frame;cpu_ms;gpu_ms\n0;1,5;\"2,5\"\n"), Ok(vec![(1.5, 2.5)]));
    let wrong = "Application,MsBetweenPresents\n\"a, b\",x\n";
    assert_eq!(costs(wrong), Err("log.csv:2:8: expected a number of milliseconds, found `x`".into()));
}

#[test]
fn a_log_of_several_programs_needs_a_program_name() {
    let text = "Application,ProcessID,MsBetweenPresents\nA.exe,1,10\ndwm.exe,2,16\nA.exe,1,12\n";
    let error = capture(text, None).unwrap_err();
    assert!(
        error.contains("it has frames of several programs: A.exe (1) (2 frames), dwm.exe (2) (1 frames);"),
        "{error}"
    );
    for name in ["A.exe", "1", "A.exe (1)"] {
        let frames: Vec<f64> =
            capture(text, Some(name)).unwrap().load.frames.iter().map(|f| f.slower().as_millis_f64()).collect();
        assert_eq!(frames, [10.0, 12.0], "{name}");
    }
    assert!(capture(text, Some("B.exe")).unwrap_err().contains("no frame of `B.exe`"));
}

#[test]
fn errors_name_the_line_and_the_column() {
    for (text, message) in [
        ("", "log.csv:1:1: the file is empty"),
        ("frame,cpu_ms,gpu_ms\n", "log.csv:1:1: the header is not followed by any frame"),
        ("frame,cpu_ms,gpu_ms\n0,1.0,fast\n", "log.csv:2:7: expected a number of milliseconds, found `fast`"),
        ("frame,cpu_ms,gpu_ms\n0,1,2\n1,-4,2\n", "log.csv:3:3: -4 ms is not a valid frame time"),
        ("frame,cpu_ms,gpu_ms\n0,1,2\n1,NaN,2\n", "log.csv:3:3: NaN ms is not a valid frame time"),
        ("frame,cpu_ms,gpu_ms\n0,1\n", "log.csv:2:3: the line ends before column 3"),
        ("fps,frametime\n60,16\n60,0\n", "log.csv:3:4: an interval of 0 ms: two frames are not shown at once"),
    ] {
        assert_eq!(costs(text), Err(message.to_owned()));
    }
    assert!(costs("a,b\n1,2\n").is_err_and(|message| message.starts_with("log.csv:1:1: no line names known columns")));
    let bytes = parse(
        &b"frame,cpu_ms,gpu_ms\n0,\xff,1\n"[..],
        "log.csv",
        "log".into(),
        &LogRequest { interval: Span::from_millis(16), process: None },
    );
    assert_eq!(bytes.unwrap_err().to_string(), "log.csv:2:3: the text is not UTF-8");
}

#[test]
fn a_last_line_that_is_cut_off_is_lost_and_the_log_is_not() {
    use crate::load::CaptureWarning;
    let cut = capture("frame,cpu_ms,gpu_ms\n0,1,2\n1,3", None).unwrap();
    assert_eq!((cut.load.frames.len(), cut.about.warnings), (1, vec![CaptureWarning::CutOff { line: 3 }]));
    // The same line with a line break is an error.
    assert!(costs("frame,cpu_ms,gpu_ms\n0,1,2\n1,3\n").is_err());
}
