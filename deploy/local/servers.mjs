export { removeDataFolder, temporaryDataFolder } from "./data-folder.mjs";
export { startNats, startRedis } from "./nats-and-redis.ts";
export { startPostgres } from "./postgres.ts";
