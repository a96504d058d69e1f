import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type InterruptingProxy, startInterruptingProxy } from "@pragma/runtime/testing/interrupting-proxy";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUniqueTestJobMessage, startTestJobsService, type TestJobsService } from "./testing/start-test-jobs.ts";

const resetCount = Number(process.env.CONNECTION_RESETS ?? 20);

let proxy: InterruptingProxy;
let jobs: TestJobsService;
beforeAll(async () => {
  proxy = await startInterruptingProxy(process.env.REDIS_URL ?? "");
  jobs = await startTestJobsService({
    REDIS_URL: proxy.url,
    JOBS_CONCURRENCY: "5",
    JOBS_MAX_UNFINISHED_PER_KEY: "5000",
  });
});
afterAll(async () => {
  await jobs?.remove();
  await proxy?.close();
});

/** What the client sends, and how many bytes of the response arrive before the reset. */
const moments: [string, number | "request"][] = [
  ["info", "request"],
  ["info", 20],
  ["evalsha", "request"],
  ["evalsha", 0],
  ["bzpopmin", 0],
];

it("runs each job once, after resets at each moment and under load", {
  timeout: 60_000 + 1_000 * resetCount,
}, async () => {
  const location = jobs.createTestLocation();
  const created: { id: string; message: string }[] = [];
  let isDone = false;
  const createJobs = async () => {
    while (!isDone) {
      const message = createUniqueTestJobMessage("under load");
      created.push({ id: (await location.createJob({ message })).id, message });
      await sleep(10);
    }
  };
  const creating = createJobs();
  for (const [marker, maxBytes] of moments) {
    const interruption = proxy.interrupt(marker, maxBytes, "reset");
    if (marker === "info") proxy.resetConnections();
    await eventually(`a reset at ${marker}`, () => interruption.isInterrupted);
  }
  for (let resets = 0; resets < resetCount; resets += proxy.resetConnections(1)) await sleep(Math.random() * 40);
  isDone = true;
  await creating;
  for (const { id } of created) await location.waitForState(id, "completed", 60);
  const starts = created.map(({ message }) => jobs.startedMessages.filter((each) => each === message).length);
  expect(starts.filter((count) => count !== 1)).toEqual([]);
});

it("runs a job although a connection gets no response any more", { timeout: 120_000 }, async () => {
  const location = jobs.createTestLocation();
  const interruption = proxy.interrupt("evalsha", 0, "pause");
  const message = createUniqueTestJobMessage("silent");
  const { id } = await location.createJob({ message });
  await eventually("a silent connection", () => interruption.isInterrupted);
  await location.waitForState(id, "completed", 90);
  expect(jobs.startedMessages.filter((each) => each === message)).toHaveLength(1);
});
