import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { lunchCatalog } from "./documentation/lunch-till.ts";
import {
  installedSnippetLanguages,
  runSnippet,
  snippetsFolder,
  startSnippet,
  withTemporaryFolder,
} from "./documentation/run-snippet.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/* These tests run the programs of the guide on syncing a catalog as a reader would. */

type Catalog = Pick<typeof lunchCatalog, "products" | "payments" | "taxes" | "modifiers" | "categories">;

let product: PragmaUnderTestAccess;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
}, 300_000);

describe.each(installedSnippetLanguages)("the sync program in $label", (language) => {
  const program = "catalog-sync/sync";
  const args: string[] = [];
  const scopes = ["catalog:read", "catalog:write"] as const;

  const syncCopy = (location: TestLocation, folder: string, url = product.url) =>
    runSnippet(language, { program, url, key: location.key, args, folder });

  it("adds, changes and removes items of the copy", () =>
    withTemporaryFolder(async (folder) => {
      const location = await createTestLocation(product, { scopes: [...scopes] });
      await replaceCatalog(location, lunchCatalog);
      await syncCopy(location, folder);
      expect(readCopy(folder)).toEqual(lunchCatalog);
      expect(await syncCopy(location, folder)).toBe("The catalog has not changed.\n");

      const [first, ...others] = lunchCatalog.products;
      const changed = { ...lunchCatalog, products: [{ ...first, sku: "SKU-900" }, ...others.slice(1)] } as Catalog;
      await replaceCatalog(location, changed);
      const output = await syncCopy(location, folder);
      expect(readCopy(folder)).toEqual(sortItems(changed));
      const example = join(snippetsFolder, "..", "examples", "catalog-sync-output.json");
      await expect(`${JSON.stringify({ text: output }, null, 2)}\n`).toMatchFileSnapshot(example);
    }));

  it("reads all lists of the same version if the catalog changes in the meantime", () =>
    withTemporaryFolder(async (folder) => {
      const location = await createTestLocation(product, { scopes: [...scopes] });
      await replaceCatalog(location, lunchCatalog);
      const emptyCatalog = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };
      const proxy = await startProxy(() => replaceCatalog(location, emptyCatalog));
      await syncCopy(location, folder, proxy.url).finally(proxy.close);
      expect(readCopy(folder)).toEqual(emptyCatalog);
    }));

  it("leaves the copy as it was if a request fails", () =>
    withTemporaryFolder(async (folder) => {
      const location = await createTestLocation(product, { scopes: [...scopes] });
      await replaceCatalog(location, lunchCatalog);
      await syncCopy(location, folder);
      const snippet = startSnippet(language, { program, url: product.url, key: "not-a-key", args, folder });
      expect(await snippet.exitCode).not.toBe(0);
      expect(snippet.errorOutput()).toContain("key_invalid");
      expect(readCopy(folder)).toEqual(lunchCatalog);
    }));

  it("fails without printing changes if the copy cannot be stored", () =>
    withTemporaryFolder(async (folder) => {
      const location = await createTestLocation(product, { scopes: [...scopes] });
      await replaceCatalog(location, lunchCatalog);
      mkdirSync(join(folder, "catalog.json.new"));
      const snippet = startSnippet(language, { program, url: product.url, key: location.key, args, folder });
      expect(await snippet.exitCode).not.toBe(0);
      expect(snippet.output()).toBe("");
    }));
});

async function replaceCatalog(location: TestLocation, catalog: Catalog): Promise<void> {
  expect((await location.request("PUT", "/v1/catalog/", { body: catalog })).status).toBe(200);
}

/** Returns the lists in the file that a program has written, each sorted as in the lunch catalog. */
function readCopy(folder: string): unknown {
  const { lists } = JSON.parse(readFileSync(join(folder, "catalog.json"), "utf8"));
  return sortItems(
    Object.fromEntries(Object.entries<object>(lists).map(([name, items]) => [name, Object.values(items)])) as Catalog,
  );
}

function sortItems(catalog: Catalog): unknown {
  const ids = Object.values(lunchCatalog).flatMap((items) => items.map(({ id }) => id));
  const rankOf = ({ id }: { id: string }) => ids.indexOf(id);
  return Object.fromEntries(
    Object.entries(catalog).map(([name, items]) => [
      name,
      (items as { id: string }[]).toSorted((one, other) => rankOf(one) - rankOf(other)),
    ]),
  );
}

/** Starts a proxy of the API, which calls the function before it forwards the first request for the taxes. */
async function startProxy(beforeTaxes: () => Promise<void>) {
  let isChanged = false;
  const server = createServer(async (request, response) => {
    if (!isChanged && request.url?.startsWith("/v1/catalog/taxes")) {
      isChanged = true;
      await beforeTaxes();
    }
    const { authorization = "", "if-none-match": ifNoneMatch } = request.headers;
    const headers = { authorization, ...(ifNoneMatch !== undefined && { "if-none-match": ifNoneMatch }) };
    const forwarded = await fetch(`${product.url}${request.url}`, { headers });
    const responseHeaders = { "content-type": "application/json", etag: forwarded.headers.get("etag") ?? "" };
    response.writeHead(forwarded.status, responseHeaders).end(await forwarded.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
