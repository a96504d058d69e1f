/**
 * `npm run access`: generates the files with the access rules of the services and the gateway for NATS (deploy/nats)
 * and for Redis (deploy/redis). The rules contain the installation's NAMESPACE, by default `pragma`.
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
  const file = fileURLToPath(new URL(path, import.meta.url));
  await writeFile(file, text);
  process.stdout.write(`Wrote ${file}\n`);
}
