import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createTestBucket, type TestBucket } from "../testing/s3-server.ts";
import { ObjectNotFound, openObjectStore } from "./object-store.ts";
import { conformsToObjectStore, isUnavailable } from "./testing/conformance.ts";

describe("a folder", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "object-store-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  conformsToObjectStore(() => openObjectStore(pathToFileURL(folder).href));
});

const bucket = await createTestBucket();

if ("missing" in bucket) test.skip(`S3: ${bucket.missing}`);
else describe("S3", () => conformsInBucket(bucket));

function conformsInBucket({ url, variables, remove }: TestBucket): void {
  const secret = variables.AWS_SECRET_ACCESS_KEY ?? process.env.AWS_SECRET_ACCESS_KEY;
  beforeAll(() => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await remove();
  });

  conformsToObjectStore(() => openObjectStore(url));

  test("keeps prefixes apart", async () => {
    const [one, other] = [openObjectStore(url), openObjectStore(url.replace("/objects?", "/others?"))];
    await one.put("a/b", Uint8Array.of(1));
    await expect(other.get("a/b")).rejects.toBeInstanceOf(ObjectNotFound);
    await one.close();
    await other.close();
  });

  test("is unavailable when the bucket is not there", () =>
    isUnavailable(openObjectStore(url.replace("s3://", "s3://not-")), 10_000));

  test("is unavailable with a wrong secret", () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "wrong");
    return isUnavailable(openObjectStore(url), 10_000).finally(() => vi.stubEnv("AWS_SECRET_ACCESS_KEY", secret));
  });
}
