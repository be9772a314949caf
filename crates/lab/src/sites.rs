//! Pairs of sites that papers measured networks between.

use psijoin_channel::link::Link;

use crate::{
    published,
    quantity::{Place, setting},
};

/// Networks, and where machines are rented at their ends; neither for what depends on no network.
pub(crate) type Places = Vec<(Option<Link>, Option<Place>)>;

/// Returns a rate in Gbit/s between two sites, where the paper gives no round trip.
fn between(gbps: f64, same: bool) -> Link {
    let round_trip_ms = if same { 0.2 } else { 80.0 };
    let text = format!("wan:{}mbps,{round_trip_ms}ms", gbps * 1000.0);
    text.parse()
        .expect("rates between sites are those of links")
}

/// Returns SpOT19's Figure 9: pairs of sites.
fn sites(kind: &str) -> Places {
    let rows = parameters("spot19-fig-9").iter().map(|row| {
        let [sender, receiver, gbps] = ["site_a", "site_b", "gbps"].map(|name| row.get(name));
        let (sender, receiver) = (sender.unwrap_or_default(), receiver.unwrap_or_default());
        let gbps = gbps.and_then(|text| text.parse().ok()).expect("a rate");
        let place = Place {
            prices: "spot19",
            setting: setting(kind, sender, receiver),
        };
        (Some(between(gbps, sender == receiver)), Some(place))
    });
    rows.collect()
}

fn parameters(name: &str) -> &'static [published::Cells] {
    let mut tables = published::parameters().iter();
    let table = tables.find(|table| table.name == name);
    &table.expect("the table is there").rows
}

pub(crate) fn business() -> Places {
    sites("b2b")
}

pub(crate) fn internet() -> Places {
    sites("internet")
}

/// Returns SpOT19's Figure 12: five networks.
pub(crate) fn five_networks() -> Places {
    let rows = parameters("spot19-fig-12-setup").iter().map(|row| {
        let gbps = row.get("gbps").and_then(|text| text.parse().ok());
        let same = row.get("site_a") == row.get("site_b");
        (Some(between(gbps.expect("a rate"), same)), None)
    });
    rows.collect()
}

/// Returns three networks for SpOT19's Figure 1, which does not name its own, within Virginia.
pub(crate) fn three_networks() -> Places {
    let place = Place {
        prices: "spot19",
        setting: setting("b2b", "virginia", "oregon"),
    };
    let networks = ["wan:10gbps,0.2ms", "wan:100mbps,80ms", "wan:10mbps,80ms"];
    let parsed = networks.map(|text| text.parse().expect("a link"));
    parsed.map(|link| (Some(link), Some(place.clone()))).into()
}

/// Returns no network, for what does not depend on one.
pub(crate) fn nowhere() -> Places {
    vec![(None, None)]
}
