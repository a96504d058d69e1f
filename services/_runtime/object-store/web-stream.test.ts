import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { toWebStream } from "./store-interface.ts";

const translate = (error: unknown) => new Error("translated", { cause: error });

test("gives the source's bytes to the end", async () => {
  const body = toWebStream(Readable.from([Buffer.from("one "), Buffer.from("two")]), translate);
  expect(await new Response(body).text()).toBe("one two");
});

test("takes from the source only what is asked for", async () => {
  let given = 0;
  const source = new Readable({
    highWaterMark: 1,
    read() {
      given++;
      this.push(Buffer.alloc(10));
    },
  });
  const reader = toWebStream(source, translate).getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(given).toBeLessThan(5);
  await reader.cancel();
  expect(source.destroyed).toBe(true);
});

test("hands a fault between two reads to the next read", async () => {
  const source = new Readable({ read() {} });
  const body = toWebStream(source, translate);
  source.destroy(new Error("cut off"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(body.getReader().read()).rejects.toThrow("translated");
});
