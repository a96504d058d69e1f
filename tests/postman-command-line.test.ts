import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isEndlessRequest, startCollectionTarget } from "./harness/collection-target.ts";

/*
 * This test runs the Postman collection with newman, the command line of Postman. Only the soak has it, because newman
 * needs 120 packages, which the test installs in a temporary folder.
 */

const newman = "newman@6.2.2";

interface PostmanItem {
  name: string;
  item: { name: string }[];
}
interface NewmanExecution {
  item: { name: string };
  request: { url: { path: string[] } };
  response?: { code: number };
  assertions?: { error?: { message: string } }[];
}

const runFile = promisify(execFile);
const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/client/api-client")), "..");
const folder = mkdtempSync(join(tmpdir(), "pragma-postman-"));

let target: Awaited<ReturnType<typeof startCollectionTarget>>;
beforeAll(async () => {
  target = await startCollectionTarget();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  await runFile("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", newman], { cwd: folder });
}, 600_000);
afterAll(async () => {
  await target?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("the Postman collection succeeds with each request, in its order, at a location without data", async () => {
  const download = join(repositoryFolder, "docs-portal", "downloads", "postman-collection.mjs");
  const { createPostmanCollection } = await import(pathToFileURL(download).href);
  const document = JSON.parse(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));
  const collection: { item: PostmanItem[] } = createPostmanCollection(document);
  const collectionFile = join(folder, "pragma-api.postman_collection.json");
  const resultFile = join(folder, "newman.json");
  const items = collection.item.map(({ name, item }) => ({
    name,
    item: item.filter((request) => !isEndlessRequest(request)),
  }));
  writeFileSync(collectionFile, JSON.stringify({ ...collection, item: items }));
  const run = runFile(join(folder, "node_modules", ".bin", "newman"), [
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
  expect(sent).toEqual(items.flatMap(({ item }) => item.map(({ name }) => name)));
  for (const { item, request, response } of executions) {
    expect([item.name, response?.code]).toEqual([item.name, expect.any(Number)]);
    // A variable that no request has set is empty.
    expect([item.name, ...request.url.path]).not.toContain("");
  }
}, 180_000);
