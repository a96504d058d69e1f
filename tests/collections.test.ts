import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

/*
 * The documentation site offers collections for Postman and Bruno. These tests compare them, and validate the Bruno
 * collection with the schema that Bruno applies to imported collections. `postman-command-line.test.ts` and
 * `bruno-command-line.test.ts` run the collections.
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

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/client/api-client")), "..");
const document = JSON.parse(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));

const importDownload = (name: string) =>
  import(pathToFileURL(join(repositoryFolder, "docs-portal", "downloads", `${name}.mjs`)).href);
const postman = (await importDownload("postman-collection")).createPostmanCollection(document);
const bruno = (await importDownload("bruno-collection")).createBrunoCollection(document);

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
