import { createHash } from "node:crypto";
import { type Reply, tagged } from "@pragma/runtime/reply";

/** Answers one thing that is JSON text already, with an entity tag that is its content's. */
export function replyWithOne(body: string, { ifNoneMatch }: { ifNoneMatch: string | undefined }): Reply {
  const etag = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return tagged(body, { etag, ifNoneMatch });
}
