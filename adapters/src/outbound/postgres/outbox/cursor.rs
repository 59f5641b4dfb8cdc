//! How far a destination has come.
//!
//! PostgreSQL gives a place (`seq`) before the commit. So a lower place may be seen later than a higher one,
//! and a cursor that only moves up would pass over it. The cursor therefore remembers the places that were not
//! there when it moved past them, and reads them again until they cannot come any more: until every transaction
//! that had begun by then has ended. A place that is still missing was rolled back.
//!
//! That holds because a unit of work has written (its claims) before it takes a place: by then it has its
//! transaction number.

use application::ports::unit_of_work::StoreError;

/// How many gaps are remembered. Beyond that the cursor waits until one of them is closed.
const GAPS_MAX: usize = 1_000;

/// Places that were not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    first: i64,
    last: i64,
    /// Every transaction of a lower number had begun when the gap was found, and no other one can fill it.
    transaction: i64,
}

/// A position, and the gaps below it in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    position: i64,
    gaps: Vec<Gap>,
}

/// What was read of the places that the cursor asks for.
pub(super) struct Reading<'a> {
    /// The places that were there, in ascending order.
    pub found: &'a [i64],
    /// There may be more than these, at higher places.
    pub is_cut: bool,
    /// Every transaction of a lower number had ended when it was read.
    pub all_ended_below: i64,
    /// Every transaction of a number from this one on had not begun when it was read.
    pub none_begun_from: i64,
}

impl Cursor {
    /// From what is stored.
    pub(super) fn from_stored(position: i64, gaps: &str) -> Result<Self, StoreError> {
        let gaps: Vec<(i64, i64, i64)> =
            serde_json::from_str(gaps).map_err(|error| StoreError::Permanent(error.into()))?;
        let gaps = gaps.into_iter().map(|(first, last, transaction)| Gap { first, last, transaction });
        Ok(Self { position, gaps: gaps.collect() })
    }

    /// The highest place that was read.
    pub(super) const fn position(&self) -> i64 {
        self.position
    }

    /// The gaps as they are stored.
    pub(super) fn stored_gaps(&self) -> String {
        let gaps: Vec<_> = self.gaps.iter().map(|gap| [gap.first, gap.last, gap.transaction]).collect();
        serde_json::json!(gaps).to_string()
    }

    /// The place up to which there is nothing to come.
    pub(super) fn settled(&self) -> i64 {
        self.gaps.first().map_or(self.position, |gap| gap.first - 1)
    }

    pub(super) const fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// First and last places of what is to be read: the gaps, and everything after the position.
    pub(super) fn ranges(&self) -> (Vec<i64>, Vec<i64>) {
        let firsts = self.gaps.iter().map(|gap| gap.first).chain([self.position.saturating_add(1)]);
        let lasts = self.gaps.iter().map(|gap| gap.last).chain([i64::MAX]);
        (firsts.collect(), lasts.collect())
    }

    /// Whether places are missing among those `found` after the position.
    pub(super) fn finds_gaps(&self, found: &[i64]) -> bool {
        let mut expected = self.position.saturating_add(1);
        found.iter().filter(|place| **place > self.position).any(|place| {
            let is_missing = *place != expected;
            expected = place.saturating_add(1);
            is_missing
        })
    }

    /// The cursor after `reading`, and how many of the places found it has taken: not all when it cannot
    /// remember more gaps.
    pub(super) fn after(&self, reading: &Reading<'_>) -> (Self, usize) {
        let known_to = if reading.is_cut { reading.found.last().copied().unwrap_or(0) } else { i64::MAX };
        let mut gaps: Vec<Gap> = self
            .gaps
            .iter()
            .flat_map(|gap| without(*gap, reading.found))
            .filter(|gap| gap.first > known_to || gap.transaction > reading.all_ended_below)
            .collect();
        let (mut position, mut taken) = (self.position, 0);
        for place in reading.found {
            if *place > position {
                let expected = position.saturating_add(1);
                if *place != expected {
                    if gaps.len() >= GAPS_MAX {
                        break;
                    }
                    gaps.push(Gap { first: expected, last: place - 1, transaction: reading.none_begun_from });
                }
                position = *place;
            }
            taken += 1;
        }
        (Self { position, gaps }, taken)
    }
}

/// What is left of a gap without the places that were found.
fn without(gap: Gap, found: &[i64]) -> Vec<Gap> {
    let mut left = Vec::new();
    let mut first = gap.first;
    for place in found.iter().filter(|place| (gap.first..=gap.last).contains(place)) {
        if first < *place {
            left.push(Gap { first, last: place - 1, ..gap });
        }
        first = place + 1;
    }
    if first <= gap.last {
        left.push(Gap { first, ..gap });
    }
    left
}

#[cfg(test)]
mod tests;
