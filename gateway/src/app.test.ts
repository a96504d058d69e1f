import { request as rawRequest } from "node:http";
import { connect } from "node:net";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import { Health } from "@pragma/contracts/health";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "./testing/test-gateway.ts";

let environment: TestEnvironment;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  environment = await createTestEnvironment();
  gateway = await startTestGateway(environment, {
    inProcessServices: {
      reporting: async ({ url, method }, { caller } = {}) => {
        if (!caller) throw new Error("The gateway says who asks.");
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

/** What the service says that it was asked. */
async function forwardedRequestIn(
  reply: Response,
): Promise<Record<"url" | "method" | "requestId" | "traceparent" | "origin" | "consumer", string>> {
  return (await reply.json()) as Awaited<ReturnType<typeof forwardedRequestIn>>;
}

async function parseProblem(reply: Response): Promise<Problem> {
  expect(reply.headers.get("content-type")).toBe("application/problem+json");
  const problem = problemSchema.parse(await reply.json());
  expect(problem.status).toBe(reply.status);
  expect(problem.requestId).toBe(reply.headers.get("x-request-id"));
  return problem;
}

describe("what the gateway answers itself", () => {
  it.each(["/health/", "/health"])("tells at %s that it is up, without a key", async (path) => {
    const reply = await gateway.request(path);
    expect(reply.status).toBe(200);
    expect(Health.parse(await reply.json())).toMatchObject({ status: "ok", apiVersions: ["v1", "v2"] });
  });

  it("serves the public document to anybody, and not again to who has it", async () => {
    const reply = await gateway.request("/openapi.json");
    expect(await reply.json()).not.toHaveProperty(["paths", "/v1/consumers"]);
    const etag = reply.headers.get("etag") ?? "";
    const again = await gateway.request("/openapi.json", { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
  });

  it("serves the whole document to admins only", async () => {
    expect((await parseProblem(await gateway.request("/openapi.full.json"))).code).toBe("key_missing");
    expect((await parseProblem(await gateway.request("/openapi.full.json", { key }))).code).toBe("scope_missing");
    const admin = gateway.accounts.addKey({ scopes: ["admin"], location: null });
    const reply = await gateway.request("/openapi.full.json", { key: admin.key });
    expect(await reply.json()).toHaveProperty(["paths", "/v1/consumers"]);
    expect(reply.headers.get("ratelimit-limit")).toBe("2000");
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
  ])("answers 404 at %s, without a key", async (path) => {
    expect((await parseProblem(await sendRawRequest("GET", path))).code).toBe("route_not_found");
  });

  it("answers 405 with the methods there are", async () => {
    const reply = await gateway.request("/health/", { method: "POST", body: "{}" });
    expect(reply.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await parseProblem(reply)).code).toBe("method_not_allowed");
    expect((await parseProblem(await sendRawRequest("TRACE", "/v2/reports/"))).code).toBe("method_not_allowed");
  });

  it("answers HEAD without a body", async () => {
    for (const path of ["/health/", "/v2/reports/"]) {
      const reply = await gateway.request(path, { method: "HEAD", key });
      expect(reply.status).toBe(200);
      expect(reply.headers.get("content-type")).toContain("application/json");
      expect(await reply.text()).toBe("");
    }
    const refused = await gateway.request("/v2/reports/", { method: "HEAD" });
    expect(refused.status).toBe(401);
    expect(await refused.text()).toBe("");
  });

  it("answers 400 to a target or a host that is none", async () => {
    expect((await parseProblem(await sendRawRequest("GET", "http://[/v2/reports/"))).code).toBe("invalid_request");
    expect(
      (await parseProblem(await sendRawRequest("GET", "/v2/reports/", { host: "a b", authorization: key }))).code,
    ).toBe("invalid_request");
  });

  it("refuses what is no HTTP", async () => {
    expect(await sendBytes("this is not HTTP\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });

  it("answers 501 to a transfer encoding other than chunked, and closes the connection", async () => {
    const next = "GET /health/ HTTP/1.1\r\nhost: x\r\n\r\n";
    for (const encoding of ["gzip, chunked", "gzip\r\ntransfer-encoding: chunked", "Identity,chunked"]) {
      const head = `POST /v2/reports/ HTTP/1.1\r\nhost: x\r\nauthorization: ${key}\r\ntransfer-encoding: ${encoding}`;
      const text = await sendBytes(`${head}\r\n\r\n3\r\nabc\r\n0\r\n\r\n${next}`);
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

  it("refuses more headers than any client has, and larger ones, with a problem", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_980 }, (_, at) => [`x${at}`, "1"]));
    for (const headers of [many, { x: "x".repeat(20_000) }]) {
      const refused = await sendRawRequest("GET", "/v2/reports/", { authorization: key, ...headers });
      expect(refused.status).toBe(431);
      expect((await parseProblem(refused)).code).toBe("headers_too_large");
    }
  });
});

describe("a key's limit", () => {
  it("is told in every reply, and kept", async () => {
    const limited = gateway.accounts.addKey({ rateLimit: { perSecond: 1, burst: 2 } }).key;
    const first = await gateway.request("/v2/reports/", { key: limited });
    expect(first.status).toBe(200);
    expect(first.headers.get("ratelimit-limit")).toBe("2");
    expect(first.headers.get("ratelimit-policy")).toBe("2;w=2");
    expect(first.headers.get("ratelimit-remaining")).toBe("1");
    await gateway.request("/v2/reports/", { key: limited });
    const refused = await gateway.request("/v2/reports/", { key: limited });
    expect((await parseProblem(refused)).code).toBe("rate_limited");
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("ratelimit-remaining")).toBe("0");
  });

  it("is not told to who has no key", async () => {
    expect((await gateway.request("/v2/reports/")).headers.get("ratelimit-limit")).toBeNull();
  });
});

describe("request ids", () => {
  it("are the client's own", async () => {
    const reply = await gateway.request("/v2/reports/", { key, headers: { "x-request-id": "till-42/a" } });
    expect(reply.headers.get("x-request-id")).toBe("till-42/a");
    expect((await forwardedRequestIn(reply)).requestId).toBe("till-42/a");
  });

  it.each(["has space", "é", "x".repeat(129)])("are new when the client's is %j", async (id) => {
    const reply = await gateway.request("/health/", { headers: { "x-request-id": id } });
    expect(reply.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("what services hear of a client", () => {
  it("is what the gateway says, not what the client makes up", async () => {
    const reply = await gateway.request("/v2/reports/?size=2", {
      key,
      headers: {
        "x-pragma-principal": "made-up",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        forwarded: "host=evil.example",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      },
    });
    const { url, origin, traceparent, consumer } = await forwardedRequestIn(reply);
    expect(url).toMatch(/\/v2\/reports\/\?size=2$/);
    expect(origin).toBe(`http://127.0.0.1:${gateway.port}`);
    expect(traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/);
    expect(consumer).toBe("Acme");
  });
});

describe("pages of other origins", () => {
  it("may ask before they send, without a key", async () => {
    const reply = await gateway.request("/v2/reports/", {
      method: "OPTIONS",
      headers: { origin: "https://portal.example", "access-control-request-method": "GET" },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers.get("access-control-allow-origin")).toBe("https://portal.example");
    expect(reply.headers.get("access-control-allow-methods")).toContain("GET");
    expect(reply.headers.get("access-control-allow-headers")).toContain("authorization");
  });

  it("may read replies and errors, and their headers", async () => {
    for (const given of [{ key }, {}]) {
      const { headers } = await gateway.request("/v2/reports/", {
        ...given,
        headers: { origin: "https://portal.example" },
      });
      expect(headers.get("access-control-allow-origin")).toBe("https://portal.example");
      for (const name of ["x-request-id", "ratelimit-remaining", "retry-after", "etag", "link", "location"]) {
        expect(headers.get("access-control-expose-headers")).toContain(name);
      }
      expect(headers.get("vary")).toContain("origin");
    }
  });

  it("may not when their origin is not one of those", async () => {
    const headers = { origin: "https://elsewhere.example", "access-control-request-method": "GET" };
    const reply = await gateway.request("/v2/reports/", { method: "OPTIONS", headers });
    expect(reply.headers.get("access-control-allow-origin")).toBeNull();
    expect(reply.headers.get("access-control-allow-methods")).toBeNull();
  });
});

describe("OPTIONS", () => {
  it.each([
    ["/v2/reports/", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"],
    ["/health/", "GET, HEAD, OPTIONS"],
  ])("tells the methods of %s", async (path, allow) => {
    const reply = await sendRawRequest("OPTIONS", path);
    expect([reply.status, reply.headers.get("allow")]).toEqual([204, allow]);
  });

  it("answers 404 where there is nothing", async () => {
    expect((await sendRawRequest("OPTIONS", "/nothing")).status).toBe(404);
  });
});

describe("the log", () => {
  it("has one line for a request, with all there is to know, and never the key", async () => {
    const made = gateway.accounts.addKey({ consumer: "Logged" });
    const reply = await gateway.request("/v2/reports/x?size=1", {
      key: made.key,
      headers: { "x-request-id": "logged-1" },
    });
    const { length } = await reply.text();
    const line = await eventually("its line", () => gateway.logLines.find(({ requestId }) => requestId === "logged-1"));
    expect(line).toMatchObject({
      msg: "request",
      method: "GET",
      route: "/v2/reports",
      upstream: "reporting",
      path: "/v2/reports/x",
      status: 200,
      bytes: expect.any(Number),
      keyId: made.facts.keyId,
      consumer: "Logged",
      locationId: made.facts.location?.id,
    });
    expect(line.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(line.bytes).toBeGreaterThan(length);
    expect(line.milliseconds).toBeGreaterThan(0);
    expect(gateway.logLines.filter(({ requestId }) => requestId === "logged-1")).toHaveLength(1);
    expect(JSON.stringify(gateway.logLines)).not.toContain(made.key.slice(7));
  });

  it("has the code of a problem", async () => {
    await gateway.request("/v2/reports/", { headers: { "x-request-id": "logged-2" } });
    const line = await eventually("its line", () => gateway.logLines.find(({ requestId }) => requestId === "logged-2"));
    expect(line).toMatchObject({ status: 401, code: "key_missing" });
  });
});

/** Asks with a target and headers that `fetch` would not send. */
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
