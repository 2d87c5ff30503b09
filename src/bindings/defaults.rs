//! Default shortcuts. `config/default.toml` lists the same shortcuts; a test compares them.

use std::collections::BTreeMap;

use smithay::input::keyboard::{Keysym, keysyms};

use super::{Action, BUTTON_LEFT, BUTTON_RIGHT, Bound, Chord, Held, ScreenshotOf, Trigger, Turned};
use crate::shell::layout::op::{Direction, Resize, Side};
use crate::shell::workspaces::Number;

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
pub fn default_keys() -> BTreeMap<Chord, Bound> {
    let of = |key: u32| Trigger::Key(Keysym::from(key));
    let with_mod = |trigger: Trigger| Chord { held: Held { modifier: true, ..Held::default() }, trigger };
    let with = |key: u32| with_mod(of(key));
    let shifted = |chord: Chord| Chord { held: Held { shift: true, ..chord.held }, ..chord };
    let with_ctrl = |chord: Chord| Chord { held: Held { ctrl: true, ..chord.held }, ..chord };
    let alt = |key: u32| Chord { held: Held { alt: true, ..Held::default() }, trigger: of(key) };
    let plain = |key: u32| Chord { held: Held::default(), trigger: of(key) };
    let mut keys: BTreeMap<Chord, Bound> = BTreeMap::new();
    // Parsing cannot fail: each line names a program. A test compares the actions with the documented ones.
    let run = |line: &str| line.parse().map_or(Action::None, Action::Run);
    let mut bind = |chord: Chord, action: Action| _ = keys.insert(chord, action.into());
    bind(with(keysyms::KEY_F1), Action::Help);
    bind(with(keysyms::KEY_F2), Action::Hud);
    bind(with(keysyms::KEY_Return), Action::Terminal);
    bind(with(keysyms::KEY_d), run("fuzzel"));
    bind(alt(keysyms::KEY_Tab), Action::NextWindow);
    bind(shifted(alt(keysyms::KEY_Tab)), Action::PreviousWindow);
    bind(alt(keysyms::KEY_F4), Action::CloseWindow);
    bind(with(keysyms::KEY_q), Action::CloseWindow);
    // Users of sway close a window with these keys.
    bind(shifted(with(keysyms::KEY_q)), Action::CloseWindow);
    bind(with_ctrl(with(keysyms::KEY_q)), Action::EndSession);
    bind(with(keysyms::KEY_m), Action::Maximise);
    bind(with(keysyms::KEY_f), Action::Fullscreen);
    bind(with(keysyms::KEY_n), Action::Minimise);
    let sides = [
        (Direction::Column(Side::Left), keysyms::KEY_Left, keysyms::KEY_h),
        (Direction::Column(Side::Right), keysyms::KEY_Right, keysyms::KEY_l),
        (Direction::Up, keysyms::KEY_Up, keysyms::KEY_k),
        (Direction::Down, keysyms::KEY_Down, keysyms::KEY_j),
    ];
    for (side, arrow, letter) in sides {
        bind(with(arrow), Action::Towards(side));
        bind(with(letter), Action::Focus(side));
        bind(shifted(with(arrow)), Action::Move(side));
        bind(shifted(with(letter)), Action::Move(side));
        bind(with_ctrl(with(arrow)), Action::Output(side));
        bind(shifted(with_ctrl(with(arrow))), Action::MoveToOutput(side));
    }
    bind(with(keysyms::KEY_Home), Action::Focus(Direction::First));
    bind(with(keysyms::KEY_End), Action::Focus(Direction::Last));
    bind(with(keysyms::KEY_comma), Action::Join(Side::Left));
    bind(with(keysyms::KEY_period), Action::Join(Side::Right));
    bind(with(keysyms::KEY_w), Action::Tabs);
    bind(with(keysyms::KEY_r), Action::Width(Resize::Next));
    bind(with(keysyms::KEY_minus), Action::Width(Resize::By(-STEP)));
    bind(with(keysyms::KEY_equal), Action::Width(Resize::By(STEP)));
    bind(shifted(with(keysyms::KEY_minus)), Action::Height(Resize::By(-STEP)));
    bind(shifted(with(keysyms::KEY_equal)), Action::Height(Resize::By(STEP)));
    bind(shifted(with(keysyms::KEY_f)), Action::FullWidth);
    bind(with(keysyms::KEY_v), Action::Float);
    bind(shifted(with(keysyms::KEY_v)), Action::Focus(Direction::OtherLayer));
    bind(with(keysyms::KEY_t), Action::Layout);
    bind(with(keysyms::KEY_o), Action::Overview);
    bind(with(keysyms::KEY_Page_Down), Action::NextWorkspace);
    bind(with(keysyms::KEY_Page_Up), Action::PreviousWorkspace);
    bind(shifted(with(keysyms::KEY_Page_Down)), Action::MoveToNextWorkspace);
    bind(shifted(with(keysyms::KEY_Page_Up)), Action::MoveToPreviousWorkspace);
    bind(with_mod(Trigger::Button(BUTTON_LEFT)), Action::MoveWithPointer);
    bind(with_mod(Trigger::Button(BUTTON_RIGHT)), Action::ResizeWithPointer);
    bind(with_mod(Trigger::Wheel(Turned::Down)), Action::NextWorkspace);
    bind(with_mod(Trigger::Wheel(Turned::Up)), Action::PreviousWorkspace);
    for (turned, side) in [(Turned::Left, Side::Left), (Turned::Right, Side::Right)] {
        bind(with_mod(Trigger::Wheel(turned)), Action::Focus(Direction::Column(side)));
    }
    for (turned, side) in [(Turned::Up, Side::Left), (Turned::Down, Side::Right)] {
        bind(shifted(with_mod(Trigger::Wheel(turned))), Action::Focus(Direction::Column(side)));
    }
    bind(plain(keysyms::KEY_Print), Action::Screenshot(ScreenshotOf::Screen));
    bind(alt(keysyms::KEY_Print), Action::Screenshot(ScreenshotOf::Window));
    bind(shifted(plain(keysyms::KEY_Print)), Action::Screenshot(ScreenshotOf::Region));
    for (number, digit) in Number::all().zip(keysyms::KEY_1..) {
        bind(with(digit), Action::Workspace(number));
        bind(shifted(with(digit)), Action::MoveToWorkspace(number));
    }
    let lock = Chord { held: Held { logo: true, alt: true, ..Held::default() }, trigger: of(keysyms::KEY_l) };
    keys.insert(lock, Bound { about: Some("Lock".into()), ..run("swaylock -f").into() });
    keys.insert(with(keysyms::KEY_Escape), Bound { when_inhibited: true, ..Action::Shortcuts.into() });
    for (key, program, about, repeats) in MEDIA {
        let action = run(program);
        let bound = Bound { action, repeats, when_locked: true, when_inhibited: true, about: Some(about.into()) };
        keys.insert(plain(key), bound);
    }
    keys
}
