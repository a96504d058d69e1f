# Usage: PRAGMA_API_KEY=… python3 stock.py state.json
import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request

base_url = os.environ.get("PRAGMA_URL", "http://127.0.0.1:4000")
api_key = os.environ.get("PRAGMA_API_KEY") or sys.exit("Set PRAGMA_API_KEY to your API key.")
authorization = {"authorization": f"Bearer {api_key}"}
state_file = sys.argv[1]

# The last event that was processed, and the quantities that were taken from stock for each order.
state = {"lastEventId": "", "orders": {}}
if os.path.exists(state_file):
    with open(state_file) as file:
        state = json.load(file)

# The orders that the stream has sent since it started, until it is ready.
initial_order_ids = None


def open_url(path, headers={}):
    request = urllib.request.Request(f"{base_url}{path}", headers={**authorization, **headers})
    return urllib.request.urlopen(request, timeout=35)  # Fails after 35 seconds without data.


def quantities_of(order):
    """Returns what an order takes from stock: thousandths of a unit, or grams of a product sold by weight."""
    quantities = {}
    if order["isCanceled"]:
        return quantities
    menus = [row for menu in order["menuRowList"] for row in menu["productRowList"]]
    for row in order["productRowList"] + menus:
        is_child_of_split = row["parentProductRowId"] is not None  # The original row has the whole quantity.
        is_in_other_order = row["isTransferred"] and not order["isTransferred"]
        if row["productId"] is None or row["isCanceled"] or is_child_of_split or is_in_other_order:
            continue
        weight = 1 if row["weight"] is None else row["weight"]
        quantity = row["quantity"] * round(weight * 1000)
        quantities[row["productId"]] = quantities.get(row["productId"], 0) + quantity
    return quantities


def update_stock(order_id, quantities, is_live):
    """Changes the stock by the difference between the new quantities and those that were already taken."""
    taken = state["orders"].get(order_id, {}).get("quantities", {})
    for product_id in {**taken, **quantities}:
        change = taken.get(product_id, 0) - quantities.get(product_id, 0)
        if change != 0:
            print(json.dumps({"productId": product_id, "change": change / 1000, "orderId": order_id}), flush=True)
    state["orders"][order_id] = {"isLive": is_live, "quantities": quantities}


def update_stock_with_finished_order(order_id):
    """Uses the final state of an order. An order that is not in the report of its till takes nothing."""
    try:
        with open_url(f"/v2/orders/{order_id}") as response:
            quantities = quantities_of(json.load(response))
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        quantities = {}
    update_stock(order_id, quantities, False)


def process_event(event, data):
    global initial_order_ids
    if event == "reset":
        initial_order_ids = set()
    elif event == "order":
        if initial_order_ids is not None:
            initial_order_ids.add(data["id"])
        update_stock(data["id"], quantities_of(data["data"]), True)
    elif event == "left" and data["reason"] == "till":
        update_stock_with_finished_order(data["id"])
    elif event == "left" and data["reason"] == "training":
        update_stock(data["id"], {}, False)
    elif event == "ready" and initial_order_ids is not None:
        # These orders left the live list while the program was not connected.
        for order_id, order in list(state["orders"].items()):
            if order["isLive"] and order_id not in initial_order_ids:
                update_stock_with_finished_order(order_id)
        initial_order_ids = None


def read_stream():
    global initial_order_ids
    with open_url("/v1/orders-live/stream", {"last-event-id": state["lastEventId"]}) as response:
        initial_order_ids = set() if state["lastEventId"] == "" else None
        event, data, event_id = "", None, state["lastEventId"]
        for line in response:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif line.startswith("id:"):
                event_id = line[3:].strip()
            elif line == "":
                process_event(event, data)
                event = ""
                if initial_order_ids is None:
                    save_state(event_id)


def save_state(last_event_id):
    state["lastEventId"] = last_event_id
    with open(f"{state_file}.new", "w") as file:
        json.dump(state, file)
    os.replace(f"{state_file}.new", state_file)


while True:
    delay = 1
    try:
        read_stream()
    except urllib.error.HTTPError as error:
        print(f"{error.code}: {error.read().decode()}", file=sys.stderr)
        if error.code in (400, 401, 403, 404):
            sys.exit(1)  # The same request would fail again.
        retry_after = error.headers.get("retry-after", "")
        delay = int(retry_after) if retry_after.isdigit() else 1
    except (OSError, http.client.HTTPException) as error:
        print(f"The connection is lost: {error}", file=sys.stderr)
    # The random time prevents all programs from reconnecting at the same moment.
    time.sleep(delay * random.uniform(1, 1.5))
