/**
 * `npm run access`: writes what each service may do on NATS and Redis, for the servers to read (deploy/nats,
 * deploy/redis); for the installation of NAMESPACE, `pragma` unless given.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { renderNatsUsersConfig } from "./nats-users.ts";
import { renderRedisAclFile } from "./redis-users.ts";

const namespace = process.env.NAMESPACE || "pragma";
const accessFiles = {
  "../../deploy/nats/users.conf": await renderNatsUsersConfig(namespace),
  "../../deploy/redis/users.acl": renderRedisAclFile(namespace),
};
for (const [path, text] of Object.entries(accessFiles)) {
  await writeFile(fileURLToPath(new URL(path, import.meta.url)), text);
}
