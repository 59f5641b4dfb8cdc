//! Counts and sizes, for people.

/// The digits of `value` in groups of three.
pub fn count(value: impl Into<i128>) -> String {
    let value = value.into();
    let digits = grouped(&value.unsigned_abs().to_string());
    if value < 0 { format!("\u{2212}{digits}") } else { digits }
}

/// So many things, by the name of one of them: `1 fact`, `2 facts`.
pub fn things(value: usize, name: &str) -> String {
    if value == 1 { format!("1 {name}") } else { format!("{value} {name}s") }
}

/// Digits in groups of three, with commas between.
pub fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many bytes, in a unit that leaves few digits; rounded down.
pub fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    if bytes == 1 {
        "1 byte".to_owned()
    } else if bytes < KIB {
        format!("{bytes} bytes")
    } else if bytes < MIB {
        format!("{}.{} KiB", bytes / KIB, bytes % KIB * 10 / KIB)
    } else {
        format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!([0_i32, 999, 1_000, -1_234_567].map(count), ["0", "999", "1,000", "\u{2212}1,234,567"]);
        assert_eq!(count(i128::MIN).len(), "\u{2212}".len() + 39 + 12);
    }

    #[test]
    fn one_thing_is_not_things() {
        assert_eq!([0, 1, 2].map(|value| things(value, "fact")), ["0 facts", "1 fact", "2 facts"]);
    }

    #[test]
    fn a_size_is_told_in_the_unit_that_suits_it() {
        assert_eq!(
            [0, 1, 1_023, 1_024, 1_536, 5 * 1_048_576].map(size),
            ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "1.5 KiB", "5.0 MiB"]
        );
    }
}
