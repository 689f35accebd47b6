"""Connections to a server: kept open between requests, each answer whole and in time or an error."""

import base64
import http.client
import io
import socket
import ssl
import time
import weakref
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from ragstone.errors import ConfigError
from ragstone.parallel import interruption

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 1.0  # how often it is looked whether someone interrupts
GRACE_SECONDS = 5.0  # for answers under way when someone does


class PassingTrouble(Exception):
    """Something that may be gone at the next try; `pause` is what the server asks for."""

    def __init__(self, what: str, pause: float | None = None) -> None:
        super().__init__(what)
        self.pause = pause


class Unreachable(PassingTrouble):
    """Nobody took the connection."""


class Stale(PassingTrouble):
    """The server closed a kept connection just when it was used again."""


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Until(io.RawIOBase):
    """Reads a socket until a moment, however small the pieces in which the answer comes.

    After Ctrl-C that moment is near: an answer under way is paid for, but nobody wants to wait long for it.
    """

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, seconds: float) -> None:
        self._raw, self._sock, self._end = raw, sock, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        while True:
            now = time.monotonic()
            if interruption().is_set():
                self._end = min(self._end, now + GRACE_SECONDS)
            if self._end <= now:
                raise TimeoutError
            self._sock.settimeout(min(self._end - now, LOOK_SECONDS))
            with suppress(TimeoutError):
                return self._sock.recv_into(buffer)

    def close(self) -> None:
        super().close()
        self._raw.close()


class Response(http.client.HTTPResponse):
    """The timeout of the socket holds for the whole answer, not for each piece of it."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp: io.BufferedReader = io.BufferedReader(Until(self.fp.detach(), sock, sock.gettimeout() or 0.0))


class Connections:
    """To one server, safe for threads; the connection that was used last is used first."""

    def __init__(self, url: SplitResult) -> None:
        self._url = url
        self._idle: deque[socket.socket] = deque()
        weakref.finalize(self, close_all, self._idle)

    def post(self, path: str, data: bytes, headers: Mapping[str, str], seconds: float, fresh: bool = False) -> Answer:
        """One request. Trouble is a `PassingTrouble`; what the server answers, whatever it is, is an answer."""
        kept = None if fresh else self._kept()
        sock = kept or self._opened(min(seconds, CONNECT_SECONDS))
        try:
            answer, stays = exchange(sock, self._request(path, data, headers), seconds)
        except TimeoutError as error:
            sock.close()
            raise PassingTrouble(f"no whole answer in {seconds:.3g} s") from error
        except (OSError, http.client.HTTPException) as error:
            sock.close()
            stale = kept is not None and isinstance(error, ConnectionError)
            raise (Stale if stale else PassingTrouble)(says(error)) from error
        except BaseException:
            sock.close()
            raise
        if stays:
            self._idle.append(sock)
        else:
            sock.close()
        return answer

    def _request(self, path: str, data: bytes, headers: Mapping[str, str]) -> bytes:
        """Head and body as one, because two writes take twice the time where many threads write."""
        fields = {"Host": self._url.netloc, "Content-Length": len(data), **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST {self._url.path}{path} HTTP/1.1\r\n{lines}\r\n".encode() + data

    def _kept(self) -> socket.socket | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _opened(self, seconds: float) -> socket.socket:
        connection = self._made(seconds)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            connection.close()
            raise Unreachable(says(error)) from error
        return connection.sock

    def _made(self, seconds: float) -> http.client.HTTPConnection:
        """A connection to the server, by way of the proxy that the environment names for it."""
        target = (self._url.hostname or "", self._url.port)
        proxy = proxy_for(self._url)
        host, port = (proxy.hostname or "", proxy.port) if proxy else target
        connection = (
            http.client.HTTPSConnection(host, port, timeout=seconds, context=self._tls)
            if self._url.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=seconds)
        )
        if proxy:
            connection.set_tunnel(*target, headers=proxy_login(proxy))
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()  # reads the certificates, which is slow: once for all connections


def exchange(sock: socket.socket, request: bytes, seconds: float) -> tuple[Answer, bool]:
    """The answer to a request, and whether the connection stays open."""
    sock.settimeout(seconds)
    sock.sendall(request)
    with Response(sock, method="POST") as response:
        response.begin()
        return Answer(response.status, response.headers, response.read()), not response.will_close


def proxy_for(url: SplitResult) -> SplitResult | None:
    """What HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; never for this machine itself, which no proxy can reach."""
    from urllib.request import getproxies, proxy_bypass

    host = url.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    proxy = getproxies().get(url.scheme, "")
    return read_proxy(proxy, url.scheme) if proxy else None


def read_proxy(text: str, scheme: str) -> SplitResult:
    """It may hold a password, so it is not shown."""
    try:
        proxy = urlsplit(text if "//" in text else f"http://{text}")
        usable = bool(proxy.hostname) and proxy.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{scheme.upper()}_PROXY is not the address of a proxy; write http://HOST:PORT or unset it")
    return proxy


def proxy_login(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}


def says(error: Exception) -> str:
    return str(error) or type(error).__name__


def close_all(sockets: deque[socket.socket]) -> None:
    while sockets:
        sockets.pop().close()
