//! Which backend a session has, and its start.

use std::ffi::OsString;

use calloop::LoopHandle;

use super::{BackendKind, SessionError, SessionOptions, drm, nested, outputs, parent};
use crate::config::OutputMode;
use crate::state::State;

/// The backend that `options` ask for, and whether it can do what else they ask for. Never [`BackendKind::Auto`].
pub(super) fn choose(
    options: &SessionOptions,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<BackendKind, SessionError> {
    // As logind says it of a login on a virtual terminal, and not of one from afar.
    let on_terminal =
        || variable("XDG_VTNR").is_some() && variable("XDG_SESSION_TYPE").is_some_and(|kind| kind == "tty");
    let backend = match options.backend {
        BackendKind::Auto if parent::is_there(&variable) => BackendKind::Nested,
        BackendKind::Auto if on_terminal() => BackendKind::Drm,
        BackendKind::Auto => BackendKind::Headless,
        kind @ (BackendKind::Drm | BackendKind::Nested | BackendKind::Headless) => kind,
    };
    if backend == BackendKind::Drm && !options.outputs.is_empty() {
        return Err(SessionError::RealOutputs);
    }
    let recording = [("--record", options.record.is_some()), ("--record-stream", options.record_stream.is_some())];
    match recording.into_iter().find(|(_, given)| *given) {
        Some((option, _)) if backend != BackendKind::Headless => Err(SessionError::HeadlessOnly { option, backend }),
        _ => Ok(backend),
    }
}

/// Starts a [chosen](choose) backend with outputs of `modes`; without any, those that the configuration names, or one.
pub(super) fn start(
    backend: BackendKind,
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    modes: &[OutputMode],
) -> anyhow::Result<()> {
    match backend {
        BackendKind::Drm => drm::start(handle, state),
        BackendKind::Nested => nested::start(handle, state, modes),
        BackendKind::Auto | BackendKind::Headless => outputs::start(handle, state, modes),
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
    fn what_only_virtual_displays_can_do_is_refused_by_name() {
        let options = SessionOptions {
            backend: BackendKind::Nested,
            record: Some("pictures".into()),
            ..SessionOptions::default()
        };
        let error = choose(&options, |_| None).unwrap_err().to_string();
        assert!(error.contains("--record ") && error.contains("nested"), "{error}");
    }
}
