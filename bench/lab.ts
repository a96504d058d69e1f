import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type ReachableServer,
  removeDataFolder,
  type ServerUrls,
  startNats,
  startPostgres,
  startRedis,
  temporaryDataFolder,
} from "../deploy/local/servers.js";
import { complain } from "./complain.ts";
import { type LoadGenerator, startLoadGenerator } from "./load/load-generator.ts";
import { allInOne, type Product, type Role, split, startProduct } from "./product.ts";
import { openShop, type Shop } from "./shop.ts";

/** What every row measures with: servers of the bench's own, the product on them, and something that asks. */
export interface Lab {
  isQuick: boolean;
  /** For throw-away data. */
  folder: string;
  urls: ServerUrls;
  postgres: ReachableServer;
  load: LoadGenerator;
  /** One product for all rows that want it, with a location; started when it is first asked for. */
  product(shape: "split" | "all in one"): Promise<{ product: Product; shop: Shop }>;
  /** A product of the row's own, which it stops. */
  startProduct(namespace: string, roles: Role[]): Promise<Product>;
  close(): Promise<void>;
}

const shapes = { split, "all in one": allInOne };

export async function openLab({ isQuick, profiles }: { isQuick: boolean; profiles: string | undefined }): Promise<Lab> {
  if (profiles) await rm(profiles, { recursive: true, force: true });
  const folder = temporaryDataFolder("bench");
  const [postgres, nats, redis] = await Promise.all([
    startPostgres({ dataFolder: join(folder, "postgres"), durable: true, log: complain }),
    startNats({ dataFolder: join(folder, "nats"), log: complain }),
    startRedis({ dataFolder: join(folder, "redis"), log: complain }),
  ]);
  const urls = { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url };
  const load = startLoadGenerator();
  const shared = new Map<string, Promise<{ product: Product; shop: Shop }>>();

  const lab: Lab = {
    isQuick,
    folder,
    urls,
    postgres,
    load,
    startProduct: (namespace, roles) =>
      startProduct({ folder: join(folder, namespace), servers: urls, namespace, roles, profiles }),
    product(shape) {
      const known = shared.get(shape);
      if (known) return known;
      const starting = lab
        .startProduct(`bench_${shape.replaceAll(" ", "_")}`, shapes[shape])
        .then(async (product) => ({ product, shop: await openShop(product) }));
      shared.set(shape, starting);
      return starting;
    },
    async close() {
      await load.stop();
      for (const started of await Promise.allSettled(shared.values())) {
        if (started.status === "fulfilled") await started.value.product.stop();
      }
      await Promise.all([postgres, nats, redis].map((server) => server.stop()));
      await removeDataFolder(folder);
    },
  };
  return lab;
}
