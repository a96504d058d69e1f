import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { ContractFixture } from "../contract/contract-fixture.ts";
import { createLiveOrderInput } from "../contract/live-order-input.ts";
import { createTillInput } from "../contract/till-input.ts";

/** Things of a location that a stranger may have learnt the ids of. */
export const victimResourceKinds = [
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
] as const;
export type VictimResourceKind = (typeof victimResourceKinds)[number];

/** What a stranger knows of a location that is not its own. */
export interface VictimData {
  ids: Record<VictimResourceKind, string>;
  legacyId: string;
  pageTokens: string[];
  etags: string[];
  /** Under which the location made a key, with this body. */
  idempotencyKey: string;
  keyBody: object;
}

/** Lists and single things, as the location reads them itself. */
export function victimReadPaths({ shop, till, reportId, orderId, liveOrder }: ContractFixture): string[] {
  return [
    ...["/v1/tills?sinceDate=2026-01-01T00:00:00Z&", "/v1/reports?", "/v2/reports?", "/v1/orders?", "/v1/orders-live?"],
    ...[
      `/v1/tills/${till.id}?`,
      `/v1/tills/${till.id}/object?`,
      `/v1/reports/${reportId}?`,
      `/v2/reports/${reportId}?`,
    ],
    ...[`/v1/orders/${orderId}?`, `/v2/orders/${orderId}?`, `/v1/orders-live/${liveOrder.id}?`, "/v1/auth/keys?"],
    "/v1/consumers?",
    ...["", "/payments", "/taxes", "/modifiers", "/categories"].map((list) => `/v1/catalog${list}?`),
    ...[
      "/v1/locations/own?devices=true&",
      `/v1/locations/${shop.locationId}?`,
      "/v1/locations?",
      "/v1/accounting/configs?",
    ],
  ];
}

/** Fills a location with more than a page of everything, and gives all that a stranger could learn to ask for it with. */
export async function collectVictimData(world: ContractFixture): Promise<VictimData> {
  const { shop, consumer } = world;
  for (const _ of [1, 2]) {
    await shop.request("POST", "/v2/tills", { body: createTillInput() });
    await shop.request("POST", "/v1/orders-live", { body: [createLiveOrderInput()] });
  }
  await shop.waitForReports(3);
  const idempotencyKey = randomUUID();
  const keyBody = { locationId: shop.locationId, consumerName: consumer.name };
  await shop.request("POST", "/v1/auth/keys", { body: keyBody, headers: { "idempotency-key": idempotencyKey } });
  const reprocessing = await shop.request("POST", "/v1/tills/reprocess?lteReportVersion=0");
  const config = await readCreated(shop.request("POST", "/v1/accounting/configs", { body: {} }));
  const item = { tillId: world.till.id, accountingConfigId: config.id, accountingProvider: "FULLL" };
  const accountingExport = await readCreated(shop.request("POST", "/v1/accounting/exports", { body: [item] }));
  const keys = await shop.getJson<{ data: { id: string }[] }>("/v1/auth/keys");

  const pageTokens: string[] = [];
  const etags: string[] = [];
  for (const address of victimReadPaths(world)) {
    const answer = await shop.request("GET", `${address}size=1`);
    const { nextPageToken } = (await answer.json()) as { nextPageToken?: string };
    if (nextPageToken) pageTokens.push(nextPageToken);
    const etag = answer.headers.get("etag");
    if (etag) etags.push(etag);
  }
  return {
    ids: {
      location: shop.locationId,
      till: world.till.id,
      report: world.reportId,
      order: world.orderId,
      liveOrder: world.liveOrder.id,
      key: keys.data[0]?.id ?? "",
      consumer: consumer.id,
      reprocessing: ((await reprocessing.json()) as { id: string }).id,
      accountingConfig: config.id,
      accountingExport: accountingExport.id,
    },
    ...{ legacyId: String(shop.legacyId), pageTokens, etags, idempotencyKey, keyBody },
  };
}

async function readCreated(asking: Promise<Response>): Promise<{ id: string }> {
  return (await (await asking).json()) as { id: string };
}

/** Waits until what is read does not change any more. */
export async function waitUntilUnchanged<Read>(read: () => Promise<Read>): Promise<Read> {
  let before: string | undefined;
  return eventually(
    "the location to settle",
    async () => {
      const last = before;
      const now = await read();
      before = JSON.stringify(now);
      if (before === last) return { now };
      await new Promise((resolve) => setTimeout(resolve, 700));
      return false;
    },
    { timeoutSeconds: 60 },
  ).then(({ now }) => now);
}
