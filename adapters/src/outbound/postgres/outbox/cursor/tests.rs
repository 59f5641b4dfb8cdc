use super::*;

fn cursor(position: i64, gaps: &str) -> Cursor {
    Cursor::from_stored(position, gaps).unwrap()
}

/// Everything that is there, read while the transactions from 100 on had not begun.
fn reading(found: &[i64]) -> Reading<'_> {
    Reading { found, is_cut: false, all_ended_below: 0, none_begun_from: 100 }
}

#[test]
fn places_in_a_row_only_move_the_position() {
    let (after, taken) = cursor(10, "[]").after(&reading(&[11, 12, 13]));
    assert_eq!((after, taken), (cursor(13, "[]"), 3));
}

#[test]
fn nothing_found_moves_nothing() {
    assert_eq!(cursor(10, "[]").after(&reading(&[])), (cursor(10, "[]"), 0));
}

#[test]
fn missing_places_are_remembered_with_what_had_begun() {
    let found = [12, 13, 17];
    assert!(cursor(10, "[]").finds_gaps(&found) && !cursor(11, "[]").finds_gaps(&[12, 13]));
    let (after, _) = cursor(10, "[]").after(&reading(&found));
    assert_eq!(after, cursor(17, "[[11,11,100],[14,16,100]]"));
    assert_eq!(after.stored_gaps(), "[[11,11,100],[14,16,100]]");
    assert_eq!(after.settled(), 10);
}

#[test]
fn gaps_are_read_again_together_with_what_is_new() {
    let (firsts, lasts) = cursor(17, "[[11,11,100],[14,16,100]]").ranges();
    assert_eq!((firsts, lasts), (vec![11, 14, 18], vec![11, 16, i64::MAX]));
}

#[test]
fn a_place_that_has_come_leaves_the_rest_of_its_gap() {
    let before = cursor(20, "[[11,15,100]]");
    assert_eq!(before.after(&reading(&[13])).0, cursor(20, "[[11,12,100],[14,15,100]]"));
    assert_eq!(before.after(&reading(&[11, 12])).0, cursor(20, "[[13,15,100]]"));
    assert_eq!(before.after(&reading(&[15])).0, cursor(20, "[[11,14,100]]"));
    assert_eq!(before.after(&reading(&[11, 12, 13, 14, 15])).0, cursor(20, "[]"));
}

#[test]
fn a_gap_is_given_up_once_everything_that_had_begun_has_ended() {
    let before = cursor(20, "[[11,12,100],[15,15,101]]");
    let after = |all_ended_below| before.after(&Reading { all_ended_below, ..reading(&[]) }).0;
    assert_eq!(after(99), before);
    assert_eq!(after(100), cursor(20, "[[15,15,101]]"));
    assert_eq!(after(101), cursor(20, "[]"));
    assert_eq!(after(101).settled(), 20);
}

#[test]
fn a_gap_beyond_a_reading_that_was_cut_is_not_given_up() {
    let before = cursor(20, "[[3,4,100],[11,12,100]]");
    let cut = Reading { is_cut: true, all_ended_below: 200, ..reading(&[3]) };
    assert_eq!(before.after(&cut).0, cursor(20, "[[4,4,100],[11,12,100]]"));
}

#[test]
fn a_cursor_that_can_remember_no_more_gaps_stops_before_the_next() {
    let every_other: Vec<i64> = (1..=2_000).map(|number| number * 2).collect();
    let (full, taken) = cursor(0, "[]").after(&reading(&every_other));
    assert_eq!((full.position(), taken), (2_000, GAPS_MAX));
    let (still_full, taken) = full.after(&reading(&[2_001, 2_002, 2_004]));
    assert_eq!((still_full.position(), taken), (2_002, 2));
    // One gap has closed, so there is room for one.
    let (moved, taken) = full.after(&reading(&[1, 2_002, 2_006]));
    assert_eq!((moved.position(), taken), (2_002, 2));
}

#[test]
fn what_is_stored_and_no_list_of_gaps_is_an_error() {
    assert!(Cursor::from_stored(1, "[[1,2]]").is_err());
    assert!(Cursor::from_stored(1, "").is_err());
}
