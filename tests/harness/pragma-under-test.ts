import { randomUUID } from "node:crypto";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { findFreePort } from "../../deploy/local/free-port.js";
import {
  getServiceUrlVariableName,
  type PragmaProcessRole,
  type PragmaProcessUnderTest,
  type ProcessName,
  preparePragmaProcessUnderTest,
} from "./pragma-process.ts";

/** The URL and the admin key of an installation under test. */
export interface PragmaUnderTestAccess {
  /** The URL of the gateway. */
  url: string;
  adminKey: string;
}

/** An installation under test. It runs compiled code in its own processes, as the installations of operators do. */
export interface PragmaUnderTest extends PragmaUnderTestAccess {
  /** Returns the process of a role. If the installation runs in one process, only the role `all` exists. */
  process(role: PragmaProcessRole): PragmaProcessUnderTest;
  stop(): Promise<void>;
}

interface ProductUnderTestOptions {
  /**
   * Whether each service and the gateway run in separate processes. If this is a list, only the gateway and the listed
   * services run.
   */
  split?: boolean | readonly ServiceName[];
  adminKey?: string;
  /** Returns additional environment variables of one process. Used only if the parts run in separate processes. */
  variablesOf?: (role: ProcessName) => Record<string, string>;
  /** The arguments of the command `node` that start another version, in one process. */
  nodeArguments?: readonly string[];
}

/**
 * Starts an installation that uses the servers in `variables`, in one process or in separate processes. If this
 * function is called again with the same servers and `adminKey`, it starts another instance of the same installation.
 */
export async function startPragmaUnderTest(
  variables: Record<string, string>,
  {
    split = false,
    adminKey = `admin-key-of-a-test-${randomUUID()}`,
    variablesOf = () => ({}),
    nodeArguments,
  }: ProductUnderTestOptions = {},
): Promise<PragmaUnderTest> {
  const shared = { ...variables, PRAGMA_ADMIN_KEY: adminKey };
  const gatewayPort = await findFreePort();
  const sandboxVariables = { SANDBOX_API_URL: `http://127.0.0.1:${gatewayPort}` };
  const processes = new Map<PragmaProcessRole, PragmaProcessUnderTest>();
  if (split) {
    const urls: Record<string, string> = {};
    for (const service of split === true ? serviceNames : split) {
      const port = await findFreePort();
      urls[getServiceUrlVariableName(service)] = `http://127.0.0.1:${port}`;
      processes.set(
        service,
        await preparePragmaProcessUnderTest(
          service,
          { ...shared, ...sandboxVariables, ...variablesOf(service), PORT: String(port) },
          urls,
        ),
      );
    }
    processes.set(
      "gateway",
      await preparePragmaProcessUnderTest(
        "gateway",
        { ...shared, ...variablesOf("gateway"), PORT: String(gatewayPort) },
        urls,
      ),
    );
  } else {
    processes.set(
      "all",
      await preparePragmaProcessUnderTest("all", { ...shared, PORT: String(gatewayPort) }, {}, nodeArguments),
    );
  }
  // The processes start concurrently, because a service can start before the services that it uses.
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
