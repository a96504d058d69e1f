import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isEndlessRequest, startCollectionTarget } from "./harness/collection-target.ts";

/*
 * This test runs the Bruno collection with Bruno's command line. Only the soak has it, because the command line needs
 * 500 packages (275 MB), which the test installs in a temporary folder.
 */

const commandLinePackage = "@usebruno/cli";
const commandLineVersion = "4.1.0";

interface BrunoItem {
  name: string;
  items?: BrunoItem[];
}
interface BrunoResult {
  name: string;
  status: string;
  error: string | null;
  request: { url: string };
  response: { status: number | string };
  testResults: { status: string; description: string; error?: string }[];
}

const runFile = promisify(execFile);
const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/client/api-client")), "..");
const folder = mkdtempSync(join(tmpdir(), "pragma-bruno-"));
const collectionFolder = join(folder, "collection");

let target: Awaited<ReturnType<typeof startCollectionTarget>>;
beforeAll(async () => {
  target = await startCollectionTarget();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const install = ["install", "--no-audit", "--no-fund", `${commandLinePackage}@${commandLineVersion}`];
  await runFile("npm", install, { cwd: folder });
}, 600_000);
afterAll(async () => {
  await target?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a collection as the files that Bruno creates when it imports the collection. */
async function importCollection(collection: { items: Required<BrunoItem>[] }): Promise<void> {
  const { createCollectionFromBrunoObject } = createRequire(join(folder, "package.json"))(
    `${commandLinePackage}/src/utils/collection.js`,
  );
  const items = collection.items.map((tag) => ({ ...tag, items: tag.items.filter((each) => !isEndlessRequest(each)) }));
  mkdirSync(collectionFolder);
  await createCollectionFromBrunoObject({ ...collection, items }, collectionFolder);
}

it("the Bruno collection succeeds with each request, in its order, at a location without data", async () => {
  const download = join(repositoryFolder, "docs-portal", "downloads", "bruno-collection.mjs");
  const { createBrunoCollection } = await import(pathToFileURL(download).href);
  const document = JSON.parse(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));
  const collection = createBrunoCollection(document);
  await importCollection(collection);
  const resultFile = join(folder, "results.json");
  const command = join(folder, "node_modules", ".bin", "bru");
  const run = runFile(
    command,
    ["run", ".", "-r", "--env", "Local", "--reporter-json", resultFile, ...target.variableArguments],
    { cwd: collectionFolder, maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: { stdout: string; stderr: string }) => error);
  const { stdout, stderr } = await run;
  expect(existsSync(resultFile), `${stdout}\n${stderr}`).toBe(true);
  const [{ results }] = JSON.parse(readFileSync(resultFile, "utf8")) as [{ results: BrunoResult[] }];
  const failed = results.flatMap(({ name, error, response, testResults }) => [
    ...(error ? [`${name}: ${error}`] : []),
    ...testResults.flatMap((each) => (each.status === "pass" ? [] : [`${name}: ${response.status} ${each.error}`])),
  ]);
  expect(failed).toEqual([]);
  for (const { request } of results) expect(request.url).not.toContain("%7B");
  const sent = [...new Set(results.map(({ name }) => name))];
  const listed = (collection.items as Required<BrunoItem>[]).flatMap(({ items }) => items);
  expect(sent).toEqual(listed.filter((each) => !isEndlessRequest(each)).map(({ name }) => name));
}, 300_000);
