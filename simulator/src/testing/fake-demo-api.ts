import type { Catalog } from "@pragma/contracts/catalog";
import { ApiError, type ApiErrorCode, toProblemDetails } from "@pragma/contracts/errors";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { SeededRandom } from "../random.ts";

interface FakeReport {
  id: string;
  tillId: string;
  startedAt: string;
}

/** An in-memory fake of the API operations that the demo uses. It computes reports only in `computeOneReport`. */
export class FakeDemoApi {
  adminKey = "admin";
  locations: { id: string; legacyId: number; name: string | null }[] = [];
  tills = new Map<string, TillV2>();
  reports: FakeReport[] = [];
  catalog: Catalog | null = null;
  /** The requests that the fake received, except GET requests and requests that failed because of `nextErrors`. */
  readonly writes: string[] = [];
  /** The errors with which the next calls fail, one error for each call. */
  nextErrors: (ApiErrorCode | "unreachable")[] = [];
  /** Whether every push fails with till_conflict. */
  shouldRejectTills = false;
  /** The maximum number of reports that the fake computes. */
  maxReports = Number.POSITIVE_INFINITY;

  #random = new SeededRandom("fake api");
  #consumers: { id: string; name: string; scopes: string[] }[] = [];
  #keys: { apiKey: string; locationId: string; consumerName: string }[] = [];

  /** Returns a copy of this fake with its own data. Requests to the copy do not change the data of this fake. */
  copy(): FakeDemoApi {
    const copy = new FakeDemoApi();
    copy.locations = structuredClone(this.locations);
    copy.tills = new Map(this.tills);
    copy.reports = [...this.reports];
    copy.catalog = this.catalog;
    copy.#random = this.#random;
    copy.#consumers = structuredClone(this.#consumers);
    copy.#keys = [...this.#keys];
    return copy;
  }

  revokeKeys(): void {
    this.#keys = [];
  }

  /** The scopes of all consumers. */
  get scopes(): string[] {
    return this.#consumers.flatMap(({ scopes }) => scopes);
  }

  /** The scopes of the consumer of a key; undefined if the key does not exist. */
  scopesOfKey(apiKey: string): string[] | undefined {
    const key = this.#keys.find((candidate) => candidate.apiKey === apiKey);
    return this.#consumers.find(({ name }) => name === key?.consumerName)?.scopes;
  }

  /** Sets the scopes of all consumers. */
  setScopes(scopes: string[]): void {
    for (const consumer of this.#consumers) consumer.scopes = scopes;
  }

  /** Computes the report of one till that has no report yet. */
  computeOneReport(): void {
    if (this.reports.length >= this.maxReports) return;
    const till = [...this.tills.values()].find(
      ({ startedAt }) => !this.reports.some((report) => report.startedAt === startedAt),
    );
    if (till) this.reports.push({ id: this.#random.uuid(), tillId: till.id, startedAt: till.startedAt });
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const error = this.nextErrors.shift();
    if (error === "unreachable") throw new TypeError("fetch failed");
    if (error !== undefined) return errorResponse(error);
    const { pathname, searchParams } = new URL(request.url);
    const call = `${request.method} ${pathname}`;
    if (request.method !== "GET") this.writes.push(call);
    const apiKey = request.headers.get("authorization")?.replace("Bearer ", "");
    const key = this.#keys.find((candidate) => candidate.apiKey === apiKey);
    if (!key && apiKey !== this.adminKey) return errorResponse("key_invalid");
    const scopes = key ? this.#consumers.find(({ name }) => name === key.consumerName)?.scopes : ["admin"];
    const body: ReceivedBody = JSON.parse((await request.text()) || "{}");
    return this.#handleRequest({ call, body, scopes: scopes ?? [], locationId: key?.locationId, searchParams });
  };

  #handleRequest({ call, body, scopes, locationId, searchParams }: ReceivedRequest): Response {
    const neededScope = requiredScope(call);
    if (!scopes.includes("admin") && !scopes.includes(neededScope)) return errorResponse("scope_missing");
    switch (call) {
      case "POST /v1/locations/import":
        return this.#importLocation(body);
      case "GET /v1/consumers":
        return pageResponse(this.#consumers);
      case "POST /v1/consumers":
        return this.#createConsumer(body);
      case "POST /v1/auth/keys":
        return this.#createKey(body);
      case "GET /v1/locations/own":
        return jsonResponse(200, { id: locationId });
      case "GET /v2/reports":
        return pageResponse(this.#findReports(searchParams));
      case "GET /v1/tills":
        return pageResponse([...this.tills.keys()].map((tillId) => ({ id: tillId })));
      case "POST /v2/tills":
        return this.#pushTill(body);
      case "POST /v1/orders-live":
        return jsonResponse(200, body);
      case "GET /v1/catalog":
        return jsonResponse(200, this.catalog?.products ?? []);
      case "PUT /v1/catalog":
        return this.#replaceCatalog(body);
    }
    const id = call.slice(call.lastIndexOf("/") + 1);
    if (call.startsWith("PATCH /v1/locations/")) return this.#nameLocation(id, body);
    if (call.startsWith("PATCH /v1/consumers/")) return this.#setScopes(id, body);
    return errorResponse("route_not_found");
  }

  #importLocation({ legacyId }: ReceivedBody): Response {
    const existing = this.locations.find((location) => location.legacyId === legacyId);
    if (existing) return jsonResponse(200, { id: existing.id });
    const location = { id: this.#random.uuid(), legacyId, name: null };
    this.locations.push(location);
    return jsonResponse(201, { id: location.id });
  }

  #nameLocation(id: string, { locationSettings }: ReceivedBody): Response {
    const location = this.locations.find((candidate) => candidate.id === id);
    if (!location) return errorResponse("location_not_found");
    location.name = locationSettings.locationName;
    return jsonResponse(200, location);
  }

  #createConsumer({ name }: ReceivedBody): Response {
    if (this.#consumers.some((consumer) => consumer.name === name)) return errorResponse("consumer_exists");
    const at = "2026-05-29T10:17:19.000Z";
    const id = this.#random.uuid();
    const consumer = { id, createdAt: at, updatedAt: at, name, scopes: ["reports:read"], rateLimit: null };
    this.#consumers.push(consumer);
    return jsonResponse(201, consumer);
  }

  #setScopes(id: string, { scopes }: ReceivedBody): Response {
    const consumer = this.#consumers.find((candidate) => candidate.id === id);
    if (!consumer) return errorResponse("consumer_not_found");
    consumer.scopes = scopes;
    return jsonResponse(200, consumer);
  }

  #createKey({ locationId, consumerName }: ReceivedBody): Response {
    const apiKey = `pragma_${this.#random.hex(12)}`;
    this.#keys.push({ apiKey, locationId, consumerName });
    return jsonResponse(201, { apiKey });
  }

  #findReports(searchParams: URLSearchParams): FakeReport[] {
    const since = searchParams.get("since") ?? "";
    const until = `${searchParams.get("until") ?? "9999"}~`;
    return this.reports.filter(({ startedAt }) => startedAt >= since && startedAt < until);
  }

  #replaceCatalog({ products, payments, taxes, modifiers, categories }: Catalog): Response {
    this.catalog = { products, payments, taxes, modifiers, categories };
    return jsonResponse(200, {
      locationId: this.locations[0]?.id,
      updatedAt: "2026-05-29T10:17:19.000Z",
      changed: true,
      etag: "etag",
      counts: {
        products: products.length,
        payments: payments.length,
        taxes: taxes.length,
        modifiers: modifiers.length,
        categories: categories.length,
      },
    });
  }

  #pushTill(till: TillV2): Response {
    if (this.shouldRejectTills) return errorResponse("till_conflict");
    this.tills.set(till.id, till);
    return jsonResponse(201, { id: till.id, tillId: till.id });
  }
}

/** The union of the fields of all request bodies that the demo sends. */
interface ReceivedBody extends TillV2, Catalog {
  legacyId: number;
  locationSettings: { locationName: string };
  name: string;
  scopes: string[];
  locationId: string;
  consumerName: string;
}

interface ReceivedRequest {
  call: string;
  body: ReceivedBody;
  scopes: readonly string[];
  locationId: string | undefined;
  searchParams: URLSearchParams;
}

function requiredScope(call: string): string {
  if (call.includes("/v1/tills") || call.includes("/v2/tills"))
    return call.startsWith("GET") ? "tills:read" : "tills:write";
  if (call.endsWith("/v1/catalog")) return call.startsWith("GET") ? "catalog:read" : "catalog:write";
  if (call.endsWith("/v1/orders-live")) return "orders:write";
  if (call.endsWith("/v1/locations/own")) return "locations:read";
  return call.includes("/v2/reports") ? "reports:read" : "admin";
}

function pageResponse(items: readonly unknown[]): Response {
  const url = "http://localhost:4000/";
  return jsonResponse(200, {
    data: items,
    meta: { totalPage: 1, totalCount: items.length, currentPageIndex: 0, pageSize: 100 },
    links: { self: url, first: url, last: url, next: null, prev: null },
    nextPageToken: null,
  });
}

function jsonResponse(status: number, body: unknown): Response {
  return Response.json(body, { status });
}

function errorResponse(code: ApiErrorCode): Response {
  const error = new ApiError(code);
  return jsonResponse(error.status, toProblemDetails(error, "the request"));
}
