# Usage: PRAGMA_API_KEY=… python3 orders.py 2026-05-01 2026-05-31 orders.csv
import csv
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
if len(sys.argv) != 4:
    sys.exit("Pass three arguments: python3 orders.py 2026-05-01 2026-05-31 orders.csv")
since, until, file_name = sys.argv[1:4]

transient_statuses = {408, 429, 500, 502, 503, 504}
delays = [1, 2, 4, 8, 16]  # seconds between the attempts, each plus a random time
max_delay = 60  # seconds


def get(path, query):
    """Returns a response body. Repeats the request after a lost connection or a transient error."""
    url = f"{base_url}{path}?{urllib.parse.urlencode(query)}"
    for delay in [*delays, None]:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in transient_statuses or delay is None:
                sys.exit(f"{error.code}: {error.read().decode()}")
            retry_after = error.headers.get("retry-after", "")
            delay = int(retry_after) if retry_after.isdigit() else delay
            if delay > max_delay:
                sys.exit(f"{error.code}: Try again in {delay} seconds.")
        except (OSError, http.client.HTTPException):
            if delay is None:
                raise
        time.sleep(delay * random.uniform(1, 1.5))


def orders():
    """Yields the orders of all pages. Only one page is in memory at a time."""
    query = {"since": since, "until": until, "size": 100}
    while True:
        page = get("/v1/orders", query)
        yield from page["data"]
        if page["nextPageToken"] is None:
            return
        query["pageToken"] = page["nextPageToken"]


order_count = sales = 0
columns = ["id", "openedAt", "total", "isCanceled", "isTransferred", "payments"]
with open(f"{file_name}.new", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for order in orders():
        order_count += 1
        if not order["isCanceled"] and not order["isTransferred"]:
            sales += order["total"]
        order["payments"] = ";".join(f"{paid['paymentMode']}:{paid['paymentAmount']}" for paid in order["payments"])
        writer.writerow(str(order[column]).lower() if column.startswith("is") else order[column] for column in columns)
os.replace(f"{file_name}.new", file_name)  # The file gets its name when it is complete.
print(f"{order_count} orders with sales of €{sales / 100:,.2f}")
