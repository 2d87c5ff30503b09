//! A client that sends random requests, valid and invalid, and reconnects after each error.
//!
//! It lives [`CLIENTS`] or `UPBEAT_FUZZ_CLIENTS` times, and then until `UPBEAT_FUZZ_SECONDS` are over. The first seed
//! is 0 or `UPBEAT_FUZZ_SEED`. Another client shows a frame after each life. At the end nothing of the random client is
//! left: no surface and no buffer.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use wayland_client::protocol::wl_subsurface::WlSubsurface;
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::set_stamp;
use crate::fixture::pacing::{UpbeatFramePacingV1, bind, cancel_from, wire};
use crate::fixture::seeds::{first_seed, number};
use crate::fixture::{BUTTON_LEFT, ClientIndex, KEY_A, TestToplevel, TestWorld};
use upbeat_timing::time::Span;

/// Lives of the random client.
const CLIENTS: u64 = 1_000;
/// Requests between two turns of the loop.
const BURST: usize = 12;
/// Bursts in the life of a client that makes no mistake.
const BURSTS: usize = 40;
const SIZE: (i32, i32) = (40, 30);

struct RandomPacingClient {
    rng: StdRng,
    client: ClientIndex,
    window: TestToplevel,
    child: WlSurface,
    subsurface: WlSubsurface,
    objects: Vec<(UpbeatFramePacingV1, WlSurface)>,
    update: u32,
    /// Whether the client may violate the protocol.
    wrong: bool,
}

/// Open memfds of the random client. Other tests in this process open other descriptors.
fn buffers() -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten().map(|entry| std::fs::read_link(entry.path()));
    links.flatten().filter(|link| link.to_string_lossy().contains("random-client")).count()
}

impl RandomPacingClient {
    fn new(world: &mut TestWorld, seed: u64) -> Self {
        let (client, window) = world.open("random", SIZE.0, SIZE.1);
        world.client(client).buffer_name = "random-client";
        let (child, subsurface) = world.client(client).subsurface(&window.surface);
        let mut rng = StdRng::seed_from_u64(seed);
        let wrong = rng.random_bool(0.5);
        RandomPacingClient { rng, client, window, child, subsurface, objects: Vec::new(), update: 0, wrong }
    }

    fn surface(&mut self) -> WlSurface {
        if self.rng.random_bool(0.7) { self.window.surface.clone() } else { self.child.clone() }
    }

    /// The id of a recent target, or any id.
    fn id(&mut self, world: &mut TestWorld) -> u64 {
        let targets = world.client(self.client).targets();
        let any = self.wrong && self.rng.random_bool(0.02);
        if any || targets.is_empty() {
            return self.rng.random_range(0..6);
        }
        let newest = targets.len().saturating_sub(8);
        targets[self.rng.random_range(newest..targets.len())].id
    }

    fn step(&mut self, world: &mut TestWorld) {
        let surface = self.surface();
        let object = (!self.objects.is_empty()).then(|| {
            let index = self.rng.random_range(0..self.objects.len());
            (index, self.objects[index].clone())
        });
        match (self.rng.random_range(0..100), object) {
            (0..8, object)
                if object.is_none()
                    || (self.wrong && self.rng.random_bool(0.1))
                    || self.objects.iter().all(|(_, of)| *of != surface) =>
            {
                self.objects.push((world.client(self.client).pacing(&surface), surface));
            }
            (8..10, Some((index, _))) => self.objects.remove(index).0.destroy(),
            (10..13, Some((_, (object, _)))) => {
                use wire::Pacing;
                let all = [Pacing::Automatic, Pacing::Vsync, Pacing::JustInTime, Pacing::Ahead];
                object.set_pacing(all[self.rng.random_range(0..all.len())]);
            }
            (13..16, Some((_, (object, _)))) => object.set_ahead_limit(self.rng.random_range(0..12)),
            (16..18, Some((_, (object, _)))) => {
                let most = if self.wrong && self.rng.random_bool(0.05) { 8 } else { 4 };
                object.set_options(wire::Wish::from_bits_retain(self.rng.random_range(0..most)));
            }
            (18..40, Some((_, (object, _)))) => object.request_target(),
            (40..70, Some((_, (object, surface)))) => {
                let id = self.id(world);
                // A careful client binds only targets of this object, and each once; this client does not check, so it
                // rarely binds.
                if self.wrong || self.rng.random_bool(0.02) {
                    bind(&object, id);
                }
                self.commit(world, &surface, true);
            }
            (70..76, Some((_, (object, _)))) => {
                let id = self.id(world);
                cancel_from(&object, id);
            }
            (76..84, _) => {
                let attach = self.rng.random_bool(0.7);
                self.commit(world, &surface, attach);
            }
            (84..86, _) => {
                let timer = world.client(self.client).timer(&surface);
                set_stamp(&timer, world.now() + Span::from_millis(self.rng.random_range(0..40)));
                timer.destroy();
                self.commit(world, &surface, true);
            }
            (86..88, _) => {
                let fifo = world.client(self.client).fifo(&surface);
                fifo.set_barrier();
                fifo.wait_barrier();
                self.commit(world, &surface, true);
                fifo.destroy();
            }
            (88..90, _) => self.subsurface.set_sync(),
            (90..92, _) => self.subsurface.set_desync(),
            (92, _) => surface.set_buffer_scale(1),
            (93, _) => self.window.toplevel.set_maximized(),
            (94, _) => self.window.toplevel.unset_maximized(),
            (95, _) => {
                world.client(self.client).ack_newest_configure();
            }
            (96, _) => world.key(KEY_A, true),
            (97, _) => world.key(KEY_A, false),
            (98, _) => world.button(BUTTON_LEFT, self.rng.random_bool(0.5)),
            _ => {}
        }
    }

    fn commit(&mut self, world: &mut TestWorld, surface: &WlSurface, attach: bool) {
        self.update += 1;
        if attach {
            world.client(self.client).draw(surface, self.update, SIZE, self.update);
        }
        surface.commit();
    }

    /// Sends requests until it makes a mistake or [`BURSTS`] are over.
    fn send_random_requests(&mut self, world: &mut TestWorld) {
        for _ in 0..BURSTS {
            for _ in 0..BURST {
                self.step(world);
            }
            world.turn();
            if world.client(self.client).is_disconnected() {
                return;
            }
        }
    }
}

#[test]
fn random_pacing_requests_leave_other_clients_running() {
    let (first, lives) = (first_seed(), number("UPBEAT_FUZZ_CLIENTS", CLIENTS));
    let end = Instant::now() + Duration::from_secs(number("UPBEAT_FUZZ_SECONDS", 0));
    let mut world = TestWorld::rendered();
    let (other, window) = world.open("other", 50, 50);
    let (mut rounds, mut mistakes, mut level) = (0, 0, None);
    while rounds < lives || Instant::now() < end {
        let seed = first + rounds;
        println!("seed {seed}");
        let mut random = RandomPacingClient::new(&mut world, seed);
        random.send_random_requests(&mut world);
        mistakes += u64::from(world.client(random.client).is_disconnected());
        world.kill(random.client);
        world.button(BUTTON_LEFT, false);
        world.key(KEY_A, false);
        let number = rounds as u32 + 1;
        // The window gains and loses the focus in every round: a client that never acknowledges is treated as hung.
        world.client(other).ack_newest_configure();
        world.client(other).draw(&window.surface, number, (50, 50), number);
        window.surface.commit();
        world.run_until(&format!("a frame of the other client after seed {seed}"), |world| {
            world.client(other).count_content_events(|heard| heard.is_end_of_feedback(number)) > 0
        });
        assert_eq!(world.state.surfaces.iter().count(), 1, "surfaces are left after seed {seed}");
        world.client(other).data.content_events.clear();
        rounds += 1;
        // The first rounds fill pools and caches, so count the descriptors after them.
        if rounds == 3 {
            level = Some(buffers());
        }
    }
    // Threads close the descriptors, so wait for them.
    if let Some(level) = level {
        world.run_until("the close of the clients' buffers", |_| buffers() <= level + 8);
    }
    assert!(rounds < 10 || mistakes > 0, "{rounds} rounds without a mistake test nothing");
}
