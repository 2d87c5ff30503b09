//! Tests of the documented options, of rules, and of invalid files.

use std::path::Path;

use expect_test::{Expect, expect};

use super::parsing::parse;
use super::*;
use crate::guard::{Kind, Privilege};
use upbeat_timing::estimator::MissBudget;

const DOCUMENTED: &str = include_str!("../../config/default.toml");

fn config(text: &str) -> Config {
    parse(Path::new("config.toml"), text).unwrap()
}

/// The documentation with its examples switched on: `# name = …` and `# [[table]]` lines lose their hash.
fn with_examples() -> String {
    let switch_on = |line: &str| match line.strip_prefix("# ") {
        Some(code) if code.starts_with('[') || code.split_once(" = ").is_some_and(|(key, _)| is_key(key)) => {
            code.to_owned()
        }
        _ => line.to_owned(),
    };
    DOCUMENTED.lines().map(|line| switch_on(line) + "\n").collect()
}

fn is_key(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[test]
fn the_documented_defaults_are_the_built_in_ones() {
    assert_eq!(config(DOCUMENTED), Config::default());
    assert_eq!(config(""), Config::default());
}

#[test]
fn every_option_is_documented_and_every_example_is_valid() {
    fn keys(value: &toml::Value, into: &mut Vec<String>) {
        match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    into.push(key.clone());
                    keys(value, into);
                }
            }
            toml::Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
            _ => {}
        }
    }
    let example = config(&with_examples());
    assert_eq!((example.outputs.len(), example.devices.len(), example.apps.len()), (1, 1, 1));
    let WindowRule {
        app_id,
        title,
        tag,
        is_focused,
        is_floating,
        is_urgent,
        is_fullscreen,
        is_maximised,
        output,
        workspace,
        floating,
        width,
        fullscreen,
        focused,
        min_width,
        min_height,
        max_width,
        max_height,
        decoration,
        opacity,
        corner_radius,
        capture,
    } = &example.windows[0];
    assert!(app_id.is_some() && title.is_some() && tag.is_some() && is_focused.is_some() && is_floating.is_some());
    assert!(is_urgent.is_some() && is_fullscreen.is_some() && is_maximised.is_some());
    assert!(min_width.is_some() && min_height.is_some() && max_width.is_some() && max_height.is_some());
    assert!(decoration.is_some());
    assert!(output.is_some() && workspace.is_some() && floating.is_some() && width.is_some() && fullscreen.is_some());
    assert!(focused.is_some() && opacity.is_some() && corner_radius.is_some() && capture.is_some());
    let LayerRule { namespace: _, opacity, corner_radius, capture, keyboard } = &example.layers[0];
    assert!(opacity.is_some() && corner_radius.is_some() && capture.is_some() && keyboard.is_some());
    // An option that an example leaves out is missing in its serialised form, so no field of a rule may be unset.
    let OutputRule { name: _, enabled, mode, position, scale, transform, rotation, pacing, front_buffer } =
        &example.outputs[0];
    assert!(enabled.is_some() && mode.is_some() && position.is_some() && scale.is_some() && pacing.is_some());
    assert!(transform.is_some() && rotation.is_some() && front_buffer.is_some());
    let DeviceRule {
        name: _,
        natural_scroll,
        left_handed,
        acceleration,
        acceleration_profile,
        tap,
        disable_while_typing,
    } = &example.devices[0];
    assert!(natural_scroll.is_some() && left_handed.is_some() && tap.is_some() && disable_while_typing.is_some());
    assert!(acceleration.is_some() && acceleration_profile.is_some());
    let AppRule { app_id: _, pacing, miss_budget, early_callbacks, predicted_input, in_place, workspace, capture } =
        &example.apps[0];
    assert!(workspace.is_some() && capture.is_some() && predicted_input.is_some() && in_place.is_some());
    assert_eq!(*early_callbacks, Some(false));
    assert!(pacing.is_some());
    assert!(miss_budget.is_some_and(|budget| budget.free_running.is_some() && budget.interactive.is_some()));

    let mut written = Vec::new();
    keys(&toml::Value::try_from(&example).unwrap(), &mut written);
    for key in written {
        let documented = with_examples().lines().any(|line| {
            let line = line.trim_start();
            line.starts_with(&format!("{key} ="))
                || line.starts_with(&format!("\"{key}\" ="))
                || line == format!("[{key}]")
                || line == format!("[[{key}]]")
                || line.ends_with(&format!(".{key}]"))
                || line.ends_with(&format!(".\"{key}\"]"))
        });
        assert!(documented, "`{key}` is not documented in config/default.toml");
    }
}

#[test]
fn a_rule_finds_an_output_by_its_connector_or_by_its_monitor() {
    let config = config(
        r#"
        [[output]]
        name = "DP-*"
        scale = 1.5
        [[output]]
        name = "DEL DELL U2720Q *"
        transform = "90"
        "#,
    );
    let known = config.output("DP-1", Some("DEL DELL U2720Q 2MK7Z13"));
    assert_eq!((known.scale.map(OutputScale::factor), known.turn.to_string().as_str()), (Some(1.5), "90"));
    let elsewhere = config.output("HDMI-A-1", Some("DEL DELL U2720Q 2MK7Z13"));
    assert_eq!((elsewhere.scale, elsewhere.turn.to_string().as_str()), (None, "90"));
    assert_eq!(
        config.output("DP-1", Some("GSM LG HDR 4K 0x00000001")).turn,
        crate::output_transform::OutputTransform::NORMAL
    );
}

#[test]
fn the_later_rule_counts_option_by_option() {
    let config = config(
        r#"
        pacing = "vsync"
        [[output]]
        name = "*"
        scale = 2
        pacing = "vsync-late"
        [[output]]
        name = "HEADLESS-2"
        mode = "800x600@75"
        pacing = "auto"
        "#,
    );
    let first = config.output("HEADLESS-1", None);
    assert_eq!(
        (first.scale.map(OutputScale::factor), first.pacing, first.mode),
        (Some(2.0), PacingWish::VsyncLate, None)
    );
    let second = config.output("HEADLESS-2", None);
    assert_eq!((second.scale.map(OutputScale::factor), second.pacing), (Some(2.0), PacingWish::Auto));
    assert_eq!(second.mode, "800x600@75".parse().ok());
    assert_eq!(Config::default().output("DP-1", None).pacing, PacingWish::Auto);
    assert_eq!(Config::default().output("DP-1", None).scale, None, "it is guessed");
}

#[test]
fn an_app_keeps_the_sessions_budget_unless_a_rule_says_otherwise() {
    let config = config(
        r#"
        miss-budget.free-running = 2
        [[app]]
        app-id = "mpv"
        pacing = "vsync"
        [[app]]
        app-id = "game.*"
        miss-budget = { interactive = 5 }
        "#,
    );
    let app = |app_id: &str| AppSettings::apply_rules(&config.apps, app_id, config.miss_budget);
    assert_eq!(app("mpv").pacing, Some(PacingWish::Vsync));
    assert_eq!(app("mpv").miss_budget.free_running.miss_budget(), MissBudget::per_mille(20));
    assert_eq!(app("game.one").miss_budget.interactive.miss_budget(), MissBudget::per_mille(50));
    assert_eq!(app("game.one").miss_budget.free_running.miss_budget(), MissBudget::per_mille(20));
    assert_eq!(app("foot").pacing, None);
}

fn wrong(text: &str, expected: &Expect) {
    expected.assert_eq(&parse(Path::new("config.toml"), text).unwrap_err().to_string());
}

#[test]
fn an_error_names_file_line_column_option_and_what_was_expected() {
    wrong(
        "reduced-motion = false\npacing = \"fast\"\n",
        &expect![[r#"
            config.toml:2:10: pacing: unknown word `fast`, expected one of `vsync`, `vsync-late`, `just-in-time`, `ahead`, `auto`
              |
            2 | pacing = "fast"
              |          ^^^^^^"#]],
    );
    wrong(
        "pacing = \"just-in-tme\"",
        &expect![[r#"
            config.toml:1:10: pacing: unknown word `just-in-tme`, expected one of `vsync`, `vsync-late`, `just-in-time`, `ahead`, `auto` (did you mean `just-in-time`?)
              |
            1 | pacing = "just-in-tme"
              |          ^^^^^^^^^^^^^"#]],
    );
    wrong(
        "[keyboard]\nlayuot = \"us\"",
        &expect![[r#"
            config.toml:2:1: [keyboard] layuot: no such option; expected one of `layout`, `variant`, `model`, `options`, `repeat-delay`, `repeat-rate` (did you mean `layout`?)
              |
            2 | layuot = "us"
              | ^^^^^^"#]],
    );
    wrong(
        "[miss-budget] # percent\nfree-running = 90",
        &expect![[r#"
        config.toml:2:16: [miss-budget] free-running: expected a percentage above 0 and up to 50, such as 0.1
          |
        2 | free-running = 90
          |                ^^"#]],
    );
    wrong(
        "background = \"blue\"",
        &expect![[r#"
        config.toml:1:14: background: expected a colour as #rrggbb, such as #1d2330
          |
        1 | background = "blue"
          |              ^^^^^^"#]],
    );
    wrong(
        "[[output]]\nname = \"DP-1\"\nmode = \"4k\"",
        &expect![[r#"
        config.toml:3:8: [[output]] mode: expected WIDTHxHEIGHT@HZ, such as 1920x1080@60, 2560x1440@59.94 or, for a variable rate, 2560x1440@48-144
          |
        3 | mode = "4k"
          |        ^^^^"#]],
    );
    wrong(
        "[[output]]\nscale = 2",
        &expect![[r#"
            config.toml:1:1: the option `name` is missing
              |
            1 | [[output]]
              | ^^^^^^^^^^"#]],
    );
    wrong(
        "[keyboard]\nrepeat-delay = -1",
        &expect![[r#"
            config.toml:2:16: [keyboard] repeat-delay: invalid value: integer `-1`, expected a whole number from 0 to 65535
              |
            2 | repeat-delay = -1
              |                ^^"#]],
    );
    wrong(
        "[animations.open]\ndamping = 0.0",
        &expect![[r#"
        config.toml:2:11: [animations.open] damping: expected a spring's damping ratio from 0.1 to 3, such as 1.0
          |
        2 | damping = 0.0
          |           ^^^"#]],
    );
    wrong(
        "[animations.place]\nfrequency = nan",
        &expect![[r#"
        config.toml:2:13: [animations.place] frequency: expected a spring's frequency from 0.5 to 30 Hz, such as 4.0
          |
        2 | frequency = nan
          |             ^^^"#]],
    );
    wrong(
        "[animations.close]\nduration = 0",
        &expect![[r#"
        config.toml:2:12: [animations.close] duration: expected a duration from 1 to 10000 milliseconds, such as 200
          |
        2 | duration = 0
          |            ^"#]],
    );
    wrong(
        "[animations.close]\ncurve = \"bouncy\"",
        &expect![[r#"
        config.toml:2:9: [animations.close] curve: expected "linear", "ease", "ease-in", "ease-out", "ease-in-out" or [x1, y1, x2, y2]
          |
        2 | curve = "bouncy"
          |         ^^^^^^^^"#]],
    );
    wrong(
        "[animations.close]\ncurve = [0.0, 1.0, 0.5, 1.0]",
        &expect![[r#"
        config.toml:2:9: [animations.close] curve: expected a curve that neither starts nor ends infinitely fast: x1 = 0 wants y1 = 0, x2 = 1 wants y2 = 1
          |
        2 | curve = [0.0, 1.0, 0.5, 1.0]
          |         ^^^^^^^^^^^^^^^^^^^^"#]],
    );
    wrong(
        "[animations.close]\ncurve = [0.5, 1.0]",
        &expect![[r#"
        config.toml:2:9: [animations.close] curve: expected a curve: a name such as "ease-out", or [x1, y1, x2, y2]
          |
        2 | curve = [0.5, 1.0]
          |         ^^^^^^^^^^"#]],
    );
    wrong(
        "pacing = ",
        &expect![[r#"
        config.toml:1:10: pacing: string values must be quoted, expected literal string
          |
        1 | pacing = 
          |          ^"#]],
    );
    wrong(
        "ключ = 1",
        &expect![[r#"
        config.toml:1:1: ключ: invalid unquoted key, expected letters, numbers, `-`, `_`
          |
        1 | ключ = 1
          | ^^^^"#]],
    );
}

#[test]
fn in_one_line_what_was_meant_is_said_instead_of_all_that_is_possible() {
    let sentence = |text| parse(Path::new("c.toml"), text).unwrap_err().one_line();
    assert_eq!(sentence("pacng = 1"), "c.toml:1:1: pacng: no such option (did you mean `pacing`?)");
    assert_eq!(sentence("pacing = \"vsnc\""), "c.toml:1:10: pacing: unknown word `vsnc` (did you mean `vsync`?)");
    assert!(sentence("pacing = \"fast\"").contains("expected one of `vsync`"));
    assert!(sentence("pacing = ").contains("must be quoted"));
}

#[test]
fn mistakes_in_names_of_workspaces_are_shown_where_they_stand() {
    let listed = config("workspaces = [\"mail\", \"my music\"]").workspaces;
    assert_eq!(listed.names().iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["mail", "my music"]);
    let sentence = |text: &str| parse(Path::new("c.toml"), text).unwrap_err().one_line();
    let long = "x".repeat(33);
    for (list, wrong) in [
        ("\"\"", "c.toml:2:15: workspaces: \"\": expected a name of 1 to 32 characters".to_owned()),
        (&format!("\"{long}\""), format!("c.toml:2:15: workspaces: \"{long}\": expected a name of 1 to 32 characters")),
        (
            "\"a\", \"7\"",
            "c.toml:2:20: workspaces: \"7\": expected a name, not a number: the workspaces 1 to 9 are always there"
                .to_owned(),
        ),
        ("\" a\"", "c.toml:2:15: workspaces: \" a\": expected a name without a space at its start and end".to_owned()),
        ("\"a\\tb\"", "c.toml:2:15: workspaces: \"a\tb\": expected a name without control characters".to_owned()),
        ("\"a\", \"b\", \"a\"", "c.toml:2:25: workspaces: \"a\" is in the list already".to_owned()),
        ("3", "c.toml:2:15: workspaces: invalid type: integer `3`, expected a string".to_owned()),
    ] {
        assert_eq!(sentence(&format!("planes = true\nworkspaces = [{list}]")), wrong);
    }
    let many: Vec<String> = (0..17).map(|index| format!("\"w{index}\"")).collect();
    assert!(sentence(&format!("workspaces = [{}]", many.join(", "))).ends_with("\"w16\": more than 16 names"));
    assert_eq!(config(&format!("workspaces = [{}]", many[..16].join(", "))).workspaces.names().len(), 16);
    let rule = sentence("[[app]]\napp-id = \"a\"\nworkspace = 10");
    assert!(rule.ends_with("workspace: expected the number of a workspace, 1 to 9, or the name of one"), "{rule}");
}

#[test]
fn workspace_that_is_not_listed_is_shown_where_it_is_used() {
    let told = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let loaded = ConfigFile::load(Some(path), None).map(|_| ());
        loaded.map_err(|error| error.one_line().split("config.toml").last().unwrap_or_default().to_owned())
    };
    let list = "workspaces = [\"mail\", \"my music\"]\n";
    let unknown = "there is no workspace called \"post\"; there are 1 to 9";
    for (rest, place) in [
        ("[keys]\n\"Mod+M\" = \"workspace post\"", ":3:11: [keys] \"Mod+M\""),
        ("[keys]\n\"mod+m\" = { do = \"move-to-workspace post\" }", ":3:11: [keys] \"mod+m\""),
        ("[keys]\n\"Mod+M\" = \"column-to-workspace post\"", ":3:11: [keys] \"Mod+M\""),
        ("[[app]]\napp-id = \"a\"\n[[app]]\napp-id = \"b\"\nworkspace = \"post\"", ":6:13: [[app]] workspace"),
        ("[[window]]\nworkspace = \"post\"", ":3:13: [[window]] workspace"),
    ] {
        assert_eq!(told(&format!("{list}{rest}")), Err(format!("{place}: {unknown}, \"mail\" and \"my music\"")));
        assert_eq!(told(&format!("{list}{rest}").replace("post", "my music")), Ok(()));
        assert_eq!(told(rest).unwrap_err().split(": ").last(), Some(unknown));
    }
}

#[test]
fn shadows_and_corners_are_where_a_gpu_draws_unless_something_else_is_said() {
    let effects = |text: &str| config(&format!("[effects]\n{text}")).effects.to_shell();
    let usual = effects("");
    assert_eq!((usual.shadow, usual.corner_radius), (None, 0.0));
    assert!(usual.drawn_by_gpu().shadow.is_some() && usual.drawn_by_gpu().corner_radius > 0.0);
    assert_eq!(usual, effects("shadow = \"auto\"\ncorner-radius = \"auto\""));
    for said in [effects("shadow = true\ncorner-radius = 5"), effects("shadow = false\ncorner-radius = 0")] {
        let on_gpu = said.drawn_by_gpu();
        assert_eq!((on_gpu.shadow, on_gpu.corner_radius), (said.shadow, said.corner_radius));
    }
    assert!(effects("shadow = true").shadow.is_some());
}

#[test]
fn a_bad_file_keeps_what_is_in_force() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    std::fs::write(&path, "reduced-motion = true").unwrap();
    let mut file = ConfigFile::load(Some(path.clone()), None).unwrap();
    assert!(file.config().reduced_motion);
    std::fs::write(&path, "reduced-motion = maybe").unwrap();
    assert!(file.reload(&mut |_| {}).is_err());
    assert!(file.config().reduced_motion);
    std::fs::write(&path, "# back to the defaults").unwrap();
    file.reload(&mut |_| {}).unwrap();
    assert_eq!(file.config(), &Config::default());
}

#[test]
fn a_name_with_a_zero_in_it_is_refused_where_it_stands() {
    for (table, option) in [("keyboard", "layout"), ("keyboard", "options"), ("cursor", "theme")] {
        let text = format!("[{table}]\n{option} = \"us\\u0000de\"");
        let error = parse(Path::new("config.toml"), &text).unwrap_err().to_string();
        assert!(error.starts_with("config.toml:2:") && error.contains("zero"), "{error}");
    }
}

#[test]
fn only_a_file_that_was_named_must_exist() {
    let missing = || Some("/no/such/config.toml".into());
    assert_eq!(ConfigFile::load(None, missing()).unwrap().config(), &Config::default());
    let error = ConfigFile::load(missing(), None).unwrap_err().to_string();
    assert!(error.starts_with("/no/such/config.toml: No such file"), "{error}");
}

#[test]
fn what_is_no_configuration_is_refused_without_being_swallowed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    std::fs::write(&path, b"pacing = \"auto\"\n\xff").unwrap();
    let error = ConfigFile::load(Some(path), None).unwrap_err().to_string();
    assert!(error.ends_with("config.toml:2: not UTF-8 text"), "{error}");
    let endless = ConfigFile::load(Some("/dev/zero".into()), None).unwrap_err().to_string();
    assert!(endless.contains("at most 1024 KiB"), "{endless}");
    assert!(ConfigFile::load(Some(directory.path().to_owned()), None).is_err());
}

#[test]
fn the_file_is_looked_for_where_the_base_directory_specification_says() {
    let path = |variables: &'static [(&str, &str)]| {
        default_path(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    };
    assert_eq!(path(&[("HOME", "/home/a")]).unwrap(), Path::new("/home/a/.config/upbeat/config.toml"));
    assert_eq!(path(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]).unwrap(), Path::new("/c/upbeat/config.toml"));
    assert_eq!(path(&[("XDG_CONFIG_HOME", "relative")]), None);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_loader_panic(text in "(?s).{0,80}") {
        if let Err(error) = parse(Path::new("x"), &text) {
            let _ = error.to_string();
        }
    }

    #[test]
    fn no_damage_to_the_documentation_makes_it_panic(at in 0..4_000_usize, with in "(?s).{0,3}") {
        let mut text = with_examples();
        let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.insert_str(at, &with);
        if let Err(error) = parse(Path::new("x"), &text) {
            let _ = error.to_string();
        }
    }
}

#[test]
fn a_rule_for_a_device_counts_before_its_kind_and_leaves_the_rest_to_it() {
    let config = config(
        "
        [mouse]
        left-handed = true
        [touchpad]
        tap = false
        [[device]]
        name = \"*TrackPoint*\"
        acceleration = -0.5
        acceleration-profile = \"flat\"
        ",
    );
    let stick = config.device("TPPS/2 Elan TrackPoint", false);
    assert_eq!(
        (stick.acceleration.get(), stick.acceleration_profile, stick.left_handed),
        (-0.5, AccelerationProfile::Flat, true)
    );
    assert_eq!(config.device("A mouse", false), config.mouse);
    assert_eq!(config.device("A touchpad", true), config.touchpad);
}

#[test]
fn a_limit_that_cannot_be_meant_is_named_and_what_is_not_said_stays_as_it_is_built_in() {
    wrong(
        "[limits]\npopups = 0\n",
        &expect![[r#"
        config.toml:2:10: [limits] popups: expected a whole number from 1 to 1000000
          |
        2 | popups = 0
          |          ^"#]],
    );
    wrong(
        "[limits]\nwindowz = 10\n",
        &expect![[r#"
        config.toml:2:1: [limits] windowz: unknown word `windowz`, expected one of `surfaces`, `subsurfaces`, `windows`, `layers`, `popups`, `positioners`, `pools`, `buffers`, `buffer-params`, `callbacks`, `feedbacks`, `regions`, `registries`, `devices`, `constraints`, `sources`, `offers`, `activation-tokens`, `idle-inhibitors`, `idle-notifications`, `shortcut-inhibitors`, `locks`, `captures`, `recordings`, `paced`, `predicted`, `scrolled`, `followers`, `front-buffers`, `virtual-devices`, `outputs`, `waiting-updates`, `waiting-keys`, `waiting-keymaps`, `descriptors`, `foreign`, `toplevel-handles`, `listeners`, `others` (did you mean `windows`?)
          |
        2 | windowz = 10
          | ^^^^^^^"#]],
    );
    wrong(
        "[privileges]\ncapture = \"sometimes\"\n",
        &expect![[r#"
        config.toml:2:11: [privileges] capture: invalid type: string "sometimes", expected a boolean
          |
        2 | capture = "sometimes"
          |           ^^^^^^^^^^^"#]],
    );
    let rules = crate::guard::Rules::default();
    let config = config("[limits]\npopups = 3\n[privileges]\ngamma = false\n");
    clients::apply(&config.limits, &config.privileges, &rules);
    assert_eq!(rules.limit(Kind::Popups), 3);
    assert_eq!(rules.limit(Kind::Windows), Kind::Windows.most());
    assert!(
        rules.limit(Kind::Descriptors) <= crate::descriptors::descriptor_limit() / 2,
        "one client leaves some to the rest"
    );
    assert!(!rules.grants(Privilege::Gamma) && rules.grants(Privilege::Capture));
}

/// The examples of configurations in the pages below `folder`, with the pages' names.
fn examples_below(folder: &Path, into: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            examples_below(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let page = std::fs::read_to_string(&path).unwrap();
            let blocks = page.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
            // Other TOML blocks are for Cargo.
            let ours = blocks.filter(|block| !block.contains("[dependencies]"));
            into.extend(ours.map(|block| (path.display().to_string(), block.to_owned())));
        }
    }
}

#[test]
fn every_example_of_the_documentation_is_valid() {
    let mut examples = Vec::new();
    examples_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs"), &mut examples);
    assert!(examples.len() >= 5, "only {} examples were found", examples.len());
    for (page, example) in examples {
        if let Err(error) = parse(Path::new(&page), &example) {
            panic!("{error}");
        }
    }
}

#[test]
fn two_spellings_of_the_same_keys_are_refused_where_they_stand() {
    wrong(
        "[keys]\n\"mod+q\" = \"none\"\n\"Mod+Q\" = \"help\"\n",
        &expect![[r#"
        config.toml:2:1: [keys] "mod+q": "mod+q" and "Mod+Q" are the same keys
          |
        2 | "mod+q" = "none"
          | ^^^^^^^"#]],
    );
    wrong(
        "[keys]\n\"Super+Alt+L\" = \"help\"\n[keys.\"Mod+Alt+L\"]\ndo = \"none\"\n",
        &expect![[r#"
        config.toml:2:1: [keys] "Super+Alt+L": "Super+Alt+L" and "Mod+Alt+L" are the same keys
          |
        2 | "Super+Alt+L" = "help"
          | ^^^^^^^^^^^^^"#]],
    );
    assert!(config("[keys]\n\"Alt+Q\" = \"help\"\n\"Mod+Q\" = \"help\"\n").keys != Keys::default());
}

#[test]
fn later_rule_of_an_output_decides_whether_its_picture_may_be_written() {
    let rule = |name: &str, word: &str| format!("[[output]]\nname = \"{name}\"\nfront-buffer = \"{word}\"\n");
    let config = config(&(rule("*", "off") + &rule("DP-*", "on") + &rule("DP-2", "auto")));
    let options = ["HDMI-A-1", "DP-1", "DP-2"].map(|name| config.output(name, None).front_buffer);
    assert_eq!(options, [FrontBufferOption::Off, FrontBufferOption::On, FrontBufferOption::Auto]);
    assert_eq!(Config::default().output("DP-1", None).front_buffer, FrontBufferOption::Auto);
    wrong(
        &rule("DP-1", "yes"),
        &expect![[r#"
            config.toml:3:16: [[output]] front-buffer: unknown word `yes`, expected one of `auto`, `on`, `off`
              |
            3 | front-buffer = "yes"
              |                ^^^^^"#]],
    );
}

#[test]
fn later_rule_of_an_output_decides_whether_it_turns_with_the_device() {
    let rule = |name: &str, word: &str| format!("[[output]]\nname = \"{name}\"\nrotation = \"{word}\"\n");
    let config = config(&(rule("*", "off") + &rule("DSI-*", "sensor") + &rule("DSI-2", "auto")));
    let options = ["eDP-1", "DSI-1", "DSI-2"].map(|name| config.output(name, None).rotation);
    assert_eq!(options, [RotationOption::Off, RotationOption::Sensor, RotationOption::Auto]);
    assert_eq!(Config::default().output("eDP-1", None).rotation, RotationOption::Auto);
    wrong(
        &rule("DSI-1", "on"),
        &expect![[r#"
            config.toml:3:12: [[output]] rotation: unknown word `on`, expected one of `auto`, `sensor`, `off`
              |
            3 | rotation = "on"
              |            ^^^^"#]],
    );
}

#[test]
fn wrong_names_of_keys_are_told_apart_where_they_stand() {
    wrong(
        "[keys]\n\"Supr+Return\" = \"help\"\n",
        &expect![[r#"
        config.toml:2:1: [keys] "Supr+Return": no modifier is called Supr; did you mean Super?
          |
        2 | "Supr+Return" = "help"
          | ^^^^^^^^^^^^^"#]],
    );
    wrong(
        "[keys.\"Mod+Retrun\"]\ndo = \"help\"\n",
        &expect![[r#"
        config.toml:1:7: no key is called Retrun; did you mean Return?
          |
        1 | [keys."Mod+Retrun"]
          |       ^^^^^^^^^^^^"#]],
    );
    wrong(
        "keys-when-locked = [\"Mod+F1\", \"Mod+Retrun\"]\n",
        &expect![[r#"
        config.toml:1:20: keys-when-locked: no key is called Retrun; did you mean Return?
          |
        1 | keys-when-locked = ["Mod+F1", "Mod+Retrun"]
          |                    ^^^^^^^^^^^^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn terminal_is_a_program_with_its_arguments() {
    wrong(
        "planes = true\nterminal = \"\"\n",
        &expect![[r#"
        config.toml:2:12: terminal: expected a program with its arguments, such as "foot -e top" or ["foot", "-e", "top"]
          |
        2 | terminal = ""
          |            ^^"#]],
    );
    wrong(
        "terminal = [\"\", \"-e\"]\n",
        &expect![[r#"
        config.toml:1:12: terminal: expected a program with its arguments, such as "foot -e top" or ["foot", "-e", "top"]
          |
        1 | terminal = ["", "-e"]
          |            ^^^^^^^^^^"#]],
    );
    wrong(
        "terminal = []\n",
        &expect![[r#"
        config.toml:1:12: terminal: expected a program with its arguments, such as "foot -e top" or ["foot", "-e", "top"]
          |
        1 | terminal = []
          |            ^^"#]],
    );
    wrong(
        "terminal = 3\n",
        &expect![[r#"
        config.toml:1:12: terminal: invalid type: integer `3`, expected a program with its arguments
          |
        1 | terminal = 3
          |            ^"#]],
    );
    let words = |text: &str| config(text).terminal.0.words().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("terminal = \"foot -e top\""), ["foot", "-e", "top"]);
    assert_eq!(words("terminal = [\"foot\", \"--title\", \"My terminal\"]"), ["foot", "--title", "My terminal"]);
}

#[test]
fn shortcut_runs_a_program_whose_arguments_have_blanks() {
    let text = "[keys.\"Mod+N\"]\nrun = [\"notify-send\", \"Hello there\"]\nlocked = true\n";
    let config = config(text);
    let bound = &config.keys.0[&"Mod+N".parse().unwrap()];
    let crate::bindings::ShortcutAction::Run(line) = &bound.action else { panic!("{bound:?}") };
    assert_eq!(line.words().collect::<Vec<_>>(), ["notify-send", "Hello there"]);
    assert!(bound.when_locked && !bound.repeats);
    // Reading it again gives the same.
    let written = toml::to_string(&config).unwrap();
    assert_eq!(parse(Path::new("written"), &written).unwrap().keys, config.keys);
    // A list without a table means the same.
    let short = self::config("[keys]\n\"Mod+N\" = [\"notify-send\", \"Hello there\"]\n");
    assert_eq!(short.keys.0[&"Mod+N".parse().unwrap()].action, bound.action);
    wrong(
        "[keys.\"Mod+N\"]\nrun = []\n",
        &expect![[r#"
        config.toml:2:7: [keys."Mod+N"] run: expected a program with its arguments, such as "foot -e top" or ["foot", "-e", "top"]
          |
        2 | run = []
          |       ^^"#]],
    );
    wrong(
        "[keys.\"Mod+N\"]\nrun = [\"a\"]\ndo = \"help\"\n",
        &expect![[r#"
        config.toml:1:1: expected either `do` or `run`, not both
          |
        1 | [keys."Mod+N"]
          | ^^^^^^^^^^^^^^"#]],
    );
    wrong(
        "[keys.\"Mod+N\"]\nlocked = true\n",
        &expect![[r#"
        config.toml:1:1: expected an action: `do` or `run` is missing
          |
        1 | [keys."Mod+N"]
          | ^^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn more_expressions_than_are_affordable_are_refused_where_they_stand() {
    let rules = r"[[window]]\ntitle = '/\\w{2}x/'\n".replace("\\n", "\n").replace("\\\\", "\\").repeat(200);
    let told = parse(Path::new("config.toml"), &rules).unwrap_err().to_string();
    assert!(told.contains("[[window]] title: expected fewer or smaller expressions"), "{told}");
    assert!(told.starts_with("config.toml:") && told.contains(r"title = '/\w{2}x/'"), "{told}");
    // Each kind of rules has a budget of its own, and a new one whenever it is read.
    let searched = format!("[[app]]\napp-id = '*{0}?*'\n[[output]]\nname = '*{0}?*'\n", "a".repeat(250));
    (0..100).for_each(|_| _ = config(&searched));
}
