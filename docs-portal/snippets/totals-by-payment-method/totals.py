# Usage: PRAGMA_API_KEY=… python3 totals.py 2026-05-30
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

base_url = os.environ.get("PRAGMA_URL", "http://127.0.0.1:4000")
headers = {"authorization": f"Bearer {os.environ['PRAGMA_API_KEY']}"}
if len(sys.argv) < 2:
    sys.exit("Pass the date as the argument: python3 totals.py 2026-05-30")
day = sys.argv[1]


def get(path, **query):
    url = f"{base_url}{path}?{urllib.parse.urlencode(query)}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=35) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")


totals = {}
sales = 0


def totals_of(name, mode):
    return totals.setdefault(f"{name or ''} ({mode})", {"recorded": 0, "tips": 0, "declared": 0})


# A day can have several reports: one for each shift.
items = get("/v2/reports", since=day, until=day, size=100)["data"]
if not items:
    print(f"There is no report of {day}.", file=sys.stderr)
for item in items:
    report = get(f"/v2/reports/{item['id']}")
    sales += report["totalSales"]
    for payment in report["reportRecordedPayments"]:
        method = totals_of(payment["name"], payment["paymentMode"])
        if payment["paymentType"] in ("payment", "customerAccount"):
            method["recorded"] += payment["totalAmount"]
        method["tips"] += payment["totalAmount" if payment["paymentType"] == "tip" else "tipsAmount"]
    for payment in report["reportPayments"]:
        totals_of(payment["paymentName"], payment["paymentMode"])["declared"] += payment["paymentAmount"]


def print_row(name, *amounts):
    texts = [f"{'-' if cents < 0 else ''}€{abs(cents) / 100:,.2f}" for cents in amounts]
    print(name.ljust(34) + "".join(text.rjust(12) for text in texts))


print("Payment method                        Recorded        Tips    Declared")
for name, method in totals.items():
    print_row(name, method["recorded"], method["tips"], method["declared"])
sums = [sum(method[column] for method in totals.values()) for column in ("recorded", "tips", "declared")]
print_row("Total", *sums)
print_row("Sales", sales)
