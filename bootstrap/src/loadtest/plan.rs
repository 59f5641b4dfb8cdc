//! What is sent, in which order: events, and copies of events sent before.

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    /// Which event, from 0.
    pub event: u32,
    /// Whether the event has been sent before.
    pub copy: bool,
}

/// All requests, in the order in which they are sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    slots: Vec<Slot>,
    distinct: u32,
}

impl Plan {
    /// `total` requests, of which `percent` of a hundred are copies, spread evenly. The same seed gives the
    /// same plan.
    pub fn new(total: u32, percent: u8, seed: u64) -> Self {
        let copies_before = |slot: u32| u64::from(slot) * u64::from(percent) / 100;
        let mut random = SplitMix(seed);
        let mut distinct = 0;
        let slots = (0..total)
            .map(|slot| {
                let copy = distinct > 0 && copies_before(slot + 1) > copies_before(slot);
                if copy {
                    return Slot { event: distinct - random.distance(distinct), copy };
                }
                distinct += 1;
                Slot { event: distinct - 1, copy }
            })
            .collect();
        Self { slots, distinct }
    }

    pub fn get(&self, index: usize) -> Option<Slot> {
        self.slots.get(index).copied()
    }

    /// How many requests.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// How many distinct events.
    pub const fn distinct(&self) -> u32 {
        self.distinct
    }
}

/// The `SplitMix64` generator: enough for choosing, and the same everywhere.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.next() % u64::from(bound)).unwrap_or(0)
    }

    /// From 1 to `most`, each order of magnitude as likely as the next: a provider sends again both at once
    /// and much later.
    fn distance(&mut self, most: u32) -> u32 {
        let magnitude = self.below(most.ilog2() + 2);
        let reach = 1_u32.checked_shl(magnitude).unwrap_or(most).min(most);
        1 + self.below(reach)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(plan: &Plan) -> impl Iterator<Item = Slot> {
        (0..plan.len()).filter_map(|index| plan.get(index))
    }

    fn copies(plan: &Plan) -> usize {
        slots(plan).filter(|slot| slot.copy).count()
    }

    #[test]
    fn without_duplicates_every_event_is_sent_once_in_order() {
        let plan = Plan::new(100, 0, 1);
        assert!(slots(&plan).map(|slot| slot.event).eq(0..100));
        assert_eq!((copies(&plan), plan.distinct()), (0, 100));
    }

    #[test]
    fn the_share_of_copies_is_what_was_asked_for() {
        for percent in [1, 5, 20, 50, 99] {
            let plan = Plan::new(10_000, percent, 7);
            let share = usize::from(percent) * 100;
            assert_eq!(copies(&plan), share, "{percent} %");
            assert_eq!(plan.distinct() as usize, 10_000 - share);
        }
    }

    #[test]
    fn a_copy_is_of_an_event_sent_before() {
        let plan = Plan::new(5_000, 60, 3);
        let mut sent = 0;
        for slot in slots(&plan) {
            if slot.copy {
                assert!(slot.event < sent);
            } else {
                assert_eq!(slot.event, sent);
                sent += 1;
            }
        }
    }

    #[test]
    fn copies_are_both_near_and_far() {
        let plan = Plan::new(20_000, 50, 1);
        let mut sent = 0;
        let mut distances = Vec::new();
        for slot in slots(&plan) {
            if slot.copy {
                distances.push(sent - slot.event);
            } else {
                sent += 1;
            }
        }
        let near = distances.iter().filter(|&&distance| distance <= 16).count();
        let far = distances.iter().filter(|&&distance| distance > 1_000).count();
        assert!(near > 1_000 && far > 1_000, "{near} near, {far} far");
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(Plan::new(1_000, 30, 42), Plan::new(1_000, 30, 42));
        assert_ne!(Plan::new(1_000, 30, 42), Plan::new(1_000, 30, 43));
    }
}
