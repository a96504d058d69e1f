import { randomBytes, randomUUID } from "node:crypto";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTillQuotas, tillIngestServiceConfigSchema } from "./config.ts";
import { dryRunTill } from "./dry-run-till.ts";
import { startTestTillIngestService, type TestTillIngestService } from "./testing/start-test-till-ingest.ts";

const quotasOf = createTillQuotas(tillIngestServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused" }));
let service: TestTillIngestService;
beforeAll(async () => {
  service = await startTestTillIngestService();
});
afterAll(() => service?.remove());

/** The bodies name no currency. */
const locations = { getCurrency: () => expect.unreachable() };

const runWithBody = (bytes: Uint8Array, sendBusRequest: () => Promise<string>, locationId: string = randomUUID()) =>
  runWithObservabilityContext({}, (context) =>
    dryRunTill(
      { db: service.db, quotasOf, locations, sendBusRequest },
      {
        location: { id: locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
        till: {
          metadata: {
            ...{ format: "V2", tillId: randomUUID(), isTraining: false, device: undefined, orderCount: 0 },
            ...{ serverId: null, legacyLocation: null },
          },
          currencies: [],
          warnings: [],
          hash: "h",
          bytes,
        },
        context,
      },
    ),
  );

it("rejects a body that does not fit into a NATS message, before it sends anything", async () => {
  const rejected = runWithBody(randomBytes(800_000), () => expect.unreachable());
  await expect(rejected).rejects.toMatchObject({ code: "body_too_large" });
});

it("is unavailable while reporting does not reply", async () => {
  const rejected = runWithBody(randomBytes(700_000), () => Promise.reject(new Error("timeout")));
  await expect(rejected).rejects.toMatchObject({ code: "service_unavailable" });
});

it("is limited to ten unfinished ones of a location, whether or not they succeed", async () => {
  let fail = () => {};
  let sent = 0;
  const failed = new Promise<never>((_, reject) => {
    fail = () => reject(new Error("timeout"));
  });
  const send = () => {
    sent += 1;
    return failed;
  };
  const locationId = randomUUID();
  const unfinished = Array.from({ length: 10 }, () => runWithBody(randomBytes(10), send, locationId));
  const outcomes = Promise.allSettled(unfinished);
  await expect(runWithBody(randomBytes(10), () => expect.unreachable(), locationId)).rejects.toMatchObject({
    ...{ code: "rate_limited", headers: { "retry-after": "2" } },
    limit: { name: "concurrent_till_dry_runs", maximum: 10 },
  });
  const ofOtherLocation = runWithBody(randomBytes(10), () => Promise.reject(new Error("timeout")));
  await expect(ofOtherLocation).rejects.toMatchObject({ code: "service_unavailable" });
  fail();
  expect((await outcomes).map(({ status }) => status)).toEqual(Array(10).fill("rejected"));
  expect(sent).toBe(10);
  await expect(runWithBody(randomBytes(10), send, locationId)).rejects.toMatchObject({ code: "service_unavailable" });
});
