# Usage: PRAGMA_API_KEY=… python3 follow.py copy.json
import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

base_url = os.environ.get("PRAGMA_URL", "http://127.0.0.1:4000")
api_key = os.environ.get("PRAGMA_API_KEY") or sys.exit("Set PRAGMA_API_KEY to your API key.")
headers = {"authorization": f"Bearer {api_key}"}
copy_file = sys.argv[1] if len(sys.argv) > 1 else "copy.json"

transient_statuses = {408, 429, 500, 502, 503, 504}
delays = [1, 2, 4, 8, 16]  # seconds between the attempts, each plus a random time


def get(path, query={}, can_be_missing=False):
    """Returns a response body; None if it can be missing, and is. Repeats the request after a transient error."""
    url = f"{base_url}{path}?{urllib.parse.urlencode(query)}"
    for delay in [*delays, None]:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 404 and can_be_missing:
                return None
            if error.code not in transient_statuses or delay is None:
                sys.exit(f"{error.code}: {error.read().decode()}")
            retry_after = error.headers.get("retry-after", "")
            delay = int(retry_after) if retry_after.isdigit() else delay
        except (OSError, http.client.HTTPException):
            if delay is None:
                raise
        time.sleep(delay * random.uniform(1, 1.5))


# The copy and the cursor of its last change, which are always stored together.
state = {"after": None, "reports": {}, "orders": {}}
if os.path.exists(copy_file):
    with open(copy_file) as file:
        state = json.load(file)

while True:
    query = {"types": "report,order", "wait": 25}
    if state["after"] is not None:
        query["after"] = state["after"]
    page = get("/v1/changes", query)
    for change in page["data"]:
        copies = state[f"{change['type']}s"]
        removed = change["action"] == "removed"
        current = None if removed else get(f"/v2/{change['type']}s/{change['id']}", can_be_missing=True)
        # If it does not exist any more, a later entry of the feed removes it, too.
        if current is None:
            copies.pop(change["id"], None)
        else:
            copies[change["id"]] = current
    state["after"] = page["nextCursor"]
    # The file is replaced at once, so that a crash leaves the previous copy with its cursor.
    with open(f"{copy_file}.new", "w") as file:
        json.dump(state, file)
    os.replace(f"{copy_file}.new", copy_file)
    for change in page["data"]:
        print(f"{change['type']} {change['id']}: {change['action']}, revision {change['revision']}", flush=True)
