import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { startUsage } from "./start-usage.mjs";

const folder = mkdtempSync(join(tmpdir(), "pragma-usage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ["--help", { status: 0, stdout: `${startUsage}\n`, stderr: "" }],
  ["-h", { status: 0, stdout: `${startUsage}\n`, stderr: "" }],
  ["--port=4100", { status: 1, stdout: "", stderr: `npm start does not know --port=4100.\n\n${startUsage}\n` }],
])("npm start -- %s prints the usage and starts nothing", (arg, expected) => {
  const home = join(folder, "home");
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "start.mjs"), arg], {
    encoding: "utf8",
    env: { ...process.env, PRAGMA_HOME: home },
  });
  expect({ status, stdout, stderr }).toEqual(expected);
  expect(existsSync(home)).toBe(false);
});

it("the usage names each port with its default", () => {
  const program = readFileSync(join(import.meta.dirname, "start.ts"), "utf8");
  const ports = [...program.matchAll(/readPort\("(\w+)", (\d+)\)/g)].map(([, name, port]) => `${name}=${port} `);
  expect(ports).toHaveLength(5);
  expect(ports.filter((port) => !startUsage.includes(port))).toEqual([]);
});
