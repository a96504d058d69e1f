import { randomBytes, randomInt } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createBodyVerifier, startBodySignature } from "./body-signature.ts";

const start = () => startBodySignature("secret", "signature of the request");

/** Returns the bytes in chunks of random sizes up to `maxBytes`. */
function* splitRandomly(bytes: Buffer, maxBytes: number): Generator<Buffer> {
  for (let offset = 0; offset < bytes.byteLength; ) {
    const end = offset + randomInt(1, maxBytes + 1);
    yield bytes.subarray(offset, end);
    offset = end;
  }
}

describe("a signed body", () => {
  it.each([1, 31, 32, 33, 100, 5_000])("is passed on in chunks of up to %d bytes", async (maxBytes) => {
    for (const size of [0, 1, 31, 32, 33, 2_000]) {
      const body = randomBytes(size);
      const signed = Buffer.concat([body, start().update(body).digest()]);
      const verify = (bytes: Buffer) =>
        buffer(Readable.from(splitRandomly(bytes, maxBytes)).pipe(createBodyVerifier(start())));
      expect((await verify(signed)).equals(body)).toBe(true);
      const altered = Buffer.from(signed);
      const position = randomInt(altered.byteLength);
      altered.writeUInt8(altered.readUInt8(position) ^ 1, position);
      await expect(verify(altered)).rejects.toThrow("signature of the body");
    }
  });
});
