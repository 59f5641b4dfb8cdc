//! The limits of a quarantine.

use application::ports::quarantine::RejectedRequest;

/// How many requests may wait to be kept. More are let go: nobody shall fill the memory with wrong signatures.
pub(super) const WAITING_MAX: usize = 64;

/// The room that a request takes beside its own bytes.
const OVERHEAD_BYTES: usize = 256;

/// How much is kept. The newest win.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuarantineLimits {
    /// The most requests.
    pub entries_max: u32,
    /// The most bytes of all requests together; a single request that is larger is not kept.
    pub bytes_max: u64,
}

/// How much room the request takes.
pub(super) fn bytes_of(request: &RejectedRequest) -> u64 {
    let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    let bytes = OVERHEAD_BYTES + headers + request.query.len() + request.body.len();
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
