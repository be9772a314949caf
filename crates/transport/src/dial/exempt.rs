//! The places that are reached without a proxy.

use std::net::IpAddr;

use crate::endpoint::Address;

/// See the [module](self).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Exempt {
    /// This machine is one of them.
    loopback: bool,
    rules: Vec<Rule>,
}

/// Some places, at all ports or one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    All,
    /// A host and all below it, in lower case.
    Domain(String),
    /// Those whose address begins with so many bits.
    Network(IpAddr, u8),
}

impl Exempt {
    /// Reads a list, as `no_proxy` has it. What cannot be read names no place.
    pub(super) fn listed(list: &str) -> Self {
        let rules = list.split(|c: char| c == ',' || c.is_whitespace());
        Self {
            loopback: true,
            rules: rules.filter_map(Rule::read).collect(),
        }
    }

    pub(super) fn holds(&self, place: &Address) -> bool {
        let (host, port) = place.parts();
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|it| it.to_canonical());
        let is_here = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        self.loopback && is_here
            || self.rules.iter().any(|rule| {
                rule.port.is_none_or(|only| only == port) && rule.hosts.hold(&host, address)
            })
    }
}

impl Rule {
    fn read(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        // An IPv6 address has colons, too.
        let (hosts, port) = match text.rsplit_once(':') {
            Some((hosts, port)) if !hosts.contains(':') || hosts.ends_with(']') => {
                (hosts, Some(port.parse().ok()?))
            }
            _ => (text, None),
        };
        let hosts = Hosts::read(hosts)?;
        Some(Self { hosts, port })
    }
}

impl Hosts {
    fn read(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address = address.trim_start_matches('[').trim_end_matches(']');
        match (address.parse::<IpAddr>(), bits) {
            (Ok(address), bits) => {
                let address = address.to_canonical();
                let most = if address.is_ipv4() { 32 } else { 128 };
                let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
                (bits <= most).then_some(Self::Network(address, bits))
            }
            (Err(_), Some(_)) => None,
            (Err(_), None) => {
                let domain = text.trim_start_matches('*').trim_matches('.');
                Some(Self::Domain(domain.to_ascii_lowercase()))
            }
        }
    }

    fn hold(&self, host: &str, address: Option<IpAddr>) -> bool {
        match self {
            Self::All => true,
            Self::Domain(domain) => host
                .strip_suffix(domain.as_str())
                .is_some_and(|before| before.is_empty() || before.ends_with('.')),
            Self::Network(network, bits) => match (network, address) {
                (IpAddr::V4(network), Some(IpAddr::V4(address))) => {
                    let differ = u32::from(*network) ^ u32::from(address);
                    differ.leading_zeros() >= u32::from(*bits)
                }
                (IpAddr::V6(network), Some(IpAddr::V6(address))) => {
                    let differ = u128::from(*network) ^ u128::from(address);
                    differ.leading_zeros() >= u32::from(*bits)
                }
                _ => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_hosts_domains_addresses_and_networks() {
        let list = "Example.org,.corp.example *.lab.example,192.0.2.7,198.51.100.0/24,\
                    2001:db8::/32,[2001:db9::1]:7000,port.example:443,bad/8,bad:port,,10.0.0.0/40";
        let exempt = Exempt::listed(list);
        for place in [
            "example.org:7000",
            "JOIN.example.org:7000",
            "corp.example:1",
            "a.b.corp.example:1",
            "x.lab.example:1",
            "192.0.2.7:1",
            "198.51.100.255:1",
            "[2001:db8:1::1]:1",
            "[2001:db9::1]:7000",
            "port.example:443",
            "localhost:7000",
            "127.3.2.1:7000",
            "[::1]:7000",
            "[::ffff:127.0.0.1]:7000",
        ] {
            assert!(exempt.holds(&place.parse().unwrap()), "{place}");
        }
        for place in [
            "notexample.org:7000",
            "example.org.evil.example:1",
            "192.0.2.8:1",
            "198.51.101.0:1",
            "[2001:db9::1]:7001",
            "port.example:80",
            "10.0.0.1:1",
            "bad:1",
        ] {
            assert!(!exempt.holds(&place.parse().unwrap()), "{place}");
        }
    }

    #[test]
    fn all_are_held_by_a_star_and_none_by_nothing() {
        let place = "join.example.org:7000".parse().unwrap();
        assert!(Exempt::listed("*").holds(&place));
        assert!(!Exempt::listed("").holds(&place));
        let here = "localhost:7000".parse().unwrap();
        assert!(!Exempt::default().holds(&here));
    }
}
