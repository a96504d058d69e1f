import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  defineObjectStoreConformanceTests,
  expectObjectStoreCallsUnavailable,
} from "../testing/object-store-conformance.ts";
import { createTestS3Bucket, type TestS3Bucket } from "../testing/test-bucket.ts";
import { createObjectStore, ObjectNotFoundError } from "./object-store.ts";

describe("a folder", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "object-store-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  defineObjectStoreConformanceTests(() => createObjectStore(pathToFileURL(folder).href));

  describe("with compressed objects", () => {
    defineObjectStoreConformanceTests(() => createObjectStore(pathToFileURL(folder).href), ".br");
  });
});

const bucket = await createTestS3Bucket();

if ("missing" in bucket) test.skip(`S3: ${bucket.missing}`);
else describe("S3", () => testBucketConformance(bucket));

function testBucketConformance({ url, variables, remove }: TestS3Bucket): void {
  const secret = variables.AWS_SECRET_ACCESS_KEY ?? process.env.AWS_SECRET_ACCESS_KEY;
  beforeAll(() => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await remove();
  });

  defineObjectStoreConformanceTests(() => createObjectStore(url));

  describe("with compressed objects", () => {
    defineObjectStoreConformanceTests(() => createObjectStore(url), ".br");
  });

  test("keeps prefixes apart", async () => {
    const [one, other] = [createObjectStore(url), createObjectStore(url.replace("/objects?", "/others?"))];
    await one.put("a/b", Uint8Array.of(1));
    await expect(other.get("a/b")).rejects.toBeInstanceOf(ObjectNotFoundError);
    await one.close();
    await other.close();
  });

  test("is unavailable when the bucket does not exist", () =>
    expectObjectStoreCallsUnavailable(createObjectStore(url.replace("s3://", "s3://not-")), 10_000));

  test("is unavailable with a wrong secret", () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "wrong");
    return expectObjectStoreCallsUnavailable(createObjectStore(url), 10_000).finally(() =>
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", secret),
    );
  });
}
