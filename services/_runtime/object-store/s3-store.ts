import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import {
  assertObjectStoreKey,
  getSystemOrS3ErrorCode,
  ignoreObjectNotFound,
  isObjectStoreKey,
  ObjectNotFound,
  type ObjectStore,
  ObjectStoreUnavailable,
  toWebStream,
} from "./store-interface.ts";

const s3UrlQuerySchema = z.strictObject({
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  region: z.string().min(1).optional(),
  /** Whether the bucket is in the path (`https://host/bucket/key`), as most S3-compatible servers require. */
  forcePathStyle: z.stringbool({ truthy: ["true"], falsy: ["false"] }).default(false),
});

/** The address of an S3 object store. `region` and `endpoint` default to those of the AWS_* environment. */
export interface S3BucketAddress extends z.infer<typeof s3UrlQuerySchema> {
  bucket: string;
  /** Precedes every key, followed by a slash; empty for none. */
  prefix: string;
}

/** The timeouts of S3 requests, in milliseconds. */
export interface S3Timeouts {
  connectMs: number;
  /** From the start of an attempt to the response headers; extended by the time to send the body. */
  responseMs: number;
  /** How long a response body may stall, also because its reader does not read. */
  idleMs: number;
  checkMs: number;
}

const defaultS3Timeouts: S3Timeouts = { connectMs: 3_000, responseMs: 5_000, idleMs: 30_000, checkMs: 5_000 };
/** The minimum upload rate for which the timeout allows. */
const uploadBytesPerMs = 2_000;
const maxS3Attempts = 3;
/** Per host; a further request waits within its response timeout. */
const maxS3Connections = 64;

/**
 * Creates an object store in an existing bucket of S3 or of a compatible server. The credentials must allow reading,
 * writing, deleting and listing (without the right to list, S3 reports an absent object as AccessDenied).
 */
export function createS3ObjectStore(location: S3BucketAddress, timeouts = defaultS3Timeouts): ObjectStore {
  const { bucket: Bucket, prefix } = location;
  const client = new S3Client(buildS3ClientConfig(location, timeouts));

  function createUnavailableError(error: unknown): ObjectStoreUnavailable {
    return new ObjectStoreUnavailable(`the bucket ${Bucket} cannot be used (${getSystemOrS3ErrorCode(error)})`, {
      cause: error,
    });
  }

  /** Errors that an operator must fix (credentials, region, bucket) count as unavailable: the call can be retried. */
  function toStoreError(key: string, error: unknown): unknown {
    if (getSystemOrS3ErrorCode(error) === "NoSuchKey") return new ObjectNotFound(key);
    return error instanceof TypeError || getSystemOrS3ErrorCode(error) === "EntityTooLarge"
      ? error
      : createUnavailableError(error);
  }

  async function callWithKey<T>(
    key: string,
    work: (target: { Bucket: string; Key: string }) => Promise<T>,
  ): Promise<T> {
    assertObjectStoreKey(key);
    try {
      return await work({ Bucket, Key: prefix ? `${prefix}/${key}` : key });
    } catch (error) {
      throw toStoreError(key, error);
    }
  }

  return {
    async put(key, bytes) {
      const contents = { Body: bytes, ContentLength: bytes.byteLength, ContentType: "application/json" };
      const requestTimeout = timeouts.responseMs + bytes.byteLength / uploadBytesPerMs;
      await callWithKey(key, (target) =>
        client.send(new PutObjectCommand({ ...target, ...contents }), { requestTimeout }),
      );
    },
    get: (key) =>
      callWithKey(key, async (target) => {
        const { Body } = await client.send(new GetObjectCommand(target));
        return Body ? Body.transformToByteArray() : new Uint8Array();
      }),
    stream: (key) =>
      callWithKey(key, async (target) => {
        const { Body, ContentLength } = await client.send(new GetObjectCommand(target));
        if (!(Body instanceof Readable) || ContentLength === undefined)
          throw new Error("a response without a body or its length");
        return { body: toWebStream(Body, (error) => toStoreError(key, error)), size: ContentLength };
      }),
    async delete(key) {
      // S3 itself returns 204 for an absent object; some servers return NoSuchKey.
      await callWithKey(key, (target) => client.send(new DeleteObjectCommand(target))).catch(ignoreObjectNotFound);
    },
    async check() {
      const abortSignal = AbortSignal.timeout(timeouts.checkMs);
      await client.send(new HeadBucketCommand({ Bucket }), { abortSignal }).catch((error) => {
        throw createUnavailableError(error);
      });
    },
    async close() {
      client.destroy();
    },
  };
}

/**
 * Parses `s3://bucket/prefix?endpoint=...&region=...&forcePathStyle=true`.
 *
 * @throws `TypeError` that describes the mistake without repeating possible secrets.
 */
export function parseS3Url(url: string): S3BucketAddress {
  const { username, password, host, pathname, searchParams, hash } = new URL(url);
  if (username || password)
    throw new TypeError("an s3: URL must not contain credentials: they come from the AWS_* environment");
  if (!host) throw new TypeError("an s3: URL must contain its bucket: s3://bucket/prefix");
  if (hash) throw new TypeError("an s3: URL must not have a fragment");
  const prefix = pathname.replace(/^\//, "").replace(/\/$/, "");
  if (prefix && !isObjectStoreKey(prefix))
    throw new TypeError("the prefix of an s3: URL must have segments of A-Z a-z 0-9 . _ -");
  const query = s3UrlQuerySchema.safeParse(Object.fromEntries(searchParams));
  if (!query.success) throw new TypeError(`invalid query in an s3: URL: ${z.prettifyError(query.error)}`);
  return { bucket: host, prefix, ...query.data };
}

function buildS3ClientConfig(
  { endpoint, forcePathStyle, ...location }: S3BucketAddress,
  timeouts: S3Timeouts,
): S3ClientConfig {
  const agent = { keepAlive: true, maxSockets: maxS3Connections };
  const region = location.region ?? (endpoint && !process.env.AWS_REGION ? "us-east-1" : undefined);
  return {
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    forcePathStyle,
    maxAttempts: maxS3Attempts,
    // Many S3-compatible servers do not support the default trailing checksums. The signature covers the body's hash.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // Waiting for "100 Continue" costs a round trip and a separate connection per object.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: timeouts.connectMs,
      requestTimeout: timeouts.responseMs,
      throwOnRequestTimeout: true,
      socketTimeout: timeouts.idleMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}
