# Usage: PRAGMA_API_KEY=… python3 sync.py catalog.json
import json
import os
import sys
import urllib.error
import urllib.request

base_url = os.environ.get("PRAGMA_URL", "http://127.0.0.1:4000")
api_key = os.environ.get("PRAGMA_API_KEY") or sys.exit("Set PRAGMA_API_KEY to your API key.")
authorization = {"authorization": f"Bearer {api_key}"}
file_name = sys.argv[1] if len(sys.argv) > 1 else "catalog.json"

other_paths = {
    "payments": "/v1/catalog/payments",
    "taxes": "/v1/catalog/taxes",
    "modifiers": "/v1/catalog/modifiers",
    "categories": "/v1/catalog/categories",
}

# The copy: the items of each list by ID, and the version of the catalog. In your program, this is a database.
copy = {"version": None, "lists": {}}
if os.path.exists(file_name):
    with open(file_name) as file:
        copy = json.load(file)


def read_list(path, known_version=None):
    """Returns the items of a list and its ETag. The items are None if the list still has the known version."""
    headers = authorization if known_version is None else {**authorization, "if-none-match": known_version}
    try:
        request = urllib.request.Request(f"{base_url}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response), response.headers["etag"]
    except urllib.error.HTTPError as error:
        if error.code == 304:
            return None, known_version
        sys.exit(f"{error.code}: {error.read().decode()}")


def read_catalog():
    """Returns all lists of the same version and this version, or None if the copy has this version."""
    products, version = read_list("/v1/catalog", copy["version"])
    if products is None:
        return None
    while True:
        lists = {"products": products}
        for name, path in other_paths.items():
            lists[name], _ = read_list(path)
        products, new_version = read_list("/v1/catalog", version)
        if products is None:
            return lists, version
        version = new_version  # The catalog has changed: start again.


def update_copy(name, items):
    """Changes a list of the copy so that it contains exactly these items. Returns a summary of the changes."""
    known = copy["lists"].setdefault(name, {})
    changed = [item for item in items if known.get(item["id"]) != item]
    removed = known.keys() - {item["id"] for item in items}
    for item in changed:
        known[item["id"]] = item
    for item_id in removed:
        del known[item_id]
    return f"{name}: {len(changed)} added or changed, {len(removed)} removed"


catalog = read_catalog()
if catalog is None:
    print("The catalog has not changed.")
else:
    lists, copy["version"] = catalog
    changes = [update_copy(name, items) for name, items in lists.items()]
    # The items and their version are stored together, in one step.
    with open(f"{file_name}.new", "w") as file:
        json.dump(copy, file)
    os.replace(f"{file_name}.new", file_name)
    print("\n".join(changes))
