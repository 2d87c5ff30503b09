//! In every sequence of operations, frames come out once and in order, and no frame is lost.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum QueueEvent {
    Choose,
    Submit,
    Poll(bool),
    Drawn,
    Promote,
    Present,
    Lose,
    Supersede,
    Withdraw(usize, Option<usize>),
    Drop,
}

fn event() -> impl Strategy<Value = QueueEvent> {
    prop_oneof![
        2 => Just(QueueEvent::Choose),
        2 => Just(QueueEvent::Submit),
        6 => any::<bool>().prop_map(QueueEvent::Poll),
        4 => Just(QueueEvent::Drawn),
        3 => Just(QueueEvent::Promote),
        4 => Just(QueueEvent::Present),
        1 => Just(QueueEvent::Lose),
        1 => Just(QueueEvent::Supersede),
        1 => (0_usize..3, prop::option::of(0_usize..3)).prop_map(|(kept, stays)| QueueEvent::Withdraw(kept, stays)),
        1 => Just(QueueEvent::Drop),
    ]
}

/// A queue whose content counts its live instances, and the frames that came out of it.
struct QueueWorld {
    queue: FrameQueue<u64>,
    refresh: u64,
    chosen: Vec<FrameId>,
    gone: Vec<FrameId>,
    shown: Vec<RefreshIndex>,
}

impl QueueWorld {
    fn next(&mut self) -> RefreshIndex {
        self.refresh += 1;
        RefreshIndex(self.refresh)
    }

    fn out(&mut self, frame: Option<QueuedFrame<u64>>) {
        if let Some(frame) = frame {
            assert_eq!(frame.content, frame.id.0, "what travels with a frame is its own");
            self.gone.push(frame.id);
        }
    }

    /// Whether a latch may choose: frames in the display are shown first.
    fn is_free(&self) -> bool {
        self.queue.composing().is_none() && self.queue.in_flight().next().is_none() && self.queue.next_held().is_none()
    }

    fn first(&self, stage: FrameStage) -> Option<FrameId> {
        self.queue.at(stage).next().map(|frame| frame.id)
    }

    fn handle(&mut self, event: QueueEvent) {
        match event {
            QueueEvent::Choose if self.is_free() => {
                let (next, target) = (self.queue.next_frame(), self.next());
                self.queue.discard_where(QueuedFrame::is_ahead);
                self.chosen.push(self.queue.choose(target, Instant::ZERO, next.0));
            }
            QueueEvent::Submit => {
                if let Some((id, target)) = self.queue.composing().map(|frame| (frame.id, frame.target)) {
                    self.queue.mark_in_flight(id, target, FlightTimes::default());
                }
            }
            QueueEvent::Poll(record) => self.poll(QueuePermissions { hold: 4, draw: true, record }),
            QueueEvent::Drawn => {
                let drawing = self.queue.at(FrameStage::Drawing).find(|frame| frame.is_ahead()).map(|frame| frame.id);
                drawing.map(|id| self.queue.mark_drawn(id, Span::ZERO));
            }
            QueueEvent::Promote if self.queue.in_flight().next().is_none() => {
                if let Some((id, target)) = self.queue.next_held().map(|frame| (frame.id, frame.target)) {
                    self.queue.mark_in_flight(id, target, FlightTimes::default());
                }
            }
            QueueEvent::Present => {
                if let Some(id) = self.first(FrameStage::InFlight) {
                    let frame = self.queue.take(id);
                    self.shown.extend(frame.as_ref().map(|frame| frame.target));
                    self.out(frame);
                }
            }
            QueueEvent::Lose => {
                let lost =
                    self.first(FrameStage::Withdrawn { surely: true }).or_else(|| self.first(FrameStage::InFlight));
                let frame = lost.and_then(|id| self.queue.take(id));
                self.out(frame);
            }
            QueueEvent::Supersede => {
                self.queue.supersede();
            }
            QueueEvent::Withdraw(kept, stays) => {
                self.queue.withdraw(kept);
                let first = self.first(FrameStage::Withdrawn { surely: false });
                self.poll(QueuePermissions::default());
                let stays = first.zip(stays).map(|(first, stays)| FrameId(first.0 + stays as u64));
                self.queue.withdrawn(stays);
            }
            QueueEvent::Drop => self.queue.discard_where(QueuedFrame::is_ahead),
            QueueEvent::Choose | QueueEvent::Promote => {}
        }
    }

    fn poll(&mut self, may: QueuePermissions) {
        while let Some(step) = self.queue.poll(may) {
            match step {
                FrameOperation::Release(frame) => self.out(Some(frame)),
                FrameOperation::Withdraw(_) => {}
                FrameOperation::HandOver(id) => self.queue.mark_held(id, Instant::ZERO),
                FrameOperation::Draw(id) => self.queue.mark_drawing(id),
                FrameOperation::Record => {
                    let (next, target) = (self.queue.next_frame(), self.next());
                    let id = self.queue.record(target, next.0);
                    self.chosen.push(id);
                    self.queue.mark_recorded(id);
                }
            }
        }
    }

    fn check(&self) {
        let ids: Vec<FrameId> = self.queue.iter().map(|frame| frame.id).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "frames are in the order in which they were chosen");
        assert!(self.queue.phase() == PreExecutorStage::Sync || self.queue.depth() < self.queue.settings().frames());
        assert!(self.queue.at(FrameStage::Drawing).filter(|frame| frame.is_ahead()).count() <= 1, "one renderer");
        assert!(self.queue.pixel_buffers() <= self.queue.settings().pixel_frames(), "no more buffers than there are");
        let display: Vec<_> = self.queue.at(FrameStage::Held).map(|frame| frame.target).collect();
        assert!(display.windows(2).all(|pair| pair[0] < pair[1]), "each is held for a refresh of its own");
    }
}

proptest! {
    #[test]
    fn every_frame_comes_out_once_and_refreshes_are_shown_in_order(
        events in prop::collection::vec(event(), 1..300),
        run_ahead in 0_u8..4,
    ) {
        let settings = AheadSettings::buffers(5).with_run_ahead(run_ahead);
        let mut world = QueueWorld {
            queue: FrameQueue::new(settings, FrameTrigger::Ahead),
            refresh: 0,
            chosen: Vec::new(),
            gone: Vec::new(),
            shown: Vec::new(),
        };
        world.queue.begin(RefreshIndex(0));
        for event in events {
            world.handle(event);
            world.check();
        }
        prop_assert!(world.shown.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", world.shown);
        // At the end the renderer and the display return their frames.
        world.queue.discard_where(|_| true);
        let drawing: Vec<FrameId> = world.queue.at(FrameStage::Drawing).map(|frame| frame.id).collect();
        drawing.into_iter().for_each(|id| {
            world.queue.mark_drawn(id, Span::ZERO);
        });
        let left: Vec<FrameId> = world.queue.iter().map(|frame| frame.id).collect();
        for id in left {
            let frame = world.queue.take(id);
            world.out(frame);
        }
        world.poll(QueuePermissions::default());
        world.gone.sort_unstable();
        prop_assert_eq!(world.gone, world.chosen, "each came out once");
    }
}
