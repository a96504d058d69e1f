import { z } from "zod";
import { isObjectKey } from "./store-interface.ts";

const s3Query = z.strictObject({
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  region: z.string().min(1).optional(),
  /** Whether the bucket is in the path (`https://host/bucket/key`) and not in the host's name; most S3-compatible servers need it. */
  forcePathStyle: z.stringbool({ truthy: ["true"], falsy: ["false"] }).default(false),
});

/** Where an S3 object store is. `region` and `endpoint` left out are those of the AWS_* environment. */
export interface S3Location extends z.infer<typeof s3Query> {
  bucket: string;
  /** Comes before every key, with a slash between; empty for none. */
  prefix: string;
}

/** Reads `s3://bucket/prefix?endpoint=...&region=...&forcePathStyle=true`. Throws a TypeError that says what is wrong with it, without repeating what may be a secret. */
export function parseS3Url(url: string): S3Location {
  const { username, password, host, pathname, searchParams, hash } = new URL(url);
  if (username || password)
    throw new TypeError("an s3: URL carries no credentials: they come from the AWS_* environment");
  if (!host) throw new TypeError("an s3: URL names its bucket: s3://bucket/prefix");
  if (hash) throw new TypeError("an s3: URL has no fragment");
  const prefix = pathname.replace(/^\//, "").replace(/\/$/, "");
  if (prefix && !isObjectKey(prefix)) throw new TypeError("an s3: URL's prefix has segments of A-Z a-z 0-9 . _ -");
  const query = s3Query.safeParse(Object.fromEntries(searchParams));
  if (!query.success) throw new TypeError(`an s3: URL's query is wrong: ${z.prettifyError(query.error)}`);
  return { bucket: host, prefix, ...query.data };
}
