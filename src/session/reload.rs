//! The configuration of a session: read at its start, and again when it was saved, on SIGHUP, or when told to.
//!
//! ```text
//!   saved (inotify) ─┐
//!   SIGHUP ──────────┼─► wanted ─► a thread reads, one at a time ─► put in force, or said on the screen
//!   upbeat msg ──────┘                └► watches what it reads, before it does
//! ```
//!
//! The files are read on a thread of their own: they may lie on a disk that hangs.

use std::os::fd::AsFd;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use anyhow::Context;
use calloop::channel::{Event, Sender, channel};
use calloop::generic::Generic;
use calloop::{Interest, LoopHandle, Mode, PostAction};

use super::settings;
use crate::config::watch::{Changed, Places, Watch};
use crate::config::{ConfigError, ConfigFile};
use crate::ipc::Completion;
use crate::shell::notices;
use crate::state::State;
use upbeat_record::faults::{self, Fault};
use upbeat_record::ipc::message::Response;

/// What is known of files that may have to be read again.
#[derive(Debug, Default)]
pub(super) struct Rereading {
    /// Where what was read goes.
    sender: Option<Sender<Reread>>,
    /// `None` where the system has none for us.
    watch: Option<Watch>,
    is_under_way: bool,
    /// To be done after that.
    wanted: Option<Wanted>,
    /// What the system refused of the configuration in force.
    refused: Option<String>,
}

/// Why files are to be read.
#[derive(Debug, Default)]
struct Wanted {
    changed: Changed,
    /// Whether it is, whatever happened to them.
    is_told: bool,
    /// Who wants to know what came of it.
    completions: Vec<Completion>,
}

/// What reading came to.
#[derive(Debug)]
struct Reread {
    /// `None`: there was no reason to read.
    result: Option<Result<ConfigFile, ConfigError>>,
    places: Option<Places>,
    completions: Vec<Completion>,
}

/// Reads the file that was named, or the one at `default` if it is there, puts it in force, and does so again when it was
/// saved. Where it is wrong the built-in defaults are in force, and the screen says so until it is mended: without a session the
/// user could not mend it. The mistakes are returned, for the log. Only a named file that does not exist is an error.
pub fn start(
    handle: &LoopHandle<'static, State>,
    state: &mut State,
    named: Option<PathBuf>,
    default: Option<PathBuf>,
) -> anyhow::Result<Vec<String>> {
    let mut said = Vec::new();
    let mut watch = Watch::new()
        .inspect_err(|error| tracing::warn!(%error, "the configuration is not read again when it is saved"))
        .ok();
    let mut places = watch.as_ref().map(Watch::places);
    let mut file = ConfigFile::unread(named, default);
    let mut mistake = match file.reload(&mut |path| watch_for(places.as_mut(), path)) {
        Ok(()) => None,
        Err(error) if file.is_missing(&error) => return Err(error.into()),
        Err(error) => {
            said.push(format!("{error}\nThe built-in defaults are in force."));
            state.shell.overlays_mut().note_defaults();
            Some(error.sentence())
        }
    };
    if let Some((watch, places)) = watch.as_mut().zip(places) {
        watch.replace(places);
    }
    let config = file.config().clone();
    state.session.config = file;
    state.session.rereading.watch = watch;
    listen(handle, state)?;
    if let Err(refused) = settings::apply(state, None, &config) {
        said.push(refused.clone());
        state.session.rereading.refused = Some(refused.clone());
        mistake.get_or_insert(refused);
    }
    if mistake.is_some() {
        notices::configuration(state, mistake);
    }
    Ok(said)
}

fn watch_for(places: Option<&mut Places>, path: &std::path::Path) {
    if let Some(places) = places {
        places.watch(path);
    }
}

/// Listens for files that were saved, and for those that were read.
fn listen(handle: &LoopHandle<'static, State>, state: &mut State) -> anyhow::Result<()> {
    let failed = "nobody could be told of a changed configuration";
    let (sender, receiver) = channel();
    handle
        .insert_source(receiver, |event, (), state| {
            if let Event::Msg(reread) = event {
                finish(state, reread);
            }
        })
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context(failed)?;
    state.session.rereading.sender = Some(sender);
    let Some(watch) = &state.session.rereading.watch else { return Ok(()) };
    let source = Generic::new(watch.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    let inserted = handle.insert_source(source, |_, _, state| {
        let changed = state.session.rereading.watch.as_ref().map(Watch::changed).unwrap_or_default();
        if !changed.is_nothing() {
            want(state, Wanted { changed, ..Wanted::default() });
        }
        Ok(PostAction::Continue)
    });
    inserted.map(|_| ()).map_err(|error| anyhow::anyhow!("{error}")).context(failed)
}

/// Begins to read the files again; `completion` is told what came of it.
pub(super) fn begin(state: &mut State, completion: Option<Completion>) {
    want(state, Wanted { is_told: true, completions: completion.into_iter().collect(), ..Wanted::default() });
}

fn want(state: &mut State, wanted: Wanted) {
    let all = state.session.rereading.wanted.get_or_insert_default();
    all.changed.join(wanted.changed);
    all.is_told |= wanted.is_told;
    all.completions.extend(wanted.completions);
    read_on(state);
}

/// Reads what is wanted, unless that is being done.
fn read_on(state: &mut State) {
    let rereading = &mut state.session.rereading;
    let (false, Some(sender)) = (rereading.is_under_way, rereading.sender.clone()) else { return };
    let Some(wanted) = rereading.wanted.take() else { return };
    let file = state.session.config.clone();
    let places = rereading.watch.as_ref().map(Watch::places);
    rereading.is_under_way = true;
    let job = move || read(file, wanted, places, &sender);
    let thread = std::thread::Builder::new().name("configuration".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::error!(%error, "the configuration is not read again");
        state.session.rereading.is_under_way = false;
    }
}

fn read(mut file: ConfigFile, wanted: Wanted, mut places: Option<Places>, sender: &Sender<Reread>) {
    let is_read = wanted.is_told || wanted.changed.counts();
    // A bug in reading is this file's: those that are saved later are read all the same.
    let mut reload = || file.reload(&mut |path| watch_for(places.as_mut(), path));
    let caught = is_read.then(|| std::panic::catch_unwind(AssertUnwindSafe(&mut reload)));
    let result = caught.and_then(|caught| {
        caught.inspect_err(|_| tracing::error!("a bug kept the configuration from being read: it stays as it is")).ok()
    });
    let result = result.map(|result| result.map(|()| file));
    let places = places.filter(|_| is_read);
    // The session may have ended meanwhile: completions are dropped then, which is an answer too.
    let _ = sender.send(Reread { result, places, completions: wanted.completions });
}

fn finish(state: &mut State, reread: Reread) {
    let rereading = &mut state.session.rereading;
    rereading.is_under_way = false;
    if let Some((watch, places)) = rereading.watch.as_mut().zip(reread.places) {
        watch.replace(places);
    }
    if let Some(result) = reread.result {
        let answer = match result {
            Ok(file) => put_in_force(state, file).map_err(|sentence| (sentence.clone(), sentence)),
            Err(error) => Err((error.sentence(), format!("{error}\nWhat was in force stays so."))),
        };
        if let Err((_, text)) = &answer {
            tracing::error!("{text}");
        }
        notices::configuration(state, answer.as_ref().err().map(|(sentence, _)| sentence.clone()));
        let answer = answer.map(|()| Response::Done).map_err(|(_, text)| text);
        reread.completions.into_iter().for_each(|completion| completion.finish(answer.clone()));
    }
    // What was saved meanwhile.
    read_on(state);
}

/// Puts what was read in force, where it is another one.
fn put_in_force(state: &mut State, file: ConfigFile) -> Result<(), String> {
    let before = std::mem::replace(&mut state.session.config, file);
    let after = state.session.config.config().clone();
    if *before.config() != after {
        let result = settings::apply(state, Some(before.config()), &after);
        state.session.rereading.refused = result.err();
    }
    state.session.rereading.refused.clone().map_or(Ok(()), Err)
}
