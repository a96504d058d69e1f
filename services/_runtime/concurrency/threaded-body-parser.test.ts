import { afterAll, beforeAll, expect, it } from "vitest";
import { parseSlowly } from "../testing/slow-body-parser.ts";
import { createThreadedBodyParser } from "./threaded-body-parser.ts";

const createParser = () =>
  createThreadedBodyParser(import.meta.url, "../testing/slow-body-parser", parseSlowly, {
    threads: 1,
    heapMegabytes: 64,
    maxInlineBytes: 1_000,
  });
let parser: ReturnType<typeof createParser>;
beforeAll(() => {
  parser = createParser();
});
afterAll(() => parser?.close());

it("parses a body of 100 KB while it parses one of 20 MB of another sender", async () => {
  const finished: string[] = [];
  const parse = async (bytes: number, sender: string) => {
    await parser.read(new Uint8Array(bytes), undefined, sender);
    finished.push(sender);
  };
  // Until there is a thread.
  await parse(2_000, "first");
  const large = parse(20_000_000, "large");
  await parse(100_000, "small");
  expect(finished).toEqual(["first", "small"]);
  await large;
});
