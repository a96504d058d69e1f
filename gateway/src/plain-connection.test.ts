import { type AddressInfo, createServer, type Socket } from "node:net";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ClientReply } from "./client-side.ts";
import { PlainConnection } from "./plain-connection.ts";
import { type BothGateways, testKey as key, startBothGateways } from "./testing/both-gateways.ts";
import { head, openConnection, readReply } from "./testing/raw-client.ts";
import { testService } from "./testing/test-service.ts";

const seen = { aborted: 0, pulled: 0 };
let gateways: BothGateways;

beforeAll(async () => {
  gateways = await startBothGateways(testService(seen));
});
afterAll(() => gateways?.stop());

const get = (name: string, headers: Record<string, string> = {}) =>
  head(`GET /v2/reports/${name}`, { authorization: key, "x-request-id": name, ...headers });

/** The reply's bytes, but for what differs from one request to the next. */
async function bytesOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await readReply(socket);
  socket.destroy();
  return Buffer.concat(chunks)
    .toString("latin1")
    .replace(/^(date|ratelimit-remaining|ratelimit-reset): .*$/gim, "$1");
}

describe.each(["here", "elsewhere"] as const)("a plain request to a service %s", (where) => {
  it.each<[string, Record<string, string>]>([
    ["GET /v2/reports/json", {}],
    ["HEAD /v2/reports/json", {}],
    ["GET /v2/reports/created", {}],
    ["GET /v2/reports/unchanged", {}],
    ["GET /v2/reports/nothing", {}],
    ["GET /v2/reports/bytes", {}],
    ["GET /v2/reports/slowly", {}],
    ["HEAD /v2/reports/slowly", {}],
    ["GET /v2/reports/missing", {}],
    ["GET /v2/reports/json", { origin: "https://shop.test" }],
    ["GET /v2/reports/json", { authorization: "Bearer nobody's key at all" }],
    ["GET /v2/reports/json", { host: "no host" }],
    ["GET /nowhere", {}],
    ["GET /health/?a=1", { "x-request-id": "not one" }],
    ["GET /openapi.json", {}],
    ["HEAD /openapi.json", {}],
  ])("is answered with the same bytes as one that node:http reads: %s %j", async (line, headers) => {
    const request = head(line, { authorization: `Bearer ${key}`, "x-request-id": "same", ...headers });
    const [whole, inParts] = [await openConnection(gateways[where].port), await openConnection(gateways[where].port)];
    whole.write(request);
    inParts.write(request.slice(0, 7));
    await sleep(20);
    inParts.write(request.slice(7));
    const [plain, other] = await Promise.all([bytesOf(whole), bytesOf(inParts)]);
    const same = (text: string) =>
      line.includes("/health") || headers.host
        ? text.replace(/[0-9a-f-]{36}|"uptime":[\d.]+|content-length: \d+/g, "")
        : text;
    expect(same(plain)).toBe(same(other));
    expect(plain).toMatch(/^HTTP\/1\.1 \d{3} /);
  });

  it("that is sent before the one before it has its reply, is answered after it", async () => {
    const socket = await openConnection(gateways[where].port);
    const replies = textOf(socket);
    socket.write(get("slowly"));
    await sleep(30);
    socket.write(get("json"));
    await sleep(30);
    socket.write(get("missing"));
    await eventually("all replies", () => /slowly.+json.+"requestId":"missing"/s.test(replies()));
    socket.destroy();
  });

  it("that is sent ahead stays what it was, whatever others send before its turn", async () => {
    const [socket, other] = [await openConnection(gateways[where].port), await openConnection(gateways[where].port)];
    const replies = textOf(socket);
    socket.write(get("slowly"));
    await sleep(30);
    socket.write(get("missing"));
    await sleep(30);
    other.write(get("json", { "x-request-id": "of-another-client" }));
    await readReply(other);
    await eventually("both replies", () => /slowly.+"requestId":"missing"/s.test(replies()));
    expect(replies()).not.toContain("of-another-client");
    for (const each of [socket, other]) each.destroy();
  });

  it("may come with others in one piece, and all are answered in order", async () => {
    const socket = await openConnection(gateways[where].port);
    const replies = textOf(socket);
    socket.write(get("json") + get("slowly") + get("missing"));
    await eventually("all replies", () => /json.+slowly.+"requestId":"missing"/s.test(replies()));
    socket.destroy();
  });

  it("may be followed by any other on its connection, and that by a plain one", async () => {
    const socket = await openConnection(gateways[where].port);
    const replies = textOf(socket);
    for (let turn = 0; turn < 3; turn += 1) {
      socket.write(get(`json`));
      await eventually("the reply", () => replies().split('{"\u00c3\u00a9":1}').length === turn * 2 + 2);
      socket.write(`${head("POST /v2/reports/count", { authorization: key, "content-length": 3 })}abc`);
      await eventually("the count", () => replies().split('"bytes":3').length === turn + 2);
      socket.write(get(`json`));
      await eventually("the reply", () => replies().split('{"\u00c3\u00a9":1}').length === turn * 2 + 3);
    }
    socket.destroy();
  });

  it("is its own key's, whoever used the connection before", async () => {
    const other = gateways.accounts.addKey();
    const socket = await openConnection(gateways[where].port);
    const replies = textOf(socket);
    for (const [name, credential] of [
      ["first", key],
      ["second", other.key],
      ["third", "pragma_nobody"],
    ] as const) {
      socket.write(get("json", { authorization: credential, "x-request-id": name }));
      await eventually("the reply", () => replies().includes(`x-request-id: ${name}`));
    }
    expect(replies().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 401"]);
    const { logged } = gateways[where];
    await eventually("the log", () => logged.some(({ requestId }) => requestId === "third"));
    expect(logged.find(({ requestId }) => requestId === "second")).toMatchObject({ keyId: other.facts.keyId });
    socket.destroy();
  });

  it("is heard to the end by a client that is slow to take its reply", async () => {
    const socket = await openConnection(gateways[where].port);
    const pulled = seen.pulled;
    socket.pause();
    socket.write(get("endless"));
    await sleep(400);
    expect(seen.pulled - pulled).toBeLessThan(400);
    let bytes = 0;
    socket.on("data", (chunk) => (bytes += chunk.length)).resume();
    await eventually("much of it", () => bytes > 30 * 1024 * 1024);
    socket.destroy();
  });

  it("is let go of by its service when the client goes away", async () => {
    const socket = await openConnection(gateways[where].port);
    const aborted = seen.aborted;
    socket.write(get("hang"));
    await sleep(50);
    socket.end();
    await eventually("the service to hear of it", () => seen.aborted === aborted + 1);
  });
});

describe("a connection of plain requests", () => {
  it("outlives a stream that had its own limit of time", async () => {
    const limited = await startBothGateways(testService(seen), { STREAM_TIMEOUT: "2" });
    const socket = await openConnection(limited.here.port);
    const replies = textOf(socket);
    const authorization = `Bearer ${key}`;
    socket.write(head("GET /v2/reports/events", { authorization }));
    await eventually("the stream to end", () => replies().includes("\r\n0\r\n\r\n"));
    await sleep(2_500);
    socket.write(head("GET /v2/reports/missing", { authorization }));
    await eventually("the reply", () => replies().includes("report_not_found"));
    socket.destroy();
    await limited.stop();
  });

  it.each([
    ["asks nothing", 20_000, ""],
    ["asks nothing more", 75_000, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"],
  ])("is closed when its client %s for %i ms, and not before, nor while it is answered", async (_, patience, asked) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
    const client = await openConnection((server.address() as AddressInfo).port);
    const socket = await accepted;
    let reply: ClientReply | undefined;
    const onRequest = (_request: unknown, sent: ClientReply) => {
      reply = sent;
    };
    const connection = new PlainConnection(socket, { onRequest, handOn: () => {} });
    const closeIn = (milliseconds: number) => {
      const later = performance.now() + milliseconds;
      const now = vi.spyOn(performance, "now").mockReturnValue(later);
      connection.closeIfUnused();
      now.mockRestore();
      return socket.destroyed;
    };
    if (asked) {
      client.write(asked);
      await eventually("the request", () => reply !== undefined);
      expect(closeIn(2 * patience)).toBe(false);
      reply?.writeHead(204, []);
      reply?.end();
      await eventually("the reply", () => !connection.isBusy);
    }
    expect(closeIn(patience - 5_000)).toBe(false);
    expect(closeIn(patience + 1_000)).toBe(true);
    client.destroy();
    server.close();
  });
});

describe("a gateway that stops", () => {
  it("lets a plain request finish, and closes the connections that are kept", async () => {
    const stopping = await startBothGateways(testService(seen));
    const kept = await openConnection(stopping.here.port);
    kept.write(get("json"));
    await readReply(kept);
    const busy = await openConnection(stopping.here.port);
    const replies = textOf(busy);
    busy.write(get("slowly"));
    await eventually("the reply to begin", () => replies().includes("one"));
    const closed = Promise.all([kept, busy].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    const began = performance.now();
    await Promise.all([stopping.stop(), closed]);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(replies()).toContain("three\r\n0\r\n\r\n");
  });
});

/** What has come so far. */
function textOf(socket: Socket): () => string {
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  return () => text;
}
