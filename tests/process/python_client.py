"""The Python client against a running service, and against a server whose answers are listed.

REGISTER_CALLS names a JSON file with the address of the service, keys and one call of every operation; the tests of the
repository write it. Without it only the tests that need no service run.
"""

import base64
import datetime
import decimal
import http.server
import json
import os
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients/python"))

from dataset_register import (  # noqa: E402
    ConnectionFailed,
    CredentialError,
    InvalidRequestError,
    LimitError,
    MemoryCache,
    NotFoundError,
    PaymentError,
    RateLimitError,
    Register,
    UnavailableError,
)
from dataset_register._client import request_of  # noqa: E402
from dataset_register._operations import OPERATIONS  # noqa: E402
from dataset_register._transport import seconds_of  # noqa: E402

CALLS = os.environ.get("REGISTER_CALLS")
STAGE = json.loads(Path(CALLS).read_text()) if CALLS else {}


@unittest.skipUnless(CALLS, "no service: REGISTER_CALLS is not set")
class Service(unittest.TestCase):
    def setUp(self):
        self.register = Register(STAGE["url"], key=STAGE["key"])
        self.tools = self.register.dataset("tools")
        self.slugs = STAGE["slugs"]

    def test_every_operation_answers_as_its_url_does(self):
        names = set()
        for call in STAGE["calls"]:
            client = Register(STAGE["url"], key=call.get("key"), retries=40)
            answer = client.call(call["operation"], call["arguments"])
            if "answer" in call:
                self.assertEqual(answer, call["answer"], call["operation"])
            names.add(call["operation"])
        # Paid by x402 alone, which the service of the tests does not offer.
        self.assertEqual(set(OPERATIONS) - names, {"account_prepay"})

    def test_datasets_have_methods(self):
        tools, (first, second) = self.tools, self.slugs[:2]
        self.assertEqual(tools.get(first)["slug"], first)
        self.assertEqual([record["slug"] for record in tools.batch([second, first])["items"]], [second, first])
        self.assertTrue(tools.similar(first)["items"])
        self.assertTrue(tools.facts(first)["facts"])
        self.assertIn("entity_id", tools.prices(first))
        self.assertIn("#", tools.audit(first))
        self.assertEqual(len(tools.compare([first, second])["items"]), 2)
        self.assertGreater(len(tools.facets("kind")["values"]), 1)
        self.assertEqual(len(tools.stats("price.list", {"min_price.list": 1})["rows"]), 1)
        self.assertIn("series", tools.timeseries("price.list"))
        self.assertIn("items", tools.changelog(days=365))
        self.assertEqual(tools.schema()["dataset"], tools.id)
        self.assertEqual(tools.status()["records"], len(self.slugs))
        self.assertTrue(tools.profile()["attributes"])
        self.assertTrue(tools.examples()["items"] and tools.samples()["items"])
        self.assertIn("tools", tools.guide())
        admin = Register(STAGE["url"], key=STAGE["admin"]).dataset("tools")
        self.assertEqual(admin.export("jsonl")["format"], "jsonl")
        self.assertTrue(list(admin.changes("2020-01-01T00:00:00Z", limit=7)))

    def test_a_search_reads_pages_as_it_needs_them(self):
        receipts = []
        client = Register(STAGE["url"], key=STAGE["key"], on_call=receipts.append)
        search = client.dataset("tools").search(limit=4, sort="name")
        slugs = [record["slug"] for record in search]
        self.assertEqual(len(set(slugs)), len(self.slugs))
        receipts.clear()
        self.assertEqual([record["slug"] for record in search.first(5)], slugs[:5])
        self.assertEqual(len(receipts), 2)
        rows = client.dataset("tools").search(kind=["drill", "saw"], fields=["maker"]).rows()
        self.assertTrue(all(set(row) <= {"id", "slug", "name", "maker"} for row in rows))

    def test_costs(self):
        cached = Register(STAGE["url"], key=STAGE["key"], cache=MemoryCache())
        first = cached.dataset("tools").get(self.slugs[0])
        again = cached.dataset("tools").get(self.slugs[0])
        self.assertEqual(first, again)
        self.assertEqual((first.receipt.charge_eur, again.receipt.charge_eur, again.receipt.cached), (0.004, 0, True))
        self.assertEqual(cached.cost["charge_eur"], 0.004)
        with self.assertRaises(LimitError) as raised:
            self.tools.get(self.slugs[0], max_price=0.001)
        self.assertEqual((raised.exception.status, raised.exception.bound), (403, "max_price"))

    def test_errors_are_classes(self):
        anonymous = Register(STAGE["url"]).dataset("tools")
        failures = [
            (InvalidRequestError, lambda: self.tools.search(colour="red").page()),
            (CredentialError, lambda: Register(STAGE["url"], key="dsr_wrong").keys.me()),
            (PaymentError, lambda: anonymous.get(self.slugs[0])),
            (NotFoundError, lambda: self.tools.get("nowhere")),
        ]
        for error_class, call in failures:
            with self.assertRaises(error_class) as raised:
                call()
            self.assertIn(raised.exception.advice, str(raised.exception))
        with self.assertRaises(NotFoundError) as raised:
            self.tools.get(self.slugs[0][:-1])
        self.assertIn(self.slugs[0], [record["slug"] for record in raised.exception.nearest])

    def test_data_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "to_pandas needs pandas: pip install pandas"):
                self.tools.search().to_pandas()
            self.skipTest("no pandas")
        self.assertEqual(len(self.tools.search().to_pandas()), len(self.slugs))

    def test_a_part_of_the_path_is_one_part(self):
        for name in ("w1.md", "a/b", "x?y#z", "%2e%2e", "é", ".w1"):
            with self.assertRaises(NotFoundError):
                self.tools.get(name)


class Scripted(unittest.TestCase):
    def serve(self, *answers):
        """A server with these answers in their order: (status, headers, body). Its address, and its requests."""
        requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_any(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                requests.append(self.headers)
                status, headers, body = answers[min(len(requests), len(answers)) - 1]
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body.encode()))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

            do_GET = do_POST = handle_any

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}", requests

    BUSY = '{"error":"rate_limited","message":"Too many calls.","is_retriable":true}'

    def test_retries_follow_retry_after_with_one_key(self):
        url, requests = self.serve((429, {"Retry-After": "1"}, self.BUSY), (201, {}, '{"key":"k"}'))
        started = time.monotonic()
        self.assertEqual(Register(url).keys.create("reader@example.org"), {"key": "k"})
        self.assertGreater(time.monotonic() - started, 0.99)
        self.assertEqual(len({headers["Idempotency-Key"] for headers in requests}), 1)
        self.assertEqual(len(requests), 2)

    def test_retries_end(self):
        url, requests = self.serve((429, {"Retry-After": "0"}, self.BUSY))
        with self.assertRaises(RateLimitError):
            Register(url, retries=1).datasets()
        self.assertEqual(len(requests), 2)
        url, requests = self.serve((429, {"Retry-After": "3600"}, self.BUSY))
        with self.assertRaises(RateLimitError):
            Register(url).datasets()
        self.assertEqual(len(requests), 1)
        url, _ = self.serve((502, {}, "Bad gateway"))
        with self.assertRaises(UnavailableError):
            Register(url, retries=0).datasets()
        with self.assertRaises(ConnectionFailed):
            Register("http://127.0.0.1:9", retries=0).datasets()

    def test_a_redirect_is_not_followed(self):
        other, requests = self.serve((200, {}, "{}"))
        url, _ = self.serve((302, {"Location": other}, ""))
        with self.assertRaises(InvalidRequestError):
            Register(url, key="k").datasets()
        self.assertEqual(requests, [])

    def test_a_signer_pays_once(self):
        terms = {"x402Version": 2, "accepts": [{"amount": "4400"}]}
        required = {"PAYMENT-REQUIRED": base64.b64encode(json.dumps(terms).encode()).decode()}
        body = '{"error":"payment_required","message":"0.004 EUR.","is_retriable":false,"price_eur":0.004}'
        url, requests = self.serve((402, required, body), (200, {"X-Charge-EUR": "0.004"}, '{"slug":"one"}'))
        signed = []
        client = Register(url, signer=lambda given: signed.append(given) or {"payload": "ü"})
        self.assertEqual(client.dataset("tools").get("one").receipt.charge_eur, 0.004)
        self.assertEqual(signed, [terms])
        self.assertEqual(json.loads(base64.b64decode(requests[1]["PAYMENT-SIGNATURE"])), {"payload": "ü"})
        url, requests = self.serve((402, required, body))
        with self.assertRaises(PaymentError):
            Register(url, signer=lambda _: {}, max_price=0.003).dataset("tools").get("one")
        self.assertEqual(len(requests), 1)

    def test_arguments(self):
        with self.assertRaisesRegex(ValueError, "entity_get needs entity_id"):
            Register("http://127.0.0.1:9").dataset("tools").get("")
        with self.assertRaisesRegex(ValueError, "no operation nothing"):
            Register("http://127.0.0.1:9").call("nothing")
        with self.assertRaisesRegex(ValueError, "http:// or https://"):
            Register("ftp://h.example")
        for name in (".", ".."):
            with self.assertRaisesRegex(ValueError, "must not be"):
                Register("http://127.0.0.1:9").dataset("tools").get(name)
        self.assertEqual(seconds_of("7"), 7)
        self.assertEqual(seconds_of("Fri, 20 Nov 2026 12:00:30 GMT", 1795176000), 30)
        self.assertEqual([seconds_of(None), seconds_of("soon")], [None, None])

    def test_values(self):
        url, _ = self.serve((200, {}, '{"next_cursor":null}'))
        tools = Register(url).dataset("tools")
        moment = datetime.datetime(2026, 1, 31, 13, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
        request = request_of(url, "entity_search", {"dataset": "tools", "a": moment, "b": [moment.date()], "c": True}, None)
        self.assertTrue(request.url.endswith("?a=2026-01-31T12%3A30%3A00Z&b=2026-01-31&c=true"))
        body = request_of(url, "sql_query", {"sql": "SELECT ?", "parameters": [moment]}, None).body
        self.assertEqual(json.loads(body), {"sql": "SELECT ?", "parameters": ["2026-01-31T12:30:00Z"]})
        naive = datetime.datetime(2026, 1, 31)
        for value in (float("nan"), float("inf"), naive, {1}, b"x", decimal.Decimal("1"), object(), {1: 2}, [[{1}]]):
            with self.assertRaises(TypeError):
                tools.search(value=value).page()

    def test_an_answer_that_is_no_json_object(self):
        for body in ("<h1>Sign in</h1>", "", "null", "[1]", '"text"'):
            url, _ = self.serve((200, {}, body))
            with self.assertRaises(ConnectionFailed):
                Register(url, retries=0).datasets()
        url, _ = self.serve((402, {"PAYMENT-REQUIRED": "no base64!"}, "{}"))
        with self.assertRaises(PaymentError):
            Register(url, signer=lambda _: {}).datasets()

    def test_the_cache_drops_the_oldest(self):
        cache = MemoryCache(10)
        for key in "ab":
            cache.set(key, "1", b"four")
        cache.get("a")
        cache.set("c", "1", b"four")
        self.assertEqual([cache.get(key) is not None for key in "abc"], [True, False, True])


if __name__ == "__main__":
    unittest.main()
