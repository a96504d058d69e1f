import { expect, test } from "vitest";
import { parseS3Url } from "./s3-store.ts";

test("parses every part of an S3 URL", () => {
  const url = "s3://tills/live/v2/?endpoint=http%3A%2F%2Fminio%3A9000&region=eu-west-3&forcePathStyle=true";
  expect(parseS3Url(url)).toEqual({
    bucket: "tills",
    prefix: "live/v2",
    endpoint: "http://minio:9000",
    region: "eu-west-3",
    forcePathStyle: true,
  });
});

test("requires only a bucket", () => {
  expect(parseS3Url("s3://tills")).toEqual({ bucket: "tills", prefix: "", forcePathStyle: false });
  expect(parseS3Url("s3://tills/")).toMatchObject({ prefix: "" });
});

test.each([
  ["s3://", "bucket"],
  ["s3:///prefix", "bucket"],
  ["s3://key:hidden@tills", "credentials"],
  ["s3://tills/a//b", "prefix"],
  ["s3://tills/a%20b", "prefix"],
  ["s3://tills#a", "fragment"],
  ["s3://tills?forcePathstyle=true", "forcePathstyle"],
  ["s3://tills?forcePathStyle=yes", "forcePathStyle"],
  ["s3://tills?endpoint=minio:9000", "endpoint"],
  ["s3://tills?region=", "region"],
])("rejects %s with a message that contains %s", (url, mistake) => {
  expect(() => parseS3Url(url)).toThrow(TypeError);
  expect(() => parseS3Url(url)).toThrow(mistake);
  expect(() => parseS3Url(url)).not.toThrow("hidden");
});
