import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  createTemporaryDataFolder,
  type LocalServerUrls,
  removeServerDataFolder,
  type StartedLocalServer,
  startNatsServer,
  startPostgresServer,
  startRedisServer,
} from "../deploy/local/servers.js";
import { type BenchLocation, createBenchLocation } from "./bench-location.ts";
import {
  type BenchPragmaDeployment,
  type BenchPragmaProcessRole,
  serviceAndGatewayBenchRoles,
  singleProcessBenchRoles,
  startBenchPragmaDeployment,
} from "./bench-pragma-deployment.ts";
import { type LoadGeneratorProcess, startLoadGeneratorProcess } from "./load/load-generator.ts";
import { printBenchServerError } from "./report-error.ts";

/** The servers that benchmarks use, the product that runs on these servers, and a load generator. */
export interface BenchEnvironment {
  isQuick: boolean;
  /** The path of an earlier version's compiled program; undefined if only this version is measured. */
  earlierProgram: string | undefined;
  /** Folder of temporary data. */
  folder: string;
  urls: LocalServerUrls;
  postgres: StartedLocalServer;
  loadGenerator: LoadGeneratorProcess;
  /**
   * Returns the product of this shape that benchmarks share, and a location in it. The first call for each shape starts
   * the product.
   */
  getSharedPragma(
    shape: "split" | "all in one",
  ): Promise<{ product: BenchPragmaDeployment; benchLocation: BenchLocation }>;
  /**
   * Starts a product for one benchmark: this version, or another version by the path of its compiled program. The
   * benchmark must stop this product.
   */
  startProduct(
    namespace: string,
    roles: BenchPragmaProcessRole[],
    mainProgram?: string,
  ): Promise<BenchPragmaDeployment>;
  close(): Promise<void>;
}

const rolesByShape = { split: serviceAndGatewayBenchRoles, "all in one": singleProcessBenchRoles };

export async function createBenchEnvironment({
  isQuick,
  profiles,
  earlierProgram,
}: {
  isQuick: boolean;
  profiles: string | undefined;
  earlierProgram?: string | undefined;
}): Promise<BenchEnvironment> {
  if (profiles) await rm(profiles, { recursive: true, force: true });
  const folder = createTemporaryDataFolder("bench");
  const [postgres, nats, redis] = await Promise.all([
    startPostgresServer({ dataFolder: join(folder, "postgres"), durable: true, log: printBenchServerError }),
    startNatsServer({ dataFolder: join(folder, "nats"), log: printBenchServerError }),
    startRedisServer({ dataFolder: join(folder, "redis"), log: printBenchServerError }),
  ]);
  const urls = { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url };
  const loadGenerator = startLoadGeneratorProcess();
  const sharedProducts = new Map<string, Promise<{ product: BenchPragmaDeployment; benchLocation: BenchLocation }>>();

  const environment: BenchEnvironment = {
    isQuick,
    earlierProgram,
    folder,
    urls,
    postgres,
    loadGenerator,
    startProduct: (namespace, roles, mainProgram) =>
      startBenchPragmaDeployment({
        folder: join(folder, namespace),
        servers: urls,
        namespace,
        roles,
        mainProgram,
        profilesFolder: profiles,
      }),
    getSharedPragma(shape) {
      const running = sharedProducts.get(shape);
      if (running) return running;
      const starting = environment
        .startProduct(`bench_${shape.replaceAll(" ", "_")}`, rolesByShape[shape])
        .then(async (product) => ({ product, benchLocation: await createBenchLocation(product) }));
      sharedProducts.set(shape, starting);
      return starting;
    },
    async close() {
      await loadGenerator.stop();
      for (const started of await Promise.allSettled(sharedProducts.values())) {
        if (started.status === "fulfilled") await started.value.product.stop();
      }
      await Promise.all([postgres, nats, redis].map((server) => server.stop()));
      await removeServerDataFolder(folder);
    },
  };
  return environment;
}
