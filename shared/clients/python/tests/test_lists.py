"""Iterating over lists and changes."""

import pytest
from conftest import Server, page

from clinic_developer import UnexpectedResponseError


def test_requests_page_after_page(client_of):
    server = Server(*[page([n], page=n, total_pages=3) for n in (1, 2, 3)])
    assert client_of(server).collect(lambda c: c.doctors.all(is_active=True)) == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert server.queries == [
        {"limit": "100", "is_active": "true"},
        {"limit": "100", "is_active": "true", "page": "2"},
        {"limit": "100", "is_active": "true", "page": "3"},
    ]


def test_stops_when_the_loop_does(client_of):
    server = Server(page([1, 2], page=1, total_pages=3))
    assert client_of(server).collect(lambda c: c.doctors.all(), count=1) == [{"id": 1}]
    assert len(server.requests) == 1


def test_continues_by_cursor_where_the_list_has_one(client_of):
    server = Server(page([1], page=1, total_pages=2, next_after="a"), page([2], next_after=None))
    assert len(client_of(server).collect(lambda c: c.patients.all(search="x", limit=1))) == 2
    assert server.queries == [{"limit": "1", "search": "x"}, {"limit": "1", "search": "x", "after": "a"}]


def test_ends_a_cursor_list_when_it_has_no_more(client_of):
    # Of events, `next_after` is where to continue later, and is never null.
    server = Server(page([1], next_after="a", has_more=True), page([2], next_after="b", has_more=False))
    pages = client_of(server).collect(lambda c: c.events.pages())
    assert [p.meta["next_after"] for p in pages] == ["a", "b"]


def test_lists_the_payments_of_an_invoice(client_of):
    server = Server(page([1], page=1, total_pages=1))
    assert client_of(server).collect(lambda c: c.invoices.payments("i1").all()) == [{"id": 1}]
    assert server.requests[0].url.path.endswith("/invoices/i1/payments")


def test_ends_at_once_for_an_empty_list(client_of):
    assert client_of(Server(page([], page=1, total_pages=0))).collect(lambda c: c.doctors.all()) == []


START = "2026-05-01T00:00:00Z"
CHANGES = [
    page([1], next_after="a", has_more=True, as_of="2026-05-04T12:00:00+03:00"),
    page([2], next_after=None, has_more=False, as_of="2026-05-04T12:00:00+03:00"),
    page([3], next_after=None, has_more=False, as_of="2026-05-04T12:00:21+03:00"),
]


def test_changes_end_with_those_made_before_the_first_request(client_of, waits):
    server = Server(*CHANGES)
    pages = client_of(server).collect(lambda c: c.patients.changes(since=START))
    assert [(p.data[0]["id"], p.position) for p in pages] == [
        (1, f"{START}|a"),
        (2, "2026-05-04T12:00:00+03:00"),
        (3, "2026-05-04T12:00:21+03:00"),
    ]
    assert server.queries == [
        {"updated_since": START, "limit": "100"},
        {"updated_since": START, "limit": "100", "after": "a"},
        {"updated_since": "2026-05-04T12:00:00+03:00", "limit": "100"},
    ]
    assert waits == [21]


@pytest.mark.parametrize("position, query", [(START, {"updated_since": START}), (f"{START}|a", {"updated_since": START, "after": "a"})])
def test_changes_continue_after_a_position(client_of, position, query):
    server = Server(*CHANGES[1:])
    client_of(server).collect(lambda c: c.patients.changes(since=position, limit=5), count=1)
    assert server.queries == [{**query, "limit": "5"}]


def test_changes_continue_for_ever_if_followed(client_of, waits):
    server = Server(*(page([], next_after=None, as_of=f"2026-05-04T12:0{minute}:00+03:00") for minute in range(4)))
    assert len(client_of(server).collect(lambda c: c.payments.changes(since=START, follow=True), count=4)) == 4
    assert waits == [21, 21, 21]


@pytest.mark.parametrize("since, kind", [(None, TypeError), ("", ValueError), (0, TypeError), ("2026-05-04", ValueError), ("2026-05-04 12:00:00+03:00", ValueError)])
def test_changes_reject_a_position(client_of, since, kind):
    server = Server(CHANGES[2])
    with pytest.raises(kind, match="^since must be"):
        client_of(server).collect(lambda c: c.patients.changes(since=since))
    assert server.requests == []


@pytest.mark.parametrize("second", [CHANGES[1], page([], next_after=None, as_of="2026-05-04T11:00:00+03:00")])
def test_changes_raise_if_their_time_does_not_advance(client_of, waits, second):
    server = Server(CHANGES[1], second)
    with pytest.raises(UnexpectedResponseError):
        client_of(server).collect(lambda c: c.patients.changes(since=START))
    assert len(server.requests) == 2


def test_continues_after_a_cursor(client_of):
    server = Server(page([1], next_after=None))
    client_of(server).collect(lambda c: c.events.all(after="a"))
    assert server.queries[0]["after"] == "a"


@pytest.mark.parametrize("as_of", [None, 7, "soon", "2026-05-04T12:00:00", "9999-12-31T23:59:59+00:00"])
def test_changes_raise_for_a_page_without_its_time(client_of, as_of):
    with pytest.raises(UnexpectedResponseError):
        client_of(Server(page([1], next_after=None, as_of=as_of))).collect(lambda c: c.patients.changes(since=START))
