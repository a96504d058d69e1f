# Usage: PRAGMA_API_KEY=… python3 differences.py 2026-05-30
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

base_url = os.environ.get("PRAGMA_URL", "http://127.0.0.1:4000")
headers = {"authorization": f"Bearer {os.environ['PRAGMA_API_KEY']}"}
if len(sys.argv) < 2:
    sys.exit("Pass the date as the argument: python3 differences.py 2026-05-30")
day = sys.argv[1]


def items(path, **query):
    """Yields the items of all pages of a list."""
    while True:
        url = f"{base_url}{path}?{urllib.parse.urlencode({**query, 'size': 100})}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=35) as response:
                page = json.load(response)
        except urllib.error.HTTPError as error:
            sys.exit(f"{error.code}: {error.read().decode()}")
        yield from page["data"]
        if page["nextPageToken"] is None:
            return
        query["pageToken"] = page["nextPageToken"]


for report in items("/v2/reports", since=day, until=day):
    for order in items("/v1/orders", reportId=report["id"]):
        sale = 0 if order["isCanceled"] or order["isTransferred"] else order["total"]
        paid = sum(payment["paymentAmount"] for payment in order["payments"])
        if paid != sale:
            print(f"{order['id']}: sale {sale}, paid {paid}, difference {paid - sale}")
