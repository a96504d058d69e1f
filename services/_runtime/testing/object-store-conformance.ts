import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import {
  type CompressingObjectStore,
  ObjectNotFoundError,
  ObjectStoreUnavailableError,
} from "../object-store/object-store.ts";
import { ignoreObjectNotFound, type ObjectStore } from "../object-store/store-interface.ts";

const allByteValues = Uint8Array.from({ length: 256 }, (_, value) => value);
const large = new Uint8Array(randomBytes(5_000_000));

const invalidKeys = [
  "",
  "/",
  "/absolute",
  "folder/",
  "a//b",
  ".",
  "..",
  "a/../b",
  "a/./b",
  "a\\b",
  "nul\0",
  "a b",
  "é",
  "~incoming/a",
  `${"s".repeat(256)}/a`,
  Array.from({ length: 300 }, () => "a").join("/"),
];

/**
 * Defines the tests that all object stores must pass. Every call of `openStore` must open the same store. `keySuffix` is
 * the end of the keys of the objects.
 */
export function defineObjectStoreConformanceTests(openStore: () => CompressingObjectStore, keySuffix = ""): void {
  const newKey = () => `tills/${randomUUID().slice(0, 2)}/${randomUUID()}${keySuffix}`;

  async function withStore(act: (store: CompressingObjectStore) => Promise<void>): Promise<void> {
    const store = openStore();
    try {
      await act(store);
    } finally {
      await store.close();
    }
  }

  test.each([
    ["no bytes", new Uint8Array()],
    ["one byte", Uint8Array.of(0)],
    ["every byte value", allByteValues],
    ["5 MB", large],
    ["a view into a larger buffer", large.subarray(1_000, 2_000)],
  ])("returns %s unchanged, also from another instance", (_, bytes) =>
    withStore(async (store) => {
      const key = newKey();
      await store.put(key, bytes);
      expect(sameBytes(await store.get(key), bytes)).toBe(true);
      await withStore(async (other) => expect(sameBytes(await other.get(key), bytes)).toBe(true));
    }),
  );

  test.each(["a", "one/level", "a.b-c_D/9", ".hidden/..odd", `${"s".repeat(255)}/a`])("accepts the key %s", (key) =>
    withStore(async (store) => {
      await store.put(key, allByteValues);
      expect(sameBytes(await store.get(key), allByteValues)).toBe(true);
      await store.delete(key);
    }),
  );

  test.each(invalidKeys)("rejects the key %j", (key) =>
    withStore(async (store) => {
      await expect(store.put(key, allByteValues)).rejects.toThrow(TypeError);
      await expect(store.get(key)).rejects.toThrow(TypeError);
      await expect(store.stream(key)).rejects.toThrow(TypeError);
      await expect(store.has(key)).rejects.toThrow(TypeError);
      await expect(store.delete(key)).rejects.toThrow(TypeError);
    }),
  );

  test("accepts the same object twice", () =>
    withStore(async (store) => {
      const key = newKey();
      await store.put(key, allByteValues);
      await store.put(key, allByteValues);
      expect(sameBytes(await store.get(key), allByteValues)).toBe(true);
    }));

  test("tells whether it has an object", () =>
    withStore(async (store) => {
      const key = newKey();
      expect(await store.has(key)).toBe(false);
      expect(await store.has(key.slice(0, key.lastIndexOf("/")))).toBe(false);
      await store.put(key, allByteValues);
      expect(await store.has(key)).toBe(true);
      expect(await store.has(key.slice(0, key.lastIndexOf("/")))).toBe(false);
      await store.delete(key);
      expect(await store.has(key)).toBe(false);
    }));

  test("reports an absent object", () =>
    withStore(async (store) => {
      const key = newKey();
      const absent = expect.objectContaining({ name: "ObjectNotFoundError", message: `no object ${key}` });
      await expect(store.get(key)).rejects.toEqual(absent);
      await expect(store.stream(key)).rejects.toEqual(absent);
      await expect(store.get(key)).rejects.toBeInstanceOf(ObjectNotFoundError);
    }));

  test("does not report a prefix of a key as an object", () =>
    withStore(async (store) => {
      const key = newKey();
      await store.put(`${key}/object`, allByteValues);
      await expect(store.get(key)).rejects.toBeInstanceOf(ObjectNotFoundError);
      await expect(store.stream(key)).rejects.toBeInstanceOf(ObjectNotFoundError);
      await store.delete(key);
      expect(sameBytes(await store.get(`${key}/object`), allByteValues)).toBe(true);
    }));

  test("never returns a partial object while the same key is written concurrently", () =>
    withStore(async (store) => {
      const key = newKey();
      const bytes = large.subarray(0, 300_000);
      const results: (Uint8Array | undefined)[] = [];
      const puts = Promise.all(Array.from({ length: 8 }, () => store.put(key, bytes)));
      for (let reads = 0; reads < 8; reads++) results.push(await store.get(key).catch(ignoreObjectNotFound));
      await puts;
      results.push(await store.get(key));
      expect(results.filter((read) => read !== undefined && !sameBytes(read, bytes))).toEqual([]);
    }));

  test("stores every object when many keys are written concurrently", () =>
    withStore(async (store) => {
      const objects = Array.from({ length: 20 }, (_, index) => ({
        key: newKey(),
        bytes: large.subarray(0, index + 1),
      }));
      await Promise.all(objects.map(({ key, bytes }) => store.put(key, bytes)));
      const areStored = await Promise.all(
        objects.map(async ({ key, bytes }) => sameBytes(await store.get(key), bytes)),
      );
      expect(areStored.every(Boolean)).toBe(true);
    }));

  test("deletes an object, and does not fail when it is absent", () =>
    withStore(async (store) => {
      const key = newKey();
      await store.put(key, allByteValues);
      await store.delete(key);
      await expect(store.get(key)).rejects.toBeInstanceOf(ObjectNotFoundError);
      await store.delete(key);
    }));

  test.each([
    ["no bytes", new Uint8Array()],
    ["every byte value", allByteValues],
    ["5 MB", large],
  ])("streams %s with their stored size, and the same bytes as get", (_, bytes) =>
    withStore(async (store) => {
      const key = newKey();
      await store.put(key, bytes);
      const { body } = await store.stream(key);
      expect(sameBytes(new Uint8Array(await new Response(body).arrayBuffer()), await store.get(key))).toBe(true);
      const stored = await store.streamStored(key);
      expect((await new Response(stored.body).arrayBuffer()).byteLength).toBe(stored.size);
    }),
  );

  test("still works after streams were canceled, whether partly read or not at all", () =>
    withStore(async (store) => {
      const key = newKey();
      await store.put(key, large);
      for (let times = 0; times < 5; times++) {
        const unread = await store.stream(key);
        await unread.body.cancel();
        const reader = (await store.stream(key)).body.getReader();
        expect((await reader.read()).value?.byteLength).toBeGreaterThan(0);
        await reader.cancel();
      }
      expect(sameBytes(await store.get(key), large)).toBe(true);
    }));

  test("passes its check", () => withStore((store) => store.check()));
}

/**
 * Expects all functions of a store except `close` to reject with `ObjectStoreUnavailableError`. All calls together,
 * including `close`, must take less than `withinMs` milliseconds.
 */
export async function expectObjectStoreCallsUnavailable(
  store: ObjectStore | CompressingObjectStore,
  withinMs: number,
): Promise<void> {
  const start = performance.now();
  const calls = [
    () => store.put("a/b", allByteValues),
    () => store.get("a/b"),
    () => store.stream("a/b"),
    () => ("has" in store ? store.has("a/b") : store.getRange("a/b", { start: 0, end: 1 })),
    () => store.delete("a/b"),
    () => store.check(),
  ];
  for (const call of calls) {
    await expect(call()).rejects.toSatisfy(
      (error: unknown) => error instanceof ObjectStoreUnavailableError && error.cause !== undefined,
    );
  }
  await store.close();
  expect(performance.now() - start).toBeLessThan(withinMs);
}

/** Returns whether two arrays contain the same bytes. Faster than Vitest, which takes seconds to compare megabytes. */
function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
