/**
 * The Redis ACL rules of each user. Services without a user here do not use Redis. `monitor` is the user of
 * redis_exporter, and reads no keys.
 */
const aclRules: Record<string, (namespace: string) => string> = {
  gateway: (namespace) =>
    `~${namespace}:limit:* -@all +@connection +info +eval +evalsha +script|load +time +hmget +hset +pexpire`,
  jobs: (namespace) => `~${namespace}:jobs-* ${bullmqCommands}`,
  monitor: () => "-@all +@connection +info",
};

/** No Pub/Sub, administration or lists of all keys. BullMQ needs INFO, which `@dangerous` contains. */
const bullmqCommands = "+@all -@admin -@dangerous -@pubsub -scan -randomkey -dbsize +info";

/**
 * Returns the content of the Redis ACL file, which disables anonymous access. deploy/redis/start.sh replaces `$VARIABLE` by
 * passwords, because Redis does not read environment variables.
 */
export function renderRedisAclFile(namespace: string): string {
  const users = Object.entries(aclRules).map(
    ([user, rule]) => `user ${user} on >$REDIS_PASSWORD_${user.toUpperCase()} ${rule(namespace)}`,
  );
  // `default` is off, so that no client can log in as this user. It has all privileges, because Redis itself uses this
  // user to load its append-only file.
  return ["user default off ~* &* +@all", ...users, ""].join("\n");
}
