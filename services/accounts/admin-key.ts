import { randomUUID } from "node:crypto";
import type { Scope } from "@pragma/contracts/scopes";
import { createApiKey, hashKey, hasKeyShape } from "@pragma/runtime/api-key";
import type { Transaction } from "@pragma/runtime/postgres";
import type { Accounts } from "./accounts.ts";
import { publishKey } from "./keys.ts";
import { insertConsumer, operatorsConsumer } from "./queries/consumers.ts";
import {
  everHadKey,
  insertKey,
  keyByHash,
  lockAdminKey,
  type NewKey,
  revokeKeysFromEnvironment,
} from "./queries/keys.ts";

/** The operator's own consumer. */
export const adminConsumer = "admin";

/**
 * Sees to it that the operator has a key that may do everything: the one that is given, or else one made at the first
 * start. Another one than before takes the place of the one before, and a key that was revoked stays revoked. However
 * many instances start at once, each key is made once.
 *
 * @returns the key that was made, which has to be shown: it is kept nowhere.
 */
export async function ensureAdminKey(
  { db, log }: Pick<Accounts, "db" | "log">,
  given: string | undefined,
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await lockAdminKey(tx, db.schema);
    const consumerId = await ensureAdminConsumer(tx);
    if (given !== undefined) {
      const outcome = await takeGivenKey(tx, given, consumerId);
      if (outcome === "revoked") log.error("PRAGMA_ADMIN_KEY was revoked, and stays so: give another one");
      return undefined;
    }
    if (await everHadKey(tx, consumerId)) return undefined;
    const { key, prefix, hash } = createApiKey();
    await addKey(tx, { hash, prefix, consumerId, madeFrom: "first start" });
    return key;
  });
}

async function ensureAdminConsumer(tx: Transaction): Promise<string> {
  const admin = { id: randomUUID(), name: adminConsumer, scopes: ["admin"] as Scope[], rateLimit: null };
  const created = await insertConsumer(tx, { ...admin, locationId: null });
  const consumer = created ?? (await operatorsConsumer(tx, adminConsumer));
  if (!consumer) throw new Error("The consumer admin is neither there nor can it be made.");
  return consumer.id;
}

async function takeGivenKey(tx: Transaction, key: string, consumerId: string): Promise<"made" | "known" | "revoked"> {
  const hash = hashKey(key);
  const known = await keyByHash(tx, hash);
  if (known && known.consumerId !== consumerId) throw new Error("PRAGMA_ADMIN_KEY is the API key of another consumer.");
  if (known) return known.isRevoked ? "revoked" : "known";
  for (const replaced of await revokeKeysFromEnvironment(tx)) await publishKey(tx, replaced, { revoked: true });
  await addKey(tx, { hash, prefix: shownOf(key), consumerId, madeFrom: "environment" });
  return "made";
}

/** As much of a key as tells it apart. One that somebody thought up may be short, so that less of it is shown. */
function shownOf(key: string): string {
  return key.slice(0, hasKeyShape(key) ? 14 : 4);
}

async function addKey(tx: Transaction, key: Omit<NewKey, "id" | "locationId">): Promise<void> {
  const id = randomUUID();
  await insertKey(tx, { ...key, id, locationId: null });
  await publishKey(tx, { id, hash: key.hash, locationId: null }, { revoked: false });
}
