import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openRawConnection, readRawResponse, requestHead } from "../testing/raw-client.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: TestEnvironment;
let gateway: TestGateway;
let key: string;
let upstream: Server;
/** What the upstream does with each request, in the order they come; the last goes on for ever. */
let upstreamScript: ((socket: Socket, request: string) => void)[];
let requests: string[];
let connections: Set<Socket>;

beforeAll(async () => {
  environment = await createTestEnvironment();
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
    variables: { REPORTING_URL: `http://127.0.0.1:${port}`, UPSTREAM_TIMEOUT: "1" },
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
const problemCodeOf = async (reply: Response) => ((await reply.json()) as { code: string }).code;

describe("a connection that is reset before the reply", () => {
  it("is tried once more for a GET", async () => {
    upstreamScript = [resetConnection, respondOk];
    const reply = await sendRequest({ headers: { "x-request-id": "tried-again" } });
    expect([reply.status, await reply.text()]).toEqual([200, "ok"]);
    expect(requests).toHaveLength(2);
    const line = await eventually("its line", () =>
      gateway.logLines.find(({ requestId }) => requestId === "tried-again"),
    );
    expect(line).toMatchObject({ status: 200, retried: true });
  });

  it("is tried once more and no more", async () => {
    upstreamScript = [resetConnection];
    const reply = await sendRequest();
    expect([reply.status, reply.headers.get("retry-after"), await problemCodeOf(reply)]).toEqual([
      503,
      "2",
      "service_unavailable",
    ]);
    expect(requests).toHaveLength(2);
  });

  it("is not tried again for a POST", async () => {
    upstreamScript = [resetConnection, respondOk];
    const reply = await sendRequest({ method: "POST", body: "{}" });
    expect([reply.status, await problemCodeOf(reply)]).toEqual([503, "service_unavailable"]);
    expect(requests).toHaveLength(1);
  });

  it("is tried again when it was kept from before and closed meanwhile", async () => {
    upstreamScript = [respondOk];
    for (let request = 0; request < 20; request++) {
      expect((await sendRequest()).status).toBe(200);
      for (const socket of connections) socket.end();
      if (request % 3 === 0) await sleep(5);
    }
  });
});

describe("a service", () => {
  it("that nobody can connect to is unavailable for a moment", async () => {
    upstream.close();
    const reply = await sendRequest();
    expect([reply.status, reply.headers.get("retry-after"), await problemCodeOf(reply)]).toEqual([
      503,
      "2",
      "service_unavailable",
    ]);
    expect(gateway.logLines.some(({ level }) => level === "error")).toBe(true);
  });

  it("that is gone in the middle of a small response is unavailable, and not tried again", async () => {
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
      const reply = await sendRequest();
      expect([reply.status, await problemCodeOf(reply)]).toEqual([503, "service_unavailable"]);
    }
    expect(requests).toHaveLength(2);
  });

  it("that is gone in the middle of a large response, or one of unknown length, cuts the client off", async () => {
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
      const socket = await openRawConnection(gateway.port);
      socket.write(requestHead("GET /v2/reports/", { authorization: key }));
      const reply = await readRawResponse(socket);
      expect(reply).toMatchObject({ status: 200, isCutOff: true });
      expect(reply.body.toString()).toBe("only this");
    }
    expect(requests).toHaveLength(2);
  });

  it("that stops in the middle of its response is given up on", async () => {
    upstreamScript = [respondWith("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this")];
    const reply = await sendRequest();
    expect([reply.status, await problemCodeOf(reply)]).toEqual([504, "upstream_timeout"]);
    upstreamScript = [respondWith("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nonly this")];
    await expect(sendRequest().then((begun) => begun.text())).rejects.toThrow();
    await eventually("its connections to be closed", () => connections.size === 0);
  });

  it("gets what it reads of a client's headers, and the gateway's own, whatever Connection names", async () => {
    upstreamScript = [respondOk];
    const socket = await openRawConnection(gateway.port);
    const named = ["content-length", "host", "authorization", "x-request-id", "x-forwarded-host", "x-pragma-principal"];
    socket.write(
      `${requestHead("POST /v2/reports/", {
        authorization: key,
        connection: [...named, "x-pragma-signature", "transfer-encoding", "x-mine"].join(", "),
        "content-type": "application/json",
        "content-length": 2,
        "x-forwarded-host": "evil.example",
        "x-pragma-principal": "made-up",
        "x-mine": "1",
        cookie: "a=1",
      })}{}`,
    );
    expect((await readRawResponse(socket)).status).toBe(200);
    const lines = (requests[0] ?? "").split("\r\n");
    const names = lines.slice(1, lines.indexOf("")).map((line) => line.split(":")[0]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(["host", ...named.filter((name) => name !== "authorization")]));
    for (const name of ["authorization", "cookie", "x-mine", "transfer-encoding"]) expect(names).not.toContain(name);
    expect(lines).toContain("content-length: 2");
    expect(requests[0]).not.toContain("evil");
    expect(requests[0]).not.toContain("made-up");
    socket.destroy();
  });

  it("that says something on the way is heard at the end", async () => {
    upstreamScript = [
      respondWith("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    ];
    expect(await (await sendRequest()).text()).toBe("ok");
  });

  it("that speaks no HTTP is our own fault", async () => {
    upstreamScript = [respondWith("HELLO\r\n\r\n")];
    const reply = await sendRequest();
    expect([reply.status, await problemCodeOf(reply)]).toEqual([500, "internal_error"]);
  });

  it("does not decide on the client's connection, nor on the request id", async () => {
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

  it("keeps its connection from one request to the next", async () => {
    upstreamScript = [respondOk];
    const ports = new Set<number | undefined>();
    for (let request = 0; request < 5; request++) {
      await (await sendRequest()).text();
      for (const { remotePort } of connections) ports.add(remotePort);
    }
    expect(ports.size).toBe(1);
  });

  it("sees its connection closed when the client goes away", async () => {
    let asked: Socket | undefined;
    upstreamScript = [
      (connection) => {
        asked = connection;
      },
    ];
    const socket = await openRawConnection(gateway.port);
    socket.write(requestHead("GET /v2/reports/", { authorization: key }));
    await eventually("the request to come", () => requests.length === 1);
    socket.destroy();
    await eventually("the connection to be closed", () => asked?.destroyed, { timeoutSeconds: 1 });
  });

  it("that does not take a body in time is given up on", async () => {
    upstreamScript = [(socket) => void socket.pause()];
    const reply = await sendRequest({ method: "POST", body: Buffer.alloc(20_000_000) });
    expect([reply.status, await problemCodeOf(reply)]).toEqual([504, "upstream_timeout"]);
  });
});

describe("a gateway that stops", () => {
  it("lets requests finish, and closes their connections", async () => {
    upstreamScript = [
      (socket) => void setTimeout(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), 400),
    ];
    const idle = await openRawConnection(gateway.port);
    const idleClosed = new Promise((resolve) => idle.once("close", resolve));
    const socket = await openRawConnection(gateway.port);
    socket.write(requestHead("GET /v2/reports/", { authorization: key }));
    await eventually("the request to come", () => requests.length === 1);
    const stopping = gateway.stop();
    await sleep(50);
    await expect(openRawConnection(gateway.port)).rejects.toThrow("ECONNREFUSED");
    const reply = await readRawResponse(socket);
    expect(reply).toMatchObject({ status: 200, isCutOff: false, headers: { connection: "close" } });
    const began = performance.now();
    await Promise.all([stopping, idleClosed]);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
