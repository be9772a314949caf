"""Joins through nginx, tinyproxy, squid and mitmproxy, as far as they are installed, and says which
are not.
"""

import argparse
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from free_address import free_address

from . import boxes
from .parties import Parties

USER = "ann:s3cret"

# Three lanes, beside the connection of the meeting.
MANY = ["--threads", "3", "--parts", "3"]


class Place:
    """Numbered folders for boxes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def next(self) -> Path:
        self.count += 1
        return self.folder / f"box-{self.count}"


def web_server(parties: Parties, place: Place) -> Iterator[str]:
    believes = ["--front-end", "127.0.0.1", "--metrics", (metrics := free_address())]
    with (
        parties.relay(*believes) as relay,
        boxes.nginx(place.next(), relay) as wss,
    ):
        for ended in parties.join(["--relay", wss], ["--relay", wss]):
            ended.says(0, f"the relay {wss}")
        yield "both come by wss://"
        parties.join(["--relay", relay], ["--relay", wss])
        yield "one comes by wss://, the other to the relay itself"
        before = pairs(metrics)
        parties.join(["--relay", wss, *MANY], ["--relay", wss, *MANY])
        assert pairs(metrics) == before + 4
        yield "four connections"
        jobs = [["--relay", wss, "--parts", "3", "--job", str(place.next())] for _ in range(2)]
        parties.join(*jobs)
        yield "a job in parts"
        wrong = wss.replace("/psijoin", "/elsewhere")
        parties.start("receive", "--relay", wrong, "--wait", "2").end().says(4, "404")
        yield "a wrong path is told as such"
        address = wss.removeprefix("wss://").removesuffix("/psijoin")
        bare = parties.start("receive", "--relay", address, "--wait", "2").end()
        bare.says(4, "relay")
        yield "a relay's address without wss:// is told as such: " + last(bare.said)
    yield cut(parties, place, "nginx")


def patience(parties: Parties, place: Place) -> Iterator[str]:
    hasty = lambda text: text.replace(" 10m;", " 20s;")  # noqa: E731
    with (
        parties.relay() as relay,
        boxes.nginx(place.next(), relay, hasty) as wss,
    ):
        waiting = parties.start("receive", "--relay", wss, "--wait", "90")
        waiting.wait_for("is not there yet")
        time.sleep(45)
        parties.start("send", "--relay", wss).end().says(0)
        ended = waiting.end()
        ended.says(0)
        assert "trying again" not in ended.said, ended.said
        yield "a wait outlives a web server that cuts silence off after 20 s"


def cut(parties: Parties, place: Place, box: str) -> str:
    """Ends a box in the middle of a session, and returns what the receiver says."""
    with parties.relay("--max-rate", "20kB") as relay:
        if box == "nginx":
            running, via = boxes.nginx(place.next(), relay), []
        else:
            running, via = getattr(boxes, box)(place.next(), relay, None), ["--relay", relay]
        with running as address:
            via = [*via, "--proxy", f"http://{address}"] if via else ["--relay", address]
            both = [parties.start(role, *via) for role in ("receive", "send")]
            for party in both:
                party.wait_for("kB to move")
        begun = time.monotonic()
        ended = [party.end() for party in both]
        for party in ended:
            party.says(4, "ended the connection")
        assert time.monotonic() - begun < 20
        return "it is ended in mid-session, and both say so: " + last(ended[0].said)


def restarts(parties: Parties, place: Place) -> Iterator[str]:
    address = free_address()
    with boxes.nginx(place.next(), address) as wss:
        waiting = parties.start("receive", "--relay", wss, "--wait", "60")
        waiting.wait_for("502")
        with parties.relay(address=address):
            parties.start("send", "--relay", wss).end().says(0)
            waiting.end().says(0)
        yield "a relay may start after the parties and the web server"
        with parties.relay(address=address):
            first = parties.start("receive", "--relay", wss, "--wait", "60")
            first.wait_for("is not there yet")
        with parties.relay(address=address):
            parties.start("send", "--relay", wss, "--wait", "60").end().says(0)
            first.end().says(0)
        yield "a relay may restart while a party waits"


def proxies(kind: str) -> Callable[[Parties, Place], Iterator[str]]:
    def run(parties: Parties, place: Place) -> Iterator[str]:
        proxy = getattr(boxes, kind)
        listens = free_address()
        with proxy(place.next(), listens, None) as address:
            via = ["--proxy", f"http://{address}"]
            parties.join(["--listen", listens], ["--connect", listens, *via])
            yield "CONNECT to a party that listens"
            sender = parties.start("send", "--connect", listens, *via, "--wait", "60")
            time.sleep(2)
            receiver = parties.start("receive", "--listen", listens)
            receiver.end().says(0)
            sender.end().says(0)
            yield "the party that listens may come later"
            elsewhere = parties.start("send", "--connect", "127.0.0.1:9", *via).end()
            elsewhere.says(4, "does not allow that (403)", "no_proxy")
            yield "refused by the proxy's list: " + last(elsewhere.said)
        with proxy(place.next(), listens, USER) as address:
            right, wrong = f"http://{USER}@{address}", f"http://ann:guessed@{address}"
            connect = ["--connect", listens]
            joined = parties.join(["--listen", listens], [*connect, "--proxy", right])
            assert not any("s3cret" in ended.said for ended in joined)
            yield "Basic authentication"
            none = parties.start("send", *connect, "--proxy", f"http://{address}").end()
            none.says(2, "asks for a user and a password (407)")
            bad = parties.start("send", *connect, "--proxy", wrong).end()
            bad.says(2, "does not accept the user and password")
            assert "guessed" not in bad.said
            yield "no password and a wrong one: " + last(bad.said)
        with (
            parties.relay() as relay,
            proxy(place.next(), relay, USER) as address,
        ):
            via = ["--relay", relay, "--proxy", f"http://{USER}@{address}"]
            parties.join(via, via)
            yield "both through the proxy to a relay"
        yield from web(parties, place, proxy)
        yield cut(parties, place, kind)

    return run


def web(parties: Parties, place: Place, proxy: Callable[..., object]) -> Iterator[str]:
    if not boxes.find("nginx"):
        return
    with parties.relay() as relay, boxes.nginx(place.next(), relay) as wss:
        behind = wss.removeprefix("wss://").removesuffix("/psijoin")
        with proxy(place.next(), behind, None) as address:
            via = ["--relay", wss, "--proxy", f"http://{address}", *MANY]
            parties.join(via, via)
    yield "both through the proxy to a relay by wss://, behind nginx, with four connections"


def inspecting(parties: Parties, place: Place, program: str) -> Iterator[str]:
    listens = free_address()
    with boxes.mitmproxy(place.next(), program) as address:
        via = ["--proxy", f"http://{address}"]
        receiver = parties.start("receive", "--listen", listens, "--wait", "8")
        receiver.wait_for("listening")
        sender = parties.start("send", "--connect", listens, *via, "--wait", "5").end()
        sender.says(5, "replace certificates to read along", "wss://")
        receiver.end().says(4)
        yield "a proxy that inspects is told as such: " + last(sender.said)
        if not boxes.find("nginx"):
            return
        with parties.relay() as relay, boxes.nginx(place.next(), relay) as wss:
            parties.join(["--relay", wss, *via], ["--relay", wss, *via])
        yield "and it lets wss:// through"


def last(said: str) -> str:
    return next(line for line in reversed(said.splitlines()) if line.startswith("psijoin: "))


def pairs(metrics: str) -> int:
    """Returns how many pairs a relay has joined."""
    with urllib.request.urlopen(f"http://{metrics}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    name = "psijoin_relay_pairs_total "
    return next(int(line.removeprefix(name)) for line in lines if line.startswith(name))


def main() -> int:
    parser = argparse.ArgumentParser(prog=".ci/middle-boxes", description=__doc__)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--inspector", help="mitmdump, if it is anywhere")
    parser.add_argument("--only", help="a box")
    options = parser.parse_args()
    trials: list[tuple[str, str, Callable[[Parties, Place], Iterator[str]]]] = [
        ("nginx", "nginx", web_server),
        ("nginx", "nginx, restarts", restarts),
        ("nginx", "nginx, patience", patience),
        ("tinyproxy", "tinyproxy", proxies("tinyproxy")),
        ("squid", "squid", proxies("squid")),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        parties, place = Parties(options.program, folder), Place(folder)
        if options.inspector:
            inspector = options.inspector
            trial = lambda parties, place: inspecting(parties, place, inspector)  # noqa: E731
            trials.append((inspector, "mitmproxy", trial))
        for needs, title, trial in trials:
            if options.only and options.only not in title:
                continue
            if not boxes.find(needs):
                print(f"{title}: not there", flush=True)
                continue
            for done in trial(parties, place):
                print(f"{title}: {done}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
