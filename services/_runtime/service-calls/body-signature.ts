import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";
import { Transform } from "node:stream";
import { ApiError } from "@pragma/contracts/errors";

/** Follows the body, because the gateway does not hold large bodies in memory, and undici sends no trailers. */
export const bodySignatureBytes = 32;

/** Returns an HMAC that contains the signature of a request, and to which the caller adds the body. */
export function startBodySignature(secret: string, signature: string): Hmac {
  return createHmac("sha256", secret).update(`body\n${signature}\n`);
}

/** Passes a body on without its signature. Fails at the end with `ApiError` key_missing if it is not valid. */
export function createBodyVerifier(expected: Hmac): Transform {
  let tail: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const passOn = (bytes: Buffer) => {
        if (bytes.byteLength === 0) return;
        expected.update(bytes);
        this.push(bytes);
      };
      // A chunk that is not shorter than a signature is not copied.
      if (chunk.byteLength >= bodySignatureBytes) passOn(tail);
      const bytes = chunk.byteLength >= bodySignatureBytes ? chunk : Buffer.concat([tail, chunk]);
      passOn(bytes.subarray(0, -bodySignatureBytes));
      tail = bytes.subarray(-bodySignatureBytes);
      done();
    },
    flush(done) {
      const isValid = tail.byteLength === bodySignatureBytes && timingSafeEqual(expected.digest(), tail);
      done(isValid ? null : new ApiError("key_missing", { detail: "The signature of the body is not valid." }));
    },
  });
}
