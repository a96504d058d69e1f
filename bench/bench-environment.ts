import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  createTemporaryDataFolder,
  removeDataFolder,
  type ServerUrls,
  type StartedServer,
  startNats,
  startPostgres,
  startRedis,
} from "../deploy/local/servers.js";
import { type BenchLocation, createBenchLocation } from "./bench-location.ts";
import { type LoadGenerator, startLoadGenerator } from "./load/load-generator.ts";
import {
  allInOneRoles,
  type BenchProductRole,
  type ProductUnderLoad,
  splitRoles,
  startProductUnderLoad,
} from "./product-under-load.ts";
import { reportError } from "./report-error.ts";

/** What every row measures with: servers of the bench's own, the product on them, and something that asks. */
export interface BenchEnvironment {
  isQuick: boolean;
  /** For throw-away data. */
  folder: string;
  urls: ServerUrls;
  postgres: StartedServer;
  loadGenerator: LoadGenerator;
  /** One product for all rows that want it, with a location; started when it is first asked for. */
  sharedProduct(shape: "split" | "all in one"): Promise<{ product: ProductUnderLoad; shop: BenchLocation }>;
  /** A product of the row's own, which it stops. */
  startProduct(namespace: string, roles: BenchProductRole[]): Promise<ProductUnderLoad>;
  close(): Promise<void>;
}

const rolesByShape = { split: splitRoles, "all in one": allInOneRoles };

export async function createBenchEnvironment({
  isQuick,
  profiles,
}: {
  isQuick: boolean;
  profiles: string | undefined;
}): Promise<BenchEnvironment> {
  if (profiles) await rm(profiles, { recursive: true, force: true });
  const folder = createTemporaryDataFolder("bench");
  const [postgres, nats, redis] = await Promise.all([
    startPostgres({ dataFolder: join(folder, "postgres"), durable: true, log: reportError }),
    startNats({ dataFolder: join(folder, "nats"), log: reportError }),
    startRedis({ dataFolder: join(folder, "redis"), log: reportError }),
  ]);
  const urls = { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url };
  const load = startLoadGenerator();
  const sharedProducts = new Map<string, Promise<{ product: ProductUnderLoad; shop: BenchLocation }>>();

  const lab: BenchEnvironment = {
    isQuick,
    folder,
    urls,
    postgres,
    loadGenerator: load,
    startProduct: (namespace, roles) =>
      startProductUnderLoad({ folder: join(folder, namespace), servers: urls, namespace, roles, profiles }),
    sharedProduct(shape) {
      const known = sharedProducts.get(shape);
      if (known) return known;
      const starting = lab
        .startProduct(`bench_${shape.replaceAll(" ", "_")}`, rolesByShape[shape])
        .then(async (product) => ({ product, shop: await createBenchLocation(product) }));
      sharedProducts.set(shape, starting);
      return starting;
    },
    async close() {
      await load.stop();
      for (const started of await Promise.allSettled(sharedProducts.values())) {
        if (started.status === "fulfilled") await started.value.product.stop();
      }
      await Promise.all([postgres, nats, redis].map((server) => server.stop()));
      await removeDataFolder(folder);
    },
  };
  return lab;
}
