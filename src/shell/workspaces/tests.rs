use proptest::prelude::*;

use super::*;

const NAMES: [&str; 3] = ["DP-1", "DP-2", "HDMI-A-1"];
const WINDOWS: u32 = 6;

#[derive(Clone, Debug)]
enum WorkspaceStep {
    /// Bit mask of the connected outputs.
    Connect(u8),
    Switch(usize, WorkspaceNumber),
    Add(u32, usize),
    Put(u32, usize, WorkspaceNumber),
    Remove(u32),
}

fn number() -> impl Strategy<Value = WorkspaceNumber> {
    (1..=9_u8).prop_map(|number| number.try_into().unwrap())
}

fn step() -> impl Strategy<Value = WorkspaceStep> {
    let (output, window) = (0..NAMES.len(), 0..WINDOWS);
    prop_oneof![
        (0..8_u8).prop_map(WorkspaceStep::Connect),
        (output.clone(), number()).prop_map(|(output, number)| WorkspaceStep::Switch(output, number)),
        (window.clone(), output.clone()).prop_map(|(window, output)| WorkspaceStep::Add(window, output)),
        (window.clone(), output, number())
            .prop_map(|(window, output, number)| WorkspaceStep::Put(window, output, number)),
        window.prop_map(WorkspaceStep::Remove),
    ]
}

/// Connects outputs of these names, whose monitors have no identity, and no others.
fn connect_named<'a>(spaces: &mut Workspaces, names: impl Iterator<Item = &'a str>) {
    spaces.connect_monitors(names.map(|name| (name, None)));
}

fn connect(spaces: &mut Workspaces, set: u8) {
    let names = NAMES.iter().enumerate().filter(move |(index, _)| set & (1 << index) != 0).map(|(_, name)| *name);
    connect_named(spaces, names);
}

fn take(spaces: &mut Workspaces, there: &mut std::collections::BTreeSet<u32>, step: &WorkspaceStep) {
    match *step {
        WorkspaceStep::Connect(set) => connect(spaces, set),
        WorkspaceStep::Switch(output, number) => {
            if let Some(screen) = spaces.screen(NAMES[output]) {
                spaces.switch(screen, number);
            }
        }
        WorkspaceStep::Add(window, output) => {
            spaces.add(WindowId(window), spaces.screen(NAMES[output]));
            there.insert(window);
        }
        WorkspaceStep::Put(window, output, number) => {
            if let (Some(screen), true) = (spaces.screen(NAMES[output]), there.contains(&window)) {
                spaces.assign(WindowId(window), WorkspaceId { screen, number });
            }
        }
        WorkspaceStep::Remove(window) => {
            spaces.remove(WindowId(window));
            there.remove(&window);
        }
    }
}

proptest! {
    #[test]
    fn no_window_is_lost_or_in_two_places(steps in prop::collection::vec(step(), 0..60)) {
        let mut spaces = Workspaces::default();
        let mut there = std::collections::BTreeSet::new();
        for step in &steps {
            let before = (spaces.rows(), spaces.changes());
            take(&mut spaces, &mut there, step);
            prop_assert!(spaces.rows() == before.0 || spaces.changes() != before.1, "a change that nobody is told of");
            let homes: std::collections::BTreeSet<u32> = spaces.homes.keys().map(|window| window.0).collect();
            prop_assert_eq!(homes.len(), spaces.homes.len());
            prop_assert_eq!(&homes, &there);
            for window in &there {
                let place = spaces.place(WindowId(*window)).unwrap();
                // While there is any output, every window can be reached: it is on a connected output.
                let reachable = spaces.screens().any(|(screen, _)| screen == place.screen);
                prop_assert!(reachable || spaces.screens().next().is_none());
            }
        }
    }

    #[test]
    fn every_window_can_be_brought_to_light(steps in prop::collection::vec(step(), 0..60)) {
        let mut spaces = Workspaces::default();
        let mut there = std::collections::BTreeSet::new();
        steps.iter().for_each(|step| take(&mut spaces, &mut there, step));
        connect(&mut spaces, 1);
        for window in there {
            let place = spaces.place(WindowId(window)).unwrap();
            spaces.switch(place.screen, place.number);
            prop_assert!(spaces.is_visible(WindowId(window)));
        }
    }

    #[test]
    fn windows_return_with_their_output(
        steps in prop::collection::vec(step(), 0..40), away in prop::collection::vec(0..8_u8, 1..6),
    ) {
        let mut spaces = Workspaces::default();
        let mut there = std::collections::BTreeSet::new();
        connect(&mut spaces, 7);
        steps.iter().for_each(|step| take(&mut spaces, &mut there, step));
        connect(&mut spaces, 7);
        let before: Vec<_> = there.iter().map(|window| spaces.place(WindowId(*window)).unwrap()).collect();
        away.iter().for_each(|set| connect(&mut spaces, *set));
        connect(&mut spaces, 7);
        let after: Vec<_> = there.iter().map(|window| spaces.place(WindowId(*window)).unwrap()).collect();
        prop_assert_eq!(before, after);
    }
}

fn names<'a>(names: &'a [&'a str]) -> impl Iterator<Item = &'a str> + Clone {
    names.iter().copied()
}

#[test]
fn windows_of_an_unplugged_output_keep_their_numbers_elsewhere() {
    let mut spaces = Workspaces::default();
    connect_named(&mut spaces, names(&["DP-1", "DP-2"]));
    let (first, second) = (spaces.screen("DP-1").unwrap(), spaces.screen("DP-2").unwrap());
    let two = WorkspaceNumber::FIRST.next();
    spaces.add(WindowId(1), Some(second));
    spaces.assign(WindowId(2), WorkspaceId { screen: second, number: two });
    connect_named(&mut spaces, names(&["DP-1"]));
    assert_eq!(spaces.place(WindowId(2)), Some(WorkspaceId { screen: first, number: two }));
    assert!(spaces.is_visible(WindowId(1)) && !spaces.is_visible(WindowId(2)));
    // A window that is moved meanwhile stays on its new output.
    spaces.assign(WindowId(2), WorkspaceId { screen: first, number: two });
    connect_named(&mut spaces, names(&["DP-1", "DP-2"]));
    assert_eq!(spaces.place(WindowId(1)).unwrap().screen, second);
    assert_eq!(spaces.place(WindowId(2)).unwrap().screen, first);
}

#[test]
fn a_window_that_comes_before_any_output_is_seen_on_the_first_one() {
    let mut spaces = Workspaces::default();
    spaces.add(WindowId(1), None);
    connect_named(&mut spaces, names(&["DP-1"]));
    assert_eq!(spaces.place(WindowId(1)).unwrap().screen, spaces.screen("DP-1").unwrap());
    assert!(spaces.is_visible(WindowId(1)));
}

#[test]
fn outputs_without_windows_are_forgotten() {
    let mut spaces = Workspaces::default();
    for plugged in 0..100 {
        let name = format!("HEADLESS-{plugged}");
        connect_named(&mut spaces, names(&[&name]));
    }
    assert_eq!(spaces.screens.len(), 1);
}

#[test]
fn numbers_end_at_the_first_and_the_last() {
    assert_eq!(WorkspaceNumber::FIRST.previous(), WorkspaceNumber::FIRST);
    assert_eq!(WorkspaceNumber::LAST.next(), WorkspaceNumber::LAST);
    assert_eq!("10".parse::<WorkspaceNumber>(), Err(InvalidWorkspaceNumber));
    assert_eq!("0".parse::<WorkspaceNumber>(), Err(InvalidWorkspaceNumber));
    assert_eq!(WorkspaceNumber::all().count(), 9);
}

#[test]
fn windows_come_home_to_their_monitor_whatever_it_is_plugged_into() {
    const DESK: Option<&str> = Some("DEL DELL U2720Q 2MK7Z13");
    const OTHER: Option<&str> = Some("GSM LG HDR 4K Unknown");
    let mut spaces = Workspaces::default();
    let laptop = ("eDP-1", None);
    spaces.connect_monitors([laptop, ("DP-1", DESK)].into_iter());
    let desk = spaces.screen("DP-1").unwrap();
    spaces.add(WindowId(1), Some(desk));
    spaces.connect_monitors([laptop].into_iter());
    assert_eq!(spaces.place(WindowId(1)).map(|place| place.screen), spaces.screen("eDP-1"), "it can be reached");
    // Another monitor on its connector is not recognised as this monitor.
    spaces.connect_monitors([laptop, ("DP-1", OTHER)].into_iter());
    assert_ne!(spaces.screen("DP-1"), Some(desk));
    assert_eq!(spaces.place(WindowId(1)).map(|place| place.screen), spaces.screen("eDP-1"));
    // On another connector the monitor is recognised, even if another monitor is on its old connector.
    spaces.connect_monitors([laptop, ("DP-1", OTHER), ("HDMI-A-1", DESK)].into_iter());
    assert_eq!(spaces.screen("HDMI-A-1"), Some(desk));
    assert_eq!(
        (spaces.place(WindowId(1)).map(|place| place.screen), spaces.name(desk)),
        (Some(desk), Some("HDMI-A-1"))
    );
}

#[test]
fn monitors_with_equal_identity_stay_distinct() {
    let twin = Some("ABC SAME Unknown");
    let mut spaces = Workspaces::default();
    spaces.connect_monitors([("DP-1", twin)].into_iter());
    let first = spaces.screen("DP-1");
    spaces.connect_monitors([("DP-2", twin), ("DP-1", twin)].into_iter());
    assert_eq!(spaces.screen("DP-1"), first, "the one that was there stays where it was");
    assert!(spaces.screen("DP-2").is_some() && spaces.screen("DP-2") != first);
}
