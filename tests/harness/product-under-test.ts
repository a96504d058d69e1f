import { randomUUID } from "node:crypto";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { findFreePort } from "../../deploy/local/free-port.js";
import {
  type ProductPart,
  type ProductProcess,
  type ProductProcessRole,
  prepareProductProcess,
  serviceUrlVariable,
} from "./product-process.ts";

/** The address and the admin key of a product. */
export interface ProductUnderTestAccess {
  /** The gateway's address. */
  url: string;
  adminKey: string;
}

/** The product as operators run it: compiled, in its own processes, over HTTP. */
export interface ProductUnderTest extends ProductUnderTestAccess {
  /** Returns the process of a role. If there is only one process, its role is `all`. */
  process(role: ProductProcessRole): ProductProcess;
  stop(): Promise<void>;
}

interface ProductUnderTestOptions {
  /**
   * Whether the gateway and each service run in separate processes. A list starts only these services and the gateway.
   */
  split?: boolean | readonly ServiceName[];
  adminKey?: string;
  /** Returns additional environment variables of one process, if the product runs in separate processes. */
  variablesOf?: (role: ProductPart) => Record<string, string>;
}

/**
 * Starts the product on the servers of `variables`, in one process or in several. Several products with the same
 * `adminKey` can run on the same servers, as instances of one installation.
 */
export async function startProductUnderTest(
  variables: Record<string, string>,
  {
    split = false,
    adminKey = `admin-key-of-a-test-${randomUUID()}`,
    variablesOf = () => ({}),
  }: ProductUnderTestOptions = {},
): Promise<ProductUnderTest> {
  const shared = { ...variables, PRAGMA_ADMIN_KEY: adminKey };
  const gatewayPort = await findFreePort();
  const processes = new Map<ProductProcessRole, ProductProcess>();
  if (split) {
    const urls: Record<string, string> = {};
    for (const service of split === true ? serviceNames : split) {
      const port = await findFreePort();
      urls[serviceUrlVariable(service)] = `http://127.0.0.1:${port}`;
      processes.set(
        service,
        await prepareProductProcess(service, { ...shared, ...variablesOf(service), PORT: String(port) }, urls),
      );
    }
    processes.set(
      "gateway",
      await prepareProductProcess("gateway", { ...shared, ...variablesOf("gateway"), PORT: String(gatewayPort) }, urls),
    );
  } else {
    processes.set("all", await prepareProductProcess("all", { ...shared, PORT: String(gatewayPort) }, {}));
  }
  // The processes start concurrently, because services do not need each other to start.
  const started = await Promise.allSettled([...processes.values()].map((each) => each.start()));
  const failed = started.find(({ status }) => status === "rejected");
  if (failed) {
    for (const each of processes.values()) await each.kill();
    throw (failed as PromiseRejectedResult).reason;
  }
  return {
    url: `http://127.0.0.1:${gatewayPort}`,
    adminKey,
    process(role) {
      const process = processes.get(role);
      if (!process) throw new Error(`There is no process ${role}.`);
      return process;
    },
    async stop() {
      for (const each of [...processes.values()].reverse()) await each.stop();
    },
  };
}
