import type { PushedTill } from "@pragma/contracts/till";
import { json, type Reply } from "@pragma/runtime/reply";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { AcceptedTill } from "./accept-till.ts";
import { tillReply } from "./till-reply.ts";

/** 201 for a till that is new, 200 for one that was there already, alike but for that. */
export function pushReply(
  { till, isNew }: AcceptedTill,
  { origin, context }: { origin: string; context: RequestContext },
): Reply {
  context.addToLog({ tillId: till.id, revision: till.revision, bodyBytes: till.size, isNew });
  return json(isNew ? 201 : 200, { ...tillReply(till, origin), tillId: till.id } satisfies PushedTill);
}
