import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { withHeaders } from "../contract/any-operation.ts";
import { operations } from "../contract/operations.ts";
import { askFor, both, powerlessKey, rawOf } from "./setting.ts";

const gzip = { "content-encoding": "gzip" };

/** Bodies of which no operation takes one. */
const faultyBodies: [body: string | Uint8Array, headers?: Record<string, string>][] = [
  [""],
  ["{"],
  ['"text"'],
  ["null"],
  [new Uint8Array([0x22, 0xff, 0x22])],
  ["7", { "content-type": "text/plain" }],
  ["7", { "content-type": "application/json; charset=latin1" }],
  ["7", { "content-encoding": "br" }],
  ["7", gzip],
  [gzipSync("7"), gzip],
  [gzipSync('{"a":'), gzip],
  [gzipSync("7").subarray(0, 12), gzip],
];

const faultyKeys = [undefined, "Bearer", "Bearer nonsense", `Bearer pragma_${"a".repeat(49)}`];

/** What every operation refuses, in all the ways that there are. */
export function describeRefusals(): void {
  it.each(operations.filter(({ scope }) => scope))("$method $path refuses keys alike", async (operation) => {
    const ask = await askFor(operation, "together");
    for (const authorization of faultyKeys) {
      const headers = authorization === undefined ? {} : { authorization };
      const { status } = await both.alike(rawOf(operation, withHeaders({ ...ask, key: null }, headers)));
      expect(status).toBe(401);
    }
    expect((await both.alike(rawOf(operation, { ...ask, key: powerlessKey }))).status).toBe(403);
  });

  const takingBodies = operations.filter(({ takesBody }) => takesBody).map((operation, at) => ({ operation, at }));
  it.each(takingBodies)(
    "$operation.method $operation.path refuses bodies alike, as they are and in chunks",
    async ({ operation, at }) => {
      const ask = await askFor(operation, "together");
      for (const [index, [body, headers = {}]] of faultyBodies.entries()) {
        const request = rawOf(operation, withHeaders({ ...ask, body }, headers));
        // Bodies are read in one place for all operations: what one gets as it is, the next gets in chunks.
        const { status } = await both.alike({ ...request, isChunked: (index + at) % 2 === 1 });
        if (body !== "" || operation.needsBody) expect(status).toBeGreaterThanOrEqual(400);
      }
    },
  );
}
