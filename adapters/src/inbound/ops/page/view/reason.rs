//! Why an event is a dead letter, in words, and what can be done about it.

use application::dead_letter::LetterReason;

/// What a reason means to somebody who is woken by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// What happened, in a few words.
    pub title: &'static str,
    /// What to do.
    pub todo: &'static str,
}

impl Advice {
    /// On letters of that reason.
    pub const fn on(reason: LetterReason) -> Self {
        let (title, todo) = match reason {
            LetterReason::Unreadable => (
                "The message is not one of ours",
                "Look at its bytes. If you can tell which event it is, edit and replay it; otherwise discard it.",
            ),
            LetterReason::Untranslatable => (
                "The payload could not be understood",
                "Mend the source's settings, or take a release that knows this payload, and replay the group.",
            ),
            LetterReason::Conflict => (
                "The same id came with another meaning",
                "Compare it with the event that was applied. Replaying does not help: correct the money at the \
                 provider or by hand, and discard it with the reason.",
            ),
            LetterReason::Refused => (
                "The event is impossible for its payment",
                "Look at the payment: an earlier event may be missing. Ask the provider to send that again, and \
                 then replay this one.",
            ),
            LetterReason::StoreRefused => (
                "The store refused it",
                "Find the rule of the store in the error. Change the rule or the data, and replay the group.",
            ),
            LetterReason::AttemptsExhausted => (
                "It failed as often as an event may",
                "Read the errors of its attempts. Once what they name works again, replay the group.",
            ),
            LetterReason::NeverReady => (
                "What it waited for did not come",
                "Ask the provider to send the payment's earlier events again, and then replay this one.",
            ),
            LetterReason::DeliveryLimit => (
                "It ended the worker again and again",
                "Do not replay it with this release. Look for panics in the worker's log and report them.",
            ),
            LetterReason::Unknown => (
                "A reason that this release does not know",
                "Use the page of the newest release of payonce that runs here.",
            ),
        };
        Self { title, todo }
    }
}
