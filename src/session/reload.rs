//! Reading the configuration again, on SIGHUP or when told to. The file is read on a thread of its own: it may lie on a
//! disk that hangs.

use anyhow::Context;
use calloop::LoopHandle;
use calloop::channel::{Event, Sender, channel};

use super::settings;
use crate::config::{ConfigError, ConfigFile};
use crate::faults::{self, Fault};
use crate::ipc::Completion;
use crate::ipc::message::Response;
use crate::state::State;

/// What reading came to, and who wants to know.
#[derive(Debug)]
pub(super) struct Reread {
    result: Result<ConfigFile, ConfigError>,
    completion: Option<Completion>,
}

/// Listens for files that were read. The way to say so is put into the session.
pub(super) fn listen(handle: &LoopHandle<'static, State>, state: &mut State) -> anyhow::Result<()> {
    let (sender, receiver) = channel();
    handle
        .insert_source(receiver, |event, (), state| {
            if let Event::Msg(reread) = event {
                finish(state, reread);
            }
        })
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context("nobody could be told of a changed configuration")?;
    state.session.reread = Some(sender);
    Ok(())
}

/// Begins to read the file again; `completion` is told what came of it.
pub(super) fn begin(state: &mut State, completion: Option<Completion>) {
    let Some(sender) = state.session.reread.clone() else { return };
    let file = state.session.config.clone();
    let job = move || read(file, completion, &sender);
    let thread = std::thread::Builder::new().name("configuration".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::error!(%error, "the configuration is not read again");
    }
}

fn read(mut file: ConfigFile, completion: Option<Completion>, sender: &Sender<Reread>) {
    let result = file.reload().map(|()| file);
    // The session may have ended meanwhile: the completion is dropped then, which is an answer too.
    let _ = sender.send(Reread { result, completion });
}

fn finish(state: &mut State, reread: Reread) {
    let answer = match reread.result {
        Ok(file) => {
            let before = std::mem::replace(&mut state.session.config, file);
            let after = state.session.config.config().clone();
            settings::apply(state, Some(before.config()), &after).map(|()| Response::Done)
        }
        Err(error) => Err(format!("{error}\nWhat was in force stays so.")),
    };
    if let Err(sentence) = &answer {
        tracing::error!("{sentence}");
    }
    if let Some(completion) = reread.completion {
        completion.finish(answer);
    }
}
