import { computeEntityTag } from "@pragma/runtime/http/route-response";

/** Returns the text that identifies the stored responses of a till. It contains the time at which they were stored. */
export function buildContentVersion(
  till: Record<"hash" | "updatedAt", string> & Record<"revision" | "reportVersion", number>,
): string {
  return `${till.hash} ${till.revision} ${till.reportVersion} ${till.updatedAt}`;
}

/** Returns the entity tag of the report or order with this id. */
export function computeDocumentTag(contentVersion: string, id: string): string {
  return computeEntityTag(`${contentVersion} ${id}`);
}
