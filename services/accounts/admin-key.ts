import { randomUUID } from "node:crypto";
import type { ApiScope } from "@pragma/contracts/scopes";
import { lockInTransaction, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { configurationAuditSource } from "@pragma/runtime/messaging/audit-events";
import { generateApiKey, hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { addApiKey, publishApiKeyChanged } from "./api-keys.ts";
import type { AccountsServiceContext } from "./context.ts";
import { type ApiKeyEventFields, lockApiKey, type NewApiKeyRow } from "./queries/api-keys.ts";
import { insertAuditEvent } from "./queries/audit-events.ts";
import { insertApiConsumer, shareLockApiConsumer } from "./queries/consumers.ts";

export const adminApiConsumerName = "admin";

/**
 * Registers the configured admin key, which replaces the previous one, or generates a key at the first start and
 * returns it. A revoked key stays revoked. Instances that start at the same time create only one key.
 */
export async function ensureAdminApiKey(
  { db, log }: Pick<AccountsServiceContext, "db" | "log">,
  configuredKey: string | undefined,
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await lockInTransaction(tx, db, "admin key");
    const consumerId = await ensureAdminConsumer(tx);
    if (configuredKey !== undefined) {
      if (!(await registerConfiguredKey(tx, configuredKey, consumerId)))
        log.error("PRAGMA_ADMIN_KEY has been revoked or has expired. Configure another key.");
      return undefined;
    }
    const { count } = await tx`select from api_keys where consumer_id = ${consumerId} limit 1`;
    if (count > 0) return undefined;
    const { key, prefix, hash } = generateApiKey();
    await insertOperatorKey(tx, { hash, prefix, consumerId, createdFrom: "first start" });
    return key;
  });
}

async function ensureAdminConsumer(tx: SqlTransaction): Promise<string> {
  const admin = { id: randomUUID(), name: adminApiConsumerName, scopes: ["admin"] as ApiScope[], rateLimit: null };
  const created = await insertApiConsumer(tx, { ...admin, locationId: null });
  const consumer = created ?? (await shareLockApiConsumer(tx, { name: adminApiConsumerName, locationId: null }));
  if (!consumer) throw new Error("The admin consumer could neither be found nor created.");
  return consumer.id;
}

async function registerConfiguredKey(tx: SqlTransaction, key: string, consumerId: string): Promise<boolean> {
  const hash = hashApiKey(key);
  const existing = await lockApiKey(tx, { hash });
  if (existing && existing.consumerId !== consumerId)
    throw new Error("PRAGMA_ADMIN_KEY is the API key of another consumer.");
  if (existing) return existing.isActive;
  const replacedKeys = await tx<ApiKeyEventFields[]>`
    update api_keys set revoked_at = now() where created_from = 'environment' and revoked_at is null
    returning id, hash, location_id`;
  for (const replaced of replacedKeys) {
    await publishApiKeyChanged(tx, replaced, { revoked: true });
    await insertAuditEvent(tx, configurationAuditSource, {
      ...{ action: "key.revoked", locationId: null, target: { type: "key", id: replaced.id } },
      details: { consumer: adminApiConsumerName },
    });
  }
  // Lists display the start of a key: 14 characters, or 4 if the key is custom and thus may be short.
  const prefix = key.slice(0, isWellFormedApiKey(key) ? 14 : 4);
  await insertOperatorKey(tx, { hash, prefix, consumerId, createdFrom: "environment" });
  return true;
}

async function insertOperatorKey(
  tx: SqlTransaction,
  key: Omit<NewApiKeyRow, "id" | "locationId" | "createdBy" | "expiresAt">,
): Promise<void> {
  const id = randomUUID();
  await addApiKey(tx, { ...key, id, locationId: null, createdBy: null, expiresAt: null });
  await insertAuditEvent(tx, configurationAuditSource, {
    ...{ action: "key.created", locationId: null, target: { type: "key", id } },
    details: { consumer: adminApiConsumerName, prefix: key.prefix },
  });
}
