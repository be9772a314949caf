"""How many customers does a shop share with each of its partners? It asks all of them at the same
time.

All parties are on this machine here, so that the example runs by itself. A real shop has a
`psijoin.Session` for each partner.
"""

import asyncio

import psijoin

SHOP = ["ann@x.org", "bob@x.org", "eve@x.org", "joe@x.org"]
PARTNERS = {
    "newspaper": ["eve@x.org", "zoe@x.org", "joe@x.org"],
    "cinema": ["ann@x.org", "bob@x.org", "joe@x.org"],
}
LEAST = 2
"""Fewer shared customers than this are not told: both sides say so."""


async def shared(partner: str) -> int:
    """Counts customers that the shop shares with a partner. Joins wait, so each is in a thread."""
    theirs = PARTNERS[partner]
    with psijoin.local_pair(progress=False) as (shop, other):
        counted, _ = await asyncio.gather(
            asyncio.to_thread(lambda: shop.count(SHOP, min_intersection=LEAST)),
            asyncio.to_thread(
                lambda: other.send(theirs, output_kind="count", min_intersection=LEAST)
            ),
        )
        return counted.count


async def main() -> None:
    counts = await asyncio.gather(*map(shared, PARTNERS))
    for partner, count in zip(PARTNERS, counts, strict=True):
        print(f"{partner}: {count} shared customers")


if __name__ == "__main__":
    asyncio.run(main())
