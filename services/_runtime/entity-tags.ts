import { createHash } from "node:crypto";

/** An entity tag that follows from the content alone: the same for the same content, whenever it is sent. */
export function entityTagOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 22);
}

/**
 * The entity tags that If-Match or If-None-Match lists; `*` stands for any. They come without quotes, and without the
 * `W/` that proxies put before them when they compress a reply: a tag of ours stands for the content, however encoded.
 */
export function entityTagsIn(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header.split(",").map((tag) => tag.trim().replace(/^(?:W\/)?"(.*)"$/, "$1"));
}
