"""Servers of the protocols of S3 and of Google's storage for a test: on this machine, and empty."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket
from typing import Any
from urllib.request import Request, urlopen

import pytest

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
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
        _set(patch, {**KEYS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"})
        reset = Request(f"http://{host}:{port}/moto-api/reset", method="POST")
        urlopen(reset).close()  # what an earlier server of this process was given
        clients.S3FileSystem.clear_instance_cache()  # they know its port
        system = clients.S3FileSystem(skip_instance_cache=True)
        system.mkdir("bucket")
        yield system
    finally:
        server.stop()


@contextmanager
def gs_server(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The same of gs://; skipped where gcsfs or gcp-storage-emulator is absent."""
    clients = pytest.importorskip("gcsfs", reason="gcsfs is not installed")
    server_of = pytest.importorskip(
        "gcp_storage_emulator.server", reason="gcp-storage-emulator is not installed"
    )
    with socket() as found:  # its port is told to nobody when it chooses one
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = server_of.create_server("127.0.0.1", port, in_memory=True, default_bucket="bucket")
    server.start()
    try:
        _set(patch, {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"})
        clients.GCSFileSystem.clear_instance_cache()
        yield clients.GCSFileSystem(skip_instance_cache=True)
    finally:
        server.stop()


def _set(patch: pytest.MonkeyPatch, values: dict[str, str]) -> None:
    """The network is allowed, and asked without a proxy."""
    for name, value in {**values, "NETWRIGHT_OFFLINE": ""}.items():
        patch.setenv(name, value)
    for name in PROXIES:
        if name in os.environ:
            patch.delenv(name)
