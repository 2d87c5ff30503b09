//! Loads the configuration of a session at its start, and again when its files are saved, on SIGHUP, or on `upbeat msg
//! reload`.
//!
//! ```text
//!   saved (inotify) ─┐
//!   SIGHUP ──────────┼─► wanted ─► a thread reads, one at a time ─► applied, or a notice on the screen
//!   upbeat msg ──────┘                └► watches each file before it reads it
//! ```
//!
//! The files are read on a thread of their own, because they may lie on a disk that hangs.

use std::os::fd::AsFd;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use anyhow::Context;
use calloop::channel::{Event, Sender, channel};
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, Mode, PostAction};

use super::apply_config;
use crate::config::watch::{ConfigChanges, ConfigWatch, WatchedNames};
use crate::config::{ConfigError, ConfigFile};
use crate::ipc::Completion;
use crate::shell::notices;
use crate::state::State;
use upbeat_record::faults::{self, Fault};
use upbeat_record::ipc::message::Response;

/// State of reloading the configuration.
#[derive(Debug, Default)]
pub(super) struct ConfigReload {
    /// Sends results from the reading thread to the main thread.
    sender: Option<Sender<ReloadResult>>,
    /// Watches the files with inotify; `None` if the system has no inotify instance left.
    watch: Option<ConfigWatch>,
    is_under_way: bool,
    /// The next reload, after the one under way.
    wanted: Option<ReloadRequest>,
    /// The part of the current configuration that the system refused, as a sentence.
    refused: Option<String>,
}

/// A reload that was asked for, and its reasons.
#[derive(Debug, Default)]
struct ReloadRequest {
    changed: ConfigChanges,
    /// Reload even if no file has changed.
    is_forced: bool,
    /// Requests that wait for the result.
    completions: Vec<Completion>,
}

/// The result of a reload.
#[derive(Debug)]
struct ReloadResult {
    /// `None`: no file had changed, so nothing was read.
    result: Option<Result<ConfigFile, ConfigError>>,
    places: Option<WatchedNames>,
    completions: Vec<Completion>,
}

/// Loads the file `named`, or the file at `default` if it exists, applies it, and reloads it whenever it is saved. If
/// the file has mistakes, the built-in defaults apply and a notice stays on the screen until the file is corrected:
/// without a session the user could not correct it. Returns the mistakes, for the log.
///
/// # Errors
/// The file `named` does not exist, or the channel for later reloads cannot be set up.
pub fn start(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    named: Option<PathBuf>,
    default: Option<PathBuf>,
) -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    let mut watch = ConfigWatch::new()
        .inspect_err(|error| tracing::warn!(%error, "cannot watch the configuration for changes"))
        .ok();
    let mut places = watch.as_ref().map(ConfigWatch::places);
    let mut file = ConfigFile::with_defaults(named, default);
    let mut mistake = match file.reload(&mut |path| watch_file(places.as_mut(), path)) {
        Ok(()) => None,
        Err(error) if file.is_missing(&error) => return Err(error.into()),
        Err(error) => {
            mistakes.push(format!("{error}\nThe built-in defaults are in force."));
            state.shell.overlays_mut().note_defaults();
            Some(error.one_line())
        }
    };
    if let Some((watch, places)) = watch.as_mut().zip(places) {
        watch.replace(places);
    }
    let config = file.config().clone();
    state.session.config = file;
    state.session.reload.watch = watch;
    listen(handle, state)?;
    if let Err(refused) = apply_config::apply(state, None, &config) {
        mistakes.push(refused.clone());
        state.session.reload.refused = Some(refused.clone());
        mistake.get_or_insert(refused);
    }
    if mistake.is_some() {
        notices::set_config_error(state, mistake);
    }
    Ok(mistakes)
}

fn watch_file(places: Option<&mut WatchedNames>, path: &std::path::Path) {
    if let Some(places) = places {
        places.add_file(path);
    }
}

/// Watches for saved files, and receives the results of reloads.
fn listen(handle: &LoopHandle<'static, State>, state: &mut State) -> anyhow::Result<()> {
    let failed = "cannot watch for a changed configuration";
    let (sender, receiver) = channel();
    handle
        .insert_source(receiver, |event, (), state| {
            if let Event::Msg(reread) = event {
                finish(state, reread);
            }
        })
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context(failed)?;
    state.session.reload.sender = Some(sender);
    let Some(watch) = &state.session.reload.watch else { return Ok(()) };
    let source = Generic::new(watch.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    let inserted = handle.insert_source(source, |_, _, state| {
        let changed = state.session.reload.watch.as_ref().map(ConfigWatch::read_changes).unwrap_or_default();
        if !changed.is_empty() {
            queue_reload(state, ReloadRequest { changed, ..ReloadRequest::default() });
        }
        Ok(PostAction::Continue)
    });
    inserted.map(|_| ()).map_err(|error| anyhow::anyhow!("{error}")).context(failed)
}

/// Starts a reload; `completion` gets the result.
pub(super) fn request_reload(state: &mut State, completion: Option<Completion>) {
    queue_reload(
        state,
        ReloadRequest { is_forced: true, completions: completion.into_iter().collect(), ..ReloadRequest::default() },
    );
}

fn queue_reload(state: &mut State, wanted: ReloadRequest) {
    let all = state.session.reload.wanted.get_or_insert_default();
    all.changed.merge(wanted.changed);
    all.is_forced |= wanted.is_forced;
    all.completions.extend(wanted.completions);
    start_next_reload(state);
}

/// Starts the reload that is wanted, unless one is under way.
fn start_next_reload(state: &mut State) {
    let rereading = &mut state.session.reload;
    let (false, Some(sender)) = (rereading.is_under_way, rereading.sender.clone()) else { return };
    let Some(wanted) = rereading.wanted.take() else { return };
    let file = state.session.config.clone();
    let places = rereading.watch.as_ref().map(ConfigWatch::places);
    rereading.is_under_way = true;
    let job = move || read(file, wanted, places, &sender);
    let thread = std::thread::Builder::new().name("configuration".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::error!(%error, "cannot start a thread to reload the configuration");
        state.session.reload.is_under_way = false;
    }
}

fn read(mut file: ConfigFile, wanted: ReloadRequest, mut places: Option<WatchedNames>, sender: &Sender<ReloadResult>) {
    let is_read = wanted.is_forced || wanted.changed.needs_reload();
    // A panic while reading concerns only these files: files that are saved later are read all the same.
    let mut reload = || file.reload(&mut |path| watch_file(places.as_mut(), path));
    let caught = is_read.then(|| std::panic::catch_unwind(AssertUnwindSafe(&mut reload)));
    let result = caught.and_then(|caught| {
        caught.inspect_err(|_| tracing::error!("a bug stopped the reload: the configuration stays unchanged")).ok()
    });
    let result = result.map(|result| result.map(|()| file));
    let places = places.filter(|_| is_read);
    // The session may have ended meanwhile. Then the completions are dropped, which answers the requests too.
    let _ = sender.send(ReloadResult { result, places, completions: wanted.completions });
}

fn finish(state: &mut State, reread: ReloadResult) {
    let rereading = &mut state.session.reload;
    rereading.is_under_way = false;
    if let Some((watch, places)) = rereading.watch.as_mut().zip(reread.places) {
        watch.replace(places);
    }
    if let Some(result) = reread.result {
        let answer = match result {
            Ok(file) => apply_loaded(state, file).map_err(|sentence| (sentence.clone(), sentence)),
            Err(error) => Err((error.one_line(), format!("{error}\nThe previous configuration stays in force."))),
        };
        if let Err((_, text)) = &answer {
            tracing::error!("{text}");
        }
        notices::set_config_error(state, answer.as_ref().err().map(|(sentence, _)| sentence.clone()));
        let answer = answer.map(|()| Response::Done).map_err(|(_, text)| text);
        reread.completions.into_iter().for_each(|completion| completion.finish(answer.clone()));
    }
    // Files may have been saved meanwhile.
    start_next_reload(state);
}

/// Applies a loaded configuration if it differs from the current one.
fn apply_loaded(state: &mut State, file: ConfigFile) -> Result<(), String> {
    let before = std::mem::replace(&mut state.session.config, file);
    let after = state.session.config.config().clone();
    if *before.config() != after {
        let result = apply_config::apply(state, Some(before.config()), &after);
        state.session.reload.refused = result.err();
    }
    state.session.reload.refused.clone().map_or(Ok(()), Err)
}
