// Usage: PRAGMA_API_KEY=… npx tsx sync.mts catalog.json
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { createApiClient, NotModifiedError } from "@pragma/client";

type Item = { id: string };

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const file = process.argv[2] ?? "catalog.json";
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });

const otherPaths = {
  payments: "/v1/catalog/payments",
  taxes: "/v1/catalog/taxes",
  modifiers: "/v1/catalog/modifiers",
  categories: "/v1/catalog/categories",
} as const;

/** The copy: the items of each list by ID, and the version of the catalog. In your program, this is a database. */
const copy: { version: string | null; lists: Record<string, Record<string, Item>> } = existsSync(file)
  ? JSON.parse(readFileSync(file, "utf8"))
  : { version: null, lists: {} };

/** Returns the products and the version of the catalog; null if the catalog still has the known version. */
async function readProducts(knownVersion: string | null) {
  try {
    const { data, response } = await client.GET("/v1/catalog", { headers: { "if-none-match": knownVersion } });
    return { products: data, version: response.headers.get("etag") };
  } catch (error) {
    if (error instanceof NotModifiedError) return null;
    throw error;
  }
}

/** Returns all lists of the same version; null if the catalog still has the known version. */
async function readCatalog(knownVersion: string | null) {
  let catalog: { version: string | null; lists: Record<string, Item[]> } | null = null;
  let current = await readProducts(knownVersion);
  while (current !== null) {
    const lists: Record<string, Item[]> = { products: current.products };
    for (const [name, path] of Object.entries(otherPaths)) lists[name] = (await client.GET(path)).data;
    catalog = { version: current.version, lists };
    current = await readProducts(current.version); // If the catalog has changed in the meantime, start again.
  }
  return catalog;
}

/** Changes a list of the copy so that it contains exactly these items. Returns a summary of the changes. */
function updateCopy(name: string, items: Item[]) {
  copy.lists[name] ??= {};
  const list = copy.lists[name];
  const changed = items.filter((item) => !isDeepStrictEqual(list[item.id], item));
  const ids = new Set(items.map(({ id }) => id));
  const removed = Object.keys(list).filter((id) => !ids.has(id));
  for (const item of changed) list[item.id] = item;
  for (const id of removed) delete list[id];
  return `${name}: ${changed.length} added or changed, ${removed.length} removed`;
}

const catalog = await readCatalog(copy.version);
if (catalog === null) console.log("The catalog has not changed.");
else {
  const changes = Object.entries(catalog.lists).map(([name, items]) => updateCopy(name, items));
  copy.version = catalog.version;
  // The items and their version are stored together, in one step.
  writeFileSync(`${file}.new`, JSON.stringify(copy));
  renameSync(`${file}.new`, file);
  console.log(changes.join("\n"));
}
