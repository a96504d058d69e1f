import { chmod, mkdir, mkdtemp, readdir, readlink, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectObjectStoreCallsUnavailable } from "../testing/object-store-conformance.ts";
import { createObjectStore, ObjectStoreUnavailableError } from "./object-store.ts";

let folder: string;
const toFolderUrl = (path: string) => pathToFileURL(path).href;
const bytes = Buffer.from("content");

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "object-store-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("creates its folder and all parent folders", async () => {
  const store = createObjectStore(toFolderUrl(join(folder, "not", "there", "yet")));
  await store.put("a/b/c", bytes);
  expect(await store.get("a/b/c")).toEqual(bytes);
  await store.close();
  expect((await stat(join(folder, "not/there/yet/a/b/c"))).size).toBe(bytes.length);
});

test("lets no other user read or list its objects", async () => {
  const root = join(folder, "new");
  const store = createObjectStore(toFolderUrl(root));
  await store.put("a/b", bytes);
  await store.close();
  const modes = ["", "~incoming", "a", "a/b"].map(async (path) => (await stat(join(root, path))).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o700, 0o600]);
});

test("leaves no files except the objects", async () => {
  const store = createObjectStore(toFolderUrl(folder));
  await Promise.all([store.put("a/b", bytes), store.put("a/b", bytes), store.put("a/c", bytes), store.check()]);
  await expect(store.put("a/b/under-an-object", bytes)).rejects.toMatchObject({ code: "EEXIST" });
  await expect(store.put("a", bytes)).rejects.toMatchObject({ code: "EISDIR" });
  await store.close();
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(["a", "a/b", "a/c", "~incoming"]);
});

test("removes leftovers of a crash that are older than an hour, but not files that are being written", async () => {
  await mkdir(join(folder, "~incoming"));
  await writeFile(join(folder, "~incoming", "old"), bytes);
  await writeFile(join(folder, "~incoming", "new"), bytes);
  const overAnHourAgo = new Date(Date.now() - 3_601_000);
  await utimes(join(folder, "~incoming", "old"), overAnHourAgo, overAnHourAgo);
  await createObjectStore(toFolderUrl(folder)).close();
  expect(await readdir(join(folder, "~incoming"))).toEqual(["new"]);
});

test("removes the folders that a deletion empties, and no others", async () => {
  const store = createObjectStore(toFolderUrl(folder));
  for (const key of ["a/b/c/1", "a/b/c/2", "a/d/1"]) await store.put(key, bytes);
  await mkdir(join(folder, "a", "e", "f"), { recursive: true });
  await store.delete("a/b/c/1");
  expect(await readdir(join(folder, "a", "b", "c"))).toEqual(["2"]);
  await store.delete("a/b/c/2");
  expect((await readdir(join(folder, "a"))).sort()).toEqual(["d", "e"]);
  await store.delete("a/d/1");
  // A deletion that was interrupted before it removed the folder is repeated.
  await store.delete("a/e/f/1");
  expect(await readdir(folder)).toEqual(["~incoming"]);
  await store.put("a/b/c/1", bytes);
  expect(await store.get("a/b/c/1")).toEqual(bytes);
  await store.close();
});

test("keeps objects that are stored while deletions empty their folder", async () => {
  const stores = [1, 2].map(() => createObjectStore(toFolderUrl(folder)));
  const work = stores.flatMap((store, process) =>
    Array.from({ length: 8 }, async (_, worker) => {
      for (let round = 0; round < 10; round += 1) {
        const key = `tills/location/${process}-${worker}-${round}`;
        await store.put(key, bytes);
        expect(await store.get(key)).toEqual(bytes);
        await store.delete(key);
      }
    }),
  );
  await Promise.all(work);
  expect(await readdir(folder)).toEqual(["~incoming"]);
  await Promise.all(stores.map((store) => store.close()));
});

test("creates removed folders again", async () => {
  const store = createObjectStore(toFolderUrl(folder));
  await store.put("a/b/c", bytes);
  await rm(join(folder, "a"), { recursive: true });
  await store.put("a/b/c", bytes);
  await rm(folder, { recursive: true });
  await store.put("a/b/c", bytes);
  await rm(folder, { recursive: true });
  await store.check();
  await store.close();
});

test("is unavailable, instead of reporting an absent object, when the whole store is missing", async () => {
  const store = createObjectStore(toFolderUrl(folder));
  await store.put("a/b", bytes);
  await rm(folder, { recursive: true });
  await expect(store.get("a/b")).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
  await expect(store.delete("a/b")).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
  await store.close();
});

test("is unavailable when its folder is a file", async () => {
  await writeFile(join(folder, "file"), bytes);
  await expectObjectStoreCallsUnavailable(createObjectStore(toFolderUrl(join(folder, "file"))), 2_000);
  await expectObjectStoreCallsUnavailable(createObjectStore(toFolderUrl(join(folder, "file", "below"))), 2_000);
});

test("is unavailable without write permission", async () => {
  await runAsOtherUser(() =>
    expectObjectStoreCallsUnavailable(createObjectStore(toFolderUrl(join(folder, "closed"))), 2_000),
  );
});

test.runIf(process.platform === "linux")("closes the files of streams that end or are canceled", async () => {
  const store = createObjectStore(toFolderUrl(folder));
  await store.put("a/b", Buffer.alloc(1_000_000));
  await new Response((await store.stream("a/b")).body).arrayBuffer();
  await (await store.stream("a/b")).body.cancel();
  const reader = (await store.stream("a/b")).body.getReader();
  await reader.read();
  await reader.cancel();
  await store.close();
  await expect.poll(() => listOpenFilesBelow(folder)).toEqual([]);
});

test.each([
  "folder",
  "file:folder",
  "file://host/folder",
  "file:/folder?query",
  "file:/folder#fragment",
  "http://host/",
])("rejects the URL %s", (url) => {
  expect(() => createObjectStore(url)).toThrow(TypeError);
});

/** Creates a read-only folder `closed`. Then runs `act` without root permissions: root can write to any folder. */
async function runAsOtherUser(act: () => Promise<void>): Promise<void> {
  await chmod(folder, 0o755);
  await mkdir(join(folder, "closed"), { mode: 0o555 });
  const user = process.geteuid?.();
  if (user === 0) process.seteuid?.(65_534);
  try {
    await act();
  } finally {
    if (user === 0) process.seteuid?.(0);
  }
}

async function listOpenFilesBelow(path: string): Promise<string[]> {
  const descriptors = await readdir("/proc/self/fd");
  const targets = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return targets.filter((target) => target.startsWith(path));
}
