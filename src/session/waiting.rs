//! What the session sleeps on. Whatever wakes it at each refresh is waited for here, in one system call; all the rest is
//! calloop's loop, which is one more descriptor: with each of its waits it sets a timer and looks after two more descriptors, four
//! system calls that nobody here needs.
//!
//! ```text
//!   epoll ── calloop's loop: signals, sockets, threads that have something to say, timers (`later`)      first
//!         ── the alarm            ── displays            ── input
//!         ── the private socket   ── clients                                                             last
//! ```

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Context as _;
use calloop::{EventLoop, PostAction};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::state::State;

/// What is waited for. In one turn they are heard in this order: what clients say is met with what is known of displays and input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heard {
    /// calloop's loop.
    Rest,
    /// The time of the next thing to do has come.
    Alarm,
    /// Displays, or the windows that stand for them.
    Displays,
    /// This machine's input devices.
    Input,
    /// The private socket.
    Messages,
    /// Clients have said something.
    Clients,
}

/// All of them.
const KINDS: usize = Heard::Clients as usize + 1;

type Act = Box<dyn FnMut(&mut State) -> PostAction>;

/// Each with what is done when it has something to say. There is one of a kind.
#[derive(Default)]
pub struct Waiting {
    epoll: Option<OwnedFd>,
    sources: [Option<(OwnedFd, Act)>; KINDS],
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("epoll", &self.epoll).finish_non_exhaustive()
    }
}

impl Waiting {
    /// From now on `act` is called in each turn in which `source` can be read, until it says that this is enough.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub fn listen(
        &mut self,
        heard: Heard,
        source: impl AsFd,
        act: impl FnMut(&mut State) -> PostAction + 'static,
    ) -> std::io::Result<()> {
        let source = source.as_fd().try_clone_to_owned()?;
        self.forget(heard as usize);
        let epoll = match &self.epoll {
            Some(epoll) => epoll,
            None => self.epoll.insert(epoll::create(epoll::CreateFlags::CLOEXEC)?),
        };
        epoll::add(epoll, &source, EventData::new_u64(heard as u64), EventFlags::IN)?;
        self.sources[heard as usize] = Some((source, Box::new(act)));
        Ok(())
    }

    /// Sleeps until there is something to hear, or for `timeout`. Which of them have something to say.
    fn sleep(&self, timeout: Option<&Timespec>) -> std::io::Result<[bool; KINDS]> {
        let mut says = [false; KINDS];
        let Some(epoll) = &self.epoll else { return Ok(says) };
        let mut room = [std::mem::MaybeUninit::uninit(); KINDS];
        let events = match epoll::wait(epoll, &mut room, timeout) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(says),
            Err(error) => return Err(error.into()),
        };
        events.iter().for_each(|event| says[event.data.u64() as usize] = true);
        Ok(says)
    }

    fn forget(&mut self, heard: usize) {
        if let Some((source, _)) = self.sources[heard].take() {
            self.stop(&source);
        }
    }

    fn stop(&self, source: &OwnedFd) {
        if let Some(epoll) = &self.epoll
            && let Err(error) = epoll::delete(epoll, source)
        {
            tracing::error!(%error, "the session listens to what is gone");
        }
    }
}

/// Runs the session: hears all that there is to hear, `turn`s, and sleeps, until the session ends.
pub(super) fn run(
    event_loop: &mut EventLoop<'static, State>,
    state: &mut State,
    mut turn: impl FnMut(&mut State),
) -> anyhow::Result<()> {
    state.session.waiting.listen(Heard::Rest, &*event_loop, |_| PostAction::Continue).context("no event loop")?;
    while !state.session.is_ending() {
        let says = state.session.waiting.sleep(None).context("the event loop failed")?;
        if says[Heard::Rest as usize] {
            event_loop.dispatch(Some(std::time::Duration::ZERO), state).context("the event loop failed")?;
        }
        hear_all(state, says);
        turn(state);
    }
    Ok(())
}

/// Hears whoever has something to say now, but for calloop's loop: for tests, which have a loop of their own.
///
/// # Errors
/// When the kernel does not say who that is.
pub fn hear_now(state: &mut State) -> std::io::Result<()> {
    let says = state.session.waiting.sleep(Some(&Timespec::default()))?;
    hear_all(state, says);
    Ok(())
}

fn hear_all(state: &mut State, says: [bool; KINDS]) {
    (Heard::Rest as usize + 1..KINDS).filter(|heard| says[*heard]).for_each(|heard| hear(state, heard));
}

/// It is in nobody's hands while it does what it does.
fn hear(state: &mut State, heard: usize) {
    let Some((source, mut act)) = state.session.waiting.sources[heard].take() else { return };
    let action = act(state);
    let waiting = &mut state.session.waiting;
    // It may have put another one in its place.
    if waiting.sources[heard].is_none() {
        waiting.sources[heard] = Some((source, act));
        if action == PostAction::Remove {
            waiting.forget(heard);
        }
    } else {
        waiting.stop(&source);
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

    type Order = Rc<RefCell<Vec<Heard>>>;

    /// A session that listens to each of `kinds`, whose other ends are given back; all have something to say.
    fn world(kinds: &[Heard]) -> (EventLoop<'static, State>, State, Vec<UnixStream>, Order) {
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
            state.session.waiting.listen(kind, &ours, act).unwrap();
            theirs
        });
        let others = others.collect();
        (event_loop, state, others, order)
    }

    #[test]
    fn whatever_speaks_first_clients_are_heard_last_and_all_before_the_turn() {
        let kinds = [Heard::Clients, Heard::Input, Heard::Alarm, Heard::Messages, Heard::Displays];
        let (mut event_loop, mut state, _others, order) = world(&kinds);
        let (end, first) = (event_loop.get_signal(), order.clone());
        let idle = order.clone();
        event_loop.handle().insert_idle(move |_| idle.borrow_mut().push(Heard::Rest));
        end.wakeup();
        let mut turns = 0;
        run(&mut event_loop, &mut state, |state| {
            turns += 1;
            let mut sorted = kinds.to_vec();
            sorted.push(Heard::Rest);
            sorted.sort_unstable();
            assert_eq!(*first.borrow(), sorted);
            state.session.end(ExitStatus::default());
        })
        .unwrap();
        assert_eq!(turns, 1);
        assert!(state.session.waiting.sources[1..].iter().all(Option::is_none), "they had said that it is enough");
    }

    #[test]
    fn who_has_said_that_it_is_enough_wakes_nobody_and_whoever_comes_later_is_heard() {
        let (mut event_loop, mut state, mut others, order) = world(&[Heard::Input]);
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
                order.borrow_mut().push(Heard::Clients);
                PostAction::Continue
            };
            state.session.waiting.listen(Heard::Clients, &ours, act).unwrap();
        })
        .unwrap();
        assert_eq!((turns, order.borrow().clone()), (2, vec![Heard::Input, Heard::Clients]));
    }
}
