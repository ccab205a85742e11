"""A server of the S3 protocol for a test: moto's, on this machine, with a bucket that is empty."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

import pytest

ENDPOINT = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "NETWRIGHT_OFFLINE": "",
}


@contextmanager
def s3_server(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give the file system of s3://, with s3://bucket/; skipped where s3fs or moto is absent."""
    clients = pytest.importorskip("s3fs", reason="s3fs is not installed")
    server_of = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        for name, value in {**ENDPOINT, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
            patch.setenv(name, value)
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            if name in os.environ:
                patch.delenv(name)
        reset = Request(f"http://{host}:{port}/moto-api/reset", method="POST")
        urlopen(reset).close()  # what an earlier server of this process was given
        clients.S3FileSystem.clear_instance_cache()  # they know its port
        system = clients.S3FileSystem(skip_instance_cache=True)
        system.mkdir("bucket")
        yield system
    finally:
        server.stop()
