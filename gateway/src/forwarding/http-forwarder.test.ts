import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { bodySignatureBytes } from "@pragma/runtime/service-calls/body-signature";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { formatRequestHead, openRawTcpConnection, readRawSocketResponse } from "../testing/raw-client.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: IsolatedTestEnvironment;
let gateway: TestGateway;
let key: string;
let upstream: Server;
/** The behaviors of the upstream service for successive requests. The last behavior is repeated. */
let upstreamScript: ((socket: Socket, request: string) => void)[];
let requests: string[];
let connections: Set<Socket>;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
});
afterAll(() => environment.remove());

beforeEach(async () => {
  upstreamScript = [];
  requests = [];
  connections = new Set();
  upstream = createServer((socket) => {
    connections.add(socket.on("error", () => {}).on("close", () => connections.delete(socket)));
    socket.on("data", (bytes) => {
      if (!/^[A-Z]+ \//.test(bytes.toString("latin1"))) return;
      requests.push(bytes.toString("latin1"));
      (upstreamScript.length > 1 ? upstreamScript.shift() : upstreamScript[0])?.(socket, bytes.toString("latin1"));
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  gateway = await startTestGateway(environment, {
    variables: { REPORTING_URL: `http://127.0.0.1:${port}`, UPSTREAM_TIMEOUT_SECONDS: "1" },
  });
  ({ key } = gateway.accounts.addKey());
});
afterEach(async () => {
  for (const socket of connections) socket.destroy();
  upstream.close();
  await gateway.stop();
});

const respondWith = (text: string) => (socket: Socket) => void socket.write(text);
const respondOk = respondWith("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
const resetConnection = (socket: Socket) => void socket.resetAndDestroy();
const sendRequest = (init: RequestInit = {}) => gateway.request("/v2/reports/", { key, ...init });
const problemCodeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

describe("a request whose connection is reset before the response", () => {
  it("is retried once for a GET", async () => {
    upstreamScript = [resetConnection, respondOk];
    const response = await sendRequest({ headers: { "x-request-id": "retried-request" } });
    expect([response.status, await response.text()]).toEqual([200, "ok"]);
    expect(requests).toHaveLength(2);
    const line = await eventually("the log line", () =>
      gateway.logLines.find(({ requestId }) => requestId === "retried-request"),
    );
    expect(line).toMatchObject({ status: 200, retried: true });
  });

  it("is retried only once", async () => {
    upstreamScript = [resetConnection];
    const response = await sendRequest();
    expect([response.status, response.headers.get("retry-after"), await problemCodeOf(response)]).toEqual([
      503,
      "2",
      "service_unavailable",
    ]);
    expect(requests).toHaveLength(2);
  });

  it("is not retried for a POST", async () => {
    upstreamScript = [resetConnection, respondOk];
    const response = await sendRequest({ method: "POST", body: "{}" });
    expect([response.status, await problemCodeOf(response)]).toEqual([503, "service_unavailable"]);
    expect(requests).toHaveLength(1);
  });

  it("is retried when the service has closed a kept-alive connection", async () => {
    upstreamScript = [respondOk];
    for (let request = 0; request < 20; request++) {
      expect((await sendRequest()).status).toBe(200);
      for (const socket of connections) socket.end();
      if (request % 3 === 0) await sleep(5);
    }
  });
});

describe("a service", () => {
  it("that refuses connections yields 503 with Retry-After", async () => {
    upstream.close();
    const response = await sendRequest();
    expect([response.status, response.headers.get("retry-after"), await problemCodeOf(response)]).toEqual([
      503,
      "2",
      "service_unavailable",
    ]);
    expect(gateway.logLines.some(({ level }) => level === "error")).toBe(true);
  });

  it("that aborts a small response yields 503 after one retry", async () => {
    for (const text of [
      "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this",
      "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n",
    ]) {
      upstreamScript = [
        (socket) => {
          socket.write(text);
          setTimeout(() => socket.destroy(), 50);
        },
      ];
      const response = await sendRequest();
      expect([response.status, await problemCodeOf(response)]).toEqual([503, "service_unavailable"]);
    }
    expect(requests).toHaveLength(4);
  });

  it("that aborts a response that is large or of unknown length causes the gateway to abort its own response", async () => {
    for (const text of [
      "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nonly this",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nonly this\r\n",
    ]) {
      upstreamScript = [
        (socket) => {
          socket.write(text);
          setTimeout(() => socket.destroy(), 50);
        },
      ];
      const socket = await openRawTcpConnection(gateway.port);
      socket.write(formatRequestHead("GET /v2/reports/", { authorization: key }));
      const response = await readRawSocketResponse(socket);
      expect(response).toMatchObject({ status: 200, isTruncated: true });
      expect(response.body.toString()).toBe("only this");
    }
    expect(requests).toHaveLength(2);
  });

  it("that stalls during its response times out", async () => {
    upstreamScript = [respondWith("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this")];
    const response = await sendRequest();
    expect([response.status, await problemCodeOf(response)]).toEqual([504, "upstream_timeout"]);
    upstreamScript = [respondWith("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nonly this")];
    await expect(sendRequest().then((partial) => partial.text())).rejects.toThrow();
    await eventually("its connections to be closed", () => connections.size === 0);
  });

  it("receives allowed client headers and the gateway's headers, whatever headers the Connection header lists", async () => {
    upstreamScript = [respondOk];
    const socket = await openRawTcpConnection(gateway.port);
    const named = ["content-length", "host", "authorization", "x-request-id", "x-forwarded-host", "x-pragma-principal"];
    socket.write(
      `${formatRequestHead("POST /v2/reports/", {
        authorization: key,
        connection: [...named, "x-pragma-signature", "transfer-encoding", "x-mine"].join(", "),
        "content-type": "application/json",
        "content-length": 2,
        "x-forwarded-host": "evil.example",
        "x-pragma-principal": "forged",
        "x-mine": "1",
        cookie: "a=1",
      })}{}`,
    );
    expect((await readRawSocketResponse(socket)).status).toBe(200);
    const lines = (requests[0] ?? "").split("\r\n");
    const names = lines.slice(1, lines.indexOf("")).map((line) => line.split(":")[0]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(["host", ...named.filter((name) => name !== "authorization")]));
    for (const name of ["authorization", "cookie", "x-mine", "transfer-encoding"]) expect(names).not.toContain(name);
    expect(lines).toContain(`content-length: ${2 + bodySignatureBytes}`);
    expect(requests[0]).not.toContain("evil");
    expect(requests[0]).not.toContain("forged");
    socket.destroy();
  });

  it("may send an informational response before the final one", async () => {
    upstreamScript = [
      respondWith("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    ];
    expect(await (await sendRequest()).text()).toBe("ok");
  });

  it("that does not respond with HTTP yields 500", async () => {
    upstreamScript = [respondWith("HELLO\r\n\r\n")];
    const response = await sendRequest();
    expect([response.status, await problemCodeOf(response)]).toEqual([500, "internal_error"]);
  });

  it("cannot set hop-by-hop headers or the request id of the response", async () => {
    upstreamScript = [
      respondWith(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close, x-hop\r\nx-hop: 1\r\nkeep-alive: timeout=1\r\nx-request-id: theirs\r\n\r\nok",
      ),
    ];
    const { headers } = await sendRequest({ headers: { "x-request-id": "mine" } });
    expect(headers.get("connection")).toBe("keep-alive");
    expect(headers.get("keep-alive")).toBe("timeout=75");
    expect(headers.get("x-request-id")).toBe("mine");
  });

  it("receives successive requests on one connection", async () => {
    upstreamScript = [respondOk];
    const ports = new Set<number | undefined>();
    for (let request = 0; request < 5; request++) {
      await (await sendRequest()).text();
      for (const { remotePort } of connections) ports.add(remotePort);
    }
    expect(ports.size).toBe(1);
  });

  it("has its connection closed when the client disconnects", async () => {
    let upstreamConnection: Socket | undefined;
    upstreamScript = [
      (connection) => {
        upstreamConnection = connection;
      },
    ];
    const socket = await openRawTcpConnection(gateway.port);
    socket.write(formatRequestHead("GET /v2/reports/", { authorization: key }));
    await eventually("the request to arrive", () => requests.length === 1);
    socket.destroy();
    await eventually("the connection to be closed", () => upstreamConnection?.destroyed, { timeoutSeconds: 1 });
  });

  it("that does not read the body in time yields 504", async () => {
    upstreamScript = [(socket) => void socket.pause()];
    const response = await sendRequest({ method: "POST", body: Buffer.alloc(20_000_000) });
    expect([response.status, await problemCodeOf(response)]).toEqual([504, "upstream_timeout"]);
  });
});

describe("the connections to a service", () => {
  let busy: TestGateway;
  let abort: AbortController;
  const keys = { ownLocation: "", secondKey: "", thirdKey: "", otherLocation: "" };

  beforeEach(async () => {
    const variables = {
      REPORTING_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      MAX_CONNECTIONS_PER_ADDRESS: "2000",
    };
    busy = await startTestGateway(environment, { accounts: gateway.accounts, variables });
    abort = new AbortController();
    const { key: ownLocation, resolvedKey } = busy.accounts.addKey();
    const { location } = resolvedKey;
    keys.ownLocation = ownLocation;
    keys.secondKey = busy.accounts.addKey({ location }).key;
    keys.thirdKey = busy.accounts.addKey({ location }).key;
    keys.otherLocation = busy.accounts.addKey().key;
    upstreamScript = [(socket, request) => (request.includes("/quick") ? respondOk(socket) : undefined)];
  });
  afterEach(() => busy.stop());

  const send = (senderKey: string, path = "", signal = AbortSignal.timeout(5_000)) =>
    busy.request(`/v2/reports/${path}`, { key: senderKey, signal });
  it("are shared by locations: one gets a quarter, and then its requests wait, up to a limit", async () => {
    const rejections: Response[] = [];
    const pending: Promise<unknown>[] = [];
    const sendMany = (senderKey: string, count: number) => {
      const responses = Array.from({ length: count }, () => send(senderKey, "", abort.signal));
      pending.push(...responses.map((response) => response.then((early) => rejections.push(early)).catch(() => {})));
    };
    // All keys of a location share 64 connections, and 250 requests wait.
    for (const senderKey of [keys.ownLocation, keys.secondKey, keys.thirdKey]) sendMany(senderKey, 106);
    await eventually("the rejections", () => rejections.length === 4);
    for (const rejected of rejections.splice(0)) {
      expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "2"]);
      expect(await rejected.json()).toMatchObject({ code: "rate_limited", limit: { name: "waiting_requests" } });
    }
    expect((await send(keys.otherLocation, "quick")).status).toBe(200);
    expect(requests).toHaveLength(65);
    // Together, all locations have 256 connections, and 1,000 requests wait.
    for (let location = 0; location < 3; location++) sendMany(busy.accounts.addKey().key, 314);
    await eventually("the requests of four locations", () => requests.length === 257);
    sendMany(keys.otherLocation, 3);
    await eventually("the rejections", () => rejections.length === 3);
    for (const rejected of rejections)
      expect([rejected.status, rejected.headers.get("retry-after"), await problemCodeOf(rejected)]).toEqual([
        503,
        "2",
        "overloaded",
      ]);
    abort.abort();
    await Promise.all(pending);
    await eventually("the capacity", async () => (await send(keys.ownLocation, "quick")).status === 200);
  });

  it("are used by at most 32 uploads of a location, whatever its number of keys", async () => {
    const sockets = await Promise.all(
      [keys.ownLocation, keys.secondKey, keys.thirdKey].flatMap((senderKey) =>
        Array.from({ length: 14 }, async () => {
          const socket = await openRawTcpConnection(busy.port);
          const headers = { authorization: senderKey, "transfer-encoding": "chunked" };
          socket.write(`${formatRequestHead("POST /v2/reports/", headers)}5\r\nslow \r\n`);
          return socket;
        }),
      ),
    );
    await eventually("the uploads", () => requests.length >= 32);
    // The requests and uploads of others, and other requests of the location, do not wait.
    expect((await send(keys.ownLocation, "quick")).status).toBe(200);
    const upload = { key: keys.otherLocation, method: "POST", body: "x".repeat(100_000) };
    expect((await busy.request("/v2/reports/quick", upload)).status).toBe(200);
    expect(requests).toHaveLength(34);
    // A client that disconnects makes room for an upload that waits.
    for (const socket of sockets) socket.destroy();
    const next = { key: keys.ownLocation, method: "POST", body: "x".repeat(100_000) };
    expect((await busy.request("/v2/reports/quick", next)).status).toBe(200);
  });
});

describe("a gateway that stops", () => {
  it("lets requests finish and closes their connections", async () => {
    upstreamScript = [
      (socket) => void setTimeout(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), 400),
    ];
    const idle = await openRawTcpConnection(gateway.port);
    const idleClosed = new Promise((resolve) => idle.once("close", resolve));
    const socket = await openRawTcpConnection(gateway.port);
    socket.write(formatRequestHead("GET /v2/reports/", { authorization: key }));
    await eventually("the request to arrive", () => requests.length === 1);
    const stopping = gateway.stop();
    await sleep(50);
    await expect(openRawTcpConnection(gateway.port)).rejects.toThrow("ECONNREFUSED");
    const response = await readRawSocketResponse(socket);
    expect(response).toMatchObject({ status: 200, isTruncated: false, headers: { connection: "close" } });
    const startedAt = performance.now();
    await Promise.all([stopping, idleClosed]);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe("requests to a service that closes each connection at its maximum age", () => {
  it("move to new connections, and none of them fails", async () => {
    const sockets = new Set<Socket>();
    const service = await startHttpServer(
      (_, { incoming }) => {
        sockets.add(incoming.socket);
        return new Response("ok");
      },
      { port: 0, maxConnectionAgeMs: 50 },
    );
    const other = await startTestGateway(environment, {
      accounts: gateway.accounts,
      variables: { REPORTING_URL: `http://127.0.0.1:${service.port}` },
    });
    const statuses = new Set<number>();
    const startedAt = performance.now();
    const clients = Array.from({ length: 4 }, async () => {
      // Without a maximum age, four clients need four connections.
      while (sockets.size <= 4 || performance.now() - startedAt < 600) {
        // POST requests are not retried when a connection closes before the response.
        statuses.add((await other.request("/v2/reports/", { key, method: "POST", body: "{}" })).status);
      }
    });
    await Promise.all(clients);
    expect([...statuses]).toEqual([200]);
    await other.stop();
    await service.stop();
  });
});
