import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import {
  describeStartStep,
  describeUnreadyParts,
  isLocalLiveDemoEnabled,
  readSiteApiKey,
  startLiveDemoProgram,
} from "./start.ts";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

test.each([undefined, "", "on", "true"])("the live demo runs when PRAGMA_LIVE_DEMO is %j", (value) => {
  expect(isLocalLiveDemoEnabled({ PRAGMA_LIVE_DEMO: value })).toBe(true);
});

test.each(["off", "OFF", "false", "0", "no"])("the live demo is off when PRAGMA_LIVE_DEMO is %j", (value) => {
  expect(isLocalLiveDemoEnabled({ PRAGMA_LIVE_DEMO: value })).toBe(false);
});

test("the live demo gets the URL of the API and the demo file, and stops gracefully", async () => {
  const folder = createTestScratchFolder();
  const program = join(folder, "play.mjs");
  writeFileSync(
    program,
    `process.on("SIGTERM", () => { console.log("stopped"); process.exit(0); });
     console.log(process.env.PRAGMA_URL, process.env.PRAGMA_DEMO_FILE);
     setInterval(() => {}, 1_000);`,
  );
  const readLog = () => readFileSync(join(folder, "logs", "live-demo.log"), "utf8");
  const running = await startLiveDemoProgram(folder, program, "http://localhost:4000", {
    PRAGMA_DEMO_FILE: "/demo.json",
  });
  await vi.waitFor(() => expect(readLog()).toBe("http://localhost:4000 /demo.json\n"), { timeout: 10_000 });
  await running.stop();
  expect(readLog()).toContain("stopped");
});

test("the documentation gets only the key that can read reports, if the demo file has one", () => {
  const file = join(createTestScratchFolder(), "demo.json");
  expect(readSiteApiKey(file)).toBeUndefined();
  writeFileSync(file, JSON.stringify({ apiKey: "pragma_all" }));
  expect(readSiteApiKey(file)).toBeUndefined();
  writeFileSync(file, JSON.stringify({ apiKey: "pragma_all", siteApiKey: "pragma_reports" }));
  expect(readSiteApiKey(file)).toBe("pragma_reports");
});

test("the start states which migrations are done, and for which dependencies the product waits", () => {
  const line = (number: number) =>
    JSON.stringify({
      service: "reporting",
      migration: "reporting/001.sql",
      number,
      count: 41,
      msg: "migration applied",
    });
  const logged = [line(22), line(23), '{"level":30,"msg":"request"}', line(24).slice(0, -1)].join("\n");
  expect(describeStartStep(logged)).toBe("migrating reporting: 23 of 41 done");
  expect(describeStartStep('{"level":30,"msg":"request"}\n')).toBe("");
  const nats = "not connected.";
  const parts = { reporting: { postgres: "ok", nats }, gateway: { redis: "refused" }, jobs: { nats } };
  expect(describeUnreadyParts(JSON.stringify({ status: "not ready", parts }))).toBe(
    "reporting, jobs wait for nats: not connected; gateway waits for redis: refused",
  );
  expect(describeUnreadyParts(undefined)).toBe("");
});
