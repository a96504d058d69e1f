import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const entries = ["start.mjs", "dev-servers.mjs", "testing/test.mjs", "testing/check.mjs"];
/** Returns a module that makes Node.js report this version. */
const fakeNodeVersion = (version: string) =>
  `data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;

it.each(entries)("%s only prints a message when Node.js is too old", (entry) => {
  const args = ["--import", fakeNodeVersion("18.20.8"), join(import.meta.dirname, entry)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: "Node.js 20.19 or newer is required, but this is Node.js 18.20.8. See https://nodejs.org\n",
  });
});

it.each(entries)("%s imports nothing else before the version check", (entry) => {
  const importsOf = (file: string) =>
    [...readFileSync(join(import.meta.dirname, file), "utf8").matchAll(/^import\b.*$/gm)].map(([line]) => line);
  expect(importsOf(entry)).toEqual([expect.stringMatching(/^import "\.\.?\/node-version\.mjs";$/)]);
  expect(importsOf("node-version.mjs")).toEqual([]);
});
