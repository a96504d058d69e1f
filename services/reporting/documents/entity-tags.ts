import { computeEntityTag } from "@pragma/runtime/http/route-response";

/**
 * Returns the text that identifies the stored responses of a till. It contains the time at which they were stored, so
 * that entity tags change each time.
 */
export function buildContentVersion(till: {
  hash: string;
  revision: number;
  reportVersion: number;
  updatedAt: string;
}): string {
  return `${till.hash} ${till.revision} ${till.reportVersion} ${till.updatedAt}`;
}

/** Returns the entity tag of the report or order with this id. */
export function computeDocumentTag(contentVersion: string, id: string): string {
  return computeEntityTag(`${contentVersion} ${id}`);
}
