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

/// Takes the deliveries `done` out of `outstanding`, all that the broker waits to hear of, and gives the
/// acknowledgements for them: one for the oldest ones together, as far as no other lies between, and one
/// for each of the rest. `None` where a delivery is not outstanding.
pub(super) fn plan<A>(outstanding: &mut BTreeMap<u64, A>, mut done: BTreeSet<u64>) -> Option<Vec<Ack<A>>> {
    if !done.iter().all(|tag| outstanding.contains_key(tag)) {
        return None;
    }
    let mut acks = Vec::new();
    let mut oldest = None;
    let mut covers = 0;
    while let Some(entry) = outstanding.first_entry()
        && done.remove(entry.key())
    {
        oldest = Some(entry.remove());
        covers += 1;
    }
    acks.extend(oldest.map(|acker| Ack { acker, multiple: covers > 1, covers }));
    acks.extend(done.iter().filter_map(|tag| outstanding.remove(tag)).map(|acker| Ack {
        acker,
        multiple: false,
        covers: 1,
    }));
    Some(acks)
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

    fn planned(outstanding: &[u64], done: &[u64]) -> Option<Vec<(u64, bool, usize)>> {
        let mut outstanding = outstanding.iter().map(|tag| (*tag, *tag)).collect();
        let acks = plan(&mut outstanding, done.iter().copied().collect())?;
        Some(acks.into_iter().map(|ack| (ack.acker, ack.multiple, ack.covers)).collect())
    }

    #[test]
    fn the_oldest_go_together() {
        assert_eq!(planned(&[1, 2, 3, 4], &[3, 1, 2]), Some(vec![(3, true, 3)]));
    }

    #[test]
    fn one_alone_is_not_multiple() {
        assert_eq!(planned(&[5, 6], &[5]), Some(vec![(5, false, 1)]));
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
    fn a_stranger_is_refused() {
        assert_eq!(planned(&[1, 2], &[1, 3]), None);
    }

    #[test]
    fn nothing_done_is_nothing_to_say() {
        assert_eq!(planned(&[1], &[]), Some(vec![]));
    }
}
