//! Which letters are meant, on the command line.

use anyhow::Context as _;
use application::dead_letter::{FailureGroup, LetterFilter, LetterReason};
use domain::{EventId, EventKind, MerchantId, PaymentId, SourceName, Timestamp};

/// Letters of which all that is given is true.
#[derive(Debug, Default, clap::Args)]
pub(super) struct FilterArgs {
    /// Where the event came in
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// The event's id there
    #[arg(long, value_name = "ID")]
    event: Option<String>,
    /// The provider's name of what happened, such as charge.refunded
    #[arg(long)]
    kind: Option<String>,
    /// Why it was given up, such as `refused` or `attempts_exhausted`
    #[arg(long)]
    reason: Option<String>,
    /// Which letters failed alike, as `dead-letters groups` shows it
    #[arg(long)]
    group: Option<String>,
    /// The payment or payout
    #[arg(long, value_name = "ID")]
    payment: Option<String>,
    /// Whose money it is
    #[arg(long)]
    account: Option<String>,
    /// Given up then or later: 2026-11-29T20:00:00Z, or how long ago: 90m, 3h
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Given up before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl FilterArgs {
    /// The filter; `now` is what times that are told as an age count back from.
    pub(super) fn filter(&self, now: Timestamp) -> anyhow::Result<LetterFilter> {
        let reason = |label: &String| {
            let known = || LetterReason::ALL.map(LetterReason::as_str).join(", ");
            LetterReason::from_label(label)
                .with_context(|| format!("--reason is {label:?}; there are {}", known()))
        };
        let group = |text: &String| {
            FailureGroup::parse(text)
                .with_context(|| format!("--group is {text:?}; a group has 32 hexadecimal digits"))
        };
        Ok(LetterFilter {
            source: self.source.as_deref().map(SourceName::parse).transpose().context("--source")?,
            event_id: self.event.as_deref().map(EventId::parse).transpose().context("--event")?,
            kind: self.kind.as_deref().map(EventKind::parse).transpose().context("--kind")?,
            reason: self.reason.as_ref().map(reason).transpose()?,
            group: self.group.as_ref().map(group).transpose()?,
            from: self.from.as_deref().map(|text| moment(text, now)).transpose().context("--from")?,
            until: self.until.as_deref().map(|text| moment(text, now)).transpose().context("--until")?,
            account: self.account.as_deref().map(MerchantId::parse).transpose().context("--account")?,
            payment: self.payment.as_deref().map(PaymentId::parse).transpose().context("--payment")?,
            copies_of: None,
        })
    }
}

/// A moment as RFC 3339 tells it, or as an age.
fn moment(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp::from_micros(moment.as_microsecond()));
    }
    let age: jiff::SignedDuration = text.parse().with_context(|| {
        format!("{text:?} is neither a time such as 2026-11-29T20:00:00Z nor an age such as 90m")
    })?;
    let micros = i64::try_from(age.as_micros()).context("the age is too long")?;
    Ok(Timestamp::from_micros(now.as_micros().saturating_sub(micros)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000_000_000);

    #[test]
    fn a_time_is_told_as_such_or_as_an_age() {
        assert_eq!(moment("1970-01-01T00:00:01Z", NOW).unwrap(), Timestamp::from_micros(1_000_000));
        assert_eq!(moment("90m", NOW).unwrap().as_micros(), NOW.as_micros() - 5_400_000_000);
        assert!(moment("yesterday", NOW).is_err());
    }

    #[test]
    fn what_is_not_known_is_named_with_what_is() {
        let args = FilterArgs { reason: Some("odd".to_owned()), ..FilterArgs::default() };
        let error = args.filter(NOW).unwrap_err().to_string();
        assert!(error.contains("\"odd\"") && error.contains("attempts_exhausted"), "{error}");
    }

    #[test]
    fn nothing_given_leaves_nothing_out() {
        assert!(FilterArgs::default().filter(NOW).unwrap().is_empty());
    }
}
