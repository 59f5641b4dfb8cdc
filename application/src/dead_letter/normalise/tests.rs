use super::*;

#[track_caller]
fn alike(messages: &[&str], expected: &str) {
    for message in messages {
        assert_eq!(normalise(message), expected, "{message}");
    }
}

#[test]
fn numbers_are_left_out() {
    alike(
        &["refund of 4999 is more than 100", "refund of 5 is more than -3"],
        "refund of <n> is more than <n>",
    );
    alike(&["at 127.0.0.1:5432", "at 10.1.22.3:80"], "at <n>.<n>.<n>.<n>:<n>");
}

#[test]
fn ids_are_left_out_and_names_are_not() {
    alike(
        &["payment pi_3MtwBwLkdIwHu7ix is unknown", "payment order-77a is unknown"],
        "payment <id> is unknown",
    );
    alike(&["customer cus_QaXbWzYv is gone"], "customer <id> is gone");
    alike(&["payment_intent NotFound sub-merchant"], "payment_intent NotFound sub-merchant");
}

#[test]
fn hashes_and_uuids_are_left_out() {
    alike(
        &["fingerprint 00112233445566778899aabbccddeeff is committed", "fingerprint 0xbeef is committed"],
        "fingerprint <hex> is committed",
    );
    alike(
        &[
            "row 123e4567-e89b-12d3-a456-426614174000 is locked",
            "row 99999999-9999-9999-9999-999999999999 is locked",
        ],
        "row <uuid> is locked",
    );
}

#[test]
fn quoted_texts_are_left_out_however_they_are_quoted() {
    alike(
        &[
            r#"unknown status "paid" here"#,
            r#"unknown status "a \"b\" c" here"#,
            "unknown status `x` here",
            "unknown status 'x y' here",
        ],
        "unknown status <text> here",
    );
}

#[test]
fn a_quoted_text_that_was_cut_goes_to_the_end() {
    alike(&[r#"cannot read "{\"id\": tru"#, r#"cannot read "x""#], "cannot read <text>");
}

#[test]
fn an_apostrophe_begins_no_quoted_text() {
    alike(&["can't find the payment's account"], "can't find the payment's account");
    alike(&["the 'rest"], "the 'rest");
}

#[test]
fn a_list_is_alike_however_long_it_is() {
    alike(&["waits for evt_1, evt_2 and evt_3", "waits for evt_1 and evt_9"], "waits for <id> and <id>");
    alike(&["fields \"a\", \"b\", \"c\"", "fields \"a\""], "fields <text>");
    alike(&["codes 1 2 3", "codes 1"], "codes <n>");
}

#[test]
fn white_space_does_not_matter() {
    alike(&["  the\tstore \n refuses it  ", "the store refuses it"], "the store refuses it");
}

#[test]
fn other_words_are_another_message() {
    assert_ne!(normalise("payment pi_1 is unknown"), normalise("payout pi_1 is unknown"));
}

#[test]
fn a_message_is_bounded_and_cut_between_characters() {
    for message in ["é ".repeat(10_000), "é".repeat(10_000), "\"".repeat(9_999), "<".repeat(10_000)] {
        let normalised = normalise(&message);
        assert!(normalised.len() <= MESSAGE_BYTES_MAX, "{}", normalised.len());
    }
}

#[test]
fn normalising_again_changes_nothing_that_matters() {
    let message = "refund re_1 of 500 USD for \"x\", at 12";
    let once = normalise(message);
    assert_eq!(normalise(&once), once);
}

#[test]
fn nothing_is_alike_to_nothing() {
    alike(&["", "  "], "");
}
