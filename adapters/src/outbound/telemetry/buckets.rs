//! Where the histograms' buckets end.

const SHORTEST_SECONDS: f64 = 0.000_5;
const LONGEST_SECONDS: f64 = 120.0;
const RATIO: f64 = 1.35;

/// The upper ends, in seconds, of every histogram of times: 0.5 ms to 120 s, each 1.35 of the one before,
/// so that a p99 read from them is at most a third off.
pub fn seconds_buckets() -> Vec<f64> {
    let mut ends: Vec<f64> = std::iter::successors(Some(SHORTEST_SECONDS), |end| Some(end * RATIO))
        .take_while(|end| *end < LONGEST_SECONDS)
        // Six digits after the point: enough for every step, and labels stay readable.
        .map(|end| (end * 1e6).round() / 1e6)
        .collect();
    ends.push(LONGEST_SECONDS);
    ends
}

/// The upper ends of the histogram of batch sizes.
pub fn batch_size_buckets() -> Vec<f64> {
    (0_u32..=12).map(|power| f64::from(1_u32 << power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_rise_and_no_step_is_wider_than_the_ratio() {
        let ends = seconds_buckets();
        assert!((40..=45).contains(&ends.len()), "{}", ends.len());
        for pair in ends.windows(2) {
            assert!(pair[1] > pair[0] && pair[1] / pair[0] < RATIO + 0.01, "{pair:?}");
        }
        assert_eq!(ends.last(), Some(&LONGEST_SECONDS));
    }
}
