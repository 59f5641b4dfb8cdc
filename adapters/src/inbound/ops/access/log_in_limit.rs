//! How often tokens may be tried.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;

use governor::clock::MonotonicClock;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

/// How many tokens one address may try in a minute.
pub const TRIES_PER_PEER_AND_MINUTE: NonZeroU32 = NonZeroU32::new(10).expect("not zero");

/// How many tokens may be tried in a minute in all.
pub const TRIES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(100).expect("not zero");

/// Of how many addresses it is known how often they tried. When more try, the rest must wait.
pub const PEERS_MAX: usize = 1_000;

/// Counts tries.
pub(super) struct LogInLimit {
    peers: RateLimiter<IpAddr, HashMapStateStore<IpAddr>, MonotonicClock>,
    all: RateLimiter<NotKeyed, InMemoryState, MonotonicClock>,
}

impl LogInLimit {
    /// Nobody has tried yet.
    pub fn new() -> Self {
        Self {
            peers: RateLimiter::new(
                Quota::per_minute(TRIES_PER_PEER_AND_MINUTE),
                HashMapStateStore::default(),
                MonotonicClock,
            ),
            all: RateLimiter::new(
                Quota::per_minute(TRIES_PER_MINUTE),
                InMemoryState::default(),
                MonotonicClock,
            ),
        }
    }

    /// Whether `peer` may try a token now. This counts as a try. Its own limit comes first, so that one address
    /// does not use up everybody's.
    pub fn allows(&self, peer: Option<IpAddr>) -> bool {
        if self.peers.len() >= PEERS_MAX {
            self.peers.retain_recent();
            if self.peers.len() >= PEERS_MAX {
                return false;
            }
        }
        let peer = network(peer.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
        self.peers.check_key(&peer).is_ok() && self.all.check().is_ok()
    }
}

/// Whoever has one IPv6 address usually has a whole /64 of them.
fn network(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    #[test]
    fn one_address_has_its_limit_and_does_not_use_up_that_of_others() {
        let limit = LogInLimit::new();
        for _ in 0..TRIES_PER_PEER_AND_MINUTE.get() {
            assert!(limit.allows(Some(peer(1))));
        }
        for _ in 0..TRIES_PER_MINUTE.get() {
            assert!(!limit.allows(Some(peer(1))));
        }
        assert!(limit.allows(Some(peer(2))));
    }

    #[test]
    fn many_addresses_have_a_limit_together() {
        let limit = LogInLimit::new();
        let allowed = (0..=u8::MAX).filter(|last| limit.allows(Some(peer(*last)))).count();
        let most = usize::try_from(TRIES_PER_MINUTE.get()).unwrap();
        // While the test runs, one or two more are due.
        assert!((most..most + 10).contains(&allowed), "{allowed}");
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let one: IpAddr = "2001:db8::1".parse().unwrap();
        let two: IpAddr = "2001:db8::ffff:1".parse().unwrap();
        assert_eq!(network(one), network(two));
        assert_ne!(network(one), network("2001:db8:0:1::1".parse().unwrap()));
    }
}
