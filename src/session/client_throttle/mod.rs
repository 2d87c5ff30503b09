//! Reads the requests of clients once in each turn of the loop, and throttles clients that flood. A throttled client is
//! not read during its pause, and then gets a turn when no other client is waiting for the compositor.
//!
//! ```text
//!  flooder   ████████████████████████████████████████████████████████   always something to read
//!  victim         ▽ callback ░░░░░ commit ▆ │latch▕ light ▽ callback
//!  its turns ▆▆▆ ▆                                ▆    ▆     (after a latch, if the next thing to do is far enough)
//! ```

mod client_epoll;
mod read_budget;
mod unreadable_clients;

use std::cell::RefCell;
use std::rc::Rc;

use ahash::HashMap;
use anyhow::Context as _;
use calloop::PostAction;
use smithay::reexports::wayland_server::Display;

use super::event_sources::LoopSource;
use crate::guard::PendingFlush;
use crate::guard::requests::Counting;
use crate::state::State;
use crate::{output, protocol};
use client_epoll::{BudgetOwner, ClientEpoll, EpollClient, ReadableClient};
use read_budget::ReadBudget;
use unreadable_clients::UnreadableClients;
use upbeat_timing::time::{Clock, Instant, Span};

/// A throttled client gets a turn this long after its pause even if other clients are kept waiting by it, so that a
/// busy screen does not starve it. Between two and three refreshes at 60 Hz.
const LONGEST_WAIT: Span = Span::from_millis(40);
/// A turn may take this many times as long as recent turns have taken.
const MARGIN: i64 = 2;
/// The expected cost of a turn falls by this fraction with each cheaper turn. So a turn that was long because another
/// process interrupted it does not delay the next turns for long.
const FORGET: i64 = 8;
/// Upper bound of the expected cost of a turn: twice this fits between a latch and the start of the next frame at 60
/// Hz.
const LONGEST_TURN: Span = Span::from_millis(5);

/// Delay until the first check whether a client with gathered messages reads again: a client that was busy for some
/// refreshes gets them soon. The delay doubles with each check.
const FIRST_LOOK: Span = Span::from_millis(4);
/// Longest time between two checks: a client that is stopped for hours costs ten wake-ups a second.
const LAST_LOOK: Span = Span::from_millis(100);

/// Reads requests from clients and writes events to them.
#[derive(Debug, Default)]
pub struct ClientThrottle {
    display: Option<Rc<RefCell<Display<State>>>>,
    /// Clients with events to be written.
    pending_flush: Option<PendingFlush>,
    /// Time of the next check whether clients with gathered messages read again.
    next_check: Option<Instant>,
    /// Time between the last check and the next.
    check_interval: Span,
    epoll: Option<ClientEpoll>,
    total_budget: ReadBudget,
    /// Reading all clients has recently taken longer than its burst allows: find out which client floods.
    is_flooded: bool,
    /// Time spent reading each source, while some client may flood.
    budgets: HashMap<BudgetOwner, ReadBudget>,
    /// Clients whose messages libwayland cannot read.
    unreadable: UnreadableClients,
    /// Throttled clients, with the end of each pause.
    throttled: Vec<(Instant, ReadableClient)>,
    /// Expected cost of a turn: the recent maximum.
    expected_turn: Span,
}

/// Starts to read clients.
///
/// # Errors
/// The process has no descriptors left.
pub(super) fn listen(state: &mut State, display: Display<State>) -> anyhow::Result<()> {
    let epoll = ClientEpoll::of(&display).context("cannot watch the clients")?;
    let dispatch = |state: &mut State| {
        dispatch_clients(state);
        PostAction::Continue
    };
    state
        .session
        .event_sources
        .add_source(LoopSource::Clients, &display, dispatch)
        .context("cannot watch the clients")?;
    let throttle = &mut state.session.client_throttle;
    throttle.pending_flush = Some(PendingFlush::on(&display.handle()));
    (throttle.epoll, throttle.display) = (Some(epoll), Some(Rc::new(RefCell::new(display))));
    Ok(())
}

/// Reads all readable clients once, and throttles clients that flood. Returns whether a client has sent a request, or
/// an object or a client has ended, since the last call.
fn dispatch_clients(state: &mut State) -> bool {
    let Some(display) = state.session.client_throttle.display.clone() else { return false };
    let before = state.session.client_throttle.clients_to_read();
    let handle = state.display_handle.clone();
    protocol::offer_guard::guard_new_offers(&handle);
    let unread = unreadable_clients::counters_before_read(&handle, &before);
    // Taken after `counters_before_read`: its cost grows with the number of connected clients, and the readable clients
    // must not pay for it.
    let start = state.clock.now();
    {
        let _counting = (!unread.is_empty()).then(|| Counting::on(&handle));
        if let Err(error) = display.borrow_mut().dispatch_clients(state) {
            tracing::error!(%error, "cannot read clients");
        }
    }
    // A client that is disconnected from here on is cleaned up by the next read.
    let has_requests = state.session.client_throttle.pending_flush.as_ref().is_none_or(PendingFlush::take_has_requests);
    let end = state.clock.now();
    let costs: Vec<_> = unread.iter().map(unreadable_clients::BeforeRead::cost).collect();
    state.session.client_throttle.unreadable.check_after_read(&handle, unread, end);
    state.session.client_throttle.charge(&before, &costs, start, end);
    has_requests
}

/// Writes the events of this turn to the clients. Returns the time of the next check on gathered messages if it is new,
/// that is, if [`next_gathered_check`] has not returned it yet.
pub(super) fn flush_clients(state: &mut State) -> Option<Instant> {
    let throttle = &mut state.session.client_throttle;
    let unsent = throttle.pending_flush.as_mut()?;
    unsent.flush();
    if !unsent.has_gathered() || throttle.next_check.is_some() {
        return None;
    }
    throttle.check_interval = FIRST_LOOK;
    throttle.next_check = Some(state.clock.now() + FIRST_LOOK);
    throttle.next_check
}

/// Writes gathered messages to clients that read again, if a check is due.
pub(super) fn flush_gathered(state: &mut State) {
    let throttle = &mut state.session.client_throttle;
    if let Some(unsent) = &mut throttle.pending_flush
        && throttle.next_check.is_some_and(|at| at <= state.clock.now())
    {
        unsent.flush_gathered();
        throttle.check_interval = (throttle.check_interval * 2).min(LAST_LOOK);
        throttle.next_check = unsent.has_gathered().then(|| state.clock.now() + throttle.check_interval);
    }
}

/// Time of the next check whether clients with gathered messages read again.
pub(super) fn next_gathered_check(state: &State) -> Option<Instant> {
    state.session.client_throttle.next_check
}

/// Destroys objects that an event has ended (callbacks, presentation feedback), if there are any. This also reads
/// clients: returns whether there are new requests to act on.
///
/// The server library destroys these objects when it next reads clients, and wakes the loop for this a millisecond
/// after the events are sent. This would cost two wake-ups in each refresh of each client, so it is done before.
pub(super) fn destroy_ended_objects(state: &mut State) -> bool {
    state.outputs.take_objects_ended() && dispatch_clients(state)
}

impl ClientThrottle {
    /// The clients about to be read, while some client may flood. Otherwise empty.
    fn clients_to_read(&self) -> Vec<ReadableClient> {
        let epoll = self.epoll.as_ref().filter(|_| self.is_flooded || !self.budgets.is_empty());
        epoll.map(ClientEpoll::readable_clients).unwrap_or_default()
    }

    /// Accounts for a read of the clients `before`, from `start` to `end`. A client pays for the time of its own
    /// requests (`costs`); clients whose cost is unknown each pay an equal share of the whole time. A client that
    /// has exceeded its share is throttled, and so are all connections of its process.
    fn charge(&mut self, before: &[ReadableClient], costs: &[(EpollClient, Span)], start: Instant, end: Instant) {
        self.is_flooded = self.total_budget.charge_all(start, end);
        let Some(epoll) = self.epoll.as_ref().filter(|_| !before.is_empty()) else { return };
        let each = (end - start) / before.len() as i64;
        for (index, ReadableClient { client, owner: source, .. }) in before.iter().enumerate() {
            let its = costs.iter().find(|(known, _)| known == client).map_or(each, |(_, took)| *took);
            let pause = self.budgets.entry(*source).or_default().charge_client(end - its, end);
            let Some(until) = pause.filter(|_| epoll.mute(*client)) else { continue };
            // The connections of a process share one budget, so only one of them is read at a time. The
            // other connections wait as long, and are read first after it.
            let others = self.throttled.iter_mut().filter(|(_, other)| other.owner == *source);
            others.for_each(|(turn, _)| *turn = (*turn).max(until));
            self.throttled.push((until + Span::from_nanos(index as i64 + 1), before[index]));
            self.expected_turn = (end - start).max(self.expected_turn - self.expected_turn / FORGET).min(LONGEST_TURN);
        }
        self.budgets.retain(|_, account| !account.is_expired(end));
        if !self.is_flooded && !self.budgets.values().any(ReadBudget::is_on_probation) {
            self.budgets.clear();
        }
    }

    /// The end of the first pause, with its index in the list.
    fn next_turn(&self) -> Option<(Instant, usize)> {
        self.throttled.iter().enumerate().map(|(index, (until, _))| (*until, index)).min()
    }

    /// Reads throttled clients again whose pause is over, up to the first with something to read. Returns whether
    /// there was such a client.
    fn resume_due(&mut self, now: Instant) -> bool {
        let Some(epoll) = &self.epoll else { return false };
        while let Some((_, index)) = self.next_turn().filter(|(until, _)| *until <= now) {
            let (_, ReadableClient { client, owner: source, .. }) = self.throttled.swap_remove(index);
            if epoll.unmute(client) && epoll.readable().contains(&client) {
                return true;
            }
            // A client that sent nothing during its pause only sent a lot once, as a starting program does.
            // Or it is gone.
            if !self.throttled.iter().any(|(_, other)| other.owner == source) {
                self.budgets.remove(&source);
            }
        }
        false
    }
}

/// Gives a throttled client a turn if it is due; otherwise returns when it will be. `next`: the time of the next other
/// work.
pub(super) fn read_throttled(state: &mut State, next: Option<Instant>) -> Option<Instant> {
    let throttle = &state.session.client_throttle;
    let (until, _) = throttle.next_turn()?;
    let now = state.clock.now();
    if now < until {
        return Some(until);
    }
    let latest = until + LONGEST_WAIT;
    let has_time = next.is_none_or(|next| next - now > throttle.expected_turn * MARGIN);
    if now < latest && (!has_time || output::clients::pacing::is_any_client_drawing(state, now)) {
        return Some(latest);
    }
    let throttle = &mut state.session.client_throttle;
    if throttle.resume_due(now) { None } else { throttle.next_turn().map(|(until, _)| until) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use super::*;

    const START: Instant = Instant::from_nanos(1_000_000_000);
    /// Longer than any client may be read at once.
    const LONG: Span = Span::from_millis(5);

    /// A display with one client that was just read for a long time.
    fn flooded() -> (Display<()>, UnixStream, ClientThrottle, Instant) {
        let mut display = Display::<()>::new().unwrap();
        let (mut client, ours) = UnixStream::pair().unwrap();
        display.handle().insert_client(ours, Arc::new(())).unwrap();
        let epoll = Some(ClientEpoll::of(&display).unwrap());
        let mut throttle = ClientThrottle { epoll, is_flooded: true, ..ClientThrottle::default() };
        speak(&mut client);
        let before = throttle.clients_to_read();
        display.dispatch_clients(&mut ()).unwrap();
        throttle.charge(&before, &[], START, START + LONG);
        let (until, _) = throttle.next_turn().expect("it is throttled");
        (display, client, throttle, until)
    }

    /// The readable connections, as if they all came from process `pid`.
    fn of_process(throttle: &ClientThrottle, pid: i32) -> Vec<ReadableClient> {
        let source = BudgetOwner::Process(rustix::process::Pid::from_raw(pid).unwrap());
        throttle.clients_to_read().into_iter().map(|suspect| ReadableClient { owner: source, ..suspect }).collect()
    }

    #[test]
    fn sixteen_connections_of_one_process_have_the_share_of_one() {
        let mut display = Display::<()>::new().unwrap();
        let mut clients: Vec<_> = (0..16)
            .map(|_| {
                let (client, ours) = UnixStream::pair().unwrap();
                display.handle().insert_client(ours, Arc::new(())).unwrap();
                client.set_nonblocking(true).unwrap();
                client
            })
            .collect();
        let epoll = Some(ClientEpoll::of(&display).unwrap());
        let mut throttle = ClientThrottle { epoll, is_flooded: true, ..ClientThrottle::default() };
        let each = Span::from_micros(300);
        let (mut now, mut read) = (START, Span::ZERO);
        for _ in 0..20_000 {
            if now >= START + Span::from_seconds(1) {
                break;
            }
            // The socket of a client that is not read becomes full.
            clients.iter_mut().for_each(|client| _ = client.write(&SYNC.map(u32::to_ne_bytes).concat()));
            let before = of_process(&throttle, 4_711);
            display.dispatch_clients(&mut ()).unwrap();
            if !before.is_empty() {
                let took = each * before.len() as i64;
                throttle.is_flooded = true;
                throttle.charge(&before, &[], now, now + took);
                (now, read) = (now + took, read + took);
            }
            if let Some((until, _)) = throttle.next_turn() {
                now = now.max(until);
                throttle.resume_due(now);
            }
        }
        assert!(read < Span::from_millis(150), "an eighth of the time: {read}");
        assert!(read > Span::from_millis(5), "but not nothing: {read}");
    }

    #[test]
    fn only_the_client_with_an_unreadable_message_is_disconnected() {
        let mut display = Display::<()>::new().unwrap();
        let handle = display.handle();
        let [mut bad, mut good] = [(); 2].map(|()| {
            let (client, ours) = UnixStream::pair().unwrap();
            client.set_nonblocking(true).unwrap();
            crate::guard::connection::connect(&mut display.handle(), ours, &std::sync::Arc::default()).unwrap();
            client
        });
        let epoll = Some(ClientEpoll::of(&display).unwrap());
        let mut throttle = ClientThrottle { epoll, is_flooded: true, ..ClientThrottle::default() };
        // The header of a request of 65 532 bytes, and the first 8 000 bytes of its body.
        bad.write_all(&[1, 0xfffc_0000_u32].map(u32::to_ne_bytes).concat()).unwrap();
        bad.write_all(&[0; 8_000]).unwrap();
        /// Duration of a turn of a busy loop.
        const TURN: Span = Span::from_millis(15);
        let mut turns = 0;
        while throttle.clients_to_read().iter().any(|_| turns < 200) {
            speak(&mut good);
            let unread = unreadable_clients::counters_before_read(&handle, &throttle.clients_to_read());
            let counting = Counting::on(&handle);
            display.dispatch_clients(&mut ()).unwrap();
            drop(counting);
            throttle.unreadable.check_after_read(&handle, unread, Instant::ZERO + TURN * turns);
            display.flush_clients().unwrap();
            turns += 1;
        }
        assert!(turns < 100, "there is still something to read");
        let mut received = Vec::new();
        let _ = std::io::Read::read_to_end(&mut bad, &mut received);
        assert!(String::from_utf8_lossy(&received).contains("a message of more than 4096 bytes"), "{received:?}");
        let mut received = [0; 12];
        std::io::Read::read_exact(&mut good, &mut received).expect("the other client is answered");
    }

    /// `wl_display.sync`.
    const SYNC: [u32; 3] = [1, 12 << 16, 2];

    fn speak(client: &mut UnixStream) {
        SYNC.iter().for_each(|word| client.write_all(&word.to_ne_bytes()).unwrap());
    }

    #[test]
    fn flooding_client_gets_a_turn_after_its_pause_and_is_paused_again() {
        let (_display, mut client, mut throttle, until) = flooded();
        speak(&mut client);
        assert!(!throttle.resume_due(START + LONG), "it pauses");
        assert_eq!(throttle.clients_to_read(), []);
        assert!(throttle.resume_due(until));
        let before = throttle.clients_to_read();
        assert_eq!(before.len(), 1);
        throttle.charge(&before, &[], until, until + Span::from_millis(1));
        assert!(throttle.next_turn().is_some_and(|(next, _)| next > until + Span::from_millis(1)));
    }

    #[test]
    fn client_with_a_single_burst_is_read_normally_after_its_pause() {
        let (_display, mut client, mut throttle, until) = flooded();
        assert!(!throttle.resume_due(until), "it has sent nothing");
        assert!(throttle.throttled.is_empty() && throttle.budgets.is_empty());
        speak(&mut client);
        throttle.is_flooded = true;
        let before = throttle.clients_to_read();
        throttle.charge(&before, &[], until, until + Span::from_millis(1));
        assert!(throttle.throttled.is_empty(), "it is not throttled");
    }

    #[test]
    fn client_is_not_throttled_for_slow_requests_of_another_client() {
        let display = Display::<()>::new().unwrap();
        let mut clients = [(); 2].map(|()| {
            let (client, ours) = UnixStream::pair().unwrap();
            display.handle().insert_client(ours, Arc::new(())).unwrap();
            client
        });
        let epoll = Some(ClientEpoll::of(&display).unwrap());
        let mut throttle = ClientThrottle { epoll, is_flooded: true, ..ClientThrottle::default() };
        clients.iter_mut().for_each(speak);
        let before = throttle.clients_to_read();
        let costs = [(before[0].client, Span::from_millis(400)), (before[1].client, Span::from_micros(100))];
        throttle.charge(&before, &costs, START, START + Span::from_millis(401));
        let muted: Vec<_> = throttle.throttled.iter().map(|(_, suspect)| suspect.client).collect();
        assert_eq!(muted, [before[0].client]);
    }
}
