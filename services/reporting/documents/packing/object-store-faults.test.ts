import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type FakeS3Server, type S3Fault, startFakeS3Server } from "@pragma/runtime/testing/fake-s3-server";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { reportingServiceConfigSchema } from "../../config.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "../../testing/till-fixtures.ts";
import { packTillsTask } from "../periodic/pack-tills.ts";
import { packTill } from "./pack-till.ts";
import { unpackTill } from "./unpack-till.ts";

/**
 * The maximum time of a response while the object store does not answer. Lists of later days wait as long if their key
 * has sent requests for several lists of packed orders.
 */
const maxResponseMs = 4_500;

const config = reportingServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused" });
const log = createLogger({ name: "test", level: "silent" });
const principal = buildTestPrincipalWithScopes("reports:read", "orders:read");
const locationId = principal.location.id;

const buildOldTill = () =>
  buildTestTill(
    Array.from({ length: 3 }, (_, index) => buildTestOrder({ openedAt: `2020-03-01T1${index}:00:00.000Z` })),
    { startedAt: "2020-03-01T08:00:00.000Z" },
  );
const [cold, otherCold, toPack] = [buildOldTill(), buildOldTill(), buildOldTill()];
const hot = buildTestTill([buildTestOrder({ openedAt: "2025-03-01T10:00:00.000Z" })], {
  startedAt: "2025-03-01T08:00:00.000Z",
});
const coldPaths = [
  `/v1/orders/${cold.orderList[0]?.id}`,
  `/v2/orders/${cold.orderList[2]?.id}`,
  `/v1/reports/${computeTillReportId(cold.id)}`,
  `/v2/reports/${computeTillReportId(cold.id)}`,
  `/v1/orders/?until=2020-03-01&reportId=${computeTillReportId(cold.id)}`,
  "/v1/reports/?until=2020-03-01",
];
const hotPaths = [
  `/v2/orders/${hot.orderList[0]?.id}`,
  `/v2/reports/${computeTillReportId(hot.id)}`,
  "/v1/orders/?since=2025-03-01",
  "/v1/reports/?since=2025-03-01",
];

/** The bytes that an object store can return instead of those of the packed till. */
const corruptions: [string, (object: Buffer, other: Buffer) => Buffer][] = [
  ["of which the last byte of each block differs", (object) => object.map((byte) => byte ^ 1) as Buffer],
  [
    "of which one bit differs in each kilobyte",
    (object) => Buffer.from(object.map((byte, index) => (index % 1024 === 100 ? byte ^ 16 : byte))),
  ],
  ["without the last bytes", (object) => object.subarray(0, 30)],
  ["of an empty object", () => Buffer.alloc(0)],
  ["of another packed till", (_, other) => other],
];

let s3: FakeS3Server;
let service: TestReportingService;

async function get(path: string) {
  const started = performance.now();
  const response = await service.request("GET", path, { principal });
  const { headers, status } = response;
  return {
    status,
    body: await response.text(),
    etag: headers.get("etag"),
    type: headers.get("content-type"),
    retryAfter: headers.get("retry-after"),
    milliseconds: performance.now() - started,
  };
}
type TestResponse = Awaited<ReturnType<typeof get>>;
const withoutTime = ({ milliseconds: _, ...response }: TestResponse) => response;
const getAll = async (paths: string[]) => (await Promise.all(paths.map(get))).map(withoutTime);

async function findObjectKey({ id }: { id: string }): Promise<string> {
  const [row] = await service.db.sql<{ objectKey: string }[]>`
    select object_key from packed_tills where till_id = ${id}`;
  return row?.objectKey ?? expect.unreachable(`${id} is packed`);
}

/** Sends requests for packed and other responses during a fault, and repeats them afterwards. */
async function expectUnavailableDuring(
  fault: () => Promise<() => Promise<void>>,
  alsoExpect: () => Promise<void> = async () => {},
): Promise<void> {
  const [expectedCold, expectedHot] = [await getAll(coldPaths), await getAll(hotPaths)];
  expect(expectedCold.map(({ status }) => status)).toEqual(coldPaths.map(() => 200));
  const end = await fault();
  try {
    // More requests than are read at a time.
    const pending = [...coldPaths, ...coldPaths, ...coldPaths].map(get);
    const hotResponses = await Promise.all(hotPaths.map(get));
    expect(hotResponses.map(withoutTime)).toEqual(expectedHot);
    for (const { milliseconds } of hotResponses) expect(milliseconds).toBeLessThan(maxResponseMs);
    for (const { status, type, retryAfter, body, milliseconds } of await Promise.all(pending)) {
      expect({ status, type, retryAfter }, body).toEqual({
        status: 503,
        type: "application/problem+json",
        retryAfter: "2",
      });
      expect(milliseconds).toBeLessThan(maxResponseMs);
    }
    await alsoExpect();
  } finally {
    await end();
  }
  await eventually(
    "packed tills to be read again",
    async () => (await getAll(coldPaths)).every(({ status }) => status === 200),
    { timeoutSeconds: 5 },
  );
  expect(await getAll(coldPaths)).toEqual(expectedCold);
}

async function expectNotUnpacked(): Promise<void> {
  const { objects, db } = service;
  await expect(unpackTill({ db, objects }, { locationId, tillId: cold.id })).rejects.toThrow();
}

describe.each(["a folder", "S3"])("the object store in %s", (kind) => {
  beforeAll(async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "access");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    s3 = await startFakeS3Server();
    // The service itself packs nothing.
    service = await startTestReportingService({
      HOT_DAYS: "36500",
      ...(kind === "S3" && { OBJECT_STORE: s3.url }),
    });
    for (const till of [cold, otherCold, toPack, hot]) await service.pushTills([till], locationId);
    for (const { id: tillId } of [cold, otherCold])
      expect(await packTill({ db: service.db, objects: service.objects }, { locationId, tillId })).toBe(true);
  });
  afterEach(() => {
    s3.fault = null;
  });
  afterAll(async () => {
    await service?.remove();
    await s3?.close();
    vi.unstubAllEnvs();
  });

  it.each(corruptions)("never causes a wrong response when it returns bytes %s", async (_, corrupt) => {
    const otherObject = Buffer.from(await service.objects.get(await findObjectKey(otherCold)));
    const key = await findObjectKey(cold);
    await expectUnavailableDuring(async () => {
      if (kind === "S3") {
        s3.fault = (object) => corrupt(object, otherObject);
        return async () => {
          s3.fault = null;
        };
      }
      const path = `${fileURLToPath(service.environment.variables.OBJECT_STORE ?? "")}/${key}`;
      const stored = await readFile(path);
      await writeFile(path, corrupt(stored, otherObject));
      return () => writeFile(path, stored);
    }, expectNotUnpacked);
  });

  const outages: [string, S3Fault][] =
    kind === "S3"
      ? [
          ["it closes connections", "closed"],
          ["it returns errors", "error"],
          ["it does not answer", "silent"],
          ["it sends a byte per second", "slow"],
        ]
      : [["it is not mounted", "closed"]];

  async function startOutage(fault: S3Fault): Promise<() => Promise<void>> {
    s3.fault = fault;
    if (kind === "S3")
      return async () => {
        s3.fault = null;
      };
    const folder = fileURLToPath(service.environment.variables.OBJECT_STORE ?? "");
    await rename(folder, `${folder}-away`);
    return async () => {
      await rm(folder, { recursive: true, force: true });
      await rename(`${folder}-away`, folder);
    };
  }

  it.each(outages)("makes reads of packed tills fail with 503 while %s, and no others", (_, fault) =>
    expectUnavailableDuring(() => startOutage(fault)),
  );

  it("is missing an object, which is reported as unavailable", async () => {
    const key = await findObjectKey(cold);
    const bytes = await service.objects.get(key);
    await expectUnavailableDuring(async () => {
      await service.objects.delete(key);
      return () => service.objects.put(key, bytes);
    }, expectNotUnpacked);
  });

  it("lets no till be packed while it is damaged, and lets it be packed afterwards", async () => {
    const { db, objects } = service;
    await db.sql`update reports set updated_at = now() - interval '2 days' where till_id = ${toPack.id}`;
    const isPacked = async () => (await db.sql`select from packed_tills where till_id = ${toPack.id}`).count === 1;
    const task = (changes: object) => packTillsTask.run({ db, log, config, objects: { ...objects, ...changes } });
    for (const changes of [
      { get: async () => Buffer.from("damaged") },
      { put: async () => {} },
      { get: () => Promise.reject(new ObjectNotFoundError("packed")) },
    ]) {
      await expect(task(changes)).rejects.toThrow();
      expect(await isPacked()).toBe(false);
    }
    await task({});
    expect(await isPacked()).toBe(true);
    await unpackTill({ db, objects }, { locationId, tillId: toPack.id });
    await db.sql`update reports set updated_at = now() where till_id = ${toPack.id}`;
  });
});
