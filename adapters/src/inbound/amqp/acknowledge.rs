//! Acknowledges in as few frames as the order of the deliveries allows.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use lapin::Acker;
use lapin::options::BasicAckOptions;

/// One acknowledgement to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ack<A> {
    /// The delivery to acknowledge.
    pub acker: A,
    /// Whether it takes all earlier deliveries with it.
    pub multiple: bool,
    /// How many deliveries it covers.
    pub covers: usize,
}

/// Everything that the broker waits to hear of, on one channel.
///
/// A channel numbers its deliveries from 1 on, without a gap, but several consumers on it do not hand them over in
/// that order. So a number that is missing may be of a delivery that is still to come: an acknowledgement
/// that takes all earlier ones with it may never reach beyond it.
#[derive(Debug)]
pub(super) struct Outstanding<A> {
    held: BTreeMap<u64, A>,
    /// The lowest number that was not acknowledged.
    next: u64,
    /// Higher ones that were.
    ahead: BTreeSet<u64>,
}

impl<A> Outstanding<A> {
    /// Of a channel that nothing was delivered on.
    pub(super) const fn new() -> Self {
        Self { held: BTreeMap::new(), next: 1, ahead: BTreeSet::new() }
    }

    /// How many deliveries there are.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// One more delivery.
    pub(super) fn insert(&mut self, tag: u64, acker: A) {
        self.held.insert(tag, acker);
    }

    /// Takes the deliveries `done` out, and gives the acknowledgements for them: one for the oldest ones together,
    /// as far as no other lies between, and one for each of the rest. `None` where a delivery is not outstanding.
    pub(super) fn plan(&mut self, done: &BTreeSet<u64>) -> Option<Vec<Ack<A>>> {
        if !done.iter().all(|tag| self.held.contains_key(tag)) {
            return None;
        }
        let mut acks = Vec::new();
        let mut oldest = None;
        let mut covers = 0;
        loop {
            if done.contains(&self.next) {
                oldest = self.held.remove(&self.next);
                covers += 1;
            } else if !self.ahead.remove(&self.next) {
                break;
            }
            self.next += 1;
        }
        acks.extend(oldest.map(|acker| Ack { acker, multiple: covers > 1, covers }));
        for tag in done.range(self.next..) {
            let acker = self.held.remove(tag)?;
            self.ahead.insert(*tag);
            acks.push(Ack { acker, multiple: false, covers: 1 });
        }
        Some(acks)
    }
}

/// Sends them, and tells how many deliveries were acknowledged in vain: their channel is gone, so the broker hands
/// them out again.
pub(super) async fn send(acks: &[Ack<Acker>]) -> lapin::Result<usize> {
    let sent = join_all(acks.iter().map(|ack| ack.acker.ack(BasicAckOptions { multiple: ack.multiple })));
    let mut lost = 0;
    for (ack, sent) in acks.iter().zip(sent.await) {
        // `false` is the answer of a channel that is gone.
        if !sent? {
            lost += ack.covers;
        }
    }
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Planned = Option<Vec<(u64, bool, usize)>>;

    fn outstanding(tags: &[u64]) -> Outstanding<u64> {
        let mut outstanding = Outstanding::new();
        for tag in tags {
            outstanding.insert(*tag, *tag);
        }
        outstanding
    }

    fn plan(outstanding: &mut Outstanding<u64>, done: &[u64]) -> Planned {
        let acks = outstanding.plan(&done.iter().copied().collect())?;
        Some(acks.into_iter().map(|ack| (ack.acker, ack.multiple, ack.covers)).collect())
    }

    fn planned(tags: &[u64], done: &[u64]) -> Planned {
        plan(&mut outstanding(tags), done)
    }

    #[test]
    fn the_oldest_go_together() {
        assert_eq!(planned(&[1, 2, 3, 4], &[3, 1, 2]), Some(vec![(3, true, 3)]));
    }

    #[test]
    fn one_alone_is_not_multiple() {
        assert_eq!(planned(&[1, 2], &[1]), Some(vec![(1, false, 1)]));
    }

    #[test]
    fn what_is_held_is_not_acknowledged_with_later_ones() {
        assert_eq!(
            planned(&[1, 2, 3, 4, 5], &[1, 2, 4, 5]),
            Some(vec![(2, true, 2), (4, false, 1), (5, false, 1)])
        );
        assert_eq!(planned(&[1, 2], &[2]), Some(vec![(2, false, 1)]));
    }

    #[test]
    fn what_has_not_been_handed_over_yet_is_not_acknowledged_with_later_ones() {
        // 3 was delivered, and another consumer of the channel has yet to hand it over.
        let mut outstanding = outstanding(&[1, 2, 4, 5]);
        assert_eq!(
            plan(&mut outstanding, &[1, 2, 4, 5]),
            Some(vec![(2, true, 2), (4, false, 1), (5, false, 1)])
        );
        for tag in [3, 6, 7] {
            outstanding.insert(tag, tag);
        }
        // What was acknowledged by itself meanwhile is no gap any more.
        assert_eq!(plan(&mut outstanding, &[3, 6]), Some(vec![(6, true, 2)]));
        assert_eq!(plan(&mut outstanding, &[7]), Some(vec![(7, false, 1)]));
        assert!(outstanding.is_empty() && outstanding.ahead.is_empty());
    }

    #[test]
    fn no_order_of_handing_over_and_settling_acknowledges_what_is_not_done() {
        // A broker's view: what an acknowledgement takes off, against what was said to be done.
        let mut chance = 1_u64;
        let mut random = |below: usize| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(chance >> 33).unwrap() % below
        };
        for _ in 0..500 {
            let mut outstanding = Outstanding::new();
            let mut to_come: Vec<u64> = (1..=40).collect();
            let mut unsettled: BTreeSet<u64> = to_come.iter().copied().collect();
            let mut held = Vec::new();
            while !unsettled.is_empty() {
                for _ in 0..=random(6) {
                    if !to_come.is_empty() {
                        let tag = to_come.remove(random(to_come.len().min(5)));
                        outstanding.insert(tag, tag);
                        held.push(tag);
                    }
                }
                let done: BTreeSet<u64> =
                    (0..random(held.len() + 1)).map(|_| held.remove(random(held.len()))).collect();
                let mut taken = BTreeSet::new();
                for ack in outstanding.plan(&done).unwrap() {
                    assert!(unsettled.contains(&ack.acker), "acknowledged twice");
                    let from = if ack.multiple { 0 } else { ack.acker };
                    let covered: Vec<u64> = unsettled.range(from..=ack.acker).copied().collect();
                    assert_eq!(covered.len(), ack.covers);
                    for tag in covered {
                        unsettled.remove(&tag);
                        taken.insert(tag);
                    }
                }
                assert_eq!(taken, done);
            }
        }
    }

    #[test]
    fn a_stranger_is_refused() {
        assert_eq!(planned(&[1, 2], &[1, 3]), None);
    }

    #[test]
    fn nothing_done_is_nothing_to_say() {
        assert_eq!(planned(&[1], &[]), Some(vec![]));
    }
}
