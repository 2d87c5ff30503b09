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
    /// Sets the list of names: indices of [`LABELS`].
    Rename(Vec<usize>),
}

const LABELS: [&str; 4] = ["mail", "music", "chat", "a b"];

fn number() -> impl Strategy<Value = WorkspaceNumber> {
    prop_oneof![2 => 1..=9_u8, 1 => 10..=13_u8].prop_map(|number| number.try_into().unwrap())
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
        labels().prop_map(WorkspaceStep::Rename),
    ]
}

/// Some labels, in any order.
fn labels() -> impl Strategy<Value = Vec<usize>> {
    prop::sample::subsequence(vec![0, 1, 2, 3], 0..=4).prop_shuffle()
}

fn rename(spaces: &mut Workspaces, labels: &[usize]) {
    spaces.rename(labels.iter().map(|index| LABELS[*index].parse().unwrap()).collect());
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
            if let Some(screen) = spaces.screen(NAMES[output]).filter(|_| number <= spaces.last_number()) {
                spaces.switch(screen, number);
            }
        }
        WorkspaceStep::Add(window, output) => {
            spaces.add(WindowId(window), spaces.screen(NAMES[output]));
            there.insert(window);
        }
        WorkspaceStep::Put(window, output, number) => {
            let is_possible = there.contains(&window) && number <= spaces.last_number();
            if let (Some(screen), true) = (spaces.screen(NAMES[output]), is_possible) {
                spaces.assign(WindowId(window), WorkspaceId { screen, number });
            }
        }
        WorkspaceStep::Remove(window) => {
            spaces.remove(WindowId(window));
            there.remove(&window);
        }
        WorkspaceStep::Rename(ref labels) => rename(spaces, labels),
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
                prop_assert!(place.number <= spaces.last_number(), "on a workspace that does not exist");
            }
            prop_assert!(spaces.screens.iter().all(|known| known.active <= spaces.last_number()));
        }
    }

    #[test]
    fn windows_stay_with_the_name_of_their_workspace(
        steps in prop::collection::vec(step(), 0..60), labels in labels(),
    ) {
        let mut spaces = Workspaces::default();
        let mut there = std::collections::BTreeSet::new();
        steps.iter().for_each(|step| take(&mut spaces, &mut there, step));
        let before = spaces.clone();
        rename(&mut spaces, &labels);
        let is_there = |label: &str| {
            label.parse::<u8>().is_ok() || labels.iter().any(|index| LABELS[*index] == label)
        };
        for known in &before.screens {
            let label = before.label(known.active);
            let after = spaces.label(spaces.active(known.screen));
            prop_assert_eq!(after, if is_there(&label) { label } else { "1".to_owned() });
        }
        for window in there {
            let (old, new) = (before.home(WindowId(window)).unwrap(), spaces.home(WindowId(window)).unwrap());
            prop_assert_eq!(old.screen, new.screen);
            let label = before.label(old.number);
            match is_there(&label) {
                true => prop_assert_eq!(spaces.label(new.number), label),
                false => prop_assert_eq!(new.number, spaces.active(new.screen)),
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
    let two = WorkspaceNumber::FIRST.next(WorkspaceNumber::LARGEST);
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
fn named_workspace_is_meant_where_its_windows_are() {
    let mut spaces = Workspaces::default();
    connect_named(&mut spaces, names(&["DP-1", "DP-2"]));
    let (first, second) = (spaces.screen("DP-1").unwrap(), spaces.screen("DP-2").unwrap());
    rename(&mut spaces, &[0, 1]);
    let number = |spaces: &Workspaces, text: &str| spaces.find(&text.parse().unwrap()).unwrap();
    let mail = number(&spaces, "mail");
    assert_eq!(spaces.meant(second, mail).screen, second, "it has no windows");
    spaces.add(WindowId(1), Some(first));
    spaces.assign(WindowId(1), WorkspaceId { screen: first, number: mail });
    assert_eq!((spaces.meant(second, mail).screen, spaces.meant(first, mail).screen), (first, first));
    spaces.add(WindowId(2), Some(second));
    spaces.assign(WindowId(2), WorkspaceId { screen: second, number: mail });
    assert_eq!(spaces.meant(second, mail).screen, second, "it has windows on both");
    let two = number(&spaces, "2");
    spaces.assign(WindowId(1), WorkspaceId { screen: first, number: two });
    assert_eq!(spaces.meant(second, two).screen, second, "a number is for the own output");
    let unknown = spaces.find(&"post".parse().unwrap()).unwrap_err().to_string();
    assert_eq!(unknown, "there is no workspace called \"post\"; there are 1 to 9, \"mail\" and \"music\"");
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
    let last = WorkspaceNumber::LAST_UNNAMED;
    assert_eq!(last.next(last), last);
    assert_eq!(WorkspaceNumber::try_from(26), Err(InvalidWorkspaceNumber));
    assert_eq!(WorkspaceNumber::try_from(0), Err(InvalidWorkspaceNumber));
    assert_eq!((Workspaces::default().numbers().count(), WorkspaceNumber::all().count()), (9, 25));
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
