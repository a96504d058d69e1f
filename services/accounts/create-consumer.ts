import { randomUUID } from "node:crypto";
import type { Consumer } from "@pragma/contracts/consumer";
import { ApiError } from "@pragma/contracts/errors";
import { defaultScopes } from "@pragma/contracts/scopes";
import type { Accounts } from "./accounts.ts";
import { insertConsumer } from "./queries/consumers.ts";
import type { Stored } from "./stored.ts";

/**
 * Makes a consumer with the scopes that every new one has, for the location whose key asks.
 *
 * @throws `ApiError` consumer_exists when the name is taken.
 */
export async function createConsumer(
  { db }: Pick<Accounts, "db">,
  { name, locationId }: { name: string; locationId: string | null },
): Promise<Stored<Consumer>> {
  const consumer = { id: randomUUID(), name, scopes: [...defaultScopes], locationId };
  const made = await db.transaction((tx) => insertConsumer(tx, consumer));
  if (!made) throw new ApiError("consumer_exists", { detail: `There is a consumer named ${name} already.` });
  return made;
}
