import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildTestOrder, buildTestOrderProductRow, buildTestTill } from "./testing/till-fixtures.ts";
import { createTillCalculator, largeTillBytes, type TillCalculator } from "./till-calculator.ts";

let calculator: TillCalculator;
beforeAll(() => {
  calculator = createTillCalculator({ threads: 1, heapMegabytes: 512 });
});
afterAll(() => calculator?.close());

function buildTask(orderCount: number) {
  const productRowList = Array.from({ length: 25 }, () => buildTestOrderProductRow({ name: "x".repeat(1_000) }));
  const till = buildTestTill(Array.from({ length: orderCount }, () => buildTestOrder({ productRowList })));
  const bytes = Buffer.from(JSON.stringify(till));
  const hash = createHash("sha256").update(bytes).digest("hex");
  const stored = {
    calculatedAt: "2026-05-29T23:00:00.000Z",
    creationTimes: new Map<string, string>(),
    isStored: true,
  };
  const options = { version: "V2" as const, timeZone: "UTC", locationId: randomUUID(), ...stored };
  return { bytes: new Uint8Array(bytes), hash, tillId: till.id, ...options };
}

it("calculates a small till while it calculates a large one", async () => {
  const orderBytes = buildTask(2).bytes.byteLength - buildTask(1).bytes.byteLength;
  const largeTask = buildTask(Math.ceil((1.5 * largeTillBytes) / orderBytes));
  const measureMs = async (task: ReturnType<typeof buildTask>) => {
    const since = performance.now();
    await calculator.run(task);
    return performance.now() - since;
  };
  // Until there is a thread.
  await measureMs(buildTask(1));
  const large = measureMs(largeTask);
  // Until a thread has it.
  await new Promise(setImmediate);
  const smallMs = await measureMs(buildTask(3));
  expect(smallMs).toBeLessThan((await large) / 2);
});
