//! Mail addresses that are one mailbox, by the guidelines of the advertising industry.

use std::borrow::Cow;

/// Returns an address in lower case without the dots, and without the `+` and what follows it,
/// before the `@` of `gmail.com`: as UID2 describes it. All other texts stay.
pub(crate) fn gmail(address: Cow<'_, str>) -> Cow<'_, str> {
    let kept = |name: &str| {
        let untagged = name.split('+').next().unwrap_or_default();
        untagged.replace('.', "")
    };
    renamed(address, &["gmail.com"], kept)
}

/// Returns an address in lower case without the dots before the `@` of `gmail.com` and
/// `googlemail.com`: as Google describes it for lists of customers. All other texts stay.
pub(crate) fn google(address: Cow<'_, str>) -> Cow<'_, str> {
    renamed(address, &["gmail.com", "googlemail.com"], |name| {
        name.replace('.', "")
    })
}

/// Returns the address with what is kept of the name before the `@` of these domains, if anything
/// is.
fn renamed<'a>(
    address: Cow<'a, str>,
    domains: &[&str],
    kept: impl FnOnce(&str) -> String,
) -> Cow<'a, str> {
    match address.rsplit_once('@') {
        Some((name, domain)) if domains.contains(&domain) => match kept(name) {
            nothing if nothing.is_empty() => address,
            kept => format!("{kept}@{domain}").into(),
        },
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_guideline_has_its_own_mailboxes() {
        for (address, by_uid2, by_google) in [
            ("a.n.n+x.y@gmail.com", "ann@gmail.com", "ann+xy@gmail.com"),
            (
                "a.b@googlemail.com",
                "a.b@googlemail.com",
                "ab@googlemail.com",
            ),
            ("a.b+c@x.org", "a.b+c@x.org", "a.b+c@x.org"),
            ("a.b@x.gmail.com", "a.b@x.gmail.com", "a.b@x.gmail.com"),
            ("+tag@gmail.com", "+tag@gmail.com", "+tag@gmail.com"),
            (".@gmail.com", ".@gmail.com", ".@gmail.com"),
            ("gmail.com", "gmail.com", "gmail.com"),
        ] {
            assert_eq!(gmail(address.into()), by_uid2);
            assert_eq!(google(address.into()), by_google);
        }
    }
}
