# Usage: PRAGMA_API_KEY=… python3 export.py <accounting config ID> 2026-05-01 2026-05-31
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

base_url = os.environ.get("PRAGMA_URL", "http://127.0.0.1:4000")
api_key = os.environ.get("PRAGMA_API_KEY") or sys.exit("Set PRAGMA_API_KEY to your API key.")
headers = {"authorization": f"Bearer {api_key}"}
config_id, since, until = sys.argv[1:4]


def send(path, **options):
    request = urllib.request.Request(f"{base_url}{path}", **{"headers": headers, **options})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.read()
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")


def get(path, query={}):
    return json.loads(send(f"{path}?{urllib.parse.urlencode(query)}"))


tills = []
query = {"since": since, "until": until, "size": 100}
while query.get("pageToken", "") is not None:
    page = get("/v2/reports", query)
    for item in page["data"]:
        tills.append({"tillId": item["tillId"], "accountingConfigId": config_id, "accountingProvider": "FULLL"})
    query["pageToken"] = page["nextPageToken"]

post_headers = {**headers, "content-type": "application/json", "idempotency-key": str(uuid.uuid4())}
created = json.loads(send("/v1/accounting/exports", data=json.dumps(tills).encode(), headers=post_headers))
export = get(f"/v1/accounting/exports/{created['id']}")
while export["state"] in ("pending", "running"):
    time.sleep(1)
    export = get(f"/v1/accounting/exports/{created['id']}")

for till in export["tills"]:
    if failure := till["failure"]:
        message = f"Till {till['tillId']} was not exported ({failure['code']}). {failure['message']}"
        print(message, *(gap["message"] for gap in failure["gaps"]), file=sys.stderr)
        for order in (order for gap in failure["gaps"] for order in gap["orders"]):
            print(f"  Order {order['orderId']}: {order['amount']}", file=sys.stderr)
for file in export["files"]:
    with open(file["name"], "wb") as output:  # Do not convert the character set.
        output.write(send(f"/v1/accounting/exports/{created['id']}/files/{file['number']}"))
    print(f"{file['name']}: {file['tills']} tills")
sys.exit(0 if export["state"] == "done" else 1)
