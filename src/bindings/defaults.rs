//! Default shortcuts. `config/default.toml` lists the same shortcuts; a test compares them.

use std::collections::BTreeMap;

use smithay::input::keyboard::{Keysym, keysyms};

use super::{
    BUTTON_LEFT, BUTTON_RIGHT, Binding, Chord, HeldModifiers, ScreenshotOf, ShortcutAction, ShortcutTrigger,
    TriggerDirection,
};
use crate::shell::layout::op::{Direction, HorizontalSide, Resize};
use crate::shell::workspaces::{WorkspaceNumber, WorkspaceReference};

/// Change of a width or height per key press, in per cent of the screen.
const STEP: i8 = 10;
/// Commands of the media and brightness keys (PipeWire, brightnessctl, playerctl): keysym, command, description,
/// whether it repeats while the key is held.
const MEDIA: [(u32, &str, &str, bool); 9] = [
    (keysyms::KEY_XF86AudioRaiseVolume, "wpctl set-volume -l 1 @DEFAULT_AUDIO_SINK@ 5%+", "Louder", true),
    (keysyms::KEY_XF86AudioLowerVolume, "wpctl set-volume @DEFAULT_AUDIO_SINK@ 5%-", "Quieter", true),
    (keysyms::KEY_XF86AudioMute, "wpctl set-mute @DEFAULT_AUDIO_SINK@ toggle", "Silent, and back", false),
    (keysyms::KEY_XF86AudioMicMute, "wpctl set-mute @DEFAULT_AUDIO_SOURCE@ toggle", "Microphone off, and back", false),
    (keysyms::KEY_XF86MonBrightnessUp, "brightnessctl set 5%+", "Brighter", true),
    (keysyms::KEY_XF86MonBrightnessDown, "brightnessctl set 5%-", "Darker", true),
    (keysyms::KEY_XF86AudioPlay, "playerctl play-pause", "Play, and pause", false),
    (keysyms::KEY_XF86AudioNext, "playerctl next", "Next piece", false),
    (keysyms::KEY_XF86AudioPrev, "playerctl previous", "Piece before", false),
];

/// Shortcuts that are bound without a configuration.
pub fn default_keys() -> BTreeMap<Chord, Binding> {
    let of = |key: u32| ShortcutTrigger::Key(Keysym::from(key));
    let with_mod = |trigger: ShortcutTrigger| Chord {
        held: HeldModifiers { modifier: true, ..HeldModifiers::default() },
        trigger,
    };
    let with = |key: u32| with_mod(of(key));
    let shifted = |chord: Chord| Chord { held: HeldModifiers { shift: true, ..chord.held }, ..chord };
    let with_ctrl = |chord: Chord| Chord { held: HeldModifiers { ctrl: true, ..chord.held }, ..chord };
    let alt = |key: u32| Chord { held: HeldModifiers { alt: true, ..HeldModifiers::default() }, trigger: of(key) };
    let plain = |key: u32| Chord { held: HeldModifiers::default(), trigger: of(key) };
    let mut keys: BTreeMap<Chord, Binding> = BTreeMap::new();
    // Parsing cannot fail: each line names a program. A test compares the actions with the documented ones.
    let run = |line: &str| line.parse().map_or(ShortcutAction::None, ShortcutAction::Run);
    let mut bind = |chord: Chord, action: ShortcutAction| _ = keys.insert(chord, action.into());
    bind(with(keysyms::KEY_F1), ShortcutAction::Help);
    bind(with(keysyms::KEY_F2), ShortcutAction::Hud);
    bind(with(keysyms::KEY_Return), ShortcutAction::Terminal);
    bind(with(keysyms::KEY_d), run("fuzzel"));
    bind(alt(keysyms::KEY_Tab), ShortcutAction::NextWindow);
    bind(shifted(alt(keysyms::KEY_Tab)), ShortcutAction::PreviousWindow);
    bind(alt(keysyms::KEY_F4), ShortcutAction::CloseWindow);
    bind(with(keysyms::KEY_q), ShortcutAction::CloseWindow);
    // Users of sway close a window with these keys.
    bind(shifted(with(keysyms::KEY_q)), ShortcutAction::CloseWindow);
    bind(with_ctrl(with(keysyms::KEY_q)), ShortcutAction::EndSession);
    bind(with(keysyms::KEY_m), ShortcutAction::Maximise);
    bind(with(keysyms::KEY_f), ShortcutAction::Fullscreen);
    bind(with(keysyms::KEY_n), ShortcutAction::Minimise);
    let sides = [
        (Direction::Column(HorizontalSide::Left), keysyms::KEY_Left, keysyms::KEY_h),
        (Direction::Column(HorizontalSide::Right), keysyms::KEY_Right, keysyms::KEY_l),
        (Direction::Up, keysyms::KEY_Up, keysyms::KEY_k),
        (Direction::Down, keysyms::KEY_Down, keysyms::KEY_j),
    ];
    for (side, arrow, letter) in sides {
        bind(with(arrow), ShortcutAction::Towards(side));
        bind(with(letter), ShortcutAction::Focus(side));
        bind(shifted(with(arrow)), ShortcutAction::Move(side));
        bind(shifted(with(letter)), ShortcutAction::Move(side));
        bind(with_ctrl(with(arrow)), ShortcutAction::Output(side));
        bind(shifted(with_ctrl(with(arrow))), ShortcutAction::MoveToOutput(side));
    }
    bind(with(keysyms::KEY_Home), ShortcutAction::Focus(Direction::First));
    bind(with(keysyms::KEY_End), ShortcutAction::Focus(Direction::Last));
    bind(with(keysyms::KEY_comma), ShortcutAction::Join(HorizontalSide::Left));
    bind(with(keysyms::KEY_period), ShortcutAction::Join(HorizontalSide::Right));
    bind(with(keysyms::KEY_w), ShortcutAction::Tabs);
    bind(with(keysyms::KEY_r), ShortcutAction::Width(Resize::Next));
    bind(with(keysyms::KEY_minus), ShortcutAction::Width(Resize::By(-STEP)));
    bind(with(keysyms::KEY_equal), ShortcutAction::Width(Resize::By(STEP)));
    bind(shifted(with(keysyms::KEY_minus)), ShortcutAction::Height(Resize::By(-STEP)));
    bind(shifted(with(keysyms::KEY_equal)), ShortcutAction::Height(Resize::By(STEP)));
    bind(shifted(with(keysyms::KEY_f)), ShortcutAction::FullWidth);
    bind(with(keysyms::KEY_v), ShortcutAction::Float);
    bind(shifted(with(keysyms::KEY_v)), ShortcutAction::Focus(Direction::OtherLayer));
    bind(with(keysyms::KEY_t), ShortcutAction::Layout);
    bind(with(keysyms::KEY_o), ShortcutAction::Overview);
    bind(with(keysyms::KEY_Page_Down), ShortcutAction::NextWorkspace);
    bind(with(keysyms::KEY_Page_Up), ShortcutAction::PreviousWorkspace);
    bind(shifted(with(keysyms::KEY_Page_Down)), ShortcutAction::MoveToNextWorkspace);
    bind(shifted(with(keysyms::KEY_Page_Up)), ShortcutAction::MoveToPreviousWorkspace);
    bind(with_mod(ShortcutTrigger::Button(BUTTON_LEFT)), ShortcutAction::MoveWithPointer);
    bind(with_mod(ShortcutTrigger::Button(BUTTON_RIGHT)), ShortcutAction::ResizeWithPointer);
    bind(with_mod(ShortcutTrigger::Wheel(TriggerDirection::Down)), ShortcutAction::NextWorkspace);
    bind(with_mod(ShortcutTrigger::Wheel(TriggerDirection::Up)), ShortcutAction::PreviousWorkspace);
    for (turned, side) in
        [(TriggerDirection::Left, HorizontalSide::Left), (TriggerDirection::Right, HorizontalSide::Right)]
    {
        bind(with_mod(ShortcutTrigger::Wheel(turned)), ShortcutAction::Focus(Direction::Column(side)));
    }
    for (turned, side) in
        [(TriggerDirection::Up, HorizontalSide::Left), (TriggerDirection::Down, HorizontalSide::Right)]
    {
        bind(shifted(with_mod(ShortcutTrigger::Wheel(turned))), ShortcutAction::Focus(Direction::Column(side)));
    }
    bind(plain(keysyms::KEY_Print), ShortcutAction::Screenshot(ScreenshotOf::Screen));
    bind(alt(keysyms::KEY_Print), ShortcutAction::Screenshot(ScreenshotOf::Window));
    bind(shifted(plain(keysyms::KEY_Print)), ShortcutAction::Screenshot(ScreenshotOf::Region));
    bind(plain(Keysym::XF86_RotationLockToggle.raw()), ShortcutAction::RotationLock);
    let numbered = WorkspaceNumber::up_to(WorkspaceNumber::LAST_UNNAMED).map(WorkspaceReference::Number);
    for (workspace, digit) in numbered.zip(keysyms::KEY_1..) {
        bind(with(digit), ShortcutAction::Workspace(workspace.clone()));
        bind(shifted(with(digit)), ShortcutAction::MoveToWorkspace(workspace));
    }
    let lock = Chord {
        held: HeldModifiers { logo: true, alt: true, ..HeldModifiers::default() },
        trigger: of(keysyms::KEY_l),
    };
    keys.insert(lock, Binding { about: Some("Lock".into()), ..run("swaylock -f").into() });
    keys.insert(with(keysyms::KEY_Escape), Binding { when_inhibited: true, ..ShortcutAction::Shortcuts.into() });
    for (key, program, about, repeats) in MEDIA {
        let action = run(program);
        let bound = Binding { action, repeats, when_locked: true, when_inhibited: true, about: Some(about.into()) };
        keys.insert(plain(key), bound);
    }
    keys
}
