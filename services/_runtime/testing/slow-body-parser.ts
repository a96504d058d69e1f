import { createBodyParserWorkerFunction } from "../concurrency/threaded-body-parser.ts";

/** A parser for tests, which takes 100 ms for each megabyte. */
export function parseSlowly(bytes: Uint8Array): { bytes: number } {
  for (const end = performance.now() + bytes.byteLength / 10_000; performance.now() < end; );
  return { bytes: bytes.byteLength };
}

export default createBodyParserWorkerFunction(parseSlowly);
