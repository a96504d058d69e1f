import { request as rawRequest } from "node:http";
import { connect } from "node:net";
import { Health } from "@pragma/contracts/health";
import { type Problem, problemSchema } from "@pragma/contracts/problem";
import { eventually } from "@pragma/runtime/testing/eventually";
import { startTestSpanRecorder } from "@pragma/runtime/testing/record-spans";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "./testing/test-gateway.ts";

let environment: IsolatedTestEnvironment;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  gateway = await startTestGateway(environment, {
    inProcessServices: {
      reporting: async ({ url, method }, { requestIdentity: caller } = {}) => {
        if (!caller) throw new Error("The gateway must pass the identity of the request.");
        const { requestId, traceparent, origin, principal } = caller;
        return Response.json({ url, method, requestId, traceparent, origin, consumer: principal.consumer });
      },
    },
    variables: { CORS_ORIGINS: "https://portal.example" },
  });
  ({ key } = gateway.accounts.addKey());
});
afterAll(async () => {
  await gateway.stop();
  await environment.remove();
});

/** Returns the request that the service received. The test service echoes the request in its response. */
async function forwardedRequestIn(
  response: Response,
): Promise<Record<"url" | "method" | "requestId" | "traceparent" | "origin" | "consumer", string>> {
  return (await response.json()) as Awaited<ReturnType<typeof forwardedRequestIn>>;
}

async function parseProblem(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = problemSchema.parse(await response.json());
  expect(problem.status).toBe(response.status);
  expect(problem.requestId).toBe(response.headers.get("x-request-id"));
  return problem;
}

describe("the gateway's own routes", () => {
  it.each(["/health/", "/health"])("%s reports health without a key", async (path) => {
    const response = await gateway.request(path);
    expect(response.status).toBe(200);
    expect(Health.parse(await response.json())).toMatchObject({ status: "ok", apiVersions: ["v1", "v2"] });
  });

  it.each([
    ["HAProxy and Nagios", "HTTP/1.0\r\n"],
    ["nginx", "HTTP/1.0\r\nHost: pragma_gateways\r\nConnection: close\r\n"],
    ["AWS", "HTTP/1.1\r\nHost: 10.0.1.5:4000\r\nConnection: close\r\nUser-Agent: ELB-HealthChecker/2.0\r\n"],
    ["Google", "HTTP/1.0\r\nHost: 10.0.1.5\r\nConnection: close\r\nUser-Agent: GoogleHC/1.0\r\n"],
    ["Kubernetes", "HTTP/1.1\r\nHost: [fd00::2]:4000\r\nUser-Agent: kube-probe/1.34\r\nConnection: close\r\n"],
    ["F5", "HTTP/1.1\r\nHost: \r\nConnection: Close\r\n"],
  ])("answer health probes as %s sends them", async (_, rest) => {
    for (const request of ["GET /health/", "HEAD /health/", "GET /health", "GET http://10.0.1.5:4000/health/"]) {
      expect(await sendBytes(`${request} ${rest}\r\n`), request).toMatch(/^HTTP\/1\.1 200 /);
    }
    // `option httpchk` of HAProxy sends this method by default, and accepts any status below 400.
    expect(await sendBytes(`OPTIONS /health/ ${rest}\r\n`)).toMatch(/^HTTP\/1\.1 204 /);
  });

  it("report the version and the API versions of the OpenAPI document", async () => {
    const health = Health.parse(await (await gateway.request("/health/")).json());
    const document = await (await gateway.request("/openapi.json")).json();
    const { info, paths } = document as { info: { version: string }; paths: Record<string, unknown> };
    const pathVersions = Object.keys(paths).flatMap((path) => /^\/(v\d+)\//.exec(path)?.[1] ?? []);
    expect(health).toMatchObject({ version: info.version, apiVersions: [...new Set(pathVersions)].sort() });
  });

  it.each(["/openapi.json", "/asyncapi.json"])(
    "serve %s without a key, and 304 when the ETag matches",
    async (path) => {
      const response = await gateway.request(path);
      const document = await response.json();
      expect(document).not.toHaveProperty(["paths", "/v1/consumers"]);
      expect(document).toHaveProperty(path.slice(1).replace(".json", ""));
      const etag = response.headers.get("etag") ?? "";
      const notModified = await gateway.request(path, { headers: { "if-none-match": etag } });
      expect(notModified.status).toBe(304);
      expect(await notModified.text()).toBe("");
    },
  );

  it("serve the full OpenAPI document to admins only", async () => {
    expect((await parseProblem(await gateway.request("/openapi.full.json"))).code).toBe("key_missing");
    expect((await parseProblem(await gateway.request("/openapi.full.json", { key }))).code).toBe("scope_missing");
    const admin = gateway.accounts.addKey({ scopes: ["admin"], location: null });
    const response = await gateway.request("/openapi.full.json", { key: admin.key });
    expect(await response.json()).toHaveProperty(["paths", "/v1/consumers"]);
    expect(response.headers.get("ratelimit-limit")).toBe("2000");
  });

  it.each([
    "/",
    "/v3/tills/",
    "/v1/orders-live-else/",
    "/v2/reportsx",
    "/internal/keys/x",
    "/v1/tills/../../internal/keys/x",
    "/v1/tills/%2e%2e/%2e%2e/internal/keys/x",
    "//v1/tills",
  ])("return 404 at %s without a key", async (path) => {
    expect((await parseProblem(await sendRawRequest("GET", path))).code).toBe("route_not_found");
  });

  it("return 405 with the supported methods in Allow", async () => {
    const response = await gateway.request("/health/", { method: "POST", body: "{}" });
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await parseProblem(response)).code).toBe("method_not_allowed");
    expect((await parseProblem(await sendRawRequest("TRACE", "/v2/reports/"))).code).toBe("method_not_allowed");
  });

  it("respond to HEAD without a body", async () => {
    for (const path of ["/health/", "/v2/reports/"]) {
      const response = await gateway.request(path, { method: "HEAD", key });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toContain("application/json");
      expect(await response.text()).toBe("");
    }
    const rejected = await gateway.request("/v2/reports/", { method: "HEAD" });
    expect(rejected.status).toBe(401);
    expect(await rejected.text()).toBe("");
  });

  it("return 400 when the request target or the host is invalid", async () => {
    expect((await parseProblem(await sendRawRequest("GET", "http://[/v2/reports/"))).code).toBe("invalid_request");
    expect(
      (await parseProblem(await sendRawRequest("GET", "/v2/reports/", { host: "a b", authorization: key }))).code,
    ).toBe("invalid_request");
  });

  it("return 400 when the Authorization header is sent twice", async () => {
    const head = `GET /v2/reports/ HTTP/1.1\r\nhost: x\r\nauthorization: ${key}\r\nAuthorization: ${key}\r\n`;
    const response = await sendBytes(`${head}connection: close\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 400 [\s\S]*Send the Authorization header only once\./);
  });

  it("return 400 for bytes that are not HTTP", async () => {
    const response = await sendBytes("this is not HTTP\r\n\r\n");
    expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    const { code, detail } = JSON.parse(response.slice(response.indexOf("{")));
    expect([code, detail]).toEqual(["invalid_request", expect.stringContaining("not a valid HTTP request")]);
  });

  it("return 501 for a transfer encoding other than chunked, and close the connection", async () => {
    const nextRequest = "GET /health/ HTTP/1.1\r\nhost: x\r\n\r\n";
    for (const encoding of ["gzip, chunked", "gzip\r\ntransfer-encoding: chunked", "Identity,chunked"]) {
      const head = `POST /v2/reports/ HTTP/1.1\r\nhost: x\r\nauthorization: ${key}\r\ntransfer-encoding: ${encoding}`;
      const text = await sendBytes(`${head}\r\n\r\n3\r\nabc\r\n0\r\n\r\n${nextRequest}`);
      expect(text).toMatch(/^HTTP\/1\.1 501 Not Implemented\r\n/);
      expect(text).toMatch(/\r\nconnection: close\r\n/i);
      expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
      expect(problemSchema.parse(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).code).toBe(
        "unsupported_transfer_encoding",
      );
    }
    const chunked = `POST /v2/reports/ HTTP/1.1\r\nhost: x\r\nauthorization: ${key}\r\nconnection: close`;
    for (const encoding of ["Chunked", ", chunked"]) {
      const text = await sendBytes(`${chunked}\r\ntransfer-encoding: ${encoding}\r\n\r\n0\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    }
  });

  it("return 431 for too many headers and for headers that are too large", async () => {
    const manyHeaders = Object.fromEntries(Array.from({ length: 1_980 }, (_, index) => [`x${index}`, "1"]));
    for (const headers of [manyHeaders, { x: "x".repeat(20_000) }]) {
      const rejected = await sendRawRequest("GET", "/v2/reports/", { authorization: key, ...headers });
      expect(rejected.status).toBe(431);
      expect((await parseProblem(rejected)).code).toBe("headers_too_large");
    }
  });
});

describe("the rate limit of a key", () => {
  it("is enforced and stated in the headers of every response", async () => {
    const limitedKey = gateway.accounts.addKey({ rateLimit: { perSecond: 1, burst: 2 } }).key;
    const first = await gateway.request("/v2/reports/", { key: limitedKey });
    expect(first.status).toBe(200);
    expect(first.headers.get("ratelimit-limit")).toBe("2");
    expect(first.headers.get("ratelimit-policy")).toBe("2;w=2");
    expect(first.headers.get("ratelimit-remaining")).toBe("1");
    await gateway.request("/v2/reports/", { key: limitedKey });
    const rejected = await gateway.request("/v2/reports/", { key: limitedKey });
    expect((await parseProblem(rejected)).code).toBe("rate_limited");
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get("retry-after")).toBe("1");
    expect(rejected.headers.get("ratelimit-remaining")).toBe("0");
  });

  it("is not stated in responses to requests without a key", async () => {
    expect((await gateway.request("/v2/reports/")).headers.get("ratelimit-limit")).toBeNull();
  });
});

describe("a key that expires", () => {
  it("is announced by a header of each response within 14 days, also of errors", async () => {
    const dayMs = 24 * 3_600_000;
    const headerOf = async (inDays: number | null, path = "/v2/reports") => {
      const expiresAt = inDays === null ? null : new Date(Date.now() + inDays * dayMs).toISOString();
      const response = await gateway.request(path, { key: gateway.accounts.addKey({ expiresAt }).key });
      return { isAnnounced: response.headers.get("api-key-expires-at") === expiresAt, status: response.status };
    };
    expect(await headerOf(13)).toEqual({ isAnnounced: true, status: 200 });
    expect(await headerOf(13, "/v1/tills")).toEqual({ isAnnounced: true, status: 503 });
    expect((await headerOf(15)).isAnnounced).toBe(false);
    expect(await gateway.request("/v2/reports", { key }).then(({ headers }) => headers.has("api-key-expires-at"))).toBe(
      false,
    );
  });
});

describe("request ids", () => {
  it("are taken from the client", async () => {
    const response = await gateway.request("/v2/reports/", { key, headers: { "x-request-id": "till-42/a" } });
    expect(response.headers.get("x-request-id")).toBe("till-42/a");
    expect((await forwardedRequestIn(response)).requestId).toBe("till-42/a");
  });

  it.each(["has space", "é", "x".repeat(129)])("are generated when the client sends %j", async (id) => {
    const response = await gateway.request("/health/", { headers: { "x-request-id": id } });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a service", () => {
  it("receives the gateway's headers instead of forged headers", async () => {
    const response = await gateway.request("/v2/reports/?size=2", {
      key,
      headers: {
        "x-pragma-principal": "forged",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        forwarded: "host=evil.example",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      },
    });
    const { url, origin, traceparent, consumer } = await forwardedRequestIn(response);
    expect(url).toMatch(/\/v2\/reports\/\?size=2$/);
    expect(origin).toBe(`http://127.0.0.1:${gateway.port}`);
    expect(traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/);
    expect(consumer).toBe("Acme");
  });
});

describe("pages of other origins", () => {
  it("may send preflight requests without a key", async () => {
    const response = await gateway.request("/v2/reports/", {
      method: "OPTIONS",
      headers: { origin: "https://portal.example", "access-control-request-method": "GET" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://portal.example");
    expect(response.headers.get("access-control-allow-methods")).toContain("GET");
    expect(response.headers.get("access-control-allow-headers")).toContain("authorization");
  });

  it("may read responses, errors and their headers", async () => {
    for (const options of [{ key }, {}]) {
      const { headers } = await gateway.request("/v2/reports/", {
        ...options,
        headers: { origin: "https://portal.example" },
      });
      expect(headers.get("access-control-allow-origin")).toBe("https://portal.example");
      for (const name of ["x-request-id", "ratelimit-remaining", "retry-after", "etag", "link", "location"]) {
        expect(headers.get("access-control-expose-headers")).toContain(name);
      }
      expect(headers.get("vary")).toContain("origin");
    }
  });

  it("are blocked when their origin is not configured", async () => {
    const headers = { origin: "https://elsewhere.example", "access-control-request-method": "GET" };
    const response = await gateway.request("/v2/reports/", { method: "OPTIONS", headers });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("access-control-allow-methods")).toBeNull();
  });

  it("cannot create a sandbox if their origin is not configured", async () => {
    const createSandbox = (origin: string, site?: string) =>
      gateway.request("/v1/sandboxes", {
        method: "POST",
        headers: { origin, ...(site && { "sec-fetch-site": site }) },
      });
    for (const origin of ["https://elsewhere.example", "null"]) {
      for (const site of ["cross-site", undefined]) {
        const rejected = await createSandbox(origin, site);
        expect(rejected.status).toBe(403);
        expect((await parseProblem(rejected)).code).toBe("origin_forbidden");
      }
    }
    expect((await createSandbox("https://portal.example")).status).not.toBe(403);
    expect((await createSandbox("https://portal.example", "cross-site")).status).not.toBe(403);
    expect((await createSandbox("https://elsewhere.example", "same-site")).status).not.toBe(403);
  });
});

describe("a host that is not that of the installation", () => {
  const createSandboxAt = (port: number, host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      // As of a page whose name leads to this machine, in a browser that considers the page to be of the same origin.
      const headers = { host, "sec-fetch-site": "same-origin", "content-length": 0 };
      rawRequest({ host: "127.0.0.1", port, method: "POST", path: "/v1/sandboxes", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });

  it("cannot be used to create a sandbox if the gateway listens only on this machine", async () => {
    const local = await startTestGateway(environment, {
      variables: { LISTEN_HOST: "localhost", PUBLIC_URL: "https://api.example" },
    });
    try {
      for (const host of ["attacker.example", "attacker.example:4000", "127.0.0.1.attacker.example", "10.0.0.7:4000"])
        expect(await createSandboxAt(local.port, host), host).toBe(403);
      for (const host of ["localhost:4000", "LOCALHOST", "127.0.0.1:4000", "[::1]:4000", "api.example"])
        expect(await createSandboxAt(local.port, host), host).not.toBe(403);
    } finally {
      await local.stop();
    }
  });

  it.each([
    ["listens on all addresses", {}],
    ["is behind a proxy on the same machine", { LISTEN_HOST: "localhost", TRUSTED_PROXY_COUNT: "1" }],
  ])("is accepted if the gateway %s", async (_, variables) => {
    const reachable = await startTestGateway(environment, { variables });
    try {
      expect(await createSandboxAt(reachable.port, "pragma.internal:4000")).not.toBe(403);
    } finally {
      await reachable.stop();
    }
  });
});

describe("OPTIONS", () => {
  it.each([
    ["/v2/reports/", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"],
    ["/health/", "GET, HEAD, OPTIONS"],
  ])("lists the methods of %s", async (path, allow) => {
    const response = await sendRawRequest("OPTIONS", path);
    expect([response.status, response.headers.get("allow")]).toEqual([204, allow]);
  });

  it("returns 404 for an unknown path", async () => {
    expect((await sendRawRequest("OPTIONS", "/nothing")).status).toBe(404);
  });
});

describe("the log", () => {
  it("has one line for each request, which never contains the key", async () => {
    const created = gateway.accounts.addKey({ consumer: "Logged" });
    const response = await gateway.request("/v2/reports/x?size=1", {
      key: created.key,
      headers: { "x-request-id": "logged-1", "user-agent": "a".repeat(300) },
    });
    const { length } = await response.text();
    const line = await eventually("the log line", () =>
      gateway.logLines.find(({ requestId }) => requestId === "logged-1"),
    );
    expect(line).toMatchObject({
      msg: "request",
      method: "GET",
      route: "/v2/reports",
      upstream: "reporting",
      path: "/v2/reports/x",
      status: 200,
      bytes: expect.any(Number),
      keyId: created.resolvedKey.keyId,
      consumer: "Logged",
      locationId: created.resolvedKey.location?.id,
      clientAddress: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/),
      userAgent: "a".repeat(255),
    });
    expect(line.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(line.bytes).toBeGreaterThan(length);
    expect(line.milliseconds).toBeGreaterThan(0);
    expect(gateway.logLines.filter(({ requestId }) => requestId === "logged-1")).toHaveLength(1);
    expect(JSON.stringify(gateway.logLines)).not.toContain(created.key.slice(7));
  });

  it("has no line and no span for a successful health check, and both for a rejected one", async () => {
    const spans = startTestSpanRecorder();
    const traceId = "0af7651916cd43dd8448eb211c80319d";
    const send = (method: string, id: string) => {
      const headers = { "x-request-id": id, traceparent: `00-${traceId}-b7ad6b7169203331-01` };
      return gateway.request("/health/", { method, headers });
    };
    expect((await send("GET", "probe-1")).status).toBe(200);
    expect((await send("POST", "probe-2")).status).toBe(405);
    await eventually("the line of the rejected request", () =>
      gateway.logLines.find(({ requestId }) => requestId === "probe-2"),
    );
    expect(gateway.logLines.filter(({ requestId }) => requestId === "probe-1")).toEqual([]);
    expect(spans.listSpans(traceId).map(({ attributes }) => attributes["pragma.request_id"])).toEqual(["probe-2"]);
    await spans.stop();
  });

  it("has the code of an error", async () => {
    await gateway.request("/v2/reports/", { headers: { "x-request-id": "logged-2" } });
    const line = await eventually("the log line", () =>
      gateway.logLines.find(({ requestId }) => requestId === "logged-2"),
    );
    expect(line).toMatchObject({ status: 401, code: "key_missing" });
  });
});

/** Sends a request that `fetch` would reject or change, such as a TRACE request or a path that contains `..`. */
function sendRawRequest(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = rawRequest({ port: gateway.port, method, path, headers }, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const body = incoming.statusCode === 204 ? null : Buffer.concat(chunks);
      resolve(
        new Response(body, { status: incoming.statusCode ?? 0, headers: incoming.headers as Record<string, string> }),
      );
    });
    sent.on("error", reject).end();
  });
}

function sendBytes(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(gateway.port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => (text += chunk));
    socket.on("end", () => resolve(text)).on("error", reject);
  });
}
