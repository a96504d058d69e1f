import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import { beforeAll, expect, it } from "vitest";
import { type Way, ways } from "../harness/both-ways.ts";
import { olderTill } from "../harness/older-till.ts";
import type { RawReply, RawRequest } from "../harness/raw-exchange.ts";
import {
  asAdmin,
  asShop,
  both,
  failedDeliveries,
  json,
  nowhere,
  operations,
  seenOf,
  shop,
  unknownId,
} from "./setting.ts";

/** What one way of running is told to make: the same as the other, under names of its own. */
function makeOwn(way: Way) {
  const newTill = (orders: number) => generateTill({ seed: 2, orders, day: "2026-05-28", tillId: randomUUID() });
  const orderId = randomUUID();
  return {
    till: newTill(4),
    packed: newTill(2),
    /** A megabyte and more. */
    large: newTill(300),
    olderTill: olderTill(new Random(`older till ${way}`), shop),
    liveOrder: { ...orderLiveInputExample, id: orderId, data: { ...orderLiveInputExample.data, id: orderId } },
    legacyId: way === "together" ? 1_234_567 : 7_654_321,
    consumerName: `consumer of ${way.padEnd(8, ".")}`,
    idempotencyKey: `key-of-${way}`,
    locationId: "",
    consumerId: "",
    keyId: "",
    recipientId: "",
    webhookId: "",
    failedDelivery: () => failedDeliveries[way],
    key: "",
  };
}

type Own = ReturnType<typeof makeOwn>;
type Step = [
  operationId: string,
  status: number,
  request: (own: Own) => Partial<RawRequest>,
  remember?: (own: Own, reply: { id: string; apiKey: string; data: { id: string }[] }) => void,
];

const body = (value: unknown) => ({ body: JSON.stringify(value) });
const place = { application: "popina", organizationId: "1", agencyId: "1" };
const idempotent = ({ idempotencyKey }: Own) => ({ ...json, "idempotency-key": idempotencyKey });
const hmacSecret = (number: number) => `secret ${number} `.repeat(8);
const events = ["order.paid"];
const emptyCatalog = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };
const otherCatalog = { ...emptyCatalog, taxes: [{ id: "t", name: "TVA", percentage: 1000 }] };
const catalogOf = ({ locationId }: Own) => `/v1/catalog?locationId=${locationId}`;

const steps: Step[] = [
  ["pushTillV2", 201, ({ till }) => ({ ...body(till), ...asShop(json) })],
  ["pushTillV2", 200, ({ till }) => ({ ...body(till), ...asShop(json) })],
  ["pushTillV2", 409, ({ till }) => ({ ...body({ ...till, note: "other" }), ...asShop(json) })],
  [
    "pushTillV2",
    201,
    ({ packed }) => ({
      body: gzipSync(JSON.stringify(packed)),
      ...asShop({ ...json, "content-encoding": "gzip" }),
    }),
  ],
  ["pushTillV2", 201, ({ large }) => ({ ...body(large), isChunked: true, ...asShop(json) })],
  ["pushTillV2", 200, ({ large }) => ({ ...body(large), ...asShop(json) })],
  ["pushTillV1", 201, (own) => ({ ...body(own.olderTill), ...asShop(json) })],
  ["pushTillV1", 200, (own) => ({ ...body(own.olderTill), ...asShop(json) })],
  ["pushTillV1", 409, (own) => ({ ...body({ ...own.olderTill, other: true }), ...asShop(json) })],
  [
    "replaceTill",
    200,
    ({ till }) => ({ path: `/v1/tills/${till.id}`, ...body({ ...till, note: "new" }), ...asShop(json) }),
  ],
  [
    "replaceTill",
    404,
    ({ till }) => ({ path: `/v1/tills/${unknownId}`, ...body({ ...till, id: unknownId }), ...asShop(json) }),
  ],
  ["reprocessTill", 200, ({ till }) => ({ path: `/v1/tills/${till.id}/reprocess`, ...asShop() })],
  ["upsertLiveOrders", 200, ({ liveOrder }) => ({ ...body([liveOrder]), ...asShop(json) })],

  [
    "createLocation",
    201,
    () => ({ ...body({ ...place, locationSettings: { locationName: "New" } }), ...asAdmin(json) }),
  ],
  [
    "importLocation",
    201,
    ({ legacyId }) => ({ ...body({ ...place, legacyId }), ...asAdmin(json) }),
    (own, { id }) => {
      own.locationId = id;
    },
  ],
  ["importLocation", 200, ({ legacyId }) => ({ ...body({ ...place, legacyId }), ...asAdmin(json) })],
  ["importLocation", 409, ({ legacyId }) => ({ ...body({ ...place, legacyId, agencyId: "2" }), ...asAdmin(json) })],
  [
    "changeLocation",
    200,
    ({ locationId }) => ({ path: `/v1/locations/${locationId}`, ...body({ currencyCode: "CHF" }), ...asAdmin(json) }),
  ],
  ["changeLocation", 404, () => ({ path: `/v1/locations/${unknownId}`, body: "{}", ...asAdmin(json) })],
  ["replaceCatalog", 200, (own) => ({ path: catalogOf(own), ...body(emptyCatalog), ...asAdmin(json) })],
  ["replaceCatalog", 200, (own) => ({ path: catalogOf(own), ...body(emptyCatalog), ...asAdmin(json) })],
  [
    "replaceCatalog",
    412,
    (own) => ({ path: catalogOf(own), ...body(otherCatalog), ...asAdmin({ ...json, "if-match": '"other"' }) }),
  ],
  [
    "reprocessTills",
    202,
    ({ locationId }) => ({
      path: `/v1/tills/reprocess?lteReportVersion=1&locationId=${locationId}`,
      ...asAdmin(),
    }),
  ],
  [
    "createConsumer",
    201,
    (own) => ({ ...body({ name: own.consumerName }), ...asAdmin(idempotent(own)) }),
    (own, { id }) => {
      own.consumerId = id;
    },
  ],
  ["createConsumer", 201, (own) => ({ ...body({ name: own.consumerName }), ...asAdmin(idempotent(own)) })],
  ["createConsumer", 422, (own) => ({ ...body({ name: "other" }), ...asAdmin(idempotent(own)) })],
  ["createConsumer", 409, ({ consumerName }) => ({ ...body({ name: consumerName }), ...asAdmin(json) })],
  [
    "changeConsumer",
    200,
    ({ consumerId }) => ({
      path: `/v1/consumers/${consumerId}`,
      ...body({ scopes: ["reports:read"] }),
      ...asAdmin(json),
    }),
  ],
  ["changeConsumer", 404, () => ({ path: `/v1/consumers/${unknownId}`, body: "{}", ...asAdmin(json) })],
  [
    "createApiKey",
    201,
    ({ locationId, consumerName }) => ({ ...body({ locationId, consumerName }), ...asAdmin(json) }),
    (own, { apiKey }) => {
      own.key = apiKey;
    },
  ],
  ["createApiKey", 404, ({ locationId }) => ({ ...body({ locationId, consumerName: "nobody" }), ...asAdmin(json) })],
  ["listReports", 200, ({ key }) => ({ headers: { authorization: key } })],
  [
    "listApiKeys",
    200,
    ({ locationId }) => ({ path: `/v1/auth/keys?locationId=${locationId}`, ...asAdmin() }),
    (own, { data }) => {
      own.keyId = data[0]?.id ?? "";
    },
  ],
  [
    "upsertRecipient",
    201,
    () => ({ ...body({ name: "Stock keeper", hmacSecret: hmacSecret(1) }), ...asShop(json) }),
    (own, { id }) => {
      own.recipientId = id;
    },
  ],
  ["upsertRecipient", 200, ({ recipientId: id }) => ({ ...body({ id, name: "Other" }), ...asShop(json) })],
  [
    "rotateRecipientSecret",
    200,
    ({ recipientId }) => ({
      path: `/v1/recipients/${recipientId}/rotate`,
      ...body({ hmacSecret: hmacSecret(2) }),
      ...asShop(json),
    }),
  ],
  [
    "upsertWebhook",
    201,
    ({ recipientId }) => ({ ...body({ recipientId, endpointUrl: nowhere, events }), ...asShop(json) }),
    (own, { id }) => {
      own.webhookId = id;
    },
  ],
  [
    "upsertWebhook",
    200,
    ({ recipientId, webhookId: id }) => ({
      ...body({ id, recipientId, endpointUrl: nowhere, events: [...events, "order.call"] }),
      ...asShop(json),
    }),
  ],
  ["deleteRecipient", 409, ({ recipientId }) => ({ path: `/v1/recipients/${recipientId}`, ...asShop() })],
  ["pauseWebhook", 200, ({ webhookId }) => ({ path: `/v1/webhooks/${webhookId}/pause`, ...asShop() })],
  ["resumeWebhook", 200, ({ webhookId }) => ({ path: `/v1/webhooks/${webhookId}/resume`, ...asShop() })],
  ["testWebhook", 202, ({ webhookId }) => ({ path: `/v1/webhooks/${webhookId}/test`, ...asShop() })],
  [
    "recoverDeliveries",
    202,
    ({ webhookId }) => ({
      path: `/v1/webhooks/${webhookId}/recover`,
      ...body({ since: "2099-01-01T00:00:00Z" }),
      ...asShop(json),
    }),
  ],
  [
    "replayDelivery",
    202,
    ({ failedDelivery }) => ({ path: `/v1/webhooks/deliveries/${failedDelivery()}/replay`, ...asShop() }),
  ],
  ["deleteWebhook", 204, ({ webhookId }) => ({ path: `/v1/webhooks/${webhookId}`, ...asShop() })],
  ["deleteWebhook", 404, ({ webhookId }) => ({ path: `/v1/webhooks/${webhookId}`, ...asShop() })],
  ["deleteRecipient", 204, ({ recipientId }) => ({ path: `/v1/recipients/${recipientId}`, ...asShop() })],
  ["revokeApiKey", 204, ({ keyId }) => ({ path: `/v1/auth/keys/${keyId}`, ...asAdmin() })],
];

/** Everything that can be changed, by each way under names of its own, one change after the other. */
export function describeChanges(): void {
  let own: Record<Way, Own>;
  beforeAll(() => {
    own = { together: makeOwn("together"), apart: makeOwn("apart") };
  });
  const texts = ({ legacyId, consumerName }: Own) => [String(legacyId), consumerName];

  it.each(steps)("%s is answered %i alike", async (operationId, status, request, remember) => {
    const operation =
      operations.find(({ id }) => id === operationId) ?? expect.unreachable(`${operationId} is documented`);
    const { method, path } = operation;
    const replies = await both.alikeEach((way) => ({ method, path, ...request(own[way]) }), {
      together: texts(own.together),
      apart: texts(own.apart),
    });
    expect(replies.apart.status).toBe(status);
    seenOf(operation).add(status);
    for (const way of ways) remember?.(own[way], parsed(replies[way]));
  });

  it("a large till is read back alike", async () => {
    for (const way of ways) {
      const { large } = own[way];
      const { body: object } = await both.alike({ method: "GET", path: `/v1/tills/${large.id}/object`, ...asShop() });
      expect(Buffer.from(object, "latin1").toString()).toBe(JSON.stringify(large));
    }
  });
}

function parsed({ body: text }: RawReply) {
  return text === "" ? {} : JSON.parse(Buffer.from(text, "latin1").toString());
}
