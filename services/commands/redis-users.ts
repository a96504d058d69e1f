/** What each user of Redis may do, in the words of Redis' ACL. Every other service has nothing to do with Redis. */
const aclRules: Record<string, (namespace: string) => string> = {
  gateway: (namespace) =>
    `~${namespace}:limit:* -@all +@connection +info +eval +evalsha +script|load +time +hmget +hset +pexpire`,
  jobs: (namespace) => `~${namespace}:jobs-* ${bullmqCommands}`,
};

/** What BullMQ asks of Redis. Nothing that concerns the server or the keys of others, nor tells their names. */
const bullmqCommands = "+@all -@admin -@dangerous -@pubsub -scan -randomkey -dbsize +info";

/** `order-live` would log in with the password in REDIS_PASSWORD_ORDER_LIVE. */
const passwordVariable = (user: string) => `REDIS_PASSWORD_${user.toUpperCase().replaceAll("-", "_")}`;

/**
 * Redis' ACL file, with `$VARIABLE` where a password belongs: Redis itself reads none from its environment. Nobody comes
 * in without a name.
 */
export function renderRedisAclFile(namespace: string): string {
  const users = Object.entries(aclRules).map(
    ([user, rule]) => `user ${user} on >$${passwordVariable(user)} ${rule(namespace)}`,
  );
  // Nobody can be it, but as it Redis itself reads its append-only file at the start.
  return ["user default off ~* &* +@all", ...users, ""].join("\n");
}
