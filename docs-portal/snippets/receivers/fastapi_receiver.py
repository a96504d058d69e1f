import json
import os
import tempfile

from fastapi import BackgroundTasks, FastAPI, HTTPException, Request, Response

from verify_webhook import verify_webhook

app = FastAPI()
secret = os.environ["PRAGMA_WEBHOOK_SECRET"]  # The hmacSecret of your recipient.


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
async def receive_webhook(request: Request, background_tasks: BackgroundTasks):
    body = await request.body()  # The raw body, because its exact bytes are signed.
    try:
        verify_webhook(request.headers, body, secret)
    except ValueError as error:
        raise HTTPException(401, str(error))
    message = json.loads(body)
    if store_message(message["meta"]["id"], body):
        background_tasks.add_task(process_message, message)  # Runs after the response.
    return Response(status_code=204)
