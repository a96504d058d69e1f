import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { assertObjectKey } from "./object-key.ts";
import type { S3Location } from "./s3-url.ts";
import { ObjectNotFound, type ObjectStore, ObjectStoreUnavailable } from "./store-interface.ts";
import { webBody } from "./web-body.ts";

/** All in milliseconds. */
export interface S3Timeouts {
  connect: number;
  /** From the start of a try to the reply's headers; sending a body adds to it. */
  reply: number;
  /** How long a reply's body may stand still, also because its reader does not read. */
  idle: number;
  check: number;
}

const usualTimeouts: S3Timeouts = { connect: 3_000, reply: 5_000, idle: 30_000, check: 5_000 };
/** The slowest upload that is waited for. */
const uploadBytesPerMs = 2_000;
const tries = 3;
/** Per host; a request above it waits within its reply timeout. */
const connections = 64;

/**
 * An object store in a bucket of S3 or of a server that speaks its protocol. The bucket exists already; the credentials may
 * list it, read, write and delete in it (without the right to list, S3 answers for an absent object that access is refused).
 */
export function openS3Store(location: S3Location, timeouts = usualTimeouts): ObjectStore {
  return new S3Store(location, timeouts);
}

class S3Store implements ObjectStore {
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #timeouts: S3Timeouts;
  readonly #client: S3Client;

  constructor(location: S3Location, timeouts: S3Timeouts) {
    this.#bucket = location.bucket;
    this.#prefix = location.prefix;
    this.#timeouts = timeouts;
    this.#client = new S3Client(clientConfig(location, timeouts));
  }

  async put(key: string, bytes: Uint8Array, options: { contentType?: string } = {}): Promise<void> {
    const target = this.#target(key);
    const command = new PutObjectCommand({
      ...target,
      Body: bytes,
      ContentLength: bytes.byteLength,
      ContentType: options.contentType ?? "application/octet-stream",
    });
    const requestTimeout = this.#timeouts.reply + bytes.byteLength / uploadBytesPerMs;
    await this.#client.send(command, { requestTimeout }).catch((error: unknown) => {
      throw this.#fault(key, error);
    });
  }

  async get(key: string): Promise<Uint8Array> {
    const target = this.#target(key);
    try {
      const { Body } = await this.#client.send(new GetObjectCommand(target));
      return Body ? await Body.transformToByteArray() : new Uint8Array();
    } catch (error) {
      throw this.#fault(key, error);
    }
  }

  async stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }> {
    const target = this.#target(key);
    try {
      const { Body, ContentLength } = await this.#client.send(new GetObjectCommand(target));
      if (!(Body instanceof Readable) || ContentLength === undefined)
        throw new Error("a reply without a body or its length");
      return { body: webBody(Body, (error) => this.#fault(key, error)), size: ContentLength };
    } catch (error) {
      throw this.#fault(key, error);
    }
  }

  async delete(key: string): Promise<void> {
    const target = this.#target(key);
    try {
      await this.#client.send(new DeleteObjectCommand(target));
    } catch (error) {
      // S3 itself answers 204 for an absent object; some servers answer that there is none.
      const fault = this.#fault(key, error);
      if (!(fault instanceof ObjectNotFound)) throw fault;
    }
  }

  async check(): Promise<void> {
    const abortSignal = AbortSignal.timeout(this.#timeouts.check);
    await this.#client
      .send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal })
      .catch((error: unknown) => {
        throw this.#unavailable(error);
      });
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #target(key: string): { Bucket: string; Key: string } {
    assertObjectKey(key);
    return { Bucket: this.#bucket, Key: this.#prefix ? `${this.#prefix}/${key}` : key };
  }

  /** Also what an operator has to put right (credentials, region, bucket) passes without a change to the call. */
  #fault(key: string, error: unknown): unknown {
    const reason = reasonOf(error);
    if (reason === "NoSuchKey") return new ObjectNotFound(key);
    return error instanceof TypeError || reason === "EntityTooLarge" ? error : this.#unavailable(error);
  }

  #unavailable(error: unknown): ObjectStoreUnavailable {
    return new ObjectStoreUnavailable(`the bucket ${this.#bucket} cannot be used (${reasonOf(error)})`, error);
  }
}

function clientConfig({ endpoint, forcePathStyle, ...location }: S3Location, timeouts: S3Timeouts): S3ClientConfig {
  const agent = { keepAlive: true, maxSockets: connections };
  const region = location.region ?? (endpoint && !process.env.AWS_REGION ? "us-east-1" : undefined);
  return {
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    forcePathStyle,
    maxAttempts: tries,
    // The trailing checksums that are sent by default are unknown to many S3-compatible servers. The signature covers the body's hash.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // Waiting for "100 Continue" costs a round trip, and a connection of its own, per object.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: timeouts.connect,
      requestTimeout: timeouts.reply,
      throwOnRequestTimeout: true,
      socketTimeout: timeouts.idle,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}

/** The S3 error code (`NoSuchKey`) or the system error's code (`ECONNREFUSED`). */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
