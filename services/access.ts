/**
 * `npm run access`: writes what each service may do on NATS and Redis, for the servers to read (deploy/nats,
 * deploy/redis); for the installation of NAMESPACE, `pragma` unless given.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { natsUsersConfig } from "./nats-users.ts";
import { redisUsersFile } from "./redis-users.ts";

const namespace = process.env.NAMESPACE || "pragma";
const files = {
  "../deploy/nats/users.conf": await natsUsersConfig(namespace),
  "../deploy/redis/users.acl": redisUsersFile(namespace),
};
for (const [path, text] of Object.entries(files)) {
  await writeFile(fileURLToPath(new URL(path, import.meta.url)), text);
}
