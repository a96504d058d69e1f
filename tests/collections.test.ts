import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/*
 * The documentation site offers collections for Postman and Bruno. These tests run the Postman collection with newman,
 * the command line of Postman. They compare the Bruno collection with the Postman collection, and validate it with the
 * schema that Bruno applies to imported collections.
 */

interface PostmanItem {
  name: string;
  item?: PostmanItem[];
  request: { method: string; url: { raw: string }; body?: { raw: string } };
}
interface BrunoItem {
  name: string;
  items?: BrunoItem[];
  request: { method: string; url: string; body: { json?: string } };
}

const runFile = promisify(execFile);
const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/client/api-client")), "..");
const document = JSON.parse(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "pragma-collections-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const importDownload = (name: string) =>
  import(pathToFileURL(join(repositoryFolder, "docs-portal", "downloads", `${name}.mjs`)).href);
const postman = (await importDownload("postman-collection")).createPostmanCollection(document);
const bruno = (await importDownload("bruno-collection")).createBrunoCollection(document);

describe("the Postman collection", () => {
  let product: PragmaUnderTestAccess;
  let testLocation: TestLocation;
  /** The status of each response, by request name. */
  let statuses: Record<string, number>;

  beforeAll(async () => {
    product = await getSharedPragmaUnderTest();
    const scopes = [
      "reports:read",
      "orders:read",
      "catalog:read",
      "catalog:write",
      "tills:read",
      "tills:write",
      "webhooks:write",
    ];
    testLocation = await createTestLocation(product, { scopes: scopes as never });
    await testLocation.api.POST("/v2/tills", {
      body: generateTill({ seed: "collection", orders: 2, day: "2026-05-20" }),
    });
    await testLocation.waitForReports(1);
    // All requests are sent in one run, because newman takes several seconds to start.
    statuses = await runCollection([
      ...["Health", "List reports", "Get a report", "List orders", "Get an order"],
      ...["Replace the catalog", "List products", "Create or update a recipient", "Rotate a recipient's secret"],
      ...["Reprocess tills", "Get a reprocessing job"],
    ]);
  }, 120_000);

  /** Runs folders or requests of the collection with newman. Returns the status of each response, by request name. */
  async function runCollection(names: string[]): Promise<Record<string, number>> {
    const collectionFile = join(folder, "pragma-api.postman_collection.json");
    const resultFile = join(folder, "newman.json");
    writeFileSync(collectionFile, JSON.stringify(postman));
    const variables = { baseUrl: product.url, apiKey: testLocation.key };
    await runFile(process.execPath, [
      fileURLToPath(import.meta.resolve("newman/bin/newman.js")),
      ...["run", collectionFile, "--reporters", "json", "--reporter-json-export", resultFile],
      ...Object.entries(variables).flatMap(([name, value]) => ["--env-var", `${name}=${value}`]),
      ...names.flatMap((name) => ["--folder", name]),
    ]);
    const { run } = JSON.parse(readFileSync(resultFile, "utf8"));
    return Object.fromEntries(
      run.executions.map(({ item, response }: { item: { name: string }; response: { code: number } }) => [
        item.name,
        response.code,
      ]),
    );
  }

  it("checks the health, lists the reports, and gets a report", () => {
    expect(statuses).toMatchObject({ "Check API health": 200, "List reports": 200, "Get a report": 200 });
  });

  it("gets an order, replaces the catalog, and rotates the secret of a new recipient", () => {
    expect(statuses).toMatchObject({
      ...{ "List orders": 200, "Get an order": 200, "Replace the catalog": 200, "List products": 200 },
      ...{ "Create or update a recipient": 201, "Rotate a recipient's secret": 200 },
    });
  });

  it("gets the reprocessing job that it has started", () => {
    expect(statuses).toMatchObject({ "Reprocess tills": 202, "Get a reprocessing job": 200 });
  });

  it("sends only the requests that were selected", () => {
    expect(Object.keys(statuses)).toHaveLength(11);
  });
});

/** Returns each request of a collection on one line: its folder, name, method, URL and body. */
function listRequests(items: (PostmanItem & BrunoItem)[], parent = ""): string[] {
  return items.flatMap(({ name, item, items: children, request }) => {
    const nested = item ?? children;
    if (nested) return listRequests(nested as (PostmanItem & BrunoItem)[], name);
    const url = typeof request.url === "string" ? request.url : (request.url as { raw: string }).raw;
    const { raw, json } = (request.body ?? {}) as { raw?: string; json?: string };
    return [[parent, name, request.method, url, raw ?? json ?? ""].join(" | ")];
  });
}

describe("both collections", () => {
  it("contain a request for each operation, in a folder for each tag", () => {
    const operations = Object.entries<Record<string, { summary: string; tags: string[] }>>(document.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, { summary, tags }]) =>
          [tags[0], summary, method.toUpperCase(), path.replace(/\{(\w+)\}/g, ":$1")].join(" | "),
        ),
    );
    const withoutQueryAndBody = (line: string) =>
      line.split(" | ").slice(0, 4).join(" | ").replace("{{baseUrl}}", "").replace(/\?.*/, "");
    expect(listRequests(postman.item).map(withoutQueryAndBody).toSorted()).toEqual(operations.toSorted());
    expect(listRequests(bruno.items)).toEqual(listRequests(postman.item));
  });

  it("save the IDs of background jobs for the next requests", () => {
    for (const collection of [postman, bruno])
      for (const variable of ["reprocessId", "exportId", "recoveryId"])
        expect(JSON.stringify(collection)).toContain(`(\\"${variable}\\"`);
  });

  it("contain no API key and no fixed idempotency key", () => {
    for (const collection of [postman, bruno]) {
      const text = JSON.stringify(collection);
      expect(text).not.toMatch(/pragma_\w{10}/);
      for (const [, value] of text.matchAll(/"Idempotency-Key","value":"([^"]*)"/g)) expect(value).toBe("{{$guid}}");
    }
  });
});

describe("the Bruno collection", () => {
  it("is valid for Bruno", async () => {
    const { collectionSchema } = await import(import.meta.resolve("@usebruno/schema"));
    // Bruno adds these ids when it imports a collection.
    const withIds = JSON.parse(JSON.stringify(bruno), (_, value) => {
      const needsId = typeof value === "object" && value !== null && !Array.isArray(value) && "name" in value;
      return needsId ? { uid: randomBytes(11).toString("hex").slice(0, 21), ...value } : value;
    });
    for (const { root } of withIds.items) delete root.meta.uid;
    await expect(collectionSchema.validate(withIds)).resolves.toBeDefined();
  });
});
