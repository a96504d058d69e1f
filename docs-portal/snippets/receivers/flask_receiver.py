import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

from flask import Flask, request

from verify_webhook import verify_webhook

app = Flask(__name__)
secret = os.environ["PRAGMA_WEBHOOK_SECRET"]  # The hmacSecret of your recipient.
executor = ThreadPoolExecutor(max_workers=4)


def store_message(message_id: str, body: bytes) -> bool:
    """Stores a message. Returns False if the message is already stored. In production, insert
    the message into a database table whose primary key is the message ID."""
    os.makedirs("inbox", exist_ok=True)
    # A temporary file, so that a failed write does not look like a stored message.
    with tempfile.NamedTemporaryFile(dir="inbox", suffix=".tmp") as file:
        file.write(body)
        file.flush()
        try:
            os.link(file.name, f"inbox/{message_id}.json")
            return True
        except FileExistsError:
            return False


def process_message(message: dict) -> None:
    # Your code goes here. Messages can be out of order: compare `meta.sequence`.
    print(f"Processed {message['meta']['event']} {message['meta']['id']}", flush=True)


@app.post("/webhooks/pragma")
def receive_webhook():
    body = request.get_data()  # The raw body, because its exact bytes are signed.
    try:
        verify_webhook(request.headers, body, secret)
    except ValueError as error:
        return str(error), 401
    message = json.loads(body)
    if store_message(message["meta"]["id"], body):
        executor.submit(process_message, message)  # Does not delay the response.
    return "", 204
