# Pushes the till in the file till.json. Usage: PRAGMA_API_KEY=… python3 push-till.py
import gzip
import http.client
import os
import random
import time
import urllib.error
import urllib.request

API_URL = os.environ.get("PRAGMA_URL", "http://127.0.0.1:4000")
API_KEY = os.environ.get("PRAGMA_API_KEY", "")
MAX_ATTEMPTS = 8
MAX_RETRY_AFTER = 60  # seconds
RETRIED_STATUSES = {408, 429, 500, 502, 503, 504}


def push_till(body: bytes) -> None:
    """Pushes a till, and repeats the request with the same bytes until the API has accepted or rejected the till."""
    request = urllib.request.Request(
        f"{API_URL}/v2/tills",
        method="POST",
        headers={
            "authorization": f"Bearer {API_KEY}",
            "content-type": "application/json",
            "content-encoding": "gzip",
        },
        data=gzip.compress(body),
    )
    for attempt in range(MAX_ATTEMPTS):
        status, retry_after = "no response", 0
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                print("The till was created." if response.status == 201 else "The till already existed.")
                return
        except urllib.error.HTTPError as error:
            if error.code not in RETRIED_STATUSES:
                raise SystemExit(f"The till was rejected: {error.code} {error.read().decode()}")
            status, header = error.code, error.headers.get("retry-after", "")
            retry_after = int(header) if header.isdigit() else 0
        except (OSError, http.client.HTTPException):
            pass  # The connection failed, so the API may or may not have received the till.
        if attempt == MAX_ATTEMPTS - 1 or retry_after > MAX_RETRY_AFTER:
            raise SystemExit(f"The till was not accepted ({status}). Push it again later.")
        # The random time prevents all devices from retrying at the same moment.
        time.sleep((retry_after or 2**attempt) * random.uniform(1, 1.5))


if not API_KEY:
    raise SystemExit("Set PRAGMA_API_KEY to your API key.")
with open("till.json", "rb") as file:
    push_till(file.read())
