import { Readable } from "node:stream";
import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { z } from "zod";
import {
  assertObjectStoreKey,
  getSystemOrS3ErrorCode,
  ignoreObjectNotFound,
  isObjectStoreKey,
  ObjectNotFoundError,
  type ObjectStore,
  ObjectStoreUnavailableError,
  toWebStream,
} from "./store-interface.ts";

const s3UrlQuerySchema = z.strictObject({
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  region: z.string().min(1).optional(),
  /** Whether the URL path contains the bucket (`https://host/bucket/key`). Most S3-compatible servers require this. */
  forcePathStyle: z.stringbool({ truthy: ["true"], falsy: ["false"] }).default(false),
});

/** The address of an S3 object store. The AWS_* environment variables provide defaults for `region` and `endpoint`. */
export interface S3BucketAddress extends z.infer<typeof s3UrlQuerySchema> {
  bucket: string;
  /** The prefix of all keys, without a trailing slash. Empty for no prefix. */
  prefix: string;
}

const defaultS3Timeouts = {
  connectMs: 3_000,
  /** From the start of an attempt to the response headers. For an upload, time is added in proportion to the size. */
  responseMs: 5_000,
  /** Between two parts of the response body, including the time that the reader takes for a part. */
  idleMs: 30_000,
  healthCheckMs: 5_000,
};
/** The assumed minimum upload rate, in bytes per millisecond. It determines the additional time for an upload. */
const uploadBytesPerMs = 2_000;
const maxS3Attempts = 3;
/** Maximum number of connections per host. Further requests wait. Their response timeout includes this wait. */
const maxS3Connections = 64;

/** Creates an object store in a bucket. S3 reports a missing object as AccessDenied unless listing is allowed. */
export function createS3ObjectStore(location: S3BucketAddress, timeouts = defaultS3Timeouts): ObjectStore {
  const { bucket: Bucket, prefix } = location;
  let connection: Promise<S3Connection> | undefined;
  const connect = () => (connection ??= createS3Connection(buildS3ClientConfig(location, timeouts)));

  function createUnavailableError(error: unknown): ObjectStoreUnavailableError {
    return new ObjectStoreUnavailableError(`the bucket ${Bucket} cannot be used (${getSystemOrS3ErrorCode(error)})`, {
      cause: error,
    });
  }

  /** Callers retry `ObjectStoreUnavailableError`, also if an operator must help. Other errors would come again. */
  function toStoreError(key: string, error: unknown): unknown {
    if (getSystemOrS3ErrorCode(error) === "NoSuchKey") return new ObjectNotFoundError(key);
    return error instanceof TypeError || getSystemOrS3ErrorCode(error) === "EntityTooLarge"
      ? error
      : createUnavailableError(error);
  }

  async function callWithKey<T>(
    key: string,
    work: (target: { Bucket: string; Key: string }, connection: S3Connection) => Promise<T>,
  ): Promise<T> {
    assertObjectStoreKey(key);
    try {
      return await work({ Bucket, Key: prefix ? `${prefix}/${key}` : key }, await connect());
    } catch (error) {
      throw toStoreError(key, error);
    }
  }

  const readBytes = (key: string, range: { Range?: string } = {}) =>
    callWithKey(key, async (target, { client, commands: { GetObjectCommand } }) => {
      const { Body } = await client.send(new GetObjectCommand({ ...target, ...range })).catch((error: unknown) => {
        // S3 rejects a range of an empty object.
        if (getSystemOrS3ErrorCode(error) !== "InvalidRange") throw error;
        return { Body: undefined };
      });
      return Body ? Body.transformToByteArray() : new Uint8Array();
    });

  return {
    async put(key, bytes) {
      const contents = { Body: bytes, ContentLength: bytes.byteLength, ContentType: "application/json" };
      const requestTimeout = timeouts.responseMs + bytes.byteLength / uploadBytesPerMs;
      await callWithKey(key, (target, { client, commands: { PutObjectCommand } }) =>
        client.send(new PutObjectCommand({ ...target, ...contents }), { requestTimeout }),
      );
    },
    get: (key) => readBytes(key),
    getRange: (key, { start, end }) => readBytes(key, { Range: `bytes=${start}-${end - 1}` }),
    stream: (key) =>
      callWithKey(key, async (target, { client, commands: { GetObjectCommand } }) => {
        const { Body, ContentLength } = await client.send(new GetObjectCommand(target));
        if (!(Body instanceof Readable) || ContentLength === undefined)
          throw new Error("a response without a body or its length");
        return { body: toWebStream(Body, (error) => toStoreError(key, error)), size: ContentLength };
      }),
    async delete(key) {
      // If the object does not exist, S3 returns 204, but some compatible servers return NoSuchKey.
      await callWithKey(key, (target, { client, commands: { DeleteObjectCommand } }) =>
        client.send(new DeleteObjectCommand(target)),
      ).catch(ignoreObjectNotFound);
    },
    async check() {
      const { client, commands } = await connect();
      const abortSignal = AbortSignal.timeout(timeouts.healthCheckMs);
      await client.send(new commands.HeadBucketCommand({ Bucket }), { abortSignal }).catch((error) => {
        throw createUnavailableError(error);
      });
    },
    async close() {
      (await connection)?.client.destroy();
    },
  };
}

type S3Connection = Awaited<ReturnType<typeof createS3Connection>>;

/** Loads the client on demand, because it is large and most processes use no S3. */
async function createS3Connection(config: S3ClientConfig) {
  const commands = await import("@aws-sdk/client-s3");
  return { client: new commands.S3Client(config), commands };
}

/** Parses a URL such as `s3://bucket/prefix?region=...`. @throws `TypeError` without values, which can be secrets. */
export function parseS3Url(url: string): S3BucketAddress {
  const { username, password, host, pathname, searchParams, hash } = new URL(url);
  if (username || password)
    throw new TypeError("an s3: URL must not contain credentials, which are read from AWS_* variables");
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
  timeouts: typeof defaultS3Timeouts,
): S3ClientConfig {
  const agent = { keepAlive: true, maxSockets: maxS3Connections };
  const region = location.region ?? (endpoint && !process.env.AWS_REGION ? "us-east-1" : undefined);
  return {
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    forcePathStyle,
    maxAttempts: maxS3Attempts,
    // Disables the default trailing checksums, because many S3-compatible servers do not support them. The request's
    // signature already protects the body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // Disabled, because waiting for "100 Continue" requires a round trip and a separate connection for each object.
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
