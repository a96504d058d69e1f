import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isEndlessRequest, startCollectionTarget } from "./harness/collection-target.ts";

/*
 * The documentation site offers collections for Postman and Bruno. These tests run the Postman collection with newman,
 * the command line of Postman. They compare the Bruno collection with the Postman collection, and validate it with the
 * schema that Bruno applies to imported collections. `bruno-command-line.test.ts` runs the Bruno collection.
 */

interface PostmanItem {
  name: string;
  item?: PostmanItem[];
  request: { method: string; url: { raw: string }; body?: { raw: string } };
}
interface NewmanExecution {
  item: { name: string };
  request: { url: { path: string[] } };
  response?: { code: number };
  assertions?: { error?: { message: string } }[];
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
  let target: Awaited<ReturnType<typeof startCollectionTarget>>;
  beforeAll(async () => {
    target = await startCollectionTarget();
  }, 120_000);
  afterAll(() => target?.stop());

  it("succeeds with each request, in its order, at a location without data", async () => {
    const collectionFile = join(folder, "pragma-api.postman_collection.json");
    const resultFile = join(folder, "newman.json");
    const items = postman.item.map(({ name, item }: Required<PostmanItem>) => ({
      name,
      item: item.filter((request) => !isEndlessRequest(request)),
    }));
    writeFileSync(collectionFile, JSON.stringify({ ...postman, item: items }));
    const run = runFile(process.execPath, [
      fileURLToPath(import.meta.resolve("newman/bin/newman.js")),
      ...["run", collectionFile, "--reporters", "json", "--reporter-json-export", resultFile],
      ...target.variableArguments,
    ]);
    await run.catch(() => {});
    const { executions } = JSON.parse(readFileSync(resultFile, "utf8")).run as { executions: NewmanExecution[] };
    const failed = executions.flatMap(({ item, response, assertions = [] }) =>
      assertions.flatMap(({ error }) => (error ? [`${item.name}: ${response?.code} ${error.message}`] : [])),
    );
    expect(failed).toEqual([]);
    const sent = [...new Set(executions.map(({ item }) => item.name))];
    expect(sent).toEqual(items.flatMap(({ item }: Required<PostmanItem>) => item.map(({ name }) => name)));
    for (const { item, request, response } of executions) {
      expect([item.name, response?.code]).toEqual([item.name, expect.any(Number)]);
      // A variable that no request has set is empty.
      expect([item.name, ...request.url.path]).not.toContain("");
    }
  }, 180_000);
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
      for (const variable of ["reprocessId", "exportId", "accountingExportId", "recoveryId"])
        expect(JSON.stringify(collection)).toContain(`\\"${variable}\\":`);
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
