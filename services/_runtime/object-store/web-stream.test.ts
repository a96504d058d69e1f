import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { toWebStream } from "./store-interface.ts";

const toReaderError = (error: unknown) => new Error("converted", { cause: error });

test("contains all bytes of the source", async () => {
  const body = toWebStream(Readable.from([Buffer.from("one "), Buffer.from("two")]), toReaderError);
  expect(await new Response(body).text()).toBe("one two");
});

test("reads from the source only on demand", async () => {
  let chunkCount = 0;
  const source = new Readable({
    highWaterMark: 1,
    read() {
      chunkCount++;
      this.push(Buffer.alloc(10));
    },
  });
  const reader = toWebStream(source, toReaderError).getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(chunkCount).toBeLessThan(5);
  await reader.cancel();
  expect(source.destroyed).toBe(true);
});

test("passes an error between two reads to the next read", async () => {
  const source = new Readable({ read() {} });
  const body = toWebStream(source, toReaderError);
  source.destroy(new Error("truncated"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(body.getReader().read()).rejects.toThrow("converted");
});
