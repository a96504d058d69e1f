/** The Redis ACL rules of each user. Other services do not use Redis. */
const aclRules: Record<string, (namespace: string) => string> = {
  gateway: (namespace) =>
    `~${namespace}:limit:* -@all +@connection +info +eval +evalsha +script|load +time +hmget +hset +pexpire`,
  jobs: (namespace) => `~${namespace}:jobs-* ${bullmqCommands}`,
};

/** The commands that BullMQ needs: none that administers the server or lists the keys of others. */
const bullmqCommands = "+@all -@admin -@dangerous -@pubsub -scan -randomkey -dbsize +info";

/** The password of `gateway` is in REDIS_PASSWORD_GATEWAY. */
const passwordVariable = (user: string) => `REDIS_PASSWORD_${user.toUpperCase().replaceAll("-", "_")}`;

/**
 * Renders the Redis ACL file. Passwords are `$VARIABLE` placeholders that deploy/redis/start.sh replaces, because Redis
 * does not read its environment. Anonymous access is off.
 */
export function renderRedisAclFile(namespace: string): string {
  const users = Object.entries(aclRules).map(
    ([user, rule]) => `user ${user} on >$${passwordVariable(user)} ${rule(namespace)}`,
  );
  // No client can log in as `default`, but Redis itself loads its append-only file as this user.
  return ["user default off ~* &* +@all", ...users, ""].join("\n");
}
