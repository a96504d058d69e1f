import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { ContractTestFixture } from "../contract/contract-fixture.ts";
import { buildContractTestTillV2, createTestLiveOrderInput } from "../contract/order-and-till-inputs.ts";

/** The kinds of resources whose ids another location may have learned, for example from a log. */
export const isolationVictimResourceKinds = [
  "location",
  "till",
  "report",
  "order",
  "liveOrder",
  "key",
  "consumer",
  "reprocessing",
  "accountingConfig",
  "accountingExport",
  "export",
] as const;
export type IsolationVictimResourceKind = (typeof isolationVictimResourceKinds)[number];

/** Data of the victim's location that another location may have learned and sends in its own requests. */
export interface IsolationVictimData {
  ids: Record<IsolationVictimResourceKind, string>;
  legacyId: string;
  pageTokens: string[];
  etags: string[];
  /** The Idempotency-Key of the request with which the victim created an API key. */
  idempotencyKey: string;
  /** The body of the request with which the victim created an API key. */
  keyBody: object;
}

/** Returns the paths of lists and resources of a location. Each path ends so that a query parameter can be appended. */
export function listIsolationVictimReadPaths({
  testLocation,
  till,
  reportId,
  orderId,
  liveOrder,
}: ContractTestFixture): string[] {
  return [
    ...["/v1/tills?sinceDate=2026-01-01T00:00:00Z&", "/v1/reports?", "/v2/reports?", "/v1/orders?", "/v1/orders-live?"],
    ...[`/v1/reports?tillId=${till.id}&`, `/v2/reports?tillId=${till.id}&`],
    "/v1/metrics?measures=sales&dimensions=location,clerk,device,room&since=2026-01-01&until=2027-12-31&limit=1000&",
    ...["/v1/days?", `/v1/days/${till.startedAt.slice(0, 10)}?`],
    ...[
      `/v1/tills/${till.id}?`,
      `/v1/tills/${till.id}/object?`,
      `/v1/reports/${reportId}?`,
      `/v2/reports/${reportId}?`,
    ],
    ...[`/v1/orders/${orderId}?`, `/v2/orders/${orderId}?`, `/v1/orders-live/${liveOrder.id}?`, "/v1/auth/keys?"],
    ...["/v1/consumers?", "/v1/audit?"],
    ...["", "/payments", "/taxes", "/modifiers", "/categories"].map((list) => `/v1/catalog${list}?`),
    ...[
      "/v1/locations/own?devices=true&",
      `/v1/locations/${testLocation.locationId}?`,
      "/v1/locations?",
      "/v1/accounting/configs?",
      "/v1/accounting/exports?",
      "/v1/exports?",
      "/v1/e-reporting/declarants?",
      "/v1/e-reporting/excluded-orders?",
    ],
  ];
}

/**
 * Creates data at a location, so that its lists of tills, reports and live orders have several pages with one item per
 * page. Returns the data that another location may have learned.
 */
export async function createIsolationVictimData(fixture: ContractTestFixture): Promise<IsolationVictimData> {
  const { testLocation, consumer } = fixture;
  for (const _ of [1, 2]) {
    await testLocation.request("POST", "/v2/tills", { body: buildContractTestTillV2() });
    await testLocation.request("POST", "/v1/orders-live", { body: [createTestLiveOrderInput()] });
  }
  await testLocation.waitForReports(3);
  await testLocation.waitForTillStates();
  const idempotencyKey = randomUUID();
  const keyBody = { locationId: testLocation.locationId, consumerName: consumer.name };
  await testLocation.request("POST", "/v1/auth/keys", {
    body: keyBody,
    headers: { "idempotency-key": idempotencyKey },
  });
  const reprocessing = await testLocation.request("POST", "/v1/tills/reprocess?lteReportVersion=0");
  const config = await testLocation.create("/v1/accounting/configs", {});
  const item = { tillId: fixture.till.id, accountingConfigId: config.id, accountingProvider: "FULLL" };
  const accountingExport = await testLocation.create("/v1/accounting/exports", [item]);
  const bulkExport = await testLocation.create("/v1/exports", {
    ...{ data: "orders", format: "jsonl", since: "2026-05-01", until: "2026-05-31" },
  });
  const keys = await testLocation.getJson<{ data: { id: string }[] }>("/v1/auth/keys");

  const pageTokens: string[] = [];
  const etags: string[] = [];
  for (const path of listIsolationVictimReadPaths(fixture)) {
    const response = await testLocation.request("GET", `${path}size=1`);
    const { nextPageToken } = (await response.json()) as { nextPageToken?: string };
    if (nextPageToken) pageTokens.push(nextPageToken);
    const etag = response.headers.get("etag");
    if (etag) etags.push(etag);
  }
  return {
    ids: {
      location: testLocation.locationId,
      till: fixture.till.id,
      report: fixture.reportId,
      order: fixture.orderId,
      liveOrder: fixture.liveOrder.id,
      key: keys.data[0]?.id ?? "",
      consumer: consumer.id,
      reprocessing: ((await reprocessing.json()) as { id: string }).id,
      accountingConfig: config.id,
      accountingExport: accountingExport.id,
      export: bulkExport.id,
    },
    ...{ legacyId: String(testLocation.legacyId), pageTokens, etags, idempotencyKey, keyBody },
  };
}

/** Repeats a read until two consecutive reads return the same value, and returns this value. */
export async function waitUntilUnchanged<Read>(read: () => Promise<Read>): Promise<Read> {
  let before: string | undefined;
  return eventually(
    "the location to settle",
    async () => {
      const last = before;
      const current = await read();
      before = JSON.stringify(current);
      if (before === last) return { current };
      await new Promise((resolve) => setTimeout(resolve, 700));
      return false;
    },
    { timeoutSeconds: 60 },
  ).then(({ current }) => current);
}
