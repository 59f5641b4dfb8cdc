//! Which letters an operator means.

use std::fmt;

use crate::dead_letter::{DeadLetterId, LetterFilter};

/// The most letters that can be named by number at once.
pub const SELECTED_IDS_MAX: usize = 1_000;

/// How many numbers of a selection are told in words.
const IDS_TOLD_MAX: usize = 20;

/// Why nothing can be selected so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// A filter that leaves nothing out, or an empty list. Everything must be asked for by name.
    #[error("nothing is asked for; everything is selected only by its name")]
    Empty,
    /// More numbers than one selection may have.
    #[error("names {ids} letters; at most {SELECTED_IDS_MAX} can be named at once, more by a filter")]
    TooMany {
        /// How many were named.
        ids: usize,
    },
}

/// Some letters. Only open ones of them are ever taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Selected);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Selected {
    Ids(Vec<DeadLetterId>),
    Matching(Box<LetterFilter>),
    Everything,
}

impl Selection {
    /// The letters of these numbers; each counts once.
    pub fn of_ids(mut ids: Vec<DeadLetterId>) -> Result<Self, SelectionError> {
        ids.sort_unstable();
        ids.dedup();
        match ids.len() {
            0 => Err(SelectionError::Empty),
            1..=SELECTED_IDS_MAX => Ok(Self(Selected::Ids(ids))),
            ids => Err(SelectionError::TooMany { ids }),
        }
    }

    /// The letters that `filter` leaves over.
    pub fn matching(filter: LetterFilter) -> Result<Self, SelectionError> {
        if filter.is_empty() {
            return Err(SelectionError::Empty);
        }
        Ok(Self(Selected::Matching(Box::new(filter))))
    }

    /// All letters.
    pub const fn everything() -> Self {
        Self(Selected::Everything)
    }

    /// The numbers, where letters are named by number.
    pub fn ids(&self) -> Option<&[DeadLetterId]> {
        match &self.0 {
            Selected::Ids(ids) => Some(ids),
            Selected::Matching(_) | Selected::Everything => None,
        }
    }

    /// The filter; one that leaves nothing out where there is none.
    pub fn filter(&self) -> LetterFilter {
        match &self.0 {
            Selected::Matching(filter) => (**filter).clone(),
            Selected::Ids(_) | Selected::Everything => LetterFilter::default(),
        }
    }
}

/// In words, for the record.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Selected::Everything => f.write_str("everything"),
            Selected::Matching(filter) => filter.fmt(f),
            Selected::Ids(ids) => {
                let told: Vec<String> = ids.iter().take(IDS_TOLD_MAX).map(ToString::to_string).collect();
                write!(f, "{} by number: {}", ids.len(), told.join(", "))?;
                if ids.len() > told.len() { f.write_str(", ...") } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dead_letter::LetterReason;

    fn ids(count: usize) -> Vec<DeadLetterId> {
        (0..count).map(|id| DeadLetterId(i64::try_from(id).unwrap())).collect()
    }

    #[test]
    fn an_empty_filter_or_list_is_refused() {
        assert_eq!(Selection::matching(LetterFilter::default()), Err(SelectionError::Empty));
        assert_eq!(Selection::of_ids(Vec::new()), Err(SelectionError::Empty));
    }

    #[test]
    fn everything_is_selected_by_its_name_only() {
        let everything = Selection::everything();
        assert!(everything.ids().is_none() && everything.filter().is_empty());
        assert_eq!(everything.to_string(), "everything");
    }

    #[test]
    fn a_list_is_bounded_and_counts_each_number_once() {
        assert!(Selection::of_ids(ids(SELECTED_IDS_MAX)).is_ok());
        let too_many = SELECTED_IDS_MAX + 1;
        assert_eq!(Selection::of_ids(ids(too_many)), Err(SelectionError::TooMany { ids: too_many }));
        let twice = [ids(2), ids(2)].concat();
        assert_eq!(Selection::of_ids(twice).unwrap().ids(), Some(ids(2).as_slice()));
    }

    #[test]
    fn a_selection_is_told_in_bounded_words() {
        let filter = LetterFilter { reason: Some(LetterReason::Conflict), ..LetterFilter::default() };
        assert_eq!(Selection::matching(filter).unwrap().to_string(), "reason = conflict");
        assert_eq!(Selection::of_ids(ids(2)).unwrap().to_string(), "2 by number: 0, 1");
        assert!(Selection::of_ids(ids(1_000)).unwrap().to_string().len() < 200);
    }
}
