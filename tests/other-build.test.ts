import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { buildRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiOperations } from "./contract/api-operations.ts";
import { type ContractTestFixture, createContractTestFixture } from "./contract/contract-fixture.ts";
import { contractTestCasesByOperation } from "./contract/operation-contracts.ts";
import { createTestLiveOrderInput } from "./contract/order-and-till-inputs.ts";
import { sendOperationRequest } from "./contract/send-operation-request.ts";
import { testJobLimitEnvironmentVariables } from "./contract/tags/jobs.ts";
import {
  buildFakeLegacyBackofficeVariables,
  type FakeLegacyBackoffice,
  startFakeLegacyBackoffice,
} from "./harness/fake-legacy-backoffice.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/**
 * The program `build/services/main.js` of another build, whose responses must equal those of this one. A change that must not
 * change any response, such as a new form of stored data, is compared with the build before it.
 */
const otherProgram = process.env.COMPARED_PROGRAM;

/** Tills of days before the last ones are packed into objects. */
const hotDays = 100;
const dayMs = 86_400_000;
const dayBefore = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** What both builds have stored, with the same ids except those of locations. */
interface Build {
  product: PragmaUnderTest;
  environment: IsolatedTestEnvironment;
  location: TestLocation;
  fixture: ContractTestFixture;
  tillIds: string[];
  orderIds: string[];
}

let backoffice: FakeLegacyBackoffice;
let builds: Build[] = [];

describe.runIf(otherProgram)("another build", () => {
  beforeAll(async () => {
    backoffice = await startFakeLegacyBackoffice();
    builds = [await startBuild([]), await startBuild([String(otherProgram)])];
  }, 600_000);
  afterAll(async () => {
    for (const { product, environment } of builds) {
      await product.stop();
      await environment.remove();
    }
    await backoffice?.stop();
  });

  it("has equal responses about hot, cold, replaced and erased tills", async () => {
    const paths = listPaths(builds[0] ?? expect.unreachable());
    const differences: unknown[] = [];
    for (const path of paths) {
      const [one, other] = await Promise.all(builds.map((build) => read(build, path)));
      if (JSON.stringify(one) !== JSON.stringify(other)) differences.push(listDifferences(path, one, other));
    }
    expect(differences).toEqual([]);
    expect(paths.length).toBeGreaterThan(500);
  }, 600_000);

  it.each(
    apiOperations.flatMap((operation) =>
      Object.entries(contractTestCasesByOperation[operation.id]?.requestsByOutcome ?? {})
        .filter(([outcome]) => outcome !== "too_many_waiting_requests" && !incomparable.has(operation.id))
        .map(([outcome, buildRequest]) => ({ operation, outcome, buildRequest, id: operation.id })),
    ),
  )("has an equal response of $id: $outcome", async ({ operation, buildRequest }) => {
    const responses = await Promise.all(
      builds.map(async ({ product, fixture }) => {
        const request = { key: fixture.testLocation.key, ...(await buildRequest?.(fixture)) };
        const response = await sendOperationRequest(product.url, operation, request);
        const names = [...response.headers.keys()].filter((name) => !volatileHeaders.test(name));
        return mask({ status: response.status, names, text: describeTypes(response.text) }, product, []);
      }),
    );
    expect(responses[0]).toEqual(responses[1]);
  });
});

/** Operations whose responses depend on when earlier requests were counted, and the documents of each version. */
const incomparable = new Set(["listUsage", "listFailedRequests", "exportAuditEvents", "getOpenApi", "getFullOpenApi"]);

const volatileHeaders =
  /^(?:date|x-request-id|ratelimit|traceparent|keep-alive|connection|content-length|retry-after|accept-ranges)/;

/** Starts a build, and stores the same data in each. */
async function startBuild(nodeArguments: string[]): Promise<Build> {
  const environment = await createIsolatedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "1000000", HOT_DAYS: `${hotDays}` },
    ...{ ...testJobLimitEnvironmentVariables, ...buildFakeLegacyBackofficeVariables(backoffice) },
  });
  const product = await startPragmaUnderTest(
    environment.variables,
    nodeArguments.length === 0 ? {} : { nodeArguments },
  );
  const fixture = await createContractTestFixture(product, { tillId: uuidOf("till of the contract") });
  const location = await createTestLocation(product, {
    legacyId: 4711,
    scopes: ["tills:write", "tills:read", "reports:read", "orders:read", "accounting:write", "catalog:read"],
  });
  const send = async (method: string, path: string, body: unknown, statuses = [200, 201, 202, 204]) => {
    const response = await location.request(method, path, { body, key: product.adminKey });
    const text = await response.text();
    expect(statuses, `${method} ${path}: ${text.slice(0, 500)}`).toContain(response.status);
    return text;
  };
  const ofLocation = `locationId=${location.locationId}`;
  const tills = [];
  for (let index = 0; index < 16; index += 1) {
    const till = generateTill({
      ...{ seed: `other build ${index}`, tillId: uuidOf(`till ${index}`), orders: 5 + index },
      ...{ day: dayBefore(index % 2 === 0 ? 3 + index : 150 + (index >> 2)), training: index === 9 },
      mix: { canceledOrder: 0.2, transferredOrder: 0.2 },
    });
    const [shared] = tills.at(-2)?.orderList ?? [];
    if (index % 5 === 4 && shared) till.orderList.push({ ...shared, billPrintCount: 7 });
    expect((await location.request("POST", "/v2/tills", { body: till })).status).toBe(201);
    if (index % 4 === 3) {
      // Each version of a till then changes its day once.
      await location.waitForTillStates();
      const body = { ...till, note: "Replaced", orderList: till.orderList.slice(1) };
      expect((await location.request("PUT", `/v1/tills/${till.id}`, { body })).status).toBe(200);
    }
    tills.push(till);
  }
  for (const [index, name] of ["small-v2", "shift-v2"].entries()) {
    const till = JSON.parse(
      await readFile(new URL(`../services/reporting/samples/${name}.till.json`, import.meta.url), "utf8"),
    );
    expect((await location.request("POST", "/v2/tills", { body: till })).status, `sample ${index}`).toBe(201);
  }
  await location.waitForReports(17);
  await location.waitForTillStates();
  const catalog = buildRestaurantCatalog(generateRestaurant("other build"));
  await send("PUT", `/v1/catalog?${ofLocation}`, catalog);
  await send("POST", `/v1/orders-live?${ofLocation}`, [createTestLiveOrderInput()]);
  await packOldTills(environment);
  // A packed till is replaced, and unpacked with it.
  const [, packed] = tills;
  await send("PUT", `/v1/tills/${packed?.id}?${ofLocation}`, { ...packed, note: "Replaced after it was packed" });
  const erasure = await fetch(`${product.process("all").opsUrl}/reporting/erasures`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      locationId: location.locationId,
      orderIds: [tills[0]?.orderList[1]?.id, tills[5]?.orderList[1]?.id],
    }),
  });
  expect(erasure.status, await erasure.text()).toBeLessThan(300);
  await location.waitForTillStates();
  return {
    ...{ product, environment, location, fixture },
    tillIds: tills.map(({ id }) => id),
    orderIds: tills.flatMap(({ orderList }) => orderList.map(({ id }) => id)),
  };
}

/** Returns a UUID that depends only on the text. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Makes all stored reports older than a day, and waits until those of old days are packed. */
async function packOldTills({ namespace, variables }: IsolatedTestEnvironment): Promise<void> {
  const sql = postgres(variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  const schema = buildServiceSchemaName(namespace, "reporting");
  await sql`update ${sql(schema)}.reports set updated_at = updated_at - interval '25 hours'`;
  await eventually(
    "old tills to be packed",
    async () => {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(schema)}.packed_tills`;
      return Number(row?.count) >= 6;
    },
    { timeoutSeconds: 90 },
  );
  await sql.end();
}

/** Returns the paths of all reads about the location. */
function listPaths({ tillIds, orderIds }: Build): string[] {
  const days = [3, 5, 17, 150, 151, 152, 153].map(dayBefore);
  const ranges = ["", ...days.flatMap((day) => [`since=${day}`, `until=${day}`, `since=${day}&until=${day}`])];
  const metrics = [
    "measures=sales,orders,quantity&dimensions=day",
    "measures=sales,quantity&dimensions=product&sort=-sales",
    "measures=sales,taxAmount&dimensions=taxRate",
    "measures=payments&dimensions=paymentMethod",
    "measures=discounts,cancellations&dimensions=clerk",
    "measures=sales&dimensions=hour,weekday",
  ];
  return [
    ...tillIds.flatMap((id) => [`/v1/tills/${id}`, `/v1/tills/${id}/object`]),
    ...orderIds.flatMap((id) => [`/v1/orders/${id}`, `/v2/orders/${id}`]),
    ...["/v1/orders", "/v1/reports", "/v2/reports", "/v1/days"].flatMap((list) =>
      ranges.flatMap((range) =>
        ["size=3", "size=3&index=1", "size=20", "size=100", "size=50&index=2"].map(
          (page) => `${list}?${page}&${range}`,
        ),
      ),
    ),
    ...days.map((day) => `/v1/days/${day}`),
    ...metrics.flatMap((query) => [
      `/v1/metrics?${query}&since=${dayBefore(200)}&until=${dayBefore(0)}&limit=1000`,
      `/v1/metrics?${query}&since=${dayBefore(20)}&until=${dayBefore(0)}&compare=previous_period`,
    ]),
    ...["", "/payments", "/taxes", "/modifiers", "/categories"].map((part) => `/v1/catalog${part}`),
    ...[
      "/v1/metrics/meta",
      "/v1/locations/own",
      "/v1/orders-live",
      "/v1/changes",
      "/v1/tills?sinceDate=2020-01-01T00:00:00Z&size=100",
    ],
  ];
}

/** Reads a path, and the reports that its lists name. */
async function read({ product, location, tillIds }: Build, path: string): Promise<object> {
  const response = await location.request("GET", path);
  const text = await response.text();
  const names = [...response.headers].filter(([name]) => !volatileHeaders.test(name) && !/^(?:etag|link)$/.test(name));
  return mask({ status: response.status, names, text }, product, [location.locationId, ...tillIds]);
}

/** Returns where two responses differ first. */
function listDifferences(path: string, one: object | undefined, other: object | undefined): object {
  const [text, otherText] = [JSON.stringify(one), JSON.stringify(other)];
  const at = [...text].findIndex((character, index) => character !== otherText[index]);
  const cut = (whole: string) => whole.slice(Math.max(0, at - 100), at + 100);
  return { path, this: cut(text), other: cut(otherText) };
}

/** Replaces ids that the builds have created, the URL and times of this test by placeholders, in the sequence in which they occur. */
function mask(response: object, { url }: { url: string }, known: string[]): object {
  const numbers = new Map<string, string>(known.map((id, index) => [id, `known ${index}`]));
  const text = JSON.stringify(response)
    .replaceAll(url, "http://pragma.test")
    .replaceAll(/(pageToken=|nextPageToken\\":\\"|[cC]ursor\\":\\")[\w%.-]+/g, "$1token")
    .replaceAll(/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|(?:pragma|whsec)_[\w+/=]+/gi, (id) => {
      if (!numbers.has(id)) numbers.set(id, `#${numbers.size}`);
      return numbers.get(id) ?? id;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, (time) =>
      Math.abs(Date.now() - Date.parse(time)) < 1_200_000 ? "now" : time,
    );
  return JSON.parse(text);
}

/** Returns the types of the fields of a JSON text, and another text as it is. */
function describeTypes(text: string): unknown {
  try {
    return describeValue(JSON.parse(text));
  } catch {
    return text.slice(0, 200);
  }
}

function describeValue(value: unknown): unknown {
  // Which lists are empty depends on tills with random ids, which earlier requests pushed.
  if (Array.isArray(value)) return [];
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, describeValue(field)]));
}
