import { randomInt, randomUUID } from "node:crypto";
import { type Agent, request as startRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import {
  type AdminApiClient,
  createAdminApiClient,
  createApiClient,
  type PublicApiClient,
} from "@pragma/client/api-client";
import type { PosApplication } from "@pragma/contracts/pos-application";
import type { Scope } from "@pragma/contracts/scopes";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { ProductAddress } from "./product-under-test.ts";

/** A location with a consumer and a key of its own, made through the API. */
export interface TestLocation {
  locationId: string;
  application: PosApplication;
  legacyId: number;
  key: string;
  consumerId: string;
  /** The API under the shop's key, as a program would use it that has nothing to do with tests. */
  api: PublicApiClient;
  request(method: string, path: string, options?: LocationRequestOptions): Promise<Response>;
  /** A GET that must answer 200, parsed. */
  getJson<T = Record<string, unknown>>(path: string): Promise<T>;
  /** Pushes a till as clients in the field do: again after a failure, until it is answered. */
  pushTillWithRetries(till: object): Promise<Response>;
  /** The report list, once it holds this many. */
  waitForReports(count: number): Promise<{ id: string; startedAt: string }[]>;
}

interface LocationRequestOptions {
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  key?: string | null;
  /** Whose connections are used: fetch has as many as it likes, of which some are hardly ever used. */
  agent?: Agent;
}

/** Asks the product, with a key; the body is sent as JSON unless it is text or bytes. */
async function sendLocationRequest(
  product: ProductAddress,
  method: string,
  path: string,
  { body, headers = {}, key, agent }: LocationRequestOptions & { key: string | null },
): Promise<Response> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const url = `${product.url}${path}`;
  const init = {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
  };
  return agent ? fetchWithAgent(agent, url, init) : fetch(url, init);
}

function fetchWithAgent(
  agent: Agent,
  url: string,
  { body, ...options }: { method: string; headers: Record<string, string>; body?: string },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sending = startRequest(url, { ...options, agent }, (reply) => {
      buffer(reply).then((bytes) => {
        const hasBody = bytes.length > 0;
        resolve(new Response(hasBody ? new Uint8Array(bytes) : null, { status: reply.statusCode ?? 0 }));
      }, reject);
    });
    sending.on("error", reject).end(body);
  });
}

const defaultTestScopes: Scope[] = [
  "reports:read",
  "orders:read",
  "catalog:read",
  "locations:read",
  "tills:read",
  "tills:write",
];

interface TestLocationOptions {
  scopes?: Scope[];
  application?: PosApplication;
  legacyId?: number;
}

export async function createTestLocation(
  product: ProductAddress,
  { scopes = defaultTestScopes, application = "POPINA", legacyId = randomInt(1, 2 ** 31) }: TestLocationOptions = {},
): Promise<TestLocation> {
  const admin = createTestAdminClient(product);
  const consumerName = `shop ${randomUUID()}`;
  const place = { organizationId: "1", agencyId: "1", legacyId, application };
  const { data: location } = await admin.POST("/v1/locations/import", { body: place });
  const { data: consumer } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id: consumer.id } }, body: { scopes } });
  const { data: made } = await admin.POST("/v1/auth/keys", { body: { locationId: location.id, consumerName } });
  const key = made.apiKey;
  const api = createApiClient({ baseUrl: product.url, apiKey: key });

  const shop: TestLocation = {
    locationId: location.id,
    application,
    legacyId,
    key,
    consumerId: consumer.id,
    api,
    request: (method, path, options = {}) => sendLocationRequest(product, method, path, { key, ...options }),
    async getJson<T>(path: string) {
      const answer = await shop.request("GET", path);
      if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as T;
    },
    pushTillWithRetries: (till) =>
      eventually("the push to be answered", () => finalResponseOf(shop.request("POST", "/v2/tills/", { body: till })), {
        timeoutSeconds: 60,
      }),
    waitForReports: (count) =>
      eventually(`${count} reports`, async () => {
        const { data: page } = await api.GET("/v2/reports", { params: { query: { size: 100 } } });
        return page.meta.totalCount >= count && page.data;
      }),
  };
  return shop;
}

/** The whole API under the installation's admin key. */
export function createTestAdminClient({ url, adminKey }: ProductAddress): AdminApiClient {
  return createAdminApiClient({ baseUrl: url, apiKey: adminKey });
}

/** The answer, unless it is one after which a client tries again. */
async function finalResponseOf(asking: Promise<Response>): Promise<Response | undefined> {
  const answer = await asking.catch(() => undefined);
  return answer && answer.status < 500 && answer.status !== 429 ? answer : undefined;
}
