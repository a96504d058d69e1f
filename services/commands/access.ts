/**
 * `npm run access`: generates the access rules for every service in NATS (deploy/nats) and Redis (deploy/redis). The
 * rules apply to the installation whose NAMESPACE is in the environment, by default `pragma`.
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
