import { randomInt, randomUUID } from "node:crypto";
import { type Agent, request as startRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import {
  type AdminApiClient,
  createAdminApiClient,
  createApiClient,
  type PublicApiClient,
} from "@pragma/client/api-client";
import type { PosApplicationName } from "@pragma/contracts/pos-application";
import type { ApiScope } from "@pragma/contracts/scopes";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { PragmaUnderTestAccess } from "./pragma-under-test.ts";

/** A location that a test created through the API, with its own consumer and API key. */
export interface TestLocation {
  locationId: string;
  application: PosApplicationName;
  legacyId: number;
  key: string;
  consumerId: string;
  /** A typed client of the API that uses the location's key. */
  api: PublicApiClient;
  request(method: string, path: string, options?: LocationRequestOptions): Promise<Response>;
  /** Sends a GET request, and returns the parsed body. @throws Error unless the status is 200. */
  getJson<T = Record<string, unknown>>(path: string, key?: string): Promise<T>;
  /** Sends a POST request, and returns the parsed body. @throws Error unless the request succeeds. */
  create<T = { id: string }>(path: string, body?: unknown): Promise<T>;
  /** Pushes a till, and retries after failures as real clients do. Returns the response that ended the retries. */
  pushTillWithRetries(till: object): Promise<Response>;
  /** Waits until the location has `count` reports, and returns the first page of reports. */
  waitForReports(count: number): Promise<{ id: string; startedAt: string }[]>;
  /** Waits until the last 100 tills have a state that does not change by itself, so that responses can be compared. */
  waitForTillStates(): Promise<void>;
}

interface LocationRequestOptions {
  /** The body. It is serialized as JSON unless it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  key?: string | null;
  /** The agent whose connections are used. Default: the agent of `fetch`, which opens any number of connections. */
  agent?: Agent;
}

async function sendLocationRequest(
  product: PragmaUnderTestAccess,
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
    const outgoing = startRequest(url, { ...options, agent }, (message) => {
      buffer(message).then((bytes) => {
        const hasBody = bytes.length > 0;
        resolve(new Response(hasBody ? new Uint8Array(bytes) : null, { status: message.statusCode ?? 0 }));
      }, reject);
    });
    outgoing.on("error", reject).end(body);
  });
}

const defaultTestScopes: ApiScope[] = [
  "reports:read",
  "orders:read",
  "catalog:read",
  "locations:read",
  "tills:read",
  "tills:write",
];

interface TestLocationOptions {
  scopes?: ApiScope[];
  application?: PosApplicationName;
  legacyId?: number;
}

export async function createTestLocation(
  product: PragmaUnderTestAccess,
  { scopes = defaultTestScopes, application = "POPINA", legacyId = randomInt(1, 2 ** 31) }: TestLocationOptions = {},
): Promise<TestLocation> {
  const admin = createTestAdminClient(product);
  const consumerName = `consumer ${randomUUID()}`;
  const newLocation = { organizationId: "1", agencyId: "1", legacyId, application };
  const { data: location } = await admin.POST("/v1/locations/import", { body: newLocation });
  const { data: consumer } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id: consumer.id } }, body: { scopes } });
  const { data: created } = await admin.POST("/v1/auth/keys", { body: { locationId: location.id, consumerName } });
  const key = created.apiKey;
  const api = createApiClient({ baseUrl: product.url, apiKey: key });

  const testLocation: TestLocation = {
    locationId: location.id,
    application,
    legacyId,
    key,
    consumerId: consumer.id,
    api,
    request: (method, path, options = {}) => sendLocationRequest(product, method, path, { key, ...options }),
    async getJson<T>(path: string, otherKey = key) {
      const response = await testLocation.request("GET", path, { key: otherKey });
      if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
    async create<T>(path: string, body?: unknown) {
      const response = await testLocation.request("POST", path, { body });
      if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
    pushTillWithRetries: (till) =>
      eventually(
        "a final response to the push",
        () => finalResponseOf(testLocation.request("POST", "/v2/tills/", { body: till })),
        {
          timeoutSeconds: 60,
        },
      ),
    waitForReports: (count) =>
      eventually(`${count} reports`, async () => {
        const { data: page } = await api.GET("/v2/reports", { params: { query: { size: 100 } } });
        return page.meta.totalCount >= count && page.data;
      }),
    async waitForTillStates() {
      const path = `/v1/tills?sinceDate=2020-01-01T00:00:00Z&size=100&locationId=${location.id}`;
      await eventually("the tills to have their reports", async () => {
        const response = await testLocation.request("GET", path, { key: product.adminKey });
        return response.status === 200 && !(await response.text()).includes('"reportState":"pending"');
      });
    },
  };
  return testLocation;
}

/** Returns a typed client of all operations. The client uses the admin key. */
export function createTestAdminClient({ url, adminKey }: PragmaUnderTestAccess): AdminApiClient {
  return createAdminApiClient({ baseUrl: url, apiKey: adminKey });
}

/** Returns the response, or undefined if a client would repeat the request: after an error, a 429 or a 5xx response. */
async function finalResponseOf(pending: Promise<Response>): Promise<Response | undefined> {
  const response = await pending.catch(() => undefined);
  return response && response.status < 500 && response.status !== 429 ? response : undefined;
}
