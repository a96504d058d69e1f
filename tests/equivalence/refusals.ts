import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { DocumentedOperation } from "../harness/documented-operations.ts";
import { addressOf, alike, asAdmin, asShop, json, operations, strangersKey, unknownId } from "./setting.ts";

/** More than any operation takes, once it is inflated. */
const bomb = gzipSync(Buffer.alloc(51 * 1024 * 1024, 0x20));
const gzip = { "content-encoding": "gzip" };

/** Bodies of which no operation takes one. */
const faulty: [body: string | Uint8Array, headers?: Record<string, string>][] = [
  ...["", "{", '"text"', "null", '{"id":1,"name":2,"scopes":3,"tillJson":4,"locationSettings":5,"hmacSecret":6}'].map(
    (text): [string] => [text],
  ),
  [new Uint8Array([0x22, 0xff, 0x22])],
  ["7", { "content-type": "text/plain" }],
  ["7", { "content-type": "application/json; charset=latin1" }],
  ["7", { "content-encoding": "br" }],
  ["7", gzip],
  [gzipSync("7"), gzip],
  [gzipSync('{"a":'), gzip],
  [gzipSync("7").subarray(0, 12), gzip],
];

function bodyFor({ takesBody }: DocumentedOperation): { body?: string; sent: Record<string, string> } {
  return takesBody ? { body: "7", sent: json } : { sent: {} };
}

/** Everything that can be wrong with a request to each operation. */
export function describeRefusals(): void {
  describe.each(operations.filter(({ needsKey }) => needsKey))("$method $path refuses alike", (operation) => {
    it("without a key, with one that is none, and with one that may not", async () => {
      const { sent, ...body } = bodyFor(operation);
      const path = addressOf(operation);
      for (const authorization of [undefined, "Bearer", "Bearer nonsense", `Bearer pragma_${"a".repeat(49)}`]) {
        const headers = { ...sent, ...(authorization !== undefined && { authorization }) };
        expect(await alike(operation, { path, ...body, headers })).toMatchObject({ status: 401 });
      }
      const headers = { ...sent, authorization: strangersKey };
      expect(await alike(operation, { path, ...body, headers })).toMatchObject({ status: 403 });
    });

    it("when its address has faults, or is of nothing", async () => {
      const { sent, ...body } = bodyFor(operation);
      const everyFault = Object.fromEntries([...operation.query.keys()].map((name) => [name, "½"]));
      await alike(operation, { path: addressOf(operation, everyFault, "7"), ...body, ...asAdmin(sent) });
      const elsewhere = operation.query.has("locationId") ? { locationId: unknownId } : {};
      await alike(operation, { path: addressOf(operation, elsewhere, unknownId), ...body, ...asShop(sent) });
    });
  });

  it.each(operations.filter(({ takesBody }) => takesBody))(
    "$method $path refuses alike whatever is wrong with its body",
    async (operation) => {
      const path = addressOf(operation);
      for (const [body, headers] of faulty) {
        for (const isChunked of [false, true]) {
          const { status } = await alike(operation, { path, body, isChunked, ...asAdmin({ ...json, ...headers }) });
          expect(status).toBeGreaterThanOrEqual(400);
        }
      }
      const { status } = await alike(operation, { path, body: bomb, ...asAdmin({ ...json, ...gzip }) });
      expect(status).toBe(413);
    },
  );
}
