import base64
import hashlib
import hmac
import time
from collections.abc import Mapping


def verify_webhook(
    headers: Mapping[str, str], body: bytes, secret: str, now: float | None = None
) -> None:
    """Raises ValueError unless the message was signed with the recipient's secret and has a
    timestamp within five minutes of `now`. The names in `headers` are in lower case, or
    `headers` ignores case, as in Flask and FastAPI. `body` is the raw request body, before
    parsing. Only tests set `now` (seconds since 1970)."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    current_time = time.time() if now is None else now
    if not timestamp.isdigit() or abs(current_time - int(timestamp)) > 300:
        raise ValueError("The timestamp of the message is not within five minutes.")

    signed = f"{message_id}.{timestamp}.".encode() + body
    # A secret that begins with whsec_ contains the key in base64.
    key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = base64.b64encode(digest).decode()
    for entry in headers.get("webhook-signature", "").split(" "):
        version, _, signature = entry.partition(",")
        if version == "v1" and hmac.compare_digest(signature.encode(), expected.encode()):
            return
    raise ValueError("The message is not signed with this secret.")
