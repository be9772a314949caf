"""Web servers and proxies, each started in a folder of its own."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from free_address import free_address

from .parties import PATIENCE

SITE = Path("deploy/nginx/psijoin-relay.conf")


@contextmanager
def running(command: list[str], address: str, log: Path) -> Iterator[None]:
    """Runs a server until it is not needed any more."""
    with log.open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        wait_for(address, process, log)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    host, port = address.rsplit(":", 1)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"{process.args} does not listen: {log.read_text()}")


def find(name: str) -> str | None:
    """Servers are where a user's path does not lead."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def certify(folder: Path) -> tuple[Path, Path]:
    """Makes a certificate that nobody trusts."""
    chain, key = folder / "web.pem", folder / "web.key"
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-days", "2"]
    options = ["-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=relay.example.org"]
    files = ["-out", str(chain), "-keyout", str(key)]
    subprocess.run(command + options + files, check=True, capture_output=True)
    return chain, key


def site(folder: Path, relay: str, address: str, change: Callable[[str], str]) -> Path:
    """Writes a configuration of nginx with the site of deploy/, which is somewhere else here."""
    chain, key = certify(folder)
    text = SITE.read_text()
    for old, new in (
        ("    listen [::]:443 ssl;\n", ""),
        ("listen 443 ssl", f"listen {address} ssl"),
        ("/etc/ssl/certs/relay.example.org.pem", str(chain)),
        ("/etc/ssl/private/relay.example.org.key", str(key)),
        ("http://127.0.0.1:7767", f"http://{relay}"),
    ):
        assert old in text, f"{SITE} does not say {old!r}"
        text = text.replace(old, new)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    user = "user root;\n" if os.geteuid() == 0 else ""
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"{user}pid {folder / 'pid'};\nerror_log stderr;\ndaemon off;\nevents {{}}\n"
        f"http {{\naccess_log {folder / 'access.log'};\n{places}{change(text)}}}\n"
    )
    return configuration


@contextmanager
def nginx(
    folder: Path, relay: str, change: Callable[[str], str] = lambda text: text
) -> Iterator[str]:
    """Runs nginx before a relay, with a changed site, and gives the relay's new address."""
    folder.mkdir()
    address = free_address()
    configuration = site(folder, relay, address, change)
    program = find("nginx")
    assert program
    command = [program, "-p", str(folder), "-c", str(configuration)]
    with running(command, address, folder / "log"):
        yield f"wss://{address}/psijoin"


Proxy = Callable[[Path, str, str | None], object]


@contextmanager
def tinyproxy(folder: Path, allowed: str, user: str | None) -> Iterator[str]:
    """Lets CONNECT reach one address, for everybody or for `name:password`, and gives its own."""
    folder.mkdir()
    address = free_address()
    host, port = address.split(":")
    words = [f"Port {port}", f"Listen {host}", "Timeout 600", f"LogFile \"{folder / 'said'}\""]
    words += ["Allow 127.0.0.1", f"ConnectPort {allowed.split(':')[1]}"]
    if user:
        words.append("BasicAuth {} {}".format(*user.split(":")))
    configuration = folder / "tinyproxy.conf"
    configuration.write_text("\n".join(words) + "\n")
    program = find("tinyproxy")
    assert program
    with running([program, "-d", "-c", str(configuration)], address, folder / "log"):
        yield address


@contextmanager
def squid(folder: Path, allowed: str, user: str | None) -> Iterator[str]:
    """As `tinyproxy`."""
    folder.mkdir()
    # If root starts it, it becomes somebody else.
    folder.chmod(0o755)
    address = free_address()
    words = [f"http_port {address}", "visible_hostname here", "pid_filename none"]
    words += ["cache deny all", "access_log none", "cache_log /dev/stderr", "cache_store_log none"]
    words += ["shutdown_lifetime 1 seconds", "icon_directory /usr/share/squid/icons"]
    if user:
        name, password = user.split(":")
        hashed = subprocess.check_output(["openssl", "passwd", "-apr1", password], text=True)
        (folder / "users").write_text(f"{name}:{hashed}")
        helper = "/usr/lib/squid/basic_ncsa_auth"
        words += [f"auth_param basic program {helper} {folder / 'users'}"]
        words += ["acl known proxy_auth REQUIRED", "http_access deny !known"]
    words += [f"acl there port {allowed.split(':')[1]}", "http_access deny !there"]
    words += ["http_access allow CONNECT", "http_access deny all"]
    configuration = folder / "squid.conf"
    configuration.write_text("\n".join(words) + "\n")
    program = find("squid")
    assert program
    with running([program, "-N", "-f", str(configuration)], address, folder / "log"):
        yield address


@contextmanager
def mitmproxy(folder: Path, program: str) -> Iterator[str]:
    """Runs a proxy that opens every TLS session, with certificates of its own, and gives its
    address.
    """
    folder.mkdir()
    address = free_address()
    host, port = address.split(":")
    command = [program, "--listen-host", host, "--listen-port", port, "--ssl-insecure"]
    command += ["--set", f"confdir={folder}"]
    with running(command, address, folder / "log"):
        yield address
