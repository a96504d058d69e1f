import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { TillWithBodyUrl } from "@pragma/contracts/till";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TillRow, tillColumns } from "../queries/tills.ts";
import { startTestTillIngestService, type TestTillIngestService } from "../testing/start-test-till-ingest.ts";
import { buildTestTill } from "../testing/till-fixtures.ts";
import { createTillBodyResponse } from "./till-body-response.ts";

let service: TestTillIngestService;
const principal = buildTestPrincipal();
const till = buildTestTill({ note: "Été à 40 °C" });
const body = JSON.stringify(till, null, 1);

beforeAll(async () => {
  service = await startTestTillIngestService();
  await service.request("POST", "/v2/tills/", { principal, body });
});
afterAll(() => service?.remove());

const get = (path: string, headers: Record<string, string> = {}) =>
  service.request("GET", path, { principal, headers });

describe("GET /v1/tills/{id}", () => {
  it("returns the till in the same form as the push", async () => {
    const pushed = await (await service.request("POST", "/v2/tills/", { principal, body })).json();
    const response = TillWithBodyUrl.parse(await (await get(`/v1/tills/${till.id}`)).json());
    expect({ ...response, tillId: response.id }).toEqual(pushed);
  });

  it("accepts a trailing slash, and an id in upper case", async () => {
    expect((await get(`/v1/tills/${till.id}/`)).status).toBe(200);
    expect((await get(`/v1/tills/${String(till.id).toUpperCase()}`)).status).toBe(200);
  });

  it("returns URLs with the origin that the client used", async () => {
    const response = await get(`/v1/tills/${till.id}`, {
      "x-forwarded-proto": "https",
      "x-forwarded-host": "api.example.com",
    });
    expect(await response.json()).toMatchObject({ objectUrl: `https://api.example.com/v1/tills/${till.id}/object` });
  });

  it("returns 304 for the current entity tag", async () => {
    const etag = (await get(`/v1/tills/${till.id}`)).headers.get("etag") ?? "";
    const conditional = await get(`/v1/tills/${till.id}`, { "if-none-match": etag });
    expect([conditional.status, await conditional.text(), conditional.headers.get("etag")]).toEqual([304, "", etag]);
  });

  it("returns another entity tag after the till gets its report", async () => {
    const pending = await get(`/v1/tills/${till.id}`);
    await service.db.sql`update tills set result_revision = 1 where id = ${till.id}`;
    const done = await get(`/v1/tills/${till.id}`, { "if-none-match": pending.headers.get("etag") ?? "" });
    expect([done.status, await done.json()]).toMatchObject([200, { reportState: "done" }]);
    expect(done.headers.get("etag")).not.toBe(pending.headers.get("etag"));
  });
});

describe("GET /v1/tills/{id}/object", () => {
  it("returns the exact bytes, with their hash as entity tag", async () => {
    const response = await get(`/v1/tills/${till.id}/object`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
    expect(response.headers.get("etag")).toBe(`"${createHash("sha256").update(body).digest("hex")}"`);
    expect(await response.text()).toBe(body);
  });

  it("returns 304 for the current entity tag", async () => {
    const etag = (await get(`/v1/tills/${till.id}/object`)).headers.get("etag") ?? "";
    const conditional = await get(`/v1/tills/${till.id}/object`, { "if-none-match": `"other", ${etag}` });
    expect([conditional.status, await conditional.text()]).toEqual([304, ""]);
  });

  it.each(["br", "gzip, deflate, br", "BR;q=0.5"])(
    "returns the stored form to clients that accept %s",
    async (accepted) => {
      const response = await get(`/v1/tills/${till.id}/object`, { "accept-encoding": accepted });
      expect(response.headers.get("content-encoding")).toBe("br");
      expect(response.headers.get("vary")).toBe("accept-encoding");
      expect(response.headers.get("etag")).toBe(`W/"${createHash("sha256").update(body).digest("hex")}"`);
      const stored = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get("content-length")).toBe(String(stored.byteLength));
      expect(brotliDecompressSync(stored).toString()).toBe(body);
    },
  );

  it.each(["gzip", "br;q=0", "*", "", "identity, br;q=0.1", "br;q=0.1, *;q=0.5"])(
    "returns the pushed bytes to clients that accept %j",
    async (accepted) => {
      const response = await get(`/v1/tills/${till.id}/object`, { "accept-encoding": accepted });
      expect(response.headers.has("content-encoding")).toBe(false);
      expect(await response.text()).toBe(body);
    },
  );

  it("returns only the headers for HEAD", async () => {
    const response = await service.request("HEAD", `/v1/tills/${till.id}/object`, { principal });
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
    expect(await response.text()).toBe("");
  });
});

describe("GET /v1/tills/{id}/object, when the stored object is not the pushed body", () => {
  const smallNotes = ["small"];
  /** Random, so that the compressed form is also sent as a stream. */
  const largeNotes = Array.from({ length: 100 }, () => randomBytes(6_000).toString("base64"));

  async function pushTill(notes: string[]) {
    const pushed = { ...buildTestTill(), notes };
    const bytes = JSON.stringify(pushed);
    expect((await service.request("POST", "/v2/tills/", { principal, body: bytes })).status).toBe(201);
    const [row] = await service.db.sql<{ objectKey: string }[]>`select object_key from tills where id = ${pushed.id}`;
    const objectKey = row?.objectKey ?? "";
    const stored = await buffer((await service.objects.streamStored(objectKey)).body);
    return { path: `/v1/tills/${pushed.id}/object`, objectKey, stored, bytes };
  }

  const damages: Record<string, (stored: Buffer) => Buffer> = {
    "one byte differs": (stored) => brotliCompressSync(brotliDecompressSync(stored).fill("~", 20, 21)),
    "bits of the compressed form differ": (stored) => {
      const changed = Buffer.from(stored);
      const index = Math.floor(stored.byteLength * 0.7);
      changed[index] = (changed[index] ?? 0) ^ 0x10;
      return changed;
    },
    "the end is missing": (stored) => stored.subarray(0, Math.floor(stored.byteLength * 0.8)),
    "it is empty": () => Buffer.alloc(0),
    "it is another body": () => brotliCompressSync("{}"),
  };

  describe.each(["identity", "br"])("with accept-encoding %s", (accepted) => {
    const read = (path: string) => get(path, { "accept-encoding": accepted });

    it.each(Object.keys(damages))("returns 503 for a small body: %s", async (damage) => {
      const { path, objectKey, stored } = await pushTill(smallNotes);
      await service.objects.putStored(objectKey, damages[damage]?.(stored) ?? expect.unreachable());
      const response = await read(path);
      expect([response.status, await response.json()]).toMatchObject([503, { code: "service_unavailable" }]);
    });

    it.each(Object.keys(damages))("does not complete the response with a large body: %s", async (damage) => {
      const { path, objectKey, stored, bytes } = await pushTill(largeNotes);
      const complete = await read(path);
      expect(complete.headers.get("content-length")).toBe(accepted === "br" ? null : `${Buffer.byteLength(bytes)}`);
      const received = Buffer.from(await complete.arrayBuffer());
      expect(`${accepted === "br" ? brotliDecompressSync(received) : received}` === bytes).toBe(true);
      const damaged = damages[damage]?.(stored) ?? expect.unreachable();
      await service.objects.putStored(objectKey, damaged);
      const response = await read(path);
      if (response.status === 503) return;
      let receivedBytes = 0;
      const reading = (async () => {
        for await (const chunk of response.body ?? expect.unreachable()) receivedBytes += chunk.byteLength;
      })();
      await expect(reading).rejects.toThrow();
      const completeBytes = accepted === "br" ? damaged.byteLength : Buffer.byteLength(bytes);
      expect(receivedBytes).toBeLessThan(completeBytes);
    });

    it("returns 503 without details when the object is missing", async () => {
      for (const notes of [smallNotes, largeNotes]) {
        const { path, objectKey } = await pushTill(notes);
        await service.objects.delete(objectKey);
        const problem = await service.requestProblem({
          method: "GET",
          path,
          principal,
          headers: { "accept-encoding": accepted },
        });
        expect(problem).toMatchObject({ status: 503, code: "service_unavailable" });
        expect(JSON.stringify(problem)).not.toContain(objectKey);
      }
    });

    it("closes the connection of a client that received a part of a large body", async () => {
      const { path, objectKey, stored } = await pushTill(largeNotes);
      await service.objects.putStored(objectKey, damages["one byte differs"]?.(stored) ?? expect.unreachable());
      const requestIdentity = { principal, requestId: randomUUID(), traceparent: undefined, origin: "http://test" };
      const server = await startHttpServer(
        async (request, bindings) => service.running.fetch(request, { ...bindings, requestIdentity }),
        { port: 0 },
      );
      try {
        const [response] = (await once(
          request({ port: server.port, path, headers: { "accept-encoding": accepted } }).end(),
          "response",
        )) as [IncomingMessage];
        expect(response.statusCode).toBe(200);
        await expect(buffer(response)).rejects.toThrow("aborted");
      } finally {
        await server.stop();
      }
    });
  });

  it("logs the till and both hashes", async () => {
    const { objectKey } = await pushTill(smallNotes);
    await service.objects.putStored(objectKey, brotliCompressSync("{}"));
    const [row] = await service.db.sql<TillRow[]>`
      select ${tillColumns(service.db.sql)} from tills where object_key = ${objectKey}`;
    const lines: string[] = [];
    const log = createLogger({ name: "test", level: "error", destination: { write: (line) => void lines.push(line) } });
    const reading = createTillBodyResponse({ objects: service.objects, log }, row ?? expect.unreachable(), {
      acceptEncoding: undefined,
      readLargeBody: (_bytes, read) => read(),
    });
    await expect(reading).rejects.toMatchObject({ code: "service_unavailable" });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        ...{ tillId: row?.id, locationId: row?.locationId, objectKey, expectedHash: row?.hash },
        actualHash: createHash("sha256").update("{}").digest("hex"),
      },
    ]);
  });
});

describe.each(["", "/object"])("GET /v1/tills/{id}%s", (rest) => {
  const path = (id: unknown) => `/v1/tills/${id}${rest}`;

  it("returns 404 for a till of another location, as for an unknown id", async () => {
    const otherPrincipal = buildTestPrincipal();
    const unknownId = randomUUID();
    const [otherLocationProblem, unknownIdProblem] = await Promise.all([
      service.requestProblem({ method: "GET", path: path(till.id), principal: otherPrincipal }),
      service.requestProblem({ method: "GET", path: path(unknownId), principal: otherPrincipal }),
    ]);
    expect(otherLocationProblem).toMatchObject({
      code: "till_not_found",
      detail: `This location has no till ${till.id}.`,
    });
    expect(unknownIdProblem).toMatchObject({
      code: "till_not_found",
      detail: `This location has no till ${unknownId}.`,
    });
  });

  it("returns the till to a key that may act for any location", async () => {
    const anyLocationReader = buildTestPrincipal({ scopes: ["tills:read", "locations:any"], location: null });
    const response = await service.request("GET", path(till.id), { principal: anyLocationReader });
    expect([response.status, (await response.text()).includes(String(till.id))]).toEqual([200, true]);
  });

  it("returns 400 for an id that is not a UUID", async () => {
    expect(await service.requestProblem({ method: "GET", path: path("24"), principal })).toMatchObject({
      code: "invalid_request",
      errors: [{ in: "path", path: "id" }],
    });
  });

  it("returns 403 without the scope", async () => {
    const writer = buildTestPrincipal({ scopes: ["tills:write"] });
    expect((await service.requestProblem({ method: "GET", path: path(till.id), principal: writer })).code).toBe(
      "scope_missing",
    );
  });
});
