"""What a server counts, as Prometheus reads it."""

from __future__ import annotations

from foresay.extras import need
from foresay.serve.engine import Engine

LONG = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)  # seconds


class Counters:
    """Requests with their seconds, tokens written, what is being written and what waits; of one engine."""

    def __init__(self, engine: Engine):
        client = need("prometheus_client", "serve", "foresay serve")
        self.client, self.registry = client, client.CollectorRegistry()
        own = {"registry": self.registry, "namespace": "foresay"}
        self.requests = client.Counter("requests", "Requests answered.", ["path", "status"], **own)
        self.seconds = client.Histogram("request_seconds", "From request to last byte.", ["path"], buckets=LONG, **own)
        self.first = client.Histogram("first_token_seconds", "From request to first token.", buckets=LONG, **own)
        self.prompts = client.Counter("prompt_tokens", "Tokens of prompts.", ["model"], **own)
        self.written = client.Counter("written_tokens", "Tokens written.", ["model"], **own)
        client.Gauge("writing", "Texts being written.", **own).set_function(lambda: engine.writing)
        client.Gauge("waiting", "Texts and calls that wait.", **own).set_function(lambda: engine.queued)
        client.Gauge("steps", "Steps of batches so far.", **own).set_function(lambda: engine.steps)

    def page(self) -> bytes:
        return self.client.generate_latest(self.registry)

    @property
    def kind(self) -> str:
        return self.client.CONTENT_TYPE_LATEST
