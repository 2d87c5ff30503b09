//! Chooses the backend of a session (DRM, nested or headless) and starts it.

use std::ffi::OsString;

use calloop::LoopHandle;

use super::{BackendKind, SessionError, SessionOptions, drm, nested, parent_backend, virtual_outputs};
use crate::config::OutputMode;
use crate::state::State;

/// Chooses the backend that `options` ask for, and checks that it supports the other options. Never returns
/// [`BackendKind::Auto`].
pub(super) fn choose(
    options: &SessionOptions,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<BackendKind, SessionError> {
    let on_terminal = || terminal(&variable).is_some();
    let backend = match options.backend {
        BackendKind::Auto if parent_backend::is_available(&variable) => BackendKind::Nested,
        BackendKind::Auto if on_terminal() => BackendKind::Drm,
        BackendKind::Auto => BackendKind::Headless,
        kind @ (BackendKind::Drm | BackendKind::Nested | BackendKind::Headless) => kind,
    };
    if backend == BackendKind::Drm && !options.outputs.is_empty() {
        return Err(SessionError::RealOutputs);
    }
    let of_virtual_outputs = [
        ("--record", options.record.is_some()),
        ("--record-stream", options.record_stream.is_some()),
        ("--overlay-planes", options.overlay_planes > 0),
    ];
    match of_virtual_outputs.into_iter().find(|(_, given)| *given) {
        Some((option, _)) if backend != BackendKind::Headless => Err(SessionError::HeadlessOnly { option, backend }),
        _ => Ok(backend),
    }
}

/// The number of the virtual terminal if logind says that this is a local login on a text console, not a remote login.
fn terminal(variable: &impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    variable("XDG_VTNR").filter(|_| variable("XDG_SESSION_TYPE").is_some_and(|kind| kind == "tty"))
}

/// Where the pixels of the [chosen](choose) backend go, and the reason, as text for the user.
pub(super) fn describe(wish: BackendKind, chosen: BackendKind, variable: impl Fn(&str) -> Option<OsString>) -> String {
    let option = if wish == BackendKind::Auto { String::new() } else { format!(" (--backend {wish})") };
    match chosen {
        BackendKind::Nested => format!("in a window of {}{option}", parent_backend::describe(&variable)),
        BackendKind::Drm => match terminal(&variable).filter(|_| wish == BackendKind::Auto) {
            Some(number) => format!("on this machine's displays (a login on virtual terminal {})", number.display()),
            None => format!("on this machine's displays{option}"),
        },
        BackendKind::Auto | BackendKind::Headless if !option.is_empty() => format!("on virtual displays{option}"),
        BackendKind::Auto | BackendKind::Headless => "on a virtual display: there is neither a Wayland compositor nor an X \
             server (WAYLAND_DISPLAY, DISPLAY), and this is no login on a virtual terminal. For a window start it in a \
             terminal of your desktop, for the screen itself after a login on Ctrl+Alt+F3; `upbeat msg screenshot FILE` \
             shows what is there"
            .to_owned(),
    }
}

/// Starts a [chosen](choose) backend with outputs of `modes`. If `modes` is empty, the backend adds the outputs that
/// the configuration names, or one output.
pub(super) fn start(
    backend: BackendKind,
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    modes: &[OutputMode],
) -> anyhow::Result<()> {
    match backend {
        BackendKind::Drm => drm::start(handle, state),
        BackendKind::Nested => nested::start(state, modes),
        BackendKind::Auto | BackendKind::Headless => virtual_outputs::start(state, modes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(backend: BackendKind, variables: &[(&str, &str)]) -> Result<BackendKind, String> {
        let options = SessionOptions { backend, ..SessionOptions::default() };
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        choose(&options, variable).map_err(|error| error.to_string())
    }

    #[test]
    fn a_session_is_nested_where_there_is_a_compositor_and_virtual_where_there_is_none() {
        assert_eq!(chosen(BackendKind::Auto, &[("WAYLAND_DISPLAY", "wayland-1")]), Ok(BackendKind::Nested));
        assert_eq!(chosen(BackendKind::Auto, &[("WAYLAND_SOCKET", "7")]), Ok(BackendKind::Nested));
        assert_eq!(chosen(BackendKind::Auto, &[("DISPLAY", ":0")]), Ok(BackendKind::Nested));
        assert_eq!(chosen(BackendKind::Auto, &[("WAYLAND_DISPLAY", ""), ("DISPLAY", "")]), Ok(BackendKind::Headless));
        assert_eq!(chosen(BackendKind::Auto, &[]), Ok(BackendKind::Headless));
        let terminal = [("XDG_VTNR", "2"), ("XDG_SESSION_TYPE", "tty")];
        assert_eq!(chosen(BackendKind::Auto, &terminal), Ok(BackendKind::Drm));
        assert_eq!(
            chosen(BackendKind::Auto, &[("XDG_VTNR", "2"), ("XDG_SESSION_TYPE", "x11")]),
            Ok(BackendKind::Headless)
        );
        assert_eq!(chosen(BackendKind::Headless, &[("WAYLAND_DISPLAY", "wayland-1")]), Ok(BackendKind::Headless));
    }

    #[test]
    fn description_of_the_backend_gives_the_reason() {
        let why = |wish, variables: &[(&str, &str)]| {
            let options = SessionOptions { backend: wish, ..SessionOptions::default() };
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
            describe(wish, choose(&options, variable).unwrap(), variable)
        };
        let auto = BackendKind::Auto;
        assert_eq!(
            why(auto, &[("WAYLAND_DISPLAY", "wayland-1"), ("DISPLAY", ":0")]),
            "in a window of the Wayland compositor wayland-1 (WAYLAND_DISPLAY)"
        );
        assert_eq!(why(auto, &[("DISPLAY", ":0")]), "in a window of the X server :0 (DISPLAY)");
        let terminal = [("XDG_VTNR", "2"), ("XDG_SESSION_TYPE", "tty")];
        assert_eq!(why(auto, &terminal), "on this machine's displays (a login on virtual terminal 2)");
        assert_eq!(why(BackendKind::Drm, &terminal), "on this machine's displays (--backend drm)");
        assert_eq!(why(BackendKind::Headless, &terminal), "on virtual displays (--backend headless)");
        let nothing = why(auto, &[]);
        assert!(nothing.contains("WAYLAND_DISPLAY") && nothing.contains("For a window"), "{nothing}");
    }

    #[test]
    fn option_of_virtual_outputs_is_refused_by_name_on_other_backends() {
        let nested = || SessionOptions { backend: BackendKind::Nested, ..SessionOptions::default() };
        let recorded = SessionOptions { record: Some("pictures".into()), ..nested() };
        let error = choose(&recorded, |_| None).unwrap_err().to_string();
        assert!(error.contains("--record ") && error.contains("nested"), "{error}");
        let with_planes = SessionOptions { overlay_planes: 2, ..nested() };
        let error = choose(&with_planes, |_| None).unwrap_err().to_string();
        assert!(error.contains("--overlay-planes ") && error.contains("nested"), "{error}");
    }
}
