"""The fetcher among others: slots, stops, many fetches at once, configured services."""

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sift.clock import Clock, Deadline
from sift.config import FetchConfig, GuardConfig
from sift.errors import Blocked, Busy, Cancelled, TargetError, TimedOut, Unreachable, UpstreamStatus
from sift.fetch import Fetcher
from sift.guard import Guard
from tests.support.hostile import Hostile, Peer, always, fields_of, reply

Serve = Callable[..., Hostile]


class Turnstile:
    def at(self, host: str) -> None:
        pass

    def free(self) -> None:
        pass


class TestSlots:
    def test_they_are_asked_for_before_the_look_up_of_each_hop(
        self, get: Any, serve: Serve, slots: Any, net: Any
    ) -> None:
        first = reply(status=302, fields={"Location": "http://OTHER.example.org.:80/"})
        site = serve(lambda peer: peer.send(reply(b"x") if b"Host: other" in peer.request() else first))
        asked_before = []
        slots.at = lambda host: (asked_before.append(list(net.asked)), slots.events.append(host))

        get(site)

        assert slots.events == ["site.example.org", "other.example.org", "-"]
        assert asked_before == [[], ["site.example.org"]]

    def test_a_blocked_name_or_literal_takes_none(self, get: Any, slots: Any) -> None:
        for url in ("http://localhost/", "http://10.0.0.1/", "http://a.internal/", "ftp://site.example.org/"):
            with pytest.raises(Blocked):
                get(None, url)
        assert set(slots.events) == {"-"}

    def test_what_they_raise_comes_through_and_they_are_freed(self, get: Any, slots: Any, net: Any) -> None:
        def busy(host: str) -> None:
            raise Busy("no slot")

        slots.at = busy

        with pytest.raises(Busy):
            get(None)
        assert slots.events == ["-"]
        assert net.asked == []

    def test_waiting_for_them_does_not_count_against_the_deadline(self, net: Any, slots: Any, serve: Serve) -> None:
        now = [0.0]
        slots.at = lambda host: now.__setitem__(0, now[0] + 100)
        deadline = Deadline(1.0, lambda: now[0])

        net.fetcher(serve(always(reply(b"x")))).get("http://site.example.org/", deadline=deadline, slots=slots)

        assert deadline.left() == 1.0


class TestStopping:
    def test_a_stopped_fetch_ends_within_half_a_second(self, net: Any, slots: Any, serve: Serve) -> None:
        reached, stop = threading.Event(), threading.Event()

        def script(peer: Peer) -> None:
            peer.request()
            reached.set()
            peer.hang()

        clock = Clock()
        fetcher = net.fetcher(serve(script))
        deadline = Deadline(30, stopped=stop.is_set)
        stopped_at: list[float] = []

        def stop_once_reached() -> None:
            reached.wait(5)
            stopped_at.append(clock.monotonic())
            stop.set()

        stopper = threading.Thread(target=stop_once_reached)
        stopper.start()
        with pytest.raises(Cancelled):
            fetcher.get("http://site.example.org/", deadline=deadline, slots=slots)
        took_s = clock.monotonic() - stopped_at[0]
        stopper.join()

        assert took_s < 0.5
        assert slots.held is None

    def test_a_fetch_whose_time_is_over_dials_nothing(self, net: Any, slots: Any) -> None:
        with pytest.raises(TimedOut):
            net.fetcher().get("http://site.example.org/", deadline=Deadline(0), slots=slots)
        assert net.dialled == []

    def test_a_closed_fetcher_looks_nothing_up(self, net: Any, slots: Any) -> None:
        fetcher = net.fetcher()
        fetcher.close()

        with pytest.raises(Unreachable, match="stopping"):
            fetcher.get("http://site.example.org/", deadline=Deadline(1), slots=slots)


class TestManyAtOnce:
    def test_good_and_hostile_fetches_side_by_side_leave_nothing_behind(self, net: Any, serve: Serve) -> None:
        def script(peer: Peer) -> None:
            match peer.path():
                case "/page":
                    peer.send(reply(b"x" * 10_000))
                case "/hop":
                    peer.send(reply(status=302, fields={"Location": "/page"}))
                case "/cut":
                    peer.send(reply(b"x", length=9))
                case "/reset":
                    peer.reset()
                case "/garbage":
                    peer.send(bytes(range(256)))
                case _:
                    peer.hang()

        fetcher = net.fetcher(serve(script))
        paths = ["page", "hop", "cut", "reset", "garbage", "hang"] * 4
        ends: dict[str, set[str]] = {path: set() for path in paths}

        def work() -> None:
            for path in paths:
                try:
                    fetcher.get(
                        f"http://site.example.org/{path}",
                        deadline=Deadline(0.1 if path == "hang" else 5),
                        slots=Turnstile(),
                    )
                    ends[path].add("ok")
                except TargetError as error:
                    ends[path].add(error.outcome)

        before = len(os.listdir("/proc/self/fd"))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        fetcher.close()
        net.sites[80].close()

        unreachable = {"unreachable"}
        assert ends == {
            "page": {"ok"}, "hop": {"ok"}, "cut": unreachable, "reset": unreachable, "garbage": unreachable,
            "hang": {"timeout"},
        }  # fmt: skip
        assert len(os.listdir("/proc/self/fd")) == before - 1  # the site's listener


class TestServices:
    URL = "http://127.0.0.1:{}/v1/chat"

    def post(self, net: Any, url: str, body: bytes = b"{}", headers: dict[str, str] | None = None) -> bytes:
        """Posts over the real dialler: the service is on loopback, as its guard lets it be."""
        fetcher = Fetcher(FetchConfig(), Guard(GuardConfig()))
        try:
            return fetcher.for_service(url).post_json(url, body, headers or {}, Deadline(1))
        finally:
            fetcher.close()

    def test_a_json_body_goes_to_a_configured_service_on_loopback(self, net: Any, serve: Serve) -> None:
        service = serve(always(reply(b'{"answer": 1}')))

        answer = self.post(net, self.URL.format(service.port), b'{"q": "x"}', {"Authorization": "Bearer k"})

        assert answer == b'{"answer": 1}'
        head, _, body = service.requests[0].partition(b"\r\n\r\n")
        assert head.startswith(b"POST /v1/chat HTTP/1.1\r\n")
        assert body == b'{"q": "x"}'
        fields = fields_of(service.requests[0])
        assert (fields["authorization"], fields["content-type"]) == ("Bearer k", "application/json")

    def test_the_fetcher_for_pages_does_not_reach_it(self, get: Any, serve: Serve) -> None:
        service = serve(always(reply(b"x")))

        with pytest.raises(Blocked):
            get(None, self.URL.format(service.port))

    def test_a_redirect_of_a_service_is_not_followed(self, net: Any, serve: Serve) -> None:
        service = serve(always(reply(status=307, fields={"Location": "http://127.0.0.1:1/"})))

        with pytest.raises(Unreachable, match="answered 307, which is not followed"):
            self.post(net, self.URL.format(service.port))

    def test_its_error_is_its_status(self, net: Any, serve: Serve) -> None:
        with pytest.raises(UpstreamStatus):
            self.post(net, self.URL.format(serve(always(reply(status=500))).port))

    def test_a_header_with_a_line_break_is_never_sent(self, net: Any, serve: Serve) -> None:
        service = serve(always(reply(b"{}")))

        with pytest.raises(ValueError, match="cannot be sent"):
            self.post(net, self.URL.format(service.port), headers={"Authorization": "Bearer a\r\nX: y"})
        assert service.requests == []
