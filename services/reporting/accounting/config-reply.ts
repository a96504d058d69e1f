import type { AccountingConfig, AccountingRules } from "@pragma/contracts/accounting-config";
import { entityTagOf } from "@pragma/runtime/entity-tags";

/** A config as the reply that is stored and sent, with its entity tag. */
export function configReply(
  { id, locationId, createdAt, updatedAt }: { id: string; locationId: string; createdAt: Date; updatedAt: Date },
  content: AccountingRules,
): { body: string; etag: string } {
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  const body = JSON.stringify({ id, ...times, locationId, ...content } satisfies AccountingConfig);
  return { body, etag: entityTagOf(body) };
}
