import { randomUUID } from "node:crypto";
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from "@aws-sdk/client-s3";
import { installSwiftOrGetFailureReason, startTestOpenStackSwiftServer } from "./openstack-swift-server.ts";

/** A bucket on a real S3 server for one test. The bucket is initially empty. */
export interface TestS3Bucket {
  /** The URL of an object store that uses the bucket. */
  url: string;
  /** The AWS_* variables that contain the credentials. Empty if the environment already contains them. */
  variables: Record<string, string>;
  /** Deletes the bucket and its objects. Stops the server if it was started for this bucket. */
  remove(): Promise<void>;
}

/**
 * Creates a bucket on the server at S3_TEST_ENDPOINT, with the credentials in the standard AWS_* environment variables.
 * If S3_TEST_ENDPOINT is not set, uses a local OpenStack Swift, which is installed with apt-get if this process runs as
 * root on Debian. If no server is available, returns the reason in `missing`.
 */
export async function createTestS3Bucket(): Promise<TestS3Bucket | { missing: string }> {
  const endpoint = process.env.S3_TEST_ENDPOINT;
  if (endpoint) return createBucketOn(endpoint);
  const obstacle = await installSwiftOrGetFailureReason();
  return obstacle ? { missing: `S3_TEST_ENDPOINT is not set, and ${obstacle}` } : createBucketOnSwift();
}

async function createBucketOnSwift(): Promise<TestS3Bucket> {
  const { endpoint, accessKeyId, secretAccessKey, stop } = await startTestOpenStackSwiftServer();
  try {
    const bucket = await createBucketOn(endpoint, { accessKeyId, secretAccessKey });
    const variables = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    return { ...bucket, variables, remove: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createBucketOn(
  endpoint: string,
  credentials?: { accessKeyId: string; secretAccessKey: string },
): Promise<TestS3Bucket> {
  const name = `test-${randomUUID()}`;
  const region = (!credentials && process.env.AWS_REGION) || "us-east-1";
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    ...(credentials && { credentials }),
  });
  await client.send(new CreateBucketCommand({ Bucket: name }));
  return {
    url: `s3://${name}/objects?${new URLSearchParams({ endpoint, region, forcePathStyle: "true" })}`,
    variables: {},
    async remove() {
      await removeBucket(client, name);
      client.destroy();
    },
  };
}

async function removeBucket(client: S3Client, name: string): Promise<void> {
  for (;;) {
    const { Contents: page = [] } = await client.send(new ListObjectsV2Command({ Bucket: name }));
    if (page.length === 0) break;
    for (const { Key } of page) await client.send(new DeleteObjectCommand({ Bucket: name, Key }));
  }
  await client.send(new DeleteBucketCommand({ Bucket: name }));
}
