//! The session's main loop: sleeps in one epoll on all event sources, and dispatches them in a fixed order.
//!
//! Sources that wake the loop in each refresh are in this epoll directly. All other sources are in calloop's loop,
//! which is one more descriptor of the epoll. Sleeping in calloop would cost four more system calls each time: it sets
//! a timer and handles two more descriptors, which these sources do not need.
//!
//! ```text
//!   epoll ── calloop's loop: signals, sockets, results of threads, timers (`deferred_calls`)   first
//!         ── the timer            ── displays            ── input
//!         ── the private socket   ── clients                                             last
//! ```

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Context as _;
use calloop::{EventLoop, PostAction};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::state::State;

/// An event source of the main loop. In one turn they are dispatched in this order, so that requests of clients are
/// handled with the latest state of displays and input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoopSource {
    /// calloop's loop, for all other sources.
    Calloop,
    /// The timer for the next thing to do.
    Timer,
    /// Displays, or the parent whose windows stand for them.
    Displays,
    /// The input devices of this machine.
    Input,
    /// The private socket of `upbeat msg`.
    PrivateSocket,
    /// Requests of clients (libwayland's epoll).
    Clients,
}

/// Number of kinds of event sources.
const KINDS: usize = LoopSource::Clients as usize + 1;

type SourceCallback = Box<dyn FnMut(&mut State) -> PostAction>;

/// The event sources, at most one of each kind, with their callbacks.
#[derive(Default)]
pub struct LoopSources {
    epoll: Option<OwnedFd>,
    sources: [Option<(OwnedFd, SourceCallback)>; KINDS],
}

impl fmt::Debug for LoopSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopSources").field("epoll", &self.epoll).finish_non_exhaustive()
    }
}

impl LoopSources {
    /// Calls `act` in each turn in which `source` is readable, until it returns [`PostAction::Remove`]. Replaces
    /// the previous source of this kind.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn add_source(
        &mut self,
        kind: LoopSource,
        source: impl AsFd,
        act: impl FnMut(&mut State) -> PostAction + 'static,
    ) -> std::io::Result<()> {
        let source = source.as_fd().try_clone_to_owned()?;
        self.remove_source(kind as usize);
        let epoll = match &self.epoll {
            Some(epoll) => epoll,
            None => self.epoll.insert(epoll::create(epoll::CreateFlags::CLOEXEC)?),
        };
        epoll::add(epoll, &source, EventData::new_u64(kind as u64), EventFlags::IN)?;
        self.sources[kind as usize] = Some((source, Box::new(act)));
        Ok(())
    }

    /// Sleeps until a source is readable, or for `timeout`. Returns which sources are readable.
    fn wait(&self, timeout: Option<&Timespec>) -> std::io::Result<[bool; KINDS]> {
        let mut readable = [false; KINDS];
        let Some(epoll) = &self.epoll else { return Ok(readable) };
        let mut room = [std::mem::MaybeUninit::uninit(); KINDS];
        let events = match epoll::wait(epoll, &mut room, timeout) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(readable),
            Err(error) => return Err(error.into()),
        };
        events.iter().for_each(|event| readable[event.data.u64() as usize] = true);
        Ok(readable)
    }

    fn remove_source(&mut self, kind: usize) {
        if let Some((source, _)) = self.sources[kind].take() {
            self.delete_from_epoll(&source);
        }
    }

    fn delete_from_epoll(&self, source: &OwnedFd) {
        if let Some(epoll) = &self.epoll
            && let Err(error) = epoll::delete(epoll, source)
        {
            tracing::error!(%error, "cannot remove an event source from the epoll");
        }
    }
}

/// Runs the session until it ends: dispatches all readable sources, calls `turn`, and sleeps.
pub(super) fn run(
    event_loop: &mut EventLoop<'static, State>,
    state: &mut State,
    mut turn: impl FnMut(&mut State),
) -> anyhow::Result<()> {
    state
        .session
        .event_sources
        .add_source(LoopSource::Calloop, &*event_loop, |_| PostAction::Continue)
        .context("cannot watch the event loop")?;
    while !state.session.is_ending() {
        let readable = state.session.event_sources.wait(None).context("the event loop failed")?;
        if readable[LoopSource::Calloop as usize] {
            event_loop.dispatch(Some(std::time::Duration::ZERO), state).context("the event loop failed")?;
        }
        dispatch_all(state, readable);
        turn(state);
    }
    Ok(())
}

/// Dispatches all sources that are readable now, except calloop's loop: for tests, which run that loop themselves.
///
/// # Errors
/// `epoll_wait` fails.
pub fn dispatch_now(state: &mut State) -> std::io::Result<()> {
    let readable = state.session.event_sources.wait(Some(&Timespec::default()))?;
    dispatch_all(state, readable);
    Ok(())
}

fn dispatch_all(state: &mut State, readable: [bool; KINDS]) {
    (LoopSource::Calloop as usize + 1..KINDS)
        .filter(|kind| readable[*kind])
        .for_each(|kind| dispatch_source(state, kind));
}

/// Dispatches a source, which is taken out of `state` meanwhile because its callback borrows `state`.
fn dispatch_source(state: &mut State, kind: usize) {
    let Some((source, mut act)) = state.session.event_sources.sources[kind].take() else { return };
    let action = act(state);
    let event_sources = &mut state.session.event_sources;
    // The callback may have registered a new source of the same kind.
    if event_sources.sources[kind].is_none() {
        event_sources.sources[kind] = Some((source, act));
        if action == PostAction::Remove {
            event_sources.remove_source(kind);
        }
    } else {
        event_sources.delete_from_epoll(&source);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::rc::Rc;

    use smithay::reexports::wayland_server::Display;

    use super::*;
    use crate::session::ExitStatus;

    type Order = Rc<RefCell<Vec<LoopSource>>>;

    /// A session with a readable source of each of `kinds`, and their other ends.
    fn world(kinds: &[LoopSource]) -> (EventLoop<'static, State>, State, Vec<UnixStream>, Order) {
        let event_loop = EventLoop::try_new().unwrap();
        let display: Display<State> = Display::new().unwrap();
        let mut state = State::new(display.handle(), event_loop.handle());
        let order = Order::default();
        let others = kinds.iter().map(|kind| {
            let (mut theirs, ours) = UnixStream::pair().unwrap();
            theirs.write_all(b"x").unwrap();
            let (order, kind) = (order.clone(), *kind);
            let act = move |_: &mut State| {
                order.borrow_mut().push(kind);
                PostAction::Remove
            };
            state.session.event_sources.add_source(kind, &ours, act).unwrap();
            theirs
        });
        let others = others.collect();
        (event_loop, state, others, order)
    }

    #[test]
    fn sources_are_dispatched_in_order_before_the_turn() {
        let kinds = [
            LoopSource::Clients,
            LoopSource::Input,
            LoopSource::Timer,
            LoopSource::PrivateSocket,
            LoopSource::Displays,
        ];
        let (mut event_loop, mut state, _others, order) = world(&kinds);
        let (end, first) = (event_loop.get_signal(), order.clone());
        let idle = order.clone();
        event_loop.handle().insert_idle(move |_| idle.borrow_mut().push(LoopSource::Calloop));
        end.wakeup();
        let mut turns = 0;
        run(&mut event_loop, &mut state, |state| {
            turns += 1;
            let mut sorted = kinds.to_vec();
            sorted.push(LoopSource::Calloop);
            sorted.sort_unstable();
            assert_eq!(*first.borrow(), sorted);
            state.session.end(ExitStatus::default());
        })
        .unwrap();
        assert_eq!(turns, 1);
        assert!(
            state.session.event_sources.sources[1..].iter().all(Option::is_none),
            "each callback has returned Remove"
        );
    }

    #[test]
    fn removed_source_does_not_wake_the_loop_and_a_new_source_does() {
        let (mut event_loop, mut state, mut others, order) = world(&[LoopSource::Input]);
        let mut turns = 0;
        run(&mut event_loop, &mut state, |state| {
            turns += 1;
            if turns > 1 {
                return state.session.end(ExitStatus::default());
            }
            let (mut theirs, ours) = UnixStream::pair().unwrap();
            theirs.write_all(b"x").unwrap();
            others.push(theirs);
            let order = order.clone();
            let act = move |_: &mut State| {
                order.borrow_mut().push(LoopSource::Clients);
                PostAction::Continue
            };
            state.session.event_sources.add_source(LoopSource::Clients, &ours, act).unwrap();
        })
        .unwrap();
        assert_eq!((turns, order.borrow().clone()), (2, vec![LoopSource::Input, LoopSource::Clients]));
    }
}
