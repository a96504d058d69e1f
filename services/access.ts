import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { natsUsersConfig } from "./nats-users.ts";

/** What each user of Redis may do, in the words of Redis' ACL. Every other service has nothing to do with Redis. */
const rules: Record<string, (namespace: string) => string> = {
  gateway: (namespace) =>
    `~${namespace}:limit:* -@all +@connection +info +eval +evalsha +script|load +time +hmget +hset +pexpire`,
  jobs: (namespace) => `~${namespace}:jobs-* ${queueCommands}`,
};

/** What BullMQ asks of Redis. Nothing that concerns the server or the keys of others, nor tells their names. */
const queueCommands = "+@all -@admin -@dangerous -@pubsub -scan -randomkey -dbsize +info";

/** `order-live` would log in with the password in REDIS_PASSWORD_ORDER_LIVE. */
const passwordVariable = (user: string) => `REDIS_PASSWORD_${user.toUpperCase().replaceAll("-", "_")}`;

/**
 * Redis' ACL file, with `$VARIABLE` where a password belongs: Redis itself reads none from its environment. Nobody comes
 * in without a name.
 */
function redisUsersFile(namespace: string): string {
  const users = Object.entries(rules).map(
    ([user, rule]) => `user ${user} on >$${passwordVariable(user)} ${rule(namespace)}`,
  );
  // Nobody can be it, but as it Redis itself reads its append-only file at the start.
  return ["user default off ~* &* +@all", ...users, ""].join("\n");
}

const namespace = process.env.NAMESPACE || "pragma";
const files = {
  "../deploy/nats/users.conf": await natsUsersConfig(namespace),
  "../deploy/redis/users.acl": redisUsersFile(namespace),
};
for (const [path, text] of Object.entries(files)) {
  await writeFile(fileURLToPath(new URL(path, import.meta.url)), text);
}
